"""Explaining a reply as a chain of states (rewrite rules R1-R3): each claim follows from the one before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from stepcache.tasks._linear.claims import (
    AnswerClaim,
    Claim,
    EquationClaim,
    Mention,
    OperationClaim,
    Reply,
    TermClaim,
    UnknownClaim,
)
from stepcache.tasks._linear.expressions import Sum, Unreadable, has_variable, numbers, plain_value
from stepcache.tasks._linear.matching import Ambiguous, Binding, NoMatch, Piece, Side, match_side, side_of, totals
from stepcache.tasks._linear.operations import (
    Pending,
    State,
    applied,
    bind_operand,
    distinct,
    gathered,
    is_solved,
    operand_roles,
    unsaid,
)
from stepcache.tasks._linear.prompts import Equation
from stepcache.tasks._linear.quantities import ONE, Quantity, literal

__all__ = ["Explanation", "Failure", "explain", "probe_world"]

_IDLE = "an operation that nothing in this equation calls for"
_CONTRARY = "the stated operation does not lead there"
_MOST_CLAIMS = 150
_MOST_MATCHES = 1_000  # bounds the time a hostile reply can cost; a worked solution needs some tens


@dataclass(frozen=True, slots=True)
class Failure:
    """Where the explanation of a reply ends, and why; `false` if what stands there is shown to be wrong."""

    start: int
    why: str
    false: bool = False


@dataclass(slots=True)
class Explanation:
    """The roles of all numerals of a reply, or the first claim that can't be explained.

    `states` are the states reached, (a, b, c, d) of a v + b = c v + d, each with the place where its claim ends.
    """

    binding: Binding = field(default_factory=dict)
    operations: list[OperationClaim] = field(default_factory=list)
    failure: Failure | None = None
    answered: bool = False
    states: list[tuple[int, tuple[Fraction, Fraction, Fraction, Fraction]]] = field(default_factory=list)


def probe_world(count: int) -> list[Fraction]:
    """Values for `count` literals in a further world, with no relation among them but by accident."""
    return [Fraction(10_007 + 977 * i + 311 * i**2 + 17 * i**3, 3 + i) for i in range(count)]


@lru_cache(maxsize=64)  # as `false_claim`; the explanation is shared and not to be changed
def explain(reply: Reply, equation: Equation, probes: bool) -> Explanation:
    """Follow a reply claim by claim for this equation, which has one solution.

    With `probes`, numerals are told apart by role and an ambiguous one ends the explanation (for rewriting); without,
    only values count (for verification).
    """
    return _Chain(equation, probes).follow(reply)


@lru_cache(maxsize=64)
def _given(equation: Equation, probes: bool) -> tuple[State, tuple[Quantity, ...], Quantity]:
    """The state that the equation is, the roles of its literals, and its solution."""
    places = [*numbers(equation.left), *numbers(equation.right)]
    others = [probe_world(len(places))] if probes else []
    # Places in the prompt's text and in the reply's must not be confused: those of the prompt are kept apart here.
    split = len(list(numbers(equation.left)))
    roles = tuple(literal(i, [n.value, *(world[i] for world in others)]) for i, n in enumerate(places))
    left = {(n.start, n.stop): q for n, q in zip(places[:split], roles[:split], strict=True)}
    right = {(n.start, n.stop): q for n, q in zip(places[split:], roles[split:], strict=True)}
    given = (side_of(equation.left, left), side_of(equation.right, right))
    (a, b), (c, d) = totals(given[0].pieces), totals(given[1].pieces)
    return given, roles, (d - b) / (a - c)


class _Chain:
    def __init__(self, equation: Equation, probes: bool) -> None:
        self.given, self.roles, self.solution = _given(equation, probes)
        self.state = self.given
        self.applied: list[State] = []
        self.pending: list[Pending] = []
        self.last: tuple[str, tuple[Fraction, Fraction], Quantity] | None = None
        self.check: State | None = None
        self.operands: list[Quantity] = []
        self.matches = 0
        self.begun_again = False  # the given equation was written again, last of all
        self.result = Explanation()

    def follow(self, reply: Reply) -> Explanation:
        if len(reply.claims) > _MOST_CLAIMS:
            self.result.failure = Failure(reply.claims[0].start, "too many claims")
            return self.result
        for claim in reply.claims:
            why = self._step(claim)
            if why:
                self.result.failure = Failure(claim.start, why, why in {_IDLE, _CONTRARY})
                return self.result
        if self.pending:
            self.result.failure = Failure(self.pending[0].claims[0].start, "an operation without its result")
        return self.result

    def _step(self, claim: Claim) -> str:
        try:
            match claim:
                case Mention():
                    return ""
                case TermClaim(value):
                    return self._term(value)
                case UnknownClaim(_, _, why):
                    return why
                case OperationClaim():
                    return self._operation(claim)
                case AnswerClaim(value, rounded=rounded):
                    return "a rounded value" if rounded else self._answer(value)
                case _:
                    return self._equation(claim)
        except Ambiguous:
            return "a numeral that may have two roles"
        except (Unreadable, ZeroDivisionError):
            return "it can't be computed"

    # Operations

    def _operation(self, claim: OperationClaim) -> str:
        value = plain_value(claim.operand)
        if not any(value) or (value[0] and value[1]) or (value[0] and claim.operation in {"divide", "multiply"}):
            return "an operation that can't be done"
        self.result.operations.append(claim)
        for waiting in self.pending:
            if (waiting.operation, waiting.value) == (claim.operation, value):
                waiting.claims.append(claim)
                return ""
        if not self.pending and self.last is not None and self.last[:2] == (claim.operation, value):
            self.result.binding |= bind_operand(claim.operand, self.last[2])
            return ""
        if not self.pending and not operand_roles(claim.operation, value, self.state, self.roles):
            if not (self.begun_again and operand_roles(claim.operation, value, self.given, self.roles)):
                return _IDLE
            self.state, self.last, self.applied = self.given, None, []  # a summary walks the whole way once more
        self.begun_again = False
        self.pending.append(Pending([claim], value))
        return ""

    def _outcomes(self) -> Iterator[tuple[int, State, Binding, tuple[str, tuple[Fraction, Fraction], Quantity]]]:
        """What the pending operations lead to: after the first, the first two, ... with the operands' roles."""
        yield from self._after(self.state, {}, 0)

    def _after(
        self, state: State, binding: Binding, done: int
    ) -> Iterator[tuple[int, State, Binding, tuple[str, tuple[Fraction, Fraction], Quantity]]]:
        if done == min(len(self.pending), 3):
            return
        waiting = self.pending[done]
        candidates = operand_roles(waiting.operation, waiting.value, state, self.roles)
        for quantity in candidates:
            bound = dict(binding)
            for claim in waiting.claims:
                bound |= bind_operand(claim.operand, quantity)
            after = applied(waiting.operation, quantity, bool(waiting.value[0]), state)
            last = (waiting.operation, waiting.value, quantity)
            yield done + 1, after, bound, last
            yield from self._after(after, bound, done + 1)

    def _term(self, value: Sum) -> str:
        """A number or term in prose is one of the state at hand, or the operand just spoken of."""
        a, b = plain_value(value)
        if bool(a) == bool(b):
            return "a number or term without a claim"
        varies, wanted = bool(a), a or b
        known = [p.quantity for side in self.state for p in side.pieces if p.varies == varies or not varies]
        known += [total for side in self.state for total in totals(side.pieces)[: 1 if varies else 2]]
        if self.last is not None:
            known.append(self.last[2])
        for waiting in self.pending:
            known += operand_roles(waiting.operation, waiting.value, self.state, self.roles)
        found = distinct([quantity for quantity in known if quantity.value == wanted])
        if len(found) > 1:
            raise Ambiguous
        if not found:
            return "a number or term without a claim"
        self.result.binding |= bind_operand(value, found[0])
        return ""

    # Equations

    def _equation(self, claim: EquationClaim) -> str:
        if "~" in claim.relations:
            return "a rounded value"
        sides = claim.sides
        varies = any(map(has_variable, sides))
        attempts: list[Callable[[], Binding | None]] = []
        if varies:
            attempts = [lambda: self._as_state(sides, claim.stop), lambda: self._as_identity(sides)]
        else:
            attempts = [lambda: self._as_check(sides), lambda: self._as_identity(sides)]
        for attempt in attempts:
            found = attempt()
            if found is not None:
                self.result.binding |= found
                return ""
        return _CONTRARY if self._contrary(sides) else "it does not follow from what stands before it"

    def _contrary(self, sides: Sequence[Sum]) -> bool:
        """Whether one operation is stated and the result is that of another: "Add 3" where 3 was subtracted."""
        if len(self.pending) != 1 or len(sides) != 2:
            return False
        after = plain_value(sides[0])[0] - plain_value(sides[1])[0]
        before = (totals(self.state[0].pieces)[0] - totals(self.state[1].pieces)[0]).value
        if not after or not before:
            return False
        factor, operation, operand = after / before, self.pending[0].operation, self.pending[0].value[1]
        if operation in {"subtract", "add"}:
            return True  # with what it leads to, this would have been found
        return abs(factor) != abs(operand if operation == "multiply" else 1 / operand)

    def _pool(self) -> list[Quantity]:
        own = [piece.quantity for side in self.state for piece in side.pieces]
        coefficients = [totals(side.pieces)[0] for side in self.state]
        return [*self.operands, *coefficients, *own, *self.roles, *(-q for q in self.roles), self.solution]

    def _count(self) -> None:
        self.matches += 1
        if self.matches > _MOST_MATCHES:
            raise Unreadable("too much to compare")

    def _match_pair(self, sides: Sequence[Sum], state: State, extra: Sequence[Quantity] = ()) -> Binding | None:
        self._count()
        pool = [*extra, *self._pool()]
        try:
            return match_side(sides[0], state[0], pool) | match_side(sides[1], state[1], pool)
        except NoMatch:
            return None

    def _as_state(self, sides: Sequence[Sum], stop: int) -> Binding | None:
        found = self._first_pair(sides[:2], stop)
        if found is None:
            return None
        for other in sides[2:]:  # x = 10/2 = 5
            more = self._restated((sides[0], other), self.state) or self._restated((sides[0], other), self.given)
            if more is None:
                return None
            found |= more
        return found

    def _reach(self, sides: Sequence[Sum], binding: Binding, stop: int) -> Binding:
        self.state = (side_of(sides[0], binding), side_of(sides[1], binding))
        self.check = None
        (a, b), (c, d) = (totals(side.pieces) for side in self.state)
        if (a.same(ONE) and not b and not c) or (c.same(ONE) and not d and not a):
            self.result.answered = True
        self.result.states.append((stop, (a.value, b.value, c.value, d.value)))
        return binding

    def _restated(self, sides: Sequence[Sum], state: State) -> Binding | None:
        found = self._match_pair(sides, state)
        if found is None:
            return None
        if state is self.state:
            self._reach(sides, found, sides[1].stop)
        return found

    def _first_pair(self, sides: Sequence[Sum], stop: int) -> Binding | None:
        for way in (sides, sides[::-1]):
            ways = []
            for done, state, bound, last in self._outcomes():
                found = self._match_pair(way, state, [last[2]])
                if found is not None:
                    ways.append((done, state, bound | found, last))
            if ways:
                self._unique([way_found[2] for way_found in ways])
                done, state, found, last = ways[0]
                self.pending = self.pending[done:]
                self.last, self.applied = last, [state]
                self.operands = [last[2]]
                self._reach(sides, found, stop)
                return found
        for state in (self.state, self.given):
            found = self._restated(sides, state)
            if found is not None:
                self.begun_again = state is self.given
                return found
        if self.pending:
            return None
        for state in (self.state, self.given):
            found = self._match_pair(sides[::-1], state)
            if found is not None:
                return self._reach(sides, found, stop) if state is self.state else found
        return self._implicit(sides, stop) or self._assignment(sides, stop)

    def _implicit(self, sides: Sequence[Sum], stop: int) -> Binding | None:
        """An operation that is not stated but shows in its result: the same on both sides."""
        for way in (sides, sides[::-1]):
            ways = []
            for state, last in unsaid(way, self.state):
                found = self._match_pair(way, state, [last[2]])
                if found is not None:
                    ways.append((found, state, last))
            if ways:
                self._unique([found for found, _, _ in ways])
                found, state, last = ways[0]
                self.last, self.applied, self.operands = last, [state], [last[2]]
                return self._reach(sides, found, stop)
        return None

    def _assignment(self, sides: Sequence[Sum], stop: int) -> Binding | None:
        target = (Side((Piece(ONE, True),)), gathered(self.given)[1])
        for way in (sides, sides[::-1]):
            found = self._match_pair(way, target)
            if found is not None:
                return self._reach(sides, found, stop)
        return None

    def _answer(self, value: Sum) -> str:
        if self.pending:
            ways = [
                (done, state, bound, last)
                for done, state, bound, last in self._outcomes()
                if done == len(self.pending) and is_solved(state)
            ]
            if not ways:
                return "an operation without its result"
            self._unique([way[2] for way in ways])
            self.result.binding |= ways[0][2]
            self.last, self.pending, self.operands = ways[0][3], [], [ways[0][3][2]]
        try:
            self.result.binding |= match_side(value, Side((Piece(self.solution, False),)), self._pool())
        except NoMatch:
            return "the answer is not the solution"
        self.result.answered = True
        return ""

    def _as_check(self, sides: Sequence[Sum]) -> Binding | None:
        """The given equation with the solution put in, or what becomes of it."""
        targets: list[tuple[State, Quantity | None]] = [] if self.check is None else [(self.check, None)]
        targets.append((self.given, self.solution))
        pool = self._pool()
        for (left, right), solution in targets:
            for cut in range(1, len(sides)):
                for first, second in ((left, right), (right, left)):
                    self._count()
                    try:
                        found: Binding = {}
                        for i, side in enumerate(sides):
                            found |= match_side(side, first if i < cut else second, pool, solution)
                    except NoMatch:
                        continue
                    self.check = (side_of(sides[cut - 1], found), side_of(sides[-1], found))
                    return found
        return None

    def _as_identity(self, sides: Sequence[Sum]) -> Binding | None:
        """Arithmetic on one side of a state: 13 - 3 = 10, 2x + 3 - 3 = 2x."""
        pool = self._pool()
        states = [*self.applied, *(state for _, state, _, _ in self._outcomes()), self.state, self.given]
        states += [gathered(self.state), gathered(self.given)] if not self.pending else []
        ways: list[Binding] = []
        for side, solution in [
            *((side, None) for state in states for side in state),
            *((side, self.solution) for side in self.given),
        ]:
            self._count()
            try:
                found: Binding = {}
                for written in sides:
                    found |= match_side(written, side, pool, solution)
            except NoMatch:
                continue
            ways.append(found)
        if not ways:
            return None
        self._unique(ways)
        return ways[0]

    def _unique(self, ways: Sequence[Binding]) -> None:
        first = ways[0]
        if any(
            first[place] != other[place] and not first[place].same(other[place])
            for other in ways[1:]
            for place in first.keys() & other.keys()
        ):
            raise Ambiguous
