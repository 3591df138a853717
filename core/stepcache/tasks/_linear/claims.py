"""What a reply claims: equations, operations, the answer, mentions of the unknown; and what is none of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from stepcache.tasks._linear.expressions import Sum, Unreadable, parse_sum
from stepcache.tasks._linear.phrases import ABOUT_WORDS, ANSWER_WORDS, IS_WORDS, OPERAND_FILLERS, VERBS, Operation
from stepcache.tasks._linear.scanner import Gap, Item, Run, Word, scan
from stepcache.tasks._linear.spoken import is_last_line, suffixed
from stepcache.tasks._linear.tokens import Token
from stepcache.tasks._linear.words import words

__all__ = [
    "AnswerClaim",
    "Claim",
    "EquationClaim",
    "Mention",
    "OperationClaim",
    "Reply",
    "TermClaim",
    "UnknownClaim",
    "Word",
    "answers_unknown",
    "read_items",
    "read_reply",
]

_MOST_TOKENS = 400  # of one run of mathematics; it bounds the time a hostile reply can cost


@dataclass(frozen=True, slots=True)
class EquationClaim:
    """Two or more expressions said to be equal (or nearly so, where `relations` holds a "~")."""

    sides: tuple[Sum, ...]
    relations: tuple[Literal["=", "~"], ...]
    start: int
    stop: int
    latex: bool


@dataclass(frozen=True, slots=True)
class OperationClaim:
    """A stated operation with its operand; `verb` and `preposition` are the places that a change of sign rewords."""

    operation: Operation
    operand: Sum
    start: int
    stop: int
    latex: bool
    verb: Word
    preposition: Word | None = None


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """The value of the unknown, said without its name: a boxed 5, "the solution is 5"; `rounded`: it says "about"."""

    value: Sum
    start: int
    stop: int
    latex: bool
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """The unknown as a lone token in prose."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class TermClaim:
    """A number or term that prose speaks of: "the coefficient of x is 2", "because 2 is a constant"."""

    value: Sum
    start: int
    stop: int
    latex: bool


@dataclass(frozen=True, slots=True)
class UnknownClaim:
    """Mathematics that is not understood."""

    start: int
    stop: int
    why: str


Claim = EquationClaim | OperationClaim | AnswerClaim | TermClaim | Mention | UnknownClaim


@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """The claims of a reply in their order, and the words around them; the same one for the same text (`read_reply`),
    so that what is worked out about it can be looked up by it.
    """

    claims: tuple[Claim, ...]
    words: tuple[Word, ...]


@lru_cache(maxsize=64)
def read_reply(text: str, variable: str, decimal_comma: bool | None = None) -> Reply:
    """The claims of `text` about `variable`. One request reads the same reply several times, so the last are kept."""
    return read_items(scan(text, variable), text, variable, decimal_comma)


def read_items(items: Sequence[Item], text: str, variable: str, decimal_comma: bool | None = None) -> Reply:
    """The claims of a reply whose items have been told apart."""
    sole = sum(isinstance(item, Word) or (isinstance(item, Run) and bool(item.tokens)) for item in items) == 1
    claims: list[Claim] = []
    operands = _operations(items, variable, decimal_comma)
    for i, item in enumerate(items):
        if i in operands:
            claims.append(operands[i])
        elif isinstance(item, Run) and item.tokens:
            claim = _claim(items, i, item, variable, decimal_comma, sole or is_last_line(items, i))
            if isinstance(claim, EquationClaim | AnswerClaim) and suffixed(text, claim.stop):
                claim = UnknownClaim(claim.start, claim.stop, "a number that goes on")
            claims.append(claim)
    claims.sort(key=lambda claim: claim.start)
    return Reply(tuple(claims), tuple(item for item in items if isinstance(item, Word)))


def _claim(items: Sequence[Item], i: int, run: Run, variable: str, decimal_comma: bool | None, sole: bool) -> Claim:
    """What a run of mathematics claims; `sole` if it is all there is, so that a bare number is the answer."""
    tokens = run.tokens
    start, stop = tokens[0].start, tokens[-1].stop
    boxed = tokens[0].kind == "boxed"
    if any(token.kind == "boxed" for token in tokens):
        if boxed and len(tokens) > 2 and tokens[1].kind == "{" and tokens[-1].kind == "}":
            tokens = tokens[2:-1]
        else:
            tokens = [token for token in tokens if token.kind != "boxed"]
            boxed = False
    if run.called:
        return UnknownClaim(start, stop, "a function")
    if not tokens:
        return UnknownClaim(start, stop, "an empty box")
    if len(tokens) > _MOST_TOKENS:
        return UnknownClaim(start, stop, "too long")
    bad = next((token for token in tokens if token.kind in {"<", "^", "|", "over", "other", "command"}), None)
    if bad is not None:
        return UnknownClaim(start, stop, f"{bad.text!r} is not understood")
    if len(tokens) == 1 and tokens[0].text == variable:
        return Mention(tokens[0].start, tokens[0].stop)
    if tokens[0].text == "(" and tokens[-1].text == ")" and _inside(tokens):
        tokens = tokens[1:-1]  # a whole equation in brackets
    cuts = [j for j, token in enumerate(tokens) if token.kind in {"=", "~"}]
    relations: list[Literal["=", "~"]] = ["=" if tokens[j].kind == "=" else "~" for j in cuts]
    bounds = [-1, *cuts, len(tokens)]
    try:
        sides = tuple(parse_sum(tokens[a + 1 : b], variable, decimal_comma) for a, b in pairwise(bounds))
    except Unreadable as reason:
        return UnknownClaim(start, stop, str(reason))
    if len(sides) > 1:
        return EquationClaim(sides, tuple(relations), start, stop, run.latex)
    manner = "exact" if boxed or sole else answers_unknown(items, i, variable)
    if manner is not None:
        return AnswerClaim(sides[0], start, stop, run.latex, manner == "rounded")
    if _named(items, i):
        return TermClaim(sides[0], start, stop, run.latex)
    return UnknownClaim(start, stop, "a number or term without a claim")


def _inside(tokens: Sequence[Token]) -> bool:
    """Whether the first sign of equality stands inside a bracket."""
    depth = 0
    for token in tokens:
        if token.kind in {"=", "~"}:
            return depth > 0
        depth += (token.kind in {"(", "{"}) - (token.kind in {")", "}"})
    return False


_BETWEEN = frozenset(
    words("""
the of for to a this given original final equation variable unknown exact correct therefore so thus hence and
x der die das von für gleichung variable endgültige la el de para ecuación final incógnita le pour l'équation
finale inconnue 方程 最终 最后 المعادلة النهائي
""")
)


def answers_unknown(items: Sequence[Item], i: int, variable: str) -> Literal["exact", "rounded"] | None:
    """How the words before a lone number make it the answer: "the solution is 5", "x equals about 0.7", "Answer: 5"."""
    says = colon = False
    manner: Literal["exact", "rounded"] = "exact"
    for at in range(i - 1, max(0, i - 14) - 1, -1):
        item, before = items[at], items[at - 1] if at else None
        if isinstance(item, Word):
            if item.text in ANSWER_WORDS:
                return manner if says or colon else None
            if item.text in ABOUT_WORDS:
                manner = "rounded"
            elif item.text in IS_WORDS:
                says = True
            elif item.text not in _BETWEEN:
                return None
        elif isinstance(item, Run):
            if len(item.tokens) == 1 and item.tokens[0].text == variable:
                if says and not (isinstance(before, Word) and before.text in _PART_OF):
                    return manner
            elif not any(token.kind == "=" for token in item.tokens):
                return None
        elif item.text in {":", "："}:
            colon = True
        elif item.ends and item.text not in {"\\[", "\n", "$$"}:
            return None
    return None


_PART_OF = frozenset({"of", "von", "de", "times", "mal", "fois", "por"})  # the coefficient of x, 2 times x
_BEFORE_TERM = frozenset(
    words(
        "the coefficient constant term number because by is since multiplied divided which move moving bring remove "
        "distribute"
    )
)
_AFTER_TERM = frozenset(words("is and in on from to so which term multiplied divided cancels cancel for as"))


def _named(items: Sequence[Item], i: int) -> bool:
    """Whether prose speaks of a lone number or term of the equation, and does not count with it ("2 steps")."""
    before = next((item for item in reversed(items[:i]) if isinstance(item, Word) or _ends(item)), None)
    after = next((item for item in items[i + 1 :] if isinstance(item, Word | Run) or item.text not in _SILENT), None)
    if not isinstance(before, Word) or before.text not in _BEFORE_TERM:
        return False
    return after is None or (isinstance(after, Gap) or (isinstance(after, Word) and after.text in _AFTER_TERM))


def _ends(item: Item) -> bool:
    return isinstance(item, Run) or (isinstance(item, Gap) and item.text not in _SILENT)


_SILENT = {"\\(", "\\)", "$"}


def _operations(
    items: Sequence[Item], variable: str, decimal_comma: bool | None
) -> dict[int, OperationClaim | UnknownClaim]:
    """The operation phrases, by the index of the item that is their operand."""
    found: dict[int, OperationClaim | UnknownClaim] = {}
    for i, item in enumerate(items):
        verb = _verb(item) if isinstance(item, Word) else None
        if verb is None:
            continue
        operation = VERBS[verb.text]
        by = operation in {"subtract", "add"}
        for at in range(i + 1, len(items)):  # as far as the next verb at most, so this is linear in all
            other = items[at]
            if isinstance(other, Run) and other.tokens:
                alone = len(other.tokens) == 1 and other.tokens[0].text == variable
                if alone and not by:
                    if _by(items, at - 1, at):
                        found[at] = UnknownClaim(
                            other.tokens[0].start, other.tokens[0].stop, "an operation with the unknown"
                        )
                        break
                    continue
                if alone and by and isinstance(items[at - 1], Word) and items[at - 1].text in {"of", "with"}:  # type: ignore[union-attr]
                    continue
                if operation in {"divide", "multiply"} and not _by(items, i, at):
                    break
                claim = _operation(items, verb, operation, at, other, variable, decimal_comma)
                if claim is not None:
                    found[at] = claim
                break
            if isinstance(other, Word) and other.text not in OPERAND_FILLERS:
                break
            if isinstance(other, Gap) and (other.ends or other.text not in {",", "$", "\\(", "\\)"}):
                break
    return found


def _verb(word: Word) -> Word | None:
    """The verb of an operation that a word is, or ends in where words are written without spaces."""
    if word.text in VERBS:
        return word
    for length in (3, 2):
        if "\u4e00" <= word.text[-1] <= "\u9fff" and word.text[-length:] in VERBS:
            return Word(word.text[-length:], word.stop - length, word.stop, word.written[-length:])
    return None


def _by(items: Sequence[Item], verb: int, operand: int) -> bool:
    """Whether "by" (or its like) stands between, so that the operand divides and is not divided."""
    word = items[verb]
    if isinstance(word, Word) and re.search(r"[\u4e00-\u9fff]", word.text):
        return True
    return any(
        isinstance(item, Word) and item.text in {"by", "durch", "mit", "entre", "por", "par", "على", "في"}
        for item in items[verb:operand]
    )


def _operation(
    items: Sequence[Item],
    verb: Word,
    operation: Operation,
    at: int,
    run: Run,
    variable: str,
    decimal_comma: bool | None,
) -> OperationClaim | None:
    if any(token.kind in {"=", "~", "boxed"} for token in run.tokens):
        return None
    try:
        operand = parse_sum(run.tokens, variable, decimal_comma)
    except Unreadable:
        return None
    preposition = None
    for item in items[at + 1 : at + 3]:
        if isinstance(item, Word):
            preposition = item
            break
        if isinstance(item, Gap) and item.text in {"\\)", "$"}:
            continue
        break
    if preposition is not None and preposition.text in {"from", "to", "von"} and operation in {"subtract", "add"}:
        after = next((other for other in items[at + 2 : at + 6] if not isinstance(other, Gap)), None)
        if isinstance(after, Run):
            return None  # "subtract 3 from 13" is arithmetic, not a step of the equation
    return OperationClaim(
        operation, operand, min(verb.start, operand.start), operand.stop, run.latex, verb, preposition
    )
