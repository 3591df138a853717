"""The languages a prompt may be written in, in the order they are tried."""

from __future__ import annotations

from typing import Final

from stepcache.tasks._linear.languages import arabic, chinese, english, french, german, spanish
from stepcache.tasks._linear.wording import Wording

__all__ = ["LANGUAGES", "decimal_comma_of"]

LANGUAGES: Final[dict[str, Wording]] = {
    "en": english.WORDING,
    "de": german.WORDING,
    "es": spanish.WORDING,
    "fr": french.WORDING,
    "zh": chinese.WORDING,
    "ar": arabic.WORDING,
}


def decimal_comma_of(language: str) -> bool | None:
    """Whether the language writes 2,5 (True) or 2.5 (False); None where that can't be told."""
    return LANGUAGES[language].decimal_comma if language in LANGUAGES else None
