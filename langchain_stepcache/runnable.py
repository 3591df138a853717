"""`with_stepcache`: models inside a chain are wrapped in place; a Runnable without one is wrapped as a whole."""

from __future__ import annotations

from os import PathLike
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.runnables import Runnable

from langchain_stepcache._graft import graft
from langchain_stepcache._whole import StepCacheRunnable
from langchain_stepcache.chat_model import StepCacheChatModel
from langchain_stepcache.text_llm import StepCacheTextLLM
from stepcache import StepCache
from stepcache.errors import ConfigurationError

__all__ = ["with_stepcache"]


def with_stepcache(
    runnable: Runnable[Any, Any], cache: StepCache | str | PathLike[str], *, name: str | None = None,
) -> Runnable[Any, Any]:
    """Return a Runnable that does the same and asks the step cache before it asks a model.

    In `prompt | model | parser` the model is wrapped where it stands, so a parser runs on the cached reply and gives
    its usual object. A Runnable in which no model can be seen (a function, an agent) is wrapped as a whole: its
    output is cached where it is text or a message, else it passes through, with one warning. What such a Runnable
    answers is kept apart from every other's; `name` makes it the same one again in the next process.

    Raises `ConfigurationError` for anything but a Runnable and a cache.
    """
    if not isinstance(runnable, Runnable):
        raise ConfigurationError(f"with_stepcache takes a LangChain Runnable, not {runnable!r}")
    opened = StepCache.of(cache)
    found = False

    def wrapped(part: Runnable[Any, Any]) -> Runnable[Any, Any] | None:
        nonlocal found
        if isinstance(part, StepCacheChatModel | StepCacheTextLLM):
            found = True
            return part
        if isinstance(part, BaseChatModel):
            found = True
            return StepCacheChatModel(model=part, cache=opened)
        if isinstance(part, BaseLLM):
            found = True
            return StepCacheTextLLM(llm=part, cache=opened)
        return None

    grafted: Runnable[Any, Any] = graft(runnable, wrapped)
    return grafted if found else StepCacheRunnable(runnable, opened, name=name)
