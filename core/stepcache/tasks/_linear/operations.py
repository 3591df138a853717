"""Operations on both sides of a state: what their operands may be, and what they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from stepcache.tasks._linear.claims import OperationClaim
from stepcache.tasks._linear.expressions import Sum, has_variable, plain_value
from stepcache.tasks._linear.matching import Binding, NoMatch, Piece, Side, bind_constant, match_side, totals
from stepcache.tasks._linear.quantities import ONE, Quantity, constant

__all__ = [
    "Pending",
    "State",
    "applied",
    "bind_operand",
    "distinct",
    "eliminated",
    "gathered",
    "is_solved",
    "operand_roles",
    "unsaid",
]

State = tuple[Side, Side]


@dataclass(slots=True)
class Pending:
    """A stated operation that waits for its result; a repetition of the same statement joins it."""

    claims: list[OperationClaim]
    value: tuple[Fraction, Fraction]

    @property
    def operation(self) -> str:
        return self.claims[0].operation


def operand_roles(
    operation: str, value: tuple[Fraction, Fraction], state: State, roles: Sequence[Quantity]
) -> list[Quantity]:
    """The roles that the operand of a stated operation may have in this state."""
    a, b = value
    if operation in {"subtract", "add"}:
        wanted, varies = (a, True) if a else (b, False)
        return eliminated(wanted if operation == "subtract" else -wanted, varies, state, operation == "add")
    if operation == "divide":
        tiers: list[list[Quantity]] = [
            [totals(side.pieces)[0] for side in state],
            [piece.quantity for side in state for piece in side.pieces if piece.varies],
            list(roles),
        ]
    else:
        tiers = [
            [ONE / q for side in state if (q := totals(side.pieces)[0]) and q.value and all(q.values)],
            [ONE / p.quantity for side in state for p in side.pieces if all(p.quantity.values)],
            list(roles),
            [constant(b)] if abs(b) == 1 else [],
        ]
    for tier in tiers:
        found = distinct([q for q in tier if q.value == b])
        if found:
            return found
    return []


def eliminated(value: Fraction, varies: bool, state: State, negated: bool) -> list[Quantity]:
    found = []
    for side in state:
        own = [piece.quantity for piece in side.pieces if piece.varies == varies]
        total = totals(side.pieces)[0 if varies else 1]
        found += [q for q in [*own, total] if q.value == value]
    return distinct([-q for q in found] if negated else found)


def applied(operation: str, quantity: Quantity, varies: bool, state: State) -> State:
    def on(side: Side) -> Side:
        if operation in {"subtract", "add"}:
            piece = Piece(quantity if operation == "add" else -quantity, varies)
            return Side((*side.pieces, piece))
        if operation == "divide":
            return Side(
                tuple(Piece(p.quantity / quantity, p.varies) for p in side.pieces), whole=side, divisor=quantity
            )
        return Side(tuple(Piece(p.quantity * quantity, p.varies) for p in side.pieces))

    return on(state[0]), on(state[1])


def bind_operand(operand: Sum, quantity: Quantity) -> Binding:
    """Bind the operand of an operation, "3" or "2x" or "x", to its role."""
    try:
        if has_variable(operand):
            return match_side(operand, Side((Piece(quantity, True),)), ())
        return bind_constant(operand, quantity)
    except NoMatch:
        return {}


def is_solved(state: State) -> bool:
    (a, b), (c, d) = (totals(side.pieces) for side in state)
    return (a.same(ONE) and not b and not c) or (c.same(ONE) and not d and not a)


def distinct(quantities: Sequence[Quantity]) -> list[Quantity]:
    found: list[Quantity] = []
    for quantity in quantities:
        if not any(quantity.same(other) for other in found):
            found.append(quantity)
    return found


def gathered(state: State) -> State:
    """All numbers on the right, and what they come to for one unknown: what "13 - 3 = 10" and "10/2 = 5" speak of."""
    left, right = state
    moved = [piece for piece in right.pieces if not piece.varies]
    moved += [Piece(-piece.quantity, False) for piece in left.pieces if not piece.varies]
    divisor = totals(left.pieces)[0] - totals(right.pieces)[0]
    together = Side(tuple(moved))
    return together, Side(tuple(Piece(p.quantity / divisor, False) for p in moved), whole=together, divisor=divisor)


def unsaid(
    sides: Sequence[Sum], state: State
) -> Iterator[tuple[State, tuple[str, tuple[Fraction, Fraction], Quantity]]]:
    """The operations that lead from a state to these sides, with the state each leads to."""
    (a, b), (c, d) = plain_value(sides[0]), plain_value(sides[1])
    (p, q), (r, s) = ((x.value, y.value) for x, y in (totals(side.pieces) for side in state))
    if a - p == c - r and b - q == d - s:
        shifts = [(value, varies) for value, varies in ((a - p, True), (b - q, False)) if value]
        yield from _shifted(state, shifts, None)
    for side in state:
        quantity = totals(side.pieces)[0]
        if quantity.value and all(quantity.values) and (a, b, c, d) == tuple(v / quantity.value for v in (p, q, r, s)):
            value = quantity.value
            yield applied("divide", quantity, False, state), ("divide", (Fraction(0), value), quantity)
            break
    for factor in [ONE / piece.quantity for side in state for piece in side.pieces if all(piece.quantity.values)]:
        if (
            factor.value != 1
            and factor.value.denominator == 1
            and (a, b, c, d) == tuple(v * factor.value for v in (p, q, r, s))
        ):
            yield (
                applied("multiply", factor, False, state),
                ("multiply", (Fraction(0), factor.value), factor),
            )


def _shifted(
    state: State,
    shifts: Sequence[tuple[Fraction, bool]],
    last: tuple[str, tuple[Fraction, Fraction], Quantity] | None,
) -> Iterator[tuple[State, tuple[str, tuple[Fraction, Fraction], Quantity]]]:
    if not shifts:
        if last is not None:
            yield state, last
        return
    (value, varies), rest = shifts[0], shifts[1:]
    for quantity in eliminated(-value, varies, state, False):
        operation = "subtract" if value < 0 else "add"
        operand = quantity if value < 0 else -quantity
        size = (abs(value), Fraction(0)) if varies else (Fraction(0), abs(value))
        yield from _shifted(applied(operation, operand, varies, state), rest, (operation, size, operand))
