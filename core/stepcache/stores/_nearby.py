"""Vectors held in memory: those not yet written, and those of small partitions, which are compared one by one."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable

from stepcache.stores._vectors import Vectors

__all__ = ["EXACT_UP_TO", "Group", "Nearby"]

EXACT_UP_TO = 512  # members of a partition that are compared one by one
_EXACT_ROWS = 8192  # vectors held for that, over all partitions
_WAITING_ROWS = 20_000

Group = tuple[str, str, str]  # namespace, partition, fingerprint


class Nearby:
    """The caller holds the lock."""

    def __init__(self) -> None:
        self._waiting: dict[Group, Vectors] = {}
        self._whole: OrderedDict[Group, Vectors] = OrderedDict()
        self._waiting_rows = 0

    def waiting(self, group: Group) -> Vectors | None:
        """Vectors of a partition that Chroma may not have yet."""
        return self._waiting.get(group)

    def whole(self, group: Group) -> Vectors | None:
        """All vectors of a partition, if they are held."""
        found = self._whole.get(group)
        if found is not None:
            self._whole.move_to_end(group)
        return found

    def add(self, group: Group, id_: str, vector: array[float], members: int) -> None:
        """A vector that is about to be written; `members` counts the partition with it."""
        if self._waiting_rows < _WAITING_ROWS:
            waiting = self._waiting.setdefault(group, Vectors(len(vector)))
            before = len(waiting)
            _add(waiting, id_, vector)
            self._waiting_rows += len(waiting) - before
        if group not in self._whole and members == 1:
            self._whole[group] = Vectors(len(vector))
        whole = self._whole.get(group)
        if whole is not None:
            _add(whole, id_, vector)
            if len(whole) > EXACT_UP_TO:
                del self._whole[group]
            self._shrink()

    def hold(self, group: Group, whole: Vectors) -> None:
        """Keep a complete partition."""
        self._whole[group] = whole
        self._shrink()

    def written(self, group: Group, id_: str) -> None:
        """Chroma has it now."""
        waiting = self._waiting.get(group)
        if waiting is not None and id_ in waiting:
            waiting.remove(id_)
            self._waiting_rows -= 1
            if not len(waiting):
                del self._waiting[group]

    def remove(self, group: Group, id_: str) -> None:
        self.written(group, id_)
        whole = self._whole.get(group)
        if whole is not None:
            whole.remove(id_)
            if not len(whole):
                del self._whole[group]

    def clear(self, namespace: str) -> None:
        for group in _of(self._waiting, namespace):
            self._waiting_rows -= len(self._waiting.pop(group))
        for group in _of(self._whole, namespace):
            del self._whole[group]

    def _shrink(self) -> None:
        if len(self._whole) * EXACT_UP_TO <= _EXACT_ROWS:
            return
        rows = sum(map(len, self._whole.values()))
        while rows > _EXACT_ROWS and len(self._whole) > 1:
            rows -= len(self._whole.popitem(last=False)[1])


def _add(vectors: Vectors, id_: str, vector: array[float]) -> None:
    if vectors.dimension == len(vector):
        vectors.add(id_, vector)


def _of(groups: Iterable[Group], namespace: str) -> list[Group]:
    return [group for group in groups if group[0] == namespace]
