"""What lies in Chroma, by namespace: which collections, and an index of their records."""

from __future__ import annotations

import logging
import threading
from typing import Any

from stepcache.stores._chroma_client import Chroma
from stepcache.stores._index import Index, Place, place_of
from stepcache.stores._records import OURS, Shelf, disk_size, read_block, shelf_of, unpack

__all__ = ["Room", "Rooms"]

logger = logging.getLogger("stepcache")


class Room:
    """Everything known of one namespace; its index goes by record id."""

    def __init__(self) -> None:
        self.index = Index()
        self.names: dict[Shelf, str] = {}
        self.dimensions: dict[Shelf, int] = {}
        self.seen: dict[Shelf, int] = {}  # how many records of a collection have been read
        self.loaded = True  # until collections are found
        self.wanted = False  # asked for before it was loaded
        self.hidden = False  # cleared here while another process has yet to remove it


class Rooms:
    """All rooms. Records are read when a namespace is first needed."""

    def __init__(self, signing_key: bytes | None, lock: threading.RLock) -> None:
        self._signing_key = signing_key
        self._lock = lock
        self._loading = threading.RLock()
        self._rooms: dict[str, Room] = {}
        self.vectors_readable = True  # not while another process writes Chroma's vector index
        self.refused = 0  # records that were damaged, foreign or not signed with our key
        self.doubles: list[tuple[Shelf, str]] = []  # records that a crash left on two shelves
        self.leftovers: list[str] = []  # collections that an interrupted purge left behind
        self.foreign: list[str] = []  # collections of ours that this version can't read

    def get(self, namespace: str) -> Room | None:
        """The room as far as it is known."""
        return self._rooms.get(namespace)

    def make(self, namespace: str) -> Room:
        room = self._rooms.get(namespace)
        if room is not None:
            return room
        with self._lock:
            return self._rooms.setdefault(namespace, Room())

    def pop(self, namespace: str) -> Room | None:
        with self._lock:
            return self._rooms.pop(namespace, None)

    def names(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._rooms))

    def indexes(self) -> dict[str, Index]:
        return {name: room.index for name, room in self._rooms.items()}

    def take_stock(self, chroma: Chroma) -> None:
        """Learn which collections there are."""
        found: dict[Shelf, dict[int, str]] = {}
        foreign = []
        for name, metadata, space in chroma.names():
            ours = shelf_of(name, metadata)
            if ours is not None and space == "cosine":
                found.setdefault(ours[0], {})[ours[1]] = name
            elif name.startswith(OURS):
                foreign.append(name)
        if foreign and not self.foreign:
            logger.warning("%d collections were written by another version of StepCache and are left alone",
                           len(foreign))
        self.foreign = foreign
        with self._lock:
            for shelf, generations in found.items():
                room = self._rooms.setdefault(shelf.namespace, Room())
                oldest = min(generations)
                self.leftovers.extend(name for number, name in generations.items() if number != oldest)
                if shelf not in room.names and not room.hidden:
                    room.names[shelf] = generations[oldest]
                    room.loaded = False

    def loaded(self, namespace: str, chroma: Chroma) -> Room | None:
        """The room with its index read."""
        room = self._rooms.get(namespace)
        if room is None or room.loaded:
            return room
        with self._loading:
            if not room.loaded:
                self._load(chroma, room)
        return room

    def load_wanted(self, chroma: Chroma) -> None:
        """Read the index of rooms that are in use, so that no caller has to wait for it."""
        with self._lock:
            names = [name for name, room in self._rooms.items() if room.wanted and not room.loaded]
        for name in names:
            self.loaded(name, chroma)

    def refresh(self, chroma: Chroma) -> None:
        """Read what others have added to the rooms in use; what they removed shows when it is asked for."""
        self.take_stock(chroma)
        with self._lock:
            rooms = list(self._rooms.values())
        for room in rooms:
            if room.index.places or not room.loaded:
                with self._loading:
                    if any(chroma.count(name) != room.seen.get(shelf) for shelf, name in list(room.names.items())):
                        self._load(chroma, room)

    def _load(self, chroma: Chroma, room: Room) -> None:
        found: dict[str, Place] = {}
        for shelf, name in list(room.names.items()):
            if shelf.fingerprint and self.vectors_readable and (dimension := chroma.dimension(name)):
                room.dimensions[shelf] = dimension
            start = room.seen.get(shelf, 0)
            if start and chroma.count(name) < start:
                start = 0
            for page in chroma.pages(name, start):
                start += len(page)
                for id_, (metadata, _) in page.items():
                    place = self._read(room, shelf, id_, metadata)
                    if place is None:
                        continue
                    other = found.get(id_)
                    if other is not None:
                        place, loser = _better(place, other)
                        self.doubles.append((Shelf(shelf.namespace, loser.fingerprint), id_))
                    found[id_] = place
            room.seen[shelf] = start
        with self._lock:
            for id_, place in sorted(found.items(), key=lambda item: (item[1].created_at, item[0])):
                known = room.index.places.get(id_)
                if known is None or known.created_at < place.created_at:
                    room.index.add(id_, place)
            room.loaded = True

    def _read(self, room: Room, shelf: Shelf, id_: str, metadata: Any) -> Place | None:
        if id_.startswith("b") and not shelf.fingerprint:
            pair = read_block(id_, metadata, shelf.namespace, self._signing_key)
            if pair is not None:
                with self._lock:
                    room.index.blocks.setdefault(pair[1], set()).add(pair[0])
                return None
        opened = unpack(id_, metadata, shelf.namespace, self._signing_key)
        if opened is None or (shelf.fingerprint and opened[0].fingerprint != shelf.fingerprint):
            self.refused += 1
            return None
        entry, parts, text = opened
        return place_of(entry, bool(shelf.fingerprint), disk_size(text, room.dimensions.get(shelf, 0)), parts)


def _better(one: Place, other: Place) -> tuple[Place, Place]:
    """The later of two, or the one with a vector; and the one that loses."""
    if (one.created_at, bool(one.fingerprint)) >= (other.created_at, bool(other.fingerprint)):
        return one, other
    return other, one
