"""Changing what an open Chroma holds: at once in memory, and queued to be written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from stepcache._codec import kept_form
from stepcache._data import Entry
from stepcache.stores._records import Shelf, block_record, pack, record_id
from stepcache.stores._rooms import Room
from stepcache.stores._site import Role
from stepcache.stores._vectors import unit
from stepcache.stores._write_behind import Change

if TYPE_CHECKING:
    from stepcache.stores._chroma_engine import Engine

__all__ = ["Changing"]

_SAME_FOR_SECONDS = 60.0


class Changing:
    """The changing half of an engine; every method may raise `StoreError`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, entry: Entry, vector: Sequence[float] | None, must: bool = False) -> None:
        """Take an entry into memory and queue it for writing; `must` also into a full queue."""
        kept = kept_form(entry)
        direction = unit(vector) if kept.fingerprint else None
        namespace, id_ = kept.namespace, record_id(kept.key)
        self._engine.chroma()
        if self._engine.site.role is Role.READER:
            return
        room = self._engine.rooms.make(namespace)
        shelf = Shelf(namespace, kept.fingerprint)
        if direction is not None and self._dimension(room, shelf, len(direction)) != len(direction):
            direction = None  # a vector of another world can't be compared; key and template still find the entry
        if direction is None:
            shelf = Shelf(namespace, "")
        if self._only_newer(room, id_, kept, shelf):
            return
        packed = pack(kept, direction, self._engine.signing_key)
        change = Change((namespace, id_), shelf, packed, kept, direction)
        if not room.loaded and self._engine.queue.waiting(change.id) is None:
            self._find_older(room, change)
        with self._engine.lock:
            old = room.index.places.get(id_)
            if old is not None and old.fingerprint == shelf.fingerprint:
                change.old_parts = old.parts
            elif old is not None:
                change.stale.add(Shelf(namespace, old.fingerprint))
            if not self._engine.queue.put(change, must):
                return
            self._engine.writing.entered(room, change)
            for gone in room.index.expired(kept.created_at):
                if gone != id_:
                    self._engine.writing.evict(namespace, gone)
            for name, gone in self._engine.limits.excess(self._engine.rooms.indexes()):
                self._engine.writing.evict(name, gone)

    def _dimension(self, room: Room, shelf: Shelf, offered: int) -> int:
        """Of a shelf's vectors; the first one settles it."""
        known = room.dimensions.get(shelf)
        if known is None:
            name = room.names.get(shelf)
            ask = name is not None and self._engine.rooms.vectors_readable
            known = room.dimensions[shelf] = (self._engine.chroma().dimension(name or "") if ask else 0) or offered
        return known

    def _find_older(self, room: Room, change: Change) -> None:
        """Before the index has been read: ask every collection for an earlier record of the same id."""
        room.wanted = True
        for shelf, name in list(room.names.items()):
            for metadata, _ in self._engine.chroma().get(name, [change.id[1]]).values():
                if shelf == change.shelf:
                    change.old_parts = sum(str(part).startswith("r") for part in metadata or ())
                else:
                    change.stale.add(shelf)

    def _only_newer(self, room: Room, id_: str, kept: Entry, shelf: Shelf) -> bool:
        """Take a refreshed entry with nothing new in it into memory alone; the disk may be a minute behind."""
        with self._engine.lock:
            place = room.index.places.get(id_)
            known = self._engine.reading.at_hand((shelf.namespace, id_))
            if (
                place is None or known is None or not self._engine.alone or kept.expires_at is not None
                or place.fingerprint != shelf.fingerprint
                or not 0 <= kept.created_at - place.created_at < _SAME_FOR_SECONDS
                or replace(known, created_at=kept.created_at) != kept
                or repr(known.payload) != repr(kept.payload)
            ):
                return False
            if self._engine.queue.waiting((shelf.namespace, id_)) is not None:
                return False
            room.index.add(id_, place)
            self._engine.tier.put((shelf.namespace, id_), kept)
            return True

    def delete(self, namespace: str, keys: Iterable[str]) -> int:
        """Gone from memory and disk when this returns."""
        room = self._engine.room(namespace)
        if room is None or self._engine.site.role is Role.READER:
            return 0
        ids = [record_id(key) for key in keys]
        if not self._engine.alone:
            self._engine.reading.fetch(namespace, ids)
        with self._engine.queue.paused():
            with self._engine.lock:
                gone = 0
                for id_ in ids:
                    known = id_ in room.index
                    if not (known or self._engine.alone):
                        known = self._engine.reading.at_hand((namespace, id_)) is not None
                    if known:
                        self._engine.writing.evict(namespace, id_)
                        gone += 1
            if gone:
                self._engine.queue.flush()
        return gone

    def block(self, namespace: str, key: str, other: str) -> None:
        self._engine.chroma()
        if self._engine.site.role is Role.READER:
            return
        self._engine.rooms.make(namespace)
        room = self._engine.room(namespace)
        assert room is not None
        with self._engine.lock:
            blocks = room.index.blocks.setdefault(other, set())
            if key in blocks:
                return
            blocks.add(key)
        packed = block_record(namespace, key, other, self._engine.signing_key)
        self._engine.queue.put(Change((namespace, packed.id), Shelf(namespace, ""), packed, blocked=(key, other)))

    def clear(self, namespace: str | None) -> int:
        names = self._engine.names() if namespace is None else (namespace,)
        if self._engine.site.role is Role.READER:
            return 0
        with self._engine.queue.paused():
            gone = sum(self._engine.count(name) for name in names)
            for name in names:
                self._engine.queue.discard(name)
                with self._engine.lock:
                    room = self._engine.rooms.pop(name)
                    self._engine.tier.clear(name)
                    self._engine.nearby.clear(name)
                if room is not None:
                    self._engine.writing.cleared(name, room)
            return gone
