"""Embedding what is recorded behind the caller's back: a request never waits for the vector of its own entry.

An entry is readable by key and template from the moment it is handed in; a search waits until it is embedded.
"""

from __future__ import annotations

import atexit
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from stepcache._data import Entry

__all__ = ["Recorder"]

_log = logging.getLogger("stepcache")
_IDLE_SECONDS = 5.0
_BATCH = 32
_MOST_PENDING = 10_000  # past that the entries are dropped: an app must not die of a slow embedder


class Recorder:
    """A queue of entries and one thread that gives each to `write`; `write` embeds and stores, and may raise.

    `prepare` is told of several entries before each is written.
    """

    def __init__(
        self, write: Callable[[Entry], None], prepare: Callable[[Sequence[Entry]], None] = lambda entries: None
    ) -> None:
        self._write = write
        self._prepare = prepare
        self._changed = threading.Condition()
        self._pending: dict[tuple[str, str], Entry] = {}
        self._running = False
        self._dropped = 0
        self._at_exit: Any = None

    def submit(self, entry: Entry) -> bool:
        """Take an entry; False when there are already too many (counted, and warned of once)."""
        with self._changed:
            if len(self._pending) >= _MOST_PENDING:
                self._dropped += 1
                if self._dropped == 1:
                    _log.warning("the embedder is too slow for what is recorded; entries are dropped")
                return False
            self._pending.pop((entry.namespace, entry.key), None)
            self._pending[entry.namespace, entry.key] = entry
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="stepcache-recorder", daemon=True).start()
                if self._at_exit is None:  # registered after the store's own, so it runs before
                    self._at_exit = _drain_at_exit(self)
            self._changed.notify_all()
        return True

    def find(self, namespace: str, key: str) -> Entry | None:
        """The entry with this key if it still waits."""
        return self._pending.get((namespace, key)) if self._pending else None

    def find_any(self, namespace: str) -> bool:
        """Whether anything of this namespace still waits."""
        if not self._pending:
            return False
        with self._changed:
            return any(wall == namespace for wall, _ in self._pending)

    def by_template(self, namespace: str, template: str) -> tuple[Entry, ...]:
        """The waiting entries of a template, newest first."""
        if not self._pending:
            return ()
        with self._changed:
            waiting = list(self._pending.values())
        return tuple(e for e in reversed(waiting) if e.template == template and e.namespace == namespace)

    def drain(self, timeout: float | None = None) -> bool:
        """Wait until nothing waits any more; False if the time was too short."""
        if not self._pending:
            return True
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending, timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._pending and not self._changed.wait_for(lambda: bool(self._pending), _IDLE_SECONDS):
                    self._running = False
                    return
                batch = list(islice(self._pending.items(), _BATCH))
            if len(batch) > 1:
                self._prepare([entry for _, entry in batch])
            for place, entry in batch:
                self._record(place, entry)

    def _record(self, place: tuple[str, str], entry: Entry) -> None:
        if self._pending.get(place) is not entry:
            return  # a newer one has taken its place
        try:
            self._write(entry)
        except Exception:  # law 6; what failed has been reported where it failed
            _log.debug("an entry could not be recorded", exc_info=True)
        with self._changed:
            if self._pending.get(place) is entry:
                del self._pending[place]
            self._changed.notify_all()


def _drain_at_exit(recorder: Recorder) -> Callable[[], None]:
    reference = weakref.ref(recorder)

    def drain() -> None:
        alive = reference()
        if alive is not None:
            alive.drain(30.0)

    atexit.register(drain)
    weakref.finalize(recorder, atexit.unregister, drain).atexit = False  # at exit it would undo what it is for
    return drain
