"""StepCache for LlamaIndex: the place of its LLM wrapper."""

try:
    import llama_index.core  # noqa: F401
except ImportError as error:
    raise ImportError("llamaindex_stepcache needs llama-index-core: pip install 'stepcache[llamaindex]'") from error

__all__: list[str] = []
