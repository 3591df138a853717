"""A circuit breaker: when a neighbour is down, asking costs microseconds instead of time-outs."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

__all__ = ["Breaker"]


class Breaker:
    """Closed, calls pass. After `failures` failures in a row it opens and refuses; after a pause one call may probe.

    A probe that succeeds closes it; one that fails doubles the pause, up to `longest_pause`. Pauses are jittered so
    that many processes do not come back at the same moment. Thread-safe; the clock is given.
    """

    def __init__(
        self,
        failures: int = 2,
        pause: float = 1.0,
        longest_pause: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._limit = failures
        self._shortest = pause
        self._longest = longest_pause
        self._clock = clock
        self._jitter = jitter
        self._lock = threading.Lock()
        self._failed = 0
        self._pause = pause
        self._open_until: float | None = None
        self._probing = False

    def __repr__(self) -> str:
        return f"Breaker({'closed' if self.closed else 'open'})"

    @property
    def closed(self) -> bool:
        return self._open_until is None

    def allow(self) -> bool:
        """Whether a call may be made now. While open, one caller at a time is let through once the pause is over."""
        if self.closed:
            return True
        with self._lock:
            until = self._open_until
            if until is None:
                return True
            if self._probing or self._clock() < until:
                return False
            self._probing = True
            return True

    def success(self) -> None:
        """The call went well."""
        if self._open_until is None and self._failed == 0:
            return
        with self._lock:
            self._failed = 0
            self._pause = self._shortest
            self._open_until = None
            self._probing = False

    def failure(self) -> None:
        """The call failed."""
        with self._lock:
            self._failed += 1
            probe, self._probing = self._probing, False
            if probe:
                self._pause = min(self._longest, self._pause * 2)
            if probe or self._failed >= self._limit:
                self._open_until = self._clock() + self._pause * (0.75 + 0.5 * self._jitter())
