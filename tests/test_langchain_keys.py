"""What makes two calls of a LangChain model the same request, and what keeps them apart."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import numpy
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langchain_fakes import Chat, marker, memory, wrapped
from pydantic import BaseModel

from langchain_stepcache import StepCacheChatModel
from stepcache._identity import identity_of_options
from stepcache._stable import Unstable, canonical_json

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def numbered() -> Chat:
    """A model whose every answer is another one."""
    count = itertools.count(1)
    return Chat(script=[lambda messages: f"answer {next(count)}"])


@tool
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


@tool
def delete_all() -> str:
    """Delete everything."""
    return "gone"


def calling(name: str, call_id: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id, "type": "tool_call"}])


def same(model: Runnable[Any, Any], first: Any, second: Any, **options: Any) -> bool:
    return bool(model.invoke(first, **options).content == model.invoke(second, **options).content)


@pytest.mark.parametrize(("one", "other"), [
    ({"max_tokens": 2}, {"max_tokens": 200}),
    ({"model": "small"}, {"model": "large"}),
    ({"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
    ({"top_k": 1}, {"top_k": 40}),
    ({"stop": ["\n"]}, {}),
    ({"n": 2}, {}),
    ({"an_option_nobody_knows": 1}, {"an_option_nobody_knows": 2}),
    ({"response_format": {"type": "json_object"}}, {}),
    ({"logit_bias": {"50256": -100}}, {"logit_bias": {"50256": 100}}),
], ids=lambda options: "+".join(options) or "none")
def test_an_option_of_one_call_is_part_of_the_request(one: dict[str, Any], other: dict[str, Any]) -> None:
    model = wrapped(numbered())
    texts = [model.invoke("Name a tree", **options).text for options in (one, other, one, other)]
    assert texts[0] != texts[1]
    assert texts[:2] == texts[2:]


@pytest.mark.parametrize(
    "option", [{"stream": False}, {"stream_usage": True}, {"timeout": 5}, {"max_retries": 3}], ids=str)
def test_how_a_reply_travels_is_not_part_of_the_request(option: dict[str, Any]) -> None:
    model = wrapped(numbered())
    assert model.invoke("Name a tree").text == model.invoke("Name a tree", **option).text


def test_the_order_of_options_and_dictionary_keys_does_not_count_but_that_of_lists_does() -> None:
    one = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {
        "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}}
    other = {"function": {"parameters": {"properties": {"b": {"type": "integer"}, "a": {"type": "integer"}},
                                         "type": "object"}, "description": "d", "name": "f"}, "type": "function"}
    second = {"type": "function", "function": {"name": "g", "description": "d", "parameters": {"type": "object"}}}
    model = wrapped(numbered())
    first = model.bind(tools=[one], seed=1, top_p=0.5).invoke("Go").text
    assert model.bind(top_p=0.5, seed=1, tools=[other]).invoke("Go").text == first
    pair = model.bind(tools=[one, second]).invoke("Go").text
    assert model.bind(tools=[second, one]).invoke("Go").text not in {first, pair}


def test_a_field_changed_after_the_first_call_counts() -> None:
    class Tuned(Chat):
        temp: float = 0.0

    inner = Tuned(script=["red", "blue"])
    model = wrapped(inner)
    assert model.invoke("Pick a colour").text == "red"
    inner.temp = 1.3
    assert model.invoke("Pick a colour").text == "blue"
    inner.temp = 0.0
    assert model.invoke("Pick a colour").text == "red"


def test_a_serialisable_model_is_not_taken_at_its_first_word() -> None:
    class Partner(Chat):
        seed: int = 0

        @classmethod
        def is_lc_serializable(cls) -> bool:
            return True

    inner = Partner(script=["red", "blue"])
    model = wrapped(inner)
    assert model.invoke("Pick a colour").text == "red"
    inner.seed = 7
    assert model.invoke("Pick a colour").text == "blue"


def test_an_option_without_a_text_form_is_never_matched_and_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    class Thing:
        pass

    model = wrapped(numbered())
    with caplog.at_level(logging.WARNING, "stepcache"):
        texts = [model.invoke("hi", a_hook_of_this_test=Thing()).text for _ in range(3)]
    assert len(set(texts)) == 3
    assert [record.getMessage().count("a_hook_of_this_test") for record in caplog.records] == [1]
    assert model.step_cache.store.count() == 0


def test_binary_options_count_with_type_and_shape() -> None:
    assert canonical_json(numpy.uint8([200])) != canonical_json(numpy.int8([-56]))
    assert canonical_json(numpy.zeros((2, 3))) != canonical_json(numpy.zeros((3, 2)))
    assert canonical_json(b"a") != canonical_json("a")
    with pytest.raises(Unstable):
        canonical_json(object())


def test_whole_and_fractional_writing_of_a_number_is_one_identity() -> None:
    assert identity_of_options({"temperature": 0}).model == identity_of_options({"temperature": 0.0}).model


def test_ids_usage_metadata_and_our_marker_in_the_history_do_not_count() -> None:
    def history(mark: str) -> list[Any]:
        call = calling("add", f"call-{mark}", a=1, b=2)
        call.id, call.response_metadata = f"m-{mark}", {"id": f"r-{mark}", "stepcache": {"calls": len(mark)}}
        call.usage_metadata = {"input_tokens": len(mark), "output_tokens": 1, "total_tokens": 1 + len(mark)}
        return [HumanMessage("What is 1 + 2?", id=f"h-{mark}"), call,
                ToolMessage("3", tool_call_id=f"call-{mark}", id=f"t-{mark}")]

    assert same(wrapped(numbered()), history("one"), history("another"))


def test_the_shape_of_text_content_does_not_count() -> None:
    oak = AIMessage([{"type": "text", "text": "Oak", "index": 0}])
    blocks = [HumanMessage("Name a tree"), oak, HumanMessage("Why?")]
    plain = [HumanMessage([{"type": "text", "text": "Name a tree"}]), AIMessage("Oak"), HumanMessage("Why?")]
    assert same(wrapped(numbered()), blocks, plain)


@pytest.mark.parametrize(("one", "other"), [
    ([HumanMessage("a"), AIMessage("b"), HumanMessage("c")], [HumanMessage("b"), AIMessage("a"), HumanMessage("c")]),
    ([SystemMessage("Be brief"), HumanMessage("Hi")], [SystemMessage("Be rude"), HumanMessage("Hi")]),
    ([SystemMessage("Hi")], [HumanMessage("Hi")]),
    ([HumanMessage("Hi", name="bob")], [HumanMessage("Hi", name="eve")]),
    ([HumanMessage("Go"), calling("create_user", "1"), ToolMessage("ok", tool_call_id="1")],
     [HumanMessage("Go"), calling("delete_user", "1"), ToolMessage("ok", tool_call_id="1")]),
    ([HumanMessage("Go"), calling("f", "1"), ToolMessage("ok", tool_call_id="1", status="error")],
     [HumanMessage("Go"), calling("f", "1"), ToolMessage("ok", tool_call_id="1")]),
    ([HumanMessage("Go"), AIMessage("", tool_calls=[*calling("f", "1").tool_calls, *calling("g", "2").tool_calls]),
      ToolMessage("ok", tool_call_id="1")],
     [HumanMessage("Go"), AIMessage("", tool_calls=[*calling("f", "1").tool_calls, *calling("g", "2").tool_calls]),
      ToolMessage("ok", tool_call_id="2")]),
], ids=["order", "system", "role", "name", "call", "status", "which call"])
def test_what_stands_around_the_prompt_counts(one: list[Any], other: list[Any]) -> None:
    assert not same(wrapped(numbered()), one, other)


def test_a_follow_up_question_is_asked_about_its_own_conversation() -> None:
    model = wrapped(numbered())
    emma = [HumanMessage("Who wrote Emma?"), AIMessage("Jane Austen"), HumanMessage("When was she born?")]
    dracula = [HumanMessage("Who wrote Dracula?"), AIMessage("Bram Stoker"), HumanMessage("When was she born?")]
    assert not same(model, emma, dracula)
    assert not same(model, emma, [HumanMessage("When was she born?")])


def test_tools_and_schemas_count() -> None:
    class Colour(BaseModel):
        name: str

    class Shade(BaseModel):
        name: str
        depth: int

    model = wrapped(numbered())
    assert model.bind_tools([add]).invoke("Go").text != model.bind_tools([add, delete_all]).invoke("Go").text
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    asked = [HumanMessage([{"type": "text", "text": "Which colour?"}, image])]
    reply = Chat(script=['{"name": "red"}', '{"name": "red", "depth": 3}'])
    seeing = wrapped(reply)
    assert seeing.bind(response_format=Colour).invoke(asked).additional_kwargs["parsed"] == {"name": "red"}
    assert seeing.bind(response_format=Shade).invoke(asked).additional_kwargs["parsed"] == {"name": "red", "depth": 3}


def test_an_image_counts_by_its_content() -> None:
    def asked(data: str, text: str = "What is this?") -> list[Any]:
        return [HumanMessage([{"type": "text", "text": text},
                              {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}])]

    model = wrapped(numbered())
    assert same(model, asked(PIXEL), asked(PIXEL))
    assert not same(model, asked(PIXEL), asked("AAAA"))
    assert not same(model, asked(PIXEL), asked(PIXEL, "What is that?"))


def test_an_image_behind_a_url_is_looked_at_each_time() -> None:
    inner = numbered()
    model = wrapped(inner)
    asked = [HumanMessage([{"type": "text", "text": "What is this?"},
                           {"type": "image_url", "image_url": {"url": "https://example.org/now.png"}}])]
    assert not same(model, asked, asked)
    assert model.step_cache.store.count() == 0


def test_two_models_share_a_store_without_sharing_replies() -> None:
    class Other(Chat):
        pass

    cache = memory()
    one = StepCacheChatModel(model=Chat(script=["one"]), cache=cache)
    two = StepCacheChatModel(model=Other(script=["two"]), cache=cache)
    assert (one.invoke("Hi").text, two.invoke("Hi").text, one.invoke("Hi").text) == ("one", "two", "one")


def test_deep_nesting_and_odd_text_cost_a_model_call_at_most() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    model = wrapped(Chat(script=["fine"]))
    assert model.invoke("Hi", deep_option=deep).text == "fine"
    for text in ("\ud800", "a\x00b", "[" * 100_000, "x" * 1_000_000):
        assert model.invoke(text).text == "fine"
        assert marker(model.invoke(text))["outcome"] in {"reuse", "miss"}
