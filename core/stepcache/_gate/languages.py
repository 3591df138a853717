"""Which of our languages a text is written in, told by its commonest words; unsure is an answer."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from stepcache._gate.spelling import known
from stepcache._gate.tables import LANGUAGES, decoys, language

__all__ = ["Guess", "guess", "plausible"]

# A text is judged by its head; a prompt does not change its language after this many characters often enough to care.
_HEAD: Final = 6000
_LETTERS: Final = (("de", frozenset("äöüß")), ("es", frozenset("ñ")), ("fr", frozenset("çœêîôû")))
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_QUOTED: Final = re.compile(r'"[^"]{1,2000}"|```.{0,6000}?```|`[^`]{1,200}`', re.DOTALL)

Guess = str  # one of LANGUAGES, "" for no evidence at all, "?" for another or an uncertain language


@cache
def _votes() -> dict[str, tuple[tuple[str, float], ...]]:
    """For each common word, the languages it speaks for; a word shared by several counts less for each."""
    owners: dict[str, list[str]] = {}
    lists = {name: language(name).common for name in LANGUAGES} | decoys()
    for name, words in lists.items():
        for word in words:
            owners.setdefault(word, []).append(name)
    return {word: tuple((name, 1.0 / len(names)) for name in names) for word, names in owners.items()}


def guess(text: str) -> Guess:
    """The language of a unified text."""
    words = _head_words(text)
    if not words:
        return ""
    if sum(not _is_latin(word) for word in words) * 5 > len(words):
        return "?"
    totals = _totals(words)
    if not totals:
        return "en" if _mostly_english(words) else ""
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    best, weight = ranked[0]
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    if best in LANGUAGES and weight > 1.25 * second:
        return best
    return "en" if totals.get("en", 0.0) >= weight and _mostly_english(words) else "?"


def plausible(text: str, name: str) -> bool:
    """Whether a text of uncertain language may well be in this one: no other speaks louder."""
    words = _head_words(text)
    totals = _totals(words)
    return all(map(_is_latin, words)) and totals.get(name, 0.0) >= max(totals.values(), default=0.0)


def _head_words(text: str) -> list[str]:
    head = text[:_HEAD]
    words = _WORD.findall(_QUOTED.sub(" ", head)) if len(head) > 40 else []
    return [word.lower() for word in words or _WORD.findall(head)]


def _totals(words: list[str]) -> dict[str, float]:
    """How loudly each language speaks through its common words."""
    votes = _votes()
    totals: dict[str, float] = {}
    for word in words:
        for part in (word,) if "'" not in word or word in votes else word.split("'"):
            if len(part) > 1:  # a single letter is a variable as often as a word
                for name, weight in votes.get(part, ()):
                    totals[name] = totals.get(name, 0.0) + weight
        if not word.isascii():
            for name, letters in _LETTERS:
                if not letters.isdisjoint(word):
                    totals[name] = totals.get(name, 0.0) + 0.5
    return totals


def _is_latin(word: str) -> bool:
    return word.isascii() or all(char < "\u0250" or "\u1e00" <= char <= "\u1eff" for char in word)


def _mostly_english(words: list[str]) -> bool:
    """Whether nearly all words stand in the English word list (in some inflection)."""
    hits = sum(len(word) == 1 or known(word.split("'")[0]) for word in words)
    return hits * 10 >= len(words) * 9
