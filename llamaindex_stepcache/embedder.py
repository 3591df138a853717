"""Any LlamaIndex `BaseEmbedding` as the embedder of a step cache."""

from __future__ import annotations

from llama_index.core.base.embeddings.base import BaseEmbedding

from stepcache.embedders._space import QueryEmbedder
from stepcache.errors import ConfigurationError

__all__ = ["LlamaIndexEmbedder"]


class LlamaIndexEmbedder(QueryEmbedder):
    """`StepCache(store, embedder=LlamaIndexEmbedder(Settings.embed_model))`.

    Vectors are brought to unit length. The embedding is first called when something is embedded. Raises
    `ConfigurationError` for anything but a LlamaIndex embedding.
    """

    def __init__(self, embedding: BaseEmbedding) -> None:
        if not isinstance(embedding, BaseEmbedding):
            raise ConfigurationError(f"LlamaIndexEmbedder takes a LlamaIndex embedding, not {embedding!r}")
        self.embedding = embedding
        super().__init__(embedding, embedding.model_name, embedding.get_query_embedding)

    def __repr__(self) -> str:
        return f"LlamaIndexEmbedder({type(self.embedding).__name__})"
