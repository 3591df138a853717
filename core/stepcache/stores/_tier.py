"""The memory tier: the entries used last, so that exact repetition needs no disk."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from stepcache._data import Entry

__all__ = ["Tier"]

_ENTRIES = 4096
_CHARS = 32_000_000

Id = tuple[str, str]


class Tier:
    """Entries by namespace and record id, bounded in number and in characters. Thread-safe."""

    def __init__(self, entries: int = _ENTRIES, chars: int = _CHARS) -> None:
        self._most_entries = entries
        self._most_chars = chars
        self._lock = threading.Lock()
        self._kept: OrderedDict[Id, tuple[Entry, int, float]] = OrderedDict()
        self._chars = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, id_: Id, not_older: float | None = None) -> Entry | None:
        """The entry, unless it was put here longer ago than `not_older` seconds."""
        with self._lock:
            found = self._kept.get(id_)
            if found is None or (not_older is not None and time.monotonic() - found[2] > not_older):
                return None
            self._kept.move_to_end(id_)
            return found[0]

    def put(self, id_: Id, entry: Entry) -> None:
        chars = 500 + len(entry.request.prompt) + 2 * sum(len(step.text) for step in entry.steps)
        with self._lock:
            self._remove(id_)
            self._kept[id_] = entry, chars, time.monotonic()
            self._chars += chars
            while len(self._kept) > self._most_entries or self._chars > self._most_chars:
                self._remove(next(iter(self._kept)))

    def remove(self, id_: Id) -> None:
        with self._lock:
            self._remove(id_)

    def clear(self, namespace: str) -> None:
        with self._lock:
            for id_ in [id_ for id_ in self._kept if id_[0] == namespace]:
                self._remove(id_)

    def _remove(self, id_: Id) -> None:
        found = self._kept.pop(id_, None)
        if found is not None:
            self._chars -= found[1]
