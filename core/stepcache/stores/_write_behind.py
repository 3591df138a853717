"""A queue of changes that a thread writes in batches, so that recording costs the caller nothing.

Changes are kept by id: a later change of the same id takes the earlier one's place and inherits what that still had
to clean up. What is queued or being written stays readable through `waiting`.
"""

from __future__ import annotations

import logging
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stepcache._data import Entry
from stepcache.errors import StoreError
from stepcache.stores._records import Packed, Shelf

__all__ = ["Change", "WriteBehind"]

logger = logging.getLogger("stepcache")

Id = tuple[str, str]  # namespace and record id

# Chroma holds the interpreter's lock while it writes (some 10 ms and 1 ms a record), so nothing else runs meanwhile.
# Hence few batches, no larger than they must be, and the app gets at least as much time as the writer between them;
# a batch is large when someone waits for it or the queue grows.
_BATCH, _LARGE_BATCH = 32, 512
_GATHER_SECONDS = 0.1
# Removing costs 30 ms however little is removed; what memory has forgotten already may lie on disk a while longer.
_REMOVALS, _REMOVE_AFTER = 128, 10.0
_LONGEST_PAUSE = 5.0


@dataclass(slots=True)
class Change:
    """What is to become of one id: `packed` goes onto `shelf` (both None: removed), copies on `stale` go.

    `old_parts` is how many parts an earlier record of this id may have left on the same shelf.
    """

    id: Id
    shelf: Shelf | None = None
    packed: Packed | None = None
    entry: Entry | None = None
    vector: array[float] | None = None
    blocked: tuple[str, str] | None = None
    old_parts: int = 0
    stale: set[Shelf] = field(default_factory=set)

    def after(self, earlier: Change) -> Change:
        """This change, made in place of an earlier one that may or may not have been written."""
        self.stale |= earlier.stale
        if earlier.shelf is not None:
            if earlier.shelf == self.shelf:
                self.old_parts = max(self.old_parts, earlier.old_parts,
                                     earlier.packed.parts if earlier.packed is not None else 0)
            else:
                self.stale.add(earlier.shelf)
        if self.shelf is not None:
            self.stale.discard(self.shelf)
        return self


class WriteBehind:
    """The queue. `write` writes a batch and raises `StoreError` if it can't; `tick` is called about once a second."""

    def __init__(
        self,
        write: Callable[[list[Change]], None],
        tick: Callable[[], None],
        capacity: int = 10_000,
        interval: float = 1.0,
    ) -> None:
        self._write = write
        self._tick = tick
        self._capacity = capacity
        self._interval = interval
        self._wake = threading.Condition(threading.Lock())
        self._queue: dict[Id, Change] = {}
        self._writing: dict[Id, Change] = {}
        self._writer = threading.RLock()  # held by whoever writes
        self._claims = 0  # how many wait for or hold `paused`; a hint, so a race does no harm
        self._thread: threading.Thread | None = None
        self._closing = False
        self._fresh = False  # whether anything came since the thread last looked
        self._removed = time.monotonic()
        self._pause = 0.0
        self._warned = False
        self.dropped = 0
        self.problem: str | None = None

    def __len__(self) -> int:
        return len(self._queue) + len(self._writing)

    def waiting(self, id_: Id) -> Change | None:
        """The latest change of an id that may not be on disk yet."""
        return self._queue.get(id_) or self._writing.get(id_)

    def queued(self, id_: Id) -> Change | None:
        """The change of an id that waits behind the batch being written."""
        return self._queue.get(id_)

    def all_waiting(self) -> list[Change]:
        with self._wake:
            return list({**self._writing, **self._queue}.values())

    def put(self, change: Change, room_or_not: bool = False) -> bool:
        """Queue a change. A full queue refuses new records (never removals), counts them, and says so once."""
        with self._wake:
            earlier = self._queue.get(change.id)
            full = len(self._queue) >= self._capacity and not room_or_not
            if earlier is None and change.packed is not None and full:
                self.dropped += 1
                if not self._warned:
                    self._warned = True
                    logger.warning("The store can't keep up: new entries are dropped until its queue has room")
                return False
            if earlier is not None:
                change = change.after(earlier)
                del self._queue[change.id]
            self._queue[change.id] = change
            self._start()
            if not self._fresh or len(self._queue) == _LARGE_BATCH:  # waking the thread for each would cost more
                self._fresh = True
                self._wake.notify_all()
            return True

    def in_thread(self) -> bool:
        """Whether the caller is the writer's own thread."""
        return threading.current_thread() is self._thread

    def start(self) -> None:
        """Have the thread running, for its ticks."""
        with self._wake:
            self._start()

    def _start(self) -> None:
        if self._thread is None and not self._closing:
            self._thread = threading.Thread(target=self._run, name="stepcache-writer", daemon=True)
            self._thread.start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is written by the thread meanwhile; re-entrant."""
        self._claims += 1
        try:
            with self._writer:
                yield
        finally:
            self._claims -= 1

    def discard(self, namespace: str | None) -> None:
        """Forget what is queued for a namespace, or for all. Call under `paused()`."""
        with self._wake:
            for id_ in [id_ for id_ in self._queue if namespace is None or id_[0] == namespace]:
                del self._queue[id_]

    def flush(self) -> None:
        """Write all that is queued, in the caller's thread. Raises `StoreError`; what failed stays queued."""
        while True:
            with self._writer:
                if not self._step(everything=True):
                    return

    def close(self, flush: bool = True) -> int:
        """Write what is left, stop the thread; returns how many changes could not be written."""
        try:
            if flush:
                self.flush()
        except StoreError as problem:
            self.problem = str(problem)
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5)
        self._thread = None
        return len(self._queue)

    def _step(self, everything: bool = False) -> bool:
        """Write one batch; False when there was nothing to write yet. The caller holds the writer's lock."""
        with self._wake:
            size = _LARGE_BATCH if everything else min(_LARGE_BATCH, max(_BATCH, len(self._queue) // 2))
            ids = self._next(size, everything)
            if not ids:
                return False
            batch = {id_: self._queue.pop(id_) for id_ in ids}
            self._writing = batch
        try:
            self._write(list(batch.values()))
        except BaseException:
            with self._wake:  # newer changes take the place of those that failed
                newer, self._queue = self._queue, {}
                for id_, change in batch.items():
                    later = newer.pop(id_, None)
                    self._queue[id_] = change if later is None else later.after(change)
                self._queue.update(newer)
                self._writing = {}
            raise
        with self._wake:
            self._writing = {}
        return True

    def _next(self, most: int, everything: bool) -> list[Id]:
        """What to write next: records as they came, removals only in numbers, when old, or when all has to go."""
        removals = [id_ for id_, change in self._queue.items() if change.packed is None]
        now = time.monotonic()
        if everything or len(removals) >= _REMOVALS or (removals and now - self._removed > _REMOVE_AFTER):
            self._removed = now
            candidates = list(self._queue)
        else:
            candidates = [id_ for id_, change in self._queue.items() if change.packed is not None]
        return candidates[:most]

    def _gather(self, spent: float) -> None:
        """Let changes come together, and others run for as long as the last batch took; not when many wait."""
        if self._queue:
            with self._wake:
                self._wake.wait_for(
                    lambda: self._closing or len(self._queue) >= _LARGE_BATCH, timeout=max(_GATHER_SECONDS, spent))

    def _run(self) -> None:
        ticked = spent = 0.0
        more = False
        while True:
            with self._wake:
                if self._pause:
                    self._wake.wait_for(lambda: self._closing, timeout=self._pause)
                elif not (more or self._fresh):
                    self._wake.wait(timeout=self._interval)
                self._fresh = False
                if self._closing:
                    return
            more = False
            try:
                self._gather(spent)
                began = time.monotonic()
                with self._writer:
                    more = self._step()
                spent = time.monotonic() - began
                if self._claims:
                    time.sleep(0.002)  # locks are not fair: let those in who wait for a pause
                if due := time.monotonic() - ticked >= self._interval:
                    ticked = time.monotonic()
                    self._tick()
                if more or due:
                    self._pause, self.problem = 0.0, None
            except Exception as problem:  # the thread must live: the next round may succeed
                more = False
                if self.problem is None and self._queue:  # else whoever asks for something is told
                    logger.warning("The store could not write and will try again: %s", problem)
                self.problem = str(problem)
                self._pause = min(_LONGEST_PAUSE, max(0.2, 2 * self._pause))
