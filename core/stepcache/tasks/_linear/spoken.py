"""What a reply says of its mathematics in words: a denial, a question, a sign behind a number, sums in words.

No claim is made of these; they are looked for only to keep a wrong reply from passing for a right one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

from stepcache.tasks._linear.expressions import Unreadable, parse_sum, plain_value
from stepcache.tasks._linear.phrases import IS_WORDS
from stepcache.tasks._linear.scanner import Gap, Item, Run, Word
from stepcache.tasks._linear.tokens import Kind, Token

__all__ = ["SIGNS", "denied", "false_in_words", "is_last_line", "suffixed"]

SIGNS: dict[str, Kind] = {"plus": "+", "minus": "-", "times": "*", "mal": "*", "por": "*", "fois": "*"}
_DENIAL = re.compile(
    r"\b(?:is|are)\s+(?:not|wrong|incorrect|false)\b|\bisn['’]t\b|\bnot\s+(?:the|a)\s+solution\b|"
    r"\b(?:ist|wäre)\s+(?:nicht|falsch)\b|\bno\s+es\b|\bes\s+(?:incorrect[oa]|fals[oa])\b|\bn['’]est\s+pas\b|\best\s+faux\b",
    re.IGNORECASE,
)
_ENDLESS = re.compile(r"\binfinit|\bunendlich viele|无穷多|无数", re.IGNORECASE)
_LEADS = {"so", "then", "thus", "hence", "that", "means", "and", "also"}
_SENTENCE = 200  # characters on either side in which the sentence of an answer is looked for


def suffixed(text: str, stop: int) -> bool:
    """Whether something is written right behind a number that makes it another one: 5², 5%, 5i, 5e1, 5₇."""
    if stop >= len(text) or not text[stop - 1].isdigit():
        return False
    sign = text[stop]
    if unicodedata.category(sign) == "Cf":
        return text[stop + 1 : stop + 2].isdigit()
    return sign in "%‰°′″" or unicodedata.category(sign) == "No" or (sign.isalpha() and sign < "\u0250")


def denied(text: str, start: int, stop: int) -> bool:
    """Whether the sentence of an answer denies it or asks for it, or the reply says that there are endless ones."""
    before = re.split(r"[.!?\n](?!\d)", text[max(0, start - _SENTENCE) : start])[-1]
    behind = re.split(r"(?<=[.!?\n])(?!\d)", text[stop : stop + _SENTENCE], maxsplit=1)[0]
    return bool(
        _DENIAL.search(before + "«»" + behind) or behind.lstrip(" *$)\\").startswith("?") or _ENDLESS.search(text)
    )


def is_last_line(items: Sequence[Item], i: int) -> bool:
    """Whether a run stands alone on the last line of a reply, below others: there it is the answer."""
    behind = all(isinstance(item, Gap) for item in items[i + 1 :])
    return behind and i > 0 and isinstance(items[i - 1], Gap) and items[i - 1].text == "\n"  # type: ignore[union-attr]


def false_in_words(items: Sequence[Item], variable: str, solution: Fraction, comma: bool | None) -> int | None:
    """The place of the first sum in words that is wrong: "13 minus 3 is 9", "10 divided by 2 is 6", "so 2x is 16"."""
    for i, item in enumerate(items):
        if not (isinstance(item, Word) and item.text in IS_WORDS and 0 < i < len(items) - 1):
            continue
        right, (left, first) = items[i + 1], _spoken(items, i - 1)
        numeric = len(left) > 2 and all(token.kind != "word" for token in left)
        if not isinstance(right, Run) or not left or (not numeric and _of_a_part(items, first)):
            continue
        try:
            a, b = plain_value(parse_sum(left, variable, comma))
            c, d = plain_value(parse_sum(right.tokens, variable, comma))
        except (Unreadable, ZeroDivisionError):
            continue
        if a * solution + b != c * solution + d:
            return left[0].start
    return None


def _spoken(items: Sequence[Item], i: int) -> tuple[list[Token], int]:
    """The tokens of the expression that ends with item `i`, operators in words among them, and where it begins."""
    found: list[Token] = []
    while i >= 0:
        item = items[i]
        if not isinstance(item, Run) or not item.tokens or any(t.kind in {"=", "~", "boxed"} for t in item.tokens):
            return [], i
        found = [*item.tokens, *found]
        before = items[i - 1] if i else None
        over = before.text == "by" and i > 1 and items[i - 2] if isinstance(before, Word) else None
        if isinstance(over, Word) and over.text == "divided":
            found, i = [Token("/", "/", over.start, over.stop, True), *found], i - 3
        elif isinstance(before, Word) and before.text in SIGNS:
            found, i = [Token(SIGNS[before.text], before.text, before.start, before.stop, True), *found], i - 2
        else:
            return found, i
    return [], 0


def _of_a_part(items: Sequence[Item], first: int) -> bool:
    """Whether what stands before an expression speaks of a part of it: "the coefficient in 2x is 2"."""
    before = items[first - 1] if first else None
    return isinstance(before, Word) and before.text not in _LEADS
