"""Pickling a wrapper without its open cache: the copy opens the same folder, or a new cache in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepcache import Policy, StepCache
from stepcache.stores.memory import MemoryStore

__all__ = ["Address", "state_to_pickle"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a cache is and what it may do; its embedder and tasks are the default ones again."""

    path: str
    policy: Policy

    def open(self) -> StepCache:
        return StepCache.open(self.path, policy=self.policy)


def state_to_pickle(state: dict[Any, Any]) -> dict[Any, Any]:
    """A pydantic model's state with the address of its cache in the place of the cache."""
    fields = {**state["__dict__"], "step_cache": _address_of(state["__dict__"]["step_cache"])}
    private = {key: value for key, value in (state.get("__pydantic_private__") or {}).items() if key != "_open"}
    return {**state, "__dict__": fields, "__pydantic_private__": private}


def _address_of(cache: Any) -> Any:
    """A folder's name stays as it is; a cache on a server has no address and stays, too."""
    if not isinstance(cache, StepCache):
        return cache
    path = ":memory:" if isinstance(cache.store, MemoryStore) else getattr(cache.store, "_path", None)
    return cache if path is None else Address(path, cache.policy)
