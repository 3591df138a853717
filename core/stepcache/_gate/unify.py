"""One form for characters that mean the same. Words are not looked at here."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["plain", "squash"]

_PUNCTUATION: Final = {
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "ʼ": "'", "`": "`", "´": "'", "′": "'",
    "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"', "「": '"', "」": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "—": " - ", "―": " - ",
    "؟": "?", "،": ",", "؛": ";", "。": ".", "、": ",", "।": ".", "…": "...",
    "\u00ad": "", "\u200b": "", "\u200e": "", "\u200f": "", "\ufeff": "", "\u2060": "",
    "×": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip
# Narrow and wide forms and ligatures are the same letters; superscripts, fractions and script letters are not.
_SAFE_TAGS: Final = ("<wide>", "<narrow>", "<noBreak>")
_LIGATURES: Final = range(0xFB00, 0xFB07)
_THIN: Final = re.compile(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_MARKS: Final = re.compile(r"[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u20d0-\u20f0]{16}")
_END: Final = " .!?…。！？؟।"


def _one(char: str) -> str:
    mapped = _PUNCTUATION.get(char)
    if mapped is not None:
        return mapped
    if unicodedata.decomposition(char).startswith(_SAFE_TAGS) or ord(char) in _LIGATURES:
        return unicodedata.normalize("NFKC", char)
    return char


def plain(text: str) -> str:
    """The text with one form for quotes, dashes, widths and composed letters; meaning-bearing forms stay.

    Long runs of combining marks are left alone: ordering them takes quadratic time.
    """
    if text.isascii():
        return text
    text = _THIN.sub("", text)
    if not _MARKS.search(text):
        text = unicodedata.normalize("NFC", text)
    return "".join(char if char.isascii() else _one(char) for char in text)


def squash(text: str) -> str:
    """The text on one line with single spaces and without its end punctuation; linear for any size."""
    return " ".join(text.split()).rstrip(_END)
