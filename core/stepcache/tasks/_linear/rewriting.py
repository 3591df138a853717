"""Rewriting an explained reply for another equation of the same form, and proving the result (rewrite rules R4-R8)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from stepcache.tasks._linear import facts
from stepcache.tasks._linear.chain import explain
from stepcache.tasks._linear.claims import Mention, OperationClaim, Reply, Word, read_reply
from stepcache.tasks._linear.expressions import (
    Group,
    Negative,
    Node,
    Number,
    Product,
    Sum,
    Variable,
    leading_number,
    plain_value,
)
from stepcache.tasks._linear.languages import decimal_comma_of
from stepcache.tasks._linear.phrases import COUNTERPART
from stepcache.tasks._linear.prompts import Equation
from stepcache.tasks._linear.quantities import value_in
from stepcache.tasks._linear.slots import Refused, Slot, slots_of
from stepcache.tasks._linear.tokens import tokenize
from stepcache.tasks._linear.vocabulary import FRACTION_WORDS, LETTERS, signed_words, unknown_word

__all__ = ["rewrite_text", "same_equation", "signed_alone", "trace_of", "turned"]

_VERSION = 2


@dataclass(frozen=True, slots=True)
class _Trace:
    """What a reply depends on: its slots, the places of the unknown, and what its words take for granted.

    prose: words mention the unknown. rigid: words name operations, so no sign may turn. fraction: words speak of a
    fraction, which must come out even.
    """

    slots: list[Slot]
    names: list[tuple[int, int]]
    prose: bool
    rigid: bool
    fraction: bool


def trace_of(text: str, equation: Equation, language: str) -> str:
    """The explained trace of a right reply as JSON, or why it can't be rewritten (rule R8)."""
    try:
        trace = _understand(text, equation, language)
        if _print(text, trace, equation, equation) != text:
            raise Refused("it can't be reproduced")
    except Refused as reason:
        return json.dumps({"version": _VERSION, "refused": str(reason)})
    return json.dumps(
        {
            "version": _VERSION,
            "slots": [
                [
                    s.start,
                    s.stop,
                    s.recipe,
                    s.latex,
                    s.sign,
                    s.mark,
                    s.first,
                    s.alone,
                    s.multiplies,
                    s.bracket,
                    s.lonely,
                    s.verb,
                    s.preposition,
                ]
                for s in trace.slots
            ],
            "names": trace.names,
            "prose": trace.prose,
            "rigid": trace.rigid,
            "fraction": trace.fraction,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def rewrite_text(text: str, trace: str, old: Equation, new: Equation, language: str) -> str | None:
    """`text`, a right reply for `old`, made right for `new`; None where that can't be done and proved."""
    if old.form != new.form or old.solution is None or new.solution is None:
        return None
    try:
        explained = (_loaded(trace) if trace else None) or _understand(text, old, language)
        if old.variable != new.variable:
            _check_name(text, old.variable, new.variable, language if explained.prose else None)
        result = _print(text, explained, old, new)
        # R5, R6: the result is explained from scratch for the new request alone, and leads back byte for byte.
        if _print(result, _understand(result, new, language), new, old) != text:
            return None
    except (Refused, ValueError, TypeError, ArithmeticError, LookupError, RecursionError):
        return None  # a trace is read from a store: whatever is wrong with it, the reply is not rewritten
    return result


def same_equation(old: Equation, new: Equation) -> bool:
    """Whether two equations are written alike: same unknown, same form, same literals with the same signs."""
    if old.variable != new.variable or old.form != new.form:
        return False
    return _relative(old, new) == _literals(old)


def _loaded(trace: str) -> _Trace | None:
    """A recorded trace; None for one that an older or newer release wrote, which tells this one nothing."""
    data = json.loads(trace)
    if not isinstance(data, dict):
        raise Refused("no trace")
    if data.get("version") != _VERSION:
        return None
    if "refused" in data:
        raise Refused(str(data["refused"]))
    slots = []
    for start, stop, recipe, latex, sign, mark, first, alone, multiplies, bracket, lonely, verb, preposition in data[
        "slots"
    ]:
        slots.append(
            Slot(
                start,
                stop,
                recipe,
                latex,
                sign,
                mark and tuple(mark),
                first,
                alone,
                multiplies,
                bracket,
                lonely,
                verb and tuple(verb),
                preposition and tuple(preposition),
            )
        )
    names = [(int(start), int(stop)) for start, stop in data["names"]]
    return _Trace(slots, names, bool(data["prose"]), bool(data["rigid"]), bool(data["fraction"]))


def signed_alone(reply: Reply, operations: Sequence[OperationClaim]) -> Iterator[Word]:
    """The words that name an addition or subtraction of which no operand is said."""
    attached = {claim.verb.start for claim in operations}
    return (word for word in signed_words(reply.words) if word.start not in attached)


@lru_cache(maxsize=64)  # proving a rewrite and recording it read the same text
def _understand(text: str, equation: Equation, language: str) -> _Trace:
    """What the reply depends on; or refuse."""
    reply = read_reply(text, equation.variable, decimal_comma_of(language))
    word = unknown_word(reply.words, language)
    if word is not None:
        raise Refused(f"the word {word.text!r} may depend on the numbers")
    if facts.false_claim(reply, equation) is not None or not facts.final_answer(reply, equation, text, language)[0]:
        raise Refused("it is not right")
    explanation = explain(reply, equation, probes=True)
    if explanation.failure is not None:
        raise Refused(explanation.failure.why)
    if not explanation.answered:
        raise Refused("it does not reach the answer")
    slots = sorted(slots_of(reply, explanation.binding, text), key=lambda slot: slot.start)
    names = [
        (token.start, token.stop)
        for token in tokenize(text)
        if token.kind == "word" and token.text == equation.variable
    ]
    rigid = any(signed_alone(reply, explanation.operations))
    prose = any(isinstance(claim, Mention) for claim in reply.claims)
    fraction = any(word.text in FRACTION_WORDS for word in reply.words)
    return _Trace(slots, names, prose, rigid, fraction)


def _relative(old: Equation, new: Equation) -> list[Fraction]:
    """The literals of `new` as values for the slots of `old`: negative where the sign before the numeral differs."""
    return [value if sign == before else -value
            for (value, sign), (_, before) in zip(_signs(new), _signs(old), strict=True)]


def _literals(equation: Equation) -> list[Fraction]:
    return [value for value, _ in _signs(equation)]


@lru_cache(maxsize=64)
def _signs(equation: Equation) -> tuple[tuple[Fraction, int], ...]:
    """The literals of an equation, each with the sign of the term that it leads."""
    return tuple((number.value, sign) for side in (equation.left, equation.right) for number, sign in _signed(side))


def _signed(node: Node, sign: int = 1) -> Iterator[tuple[Number, int]]:
    """The numerals of a tree in order, each with the sign of the term that it leads."""
    match node:
        case Sum(terms):
            for term in terms:
                lead = leading_number(term.body)
                for number, own in _signed(term.body):
                    yield number, term.sign if number is lead else own
        case Negative(body):
            yield from _signed(body)
        case Group(inner):
            yield from _signed(inner)
        case Product(factors):
            for factor in factors:
                yield from _signed(factor)
        case Variable():
            return
        case Number():
            yield node, 1
        case _:
            yield from _signed(node.top)
            yield from _signed(node.bottom)


def turned(old: Equation, new: Equation) -> bool:
    """Whether what words may speak of has another sign in the new equation: a literal, what a side comes to."""
    if any(value < 0 for value in _relative(old, new)):
        return True
    befores, afters = ((*plain_value(e.left), *plain_value(e.right)) for e in (old, new))
    return any(before * after < 0 or (before == 0) != (after == 0)
               for before, after in zip(befores, afters, strict=True))


def _print(text: str, trace: _Trace, old: Equation, new: Equation) -> str:
    """The text with each slot holding its value in the new equation, and the new name of the unknown (rule R4)."""
    literals = _relative(old, new)
    originals = _literals(old)
    if trace.rigid and turned(old, new):
        raise Refused("a word for an operation would have to change")
    edits: list[tuple[int, int, str]] = []
    for slot in trace.slots:
        before = value_in(slot.recipe, originals)
        value = before if old is new else value_in(slot.recipe, literals)
        if trace.fraction and value.denominator != 1:
            raise Refused("words speak of a fraction, and this one does not come out even")
        if trace.rigid and value < 0:
            raise Refused("a word for an operation would have to change")
        edits += _edits(text, slot, value, before)
    if old.variable != new.variable:
        edits += [(start, stop, new.variable) for start, stop in trace.names]
    parts, at = [], 0
    for start, stop, piece in sorted(edits):
        if start < at:
            raise Refused("slots overlap")
        parts += [text[at:start], piece]
        at = stop
    return "".join([*parts, text[at:]])


def _edits(text: str, slot: Slot, value: Fraction, before: Fraction) -> Iterator[tuple[int, int, str]]:
    if slot.multiplies and value != before and abs(value) in (0, 1):
        raise Refused("a factor becomes 0 or 1")
    if slot.multiplies and value != before and abs(before) in (0, 1):
        raise Refused("a factor stops being 0 or 1")
    written = text[slot.start : slot.stop]
    if slot.bracket:
        if value < 0 and value.denominator == 1:
            yield slot.start, slot.stop, f"({value})"
        else:
            yield slot.start, slot.stop, _numeral(value, slot, written)
        return
    if value == 0 and before != 0 and (slot.verb or not slot.lonely or slot.multiplies):
        raise Refused("a term vanishes")
    size, flipped = abs(value), value < 0
    numeral = _numeral(size, slot, written)
    if slot.verb is not None:
        if flipped:
            yield slot.verb[0], slot.verb[1], _counterpart(text[slot.verb[0] : slot.verb[1]])
            if slot.preposition is not None:
                if not slot.preposition[2]:
                    raise Refused("a preposition that would have to change")
                yield slot.preposition
        yield slot.start, slot.stop, numeral
        return
    sign = -slot.sign if flipped else slot.sign
    if value == 0:
        sign = 1
    if sign != slot.sign:
        if slot.mark is None:
            numeral = "-" + numeral
        elif slot.first and sign == 1:
            yield slot.mark[0], slot.start, ""
        else:
            yield slot.mark[0], slot.mark[1], "+" if sign == 1 else "-"
    yield slot.start, slot.stop, numeral


def _counterpart(verb: str) -> str:
    turned = COUNTERPART.get(verb.lower())
    if turned is None:
        raise Refused("a verb without a counterpart")
    return turned.capitalize() if verb[:1].isupper() else turned


def _numeral(value: Fraction, slot: Slot, written: str) -> str:
    """A number of size `value` as it can stand in the slot."""
    if "." in written or "," in written or "٫" in written:
        return _decimal(value, written)
    if value.denominator == 1:
        return str(value)
    if slot.latex:
        return f"\\frac{{{value.numerator}}}{{{value.denominator}}}"
    if not slot.alone:
        raise Refused("a fraction where none can stand")
    return str(value)


def _decimal(value: Fraction, written: str) -> str:
    places, denominator = 0, value.denominator
    while denominator > 1 and places < 12:
        places += 1
        denominator = (value * 10**places).denominator
    if denominator != 1:
        raise Refused("a decimal that does not end")
    digits = str(int(value * 10**places)).rjust(places + 1, "0")
    separator = "," if "," in written else "."
    return digits if not places else digits[:-places] + separator + digits[-places:]


def _check_name(text: str, old: str, new: str, prose: str | None) -> None:
    """Rule R7: the new name is not in the text yet; where prose names the unknown, neither name is a word."""
    if any(token.kind == "word" and token.text == new for token in tokenize(text)):
        raise Refused("the new name already occurs")
    if prose is not None and {old.lower(), new.lower()} & LETTERS.get(prose, frozenset()):
        raise Refused("the name of the unknown is a word")
