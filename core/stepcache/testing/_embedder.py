"""A deterministic embedder without a model: hashed words and character n-grams."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Sequence

from stepcache.errors import ConfigurationError

__all__ = ["HashEmbedder"]

_WORD = re.compile(r"\w+")
_MAX_CHARS = 20_000  # what lies beyond adds time, not meaning


class HashEmbedder:
    """Embeds a text as the unit vector of its hashed words and character trigrams.

    The same text gives the same vector on every machine; texts that share words and word parts are near. For tests
    and for places where no model can be had: it knows nothing of meaning. `calls` counts the texts embedded.
    Raises `ConfigurationError` for a number of dimensions below 1.
    """

    def __init__(self, dimensions: int = 64) -> None:
        if type(dimensions) is not int or dimensions < 1:
            raise ConfigurationError(f"HashEmbedder takes a whole number of dimensions >= 1, not {dimensions!r}")
        self.dimensions = dimensions
        self.calls = 0

    def __repr__(self) -> str:
        return f"HashEmbedder(dimensions={self.dimensions})"

    @property
    def fingerprint(self) -> str:
        return f"hash-words-trigrams-{self.dimensions}"

    def embed(self, text: str) -> tuple[float, ...]:
        self.calls += 1
        values = [0.0] * self.dimensions
        folded = unicodedata.normalize("NFKC", text[:_MAX_CHARS]).casefold()
        for word in _WORD.findall(folded):
            self._add(values, "w" + word, 1.0)
            padded = f"<{word}>"
            for start in range(len(padded) - 2):
                self._add(values, "g" + padded[start:start + 3], 0.4)
        length = math.sqrt(math.fsum(value * value for value in values))
        if length == 0.0:  # no word at all: one fixed direction for texts of the same characters
            self._add(values, "t" + folded, 1.0)
            length = 1.0
        return tuple(value / length for value in values)

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return [self.embed(text) for text in texts]

    def _add(self, values: list[float], feature: str, weight: float) -> None:
        hashed = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(hashed, "little")
        values[(number >> 1) % self.dimensions] += weight if number & 1 else -weight
