"""The languages a prompt may be written in, in the order they are tried."""

from __future__ import annotations

from typing import Final

from stepcache.tasks._linear.languages import arabic, chinese, english, french, german, spanish
from stepcache.tasks._linear.wording import Wording

__all__ = ["LANGUAGES"]

LANGUAGES: Final[dict[str, Wording]] = {
    "en": english.WORDING,
    "de": german.WORDING,
    "es": spanish.WORDING,
    "fr": french.WORDING,
    "zh": chinese.WORDING,
    "ar": arabic.WORDING,
}
