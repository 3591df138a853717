"""Exact hits through LangChain and LlamaIndex, in turn with the caches LangChain brings and with no cache at all."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.caches import BaseCache, InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from llama_index.core.llms import ChatMessage, MockLLM

from benchmarks.speed.timing import Taken, in_turn
from langchain_stepcache import LangChainStepCache, StepCacheChatModel
from llamaindex_stepcache import StepCacheLLM
from stepcache import StepCache

__all__ = ["PROMPTS", "langchain", "llamaindex"]

_ROUND = (HumanMessage("And which rivers run north, and how far do they come? " * 2),
          AIMessage("The Ob, the Yenisei and the Lena do; each comes more than 3,000 km. " * 2))
PROMPTS: dict[str, list[BaseMessage]] = {
    "a short prompt": [HumanMessage("What is the largest ocean?")],
    "a history of 2 kB": [SystemMessage("You are a helpful assistant."), *_ROUND * 8, HumanMessage("And mountains?")],
}


def langchain(seconds: float) -> tuple[dict[str, dict[str, Taken]], dict[str, str]]:
    """Milliseconds of `invoke` by prompt and by what stands behind it; and what could not be measured, with reasons."""
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place:
        caches: dict[str, BaseCache | None] = {
            "no cache": None,
            "InMemoryCache": InMemoryCache(),
            "LangChainStepCache, in memory": LangChainStepCache(StepCache.open(":memory:", embedder=None)),
            "LangChainStepCache, folder": LangChainStepCache(StepCache.open(Path(place) / "cache", embedder=None)),
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it says that it is looked after no more
                from langchain_community.cache import SQLiteCache
            caches["SQLiteCache"] = SQLiteCache(str(Path(place) / "langchain.db"))
        except ImportError as error:
            missing["SQLiteCache"] = f"{error}; pip install langchain-community"
        model = FakeListChatModel(responses=["The Pacific is the largest ocean."])
        wrapped = StepCacheChatModel(model=model, cache=StepCache.open(":memory:", embedder=None))
        taken = {}
        for name, messages in PROMPTS.items():
            calls = {about: _through(model, cache, messages) for about, cache in caches.items()}
            calls["StepCacheChatModel, in memory"] = _through(wrapped, None, messages)
            taken[name] = in_turn(calls, seconds)
        set_llm_cache(None)
        for each in caches.values():
            if isinstance(each, LangChainStepCache):
                each.step_cache.close()
    return taken, missing


def _through(model: Any, cache: BaseCache | None, messages: list[BaseMessage]) -> Callable[[int], Any]:
    def call(number: int) -> None:
        set_llm_cache(cache)
        model.invoke(messages)

    return call


def llamaindex(seconds: float) -> dict[str, Taken]:
    """Milliseconds of `chat` with a model that answers at once, and of a hit."""
    model = MockLLM()
    wrapped = StepCacheLLM(llm=model, cache=StepCache.open(":memory:", embedder=None))
    asked = [ChatMessage(role="user", content="What is the largest ocean?")]
    return in_turn({"no cache": lambda number: model.chat(asked), "StepCacheLLM": lambda number: wrapped.chat(asked)},
                   seconds)
