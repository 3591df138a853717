"""Any LlamaIndex `BaseEmbedding` as the embedder of a step cache."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from llama_index.core.base.embeddings.base import BaseEmbedding

from stepcache.embedders._space import PROBE, space_name
from stepcache.errors import ConfigurationError

__all__ = ["LlamaIndexEmbedder"]


class LlamaIndexEmbedder:
    """`StepCache(store, embedder=LlamaIndexEmbedder(Settings.embed_model))`.

    The embedding is first called when something is embedded. Raises `ConfigurationError` for anything but a
    LlamaIndex embedding.
    """

    def __init__(self, embedding: BaseEmbedding) -> None:
        if not isinstance(embedding, BaseEmbedding):
            raise ConfigurationError(f"LlamaIndexEmbedder takes a LlamaIndex embedding, not {embedding!r}")
        self.embedding = embedding
        self._fingerprint: str | None = None
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Class, model name and the vector of a fixed sentence: other weights make another space."""
        with self._lock:
            if self._fingerprint is None:
                kind = type(self.embedding)
                self._fingerprint = space_name(f"{kind.__module__}.{kind.__qualname__}", self.embedding.model_name,
                                               self.embed(PROBE))
            return self._fingerprint

    def embed(self, text: str) -> tuple[float, ...]:
        """The vector of one request's text."""
        return tuple(self.embedding.get_query_embedding(text))

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """As `embed`, text by text: some embeddings treat queries and documents differently, and these are queries."""
        return [self.embed(text) for text in texts]

    def __repr__(self) -> str:
        return f"LlamaIndexEmbedder({type(self.embedding).__name__})"
