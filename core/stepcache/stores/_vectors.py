"""Exact nearest neighbours over a few vectors held in memory. Uses numpy where it is installed."""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Container, Sequence
from operator import mul
from typing import Any

__all__ = ["Vectors", "unit"]


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
    """Unit vectors of one dimension by key, in one flat buffer. The caller holds the lock."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._keys: list[str] = []
        self._rows: dict[str, int] = {}
        self._flat: array[float] = array("f")

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def get(self, key: str) -> array[float] | None:
        row = self._rows.get(key)
        return None if row is None else self._flat[row * self.dimension:(row + 1) * self.dimension]

    def add(self, key: str, vector: array[float]) -> None:
        """Put or replace; a vector of another dimension is refused with ValueError."""
        if len(vector) != self.dimension:
            raise ValueError(f"vector of {len(vector)} dimensions among vectors of {self.dimension}")
        row = self._rows.get(key)
        if row is None:
            self._rows[key] = len(self._keys)
            self._keys.append(key)
            self._flat.extend(vector)
        else:
            self._flat[row * self.dimension:(row + 1) * self.dimension] = vector

    def remove(self, key: str) -> None:
        row = self._rows.pop(key, None)
        if row is None:
            return
        last = self._keys.pop()
        if last != key:  # the last row fills the gap
            start = (len(self._keys)) * self.dimension
            self._flat[row * self.dimension:(row + 1) * self.dimension] = self._flat[start:start + self.dimension]
            self._keys[row] = last
            self._rows[last] = row
        del self._flat[len(self._keys) * self.dimension:]

    def nearest(
        self, vector: array[float], limit: int, among: Container[str] | None = None
    ) -> list[tuple[str, float]]:
        """The `limit` nearest keys with their cosine, nearest first; none for a vector of another dimension."""
        if len(vector) != self.dimension or not self._keys or limit <= 0:
            return []
        similarities = _dot(self._flat, vector, len(self._keys))
        found: list[tuple[str, float]] = []
        for row in _largest(similarities, limit if among is None else len(self._keys)):
            key = self._keys[row]
            if among is None or key in among:
                found.append((key, max(-1.0, min(1.0, float(similarities[row])))))
                if len(found) == limit:
                    break
        return found


def _largest(similarities: Any, limit: int) -> Sequence[int]:
    """The rows with the largest similarities, largest first; of equal ones those put first."""
    if isinstance(similarities, list):
        return heapq.nlargest(limit, range(len(similarities)), key=similarities.__getitem__)
    import numpy

    if limit >= len(similarities):
        order: list[int] = numpy.argsort(-similarities, kind="stable").tolist()
        return order
    least = numpy.partition(similarities, -limit)[-limit]
    rows = numpy.flatnonzero(similarities >= least)
    best: list[int] = rows[numpy.argsort(-similarities[rows], kind="stable")][:limit].tolist()
    return best


def _dot(flat: array[float], vector: array[float], rows: int) -> Any:
    try:
        import numpy
    except ImportError:
        size = len(vector)
        return [math.fsum(map(mul, flat[row * size:(row + 1) * size], vector)) for row in range(rows)]
    matrix = numpy.frombuffer(flat, dtype=numpy.float32).reshape(rows, len(vector))
    return matrix @ numpy.frombuffer(vector, dtype=numpy.float32)
