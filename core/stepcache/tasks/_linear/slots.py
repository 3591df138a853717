"""The places of a reply that hold literals, each with what may be printed there (rewrite rule R4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepcache.tasks._linear.claims import AnswerClaim, EquationClaim, OperationClaim, Reply, TermClaim
from stepcache.tasks._linear.expressions import (
    Group,
    Negative,
    Node,
    Number,
    Product,
    Quotient,
    Sum,
    Term,
    Variable,
    leading_number,
)
from stepcache.tasks._linear.matching import Binding
from stepcache.tasks._linear.phrases import prepositions
from stepcache.tasks._linear.tokens import tokenize

__all__ = ["Refused", "Slot", "slots_of"]


class Refused(Exception):
    """This text can't be rewritten; the message says why."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of the text that holds one literal.

    `mark` is the written sign that belongs to it (None: none written), `sign` what it says, `first` whether nothing
    stands before it in its sum, `alone` whether a fraction could stand there in plain text, `multiplies` whether it
    is a factor of something, `bracket` whether a minus needs (or has) brackets of its own.
    """

    start: int
    stop: int
    recipe: Any
    latex: bool
    sign: int = 1
    mark: tuple[int, int] | None = None
    first: bool = True
    alone: bool = False
    multiplies: bool = False
    bracket: bool = False
    lonely: bool = False
    verb: tuple[int, int] | None = None
    preposition: tuple[int, int, str] | None = None


_TIMES = (*"*/×·⋅∙÷", "\\cdot", "\\times", "\\div")


def slots_of(reply: Reply, binding: Binding, text: str) -> Iterator[Slot]:
    """The slots of all claims of an explained reply."""
    for claim in reply.claims:
        match claim:
            case EquationClaim(sides):
                for side in sides:
                    yield from _in_sum(side, binding, claim.latex, text)
            case AnswerClaim(value) | TermClaim(value):
                yield from _in_sum(value, binding, claim.latex, text)
            case OperationClaim():
                yield from _in_operand(claim, binding, text)
            case _:
                pass


def _in_operand(claim: OperationClaim, binding: Binding, text: str) -> Iterator[Slot]:
    for slot in _in_sum(claim.operand, binding, claim.latex, text):
        if claim.operation in {"subtract", "add"} and slot.first and slot.mark is None:
            preposition = None
            if claim.preposition is not None:
                found = claim.preposition
                turned = prepositions(claim.operation, found.text, _next_word(text, found.stop))
                if turned is not None:
                    preposition = (found.start, found.stop, turned)
            yield Slot(
                slot.start,
                slot.stop,
                slot.recipe,
                slot.latex,
                alone=slot.alone,
                multiplies=slot.multiplies,
                verb=(claim.verb.start, claim.verb.stop),
                preposition=preposition,
            )
        else:
            yield slot


def _next_word(text: str, at: int) -> str:
    words = [token.text.lower() for token in tokenize(text[at : at + 30]) if token.kind == "word"]
    return words[0] if words else ""


def _in_sum(tree: Sum, binding: Binding, latex: bool, text: str) -> Iterator[Slot]:
    for i, term in enumerate(tree.terms):
        yield from _in_term(term, i == 0, len(tree.terms) == 1, binding, latex, text)


def _in_term(term: Term, first: bool, lonely: bool, binding: Binding, latex: bool, text: str) -> Iterator[Slot]:
    lead = leading_number(term.body)
    whole = (
        term.body
        if isinstance(term.body, Quotient)
        else term.body.factors[0]
        if isinstance(term.body, Product)
        else None
    )
    if isinstance(whole, Quotient) and (whole.start, whole.stop) in binding:
        quantity = binding[whole.start, whole.stop]
        factor = isinstance(term.body, Product)
        yield Slot(
            whole.start,
            whole.stop,
            quantity.recipe,
            latex,
            term.sign,
            term.mark,
            first,
            not factor,
            factor,
            lonely=lonely,
        )
        if isinstance(term.body, Product):
            for node in term.body.factors[1:]:
                yield from _in_factor(node, binding, latex, text)
        return
    if lead is not None:
        recipe = _role(lead, binding)
        yield Slot(
            lead.start,
            lead.stop,
            recipe,
            latex,
            term.sign,
            term.mark,
            first,
            isinstance(term.body, Number),
            not isinstance(term.body, Number),
            lonely=lonely,
        )
    yield from _in_factor(term.body, binding, latex, text, skip=lead)


def _role(number: Number, binding: Binding) -> Any:
    if (number.start, number.stop) not in binding:
        raise Refused("a numeral without a role")
    return binding[number.start, number.stop].recipe


def _in_factor(node: Node, binding: Binding, latex: bool, text: str, skip: Number | None = None) -> Iterator[Slot]:
    match node:
        case Number():
            if node is not skip:
                yield Slot(node.start, node.stop, _role(node, binding), latex, bracket=True)
        case Variable():
            pass
        case Negative():
            raise Refused("a minus after an operator")
        case Group(inner, start, stop):
            term = inner.terms[0]
            before = text[:start].rstrip()
            explicit = before.endswith(_TIMES)
            if (
                len(inner.terms) == 1
                and isinstance(term.body, Number)
                and explicit
                and text[start] == "("
                and term.sign == -1
            ):
                yield Slot(start, stop, ["~", _role(term.body, binding)], latex, bracket=True)
                return
            yield from _in_sum(inner, binding, latex, text)
        case Sum():
            yield from _in_sum(node, binding, latex, text)
        case Product(factors):
            for factor in factors:
                yield from _in_factor(factor, binding, latex, text, skip)
        case _:
            if (node.start, node.stop) in binding:
                raise Refused("a fraction inside a product")
            yield from _in_factor(node.top, binding, latex, text, skip)
            yield from _in_factor(node.bottom, binding, latex, text, skip)
