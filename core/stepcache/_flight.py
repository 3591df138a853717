"""Single flight: the same request at once calls the model once (design §5). Threads and tasks share one table."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Literal

__all__ = ["Flights"]

Fate = Literal["landed", "failed", "abandoned"]


class Flights:
    """Requests under way by key. A leader's fate is told to its followers: landed with a result, failed or abandoned.

    Followers of a failed leader all call for themselves at once (they would get the same error late otherwise);
    of followers of an abandoned (cancelled) one the first to ask leads next.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[tuple[Fate, Any]]] = {}

    def board(self, key: str) -> tuple[bool, Future[tuple[Fate, Any]]]:
        """Return (leads, flight): the first to board a key leads it and must `land` it."""
        with self._lock:
            flight = self._under_way.get(key)
            if flight is not None:
                return False, flight
            flight = self._under_way[key] = Future()
            return True, flight

    def land(self, key: str, flight: Future[tuple[Fate, Any]], fate: Fate, result: Any = None) -> None:
        """End a flight; its followers wake."""
        with self._lock:
            if self._under_way.get(key) is flight:
                del self._under_way[key]
        if not flight.done():
            flight.set_result((fate, result))

    @contextmanager
    def leading(self, key: str, flight: Future[tuple[Fate, Any]]) -> Iterator[list[Any]]:
        """Land the flight whatever happens inside: with the result put into the list, else failed or abandoned."""
        box: list[Any] = []
        try:
            yield box
        except Exception:
            self.land(key, flight, "failed")
            raise
        except BaseException:  # cancelled, interrupted, or a stream left early
            self.land(key, flight, "abandoned")
            raise
        else:
            if box:
                self.land(key, flight, "landed", box[0])
            else:
                self.land(key, flight, "abandoned")

    @staticmethod
    def may_wait() -> bool:
        """A thread that runs an event loop never waits here: its leader may be a task of that very loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return True
        return False
