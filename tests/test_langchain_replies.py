"""What a hit gives back: all of what was stored, in new objects, with the truth about how it came about."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, get_usage_metadata_callback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult, Generation
from langchain_fakes import USAGE, Chat, Text, marker, memory, wrapped

from langchain_stepcache import LangChainStepCache, StepCacheChatModel, StepCacheTextLLM
from langchain_stepcache._payload import chat_generations, generations_of, payload_of
from stepcache import CacheControl, Policy, StepCache, control
from stepcache.errors import ConfigurationError
from stepcache.stores.memory import MemoryStore

SOLVED = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n"
          "3. Divide both sides by 2: x = 5\n\nx = 5")


def call(name: str, known: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": known, "type": "tool_call"}


class Detailed(Chat):
    """Gives generation info and what a provider tells beside its candidates."""

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        result = super()._generate(messages, stop, run_manager, **kwargs)
        for generation in result.generations:
            generation.generation_info = {"logprobs": [-0.1, float("-inf")], "finish_reason": "stop"}
        result.llm_output = {"token_usage": {"prompt_tokens": 11, "completion_tokens": 7}, "model_name": "m-1"}
        return result


def test_tool_calls_come_back_all_in_order_with_new_ids() -> None:
    broken = {"name": "add", "args": "{", "id": "c3", "error": "cut", "type": "invalid_tool_call"}
    reply = AIMessage("", tool_calls=[call("add", "c1", a=3, b=5), call("add", "c2", a=12, b=3)],
                      invalid_tool_calls=[broken])
    inner = Chat(script=[reply])
    model = wrapped(inner).bind(tools=[{"type": "function", "function": {
        "name": "add", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}}}])
    first, again = model.invoke("Add them"), model.invoke("Add them")
    assert inner.count == 1
    assert [(c["name"], c["args"]) for c in again.tool_calls] == [("add", {"a": 3, "b": 5}), ("add", {"a": 12, "b": 3})]
    assert {c["id"] for c in again.tool_calls}.isdisjoint(c["id"] for c in first.tool_calls)
    assert again.content == ""
    assert again.invalid_tool_calls[0]["args"] == "{"


def test_ids_are_renewed_wherever_they_stand() -> None:
    blocks = [{"type": "text", "text": "Let me add."},
              {"type": "tool_use", "id": "c1", "name": "add", "input": {"id": "c1"}}]
    message = AIMessage(blocks, tool_calls=[call("add", "c1", id="c1")], additional_kwargs={
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]})
    (made,) = chat_generations(payload_of([ChatGeneration(message=message)])) or []
    known = made.message.tool_calls[0]["id"]
    assert known != "c1"
    assert made.message.content[1] == {"type": "tool_use", "id": known, "name": "add", "input": {"id": "c1"}}
    assert made.message.additional_kwargs["tool_calls"][0]["id"] == known
    assert made.message.tool_calls[0]["args"] == {"id": "c1"}


def test_everything_json_can_say_and_more_survives_the_round_trip() -> None:
    info = {"logprobs": [-0.1, float("-inf")], "when": datetime(2026, 1, 2, tzinfo=UTC), "raw": b"\x00\xff",
            "price": Decimal("0.10"), "pair": (1, 2), "$stepcache": "mine", "deep": {"$stepcache": {"is": 1}},
            "none": None, "id": 12345678901234567890123}
    message = AIMessage([{"type": "reasoning", "reasoning": "two and two"}, {"type": "text", "text": "4"}],
                        response_metadata=info, name="sage")
    generations = [ChatGeneration(message=message, generation_info=info), ChatGeneration(message=AIMessage("5"))]
    assert generations_of(payload_of(generations)) == generations
    texts = [Generation(text="4", generation_info=info), Generation(text="")]
    assert generations_of(payload_of(texts)) == texts


@pytest.mark.parametrize("payload", [
    None, [], "text", {"framework": "langchain"}, {"framework": "langchain", "version": 99, "generations": []},
    {"framework": "langchain", "version": 1, "generations": []},
    *({"framework": "langchain", "version": 1, "generations": [tampered]} for tampered in (
        {"kind": "pickle", "info": None}, {"kind": "chat", "info": None, "message": {"content": 3}},
        {"kind": "text", "text": "x", "info": {"$stepcache": "os"}},
        {"lc": 1, "type": "constructor", "id": ["os", "system"]})),
], ids=repr)
def test_a_record_of_another_layout_is_no_reply(payload: Any) -> None:
    assert generations_of(payload) is None


def test_reasoning_blocks_come_back_in_order_plain_and_streamed() -> None:
    blocks = [{"type": "reasoning", "reasoning": "two and two"}, {"type": "text", "text": "4"}]
    model = wrapped(Chat(script=[AIMessage(blocks)]))
    assert [model.invoke("What is two and two?").content for _ in range(2)] == [blocks, blocks]
    chunks = list(model.stream("What is two and two?"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    assert whole.content == blocks


def test_several_candidates_come_back_together() -> None:
    inner = Detailed(script=["a"])
    model = wrapped(inner)
    asked = [[HumanMessage("Name a tree")]]
    fresh, hit = (model.generate(asked, n=2).generations[0] for _ in range(2))
    assert inner.count == 1
    assert [each.text for each in hit] == [each.text for each in fresh] == ["a", "a1"]
    assert [each.generation_info for each in hit] == [each.generation_info for each in fresh]
    assert len(model.generate(asked, n=3).generations[0]) == 3


def test_generation_info_survives_a_restart_and_tokens_are_billed_once(tmp_path: Path) -> None:
    inner = Detailed(script=["four"])
    with StepCache.open(tmp_path, embedder=None, policy=Policy(cache_timeout=60)) as cache:
        fresh = StepCacheChatModel(model=inner, cache=cache).generate([[HumanMessage("Two and two?")]])
    with StepCache.open(tmp_path, embedder=None, policy=Policy(cache_timeout=60)) as cache:
        hit = StepCacheChatModel(model=inner, cache=cache).generate([[HumanMessage("Two and two?")]])
    assert inner.count == 1
    info = {"logprobs": [-0.1, float("-inf")], "finish_reason": "stop"}
    assert fresh.generations[0][0].generation_info == hit.generations[0][0].generation_info == info
    metadata = hit.generations[0][0].message.response_metadata
    assert metadata["model_name"] == "m-1"
    assert metadata["token_usage"] == {"prompt_tokens": 0, "completion_tokens": 0}


def test_log_probabilities_of_a_rewritten_reply_are_not_made_up() -> None:
    inner = Detailed(script=[SOLVED])
    model = wrapped(inner)
    model.invoke("Solve 2x + 3 = 13 for x.")
    rewritten = model.invoke("Solve 2x + 3 = 15 for x.")
    assert inner.count == 1
    assert rewritten.text.endswith("x = 6")
    assert rewritten.response_metadata["model_name"] == "m-1"
    assert "logprobs" not in rewritten.response_metadata


def test_changing_a_reply_changes_no_other() -> None:
    inner = Chat(script=[AIMessage("hello", additional_kwargs={"list": [1]}, tool_calls=[])])
    model = wrapped(inner)
    for _ in range(3):
        reply = model.invoke("hi")
        assert (reply.content, reply.additional_kwargs, reply.tool_calls) == ("hello", {"list": [1]}, [])
        reply.content = "changed"
        reply.additional_kwargs["list"].append(2)
        reply.tool_calls.append(call("f", "x"))
        reply.response_metadata["stepcache"]["calls"] = 99
    assert inner.count == 1


def test_every_reply_tells_how_it_came_about() -> None:
    inner = Chat(script=[SOLVED, "Berlin has a river."])
    model = wrapped(inner)
    keys = {"outcome", "source", "reason", "similarity", "exact", "key", "kept", "regenerated", "calls", "saved"}
    told = [marker(model.invoke(text)) for text in (
        "Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 13 for x.", "Please solve 2x + 3 = 13 for x.",
        "Solve 2x + 3 = 15 for x.")]
    assert all(keys <= one.keys() for one in told)
    assert [(one["outcome"], one["source"], one["calls"]) for one in told] == [
        ("miss", "model", 1), ("reuse", "cache", 0), ("reuse", "cache", 0), ("patch", "rewrite", 0)]
    assert told[1]["saved"] == USAGE["total_tokens"]
    assert told[1]["exact"]
    assert not told[2]["exact"]


def test_usage_is_whole_and_counts_what_was_billed() -> None:
    zero = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    model = wrapped(Chat(script=[SOLVED, "3. Divide both sides by 2: x = 6\n\nx = 6"]), policy=Policy(rewrite=False))
    assert model.invoke("Solve 2x + 3 = 13 for x.").usage_metadata == USAGE
    hit = model.invoke("Solve 2x + 3 = 13 for x.")
    assert hit.usage_metadata == zero
    assert AIMessage(**hit.model_dump()) == hit
    with get_usage_metadata_callback() as counted:
        model.invoke("Solve 2x + 3 = 13 for x.", response_metadata={"model_name": "m"})
    assert sum(sum(v for v in each.values() if isinstance(v, int)) for each in counted.usage_metadata.values()) == 0


def test_a_patch_bills_its_own_tokens_and_keeps_the_rest() -> None:
    inner = Chat(script=[SOLVED, "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"])
    model = wrapped(inner, policy=Policy(rewrite=False))
    model.invoke("Solve 2x + 3 = 13 for x.")
    patched = model.invoke("Solve 2x + 3 = 15 for x.")
    assert (marker(patched)["outcome"], marker(patched)["source"]) == ("patch", "patch")
    assert patched.usage_metadata == USAGE
    assert patched.text.startswith("1. Isolate the term with x.\n")
    assert "1. Isolate the term with x." in inner.asked[1][-1].text
    assert patched.response_metadata["finish_reason"] == "stop"


def test_a_system_prompt_stays_in_a_patch_call() -> None:
    inner = Chat(script=[SOLVED, "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"])
    model = wrapped(inner, policy=Policy(rewrite=False))
    model.invoke([("system", "You are a tutor."), ("human", "Solve 2x + 3 = 13 for x.")])
    model.invoke([("system", "You are a tutor."), ("human", "Solve 2x + 3 = 15 for x.")])
    assert inner.asked[1][0].text == "You are a tutor."


@pytest.mark.parametrize("system", [
    "Never give the answer away, only hints.", "Answer in JSON with the keys steps and answer.", "You are a pirate."])
def test_what_a_system_message_asks_for_is_not_overruled_by_the_prompts_words(system: str) -> None:
    inner = Chat(script=["What happens if you take 3 from both sides?"])
    model = wrapped(inner)
    asked = [("system", system), ("human", "Solve 2x + 3 = 13 for x.")]
    fresh, hit = model.invoke(asked), model.invoke(asked)
    assert fresh.text == hit.text == "What happens if you take 3 from both sides?"
    assert inner.count == 1
    assert marker(hit)["exact"]


def test_a_system_message_that_says_who_answers_leaves_the_task_what_it_is() -> None:
    inner = Chat(script=["x = 4", SOLVED])
    asked = [("system", "You are a helpful assistant."), ("human", "Solve 2x + 3 = 13 for x.")]
    assert wrapped(inner).invoke(asked).text == SOLVED
    assert inner.count == 2


def test_replies_under_any_system_message_are_rewritten_where_they_verify() -> None:
    inner = Chat(script=[SOLVED])
    model = wrapped(inner)
    for constant, value in ((13, 5), (15, 6)):
        asked = [("system", "Use at most five lines."), ("human", f"Solve 2x + 3 = {constant} for x.")]
        assert model.invoke(asked).text.endswith(f"x = {value}")
    assert inner.count == 1


def test_the_beginning_of_a_reply_is_continued_in_the_models_words() -> None:
    inner = Chat(script=[" of glass."])
    model = wrapped(inner)
    asked = [("human", "Solve 2x + 3 = 13 for x."), ("ai", "Rain is a drum")]
    assert [model.invoke(asked).text for _ in range(2)] == [" of glass."] * 2
    assert inner.count == 1


@pytest.mark.parametrize("reply", [
    AIMessage("half an ans", response_metadata={"finish_reason": "length"}),
    AIMessage("half an ans", response_metadata={"stop_reason": "max_tokens"}),
    AIMessage("half an ans", response_metadata={"finish_reason": "MAX_TOKENS"}),
    AIMessage("", response_metadata={"finish_reason": "content_filter"}),
    AIMessage("I can't", additional_kwargs={"refusal": "I can't help with that"}),
    AIMessage([{"type": "refusal", "refusal": "no"}]),
    AIMessage("", invalid_tool_calls=[
        {"name": "f", "args": "{", "id": "1", "error": None, "type": "invalid_tool_call"}]),
    AIMessage(""), AIMessage("   "),
], ids=["length", "max_tokens", "MAX_TOKENS", "filter", "refusal", "refusal block", "broken call", "empty", "blank"])
def test_a_reply_that_is_not_whole_is_given_but_not_kept(reply: AIMessage) -> None:
    inner = Chat(script=[reply])
    model = wrapped(inner)
    assert model.invoke("Tell me").content == reply.content
    model.invoke("Tell me")
    assert inner.count == 2


def test_a_models_error_reaches_the_caller_and_leaves_nothing() -> None:
    inner = Chat(script=[ConnectionError("down"), "up"])
    model = wrapped(inner)
    with pytest.raises(ConnectionError, match="down"):
        model.invoke("Solve 2x + 3 = 13 for x.")
    assert model.step_cache.store.count() == 0
    assert model.invoke("hello").text == "up"


def test_callbacks_see_one_run_with_the_decision_in_it() -> None:
    class Watch(BaseCallbackHandler):
        def __init__(self) -> None:
            self.starts, self.ends = 0, []

        def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
            self.starts += 1

        def on_llm_end(self, response: Any, **kwargs: Any) -> None:
            self.ends.append(response.generations[0][0].message)

    watch = Watch()
    inner = Chat(script=[SOLVED, "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"])
    model = wrapped(inner, policy=Policy(rewrite=False))
    for text in ("Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 15 for x."):
        model.invoke(text, config={"callbacks": [watch]})
    assert watch.starts == 3
    assert [marker(message)["source"] for message in watch.ends] == ["model", "cache", "patch"]


def test_per_call_wishes_by_argument_by_bind_and_from_outside() -> None:
    inner = Chat(script=["one", "two", "three", "four", "five"])
    model = wrapped(inner)
    assert model.invoke("hi", stepcache=CacheControl(no_store=True)).text == "one"
    assert model.invoke("hi").text == "two"
    assert model.invoke("hi", stepcache=CacheControl(no_cache=True)).text == "three"
    assert model.bind(stepcache=CacheControl(namespace="acme")).invoke("hi").text == "four"
    with control(namespace="acme"):
        assert model.invoke("hi").text == "four"
    assert model.bind(stepcache=CacheControl(refresh=True)).invoke("hi").text == "five"
    assert model.invoke("hi").text == "five"
    with pytest.raises(ConfigurationError, match="CacheControl"):
        model.invoke("hi", stepcache=True)


def test_the_caches_options_never_reach_the_model() -> None:
    inner = Chat(script=["one"])
    wrapped(inner).invoke("hi", stepcache=CacheControl(no_store=True), top_p=0.5)
    assert inner.options == [{"top_p": 0.5, "stop": None}]


def test_disabled_means_a_plain_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPCACHE_DISABLED", "1")
    inner = Chat(script=["one", "two"])
    model = wrapped(inner)
    assert [model.invoke("hi").text for _ in range(2)] == ["one", "two"]
    assert "".join(chunk.text for chunk in model.stream("hi")) == "two"


def test_the_wrapper_answers_for_the_model_in_it() -> None:
    class Named(Chat):
        model_name: str = "small-1"
        custom_get_token_ids: Any = staticmethod(lambda text: [1, 2, 3])

        @property
        def _identifying_params(self) -> dict[str, Any]:
            return {"model_name": self.model_name}

    inner = Named(script=["x"], tags=["ours"], metadata={"team": "a"})
    model = wrapped(inner)
    assert (model.model_name, model._llm_type, model.get_num_tokens("any")) == ("small-1", "scripted-chat", 3)
    assert model._identifying_params == {"model_name": "small-1"}
    assert model.tags == ["ours"]
    assert model.metadata is not None
    assert model.metadata["team"] == "a"
    assert model.cache is False
    with pytest.raises(AttributeError):
        _ = model.no_such_thing


def test_a_model_without_a_name_shows_none() -> None:
    model = wrapped(Chat(script=["x"]))
    assert not hasattr(model, "model")
    assert not hasattr(model, "model_name")


@pytest.mark.parametrize("arguments", [
    {}, {"model": Chat(script=["x"])}, {"cache": ":memory:"}, {"model": "gpt", "cache": ":memory:"},
    {"model": Chat(script=["x"]), "cache": 3}, {"model": Chat(script=["x"]).bind(stop=["x"]), "cache": ":memory:"},
], ids=["nothing", "no cache", "no model", "a name", "a number", "a binding"])
def test_what_can_not_work_is_said_at_once(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cache|model"):
        StepCacheChatModel(**arguments)


def test_a_wrapper_is_pickled_with_the_address_of_its_cache(tmp_path: Path) -> None:
    inner = PickleableChat()
    model = StepCacheChatModel(model=inner, cache=StepCache.open(tmp_path, embedder=None))
    assert model.invoke("hi").text == "hello"
    model._open.flush()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert marker(copy.invoke("hi"))["exact"]
    in_memory = pickle.loads(pickle.dumps(StepCacheChatModel(  # noqa: S301
        model=inner, cache=StepCache(MemoryStore()))))
    assert marker(in_memory.invoke("hi"))["outcome"] == "miss"
    model._open.close()


class PickleableChat(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "pickleable"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("hello"))])


def test_an_answer_of_a_chat_model_is_none_for_a_text_model() -> None:
    cache = memory()
    hook = LangChainStepCache(cache)
    StepCacheChatModel(model=Chat(script=["from chat"]), cache=cache).invoke("Name a tree")
    assert StepCacheTextLLM(llm=Text(script=["from text"]), cache=cache).invoke("Name a tree") == "from text"
    assert hook.lookup("Name a tree", "any model") is None


def test_retries_fallbacks_and_configurable_fields_work_as_on_any_model() -> None:
    from langchain_core.runnables import ConfigurableField

    inner = Chat(script=[ConnectionError("once"), "second time"])
    model = wrapped(inner)
    assert model.with_retry(wait_exponential_jitter=False).invoke("hi").text == "second time"
    failing = wrapped(Chat(script=[ConnectionError("down")]))
    assert failing.with_fallbacks([model]).invoke("hi").text == "second time"
    switched = model.configurable_fields(llm=ConfigurableField(id="llm"))
    other = Chat(script=["from the other"])
    assert switched.with_config(configurable={"llm": other}).invoke("something else").text == "from the other"
    chosen = model.configurable_alternatives(ConfigurableField(id="which"), second=wrapped(other))
    assert chosen.with_config(configurable={"which": "second"}).invoke("hi").text == "from the other"
