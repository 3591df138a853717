"""Exact nearest neighbours over vectors held in memory."""

from __future__ import annotations

import math
from array import array
from collections.abc import Container, Sequence
from typing import Any

__all__ = ["Vectors", "unit"]

_FEW = 16  # rows


def unit(vector: Sequence[float] | None) -> array[float] | None:
    """The vector at length 1 in 32-bit floats; None for what has no direction (empty, zero, NaN, infinite)."""
    if vector is None:
        return None
    try:
        floats = array("f", vector)
        length = math.hypot(*floats)
    except (TypeError, ValueError, OverflowError):
        return None
    if not math.isfinite(length) or length == 0.0:
        return None
    if abs(length - 1.0) < 1e-6:
        return floats
    return array("f", [value / length for value in floats])


class Vectors:
    """Unit vectors of one dimension by key, in the rows of one table. The caller holds the lock."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._keys: list[str] = []
        self._rows: dict[str, int] = {}
        self._table: Any = None  # numpy's: its large tables lie in large pages, which halves the time of reading them

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def get(self, key: str) -> array[float] | None:
        row = self._rows.get(key)
        return None if row is None else array("f", self._table[row].tobytes())

    def add(self, key: str, vector: array[float]) -> None:
        """Put or replace; a vector of another dimension is refused with ValueError."""
        if len(vector) != self.dimension:
            raise ValueError(f"vector of {len(vector)} dimensions among vectors of {self.dimension}")
        row = self._rows.get(key)
        if row is None:
            row = len(self._keys)
            self._resize(row + 1)
            self._rows[key] = row
            self._keys.append(key)
        self._table[row] = vector

    def remove(self, key: str) -> None:
        row = self._rows.pop(key, None)
        if row is None:
            return
        last = self._keys.pop()
        if last != key:  # the last row fills the gap
            self._table[row] = self._table[len(self._keys)]
            self._keys[row] = last
            self._rows[last] = row
        self._resize(len(self._keys))

    def _resize(self, rows: int) -> None:
        """Have room for so many rows, and not for many more."""
        import numpy  # takes a tenth of a second, so not before there is a vector

        room = 0 if self._table is None else len(self._table)
        if rows > room or 4 * max(rows, _FEW) < room:
            table = numpy.empty((max(rows + rows // 2, _FEW), self.dimension), dtype=numpy.float32)
            if self._table is not None:
                kept = min(rows, room)
                table[:kept] = self._table[:kept]
            self._table = table

    def nearest(
        self, vector: array[float], limit: int, among: Container[str] | None = None
    ) -> list[tuple[str, float]]:
        """The `limit` nearest keys with their cosine, nearest first; none for a vector of another dimension."""
        if len(vector) != self.dimension or not self._keys or limit <= 0:
            return []
        similarities = self._table[:len(self._keys)] @ vector
        found: list[tuple[str, float]] = []
        for row in _largest(similarities, limit if among is None else len(self._keys)):
            key = self._keys[row]
            if among is None or key in among:
                found.append((key, max(-1.0, min(1.0, float(similarities[row])))))
                if len(found) == limit:
                    break
        return found


def _largest(similarities: Any, limit: int) -> list[int]:
    """The rows with the largest similarities, largest first; of equal ones those put first."""
    import numpy

    if limit >= len(similarities):
        order: list[int] = numpy.argsort(-similarities, kind="stable").tolist()
        return order
    least = numpy.partition(similarities, -limit)[-limit]
    rows = numpy.flatnonzero(similarities >= least)
    best: list[int] = rows[numpy.argsort(-similarities[rows], kind="stable")][:limit].tolist()
    return best
