"""Matching what a reply writes against what should stand there, numeral by numeral, so that each gets its role.

A side that should stand there is a row of signed pieces, each a multiple of the unknown or a number. A written side
matches if each of its terms is a sum of pieces, in their order, with nothing left over; a value alone is never enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from stepcache.tasks._linear.expressions import (
    Group,
    Negative,
    Node,
    Number,
    Product,
    Quotient,
    Sum,
    Term,
    Unreadable,
    Variable,
    has_variable,
    plain_value,
)
from stepcache.tasks._linear.quantities import ONE, ZERO, Quantity

__all__ = ["Ambiguous", "Binding", "NoMatch", "Piece", "Side", "bind_constant", "match_side", "side_of", "totals"]

Binding = dict[tuple[int, int], Quantity]  # the role of each numeral, by its place; of a fraction as a whole likewise
_MOST = 12


class NoMatch(Exception):
    """What is written is not what should stand there."""


class Ambiguous(Exception):
    """It matches in ways that give some numeral different roles (rewrite rule R3)."""


@dataclass(frozen=True, slots=True)
class Piece:
    quantity: Quantity
    varies: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a state: its pieces, the tree it was written as, and what it is a multiple or fraction of."""

    pieces: tuple[Piece, ...]
    tree: Sum | None = None
    binding: Mapping[tuple[int, int], Quantity] = field(default_factory=dict)
    whole: Side | None = None  # this side times (or divided by) something is `whole`
    divisor: Quantity | None = None


def totals(pieces: Sequence[Piece]) -> tuple[Quantity, Quantity]:
    """(coefficient, constant) of the sum of the pieces."""
    a, b = ZERO, ZERO
    for piece in pieces:
        if piece.varies:
            a = piece.quantity if a is ZERO else a + piece.quantity
        else:
            b = piece.quantity if b is ZERO else b + piece.quantity
    return a, b


def side_of(tree: Sum, binding: Mapping[tuple[int, int], Quantity]) -> Side:
    """The side that a tree with known roles stands for."""
    return Side(tuple(_pieces(tree, binding)), tree, binding)


def _pieces(node: Node, binding: Mapping[tuple[int, int], Quantity]) -> Iterator[Piece]:
    match node:
        case Number(_, start, stop):
            yield Piece(binding[start, stop], False)
        case Variable():
            yield Piece(ONE, True)
        case Negative(body):
            for piece in _pieces(body, binding):
                yield Piece(-piece.quantity, piece.varies)
        case Group(inner):
            yield from _pieces(inner, binding)
        case Sum(terms):
            for term in terms:
                for piece in _pieces(term.body, binding):
                    yield piece if term.sign == 1 else Piece(-piece.quantity, piece.varies)
        case Product(factors):
            factor, rest = ONE, []
            for part in factors:
                if has_variable(part):
                    rest.append(part)
                else:
                    factor = factor * totals(tuple(_pieces(part, binding)))[1]
            for piece in _pieces(rest[0], binding) if rest else (Piece(ONE, False),):
                yield Piece(factor * piece.quantity, piece.varies)
        case _:
            if (node.start, node.stop) in binding:
                yield Piece(binding[node.start, node.stop], False)
                return
            divisor = totals(tuple(_pieces(node.bottom, binding)))[1]
            for piece in _pieces(node.top, binding):
                yield Piece(piece.quantity / divisor, piece.varies)


def match_side(tree: Sum, side: Side, pool: Sequence[Quantity], solution: Quantity | None = None) -> Binding:
    """The roles of the numerals of `tree` if it may stand for `side`; with a solution, for the side with it put in."""
    if side.tree is not None:
        found: Binding = {}
        if _same_form(tree, side.tree, side.binding, found, solution):
            return found
    if solution is not None:
        side = Side(tuple(Piece(p.quantity * solution if p.varies else p.quantity, False) for p in side.pieces))
    if side.whole is not None and side.divisor is not None and len(tree.terms) == 1 and tree.terms[0].sign == 1:
        body = tree.terms[0].body
        if isinstance(body, Quotient) and isinstance(body.top, Sum):
            try:
                return match_side(body.top, side.whole, pool) | bind_constant(body.bottom, side.divisor)
            except NoMatch:
                pass
    return _match_sum(tree, side.pieces, pool)


def _match_sum(tree: Sum, pieces: Sequence[Piece], pool: Sequence[Quantity]) -> Binding:
    if len(tree.terms) == 1:
        return _match_term(tree.terms[0], pieces, pool)
    found: Binding = {}
    for varies in (True, False):
        terms = [term for term in tree.terms if has_variable(term.body) == varies]
        own = [piece for piece in pieces if piece.varies == varies]
        if not terms:
            if totals(own)[0 if varies else 1]:
                raise NoMatch
            continue
        if any(_value(term.body)[1 if varies else 0] for term in terms):
            raise NoMatch  # a bracket that mixes both kinds is matched by form only
        found |= _distribute(terms, own, pool)
    return found


def _match_term(term: Term, pieces: Sequence[Piece], pool: Sequence[Quantity]) -> Binding:
    if term.sign == -1:
        pieces = [Piece(-piece.quantity, piece.varies) for piece in pieces]
    return _match(term.body, pieces, pool)


def _distribute(terms: Sequence[Term], pieces: Sequence[Piece], pool: Sequence[Quantity]) -> Binding:
    """Share pieces of one kind out among terms, in their order; failing that, one to one in any order."""
    if max(len(terms), len(pieces)) > _MOST or len(terms) > len(pieces):
        raise NoMatch
    wanted = [sum(_value(term.body), Fraction(0)) * term.sign for term in terms]
    ways = list(_cuts(wanted, pieces)) or list(_permutations(wanted, pieces))
    found: list[Binding] = []
    for way in ways:
        try:
            binding: Binding = {}
            for term, block in zip(terms, way, strict=True):
                binding |= _match_term(term, block, pool)
        except NoMatch:
            continue
        if not any(_agree(binding, other) for other in found):
            found.append(binding)
    return _only(found)


def _cuts(wanted: Sequence[Fraction], pieces: Sequence[Piece]) -> Iterator[list[list[Piece]]]:
    """The ways to cut the row of pieces into runs with the wanted sums."""
    if not wanted:
        if not any(totals(pieces)):
            yield []
        return
    total = Fraction(0)
    for stop in range(1, len(pieces) + 1):
        total += pieces[stop - 1].quantity.value
        if total == wanted[0]:
            for rest in _cuts(wanted[1:], pieces[stop:]):
                yield [list(pieces[:stop]), *rest]


def _permutations(wanted: Sequence[Fraction], pieces: Sequence[Piece]) -> Iterator[list[list[Piece]]]:
    """The one assignment of pieces to terms by value, where no two pieces have the same value."""
    by_value = {piece.quantity.value: piece for piece in pieces}
    if len(by_value) == len(pieces) == len(wanted) and set(wanted) == set(by_value):
        yield [[by_value[value]] for value in wanted]


def _match(node: Node, pieces: Sequence[Piece], pool: Sequence[Quantity]) -> Binding:
    match node:
        case Sum():
            return _match_sum(node, pieces, pool)
        case Group(inner):
            return _match_sum(inner, pieces, pool)
        case Negative(body):
            return _match(body, [Piece(-piece.quantity, piece.varies) for piece in pieces], pool)
        case Number():
            a, b = totals(pieces)
            if a:
                raise NoMatch
            return bind_constant(node, b)
        case Variable():
            a, b = totals(pieces)
            if b or not a.same(ONE):
                raise NoMatch
            return {}
        case Quotient(top, bottom):
            a, b = totals(pieces)
            if not a and _is_fraction(node):
                return bind_constant(node, b)
            if has_variable(bottom):
                raise NoMatch
            return _only(
                list(
                    _ways(bottom, pool, lambda q: _match(top, [Piece(p.quantity * q, p.varies) for p in pieces], pool))
                )
            )
        case Product((first, second)):
            return _match_product(first, second, pieces, pool)
        case _:
            raise NoMatch


def _match_product(first: Node, second: Node, pieces: Sequence[Piece], pool: Sequence[Quantity]) -> Binding:
    a, b = totals(pieces)
    fixed, other = (second, first) if has_variable(first) else (first, second)
    if isinstance(other, Variable):
        if b:
            raise NoMatch
        return bind_constant(fixed, a)
    found = list(_ways(fixed, pool, lambda q: _match(other, [Piece(p.quantity / q, p.varies) for p in pieces], pool)))
    if not has_variable(other):
        found += _ways(other, pool, lambda q: _match(fixed, [Piece(p.quantity / q, p.varies) for p in pieces], pool))
    return _only(found)


def _ways(node: Node, pool: Sequence[Quantity], rest) -> Iterator[Binding]:  # type: ignore[no-untyped-def]
    """The bindings in which the fixed factor or divisor `node` is one of the pool."""
    value = _value(node)[1]
    for candidate in _distinct([q for q in pool if q.value == value and q.value]):
        try:
            yield bind_constant(node, candidate) | rest(candidate)
        except (NoMatch, ZeroDivisionError):
            continue


def bind_constant(node: Node, quantity: Quantity) -> Binding:
    """The binding that makes a written constant this quantity. Raises `NoMatch` if its value is another."""
    match node:
        case Number(value, start, stop):
            if value != quantity.value:
                raise NoMatch
            return {(start, stop): quantity}
        case Negative(body):
            return bind_constant(body, -quantity)
        case Group(inner):
            return bind_constant(inner, quantity)
        case Sum((term,)):
            return bind_constant(term.body, quantity if term.sign == 1 else -quantity)
        case Quotient(_, _, _, start, stop) if _is_fraction(node):
            if _value(node)[1] != quantity.value:
                raise NoMatch
            return {(start, stop): quantity}
        case _:
            raise NoMatch


def _is_fraction(node: Quotient) -> bool:
    """Whether a quotient is one literal: two plain numerals in lowest terms; one that still cancels is a step."""
    top, bottom = _bare(node.top), _bare(node.bottom)
    if not (isinstance(top, Number) and isinstance(bottom, Number)) or bottom.value in (0, 1):
        return False
    return (
        top.value.denominator == bottom.value.denominator == 1
        and (top.value / bottom.value).denominator == bottom.value
    )


def _bare(node: Node) -> Node:
    while isinstance(node, Sum) and len(node.terms) == 1 and node.terms[0].mark is None:
        node = node.terms[0].body
    return node


def _value(node: Node) -> tuple[Fraction, Fraction]:
    try:
        return plain_value(node)
    except Unreadable:
        raise NoMatch from None


def _distinct(quantities: Sequence[Quantity]) -> list[Quantity]:
    found: list[Quantity] = []
    for quantity in quantities:
        if not any(quantity.same(other) for other in found):
            found.append(quantity)
    return found


def _agree(a: Binding, b: Binding) -> bool:
    return a.keys() == b.keys() and all(a[place].same(b[place]) for place in a)


def _only(found: Sequence[Binding]) -> Binding:
    """The one binding among equals; none is no match, two that differ are ambiguous."""
    if not found:
        raise NoMatch
    if not all(_agree(found[0], other) for other in found[1:]):
        raise Ambiguous
    return found[0]


def _same_form(
    tree: Node, source: Node, binding: Mapping[tuple[int, int], Quantity], found: Binding, solution: Quantity | None
) -> bool:
    """Whether `tree` is written like `source` (spacing, times signs and bracket style apart); collects the roles."""
    if isinstance(source, Variable) and solution is not None:
        try:
            found |= bind_constant(tree, solution)
        except NoMatch:
            return False
        return True
    match tree, source:
        case Number(value), Number(other, start, stop):
            found[tree.start, tree.stop] = binding[start, stop]
            return value == other
        case Variable(), Variable():
            return True
        case (Negative(a), Negative(b)) | (Group(a), Group(b)):
            return _same_form(a, b, binding, found, solution)
        case Sum(terms), Sum(others):
            return len(terms) == len(others) and all(
                t.sign == o.sign and _same_form(t.body, o.body, binding, found, solution)
                for t, o in zip(terms, others, strict=True)
            )
        case Product(factors), Product(others):
            return len(factors) == len(others) and all(
                _same_form(f, o, binding, found, solution) for f, o in zip(factors, others, strict=True)
            )
        case Quotient(), Quotient():
            place = (source.start, source.stop)
            if place in binding:
                if not _is_fraction(tree) or _value(tree) != _value(source):
                    return False
                found[tree.start, tree.stop] = binding[place]
                return True
            return _same_form(tree.top, source.top, binding, found, solution) and _same_form(
                tree.bottom, source.bottom, binding, found, solution
            )
        case _:
            return False
