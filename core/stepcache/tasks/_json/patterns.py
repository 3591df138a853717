"""Regular expressions of JSON Schema (ECMA-262), matched in bounded time.

A pattern becomes a small machine whose states all advance together over the text, so no pattern can make it backtrack:
the work is at most the length of the text times the size of the machine, and that product is bounded. What such a
machine can't do (back-references) is refused, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from stepcache.tasks._json.pattern_reader import WORD, Accepts, Node, PatternRefused, read_pattern

__all__ = ["MAX_WORK", "PatternRefused", "check_pattern", "search"]

_MAX_STATES = 4_000
MAX_WORK = 300_000
_MAX_KEPT = 2_000


@dataclass(slots=True)
class _Char:
    accepts: Accepts
    next: int = -1


@dataclass(slots=True)
class _Fork:
    ways: list[int]


@dataclass(slots=True)
class _Assert:
    """Goes on where a condition holds: the ends of the text, a word boundary, or what lies ahead or behind."""

    kind: str  # "^" "$" "b" "B" "=" "!" "<=" "<!"
    inner: _Machine | None = None
    next: int = -1


_State = _Char | _Fork | _Assert | None  # None accepts


@dataclass(slots=True)
class _Machine:
    """States and where to begin. `even` says that all places inside a text are alike to it, so steps can be kept."""

    states: list[_State]
    start: int
    even: bool = False
    steps: dict[tuple[frozenset[int], str], frozenset[int]] = field(default_factory=dict)


# --- building -------------------------------------------------------------------------------------------------------


class _Builder:
    def __init__(self) -> None:
        self.count = 0

    def machine(self, node: Node) -> _Machine:
        states: list[_State] = [None]
        start = self.add(states, node, 0)
        even = all(state.kind in ("^", "$") for state in states if isinstance(state, _Assert))
        return _Machine(states, start, even)

    def state(self, states: list[_State], state: _State) -> int:
        self.count += 1
        if self.count > _MAX_STATES:
            raise PatternRefused("the pattern is too large", valid=True)
        states.append(state)
        return len(states) - 1

    def add(self, states: list[_State], node: Node, after: int) -> int:
        """Add states that match `node` and then go on at `after`; return where they begin."""
        match node:
            case ("char", accepts):
                return self.state(states, _Char(accepts, after))  # type: ignore[arg-type]
            case ("seq", list(nodes)):
                for one in reversed(nodes):
                    after = self.add(states, one, after)
                return after
            case ("alt", list(nodes)):
                return self.state(states, _Fork([self.add(states, one, after) for one in nodes]))
            case ("assert", str(kind), inner):
                machine = None if inner is None else self.machine(inner)  # type: ignore[arg-type]
                return self.state(states, _Assert(kind, machine, after))
            case _:
                _, inner, low, high = node  # ("rep", ...)
                return self.repeat(states, inner, low, high, after)  # type: ignore[arg-type]

    def repeat(self, states: list[_State], node: Node, low: int, high: int | None, after: int) -> int:
        if high is None:
            fork = _Fork([])
            loop = self.state(states, fork)
            fork.ways = [self.add(states, node, loop), after]
            after = loop
        else:
            end = after
            for _ in range(high - low):
                after = self.state(states, _Fork([self.add(states, node, after), end]))
        for _ in range(low):
            after = self.add(states, node, after)
        return after


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> _Machine:
    return _Builder().machine(read_pattern(pattern))


def check_pattern(pattern: str) -> None:
    """Raise `PatternRefused` for a pattern that `search` would not take."""
    _compiled(pattern)


# --- matching -------------------------------------------------------------------------------------------------------


class _Run:
    """One text under one pattern, with a bound on the work. Tests of characters are remembered."""

    def __init__(self, text: str, left: list[int]) -> None:
        self.text = text
        self.left = left
        self.ahead: dict[tuple[int, int], bool] = {}
        self.tested: dict[tuple[int, str], bool] = {}

    def spend(self, amount: int) -> None:
        self.left[0] -= amount
        if self.left[0] < 0:
            raise PatternRefused("matching takes too long", valid=True)

    def closure(self, machine: _Machine, begin: set[int], position: int) -> frozenset[int]:
        """All states reachable without reading a character."""
        reached: set[int] = set()
        stack = list(begin)
        while stack:
            index = stack.pop()
            if index in reached:
                continue
            reached.add(index)
            state = machine.states[index]
            if isinstance(state, _Fork):
                stack.extend(state.ways)
            elif isinstance(state, _Assert) and self.holds(state, position):
                stack.append(state.next)
        self.spend(len(reached))
        return frozenset(reached)

    def holds(self, state: _Assert, position: int) -> bool:
        match state.kind:
            case "^":
                return position == 0
            case "$":
                return position == len(self.text)
            case "b" | "B":
                before = position > 0 and self.text[position - 1] in WORD
                behind = position < len(self.text) and self.text[position] in WORD
                return (before != behind) is (state.kind == "b")
            case _:
                return self.looks(state, position)

    def looks(self, state: _Assert, position: int) -> bool:
        """Whether what lies ahead or behind is as the assertion wants it; remembered, so asked once per place."""
        assert state.inner is not None
        key = (id(state), position)
        if key not in self.ahead:
            if state.kind in ("=", "!"):
                found = self.matches(state.inner, position, None)
            else:
                found = any(self.matches(state.inner, start, position) for start in range(position, -1, -1))
            self.ahead[key] = found is (state.kind in ("=", "<="))
        return self.ahead[key]

    def matches(self, machine: _Machine, start: int, end: int | None, *, anywhere: bool = False) -> bool:
        """Whether the machine accepts from `start` on, up to just `end` where that is given."""
        current = self.closure(machine, {machine.start}, start)
        stop = len(self.text) if end is None else end
        position = start
        while not (0 in current and end in (None, position)):
            if position == stop or not current:
                return False
            current = self.step(machine, current, position, anywhere)
            position += 1
        return True

    def step(self, machine: _Machine, current: frozenset[int], position: int, anywhere: bool) -> frozenset[int]:
        """The states behind the character at `position`; kept where they depend on nothing else."""
        char = self.text[position]
        kept = machine.even and anywhere and position + 1 < len(self.text)
        if kept and (known := machine.steps.get((current, char))) is not None:
            self.spend(1)
            return known
        following = {
            state.next
            for index in current
            if isinstance(state := machine.states[index], _Char) and self.accepts(state, char)
        }
        if anywhere:
            following.add(machine.start)
        reached = self.closure(machine, following, position + 1)
        if kept and len(machine.steps) < _MAX_KEPT:
            machine.steps[(current, char)] = reached
        return reached

    def accepts(self, state: _Char, char: str) -> bool:
        key = (id(state), char)
        known = self.tested.get(key)
        if known is None:
            known = self.tested[key] = state.accepts(char)
        return known


def search(pattern: str, text: str, left: list[int] | None = None) -> bool:
    """Whether the pattern occurs in the text. Raises `PatternRefused` where that can't be told within bounds.

    `left` holds one number, the work that may still be done; it is counted down, so that many searches can share it.
    """
    machine = _compiled(pattern)
    return _Run(text, [MAX_WORK] if left is None else left).matches(machine, 0, None, anywhere=True)
