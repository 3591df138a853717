"""What LangChain builds around a chat model works around the wrapper as it does around the model in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableBranch, RunnableLambda, RunnableParallel
from langchain_fakes import USAGE, Chat, StreamingChat, marker, memory, wrapped

from langchain_stepcache import StepCacheChatModel

LINE = "Rain on the roof, a drum of glass."


async def events_of(model: Any, asked: Any) -> list[tuple[str, Any, str]]:
    return [(event["event"], event["name"], _text(event["data"].get("chunk", "")))
            async for event in model.astream_events(asked, version="v2")]


def _text(chunk: Any) -> str:
    return chunk if isinstance(chunk, str) else str(chunk.text)


def told(events: list[tuple[str, Any, str]]) -> tuple[list[str], str]:
    """The kinds of events in order, those of a stream as one, and the text they carried."""
    kinds = [kind for kind, _, _ in events]
    return list(dict.fromkeys(kinds)), "".join(text for _, _, text in events)


async def test_events_of_a_stream_are_those_of_the_model_in_it_fresh_and_on_a_hit() -> None:
    bare = await events_of(StreamingChat(script=[LINE]), "A line on rain")
    inner = StreamingChat(script=[LINE])
    model = wrapped(inner)
    for _ in range(2):
        events = await events_of(model, "A line on rain")
        assert told(events) == told(bare)
        assert sum(kind == "on_chat_model_stream" for kind, _, _ in events) > 2
    assert inner.count == 1


async def test_events_of_a_chain_name_each_part_once() -> None:
    inner = StreamingChat(script=[LINE])
    chain = ChatPromptTemplate.from_messages([("human", "{ask}")]) | wrapped(inner) | StrOutputParser()
    for _ in range(2):
        events = await events_of(chain.with_config(run_name="line"), {"ask": "A line on rain"})
        kinds = [kind for kind, _, _ in events]
        assert kinds.count("on_chat_model_start") == kinds.count("on_chat_model_end") == 1
        assert "".join(text for kind, name, text in events if (kind, name) == ("on_chain_stream", "line")) == LINE
    assert inner.count == 1


def test_branches_of_a_map_and_items_of_a_batch_that_ask_the_same_share_one_call() -> None:
    inner = Chat(script=["one"])
    model = wrapped(inner)
    made = RunnableParallel(a=model, b=model, c=model | StrOutputParser()).invoke("the same")
    assert (made["a"].text, made["b"].text, made["c"]) == ("one", "one", "one")
    assert made["a"].id != made["b"].id
    assert inner.count == 1
    assert [message.text for message in model.batch(["q1", "q1", "q2", "q1"])] == ["one"] * 4
    assert sorted(i for i, _ in model.batch_as_completed(["q1", "q3", "q3"])) == [0, 1, 2]
    assert inner.count == 4


def test_one_item_of_a_batch_may_fail_alone() -> None:
    inner = Chat(script=[lambda messages: LookupError("no") if messages[-1].text == "bad" else "fine"])
    made = wrapped(inner).batch(["good", "bad", "better"], return_exceptions=True)
    assert [type(each) for each in made] == [AIMessage, LookupError, AIMessage]


def test_a_fallback_answers_for_a_failing_model_and_each_keeps_its_own() -> None:
    class Other(Chat):
        pass

    first, second = Chat(script=[ConnectionError("down"), "up again"]), Other(script=["instead"])
    cache = memory()
    model = StepCacheChatModel(model=first, cache=cache).with_fallbacks([StepCacheChatModel(model=second, cache=cache)])
    assert model.invoke("hi").text == "instead"
    assert model.invoke("hi").text == "up again"  # nothing was recorded of the failed call
    assert [chunk.text for chunk in model.stream("hi") if chunk.text] == ["up ", "again"]
    assert (first.count, second.count) == (2, 1)


def test_stop_words_bound_to_it_reach_the_model_and_count() -> None:
    inner = Chat(script=["a b c"])
    model = wrapped(inner)
    outcomes = [marker(each.invoke("Go"))["outcome"]
                for each in (model.bind(stop=["b"]), model.bind(stop=["b"]), model, model.bind(stop=["c"]))]
    assert outcomes == ["miss", "reuse", "miss", "miss"]
    assert [options["stop"] for options in inner.options] == [["b"], None, ["c"]]


def test_tags_names_and_metadata_of_a_call_do_not_count() -> None:
    inner = Chat(script=["fine"])
    model = wrapped(inner)
    for config in ({"tags": ["a"]}, {"metadata": {"user": "b"}}, {"run_name": "c"}, {"max_concurrency": 2}):
        assert model.with_config(config).invoke("hi").text == "fine"
    assert inner.count == 1


def artifacts(kept: Any, mark: str) -> list[Any]:
    call = {"name": "look", "args": {}, "id": mark, "type": "tool_call"}
    seen = ToolMessage("a cat", tool_call_id=mark, artifact=kept)
    return [HumanMessage("Look"), AIMessage("", tool_calls=[call]), seen]


def test_an_artifact_of_a_tool_is_no_part_of_the_request() -> None:
    """A model is never shown it."""
    inner = Chat(script=["A cat."])
    model = wrapped(inner)
    assert [model.invoke(artifacts(kept, mark)).text for kept, mark in ((object(), "1"), ({"a": 1}, "2"))] == [
        "A cat.", "A cat."]
    assert inner.count == 1


def test_a_trimmed_history_is_what_was_asked() -> None:
    inner = Chat(script=["first", "second"])
    model = wrapped(inner)
    chain = trim_messages(max_tokens=2, strategy="last", token_counter=len, include_system=True) | model
    old, other = (
        [SystemMessage("Be kind"), HumanMessage(text), AIMessage("b"), HumanMessage("c")] for text in ("a", "z"))
    assert [chain.invoke(each).text for each in (old, other)] == ["first", "first"]  # the turns that differ are cut
    assert model.invoke(old).text == "second"


def test_fields_and_alternatives_chosen_at_run_time() -> None:
    class Warm(Chat):
        temperature: float = 0.0

    def answering(text: str) -> StepCacheChatModel:
        return StepCacheChatModel(model=Warm(script=[text]), cache=cache)

    cache = memory()
    which = ConfigurableField(id="which")
    model = answering("one").configurable_alternatives(which, default_key="a", b=answering("two"))
    assert [model.with_config(configurable={"which": chosen}).invoke(chosen).text for chosen in ("a", "b", "a")] == [
        "one", "two", "one"]
    swapped = answering("three").configurable_fields(llm=ConfigurableField(id="llm"))
    assert swapped.invoke("x").text == "three"
    assert swapped.with_config(configurable={"llm": Chat(script=["four"])}).invoke("x").text == "four"


def test_branches_and_functions_around_it() -> None:
    inner = Chat(script=["fine"])
    model = wrapped(inner)
    chain = RunnableBranch((lambda text: text.startswith("long"), model), RunnableLambda(lambda text: "short"))
    said: Callable[[str], Any] = chain.invoke
    assert [getattr(said(text), "text", said(text)) for text in ("long one", "x", "long one")] == [
        "fine", "short", "fine"]
    assert inner.count == 1


@pytest.mark.parametrize("kind", [Chat, StreamingChat])
async def test_usage_told_to_a_callback_is_the_same_in_all_ways_of_calling(kind: type[Chat]) -> None:
    from langchain_core.callbacks import get_usage_metadata_callback

    reply = AIMessage(LINE, usage_metadata=dict(USAGE), response_metadata={"model_name": "m-1"})
    model = wrapped(kind(script=[reply]))
    with get_usage_metadata_callback() as counted:
        model.invoke("A line")
        for _ in range(2):
            await model.ainvoke("A line")
            model.batch(["A line", "A line"])
            list(model.stream("A line"))
    assert {name: each["total_tokens"] for name, each in counted.usage_metadata.items()} == {
        "m-1": USAGE["total_tokens"]}
