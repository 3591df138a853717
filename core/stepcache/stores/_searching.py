"""Finding the nearest entries of a partition: by comparing a few vectors, or by Chroma's index over the collection."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepcache._data import Match
from stepcache.stores._nearby import EXACT_UP_TO, Group
from stepcache.stores._records import Shelf
from stepcache.stores._rooms import Room
from stepcache.stores._site import Role
from stepcache.stores._vectors import Vectors, unit

if TYPE_CHECKING:
    from stepcache.stores._chroma_engine import Engine

__all__ = ["Searching"]

_WIDENED = 1000


class Searching:
    """The searching half of an engine. Every match is confirmed by a read of its entry."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def search(
        self, namespace: str, partition: str, fingerprint: str, vector: Sequence[float], limit: int
    ) -> tuple[Match, ...]:
        wanted = unit(vector)
        room = self._engine.room(namespace)
        if room is None or wanted is None or not fingerprint or limit <= 0:
            return ()
        group = (namespace, partition, fingerprint)
        with self._engine.lock:
            members = len(room.index.in_partition(partition, fingerprint))
        if self._engine.site.role is Role.GUEST:
            nearest = self._of_our_own(group, wanted, limit)
        elif not members:
            nearest = []
        elif members <= EXACT_UP_TO and self._engine.alone:
            nearest = self._compared(room, group, wanted, limit)
        else:
            nearest = self._asked(room, group, wanted, limit)
        entries = self._engine.reading.fetch(namespace, [id_ for id_, _ in nearest])
        matches = (
            Match(entry=entries[id_], similarity=similarity)
            for id_, similarity in nearest
            if id_ in entries and entries[id_].partition == partition and entries[id_].fingerprint == fingerprint
        )
        return tuple(match for match, _ in zip(matches, range(limit), strict=False))

    def _of_our_own(self, group: Group, wanted: array[float], limit: int) -> list[tuple[str, float]]:
        """A guest's search: Chroma's vector index is not safe to read while another process writes it."""
        with self._engine.lock:
            waiting = self._engine.nearby.waiting(group)
            return [] if waiting is None else waiting.nearest(wanted, limit)

    def _compared(self, room: Room, group: Group, wanted: array[float], limit: int) -> list[tuple[str, float]]:
        """The nearest of a small partition, by comparing all of its vectors."""
        with self._engine.lock:
            whole = self._engine.nearby.whole(group)
            if whole is not None:
                return whole.nearest(wanted, limit)
            ids = list(room.index.in_partition(group[1], group[2]))
        name = room.names.get(Shelf(group[0], group[2]))
        rows: dict[str, tuple[Any, Any]] = {} if name is None else self._engine.chroma().get(name, ids, vectors=True)
        directions = {id_: unit(vector) for id_, (_, vector) in rows.items()}
        whole = Vectors(len(wanted))
        with self._engine.lock:
            waiting = self._engine.nearby.waiting(group)
            members = room.index.in_partition(group[1], group[2])
            for id_ in members:
                direction = None if waiting is None else waiting.get(id_)
                direction = direction or directions.get(id_)
                if direction is not None and len(direction) == whole.dimension:
                    whole.add(id_, direction)
            if len(whole) == len(members):
                self._engine.nearby.hold(group, whole)
            return whole.nearest(wanted, limit)

    def _asked(self, room: Room, group: Group, wanted: array[float], limit: int) -> list[tuple[str, float]]:
        """The nearest of a large partition, by Chroma's index over the whole collection, widened once."""
        shelf = Shelf(group[0], group[2])
        with self._engine.lock:
            members = room.index.in_partition(group[1], group[2])
            total, share = room.index.vectors(group[2]), len(members)
            waiting = self._engine.nearby.waiting(group)
            found = {} if waiting is None else dict(waiting.nearest(wanted, limit))
        name = room.names.get(shelf)
        if name is not None and room.dimensions.get(shelf, len(wanted)) == len(wanted):
            # Removed and replaced records may still be in Chroma's index for a moment: ask for a few more.
            first = limit + 20 if share == total else 50 + 2 * limit
            for ask in (first, _WIDENED):
                asked = self._engine.chroma().nearest(name, wanted, ask)
                with self._engine.lock:
                    mine = {
                        id_: cosine for id_, cosine in asked
                        if (id_ in members or not (self._engine.alone or id_ in room.index))
                        and (waiting is None or id_ not in waiting)
                    }
                if len(mine) >= limit or len(asked) < ask:
                    break
            found.update(mine)
        nearest = sorted(found.items(), key=lambda pair: -pair[1])
        return nearest[:limit] if self._engine.alone else nearest[:limit + 50]
