"""StepCache for LangChain: a cache for `set_llm_cache`, and wrappers for chat models, completion models and chains."""

try:
    import langchain_core  # noqa: F401
except ImportError as error:
    raise ImportError("langchain_stepcache needs langchain-core: pip install 'stepcache[langchain]'") from error

from langchain_stepcache.cache import LangChainStepCache
from langchain_stepcache.chat_model import StepCacheChatModel
from langchain_stepcache.embedder import LangChainEmbedder
from langchain_stepcache.runnable import with_stepcache
from langchain_stepcache.text_llm import StepCacheTextLLM

__all__ = ["LangChainEmbedder", "LangChainStepCache", "StepCacheChatModel", "StepCacheTextLLM", "with_stepcache"]
