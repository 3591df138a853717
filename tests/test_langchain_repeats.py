"""Exact repetition through LangChain without reading the call again: never another call's reply, always new objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.globals import set_llm_cache
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_fakes import Chat, memory, wrapped

from langchain_stepcache import LangChainStepCache
from langchain_stepcache._raw import raw_call
from stepcache import CacheControl, control

ASKED = [HumanMessage("Name a river.")]


@pytest.fixture(autouse=True)
def no_global_cache() -> Iterator[None]:
    yield
    set_llm_cache(None)


def through(way: str, model: Chat) -> Any:
    """The model behind `set_llm_cache`, or wrapped."""
    if way == "wrapper":
        return wrapped(model)
    set_llm_cache(LangChainStepCache(memory()))
    return model


def ids(messages: list[AIMessage]) -> list[str]:
    return [str(message.id) for message in messages]


@pytest.mark.parametrize("way", ["hook", "wrapper"])
def test_every_repetition_is_equal_and_a_new_object_that_may_be_changed(way: str) -> None:
    model = Chat(script=[AIMessage("The Ob.", response_metadata={"logprobs": [{"token": "The"}]})])
    asked = through(way, model)
    found = []
    for _ in range(5):
        message = asked.invoke(ASKED)
        found.append(message.model_copy(deep=True))
        message.content = "spoilt"
        message.response_metadata.get("logprobs", [{}])[0]["token"] = "spoilt"
        message.response_metadata["more"] = "spoilt"
    assert model.count == 1
    assert len(set(ids(found))) == 5
    assert None not in ids(found)
    second = found[1].model_dump(exclude={"id"})
    for again in found[2:]:
        assert again.model_dump(exclude={"id"}) == second
    assert second["content"] == "The Ob."


@pytest.mark.parametrize("way", ["hook", "wrapper"])
async def test_async_repetitions_come_by_the_same_way(way: str) -> None:
    model = Chat(script=["The Ob."])
    asked = through(way, model)
    found = [await asked.ainvoke(ASKED) for _ in range(4)]
    assert model.count == 1
    assert {message.content for message in found} == {"The Ob."}
    assert len(set(ids(found))) == 4


@pytest.mark.parametrize("way", ["hook", "wrapper"])
def test_calls_of_tools_get_new_ids_with_every_repetition(way: str) -> None:
    call = {"name": "look_up", "args": {"river": "Ob"}, "id": "call_1", "type": "tool_call"}
    model = Chat(script=[AIMessage("I will look.", tool_calls=[call])])
    asked = through(way, model)
    found = [asked.invoke(ASKED).tool_calls[0]["id"] for _ in range(5)]
    assert model.count == 1
    assert len(set(found)) == 5


@pytest.mark.parametrize("way", ["hook", "wrapper"])
def test_the_surrounding_control_holds_for_what_was_repeated_before(way: str) -> None:
    model = Chat(script=["The Ob.", "The Lena.", "The Yenisei.", "The Mackenzie."])
    asked = through(way, model)
    for _ in range(4):
        assert asked.invoke(ASKED).content == "The Ob."
    with control(namespace="other"):
        assert asked.invoke(ASKED).content == "The Lena."
        assert asked.invoke(ASKED).content == "The Lena."
    with control(no_cache=True, no_store=True):
        assert asked.invoke(ASKED).content == "The Yenisei."
    assert asked.invoke(ASKED).content == "The Ob."


def test_a_changed_model_is_another_model() -> None:
    class Tuned(Chat):
        temperature: float = 0.0

    model = Tuned(script=["cold", "warm"])
    asked = wrapped(model)

    def settled() -> str:
        return {str(asked.invoke(ASKED).content) for _ in range(4)}.pop()

    assert settled() == "cold"
    model.temperature = 0.5
    assert settled() == "warm"
    model.temperature = 0.0
    assert settled() == "cold"


def test_the_wrapper_forgets_with_its_cache() -> None:
    model = Chat(script=["The Ob.", "The Lena."])
    asked = wrapped(model)
    for _ in range(4):
        asked.invoke(ASKED)
    asked.step_cache.clear()
    assert asked.invoke(ASKED).content == "The Lena."


def test_the_hook_forgets_with_its_cache_and_with_time() -> None:
    cache = LangChainStepCache(memory())
    set_llm_cache(cache)
    model = Chat(script=["The Ob.", "The Lena."])
    for _ in range(4):
        model.invoke(ASKED)
    cache.clear()
    assert model.invoke(ASKED).content == "The Lena."


TEXTS = st.sampled_from(["a", "b", "ab", ""])
MESSAGES = st.one_of(
    st.builds(HumanMessage, TEXTS), st.builds(SystemMessage, TEXTS), st.builds(AIMessage, TEXTS),
    st.builds(HumanMessage, TEXTS, name=st.sampled_from([None, "ann"])),
    st.builds(AIMessage, TEXTS, additional_kwargs=st.sampled_from([{}, {"a": 1}])),
    st.builds(ToolMessage, TEXTS, tool_call_id=st.just("1")),
    st.builds(HumanMessage, st.lists(st.builds(lambda text: {"type": "text", "text": text}, TEXTS), max_size=2)),
)


@given(st.lists(MESSAGES, max_size=3), st.lists(MESSAGES, max_size=3))
@settings(max_examples=300, deadline=None)
def test_calls_with_equal_raw_values_make_the_same_request(one: list[AnyMessage], other: list[AnyMessage]) -> None:
    model = Chat(script=["x"])
    asked = wrapped(model)
    raw = raw_call(model, one)
    if raw is not None and raw == raw_call(model, other):
        requests = [asked._call(messages, None, None, {})[0].request for messages in (one, other)]
        assert requests[0].key == requests[1].key
        assert replace(requests[0], spec=None) == replace(requests[1], spec=None)


@pytest.mark.parametrize("spoil", [
    {"content": [{"type": "text", "text": "Name a river."}]}, {"name": "ann"}, {"additional_kwargs": {"a": 1}},
])
def test_what_is_more_than_plain_text_is_read(spoil: dict[str, Any]) -> None:
    assert raw_call(Chat(script=["x"]), [HumanMessage(**{"content": "Name a river.", **spoil})]) is None


class Holding(Chat):
    """Says of itself what it holds."""

    handle: Any = None

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"handle": self.handle}


def test_a_model_that_speaks_of_a_living_object_is_read() -> None:
    def raw(handle: Any) -> Any:
        return raw_call(Holding(script=["x"], handle=handle), ASKED)

    assert raw(None) is not None
    assert raw(object()) is None
    assert len({raw(handle) for handle in (None, 1, 1.0, True, "1")}) == 5
    assert raw([1]) != raw([True])
    held: list[int] = [1]
    model = Holding(script=["x"], handle=held)
    before = raw_call(model, ASKED)
    held.append(2)
    assert raw_call(model, ASKED) != before


def test_options_of_one_call_are_read() -> None:
    model = Chat(script=["The Ob.", "The Lena."])
    asked = wrapped(model)
    for _ in range(4):
        asked.invoke(ASKED)
    assert asked.invoke(ASKED, stop=["."]).content == "The Lena."
    assert asked.invoke(ASKED, stepcache=CacheControl(no_store=True)).content == "The Ob."
