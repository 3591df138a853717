"""What an exact repetition gets, remembered: entries whose reply has passed its checks, with the result made of each.

A result is served again only for the very object that memory holds for the key now, so whatever replaces, removes or
expires an entry ends it. The results are shared: who hands one to a caller copies its payload first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TypeVar

from stepcache._codec import private_copy
from stepcache._data import Entry, Result
from stepcache.errors import StoreError

__all__ = ["Repeats"]

_MOST = 4096
_Kept = TypeVar("_Kept")


class Repeats:
    """Bounded, per process, thread-safe; the oldest go first."""

    def __init__(self, make: Callable[[Entry], Result], most: int = _MOST) -> None:
        self._make = make
        self._most = most
        self._lock = threading.Lock()
        self._passed: OrderedDict[str, Entry] = OrderedDict()
        self._made: OrderedDict[str, tuple[Entry, Result]] = OrderedDict()

    def trusts(self, entry: Entry) -> bool:
        """Whether this reply has passed its checks in this process; it saves checking the same words again."""
        known = self._passed.get(entry.key)
        return known is not None and (known is entry or known.steps == entry.steps)

    def trust(self, entry: Entry) -> None:
        """Remember that the reply has passed its checks."""
        with self._lock:
            _put(self._passed, entry.key, entry, self._most)

    def result(self, entry: Entry) -> Result | None:
        """What an exact repetition served by this entry gets; None for a reply whose checks are still to be made."""
        known = self._made.get(entry.key)
        if known is not None and known[0] is entry:
            return known[1]
        if not self.trusts(entry):
            return None
        try:
            made = self._make(private_copy(entry))
        except StoreError:  # a payload of some other store's that is no JSON
            return None
        with self._lock:
            _put(self._made, entry.key, (entry, made), self._most)
        return made

    def forget(self, keys: Iterable[str]) -> None:
        with self._lock:
            for key in keys:
                self._passed.pop(key, None)
                self._made.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._passed.clear()
            self._made.clear()


def _put(kept: OrderedDict[str, _Kept], key: str, value: _Kept, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
