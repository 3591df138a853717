"""One open Chroma with all that is known of it in memory, and the parts that work on it.

Stores of one process on the same folder share one engine. What is read is told in `_reading` and `_searching`, what is
changed in `_changing`, and how that reaches the disk in `_writing`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from stepcache._breaker import Breaker
from stepcache.errors import StoreError
from stepcache.stores._changing import Changing
from stepcache.stores._chroma_client import Chroma
from stepcache.stores._limits import Limits
from stepcache.stores._nearby import Nearby
from stepcache.stores._reading import Id, Reading
from stepcache.stores._rooms import Room, Rooms
from stepcache.stores._searching import Searching
from stepcache.stores._site import Role, Site
from stepcache.stores._tables import Tables
from stepcache.stores._tier import Tier
from stepcache.stores._write_behind import WriteBehind
from stepcache.stores._writing import Writing

__all__ = ["Engine"]

logger = logging.getLogger("stepcache")

_never_freed: list[Chroma] = []


class Engine:
    """See the module. Every method may raise `StoreError`."""

    def __init__(
        self,
        site: Site,
        limits: Limits,
        signing_key: bytes | None,
        failures: int = 2,
        on_open: Callable[[], None] = lambda: None,
    ) -> None:
        self.site = site
        self.limits = limits
        self.signing_key = signing_key
        self._failures = failures
        self._on_open = on_open
        self._begin()

    def _begin(self) -> None:
        """Everything that must be new at the start and in a forked child."""
        self.lock = threading.RLock()
        self._opening = threading.RLock()
        self.breaker = Breaker(self._failures, longest_pause=5.0)
        self._chroma: Chroma | None = None
        self.rooms = Rooms(self.signing_key, self.lock)
        self.tier = Tier()
        self.nearby = Nearby()
        self.gone: set[Id] = set()  # removed by a guest while the owner has yet to take that in
        self.reading = Reading(self)
        self.changing = Changing(self)
        self.writing = Writing(self)
        self.searching = Searching(self)
        self.queue = WriteBehind(self.writing.write, self.writing.tick)
        self.closed = False

    @property
    def is_open(self) -> bool:
        """Whether Chroma has been opened."""
        return self._chroma is not None

    @property
    def alone(self) -> bool:
        """Whether nobody else can change what is there, so that memory is the truth."""
        return self.site.role in (Role.OWNER, Role.READER)

    def chroma(self) -> Chroma:
        """The open Chroma; opened at first use, and again if its folder was deleted."""
        found = self._chroma
        if found is not None and not self.site.lost():
            return found
        with self._opening:
            if self.closed:
                raise StoreError("the store is closed")
            if self._chroma is not None and self.site.lost():
                logger.warning("The cache's folder was deleted or replaced; a new one is begun")
                self.let_go()
            if self._chroma is None:
                self._open()
            assert self._chroma is not None
            return self._chroma

    def _open(self) -> None:
        if not (self.breaker.closed or (self.queue.in_thread() and self.breaker.allow())):
            raise StoreError("the store could not be opened; it will be tried again shortly")
        try:
            retries = 2 if self.site.role is Role.SHARED else 0
            client = self.site.connect()
            self.breaker.success()
            made = client if isinstance(client, Tables) else Chroma(
                client, self.breaker, self.queue.in_thread, retries)
            self.rooms.vectors_readable = self.site.role is not Role.GUEST
            self.rooms.take_stock(made)
        except Exception as problem:  # Chroma, SQLite, the network and the disk all have their own
            self.site.close()
            self.breaker.failure()
            self.queue.start()  # its ticks try again, so that no caller waits for it
            if isinstance(problem, StoreError):
                raise
            raise StoreError(f"cannot open the store: {problem}") from problem
        self._chroma = made
        self._on_open()
        self.writing.opened()
        self.queue.start()

    def let_go(self) -> None:
        """Close Chroma and forget what memory knew of it; what is queued stays queued."""
        held = self._opening.acquire(timeout=10)  # a call that hangs for ever must not hold up an exit
        try:
            chroma, self._chroma = self._chroma, None
            if chroma is not None:
                chroma.close()
            self.site.close()
            with self.lock:
                self.rooms = Rooms(self.signing_key, self.lock)
                self.tier = Tier()
                self.nearby = Nearby()
                self.gone = set()
        finally:
            if held:
                self._opening.release()

    def room(self, namespace: str) -> Room | None:
        """The namespace's room with its index read."""
        return self.rooms.loaded(namespace, self.chroma())

    def names(self) -> tuple[str, ...]:
        self.chroma()
        return self.rooms.names()

    def count(self, namespace: str | None) -> int:
        rooms = [self.room(name) for name in (self.names() if namespace is None else (namespace,))]
        return sum(len(room.index) for room in rooms if room is not None)

    def close(self) -> None:
        """Write what is queued and let go."""
        lost = self.queue.close()
        if lost:
            logger.warning("%d changes could not be written: %s", lost, self.queue.problem)
        self.closed = True
        self.let_go()

    def after_fork(self) -> None:
        """In a child: nothing of the parent's may be touched; its queue is the parent's to write."""
        self.site.after_fork()
        if self._chroma is not None:
            _never_freed.append(self._chroma)  # even closing it would wait for threads that are not here
        if not self.closed:
            self._begin()
