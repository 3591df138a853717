"""Any LangChain `Embeddings` as the embedder of a step cache."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

from stepcache.embedders._space import PROBE, space_name
from stepcache.errors import ConfigurationError

__all__ = ["LangChainEmbedder"]


class LangChainEmbedder:
    """`StepCache(store, embedder=LangChainEmbedder(OpenAIEmbeddings()))`.

    `name` tells vector spaces of one class apart where the embeddings carry no `model` or `model_name`. Vectors are
    brought to unit length; an empty text has no direction and matches nothing. The embedder is first called when
    something is embedded. Raises `ConfigurationError` for anything but LangChain embeddings.
    """

    def __init__(self, embeddings: Embeddings, *, name: str | None = None) -> None:
        if not isinstance(embeddings, Embeddings):
            raise ConfigurationError(f"LangChainEmbedder takes a LangChain Embeddings object, not {embeddings!r}")
        self.embeddings = embeddings
        self.name = name or next(
            (str(found) for key in ("model", "model_name", "deployment", "repo_id")
             if isinstance(found := getattr(embeddings, key, None), str) and found), "unnamed")
        self._fingerprint: str | None = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Class, model name and the vector of a fixed sentence: other weights make another space."""
        with self._lock:
            if self._fingerprint is None:
                kind = type(self.embeddings)
                self._fingerprint = space_name(f"{kind.__module__}.{kind.__qualname__}", self.name, self.embed(PROBE))
            return self._fingerprint

    def embed(self, text: str) -> tuple[float, ...]:
        """The vector of one request's text."""
        return _unit(self.embeddings.embed_query(text)) if text.strip() else (0.0,) * self._dimension()

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """As `embed`, text by text: some embeddings treat queries and documents differently, and these are queries."""
        return [self.embed(text) for text in texts]

    def _dimension(self) -> int:
        return len(self.embeddings.embed_query(PROBE))

    def __repr__(self) -> str:
        return f"LangChainEmbedder({type(self.embeddings).__name__}, name={self.name!r})"


def _unit(vector: Sequence[float]) -> tuple[float, ...]:
    length = math.sqrt(math.fsum(value * value for value in vector))
    return tuple(value / length for value in vector) if length > 0 else tuple(float(value) for value in vector)
