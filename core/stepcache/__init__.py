"""StepCache: a cache for LLM apps that reuses verified steps of earlier replies (arXiv 2603.28795)."""

from stepcache._cache import StepCache
from stepcache._control import control
from stepcache._data import CacheControl, Completion, Request, Result, Step, Usage, Verdict
from stepcache._gate import gate
from stepcache._policy import Policy
from stepcache._stats import Stats
from stepcache.errors import ConfigurationError, EmbeddingError, StepCacheError, StoreError
from stepcache.tasks._spec import Spec

__all__ = [
    "CacheControl",
    "Completion",
    "ConfigurationError",
    "EmbeddingError",
    "Policy",
    "Request",
    "Result",
    "Spec",
    "Stats",
    "Step",
    "StepCache",
    "StepCacheError",
    "StoreError",
    "Usage",
    "Verdict",
    "control",
    "gate",
]
