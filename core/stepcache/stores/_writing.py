"""How changes reach Chroma, or the owner's inbox, and what is done about once a second."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from stepcache.errors import StoreError
from stepcache.stores._chroma_client import Chroma, Refused
from stepcache.stores._inbox import Blocked, Cleared, Inbox, Order, Put, Removed
from stepcache.stores._index import place_of
from stepcache.stores._records import Shelf, block_id, collection_name, placeholder_vector
from stepcache.stores._rooms import Room
from stepcache.stores._site import FolderSite, Role
from stepcache.stores._write_behind import Change

if TYPE_CHECKING:
    from stepcache.stores._chroma_engine import Engine

__all__ = ["Writing"]

logger = logging.getLogger("stepcache")

_REFRESH_SECONDS = 5.0


class Writing:
    """The writing half of an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._inbox: Inbox | None = None
        self._taken: list[Path] = []
        self._refreshed = 0.0

    # -- memory ----------------------------------------------------------------------------------------------------

    def entered(self, room: Room, change: Change) -> None:
        """Make a queued entry known in memory. The caller holds the engine's lock."""
        engine, entry, packed = self._engine, change.entry, change.packed
        assert entry is not None
        assert packed is not None
        namespace, id_ = change.id
        self._forget(room, namespace, id_)
        engine.gone.discard(change.id)
        room.index.add(id_, place_of(entry, change.vector is not None, packed.size, packed.parts))
        engine.tier.put(change.id, entry)
        if change.vector is not None:
            # While the index has not been read, what the partition holds besides is not known.
            members = len(room.index.in_partition(entry.partition, entry.fingerprint)) if room.loaded else 0
            engine.nearby.add((namespace, entry.partition, entry.fingerprint), id_, change.vector, members)

    def evict(self, namespace: str, id_: str) -> None:
        """Forget an id now and have it removed from disk with the next batch. The caller holds the engine's lock."""
        engine = self._engine
        room = engine.rooms.get(namespace)
        if room is None:
            return
        place = room.index.places.get(id_)
        stale = {Shelf(namespace, place.fingerprint)} if place is not None and engine.alone else set(room.names)
        self._forget(room, namespace, id_)
        if engine.site.role is Role.GUEST:
            engine.gone.add((namespace, id_))
        engine.queue.put(Change((namespace, id_), stale=stale))

    def _forget(self, room: Room, namespace: str, id_: str) -> None:
        engine = self._engine
        place = room.index.remove(id_)
        engine.tier.remove((namespace, id_))
        if place is not None:
            engine.nearby.remove((namespace, place.partition, place.fingerprint), id_)

    # -- disk ------------------------------------------------------------------------------------------------------

    def write(self, changes: list[Change]) -> None:
        """Write one batch. A change that can't be written alone is dropped rather than holding up all others."""
        chroma = self._engine.chroma()
        role = self._engine.site.role
        if role is Role.READER:
            return
        if role is Role.GUEST:
            self._hand_over(changes)
            return
        try:
            self._write(chroma, changes)
        except Refused:
            for change in changes:
                self._write_alone(chroma, change)
        self._settle(changes)

    def _write_alone(self, chroma: Chroma, change: Change) -> None:
        try:
            self._write(chroma, [change])
        except Refused as problem:
            self._engine.queue.dropped += 1
            logger.warning("An entry could not be written and was dropped: %s", problem)

    def _write(self, chroma: Chroma, changes: list[Change]) -> None:
        """Whole records, one upsert a shelf; then what is to go."""
        written: dict[Shelf, list[Change]] = {}
        gone: dict[Shelf, list[str]] = {}
        for change in changes:
            if change.shelf is not None:
                written.setdefault(change.shelf, []).append(change)
            for shelf in change.stale:
                gone.setdefault(shelf, []).append(change.id[1])
        for shelf, made in written.items():
            self._upsert(chroma, shelf, made)
        for shelf, ids in gone.items():
            room = self._engine.rooms.get(shelf.namespace)
            name = None if room is None else room.names.get(shelf)
            if name is not None:
                chroma.delete(name, ids)

    def _upsert(self, chroma: Chroma, shelf: Shelf, changes: list[Change]) -> None:
        room = self._engine.rooms.make(shelf.namespace)
        name = room.names.get(shelf)
        if name is None:
            name = collection_name(shelf)
            chroma.create(name, shelf.metadata)
            with self._engine.lock:
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
            if change.old_parts:
                leftovers["r0"] = None  # of a record that 0.1.0 wrote
            metadatas.append({**leftovers, **packed.metadata})
        try:
            chroma.upsert(name, ids, vectors, metadatas)
        except StoreError:
            with self._engine.lock:  # perhaps another process has cleared it: the next attempt makes it anew
                if not self._engine.alone:
                    room.names.pop(shelf, None)
            raise

    def _settle(self, changes: list[Change]) -> None:
        """Chroma finds these now; memory need not."""
        engine = self._engine
        engine.site.settle()
        with engine.lock:
            for change in changes:
                entry = change.entry
                if entry is not None and change.vector is not None and engine.queue.queued(change.id) is None:
                    engine.nearby.written((entry.namespace, entry.partition, entry.fingerprint), change.id[1])

    def cleared(self, namespace: str, room: Room) -> None:
        """Remove a namespace's collections. Nothing is being written meanwhile."""
        engine = self._engine
        if engine.site.role is Role.GUEST:
            self._post([Cleared(namespace)])
            engine.rooms.make(namespace).hidden = True
            return
        for name in room.names.values():
            engine.chroma().drop(name)

    # -- other processes -------------------------------------------------------------------------------------------

    def _hand_over(self, changes: list[Change]) -> None:
        orders: list[Order] = []
        for change in changes:
            if change.blocked is not None:
                orders.append(Blocked(change.id[0], *change.blocked))
            elif change.entry is not None:
                orders.append(Put(change.entry, None if change.vector is None else tuple(change.vector)))
            else:
                orders.append(Removed(*change.id))
        self._post(orders)

    def _post(self, orders: list[Order]) -> None:
        if self._inbox is not None:
            try:
                self._inbox.append(orders)
            except OSError as problem:
                raise StoreError(f"cannot hand over to the owner of the folder: {problem}") from problem

    def opened(self) -> None:
        """Called when Chroma has just been opened, with the opening lock held: nothing here may wait for the writer."""
        engine = self._engine
        if isinstance(engine.site, FolderSite):
            self._inbox = Inbox(engine.site.folder.path, engine.signing_key)
        for change in engine.queue.all_waiting():  # queued before Chroma was lost
            room = engine.room(change.id[0]) or engine.rooms.make(change.id[0])
            with engine.lock:
                if change.entry is not None:
                    self.entered(room, change)
                elif change.packed is None:
                    self._forget(room, *change.id)
        if engine.site.role is Role.OWNER:
            leftovers, engine.rooms.leftovers = engine.rooms.leftovers, []
            for name in leftovers:
                engine.chroma().drop(name)
            self._take_in()

    def _take_in(self) -> None:
        """Queue what other processes handed over; `tick` removes their files once it is on disk."""
        if self._inbox is None or not self._inbox.waiting():
            return
        for file, orders in self._inbox.take():
            if file in self._taken:
                continue
            for order in orders:
                self._carry_out(order)
            self._taken.append(file)

    def _carry_out(self, order: Order) -> None:
        engine = self._engine
        match order:
            case Put():
                known = engine.reading.get(order.entry.namespace, order.entry.key)
                if known is None or known.created_at <= order.entry.created_at:
                    engine.changing.put(order.entry, order.vector, must=True)
            case Removed():
                engine.room(order.namespace)
                with engine.lock:
                    self.evict(order.namespace, order.id)
            case Blocked():
                engine.changing.block(order.namespace, order.key, order.other)
            case Cleared():
                room = engine.room(order.namespace)
                with engine.lock:
                    for id_ in () if room is None else list(room.index):
                        self.evict(order.namespace, id_)
                    blocks = {} if room is None else dict(room.index.blocks)
                    for other, keys in blocks.items():
                        for key in keys:
                            id_ = block_id(key, other)
                            engine.queue.put(Change((order.namespace, id_), stale={Shelf(order.namespace, "")}))
                    if room is not None:
                        room.index.blocks.clear()

    def tick(self) -> None:
        """Called by the writer's thread about once a second: recover, take in, look what others did."""
        engine = self._engine
        chroma = engine.chroma()
        if engine.site.promoted():
            logger.info("This process is now the writer of the cache's folder")
            engine.let_go()
            engine.chroma()
        elif engine.site.role is Role.OWNER:
            engine.rooms.load_wanted(chroma)
            self._take_in()
            if self._taken:
                taken, self._taken = self._taken, []
                engine.queue.flush()
                for file in taken:
                    file.unlink(missing_ok=True)
        elif not engine.alone and time.monotonic() - self._refreshed > _REFRESH_SECONDS:
            engine.rooms.refresh(chroma)
            self._refreshed = time.monotonic()
