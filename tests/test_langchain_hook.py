"""`set_llm_cache(LangChainStepCache(...))`: what an app gets by that one line, and where it stops."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.caches import BaseCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.globals import set_llm_cache
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers import BaseTracer
from langchain_core.tracers.schemas import Run
from langchain_fakes import USAGE, Chat, StreamingChat, Text, marker, memory
from openai_stub import Server
from pydantic import BaseModel
from test_langchain_structured import ASKED, Person, Reachable, knowing

from langchain_stepcache import LangChainStepCache, StepCacheChatModel
from langchain_stepcache._llm_string import options_of
from stepcache import Policy, StepCache, control
from stepcache.errors import ConfigurationError, StoreError
from stepcache.stores.memory import MemoryStore

SOLVED = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n"
          "3. Divide both sides by 2: x = 5\n\nx = 5")
PATCH = "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"


class Tracer(BaseTracer):
    """Keeps the runs it is told of."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[Run] = []

    def _persist_run(self, run: Run) -> None:
        pass

    def _end_trace(self, run: Run) -> None:
        self.ended.append(run)
        super()._end_trace(run)


@pytest.fixture
def hook() -> Iterator[LangChainStepCache]:
    cache = LangChainStepCache(memory())
    set_llm_cache(cache)
    yield cache
    set_llm_cache(None)


@pytest.fixture
def use() -> Iterator[Any]:
    """Sets a hook for one test and takes it away again."""
    yield lambda cache: (set_llm_cache(cache), cache)[1]
    set_llm_cache(None)


def test_it_is_a_cache_as_langchain_knows_them(hook: LangChainStepCache) -> None:
    assert isinstance(hook, BaseCache)
    assert "StepCache" in repr(hook)


def test_exact_repetition_gives_all_of_it_anew(hook: LangChainStepCache) -> None:
    called = [{"name": "add", "args": {"a": 1}, "id": "c1", "type": "tool_call"}]
    inner = Chat(script=[AIMessage("", tool_calls=called, usage_metadata=USAGE)])
    model = inner.bind_tools([{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}])
    fresh, hit = model.invoke("Add"), model.invoke("Add")
    assert inner.count == 1
    assert "stepcache" not in fresh.response_metadata
    assert marker(hit)["exact"]
    assert hit.tool_calls[0]["args"] == {"a": 1}
    assert hit.tool_calls[0]["id"] != "c1"
    assert hit.id != fresh.id
    assert {key: hit.usage_metadata[key] for key in USAGE} == dict.fromkeys(USAGE, 0)
    assert AIMessage(**hit.model_dump())


def test_similar_requests_are_verified_and_rewritten(hook: LangChainStepCache) -> None:
    inner = Chat(script=[SOLVED])
    inner.invoke("Solve 2x + 3 = 13 for x.")
    rewritten = inner.invoke("Solve 2x + 3 = 15 for x.")
    assert rewritten.text.endswith("x = 6")
    assert (marker(rewritten)["outcome"], marker(rewritten)["source"]) == ("patch", "rewrite")
    assert inner.invoke("Solve 3x + 3 = 15 for x.").text.endswith("x = 4")
    assert inner.count == 1


def test_without_a_patch_model_what_needs_one_is_answered_afresh(use: Any) -> None:
    use(LangChainStepCache(memory(Policy(rewrite=False))))
    inner = Chat(script=[SOLVED, SOLVED.replace("10", "12").replace("= 5", "= 6")])
    inner.invoke("Solve 2x + 3 = 13 for x.")
    assert inner.invoke("Solve 2x + 3 = 15 for x.").text.endswith("x = 6")
    assert inner.count == 2


def test_a_patch_model_patches_and_is_seen_by_tracers_alone(use: Any) -> None:
    class Watch(BaseCallbackHandler):
        def __init__(self) -> None:
            self.tokens: list[str] = []
            self.usage: list[Any] = []

        def on_llm_new_token(self, token: str, **kwargs: Any) -> None:
            self.tokens.append(token)

        def on_llm_end(self, response: Any, **kwargs: Any) -> None:
            self.usage.append(response.generations[0][0].message.usage_metadata["total_tokens"])

    patcher = StreamingChat(script=[PATCH])
    use(LangChainStepCache(memory(Policy(rewrite=False)), patch_model=patcher))
    inner = Chat(script=[SOLVED])
    chain = RunnableLambda(lambda text: inner.invoke(text))
    watch, tracer = Watch(), Tracer()
    chain.invoke("Solve 2x + 3 = 13 for x.")
    patched = chain.invoke("Solve 2x + 3 = 15 for x.", config={"callbacks": [watch, tracer]})
    assert patched.text.endswith("x = 6")
    assert marker(patched)["source"] == "patch"
    assert {key: patched.usage_metadata[key] for key in USAGE} == USAGE
    assert (inner.count, patcher.count) == (1, 1)
    assert (watch.tokens, watch.usage) == ([], [USAGE["total_tokens"]])
    names = [run.name for run in tracer.ended]
    assert names.count("stepcache patch") == 1
    again = chain.invoke("Solve 2x + 3 = 15 for x.")
    assert marker(again)["exact"]
    assert (inner.count, patcher.count) == (1, 1)


async def test_async_it_is_the_same(use: Any) -> None:
    patcher = Chat(script=[PATCH])
    use(LangChainStepCache(memory(Policy(rewrite=False)), patch_model=patcher))
    inner = Chat(script=[SOLVED])
    sources = [marker(message)["source"] if "stepcache" in message.response_metadata else "fresh" for message in [
        await inner.ainvoke(text) for text in
        ("Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 15 for x.")]]
    assert sources == ["fresh", "cache", "patch"]
    assert (inner.count, patcher.count) == (1, 1)


def test_structured_output_grows_by_one_field(use: Any) -> None:
    server = Server(knowing)
    use(LangChainStepCache(memory(), patch_model=server.model()))
    model = server.model()
    schemas = [{"title": kind.__name__, "description": "A person.", **kind.model_json_schema()}
               for kind in (Person, Reachable)]
    for method in ("function_calling", "json_schema"):
        before = server.count
        assert model.with_structured_output(schemas[0], method=method).invoke(ASKED) == {"name": "Ann", "age": 30}
        assert model.with_structured_output(schemas[1], method=method).invoke(ASKED)["email"] == "ann@example.org"
        assert server.count - before == 2
        assert "tools" not in server.bodies[-1]


def test_a_class_as_response_format_is_not_cached_and_named_once(
        hook: LangChainStepCache, caplog: pytest.LogCaptureFixture) -> None:
    class Unseen(BaseModel):
        name: str

    server = Server(knowing)
    bound = server.model().with_structured_output(Unseen, method="json_schema")
    with caplog.at_level(logging.WARNING, "stepcache"):
        assert [bound.invoke(ASKED) for _ in range(2)] == [Unseen(name="Ann")] * 2
    assert server.count == 2
    assert hook.step_cache.store.count() == 0
    assert sum("response_format" in record.getMessage() for record in caplog.records) <= 1


def test_per_call_wishes_come_from_outside_also_through_tasks_executors_and_batch(hook: LangChainStepCache) -> None:
    inner = Chat(script=["acme's", "another's"])
    with control(namespace="acme"):
        assert inner.batch(["Summarise our plan"])[0].text == "acme's"
        assert asyncio.run(asyncio.wait_for(inner.ainvoke("Summarise our plan"), 10)).text == "acme's"
        with concurrent.futures.ThreadPoolExecutor() as pool:
            context = contextvars.copy_context()
            assert pool.submit(context.run, inner.invoke, "Summarise our plan").result().text == "acme's"
    count = inner.count
    with control(namespace="birch"):
        assert inner.invoke("Summarise our plan").text == "another's"
    assert inner.count == count + 1


def test_two_turns_with_the_same_answer_are_two_messages(hook: LangChainStepCache) -> None:
    inner = Chat(script=["hello"])
    assert len({inner.invoke("hi").id for _ in range(4)}) == 4


def test_completion_models_are_cached_apart_from_chat_models(hook: LangChainStepCache) -> None:
    text, chat = Text(script=["from text"]), Chat(script=["from chat"])
    assert [chat.invoke("Name a tree").text, text.invoke("Name a tree"), text.invoke("Name a tree")] == [
        "from chat", "from text", "from text"]
    assert (chat.count, text.count) == (1, 1)
    assert text.invoke("System: s\nHuman: h") == text.invoke([("system", "s"), ("human", "h")])


def test_a_schema_among_the_parameters_of_a_completion_model_counts(hook: LangChainStepCache) -> None:
    class Formed(Text):
        form: Any

        @property
        def _identifying_params(self) -> dict[str, Any]:
            return {"model": "formed", "format": self.form.model_json_schema()}

    first = Formed(script=['{"name": "Ann", "age": 30}'], form=Person)
    assert [first.invoke(ASKED) for _ in range(2)] == ['{"name": "Ann", "age": 30}'] * 2
    grown = Formed(script=['{"name": "Ann", "age": 30, "email": "a@b.c"}'], form=Reachable)
    assert "email" in grown.invoke(ASKED)
    assert (first.count, grown.count) == (1, 1)


def test_a_hit_is_a_list_or_nothing(hook: LangChainStepCache) -> None:
    assert hook.lookup("p", "m") is None
    hook.update("p", "m", [])
    assert hook.lookup("p", "m") is None
    stored = [Generation(text="a", generation_info={"logprobs": [-0.1]}), Generation(text="b")]
    hook.update("p", "m", tuple(stored))
    assert hook.lookup("p", "m") == stored
    stored[0].text = "changed"
    found = hook.lookup("p", "m")
    assert found is not None
    assert found[0].text == "a"
    found.append(Generation(text="c"))
    assert len(hook.lookup("p", "m") or []) == 2


def test_a_chat_hit_carries_a_new_id_and_whole_usage(hook: LangChainStepCache) -> None:
    prompt = ('[{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], '
              '"kwargs": {"content": "hello", "type": "human"}}]')
    hook.update(prompt, "m", [ChatGeneration(message=AIMessage("hi", id="lc_run--1"))])
    (found,) = hook.lookup(prompt, "m") or []
    assert isinstance(found, ChatGeneration)
    assert found.message.id not in {None, "lc_run--1"}
    assert found.message.usage_metadata == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert hook.lookup(prompt.replace("hello", "bye"), "m") is None
    assert hook.lookup("hello", "m") is None


@pytest.mark.parametrize("prompt", [
    "[]", "[1, 2]", '[{"lc": 1, "type": "constructor"}]', '[{"lc": 1, "type": "secret", "id": ["PATH"]}]',
    '[{"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"type": "human", "content": "ls"}}]',
    '[{"lc": 1,' * 50_000, "\x00", "\ud800", "", "[" * 100_000,
], ids=lambda text: text[:20].encode("ascii", "replace").decode())
def test_text_that_is_no_list_of_messages_is_text(hook: LangChainStepCache, prompt: str) -> None:
    hook.update(prompt, "m", [Generation(text="kept")])
    assert hook.lookup(prompt, "m") in ([Generation(text="kept")], None)


def test_options_are_read_out_of_both_forms() -> None:
    plain = "[('_type', 'fake-chat'), ('n', 1), ('stop', ['\\n']), ('temperature', 0.2)]"
    assert options_of(plain) == ({"_type": "fake-chat", "n": 1, "stop": ["\n"], "temperature": 0.2}, ())
    partner = ('{"id": ["langchain", "chat_models", "openai", "ChatOpenAI"], "kwargs": {"model_name": "gpt", '
               '"temperature": 0.1}, "lc": 1, "type": "constructor"}---[(\'stop\', None), (\'temperature\', 0.9)]')
    options, doubtful = options_of(partner)
    assert (options["model_name"], options["temperature"], doubtful) == ("gpt", 0.9, ())
    assert "stop" not in options


@pytest.mark.parametrize("value", [
    "<__main__.Obj object at 0x7fa8c0>", "<class '__main__.Out'>", "Decimal('1')", "nan", "[<x at 0x1>, 'a']",
    "\"it's ), ('b', 2)\" 3",
])
def test_a_value_that_is_no_literal_is_named_as_doubtful(value: str) -> None:
    options, doubtful = options_of(f"[('a', 'x (('), ('hook', {value}), ('z', {{'k': (1, 2)}})]")
    assert doubtful == ("hook",)
    assert options == {"a": "x ((", "z": {"k": (1, 2)}}


@pytest.mark.parametrize("text", ["", "opaque", "---[", "{}---[]", "x" * 1_000_000], ids=lambda text: text[:12])
def test_an_llm_string_of_another_form_is_one_option(text: str) -> None:
    assert options_of(text) == ({"_opaque": text}, ())


@pytest.mark.parametrize("text", [
    "[(", "[('a'", "[('a', 1), 5]", "[('a', 1), ('b', 2)", "[('a', 1), ('a', 2)]", "[('a', <x)>), ('b', 2)]",
    '{"lc": 1}---[(', "[('a', " + "[" * 50_000, "[" + "('a', 1), " * 50_000], ids=lambda text: text[:24])
def test_a_list_that_is_not_pairs_throughout_names_no_model(hook: LangChainStepCache, text: str) -> None:
    assert "llm_string" in options_of(text)[1]
    hook.update("p", text, [Generation(text="kept")])
    assert hook.lookup("p", text) is None


def test_option_order_does_not_count_and_message_order_does(hook: LangChainStepCache) -> None:
    inner = Chat(script=["one", "two", "three"])
    assert inner.invoke("hi", a=1, b={"x": 1, "y": 2}).text == inner.invoke("hi", b={"y": 2, "x": 1}, a=1).text
    history = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    assert inner.invoke(history).text != inner.invoke([history[1], history[0], history[2]]).text


def test_a_broken_store_costs_a_warning_and_a_call(use: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(MemoryStore):
        def get(self, *args: Any) -> Any:
            raise StoreError("gone")

        peek = put = by_template = search = get

    use(LangChainStepCache(StepCache(Broken())))
    inner = Chat(script=["answer"])
    with caplog.at_level(logging.WARNING, "stepcache"):
        assert [inner.invoke("hi").text for _ in range(3)] == ["answer"] * 3
    assert 1 <= len(caplog.records) <= 2


def test_strict_raises_instead(use: Any) -> None:
    class Broken(MemoryStore):
        def get(self, *args: Any) -> Any:
            raise StoreError("gone")

        peek = get

    use(LangChainStepCache(StepCache(Broken(), policy=Policy(strict=True))))
    with pytest.raises(StoreError):
        Chat(script=["answer"]).invoke("hi")


def test_clear_takes_all_or_a_part(hook: LangChainStepCache) -> None:
    inner = Chat(script=["a", "b", "c"])
    with control(namespace="n1"):
        inner.invoke("hi")
    with control(namespace="n2"):
        inner.invoke("hi")
    hook.clear(namespace="n1")
    assert hook.step_cache.store.namespaces() == ("n2",)
    asyncio.run(hook.aclear())
    assert hook.step_cache.store.count() == 0


def test_what_a_system_message_asks_for_is_repeated_as_it_was_said(hook: LangChainStepCache) -> None:
    inner = Chat(script=["Take 3 from both sides first."])
    asked = [("system", "Give hints only."), ("human", "Solve 2x + 3 = 13 for x.")]
    assert [inner.invoke(asked).text for _ in range(2)] == ["Take 3 from both sides first."] * 2
    assert inner.count == 1


def test_a_failing_reply_is_not_kept(hook: LangChainStepCache) -> None:
    inner = Chat(script=["x = 4"])
    assert [inner.invoke("Solve 2x + 3 = 13 for x.").text for _ in range(2)] == ["x = 4"] * 2
    assert inner.count == 2


def test_clear_takes_a_model_by_its_name() -> None:
    cache = memory()
    inner = Chat(script=["a", "b"])
    for name in ("model-a", "model-b", "model-a2"):
        StepCacheChatModel(model=inner, cache=cache).invoke("hi", model=name)
    assert cache.clear(model="model-a") == 1
    assert {entry.request.model.split("#")[0] for entry, _ in cache.store.scan()} == {"model-b", "model-a2"}


def test_what_can_not_work_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError, match="patch_model"):
        LangChainStepCache(":memory:", patch_model="gpt")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="cache"):
        LangChainStepCache(3)  # type: ignore[arg-type]


def test_a_repeated_stream_is_a_limit_of_the_hook(hook: LangChainStepCache) -> None:
    """LangChain never asks a cache about a stream: the wrapper can, this can't."""
    inner = StreamingChat(script=["hello"])
    inner.invoke("hi")
    list(inner.stream("hi"))
    assert inner.count == 2
