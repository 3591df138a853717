"""One open Chroma, folder or server: what is where, what is in memory, what is still to be written.

Stores of one process on the same folder share one engine. Reads go queue, memory tier, Chroma; writes go through the
write-behind queue. Searches never filter by metadata: the members of a partition are known in memory.
"""

from __future__ import annotations

import logging
import os
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from stepcache._breaker import Breaker
from stepcache._codec import kept_form
from stepcache._data import Entry, Match
from stepcache.errors import StoreError
from stepcache.stores._chroma_client import Chroma
from stepcache.stores._index import Index, place_of
from stepcache.stores._limits import Limits
from stepcache.stores._records import (
    Shelf,
    block_record,
    collection_name,
    pack,
    placeholder_vector,
    read_block,
    record_id,
    shelf_of,
    unpack,
)
from stepcache.stores._tier import Tier
from stepcache.stores._vectors import Vectors, unit
from stepcache.stores._write_behind import Change, WriteBehind
from stepcache.stores.memory import private_copy

__all__ = ["Engine"]

logger = logging.getLogger("stepcache")

_EXACT_UP_TO = 512  # members of a partition that are compared one by one
_EXACT_ROWS = 8192  # vectors held in memory for that, over all partitions
_WIDENED = 1000

Id = tuple[str, str]
Group = tuple[str, str, str]  # namespace, partition, fingerprint


class _Room:
    """Everything known of one namespace: its index by record id, and its collections."""

    def __init__(self) -> None:
        self.index = Index()
        self.names: dict[Shelf, str] = {}
        self.dimensions: dict[Shelf, int] = {}
        self.loaded = True  # until collections are found on disk


class Engine:
    """See the module. `connect` opens a client; it is called at first use and again after a loss."""

    def __init__(self, connect: Callable[[], Any], limits: Limits, signing_key: bytes | None, breaker: Breaker) -> None:
        self._connect = connect
        self.limits = limits
        self._signing_key = signing_key
        self.breaker = breaker
        self._lock = threading.RLock()
        self._opening = threading.RLock()
        self._chroma: Chroma | None = None
        self._rooms: dict[str, _Room] = {}
        self._tier = Tier()
        self._waiting_vectors: dict[Group, Vectors] = {}
        self._near: OrderedDict[Group, Vectors] = OrderedDict()
        self.queue = WriteBehind(self._write, self._tick)
        self.refused = 0  # records that were damaged, foreign or not signed with our key
        self.pid = os.getpid()

    # -- opening ---------------------------------------------------------------------------------------------------

    def chroma(self) -> Chroma:
        """The open client. Raises `StoreError`; while the breaker is open, at once."""
        found = self._chroma
        if found is not None:
            return found
        with self._opening:
            if self._chroma is None:
                if not self.breaker.allow():
                    raise StoreError("the store could not be opened; it will be tried again shortly")
                try:
                    made = Chroma(self._connect(), self.breaker)
                    self._take_stock(made)
                except Exception as problem:  # Chroma, SQLite, the network and the disk all have their own
                    self.breaker.failure()
                    if isinstance(problem, StoreError):
                        raise
                    raise StoreError(f"cannot open the store: {problem}") from problem
                self.breaker.success()
                self._chroma = made
                self.queue.start()
            return self._chroma

    def _take_stock(self, chroma: Chroma) -> None:
        """Learn which collections there are; their records are read when a namespace is first needed."""
        found: dict[Shelf, dict[int, str]] = {}
        for name, metadata, space in chroma.names():
            ours = shelf_of(name, metadata)
            if ours is not None and space == "cosine":
                found.setdefault(ours[0], {})[ours[1]] = name
        with self._lock:
            for shelf, generations in found.items():
                room = self._rooms.setdefault(shelf.namespace, _Room())
                if shelf not in room.names:
                    room.loaded = False
                room.names[shelf] = generations[min(generations)]

    def _room(self, namespace: str) -> _Room | None:
        """The namespace's room with its index read from disk."""
        chroma = self.chroma()
        room = self._rooms.get(namespace)
        if room is None or room.loaded:
            return room
        with self._opening:
            if not room.loaded:
                self._load(chroma, room)
            return room

    def _load(self, chroma: Chroma, room: _Room) -> None:
        found: list[tuple[float, str, Any]] = []
        for shelf, name in list(room.names.items()):
            for page in chroma.pages(name):
                for id_, (metadata, _) in page.items():
                    pair = read_block(id_, metadata, shelf.namespace, self._signing_key) if id_[0] == "b" else None
                    if pair is not None:
                        room.index.blocks.setdefault(pair[1], set()).add(pair[0])
                        continue
                    opened = unpack(id_, metadata, shelf.namespace, self._signing_key)
                    if opened is None or (shelf.fingerprint and opened[0].fingerprint != shelf.fingerprint):
                        self.refused += 1
                        continue
                    entry, parts, size = opened
                    found.append((entry.created_at, id_, place_of(entry, bool(shelf.fingerprint), size, parts)))
        found.sort(key=lambda item: item[:2])
        with self._lock:
            newer = list(room.index.places.items())  # recorded while the disk was being read
            for _, id_, place in found:
                room.index.add(id_, place)
            for id_, place in newer:
                room.index.add(id_, place)
            room.loaded = True

    # -- reading ---------------------------------------------------------------------------------------------------

    def get(self, namespace: str, key: str) -> Entry | None:
        id_ = record_id(key)
        entry = self._at_hand(namespace, id_)
        if entry is not None:
            return entry
        return self._fetch(namespace, [id_]).get(id_)

    def peek(self, namespace: str, key: str) -> Entry | None:
        return self._at_hand(namespace, record_id(key))

    def _at_hand(self, namespace: str, id_: str) -> Entry | None:
        """From the queue or the memory tier."""
        change = self.queue.waiting((namespace, id_))
        entry = self._tier.get((namespace, id_)) if change is None else change.entry
        if entry is None:
            return None
        room = self._rooms.get(namespace)
        if room is not None:
            with self._lock:
                room.index.touch(id_)
        return private_copy(entry)

    def _fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Entry]:
        """Entries by id, from wherever they are; what has gone or is damaged is not among them."""
        found: dict[str, Entry] = {}
        wanted: dict[Shelf, list[str]] = {}
        room = self._room(namespace)
        if room is None:
            return found
        for id_ in ids:
            entry = self._at_hand(namespace, id_)
            place = room.index.places.get(id_)
            if entry is not None:
                found[id_] = entry
            elif place is not None and self.queue.waiting((namespace, id_)) is None:
                wanted.setdefault(Shelf(namespace, place.fingerprint), []).append(id_)
        for shelf, missing in wanted.items():
            name = room.names.get(shelf)
            if name is None:
                continue
            signed = self._signing_key is not None and bool(shelf.fingerprint)
            for id_, (metadata, vector) in self.chroma().get(name, missing, vectors=signed).items():
                opened = unpack(id_, metadata, namespace, self._signing_key, vector)
                if opened is None:
                    self.refused += 1
                    continue
                found[id_] = opened[0]
                with self._lock:
                    if id_ in room.index:
                        self._tier.put((namespace, id_), opened[0])
                        room.index.touch(id_)
        return {id_: private_copy(entry) for id_, entry in found.items()}

    def by_template(self, namespace: str, template: str, limit: int) -> tuple[Entry, ...]:
        room = self._room(namespace)
        if room is None or not template:
            return ()
        with self._lock:
            ids = room.index.by_template(template, limit)
        found = self._fetch(namespace, ids)
        return tuple(found[id_] for id_ in ids if id_ in found and found[id_].template == template)

    def has_vectors(self, namespace: str, partition: str, fingerprint: str) -> bool:
        room = self._room(namespace)
        with self._lock:
            return room is not None and bool(fingerprint) and bool(room.index.in_partition(partition, fingerprint))

    def search(
        self, namespace: str, partition: str, fingerprint: str, vector: Sequence[float], limit: int
    ) -> tuple[Match, ...]:
        wanted = unit(vector)
        room = self._room(namespace)
        if room is None or wanted is None or not fingerprint or limit <= 0:
            return ()
        members = room.index.in_partition(partition, fingerprint)
        if not members:
            return ()
        group = (namespace, partition, fingerprint)
        if len(members) <= _EXACT_UP_TO:
            nearest = self._compared(room, group, wanted, limit)
        else:
            nearest = self._asked(room, group, wanted, limit)
        entries = self._fetch(namespace, [id_ for id_, _ in nearest])
        return tuple(
            Match(entry=entries[id_], similarity=similarity)
            for id_, similarity in nearest
            if id_ in entries and entries[id_].partition == partition and entries[id_].fingerprint == fingerprint
        )

    def _compared(self, room: _Room, group: Group, wanted: array[float], limit: int) -> list[tuple[str, float]]:
        """The nearest of a small partition, by comparing all of its vectors."""
        with self._lock:
            near = self._near.get(group)
            if near is not None:
                self._near.move_to_end(group)
                return near.nearest(wanted, limit)
            ids = list(room.index.in_partition(group[1], group[2]))
        shelf = Shelf(group[0], group[2])
        rows: dict[str, tuple[Any, Any]] = {}
        if (name := room.names.get(shelf)) is not None:
            rows = self.chroma().get(name, ids, vectors=True)
        near = Vectors(len(wanted))
        with self._lock:
            waiting = self._waiting_vectors.get(group)
            for id_ in room.index.in_partition(group[1], group[2]):
                direction = None if waiting is None else waiting.get(id_)
                if direction is None and id_ in rows:
                    direction = unit(rows[id_][1])
                if direction is not None and len(direction) == near.dimension:
                    near.add(id_, direction)
            found = near.nearest(wanted, limit)
            if len(near) == len(room.index.in_partition(group[1], group[2])):
                self._near[group] = near
                while sum(map(len, self._near.values())) > _EXACT_ROWS and len(self._near) > 1:
                    self._near.popitem(last=False)
        return found

    def _asked(self, room: _Room, group: Group, wanted: array[float], limit: int) -> list[tuple[str, float]]:
        """The nearest of a large partition, by Chroma's index over the whole collection, widened once."""
        shelf = Shelf(group[0], group[2])
        found: dict[str, float] = {}
        with self._lock:
            members = room.index.in_partition(group[1], group[2])
            total, share = room.index.vectors(group[2]), len(members)
            waiting = self._waiting_vectors.get(group)
            if waiting is not None:
                found.update(waiting.nearest(wanted, limit))
        name = room.names.get(shelf)
        if name is not None and room.dimensions.get(shelf, len(wanted)) == len(wanted):
            spare = len(self.queue)
            first = min(total, limit + min(50, spare) if share == total else 50 + 2 * limit)
            for ask in sorted({first, min(total, _WIDENED)}):
                asked = self.chroma().nearest(name, wanted, max(1, ask))
                with self._lock:
                    mine = [(id_, cosine) for id_, cosine in asked
                            if id_ in members and (waiting is None or id_ not in waiting)]
                if len(mine) >= limit or share == total:
                    break
            found.update(mine)
        return sorted(found.items(), key=lambda pair: -pair[1])[:limit]

    def blocked(self, namespace: str, other: str) -> frozenset[str]:
        room = self._room(namespace)
        with self._lock:
            return frozenset() if room is None else frozenset(room.index.blocks.get(other, ()))

    def scan(self, namespace: str | None) -> Iterator[tuple[Entry, Sequence[float] | None]]:
        order: list[tuple[float, str, str, str]] = []
        for name in self._all_names() if namespace is None else (namespace,):
            room = self._room(name)
            if room is not None:
                with self._lock:
                    order.extend((p.created_at, name, id_, p.fingerprint) for id_, p in room.index.places.items())
        order.sort()
        for start in range(0, len(order), 200):
            part = order[start:start + 200]
            wanted: dict[Shelf, list[str]] = {}
            for _, name, id_, fingerprint in part:
                wanted.setdefault(Shelf(name, fingerprint), []).append(id_)
            found: dict[Id, tuple[Entry, Sequence[float] | None]] = {}
            for shelf, ids in wanted.items():
                room = self._rooms.get(shelf.namespace)
                if room is not None:
                    found.update(self._with_vectors(room, shelf, ids))
            for _, name, id_, _ in part:
                if (name, id_) in found:
                    yield found[name, id_]

    def _with_vectors(
        self, room: _Room, shelf: Shelf, ids: list[str]
    ) -> dict[Id, tuple[Entry, Sequence[float] | None]]:
        found: dict[Id, tuple[Entry, Sequence[float] | None]] = {}
        missing = []
        for id_ in ids:
            change = self.queue.waiting((shelf.namespace, id_))
            if change is None:
                missing.append(id_)
            elif change.entry is not None:
                vector = None if change.vector is None else tuple(change.vector)
                found[shelf.namespace, id_] = private_copy(change.entry), vector
        name = room.names.get(shelf)
        if name is not None and missing:
            rows = self.chroma().get(name, missing, vectors=bool(shelf.fingerprint))
            for id_, (metadata, vector) in rows.items():
                opened = unpack(id_, metadata, shelf.namespace, self._signing_key, vector)
                if opened is not None:
                    direction = unit(vector)
                    found[shelf.namespace, id_] = opened[0], None if direction is None else tuple(direction)
        return found

    def _all_names(self) -> tuple[str, ...]:
        self.chroma()
        with self._lock:
            return tuple(sorted(self._rooms))

    def namespaces(self) -> tuple[str, ...]:
        return tuple(name for name in self._all_names() if self.count(name))

    def count(self, namespace: str | None) -> int:
        rooms = [self._room(name) for name in (self._all_names() if namespace is None else (namespace,))]
        with self._lock:
            return sum(len(room.index) for room in rooms if room is not None)

    # -- writing ---------------------------------------------------------------------------------------------------

    def put(self, entry: Entry, vector: Sequence[float] | None) -> None:
        kept = kept_form(entry)
        direction = unit(vector) if kept.fingerprint else None
        namespace, id_ = kept.namespace, record_id(kept.key)
        self.chroma()
        with self._lock:
            room = self._rooms.setdefault(namespace, _Room())
        room = self._room(namespace) or room
        shelf = Shelf(namespace, kept.fingerprint)
        if direction is not None and room.dimensions.setdefault(shelf, self._dimension(room, shelf, direction)) != len(
                direction):
            direction = None  # a vector of another world can't be compared; key and template still find the entry
        if direction is None:
            shelf = Shelf(namespace, "")
        packed = pack(kept, direction, self._signing_key)
        change = Change((namespace, id_), shelf, packed, kept, direction)
        with self._lock:
            old = room.index.places.get(id_)
            if old is not None:
                if old.fingerprint == shelf.fingerprint:
                    change.old_parts = old.parts
                else:
                    change.stale.add(Shelf(namespace, old.fingerprint))
            if not self.queue.put(change):
                return
            self._forget(room, namespace, id_)
            place = place_of(kept, direction is not None, packed.size, packed.parts)
            room.index.add(id_, place)
            self._tier.put((namespace, id_), kept)
            if direction is not None:
                self._remember_vector((namespace, kept.partition, kept.fingerprint), id_, direction, room)
            for gone in room.index.expired(kept.created_at):
                if gone != id_:
                    self._evict(namespace, gone)
            for name, gone in self.limits.excess({name: r.index for name, r in self._rooms.items()}):
                self._evict(name, gone)

    def _dimension(self, room: _Room, shelf: Shelf, direction: array[float]) -> int:
        name = room.names.get(shelf)
        if name is None:
            return len(direction)
        for page in self.chroma().pages(name, vectors=True):
            for _, vector in page.values():
                if vector is not None:
                    return len(vector)
            break
        return len(direction)

    def _remember_vector(self, group: Group, id_: str, direction: array[float], room: _Room) -> None:
        waiting = self._waiting_vectors.setdefault(group, Vectors(len(direction)))
        waiting.add(id_, direction)
        members = room.index.in_partition(group[1], group[2])
        near = self._near.get(group)
        if near is None and len(members) == 1:
            near = self._near[group] = Vectors(len(direction))
        if near is not None:
            near.add(id_, direction)
            if len(near) > _EXACT_UP_TO:
                del self._near[group]

    def _forget(self, room: _Room, namespace: str, id_: str) -> bool:
        """Take an id out of all that is held in memory. The caller holds the lock and sees to the disk."""
        place = room.index.remove(id_)
        self._tier.remove((namespace, id_))
        if place is None:
            return False
        group = (namespace, place.partition, place.fingerprint)
        self._written(group, id_)
        near = self._near.get(group)
        if near is not None:
            near.remove(id_)
            if not len(near):
                del self._near[group]
        return True

    def _written(self, group: Group, id_: str) -> None:
        waiting = self._waiting_vectors.get(group)
        if waiting is not None:
            waiting.remove(id_)
            if not len(waiting):
                del self._waiting_vectors[group]

    def _evict(self, namespace: str, id_: str) -> None:
        """Forget an id now and have it removed from disk with the next batch."""
        room = self._rooms[namespace]
        place = room.index.places.get(id_)
        if place is not None:
            self._forget(room, namespace, id_)
            self.queue.put(Change((namespace, id_), stale={Shelf(namespace, place.fingerprint)}))

    def delete(self, namespace: str, keys: Iterable[str]) -> int:
        """Gone from memory and disk when this returns."""
        room = self._room(namespace)
        if room is None:
            return 0
        with self.queue.paused():
            with self._lock:
                gone = 0
                for key in keys:
                    id_ = record_id(key)
                    if id_ in room.index:
                        self._evict(namespace, id_)
                        gone += 1
            if gone:
                self.queue.flush()
        return gone

    def block(self, namespace: str, key: str, other: str) -> None:
        self.chroma()
        with self._lock:
            room = self._rooms.setdefault(namespace, _Room())
        room = self._room(namespace) or room
        with self._lock:
            blocks = room.index.blocks.setdefault(other, set())
            if key in blocks:
                return
            blocks.add(key)
            packed = block_record(namespace, key, other, self._signing_key)
            self.queue.put(Change((namespace, packed.id), Shelf(namespace, ""), packed))

    def clear(self, namespace: str | None) -> int:
        names = self._all_names() if namespace is None else (namespace,)
        with self.queue.paused():
            gone = 0
            for name in names:
                gone += self.count(name)
                self.queue.discard(name)
                with self._lock:
                    room = self._rooms.pop(name, None)
                    self._tier.clear(name)
                    for groups in (self._near, self._waiting_vectors):
                        for group in [group for group in groups if group[0] == name]:
                            del groups[group]
                if room is not None:
                    for collection in room.names.values():
                        self.chroma().drop(collection)
            return gone

    def _write(self, changes: list[Change]) -> None:
        """Write one batch: whole records, one upsert a shelf, then what is to go."""
        chroma = self.chroma()
        by_shelf: dict[Shelf, list[Change]] = {}
        gone: dict[Shelf, list[str]] = {}
        for change in changes:
            if change.shelf is not None:
                by_shelf.setdefault(change.shelf, []).append(change)
            for shelf in change.stale:
                gone.setdefault(shelf, []).append(change.id[1])
        for shelf, made in by_shelf.items():
            self._upsert(chroma, shelf, made)
        for shelf, ids in gone.items():
            room = self._rooms.get(shelf.namespace)
            name = None if room is None else room.names.get(shelf)
            if name is not None:
                chroma.delete(name, ids)
        with self._lock:
            for change in changes:
                if change.entry is not None and change.vector is not None:
                    later = self.queue.queued(change.id)
                    if later is None:
                        entry = change.entry
                        self._written((entry.namespace, entry.partition, entry.fingerprint), change.id[1])

    def _upsert(self, chroma: Chroma, shelf: Shelf, changes: list[Change]) -> None:
        with self._lock:
            room = self._rooms.setdefault(shelf.namespace, _Room())
            name = room.names.get(shelf)
        if name is None:
            name = collection_name(shelf)
            chroma.create(name, shelf.metadata)
            with self._lock:
                room.names[shelf] = name
        ids, vectors, metadatas = [], [], []
        for change in changes:
            packed = change.packed
            if packed is None:
                continue
            ids.append(packed.id)
            vectors.append(change.vector if change.vector is not None else placeholder_vector(packed.id))
            # Chroma merges metadata: what a longer record left behind must be removed by name.
            leftovers = {f"r{part}": None for part in range(packed.parts, change.old_parts)}
            metadatas.append({**leftovers, **packed.metadata})
        chroma.upsert(name, ids, vectors, metadatas)

    def _tick(self) -> None:
        """Called by the writer about once a second."""

    def close(self) -> None:
        lost = self.queue.close()
        if lost:
            logger.warning("%d entries could not be written: %s", lost, self.queue.problem)
        with self._opening:
            chroma, self._chroma = self._chroma, None
            if chroma is not None:
                chroma.close()
