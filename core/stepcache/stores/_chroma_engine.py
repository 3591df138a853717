"""One open Chroma: reads go queue, memory tier, Chroma; writes go through the write-behind queue.

Stores of one process on the same folder share one engine. Searches never filter by metadata: the members of a
partition are known in memory.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from stepcache._breaker import Breaker
from stepcache._codec import kept_form, private_copy
from stepcache._data import Entry, Match
from stepcache.errors import StoreError
from stepcache.stores._chroma_client import Chroma
from stepcache.stores._limits import Limits
from stepcache.stores._nearby import Nearby
from stepcache.stores._records import Shelf, block_record, pack, record_id, unpack
from stepcache.stores._rooms import Room, Rooms
from stepcache.stores._searching import Searching
from stepcache.stores._site import Role, Site
from stepcache.stores._tables import Tables
from stepcache.stores._tier import Tier
from stepcache.stores._vectors import unit
from stepcache.stores._write_behind import Change, WriteBehind
from stepcache.stores._writing import Writing

__all__ = ["Engine"]

logger = logging.getLogger("stepcache")

_SCANNED_AT_ONCE = 200
_SAME_FOR_SECONDS = 60.0
_STALE_SECONDS = 5.0  # how long a copy in memory is trusted where others may change the original

_never_freed: list[Chroma] = []

Id = tuple[str, str]
Found = tuple[Entry, Sequence[float] | None]


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
        self.writing = Writing(self)
        self.searching = Searching(self)
        self.queue = WriteBehind(self.writing.write, self.writing.tick)
        self.closed = False

    # -- opening ---------------------------------------------------------------------------------------------------

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

    # -- reading ---------------------------------------------------------------------------------------------------

    def get(self, namespace: str, key: str) -> Entry | None:
        id_ = record_id(key)
        at_hand = self.peek(namespace, key)
        return self.fetch(namespace, [id_]).get(id_) if at_hand is None else private_copy(at_hand)

    def peek(self, namespace: str, key: str) -> Entry | None:
        if self._chroma is None or self.site.lost():
            return None
        id_ = record_id(key)
        entry = self._at_hand((namespace, id_))
        if entry is None:
            return None
        room = self.rooms.get(namespace)
        if room is not None:
            with self.lock:
                room.index.touch(id_)
        return entry

    def _at_hand(self, id_: Id) -> Entry | None:
        """From the queue or the memory tier."""
        change = self.queue.waiting(id_)
        if change is not None:
            return change.entry
        return self.tier.get(id_, None if self.alone else _STALE_SECONDS)

    def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Entries by id, from wherever they are; what has gone or is damaged is not among them."""
        self.chroma()
        room = self.rooms.get(namespace)  # one exact hit should not wait until a large index has been read
        if room is None:
            return {}
        room.wanted = True
        found: dict[str, Entry] = {}
        wanted: dict[Shelf, list[str]] = {}
        for id_ in ids:
            entry = self._at_hand((namespace, id_))
            if entry is not None:
                found[id_] = entry
            elif self.queue.waiting((namespace, id_)) is None:
                for shelf in self._shelves(room, namespace, id_):
                    wanted.setdefault(shelf, []).append(id_)
        for shelf, missing in wanted.items():
            for id_, entry in self._read(room, shelf, missing).items():
                known = found.get(id_)
                if known is None or known.created_at < entry.created_at:
                    found[id_] = entry
                with self.lock:
                    if not self.alone or id_ in room.index or not room.loaded:
                        self.tier.put((namespace, id_), found[id_])
        with self.lock:
            for id_ in found:
                room.index.touch(id_)
        return {id_: private_copy(entry) for id_, entry in found.items()}

    def _shelves(self, room: Room, namespace: str, id_: str) -> list[Shelf]:
        """Where an id may lie. Who knows the index knows; others ask wherever the namespace has a collection."""
        place = room.index.places.get(id_)
        if self.alone and (room.loaded or place is not None):
            return [] if place is None else [Shelf(namespace, place.fingerprint)]
        return [] if (namespace, id_) in self.gone else list(room.names)

    def _read(self, room: Room, shelf: Shelf, ids: list[str]) -> dict[str, Entry]:
        name = room.names.get(shelf)
        if name is None:
            return {}
        signed = self.signing_key is not None and bool(shelf.fingerprint) and self.rooms.vectors_readable
        found: dict[str, Entry] = {}
        for id_, (metadata, vector) in self.chroma().get(name, ids, vectors=signed).items():
            opened = unpack(id_, metadata, shelf.namespace, self.signing_key, vector)
            if opened is None:
                self.rooms.refused += 1
            else:
                found[id_] = opened[0]
        return found

    def by_template(self, namespace: str, template: str, limit: int) -> tuple[Entry, ...]:
        room = self.room(namespace)
        if room is None or not template:
            return ()
        with self.lock:
            ids = room.index.by_template(template, limit)
        found = self.fetch(namespace, ids)
        return tuple(found[id_] for id_ in ids if id_ in found and found[id_].template == template)

    def has_vectors(self, namespace: str, partition: str, fingerprint: str) -> bool:
        room = self.room(namespace)
        if room is None or not fingerprint:
            return False
        with self.lock:
            members = room.index.in_partition(partition, fingerprint)
            if self.site.role is Role.GUEST:
                return self.nearby.waiting((namespace, partition, fingerprint)) is not None
            return bool(members)

    def search(
        self, namespace: str, partition: str, fingerprint: str, vector: Sequence[float], limit: int
    ) -> tuple[Match, ...]:
        return self.searching.search(namespace, partition, fingerprint, vector, limit)

    def blocked(self, namespace: str, other: str) -> frozenset[str]:
        room = self.room(namespace)
        with self.lock:
            return frozenset() if room is None else frozenset(room.index.blocks.get(other, ()))

    def scan(self, namespace: str | None) -> Iterator[Found]:
        order: list[tuple[float, str, str, str]] = []
        for name in self.names() if namespace is None else (namespace,):
            room = self.room(name)
            if room is not None:
                with self.lock:
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
            change = self.queue.waiting((shelf.namespace, id_))
            if change is None:
                missing.append(id_)
            elif change.entry is not None:
                vector = None if change.vector is None else tuple(change.vector)
                found[shelf.namespace, id_] = private_copy(change.entry), vector
        room = self.rooms.get(shelf.namespace)
        name = None if room is None else room.names.get(shelf)
        if name is not None and missing:
            vectors = bool(shelf.fingerprint) and self.rooms.vectors_readable
            for id_, (metadata, row) in self.chroma().get(name, missing, vectors=vectors).items():
                opened = unpack(id_, metadata, shelf.namespace, self.signing_key, row)
                if opened is not None:
                    direction = unit(row) if shelf.fingerprint else None
                    found[shelf.namespace, id_] = opened[0], None if direction is None else tuple(direction)
        return found

    def names(self) -> tuple[str, ...]:
        self.chroma()
        return self.rooms.names()

    def count(self, namespace: str | None) -> int:
        rooms = [self.room(name) for name in (self.names() if namespace is None else (namespace,))]
        return sum(len(room.index) for room in rooms if room is not None)

    # -- changing --------------------------------------------------------------------------------------------------

    def put(self, entry: Entry, vector: Sequence[float] | None, must: bool = False) -> None:
        """Take an entry into memory and queue it for writing; `must` also into a full queue."""
        kept = kept_form(entry)
        direction = unit(vector) if kept.fingerprint else None
        namespace, id_ = kept.namespace, record_id(kept.key)
        self.chroma()
        if self.site.role is Role.READER:
            return
        room = self.rooms.make(namespace)
        shelf = Shelf(namespace, kept.fingerprint)
        if direction is not None and self._dimension(room, shelf, len(direction)) != len(direction):
            direction = None  # a vector of another world can't be compared; key and template still find the entry
        if direction is None:
            shelf = Shelf(namespace, "")
        if self._only_newer(room, id_, kept, shelf):
            return
        packed = pack(kept, direction, self.signing_key)
        change = Change((namespace, id_), shelf, packed, kept, direction)
        if not room.loaded and self.queue.waiting(change.id) is None:
            self._find_older(room, change)
        with self.lock:
            old = room.index.places.get(id_)
            if old is not None and old.fingerprint == shelf.fingerprint:
                change.old_parts = old.parts
            elif old is not None:
                change.stale.add(Shelf(namespace, old.fingerprint))
            if not self.queue.put(change, must):
                return
            self.writing.entered(room, change)
            for gone in room.index.expired(kept.created_at):
                if gone != id_:
                    self.writing.evict(namespace, gone)
            for name, gone in self.limits.excess(self.rooms.indexes()):
                self.writing.evict(name, gone)

    def _dimension(self, room: Room, shelf: Shelf, offered: int) -> int:
        """Of a shelf's vectors; the first one settles it."""
        known = room.dimensions.get(shelf)
        if known is None:
            name = room.names.get(shelf)
            ask = name is not None and self.rooms.vectors_readable
            known = room.dimensions[shelf] = (self.chroma().dimension(name or "") if ask else 0) or offered
        return known

    def _find_older(self, room: Room, change: Change) -> None:
        """Before the index has been read: ask every collection for an earlier record of the same id."""
        room.wanted = True
        for shelf, name in list(room.names.items()):
            for metadata, _ in self.chroma().get(name, [change.id[1]]).values():
                if shelf == change.shelf:
                    change.old_parts = sum(str(part).startswith("r") for part in metadata or ())
                else:
                    change.stale.add(shelf)

    def _only_newer(self, room: Room, id_: str, kept: Entry, shelf: Shelf) -> bool:
        """Take a refreshed entry with nothing new in it into memory alone; the disk may be a minute behind."""
        with self.lock:
            place = room.index.places.get(id_)
            known = self._at_hand((shelf.namespace, id_))
            if (
                place is None or known is None or not self.alone or kept.expires_at is not None
                or place.fingerprint != shelf.fingerprint
                or not 0 <= kept.created_at - place.created_at < _SAME_FOR_SECONDS
                or replace(known, created_at=kept.created_at) != kept
                or repr(known.payload) != repr(kept.payload)
            ):
                return False
            if self.queue.waiting((shelf.namespace, id_)) is not None:
                return False
            room.index.add(id_, place)
            self.tier.put((shelf.namespace, id_), kept)
            return True

    def delete(self, namespace: str, keys: Iterable[str]) -> int:
        """Gone from memory and disk when this returns."""
        room = self.room(namespace)
        if room is None or self.site.role is Role.READER:
            return 0
        ids = [record_id(key) for key in keys]
        if not self.alone:
            self.fetch(namespace, ids)
        with self.queue.paused():
            with self.lock:
                gone = 0
                for id_ in ids:
                    if id_ in room.index or (not self.alone and self._at_hand((namespace, id_)) is not None):
                        self.writing.evict(namespace, id_)
                        gone += 1
            if gone:
                self.queue.flush()
        return gone

    def block(self, namespace: str, key: str, other: str) -> None:
        self.chroma()
        if self.site.role is Role.READER:
            return
        self.rooms.make(namespace)
        room = self.room(namespace)
        assert room is not None
        with self.lock:
            blocks = room.index.blocks.setdefault(other, set())
            if key in blocks:
                return
            blocks.add(key)
        packed = block_record(namespace, key, other, self.signing_key)
        self.queue.put(Change((namespace, packed.id), Shelf(namespace, ""), packed, blocked=(key, other)))

    def clear(self, namespace: str | None) -> int:
        names = self.names() if namespace is None else (namespace,)
        if self.site.role is Role.READER:
            return 0
        with self.queue.paused():
            gone = sum(self.count(name) for name in names)
            for name in names:
                self.queue.discard(name)
                with self.lock:
                    room = self.rooms.pop(name)
                    self.tier.clear(name)
                    self.nearby.clear(name)
                if room is not None:
                    self.writing.cleared(name, room)
            return gone
