"""Slips of the pen and inflections of English words. A known word is never taken for a slip of another."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from stepcache._gate.tables import known_words, language, technical

__all__ = ["distance", "inflection_of", "known", "singular", "slip", "stems"]

_ENDINGS: Final = (
    ("ies", "y"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
    ("ers", "er"), ("er", ""), ("er", "e"), ("est", ""), ("est", "e"), ("ly", ""), ("ly", "le"),
    ("iest", "y"), ("ier", "y"), ("ily", "y"),
)  # fmt: skip
_IRREGULAR: Final = {
    "was": "be", "were": "be", "is": "be", "are": "be", "am": "be", "been": "be", "being": "be", "had": "have",
    "has": "have", "having": "have", "did": "do", "does": "do", "done": "do", "doing": "do", "took": "take",
    "taken": "take", "gave": "give", "given": "give", "got": "get", "made": "make", "went": "go", "gone": "go",
    "found": "find", "kept": "keep", "left": "leave", "meant": "mean", "met": "meet", "ran": "run", "said": "say",
    "saw": "see", "seen": "see", "sent": "send", "told": "tell", "thought": "think", "wrote": "write",
    "written": "write", "began": "begin", "begun": "begin", "chose": "choose", "chosen": "choose", "came": "come",
    "ate": "eat", "eaten": "eat", "held": "hold", "knew": "know", "known": "know", "led": "lead", "built": "build",
    "bought": "buy", "broke": "break", "broken": "break", "drew": "draw", "drawn": "draw", "fell": "fall",
    "grew": "grow", "grown": "grow", "shown": "show", "stood": "stand", "understood": "understand", "won": "win",
    "children": "child", "people": "person", "men": "man", "women": "woman", "indices": "index", "vertices": "vertex",
    "would": "will", "could": "can", "should": "shall", "might": "may",
}  # fmt: skip


_VOWELS: Final = frozenset("aeiouyäöüáéíóúàèùâêîôû")
_LONGEST: Final = 32  # letters; what is longer is no word
_SHORT: Final = frozenset(
    [
        "a",
        "i",
        "ad",
        "ah",
        "am",
        "an",
        "as",
        "at",
        "ax",
        "be",
        "by",
        "do",
        "eg",
        "go",
        "he",
        "hi",
        "id",
        "ie",
        "if",
        "in",
        "is",
        "it",
        "me",
        "mr",
        "ms",
        "my",
        "no",
        "of",
        "oh",
        "ok",
        "on",
        "or",
        "ox",
        "pi",
        "so",
        "to",
        "tv",
        "uk",
        "up",
        "us",
        "vs",
        "we",
        "ai",
        "ui",
        "x",
        "y",
        "z",
        "n",
        "k",
        "s",
        "t",
        "e",
    ]
)


@lru_cache(maxsize=8192)
def _stems(word: str) -> frozenset[str]:
    found = {word}
    if word in _IRREGULAR:
        found.add(_IRREGULAR[word])
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: len(word) - len(ending)]
            if _VOWELS.isdisjoint(stem):
                continue  # string is no str-ing
            found.add(stem + instead)
            if len(stem) > 3 and stem[-1] == stem[-2]:
                found.add(stem[:-1])
    return frozenset(found)


@cache
def _function_words() -> frozenset[str]:
    """The words that the tables name; a dictionary leaves out the, and, from."""
    tables = language("en")
    return tables.common | tables.verbs | frozenset(tables.classes) | frozenset(tables.forms) | tables.number_starts


def stems(word: str) -> frozenset[str]:
    """What the word may be an inflection of, itself among them."""
    return _stems(word) if len(word) <= _LONGEST else frozenset((word,))


def known(word: str) -> bool:
    """Whether the word, or what it is an inflection of, is an English word.

    Word lists hold nearly every run of two letters as the sign of something; those count only if they are common.
    """
    if len(word) <= 2:
        return word in _SHORT
    return word in technical() or any(stem in known_words() or stem in _function_words() for stem in stems(word))


def singular(word: str) -> str:
    """The singular of a regular English plural, where that is a known word; else the word."""
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss"):
            stem = word[: len(word) - len(ending)] + instead
            if len(stem) > 2 and stem in known_words():
                return stem
    return word


def inflection_of(one: str, other: str) -> bool:
    """Whether both words are forms of one word (takes and took, digit and digits)."""
    return not stems(one).isdisjoint(stems(other))


def distance(one: str, other: str, limit: int) -> int:
    """Edit distance where a swap of neighbours counts once; anything above `limit` is `limit + 1`."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before, last = last, row
    return min(last[-1], limit + 1)


def slip(one: str, other: str) -> bool:
    """Whether exactly one of two words is unknown and differs from the other by a common slip.

    A common slip keeps the first and the last letter and swaps, doubles or drops one letter between them; a changed
    letter is no slip: cython is not python. Nor is one dropped or doubled right before the last, as brands do
    (tumblr, fiverr), unless it is an l or s (usefull).
    """
    short, long = sorted((one, other), key=len)
    if len(long) < 5 or len(short) < 4 or short[0] != long[0] or short[-1] != long[-1]:
        return False
    if len(short) == len(long):
        differing = [index for index, pair in enumerate(zip(short, long, strict=True)) if pair[0] != pair[1]]
        if len(differing) != 2 or differing[1] != differing[0] + 1:
            return False
        if short[differing[0]] != long[differing[1]] or short[differing[1]] != long[differing[0]]:
            return False
    elif len(short) + 1 != len(long) or all(
        long[:index] + long[index + 1 :] != short for index in range(1, len(long) - (1 if long[-2] in "ls" else 2))
    ):
        return False
    return known(one) != known(other)
