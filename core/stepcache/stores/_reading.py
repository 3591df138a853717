"""Reading entries of an open Chroma: from the queue, then the memory tier, then Chroma. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stepcache._codec import private_copy
from stepcache._data import Entry
from stepcache.stores._records import Shelf, record_id, unpack
from stepcache.stores._rooms import Room
from stepcache.stores._site import Role
from stepcache.stores._vectors import unit

if TYPE_CHECKING:
    from stepcache.stores._chroma_engine import Engine

__all__ = ["Reading"]

_SCANNED_AT_ONCE = 200
_STALE_SECONDS = 5.0  # how long a copy in memory is trusted where others may change the original

Id = tuple[str, str]
Found = tuple[Entry, Sequence[float] | None]


class Reading:
    """The reading half of an engine; every method may raise `StoreError`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, namespace: str, key: str) -> Entry | None:
        id_ = record_id(key)
        at_hand = self.peek(namespace, key)
        return self.fetch(namespace, [id_]).get(id_) if at_hand is None else private_copy(at_hand)

    def peek(self, namespace: str, key: str) -> Entry | None:
        if not self._engine.is_open or self._engine.site.lost():
            return None
        id_ = record_id(key)
        entry = self.at_hand((namespace, id_))
        if entry is None:
            return None
        room = self._engine.rooms.get(namespace)
        if room is not None:
            with self._engine.lock:
                room.index.touch(id_)
        return entry

    def at_hand(self, id_: Id) -> Entry | None:
        """From the queue or the memory tier."""
        change = self._engine.queue.waiting(id_)
        if change is not None:
            return change.entry
        return self._engine.tier.get(id_, None if self._engine.alone else _STALE_SECONDS)

    def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Entries by id, from wherever they are; what has gone or is damaged is not among them."""
        self._engine.chroma()
        room = self._engine.rooms.get(namespace)  # one exact hit should not wait until a large index has been read
        if room is None:
            return {}
        room.wanted = True
        found: dict[str, Entry] = {}
        wanted: dict[Shelf, list[str]] = {}
        for id_ in ids:
            entry = self.at_hand((namespace, id_))
            if entry is not None:
                found[id_] = entry
            elif self._engine.queue.waiting((namespace, id_)) is None:
                for shelf in self._shelves(room, namespace, id_):
                    wanted.setdefault(shelf, []).append(id_)
        for shelf, missing in wanted.items():
            for id_, entry in self._read(room, shelf, missing).items():
                known = found.get(id_)
                if known is None or known.created_at < entry.created_at:
                    found[id_] = entry
                with self._engine.lock:
                    if not self._engine.alone or id_ in room.index or not room.loaded:
                        self._engine.tier.put((namespace, id_), found[id_])
        with self._engine.lock:
            for id_ in found:
                room.index.touch(id_)
        return {id_: private_copy(entry) for id_, entry in found.items()}

    def _shelves(self, room: Room, namespace: str, id_: str) -> list[Shelf]:
        """Where an id may lie. Who knows the index knows; others ask wherever the namespace has a collection."""
        place = room.index.places.get(id_)
        if self._engine.alone and (room.loaded or place is not None):
            return [] if place is None else [Shelf(namespace, place.fingerprint)]
        return [] if (namespace, id_) in self._engine.gone else list(room.names)

    def _read(self, room: Room, shelf: Shelf, ids: list[str]) -> dict[str, Entry]:
        name = room.names.get(shelf)
        if name is None:
            return {}
        key = self._engine.signing_key
        signed = key is not None and bool(shelf.fingerprint) and self._engine.rooms.vectors_readable
        found: dict[str, Entry] = {}
        for id_, (metadata, vector) in self._engine.chroma().get(name, ids, vectors=signed).items():
            opened = unpack(id_, metadata, shelf.namespace, self._engine.signing_key, vector)
            if opened is None:
                self._engine.rooms.refused += 1
            else:
                found[id_] = opened[0]
        return found

    def by_template(self, namespace: str, template: str, limit: int) -> tuple[Entry, ...]:
        room = self._engine.room(namespace)
        if room is None or not template:
            return ()
        with self._engine.lock:
            ids = room.index.by_template(template, limit)
        found = self.fetch(namespace, ids)
        return tuple(found[id_] for id_ in ids if id_ in found and found[id_].template == template)

    def has_vectors(self, namespace: str, partition: str, fingerprint: str) -> bool:
        room = self._engine.room(namespace)
        if room is None or not fingerprint:
            return False
        with self._engine.lock:
            members = room.index.in_partition(partition, fingerprint)
            if self._engine.site.role is Role.GUEST:
                return self._engine.nearby.waiting((namespace, partition, fingerprint)) is not None
            return bool(members)

    def blocked(self, namespace: str, other: str) -> frozenset[str]:
        room = self._engine.room(namespace)
        with self._engine.lock:
            return frozenset() if room is None else frozenset(room.index.blocks.get(other, ()))

    def scan(self, namespace: str | None) -> Iterator[Found]:
        order: list[tuple[float, str, str, str]] = []
        for name in self._engine.names() if namespace is None else (namespace,):
            room = self._engine.room(name)
            if room is not None:
                with self._engine.lock:
                    order.extend((p.created_at, name, id_, p.fingerprint) for id_, p in room.index.places.items())
        order.sort()
        for start in range(0, len(order), _SCANNED_AT_ONCE):
            part = order[start:start + _SCANNED_AT_ONCE]
            wanted: dict[Shelf, list[str]] = {}
            for _, name, id_, fingerprint in part:
                wanted.setdefault(Shelf(name, fingerprint), []).append(id_)
            found: dict[Id, Found] = {}
            for shelf, ids in wanted.items():
                found.update(self._with_vectors(shelf, ids))
            yield from (found[name, id_] for _, name, id_, _ in part if (name, id_) in found)

    def _with_vectors(self, shelf: Shelf, ids: list[str]) -> dict[Id, Found]:
        found: dict[Id, Found] = {}
        missing = []
        for id_ in ids:
            change = self._engine.queue.waiting((shelf.namespace, id_))
            if change is None:
                missing.append(id_)
            elif change.entry is not None:
                vector = None if change.vector is None else tuple(change.vector)
                found[shelf.namespace, id_] = private_copy(change.entry), vector
        room = self._engine.rooms.get(shelf.namespace)
        name = None if room is None else room.names.get(shelf)
        if name is not None and missing:
            vectors = bool(shelf.fingerprint) and self._engine.rooms.vectors_readable
            for id_, (metadata, row) in self._engine.chroma().get(name, missing, vectors=vectors).items():
                opened = unpack(id_, metadata, shelf.namespace, self._engine.signing_key, row)
                if opened is not None:
                    direction = unit(row) if shelf.fingerprint else None
                    found[shelf.namespace, id_] = opened[0], None if direction is None else tuple(direction)
        return found
