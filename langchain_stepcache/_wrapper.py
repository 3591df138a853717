"""What both wrappers of a model have in common: its attributes, its token counts, copies and pickles of it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models.base import LangSmithParams

from langchain_stepcache._demand import STRUCTURED
from stepcache import Policy, StepCache
from stepcache._asked import CONTROL
from stepcache.stores.memory import MemoryStore

__all__ = ["Wrapper", "theirs", "with_cache"]

_OURS = frozenset({CONTROL, STRUCTURED})


@dataclass(frozen=True, slots=True)
class _Address:
    """Where a cache is and what it may do; its embedder and tasks are the default ones again."""

    path: str
    policy: Policy

    def open(self) -> StepCache:
        return StepCache.open(self.path, policy=self.policy)


class Wrapper:
    """Beside a LangChain model class: what is left to the wrapped model, found in `llm`.

    Pickled, it takes along its folder's name and policy in the place of the open cache, and opens the folder again;
    with a cache in memory it starts with an empty one.
    """

    def _settle(self: Any, *names: str) -> None:
        """Open the cache, and take over from the wrapped model what LangChain reads around its raw calls."""
        self._open = StepCache.of(self.step_cache)
        for name in ("callbacks", "tags", "custom_get_token_ids", "name", *names):
            if name not in self.model_fields_set and getattr(self.llm, name, None) is not None:
                setattr(self, name, getattr(self.llm, name))
        self.metadata = {**(self.llm.metadata or {}), **(self.metadata or {})} or None

    @property
    def _llm_type(self: Any) -> str:
        kind: str = self.llm._llm_type
        return kind

    @property
    def _identifying_params(self: Any) -> dict[str, Any]:
        return dict(self.llm._identifying_params)

    def _get_ls_params(self: Any, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        told: LangSmithParams = self.llm._get_ls_params(stop=stop, **theirs(kwargs))
        return told

    def get_token_ids(self: Any, text: str) -> list[int]:
        ids: list[int] = self.llm.get_token_ids(text)
        return ids

    def get_num_tokens(self: Any, text: str) -> int:
        count: int = self.llm.get_num_tokens(text)
        return count

    def __getattr__(self, name: str) -> Any:
        """Read what this class doesn't have from the wrapped model (`model_name`, `temperature`)."""
        try:
            return super().__getattr__(name)  # type: ignore[misc]  # pydantic's, for private attributes
        except AttributeError:
            inner = self.__dict__.get("llm")
            if inner is None or name.startswith("_"):
                raise
            return getattr(inner, name)

    def __getstate__(self) -> dict[Any, Any]:
        state: Any = super().__getstate__()
        fields = {**state["__dict__"], "step_cache": _address_of(state["__dict__"]["step_cache"])}
        private = {key: value for key, value in (state.get("__pydantic_private__") or {}).items() if key != "_open"}
        return {**state, "__dict__": fields, "__pydantic_private__": private}

    def __setstate__(self: Any, state: dict[Any, Any]) -> None:
        super().__setstate__(state)  # type: ignore[misc]  # pydantic's
        if isinstance(self.step_cache, _Address):
            self.step_cache = self.step_cache.open()
        self._open = StepCache.of(self.step_cache)

    def __deepcopy__(self: Any, memo: dict[int, Any] | None = None) -> Any:
        return self.model_copy(update={"llm": deepcopy(self.llm, memo)})


def with_cache(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A wrapper's fields with its cache apart from LangChain's own `cache` field.

    That one stays off: a global cache would be a second layer around this one.
    """
    given = fields.get("cache", False)
    return {**fields, "cache": False, **({} if given is False else {"step_cache": given})}


def theirs(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """A call's options without those that are ours."""
    return {key: value for key, value in kwargs.items() if key not in _OURS}


def _address_of(cache: Any) -> Any:
    """A folder's name stays as it is; a cache on a server has no address and stays, too."""
    if not isinstance(cache, StepCache):
        return cache
    path = ":memory:" if isinstance(cache.store, MemoryStore) else getattr(cache.store, "_path", None)
    return cache if path is None else _Address(path, cache.policy)
