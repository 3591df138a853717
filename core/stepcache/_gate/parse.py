"""From text to the sequence of canonical tokens that the rules compare. Pure; the caller decides what to remember."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stepcache._gate.phrases import rewrite, settle
from stepcache._gate.pieces import Piece, pieces, quotations
from stepcache._gate.reader import read
from stepcache._gate.tables import Language, language
from stepcache._gate.token import Token

__all__ = ["Parsed", "Token", "parse", "parse_plainly"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as the rules see it."""

    text: str
    language: str
    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    quotes: tuple[str, ...]
    casing: str  # "upper", "lower" or "mixed"

    @property
    def canonical(self) -> str:
        return " ".join(self.keys)


def parse(text: str, name: str) -> Parsed:
    """The tokens of a unified text; `name` is one of the known languages, or "" for none, which rewrites no word."""
    return _parse(text, name, rewrite)


def parse_plainly(text: str, name: str) -> Parsed:
    """The tokens in the order in which they stand, requests and questions as they are worded."""
    return _parse(text, name, settle)


def _parse(text: str, name: str, arrange: Callable[[list[Token], Language], list[Token]]) -> Parsed:
    casing = "upper" if text.isupper() and len(text) > 1 else "lower" if text == text.lower() else "mixed"
    text = _unwrap(text.strip())
    if name == "en":
        text = _APART.sub(r"\1", text)
    cut = pieces(text)
    if name:
        tokens = arrange(read(cut, language(name), casing), language(name))
    else:
        tokens = [_literal(piece) for piece in cut]
    return Parsed(
        text=text,
        language=name,
        tokens=tuple(tokens),
        keys=tuple(token.key for token in tokens),
        quotes=tuple(" ".join(text[start:stop].split()) for start, stop in quotations(text)),
        casing=casing,
    )


# A tokeniser's "what 's" and "do n't".
_APART: Final = re.compile(r"(?<=\w) ('(?:s|re|ve|m|ll|d)|n't)\b")


def _unwrap(text: str) -> str:
    """The text without one pair of quotation marks around all of it."""
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        return text[1:-1].strip()
    return text


def _literal(piece: Piece) -> Token:
    key = piece.text if piece.kind in {"code", "identifier", "address"} else piece.text.lower()
    what = {"word": "word", "number": "number", "symbol": "symbol", "code": "code"}.get(piece.kind, "identifier")
    return Token(key, what, piece.text, piece.start, piece.quoted, piece.after)
