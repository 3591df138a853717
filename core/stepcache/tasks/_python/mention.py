"""Where a text speaks of a function by its name, and not merely uses the same word."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["is_plain_word", "mentions", "put"]

_CODE_LIKE = re.compile(r"[^_]_|\d|[a-z][A-Z]")


def is_plain_word(name: str) -> bool:
    """Whether the name could be a word of a sentence ("exchange"); `fix_spaces` and `fixSpaces` could not."""
    return not _CODE_LIKE.search(name)


@lru_cache(maxsize=256)
def _pattern(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    if is_plain_word(name):
        return re.compile(rf"(?<![\w.]){word}(?=\()|(?<=`){word}(?=`)|(?<=\bdef ){word}(?!\w)")
    return re.compile(rf"(?<![\w.]){word}(?!\w)")


def mentions(text: str, name: str) -> tuple[int, ...]:
    """The offsets at which the function is meant: anywhere for a name that is no word, else where it is called."""
    return tuple(match.start() for match in _pattern(name).finditer(text))


def put(text: str, name: str, instead: str) -> str:
    """The text with another name wherever it speaks of the function."""
    return _pattern(name).sub(lambda _: instead, text)
