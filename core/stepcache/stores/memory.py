"""A store that lives and dies with the process: nothing on disk, no dependency."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence

from stepcache._codec import kept_form, private_copy
from stepcache._data import Entry, Match
from stepcache.stores._index import Index, place_of
from stepcache.stores._limits import Limits, with_default_ttl
from stepcache.stores._vectors import Vectors, unit

__all__ = ["MemoryStore"]


class _Room:
    """Everything of one namespace."""

    def __init__(self) -> None:
        self.index = Index()
        self.entries: dict[str, Entry] = {}
        self.vectors: dict[tuple[str, str], Vectors] = {}

    def drop(self, key: str) -> bool:
        place = self.index.remove(key)
        if place is None:
            return False
        del self.entries[key]
        group = (place.partition, place.fingerprint)
        if place.fingerprint and group in self.vectors:
            self.vectors[group].remove(key)
            if not len(self.vectors[group]):
                del self.vectors[group]
        return True


class MemoryStore:
    """Keeps entries in memory, each namespace in a room of its own.

    default_ttl: seconds an entry lives that has no expiry of its own (None: for ever).
    max_entries, max_bytes: bounds over all namespaces; beyond them the least recently used entries of the largest
        namespace go, so that a busy tenant never pushes out a small one's.
    """

    blocking = False  # no call waits for a disk or a network

    def __init__(
        self, default_ttl: float | None = None, max_entries: int | None = None, max_bytes: int | None = None
    ) -> None:
        self._limits = Limits(default_ttl=default_ttl, max_entries=max_entries, max_bytes=max_bytes)
        self._lock = threading.RLock()
        self._rooms: dict[str, _Room] = {}

    def __repr__(self) -> str:
        return f"MemoryStore({self.count()} entries)"

    def get(self, namespace: str, key: str) -> Entry | None:
        entry = self.peek(namespace, key)
        return None if entry is None else private_copy(entry)

    def peek(self, namespace: str, key: str) -> Entry | None:
        with self._lock:
            room = self._rooms.get(namespace)
            entry = None if room is None else room.entries.get(key)
            if room is not None and entry is not None:
                room.index.touch(key)
            return entry

    def by_template(self, namespace: str, template: str, limit: int) -> tuple[Entry, ...]:
        with self._lock:
            room = self._rooms.get(namespace)
            if room is None or not template:
                return ()
            return tuple(private_copy(room.entries[key]) for key in room.index.by_template(template, limit))

    def has_vectors(self, namespace: str, partition: str, fingerprint: str) -> bool:
        with self._lock:
            room = self._rooms.get(namespace)
            return room is not None and (partition, fingerprint) in room.vectors

    def search(
        self, namespace: str, partition: str, fingerprint: str, vector: Sequence[float], limit: int
    ) -> tuple[Match, ...]:
        wanted = unit(vector)
        with self._lock:
            room = self._rooms.get(namespace)
            near = None if room is None else room.vectors.get((partition, fingerprint))
            if room is None or near is None or wanted is None:
                return ()
            found = near.nearest(wanted, limit)
            return tuple(
                Match(entry=private_copy(room.entries[key]), similarity=similarity) for key, similarity in found
            )

    def put(self, entry: Entry, vector: Sequence[float] | None) -> None:
        kept = with_default_ttl(kept_form(entry), self._limits.default_ttl)
        direction = unit(vector) if entry.fingerprint else None
        with self._lock:
            room = self._rooms.setdefault(kept.namespace, _Room())
            room.drop(kept.key)
            room.entries[kept.key] = kept
            if direction is not None:
                group = (kept.partition, kept.fingerprint)
                near = room.vectors.get(group)
                if near is not None and near.dimension != len(direction):
                    direction = None  # a vector of another world can't be compared; key and template still find it
                else:
                    room.vectors.setdefault(group, Vectors(len(direction))).add(kept.key, direction)
            room.index.add(kept.key, place_of(kept, direction is not None, _weight(kept, direction)))
            for gone in room.index.expired(kept.created_at):
                if gone != kept.key:
                    room.drop(gone)
            self._evict()

    def _evict(self) -> None:
        for namespace, key in self._limits.excess({name: room.index for name, room in self._rooms.items()}):
            self._rooms[namespace].drop(key)

    def delete(self, namespace: str, keys: Iterable[str]) -> int:
        with self._lock:
            room = self._rooms.get(namespace)
            return 0 if room is None else sum(room.drop(key) for key in keys)

    def block(self, namespace: str, key: str, other: str) -> None:
        with self._lock:
            self._rooms.setdefault(namespace, _Room()).index.blocks.setdefault(other, set()).add(key)

    def blocked(self, namespace: str, other: str) -> frozenset[str]:
        with self._lock:
            room = self._rooms.get(namespace)
            return frozenset() if room is None else frozenset(room.index.blocks.get(other, ()))

    def scan(self, namespace: str | None = None) -> Iterator[tuple[Entry, Sequence[float] | None]]:
        with self._lock:
            names = tuple(self._rooms) if namespace is None else (namespace,)
            found = [
                (entry, _vector_of(self._rooms[name], entry))
                for name in names if name in self._rooms for entry in self._rooms[name].entries.values()
            ]
        found.sort(key=lambda pair: pair[0].created_at)
        for entry, vector in found:
            yield private_copy(entry), vector

    def namespaces(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(name for name, room in self._rooms.items() if room.entries))

    def count(self, namespace: str | None = None) -> int:
        with self._lock:
            names = tuple(self._rooms) if namespace is None else (namespace,)
            return sum(len(self._rooms[name].entries) for name in names if name in self._rooms)

    def flush(self) -> None:
        """Nothing to do: memory is where it lives."""

    def clear(self, namespace: str | None = None) -> int:
        with self._lock:
            went = self.count(namespace)
            if namespace is None:
                self._rooms.clear()
            else:
                self._rooms.pop(namespace, None)
            return went

    def compact(self) -> None:
        """Nothing to do: removed entries hold no space."""

    def purge(self) -> None:
        """Nothing to do: nothing of it is on disk."""

    def close(self) -> None:
        """Nothing to release; entries stay readable."""

    def size(self) -> int:
        """Bytes the entries take, estimated by their text and vectors."""
        with self._lock:
            return sum(room.index.size for room in self._rooms.values())

    def check(self) -> tuple[str, ...]:
        """Findings of a self-examination; a memory store has none."""
        return ()


def _vector_of(room: _Room, entry: Entry) -> Sequence[float] | None:
    near = room.vectors.get((entry.partition, entry.fingerprint))
    vector = None if near is None else near.get(entry.key)
    return None if vector is None else tuple(vector)


def _weight(entry: Entry, vector: array[float] | None) -> int:
    return 500 + len(entry.request.prompt) + len(entry.reply) + len(repr(entry.payload)) + 4 * len(vector or ())
