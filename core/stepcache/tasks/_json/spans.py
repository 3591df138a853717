"""Where the members of a JSON object and the items of an array stand in their text. The text must be valid JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Path", "Piece", "pieces", "pointer", "span_at", "tokens"]

Path = tuple[str | int, ...]

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """One member of an object or one item of an array.

    `start` is where the key (or, in an array, the value) begins, `value_start` and `value_end` enclose the value.
    """

    key: str | int
    start: int
    value_start: int
    value_end: int


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the tokens of valid JSON text: strings, punctuation, and bare words (numbers, true, false, null)."""
    return _TOKEN.finditer(text, start, len(text) if end is None else end)


def pieces(text: str, start: int) -> tuple[tuple[Piece, ...], int]:
    """Return the members or items of the object or array that begins at `start`, and where it ends.

    Linear in the length of the container; nothing is decoded but the keys.
    """
    is_object = text[start] == "{"
    found: list[Piece] = []
    depth = 0
    key_token: re.Match[str] | None = None
    value_start = -1
    last = start
    walk = tokens(text, start)
    while True:  # the last bracket ends it
        token = next(walk)
        mark = token.group()
        if depth == 1 and mark in ",}]":
            if value_start >= 0:
                if key_token is not None:
                    found.append(Piece(json.loads(key_token.group()), key_token.start(), value_start, last))
                else:
                    found.append(Piece(len(found), value_start, value_start, last))
            key_token, value_start = None, -1
        elif depth == 1 and is_object and key_token is None:
            key_token = token
        elif depth == 1 and value_start < 0 and mark != ":":
            value_start = token.start()
        last = token.end()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return tuple(found), last


def span_at(text: str, start: int, path: Path) -> tuple[int, int] | None:
    """Return start and end of the value that `path` leads to from the value at `start`, or None if there is none."""
    end = -1
    for key in path:
        if text[start] != ("{" if isinstance(key, str) else "["):
            return None
        piece = next((p for p in pieces(text, start)[0] if p.key == key), None)
        if piece is None:
            return None
        start, end = piece.value_start, piece.value_end
    return (start, end) if path else (start, pieces(text, start)[1]) if text[start] in "{[" else None


def pointer(path: Path) -> str:
    """Write a path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)
