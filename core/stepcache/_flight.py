"""Single flight: the same request at once calls the model once (design §5). Threads and tasks share one table.

A caller boards by a generator that yields the flight to wait for and is sent its fate, so that threads and tasks
wait each in their own way over one logic.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Boarding", "Flights", "Ticket", "await_turn", "wait_turn"]

Fate = Literal["landed", "failed", "abandoned"]
Flight = Future[tuple[Fate, Any]]
Boarding = Generator[Flight, tuple[Fate, Any] | None, "Ticket"]

# What the current thread or task leads: it must never wait for itself, however deep a model's tools go.
_leading: ContextVar[frozenset[str]] = ContextVar("stepcache_leading", default=frozenset())


@dataclass(frozen=True, slots=True)
class Ticket:
    """How a caller goes on: with the leader's result, as the leader of `flight`, or alone (neither)."""

    key: str | None = None
    flight: Flight | None = None
    shared: Any = None


class Flights:
    """Requests under way by key.

    Followers of a failed leader all call for themselves at once; of the followers of an abandoned one (cancelled, or
    a stream left early) the first to ask leads next.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Flight] = {}

    def board(self, key: str | None, may_wait: bool) -> Boarding:
        """Lead, follow or go alone. A key of None shares nothing; without `may_wait` nobody is waited for."""
        if key is None or key in _leading.get():
            return Ticket(key)
        while True:
            with self._lock:
                flight = self._under_way.get(key)
                if flight is None:
                    flight = self._under_way[key] = Future()
                    return Ticket(key, flight)
            if not may_wait:
                return Ticket(key)
            told = yield flight
            if told is None or told[0] == "failed":
                return Ticket(key)
            if told[0] == "landed":
                return Ticket(key, None, told[1])

    @contextmanager
    def leading(self, ticket: Ticket) -> Iterator[list[Any]]:
        """Land the ticket's flight whatever happens inside: with what was put into the list, else without."""
        landed: list[Any] = []
        fate: Fate = "abandoned"
        try:
            yield landed
            fate = "landed" if landed else "abandoned"
        except Exception:
            fate = "failed"
            raise
        finally:
            if ticket.flight is not None and ticket.key is not None:
                with self._lock:
                    del self._under_way[ticket.key]
                ticket.flight.set_result((fate, landed[0] if fate == "landed" else None))

    @staticmethod
    @contextmanager
    def held(ticket: Ticket) -> Iterator[None]:
        """Know inside, also in tasks and executors started there, that this ticket's key must not be waited for."""
        token = _leading.set(_leading.get() | {ticket.key} if ticket.key is not None else _leading.get())
        try:
            yield
        finally:
            _leading.reset(token)


def in_event_loop() -> bool:
    """A thread that runs an event loop must not block: the flight's leader may be a task of that very loop."""
    asyncio = sys.modules.get("asyncio")  # importing it takes a while, and without it there is no loop
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def wait_turn(flights: Flights, key: str | None, timeout: float) -> Ticket:
    """Board from a thread, waiting at most `timeout` seconds for each flight."""
    boarding = flights.board(key, may_wait=not in_event_loop())
    told: tuple[Fate, Any] | None = None
    while True:
        try:
            flight = boarding.send(told)
        except StopIteration as stop:
            ticket: Ticket = stop.value
            return ticket
        try:
            told = flight.result(timeout)
        except TimeoutError:
            told = None


async def await_turn(flights: Flights, key: str | None, timeout: float) -> Ticket:
    """As `wait_turn`, from a task."""
    import asyncio

    boarding = flights.board(key, may_wait=True)
    told: tuple[Fate, Any] | None = None
    while True:
        try:
            flight = boarding.send(told)
        except StopIteration as stop:
            ticket: Ticket = stop.value
            return ticket
        try:  # shielded: a follower that is cancelled must not cancel the flight of the others
            told = await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(flight)), timeout)
        except TimeoutError:
            told = None
