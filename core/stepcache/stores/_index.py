"""What a store must know of one namespace without reading entries: order of use, templates, partitions, blocks.

Plain bookkeeping in memory, one `Index` per namespace so that nothing can cross a wall. The owner holds the lock.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from stepcache._data import Entry

__all__ = ["Index", "Place", "place_of"]

_Name = TypeVar("_Name")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one entry belongs. `fingerprint` is empty for an entry without a vector."""

    partition: str
    template: str
    fingerprint: str
    created_at: float
    expires_at: float | None
    size: int
    parts: int = 1


def place_of(entry: Entry, has_vector: bool, size: int, parts: int = 1) -> Place:
    return Place(
        partition=entry.partition,
        template=entry.template,
        fingerprint=entry.fingerprint if has_vector else "",
        created_at=entry.created_at,
        expires_at=entry.expires_at,
        size=size,
        parts=parts,
    )


class Index:
    """Keys of one namespace, least recently used first."""

    def __init__(self) -> None:
        self.places: OrderedDict[str, Place] = OrderedDict()
        self.size = 0
        self.blocks: dict[str, set[str]] = {}
        self._templates: dict[str, dict[str, None]] = {}
        self._partitions: dict[tuple[str, str], dict[str, None]] = {}
        self._spaces: dict[str, int] = {}
        self._expiries: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, key: str) -> bool:
        return key in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def add(self, key: str, place: Place) -> None:
        """Record or replace a key; it becomes the newest of its template and the most recently used."""
        self.remove(key)
        self.places[key] = place
        self.size += place.size
        if place.template:
            self._templates.setdefault(place.template, {})[key] = None
        if place.fingerprint:
            self._partitions.setdefault((place.partition, place.fingerprint), {})[key] = None
            self._spaces[place.fingerprint] = self._spaces.get(place.fingerprint, 0) + 1
        if place.expires_at is not None:
            heapq.heappush(self._expiries, (place.expires_at, key))
            if len(self._expiries) > 64 + 4 * len(self.places):  # refreshed entries leave old times behind
                self._expiries = [(p.expires_at, k) for k, p in self.places.items() if p.expires_at is not None]
                heapq.heapify(self._expiries)

    def remove(self, key: str) -> Place | None:
        place = self.places.pop(key, None)
        if place is None:
            return None
        self.size -= place.size
        _drop(self._templates, place.template, key)
        if place.fingerprint:
            _drop(self._partitions, (place.partition, place.fingerprint), key)
            self._spaces[place.fingerprint] -= 1
        return place

    def touch(self, key: str) -> None:
        """Mark as used just now."""
        if key in self.places:
            self.places.move_to_end(key)

    def oldest(self) -> str | None:
        """The least recently used key."""
        return next(iter(self.places), None)

    def expired(self, now: float) -> list[str]:
        """Take out the list of keys whose time has come by `now`; the caller removes them."""
        keys = []
        while self._expiries and self._expiries[0][0] <= now:
            _, key = heapq.heappop(self._expiries)
            place = self.places.get(key)
            if place is not None and place.expires_at is not None and place.expires_at <= now:
                keys.append(key)
        return keys

    def by_template(self, template: str, limit: int) -> list[str]:
        """The latest keys under a template key, newest first."""
        keys = self._templates.get(template, {})
        return [key for key, _ in zip(reversed(keys), range(max(0, limit)), strict=False)]

    def in_partition(self, partition: str, fingerprint: str) -> dict[str, None]:
        """The keys of one partition and vector space (not to be changed)."""
        return self._partitions.get((partition, fingerprint), {})

    def vectors(self, fingerprint: str) -> int:
        """How many entries of the namespace have a vector of this space."""
        return self._spaces.get(fingerprint, 0)


def _drop(groups: dict[_Name, dict[str, None]], name: _Name, key: str) -> None:
    group = groups.get(name)
    if group is not None:
        group.pop(key, None)
        if not group:
            del groups[name]
