"""The two answers of the gate. Nothing is decided here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["EXCERPT", "Differs", "Same", "excerpt"]

EXCERPT: Final = 60  # characters of either text that a verdict may hold

_SENTENCES: Final = {
    "calendar": "the dates differ",
    "code": "the code differs",
    "colour": "the colours differ",
    "conjunction": "and / or differ",
    "demand": "the demands differ",
    "identifier": "the identifiers differ",
    "language": "the languages differ",
    "layout": "the lines are indented or parted in another way",
    "modality": "the modality or tense differs",
    "name": "the names differ",
    "negation": "one of them is negated",
    "number": "the numbers differ",
    "opposite": "the words are opposites",
    "order": "the order differs",
    "person": "the persons differ",
    "quantifier": "the quantities or comparisons differ",
    "question": "the kinds of question differ",
    "quote": "the quoted texts differ",
    "relation": "the relations differ",
    "size": "the texts are too long to compare word by word and are not equal",
    "symbol": "the symbols differ",
    "unit": "the units differ",
    "word": "the words differ",
    "wording": "the words worked on are not the same to the letter",
}


@dataclass(frozen=True, slots=True)
class Same:
    """Both texts ask for the same thing."""

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return "both ask for the same thing"


@dataclass(frozen=True, slots=True)
class Differs:
    """The texts do not, or not certainly, ask for the same thing.

    `what` is one word of a fixed set (`Differs.KINDS`); `cached` and `new` are short excerpts, empty where a text
    has nothing to show.
    """

    what: str
    cached: str
    new: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"{_SENTENCES.get(self.what, 'the texts differ')}: {self.cached or 'nothing'} / {self.new or 'nothing'}"


def excerpt(text: str) -> str:
    """The text on one line, cut to at most `EXCERPT` characters."""
    line = " ".join(text[: 4 * EXCERPT].split())
    return line if len(line) <= EXCERPT and len(text) <= 4 * EXCERPT else line[: EXCERPT - 1] + "…"
