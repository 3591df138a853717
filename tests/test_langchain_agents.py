"""Agents and graphs over the wrapper: the second run costs no call and looks just like the first."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_fakes import USAGE, Chat, StreamingChat, marker, memory, wrapped
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from openai_stub import Server, calls, says
from pydantic import BaseModel

from langchain_stepcache import LangChainStepCache, StepCacheChatModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:langchain_core._api.deprecation.LangChainPendingDeprecationWarning")


@tool
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"{city}: 21 degrees"


@tool
def convert(celsius: float) -> str:
    """Turn degrees Celsius into Fahrenheit."""
    return f"{celsius * 9 / 5 + 32:g} F"


def two_tools(messages: list[BaseMessage]) -> AIMessage:
    """A model that looks up the weather, converts it, and answers; its call ids differ each time it is asked."""
    done = [message for message in messages if isinstance(message, ToolMessage)]
    two_tools.made += 1  # type: ignore[attr-defined]
    number = two_tools.made  # type: ignore[attr-defined]
    if not done:
        return AIMessage("", usage_metadata=dict(USAGE), tool_calls=[
            {"name": "weather", "args": {"city": "Graz"}, "id": f"call-{number}", "type": "tool_call"}])
    if len(done) == 1:
        return AIMessage("", usage_metadata=dict(USAGE), tool_calls=[
            {"name": "convert", "args": {"celsius": 21}, "id": f"call-{number}", "type": "tool_call"}])
    return AIMessage(f"It is {done[-1].text} in Graz.", usage_metadata=dict(USAGE))


two_tools.made = 0  # type: ignore[attr-defined]
ASKED = {"messages": [("human", "How warm is it in Graz, in Fahrenheit?")]}


def shape(messages: list[BaseMessage]) -> list[Any]:
    return [(message.type, message.text, [(c["name"], c["args"]) for c in getattr(message, "tool_calls", [])])
            for message in messages]


def assert_paired(messages: list[BaseMessage]) -> None:
    """Every call has its one result, under its id."""
    made = [call["id"] for message in messages for call in getattr(message, "tool_calls", [])]
    answered = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
    assert made == answered
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("kind", [Chat, StreamingChat])
def test_the_second_run_of_an_agent_calls_no_model(kind: type[Chat]) -> None:
    inner = kind(script=[two_tools])
    agent = create_agent(wrapped(inner), tools=[weather, convert])
    with get_usage_metadata_callback():
        first, second = agent.invoke(ASKED)["messages"], agent.invoke(ASKED)["messages"]
    assert inner.count == 3
    assert shape(first) == shape(second)
    assert first[-1].text == "It is 69.8 F in Graz."
    assert {message.id for message in first}.isdisjoint(message.id for message in second)
    for messages in (first, second):
        assert_paired(messages)
    assert all(marker(message)["exact"] for message in second if isinstance(message, AIMessage))


async def test_streamed_and_async_runs_share_what_the_first_recorded() -> None:
    inner = StreamingChat(script=[two_tools])
    agent = create_agent(wrapped(inner), tools=[weather, convert])
    first = (await agent.ainvoke(ASKED))["messages"]
    texts: list[str] = []
    async for message, _ in agent.astream(ASKED, stream_mode="messages"):
        if message.type in {"AIMessageChunk", "ai"}:
            texts.append(message.text)
    assert "".join(texts) == first[-1].text
    updates = [update async for update in agent.astream(ASKED, stream_mode="updates")]
    assert [name for update in updates for name in update] == ["model", "tools", "model", "tools", "model"]
    events = [event["event"] async for event in agent.astream_events(ASKED, version="v2")]
    assert events.count("on_chat_model_start") == events.count("on_chat_model_end") == 3
    assert inner.count == 3


def test_every_token_streams_once_fresh_and_on_a_hit() -> None:
    inner = StreamingChat(script=["Rain on the roof, a drum of glass."])
    agent = create_agent(wrapped(inner), tools=[])
    for _ in range(2):
        shown = [message for message, _ in agent.stream({"messages": [("human", "A line on rain")]},
                                                         stream_mode="messages")]
        assert "".join(message.text for message in shown) == "Rain on the roof, a drum of glass."
        assert len([message for message in shown if message.text]) > 1
    assert inner.count == 1


def _thread(model: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda state: {"messages": [model.invoke(state["messages"][-1:])]})
    graph.add_edge(START, "answer")
    return graph.compile(checkpointer=InMemorySaver())


def test_the_same_turn_twice_in_one_thread_is_four_messages() -> None:
    inner = Chat(script=["hello"])
    graph = _thread(wrapped(inner))
    config = {"configurable": {"thread_id": "1"}}
    for _ in range(2):
        state = graph.invoke({"messages": [HumanMessage("hi")]}, config)
    assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]
    assert inner.count == 1


def test_the_same_turn_twice_under_the_hook_is_four_messages_and_both_stream() -> None:
    from langchain_core.globals import set_llm_cache

    inner = StreamingChat(script=["hello you there"])
    set_llm_cache(LangChainStepCache(memory()))
    try:
        graph = _thread(inner)
        config = {"configurable": {"thread_id": "1"}}
        for _ in range(2):
            shown = list(graph.stream({"messages": [HumanMessage("hi")]}, config, stream_mode="messages"))
            assert "".join(message.text for message, _ in shown) == "hello you there"
        state = graph.get_state(config).values["messages"]
    finally:
        set_llm_cache(None)
    assert [message.type for message in state] == ["human", "ai", "human", "ai"]
    assert inner.count == 1


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


def filling(body: dict[str, Any]) -> dict[str, Any]:
    form = body.get("response_format")
    if form:
        return says(json.dumps({"city": "Graz", "degrees": 21}))
    tools = {each["function"]["name"] for each in body.get("tools") or ()}
    if "weather" in tools and body["messages"][-1]["role"] != "tool":
        return calls(("weather", {"city": "Graz"}))
    return calls(("Weather", {"city": "Graz", "degrees": 21}))


@pytest.mark.parametrize("tools", [[], [weather]], ids=["alone", "with a tool"])
def test_an_agent_with_a_response_format_gives_the_object_twice(tools: list[Any]) -> None:
    server = Server(filling)
    agent = create_agent(StepCacheChatModel(model=server.model(), cache=memory()), tools=tools, response_format=Weather)
    made = [agent.invoke({"messages": [("human", "The weather in Graz, please")]}) for _ in range(2)]
    calls_of_first_run = server.count // 1
    assert [each["structured_response"] for each in made] == [Weather(city="Graz", degrees=21)] * 2
    assert calls_of_first_run == len(tools) + 1
    for each in made:
        assert_paired(each["messages"])


def test_an_agent_with_a_response_format_works_for_a_model_without_a_name() -> None:
    inner = Chat(script=[AIMessage("", tool_calls=[
        {"name": "Weather", "args": {"city": "Graz", "degrees": 21}, "id": "1", "type": "tool_call"}])])
    agent = create_agent(wrapped(inner), tools=[], response_format=Weather)
    for _ in range(2):
        state = agent.invoke({"messages": [("human", "The weather in Graz, please")]})
        assert state["structured_response"] == Weather(city="Graz", degrees=21)
    assert inner.count == 1


def test_calls_in_other_words_are_reused_only_where_they_verify() -> None:
    def answer(messages: list[BaseMessage]) -> AIMessage:
        city = "Linz" if "Linz" in messages[-1].text else "Graz"
        return AIMessage("", tool_calls=[{"name": "weather", "args": {"city": city}, "id": "1", "type": "tool_call"}])

    inner = Chat(script=[answer])
    model = wrapped(inner).bind_tools([weather])
    model.invoke("Tell me the weather in Graz.")
    reused = model.invoke("Please tell me the weather in Graz.")
    assert marker(reused)["outcome"] == "reuse"
    assert reused.tool_calls[0]["args"] == {"city": "Graz"}
    assert inner.count == 1
    assert model.invoke("Tell me the weather in Linz.").tool_calls[0]["args"] == {"city": "Linz"}


def test_words_under_free_tools_are_repeated_exactly_or_not_at_all() -> None:
    inner = Chat(script=["Which city do you mean?"])
    model = wrapped(inner).bind_tools([weather])
    assert model.invoke("Tell me the weather.").text == model.invoke("Tell me the weather.").text
    assert inner.count == 1
    model.invoke("Please tell me the weather.")
    assert inner.count == 2


def test_an_equation_before_tools_is_not_forced_into_words() -> None:
    inner = Chat(script=[two_tools])
    model = wrapped(inner).bind_tools([weather])
    assert model.invoke("Solve 2x + 3 = 13 for x.").tool_calls
    assert inner.count == 1
