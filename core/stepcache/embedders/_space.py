"""A name for a vector space that changes with the model or its weights, and with nothing else."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

__all__ = ["PROBE", "first_axis", "mean_direction", "space_name"]

PROBE = "The quick cache keeps seven verified steps for a careful reader."
_COMPONENTS = 32
_GRID = 0.02


def space_name(kind: str, model: str, probe: Sequence[float]) -> str:
    """Class, model, dimension and a digest of the vector of `PROBE`.

    The vector is read on a coarse grid and in a few components only: threads and processors change its last digits,
    and a digest of those would make every restart another world.
    """
    marks = ",".join(str(math.floor(value / _GRID + 0.5)) for value in probe[:_COMPONENTS])
    digest = hashlib.sha256(f"{kind}|{model}|{len(probe)}|{marks}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kind}:{model}:{len(probe)}:{digest[:16]}"


def mean_direction(vectors: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The unit vector of the mean; all zeros where the mean has no direction."""
    if len(vectors) == 1:
        return tuple(vectors[0])
    sums = [math.fsum(column) for column in zip(*vectors, strict=True)]
    length = math.sqrt(math.fsum(value * value for value in sums))
    return tuple(value / length for value in sums) if length > 0 else tuple(0.0 for _ in sums)


def first_axis(dimension: int) -> tuple[float, ...]:
    """What stands for an empty text: a direction, as every vector must have one, that no sentence comes near."""
    return (1.0, *(0.0 for _ in range(dimension - 1)))
