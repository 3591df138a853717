"""Any LangChain `Embeddings` as the embedder of a step cache."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

from stepcache.embedders._space import QueryEmbedder
from stepcache.errors import ConfigurationError

__all__ = ["LangChainEmbedder"]


class LangChainEmbedder(QueryEmbedder):
    """`StepCache(store, embedder=LangChainEmbedder(OpenAIEmbeddings()))`.

    `name` tells vector spaces of one class apart where the embeddings carry no `model` or `model_name`. Vectors are
    brought to unit length. The embedder is first called when something is embedded. Raises `ConfigurationError` for
    anything but LangChain embeddings.
    """

    def __init__(self, embeddings: Embeddings, *, name: str | None = None) -> None:
        if not isinstance(embeddings, Embeddings):
            raise ConfigurationError(f"LangChainEmbedder takes a LangChain Embeddings object, not {embeddings!r}")
        self.embeddings = embeddings
        known = (getattr(embeddings, key, None) for key in ("model", "model_name", "deployment", "repo_id"))
        model = name or next((found for found in known if isinstance(found, str) and found), "unnamed")
        super().__init__(embeddings, model, embeddings.embed_query)

    def __repr__(self) -> str:
        return f"LangChainEmbedder({type(self.embeddings).__name__}, name={self.name!r})"
