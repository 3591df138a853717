"""Cutting mathematical prose into tokens, exactly and in linear time. No grammar lives here."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

__all__ = ["MAX_DIGITS", "Kind", "Token", "number_of", "plain_characters", "tokenize"]

MAX_DIGITS = 40  # a longer literal is no equation that a person wrote; it bounds the cost of exact arithmetic

Kind = Literal[
    "number",
    "word",
    "+",
    "-",
    "*",
    "/",
    "^",
    "=",
    "<",
    "~",
    "(",
    ")",
    "{",
    "}",
    "frac",
    "boxed",
    "over",
    "|",
    "command",
    "math",
    "break",
    "arrow",
    "newline",
    "stress",
    "punctuation",
    "other",
]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text with its place; `spaced` tells whether white space stands before it."""

    kind: Kind
    text: str
    start: int
    stop: int
    spaced: bool


_LATIN = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_OTHER = rf"[^\W\d_{_LATIN}\u0370-\u03ff]"  # letters of further scripts, with the marks that Arabic puts on them
_SCAN = re.compile(
    rf"""
      (?P<space>(?:[^\S\n]|\\[,;:!\ ]|\\q?quad(?![A-Za-z])|[\u200e\u200f\ufeff\u202a-\u202e\u2066-\u2069])+)
    | (?P<newline>\n)
    | (?P<number>(?:\d+|(?<![\w.])\.\d)\d*(?:[.,٫]\d+)*)
    | (?P<command>\\[A-Za-z]+\*?)
    | (?P<delimiter>\\[()\[\]]|\$\$?)
    | (?P<linebreak>\\\\)
    | (?P<arrow>=+>|[-−]+>|[⇒→⟹⟶⇔↔])
    | (?P<word>
        (?:[{_LATIN}]+(?:['’][{_LATIN}]+)*|[\u0370-\u03ff]+|{_OTHER}(?:{_OTHER}|[\u064b-\u065f\u0670])*)
        (?:_\d{{1,3}}(?![\w])|_\{{\d{{1,3}}\}}|[\u2080-\u2089]{{1,3}})?)
    | (?P<power>\*\*|\^|[²³¹⁰⁴-⁹])
    | (?P<relation>[<>≤≥≠]=?|!=|:=|==)
    | (?P<one>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_ONE: dict[str, Kind] = {}
for _characters, _kind in (
    ("+＋", "+"),
    ("-−–－﹣‐‑", "-"),
    ("*×·⋅∙•∗✕✖", "*"),
    ("/÷∕⁄", "/"),
    ("=＝", "="),
    ("≈≃≅", "~"),
    ("([（［【", "("),
    (")]）］】", ")"),
    ("{", "{"),
    ("}", "}"),
    ("|", "|"),
    ("&", "math"),
    (".,;:!?。，；：！？、؟،؛…\"'“”„«»‘’`¿¡—", "punctuation"),
    ("✓✔✅", "punctuation"),
    ("_#", "stress"),
):
    for _character in _characters:
        _ONE[_character] = _kind  # type: ignore[assignment]

_COMMANDS: dict[str, Kind] = {
    "frac": "frac",
    "dfrac": "frac",
    "tfrac": "frac",
    "boxed": "boxed",
    "fbox": "boxed",
    "over": "over",
    "cdot": "*",
    "times": "*",
    "ast": "*",
    "div": "/",
    "approx": "~",
    "simeq": "~",
    "lbrace": "(",
    "rbrace": ")",
    "leq": "<",
    "geq": "<",
    "le": "<",
    "ge": "<",
    "neq": "<",
    "ne": "<",
    "lt": "<",
    "gt": "<",
    "mid": "|",
    "vert": "|",
    "implies": "arrow",
    "Rightarrow": "arrow",
    "rightarrow": "arrow",
    "to": "arrow",
    "Longrightarrow": "arrow",
    "iff": "arrow",
    "Leftrightarrow": "arrow",
    "longrightarrow": "arrow",
    "newline": "break",
    "checkmark": "punctuation",
    "ldots": "punctuation",
    "dots": "punctuation",
    "therefore": "punctuation",
}
_SILENT = {"left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "displaystyle", "limits"}


def plain_characters(text: str) -> str:
    """Compose accents (NFC) and fold full-width and mathematical letters and digits; powers stay powers.

    NFKC as a whole would turn x² into x2.
    """
    folded = "".join(
        unicodedata.normalize("NFKC", c) if "\uff01" <= c <= "\uff5e" or "\U0001d400" <= c <= "\U0001d7ff" else c
        for c in text
    )
    return unicodedata.normalize("NFC", folded)


@lru_cache(maxsize=64)  # several readers cut the same few texts on one request's way
def tokenize(text: str) -> tuple[Token, ...]:
    """Cut `text` into tokens; white space is dropped but for newlines, every other character lies in one token."""
    tokens: list[Token] = []
    spaced = True
    for found in _SCAN.finditer(text):
        group = found.lastgroup
        if group == "space":
            spaced = True
            continue
        piece = found.group()
        kind: Kind
        if group == "number" or group == "word" or group == "newline" or group == "arrow":
            kind = group  # type: ignore[assignment]
        elif group == "command":
            name = piece[1:].rstrip("*")
            if name in _SILENT:
                continue
            kind = _COMMANDS.get(name, "command")
        elif group == "delimiter":
            kind = "math"
        elif group == "linebreak":
            kind = "break"
        elif group == "power":
            kind = "^"
        elif group == "relation":
            kind = "=" if piece == "==" else "<"
        else:
            kind = _ONE.get(piece, "other")
        tokens.append(Token(kind, piece, found.start(), found.end(), spaced))
        spaced = kind == "newline"
    return tuple(_settle_stars(tokens))


def _settle_stars(tokens: list[Token]) -> list[Token]:
    """Tell multiplication and power from Markdown stress: an operator stands between two operands, evenly spaced."""
    for i, token in enumerate(tokens):
        if token.text not in {"*", "**", "•"}:
            continue
        before = tokens[i - 1] if i else None
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        operator = (
            before is not None
            and after is not None
            and before.kind in {"number", "word", ")", "}"}
            and after.kind in {"number", "word", "(", "-", "frac", "{"}
            and token.spaced == after.spaced
        )
        if not operator:
            tokens[i] = Token("stress", token.text, token.start, token.stop, token.spaced)
    return tokens


def number_of(text: str, decimal_comma: bool | None = None) -> Fraction | None:
    """The exact value of a numeral, or None where it can't be told.

    `decimal_comma` is what the language writes (None: unknown). "1,000" is a thousand where the comma groups, and
    undecidable where it may be a decimal sign; "2,5" is a decimal in any language; "1.000" is undecidable where
    the point may group.
    """
    if sum(map(len, text.split())) > MAX_DIGITS:
        return None
    digits = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in text).replace("٫", ".")
    points, commas = digits.count("."), digits.count(",")
    if not points and not commas:
        return Fraction(int(digits))
    grouped = re.fullmatch(r"[1-9]\d{0,2}(?:([.,])\d{3})+", digits)
    if points + commas == 1:
        sign = "." if points else ","
        if grouped:
            if decimal_comma is False:
                return Fraction(digits) if sign == "." else Fraction(digits.replace(",", ""))
            if decimal_comma is None and sign == ".":
                return Fraction(digits)
            return None
        return Fraction(digits.replace(",", "."))
    if grouped and not (points and commas):
        return Fraction(digits.replace(grouped.group(1), ""))
    mixed = re.fullmatch(r"([1-9]\d{0,2}(?:,\d{3})+)\.(\d+)|([1-9]\d{0,2}(?:\.\d{3})+),(\d+)", digits)
    if mixed:
        whole, part = (mixed.group(1), mixed.group(2)) if mixed.group(1) else (mixed.group(3), mixed.group(4))
        return Fraction(re.sub(r"[.,]", "", whole) + "." + part)
    return None
