"""Timing one call: wall and processor time, medians and quartiles, several contenders in turn."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = ["Taken", "in_turn", "measure"]

Call = Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds a call took: medians over `calls` calls, quartiles of the wall time.

    Processor time counts all threads of the process; unlike wall time it does not grow while others use the machine.
    """

    wall: float
    low: float
    high: float
    cpu: float
    calls: int

    def without(self, part: Taken) -> Taken:
        """What is left when a part that was measured alone is taken away."""
        wall = part.wall
        return Taken(self.wall - wall, self.low - wall, self.high - wall, self.cpu - part.cpu, self.calls)


def measure(call: Call, seconds: float = 0.6, most: int = 2000, least: int = 15) -> Taken:
    """Time `call(number)` for about so many seconds, after a few calls to warm up."""
    return in_turn({"": call}, seconds, most, least)[""]


def in_turn(calls: Mapping[str, Call], seconds: float = 1.5, most: int = 2000, least: int = 15) -> dict[str, Taken]:
    """Time several calls one after the other, round by round, so that whatever else happens meets all of them."""
    for call in calls.values():
        for number in range(3):
            call(number)
    walls: dict[str, list[float]] = {name: [] for name in calls}
    cpus: dict[str, list[float]] = {name: [] for name in calls}
    with _quiet():
        end, number = time.perf_counter() + seconds, 3
        while number < least + 3 or (time.perf_counter() < end and number < most + 3):
            for name, call in calls.items():
                cpu, wall = time.process_time(), time.perf_counter()
                call(number)
                walls[name].append((time.perf_counter() - wall) * 1000)
                cpus[name].append((time.process_time() - cpu) * 1000)
            number += 1
    return {name: _taken(walls[name], cpus[name]) for name in calls}


def _taken(walls: list[float], cpus: list[float]) -> Taken:
    low, middle, high = statistics.quantiles(walls, n=4)
    return Taken(middle, low, high, statistics.median(cpus), len(walls))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the garbage collector's pauses, which strike whoever happens to run."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
