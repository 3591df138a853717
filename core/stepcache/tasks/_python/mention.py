"""Where a text speaks of a function by its name, and not merely uses the same word."""

from __future__ import annotations

import re
from functools import lru_cache

from stepcache.tasks._python.names import is_misspelt

__all__ = ["is_plain_word", "mentions", "put", "put_loosely"]

_CODE_LIKE = re.compile(r"[^_]_|\d|[a-z][A-Z]")
_IDENTIFIER = re.compile(r"(?<![\w.])[^\W\d]\w*")
_MAX_TOKENS = 20_000
_MIN_SPACED = 4
_MAX_SPACED = 60


def is_plain_word(name: str) -> bool:
    """Whether the name could be a word of a sentence ("exchange"); `fix_spaces` and `fixSpaces` could not."""
    return not _CODE_LIKE.search(name)


@lru_cache(maxsize=256)
def _pattern(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    if is_plain_word(name):
        return re.compile(rf"(?<![\w.]){word}(?=\()|(?<=`){word}(?=`)|(?<=\bdef ){word}(?!\w)")
    return re.compile(rf"(?<![\w.]){word}(?!\w)")


@lru_cache(maxsize=256)
def _spaced(name: str) -> re.Pattern[str] | None:
    """The name with stray blanks in it, as translation tools and clumsy copying leave it; a plain word if called."""
    if not _MIN_SPACED <= len(name) <= _MAX_SPACED:
        return None
    called = r"(?=[ ]?\()" if is_plain_word(name) else r"(?!\w)"
    return re.compile(rf"(?<![\w.]){'[ ]?'.join(map(re.escape, name))}{called}", re.IGNORECASE)


def _is_phrase(text: str) -> bool:
    """Whether a name with blanks in it reads as words of a sentence: "circular shift" may not mean circularShift."""
    from stepcache._gate.spelling import known

    return " " in text and all(known(word.lower()) for word in text.split())


def mentions(text: str, name: str) -> tuple[int, ...]:
    """The offsets at which the function is meant: anywhere for a name that is no word, else where it is called."""
    return tuple(match.start() for match in _pattern(name).finditer(text))


def put(text: str, name: str, instead: str) -> str:
    """The text with another name wherever it speaks of the function."""
    return _pattern(name).sub(lambda _: instead, text)


def put_loosely(text: str, name: str, instead: str, others: frozenset[str]) -> str:
    """As `put`, and also where the name is misspelt or spaced out; `others` are names that mean something else."""
    text = put(text, name, instead)
    if (spaced := _spaced(name)) is not None:
        text = spaced.sub(lambda found: found.group() if _is_phrase(found.group()) else instead, text)
    tokens = set(_IDENTIFIER.findall(text)) - others - {instead}
    if len(tokens) > _MAX_TOKENS:
        return text
    slips = {token for token in tokens if not is_plain_word(token) and is_misspelt(token, name)}
    if not slips:
        return text
    called = is_plain_word(name)

    def exchanged(match: re.Match[str]) -> str:
        means_it = match.group() in slips and (not called or match.string.startswith("(", match.end()))
        return instead if means_it else match.group()

    return _IDENTIFIER.sub(exchanged, text)
