"""How often which size came up. A value: bounds fixed once, counts that can be added and written to a file."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stepcache.errors import ConfigurationError

__all__ = ["SECONDS", "TOKENS", "Histogram"]


def _series(first: int, last: int) -> tuple[float, ...]:
    """1, 2, 5, 10, ... from one power of ten to another."""
    return tuple(float(f"{digit}e{power}") for power in range(first, last) for digit in (1, 2, 5))


SECONDS = _series(-5, 3)  # 10 µs to 500 s
TOKENS = (0.0, *_series(0, 6))  # 0 to 500,000


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts by size: `counts[i]` values were at most `bounds[i]` (and above the bound before), the last ones larger.

    Bounds rise; there is one count more than bounds; `total` is the sum of all values, in their own unit. `+` adds two
    of the same bounds. Raises `ConfigurationError` when the lengths don't fit or two histograms of other bounds are
    added.
    """

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float = 0.0

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.bounds) + 1 or list(self.bounds) != sorted(set(self.bounds)):
            raise ConfigurationError("a Histogram takes rising bounds and one count more than bounds")

    @classmethod
    def of(cls, values: Iterable[float], bounds: tuple[float, ...] = SECONDS) -> Histogram:
        """Count values."""
        counts, total = [0] * (len(bounds) + 1), 0.0
        for value in values:
            counts[bisect_left(bounds, value)] += 1
            total += value
        return cls(bounds, tuple(counts), total)

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """The mean of all values, exactly; None where there are none."""
        return self.total / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """The bound below which this share (0 to 1) of the values lies; infinity above the last, None without any.

        Raises `ConfigurationError` for a share out of range.
        """
        if not 0 <= share <= 1:
            raise ConfigurationError(f"a quantile takes a share between 0 and 1, not {share!r}")
        wanted, seen = share * self.count, 0
        for bound, count in zip((*self.bounds, math.inf), self.counts, strict=True):
            seen += count
            if count and seen >= wanted:
                return bound
        return None

    def __repr__(self) -> str:
        return f"Histogram(count={self.count}, mean={self.mean}, half below {self.quantile(0.5)})"

    def __add__(self, other: Histogram) -> Histogram:
        if not isinstance(other, Histogram):
            return NotImplemented
        if self.bounds != other.bounds:
            raise ConfigurationError("two histograms can be added only if their bounds are the same")
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return Histogram(self.bounds, counts, self.total + other.total)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Histogram:
        """The histogram whose fields these are, as `dataclasses.asdict` wrote them."""
        return cls(tuple(map(float, values["bounds"])), tuple(map(int, values["counts"])), float(values["total"]))
