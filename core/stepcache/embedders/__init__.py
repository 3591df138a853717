"""Text to vectors. An embedder is imported when its name is first used, and its model loaded when first asked.

LangChain's and LlamaIndex's embeddings come in through `langchain_stepcache` and `llamaindex_stepcache`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepcache.embedders.onnx import OnnxEmbedder
    from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
    from stepcache.embedders.static import StaticEmbedder

__all__ = ["OnnxEmbedder", "SentenceTransformerEmbedder", "StaticEmbedder"]

_HOMES = {"OnnxEmbedder": "onnx", "SentenceTransformerEmbedder": "sentence_transformers", "StaticEmbedder": "static"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
