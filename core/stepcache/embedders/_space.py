"""A name for a vector space that changes with the model or its weights, and with nothing else."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Sequence

__all__ = ["PROBE", "QueryEmbedder", "first_axis", "mean_direction", "space_name"]

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


class QueryEmbedder:
    """An embedder out of a framework's own way of embedding a query, which is first called when something is embedded.

    `of` is the framework's object, `model` names its vector space beside its class. Vectors are brought to unit
    length; an empty text stands for itself alone.
    """

    def __init__(self, of: object, model: str, query: Callable[[str], Sequence[float]]) -> None:
        self.name = model
        self._kind = f"{type(of).__module__}.{type(of).__qualname__}"
        self._query = query
        self._probe: tuple[float, ...] | None = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Class, model name and the vector of a fixed sentence: other weights make another space."""
        return space_name(self._kind, self.name, self._probed())

    def embed(self, text: str) -> tuple[float, ...]:
        """The vector of one request's text."""
        if not text.strip():
            return first_axis(len(self._probed()))
        vector = self._query(text)
        length = math.sqrt(math.fsum(value * value for value in vector))
        return tuple(value / length for value in vector) if length > 0 else tuple(map(float, vector))

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """As `embed`, text by text: some embeddings treat queries and documents differently, and these are queries."""
        return [self.embed(text) for text in texts]

    def _probed(self) -> tuple[float, ...]:
        with self._lock:
            if self._probe is None:
                self._probe = self.embed(PROBE)
            return self._probe
