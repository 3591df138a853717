"""Around a real model served by llama.cpp: `STEPCACHE_GGUF=path pytest -m e2e`.

LangChain's integration suite runs three times: around the model alone, which shows what it can't do itself, around the
wrapper, and around the wrapper served from what that pass recorded. What is marked xfail fails in all three.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, wrap_model_call
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatResult
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests
from pydantic import BaseModel

from langchain_stepcache import StepCacheChatModel
from stepcache import StepCache
from stepcache.demo.serve import serve
from stepcache.stores.memory import MemoryStore

pytestmark = [pytest.mark.e2e, *(pytest.mark.filterwarnings(f"ignore:{text}") for text in (
    "Received a Pydantic BaseModel V1 schema", "Cannot use method='json_schema'", ".*stream_events.*", ".*is in beta.*",
    "Pydantic serializer warnings",
)), *(pytest.mark.filterwarnings(f"ignore::{kind}") for kind in (  # the suite never closes a model's clients
    "ResourceWarning", "pytest.PytestUnraisableExceptionWarning",
))]

ENDPOINT: dict[str, Any] = {}
SHARED = StepCache(MemoryStore())


@pytest.fixture(scope="module", autouse=True)
def _server() -> Iterator[None]:
    path = os.environ.get("STEPCACHE_GGUF")
    assert path, "set STEPCACHE_GGUF to the path of a GGUF model file"
    with serve(Path(path)) as endpoint:
        ENDPOINT.update(base_url=endpoint.base_url, model=endpoint.model)
        yield


def settings(options: dict[str, Any]) -> dict[str, Any]:
    # A client of its own: those that ChatOpenAI shares belong to the event loop of the first test.
    return {"api_key": "none", "temperature": 0, "seed": 1, "stream_usage": True, **options,
            "max_tokens": 800, "timeout": 600, "max_retries": 0, "http_async_client": httpx.AsyncClient(timeout=600),
            "extra_body": {"cache_prompt": False},  # the same request, the same reply
            **ENDPOINT}


def served(**options: Any) -> ChatOpenAI:
    return ChatOpenAI(**settings(options))


class Wrapped(StepCacheChatModel):
    """The wrapper with a constructor of the kind the suite calls."""

    def __init__(self, **options: Any) -> None:
        if "llm" in options:
            super().__init__(**options)
        else:
            super().__init__(llm=served(**options), cache=SHARED)


class OfASmallModel:
    """What the wrapped model can do.

    Coder models of half a billion parameters write a tool call as text, not in their template's form, so llama.cpp
    reports none unless a tool is forced; images, sound and documents they don't read at all.
    """

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return Wrapped

    @property
    def has_tool_calling(self) -> bool:
        return False

    @property
    def has_tool_choice(self) -> bool:
        return False

    @property
    def has_structured_output(self) -> bool:
        return True

    @property
    def supports_json_mode(self) -> bool:
        return True

    @pytest.mark.xfail(reason="ChatOpenAI sends a v1 class as a tool, and this model writes tool calls as text",
                       strict=True)
    def test_structured_output_pydantic_2_v1(self, model: BaseChatModel) -> None:
        super().test_structured_output_pydantic_2_v1(model)  # type: ignore[misc]


class Plain(ChatOpenAI):
    """The model without the wrapper, with a constructor of the kind the suite calls."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**settings(options))


class TestPlain(OfASmallModel, ChatModelIntegrationTests):
    """What the wrapped model does by itself."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return Plain


class TestFresh(OfASmallModel, ChatModelIntegrationTests):
    pass


class TestServed(OfASmallModel, ChatModelIntegrationTests):
    """The same requests again."""


class Town(BaseModel):
    name: str
    country: str


class TownWithRiver(Town):
    river: str


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"{city}: 21 degrees"


def test_one_more_field_is_one_small_call() -> None:
    model = StepCacheChatModel(model=served(), cache=StepCache(MemoryStore()))
    asked = "Describe the town of Graz in Austria, on the river Mur."
    first = model.with_structured_output(Town, include_raw=True).invoke(asked)
    grown = model.with_structured_output(TownWithRiver, include_raw=True).invoke(asked)
    assert isinstance(first["parsed"], Town)
    assert isinstance(grown["parsed"], TownWithRiver)
    assert grown["parsed"].name == first["parsed"].name
    assert grown["raw"].response_metadata["stepcache"]["source"] == "patch"
    assert grown["raw"].usage_metadata["output_tokens"] < first["raw"].usage_metadata["output_tokens"] + 10
    again = model.with_structured_output(TownWithRiver, include_raw=True).invoke(asked)
    assert again["parsed"] == grown["parsed"]
    assert again["raw"].usage_metadata["total_tokens"] == 0


@tool
def convert(celsius: float) -> str:
    """Turn degrees Celsius into Fahrenheit."""
    return f"{celsius * 9 / 5 + 32:g} F"


class Calling(ChatOpenAI):
    """Takes the tool call that a small coder model writes as text, one JSON object a line, for what it is."""

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        result = super()._generate(messages, stop, run_manager, **kwargs)
        wanted = kwargs.get("tool_choice")
        for generation in result.generations if isinstance(wanted, dict) else ():
            written = [json.loads(line) for line in generation.message.text.splitlines() if line.startswith("{")]
            calls = [tool_call(name=one["name"], args=one["arguments"], id=f"call-{uuid4().hex}")
                     for one in written if one["name"] == wanted["function"]["name"]]
            generation.message = generation.message.model_copy(update={"content": "", "tool_calls": calls[-1:]})
        return result


@wrap_model_call
def one_tool_after_the_other(request: ModelRequest, handler: Any) -> Any:
    """Have the model call each tool in turn, then answer: small models don't choose a tool by themselves.

    The arguments and the answer are the model's own.
    """
    done = sum(isinstance(message, ToolMessage) for message in request.messages)
    if done == len(request.tools):
        return handler(request.override(tools=[]))
    name = request.tools[done].name
    return handler(request.override(tool_choice={"type": "function", "function": {"name": name}}))


def test_an_agent_with_two_tools_run_twice_calls_the_model_in_the_first_run_only() -> None:
    cache = StepCache(MemoryStore())
    model = StepCacheChatModel(model=Calling(**settings({})), cache=cache)
    agent = create_agent(model, tools=[weather, convert], middleware=[one_tool_after_the_other])
    asked = {"messages": [("human", "How warm is it in Graz, in Fahrenheit?")]}
    first = agent.invoke(asked)["messages"]
    calls = cache.stats().calls
    second = agent.invoke(asked)["messages"]
    assert calls == 3
    assert cache.stats().calls == calls
    assert [message.type for message in first] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert [(m.type, m.text) for m in first] == [(m.type, m.text) for m in second]
    assert [call["name"] for m in first if isinstance(m, AIMessage) for call in m.tool_calls] == ["weather", "convert"]
    assert "graz" in first[2].text.lower()
    assert {m.id for m in first}.isdisjoint(m.id for m in second)
    for messages in (first, second):
        made = [call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
        assert made == [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
        assert len(set(made)) == len(made)


def test_an_agent_that_chooses_freely_run_twice_calls_the_model_in_the_first_run_only() -> None:
    cache = StepCache(MemoryStore())
    model = StepCacheChatModel(model=served(), cache=cache)
    agent = create_agent(model, tools=[weather, convert])
    asked = {"messages": [("human", "How is the weather in Graz?")]}
    first = agent.invoke(asked)["messages"]
    calls = cache.stats().calls
    second = agent.invoke(asked)["messages"]
    assert calls >= 1
    assert cache.stats().calls == calls
    assert [(m.type, m.text) for m in first] == [(m.type, m.text) for m in second]
    assert {m.id for m in first}.isdisjoint(m.id for m in second)


def test_an_equation_is_solved_once_and_rewritten_for_another_constant() -> None:
    model = StepCacheChatModel(model=served(), cache=StepCache(MemoryStore()))
    asked = "Solve 2x + 3 = {} for x. Answer in at most three short numbered steps, then end with x = <value>."
    fresh = model.invoke(asked.format(13))
    assert fresh.text.rstrip().endswith("x = 5")
    other = model.invoke(asked.format(15))
    assert other.text.rstrip().endswith("x = 6")
