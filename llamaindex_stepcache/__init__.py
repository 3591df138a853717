"""StepCache for LlamaIndex: a wrapper for any LLM, and any embedding as the cache's embedder."""

try:
    import llama_index.core  # noqa: F401
except ImportError as error:
    raise ImportError("llamaindex_stepcache needs llama-index-core: pip install 'stepcache[llamaindex]'") from error

from llamaindex_stepcache.embedder import LlamaIndexEmbedder
from llamaindex_stepcache.llm import StepCacheLLM

__all__ = ["LlamaIndexEmbedder", "StepCacheLLM"]
