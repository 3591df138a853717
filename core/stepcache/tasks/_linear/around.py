"""What stands around an answer and makes it another one: "5 apples", "5 (mod 7)", "5 or 6", "half of x = 5", "is six".

No claim is made of these; they are looked for only to keep a wrong reply from passing for a right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from stepcache.tasks._linear.claims import answers_unknown
from stepcache.tasks._linear.phrases import ABOUT_WORDS, ANSWER_WORDS, IS_WORDS
from stepcache.tasks._linear.scanner import Gap, Item, Run, Word
from stepcache.tasks._linear.spoken import SIGNS
from stepcache.tasks._linear.tokens import Token
from stepcache.tasks._linear.vocabulary import unknown_word
from stepcache.tasks._linear.words import words

__all__ = ["changed_by_words", "in_numerals", "other_answer"]

# A number behind one of these goes on with the number before it: 5 or 6, 5 to 6, 5 plus 1.
_GOES_ON = SIGNS.keys() | set(words("or and to by of over oder und bis durch o y a u entre ou et à par 或 和 到 أو و"))
_PART_OF = frozenset(words("of von de du d'un"))
_PAUSES = frozenset({",", ";", ":", "，", "；", "：", "、", "،", "؛", "—"})
_NEGATIVE = frozenset(words("minus negative menos moins"))
_NOT_COUNTING = frozenset(words("one un una uno une ein eine eins"))  # articles as often as numbers
_BEHIND_NUMBER = (
    IS_WORDS
    | SIGNS.keys()
    | frozenset(words("divided because since so and for as not which when from to von auf de des aux"))
)


def changed_by_words(items: Sequence[Item], stop: int, language: str) -> str:
    """The words or numbers around the answer that ends at `stop` which may make it another one; empty if none do."""
    at = next(i for i, item in enumerate(items) if isinstance(item, Run) and _end(item) == stop)  # a claim ends a run
    return _before(items, at) or _behind(items, at, language)


def _end(run: Run) -> int:
    return run.tokens[-1].stop if run.tokens else -1


def _before(items: Sequence[Item], at: int) -> str:
    """ "half of" before an answer, not "the value of"."""
    last, first = items[at - 1 : at], items[at - 2 : at - 1]
    if not (last and isinstance(last[0], Word) and last[0].text in _PART_OF):
        return ""
    whole = bool(first) and isinstance(first[0], Word) and first[0].text in ANSWER_WORDS
    return "" if whole else last[0].written


def _behind(items: Sequence[Item], at: int, language: str) -> str:
    """What goes on behind an answer before its clause ends: a word that is not harmless, a further number."""
    before: Item = items[at]
    for i, item in enumerate(items[at + 1 :], at + 1):
        if isinstance(item, Word):
            if isinstance(before, Gap):
                return ""  # another clause
            if item.text not in ABOUT_WORDS and unknown_word([item], language) is not None:
                return item.written
            before = item
        elif isinstance(item, Run):
            if not item.tokens:
                continue
            further = not any(token.kind in {"=", "~", "boxed"} for token in item.tokens)
            joined = not isinstance(before, Word) or before.text in _GOES_ON
            return item.tokens[0].text if further and joined else ""
        elif item.text in _PAUSES:
            before = item
        elif item.ends:
            return "" if item.text == "\n" else _torn(items, i + 1)
    return ""


def _torn(items: Sequence[Item], at: int) -> str:
    """What goes on behind a sign that only looks like the end of a sentence: 5! = 120, 5..6."""
    following = next((item for item in items[at : at + 2] if not isinstance(item, Gap) or item.text == "\n"), None)
    if not isinstance(following, Run) or not following.tokens:
        return ""
    first = following.tokens[0]
    return first.text if first.kind == "=" or not first.spaced else ""


def in_numerals(items: Sequence[Item], language: str) -> tuple[Item, ...]:
    """The items with number words as numerals where they may be meant as numbers: "is six", "minus three is"."""
    from stepcache._gate.numerals import spelled  # the gate's tables are read on first use
    from stepcache._gate.tables import LANGUAGES
    from stepcache._gate.tables import language as tables_of

    tables = tables_of(language if language in LANGUAGES else "en")
    found: list[Item] = []
    at = 0
    while at < len(items):
        item, run = items[at], list[Word]()
        while isinstance(item, Word) and len(run) < 8 and at + len(run) < len(items):
            run.append(item)
            item = items[at + len(run)] if at + len(run) < len(items) else item
        number = spelled([word.text for word in run], tables) if run and run[0].text not in _NOT_COUNTING else None
        behind = items[at + number[1]] if number is not None and at + number[1] < len(items) else None
        if number is None or (isinstance(behind, Word) and behind.text not in _BEHIND_NUMBER):
            found.append(items[at])
            at += 1
            continue
        start, stop = run[0].start, run[number[1] - 1].stop
        found.append(Run([Token("number", str(number[0]), start, stop, True)], False))
        at += number[1]
    return tuple(found)


def other_answer(items: Sequence[Item], spelled: Sequence[Item], variable: str, solution: Fraction) -> str:
    """The first answer in number words that is not the solution ("the answer is six", "x = six"); empty if none is."""
    written = {id(item) for item in items}
    for i, item in enumerate(spelled):
        if id(item) in written or not isinstance(item, Run):
            continue
        before = spelled[i - 1] if i else None
        negative = isinstance(before, Word) and before.text in _NEGATIVE
        lead = [*spelled[: i - negative], item]
        value = Fraction(item.tokens[0].text) * (-1 if negative else 1)
        given = lead[-2] if len(lead) > 1 else None
        assigned = isinstance(given, Run) and [t.text for t in given.tokens[-2:]] == [variable, "="]
        if (assigned or answers_unknown(lead, len(lead) - 1, variable)) and value != solution:
            return item.tokens[0].text
    return ""
