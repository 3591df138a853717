"""The LlamaIndex wrapper: every way of calling, exact and similar reuse, structured output, instrumentation."""

from __future__ import annotations

import asyncio
import json
import pickle

import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span.base import BaseSpan
from llama_index_instrumentation.span_handlers.base import BaseSpanHandler
from llamaindex_fakes import CallingLLM, SayingLLM
from pydantic import BaseModel, Field

from llamaindex_stepcache import StepCacheLLM
from stepcache import CacheControl, ConfigurationError, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.testing import HashEmbedder

EQUATION = "1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5"


def memory() -> StepCache:
    return StepCache(MemoryStore(), HashEmbedder())


def saying(say=lambda prompt: "an elm, tall and green and old and wide") -> StepCacheLLM:
    return StepCacheLLM(llm=SayingLLM(say=say), cache=memory())


def calling(say) -> StepCacheLLM:
    return StepCacheLLM(llm=CallingLLM(say=say), cache=memory())


def user(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=text)


def marker(response) -> dict:
    return response.additional_kwargs["stepcache"]


def test_one_name_and_the_wrapped_kind():
    assert isinstance(calling(lambda *a: "x"), FunctionCallingLLM)
    assert isinstance(calling(lambda *a: "x"), StepCacheLLM)
    assert not isinstance(saying(), FunctionCallingLLM)
    assert calling(lambda *a: "x").metadata.is_function_calling_model


def test_complete_in_four_ways_shares_one_record():
    llm = saying()
    first = llm.complete("Name a tree")
    assert marker(first)["outcome"] == "miss"
    *_, streamed = llm.stream_complete("Name a tree")
    deltas = "".join(chunk.delta for chunk in llm.stream_complete("Name a tree"))

    async def main():
        chunks = [chunk async for chunk in await llm.astream_complete("Name a tree")]
        return await llm.acomplete("Name a tree"), chunks

    awaited, chunks = asyncio.run(main())
    assert first.text == streamed.text == deltas == awaited.text == chunks[-1].text
    assert len(chunks) > 1
    assert marker(chunks[-1])["source"] == "cache"
    assert awaited.raw == first.raw
    assert len(llm.llm.log) == 1


def test_a_fresh_stream_passes_through_and_is_recorded():
    llm = saying()
    chunks = list(llm.stream_complete("Name a tree"))
    assert len(chunks) == 9
    assert marker(chunks[-1])["outcome"] == "miss"
    assert marker(llm.complete("Name a tree"))["exact"]
    assert len(llm.llm.log) == 1


def test_a_stream_left_early_records_nothing():
    llm = saying()
    stream = llm.stream_complete("Name a tree")
    next(stream)
    stream.close()
    assert marker(llm.complete("Name a tree"))["outcome"] == "miss"


def test_chat_in_four_ways_and_rewording():
    llm = calling(lambda text, tools, messages: "an elm, tall and green and old and wide")
    first = llm.chat([user("Name a tree")])
    hit = llm.chat([user("Please name a tree.")])
    assert (marker(first)["outcome"], marker(hit)["outcome"], marker(hit)["calls"]) == ("miss", "reuse", 0)
    assert hit.message.content == first.message.content
    *_, last = llm.stream_chat([user("Name a tree")])

    async def main():
        return await llm.achat([user("Name a tree")]), [c async for c in await llm.astream_chat([user("Name a tree")])]

    awaited, chunks = asyncio.run(main())
    assert last.message.content == awaited.message.content == chunks[-1].message.content == first.message.content
    assert "".join(chunk.delta for chunk in chunks) == first.message.content
    assert first.raw == awaited.raw
    assert len(llm.llm.log) == 1


def test_a_changed_constant_is_rewritten():
    llm = calling(lambda text, tools, messages: EQUATION)
    llm.chat([user("Solve 2x + 3 = 13 for x.")])
    response = llm.chat([user("Solve 2x + 3 = 15 for x.")])
    assert response.message.content == EQUATION.replace("10", "12").replace("x = 5", "x = 6")
    assert marker(response)["source"] == "rewrite"


def test_system_message_model_and_options_are_part_of_the_request():
    llm = saying()
    llm.complete("Name a tree")
    llm.complete("Name a tree", max_tokens=5)
    llm.llm.temperature = 0.3
    llm.complete("Name a tree")
    assert len(llm.llm.log) == 3
    chat = calling(lambda *a: "elm")
    chat.chat([user("Name a tree")])
    chat.chat([ChatMessage(role=MessageRole.SYSTEM, content="In French."), user("Name a tree")])
    assert len(chat.llm.log) == 2


def test_earlier_turns_make_it_exact_only():
    llm = calling(lambda *a: "elm")
    turns = [user("Who wrote Emma?"), ChatMessage(role=MessageRole.ASSISTANT, content="Jane Austen")]
    other = [user("Who wrote Dracula?"), ChatMessage(role=MessageRole.ASSISTANT, content="Bram Stoker")]
    llm.chat([*turns, user("When was the author born?")])
    assert marker(llm.chat([*other, user("When was the author born?")]))["outcome"] == "miss"
    assert marker(llm.chat([*turns, user("when was the author born")]))["outcome"] == "miss"
    assert marker(llm.chat([*turns, user("When was the author born?")]))["exact"]


def test_images_count_by_content(tmp_path):
    llm = calling(lambda *a: "a cat")

    def asked(data: bytes, **more):
        return [ChatMessage(role=MessageRole.USER, blocks=[TextBlock(text="What is this?"), ImageBlock(**(
            more or {"image": data}))])]

    llm.chat(asked(b"cat"))
    assert marker(llm.chat(asked(b"cat")))["exact"]
    assert marker(llm.chat(asked(b"dog")))["outcome"] == "miss"
    llm.chat(asked(b"", url="https://example.com/a.png"))
    assert marker(llm.chat(asked(b"", url="https://example.com/a.png")))["outcome"] == "miss"


class Album(BaseModel):
    """An album."""

    title: str
    year: int


class LargerAlbum(BaseModel):
    """An album."""

    title: str
    year: int
    label: str


def album_by_words(prompt: str) -> str:
    if "Still to be written" in prompt:
        return '{"label": "EMI"}'
    return '{"title": "Blue", "year": 1971}'


@pytest.mark.parametrize("forms", ["function", "words"])
def test_one_more_required_field_costs_one_small_call(forms):
    prompt = PromptTemplate("Describe the album {name}.")
    if forms == "words":
        llm = saying(album_by_words)
    else:
        def say(text, tools, messages):
            if "Still to be written" in text:
                return '{"label": "EMI"}'
            return [(tools[0]["function"]["name"], {"title": "Blue", "year": 1971})]

        llm = calling(say)
    assert llm.structured_predict(Album, prompt, name="Blue") == Album(title="Blue", year=1971)
    assert llm.structured_predict(Album, prompt, name="Blue") == Album(title="Blue", year=1971)
    assert len(llm.llm.log) == 1
    larger = llm.structured_predict(LargerAlbum, prompt, name="Blue")
    assert larger == LargerAlbum(title="Blue", year=1971, label="EMI")
    assert len(llm.llm.log) == 2
    again = asyncio.run(llm.astructured_predict(LargerAlbum, prompt, name="Blue"))
    assert again == larger
    assert len(llm.llm.log) == 2


def test_a_schema_given_as_a_format_is_a_spec_of_chats_and_completions():
    def say(prompt):
        return '{"label": "EMI"}' if "Still to be written" in prompt else '{"title": "Blue", "year": 1971}'

    llm = saying(say)
    for kind, calls in ((Album, 1), (Album, 1), (LargerAlbum, 2), (LargerAlbum, 2)):
        form = kind.model_json_schema()
        assert kind.model_validate_json(llm.complete("Describe the album Blue.", format=form).text)
        assert len(llm.llm.log) == calls
    for kind, calls in ((Album, 3), (LargerAlbum, 4)):
        form = kind.model_json_schema()
        assert kind.model_validate_json(llm.chat([user("Describe the album Blue.")], format=form).message.content)
        assert len(llm.llm.log) == calls


def test_tools_given_to_a_completion_count():
    llm = saying(lambda prompt: "elm")
    tools = [FunctionTool.from_defaults(each) for each in (add, len)]
    for tool in tools:
        llm.complete("Name a tree", tools=[tool])
    assert len(llm.llm.log) == 2


def album_by_calls(text, tools, messages):
    if "Still to be written" in text:
        return '{"label": "EMI"}'
    return [(tools[0]["function"]["name"], {"title": "Blue", "year": 1971})]


@pytest.mark.parametrize("make", [lambda: saying(album_by_words), lambda: calling(album_by_calls)],
                         ids=["by words", "by calls"])
def test_as_structured_llm_one_more_required_field_is_one_small_call(make):
    llm = make()
    asked = "Describe the album Blue."
    for _ in range(2):
        assert llm.as_structured_llm(Album).complete(asked).raw == Album(title="Blue", year=1971)
    assert len(llm.llm.log) == 1
    larger = llm.as_structured_llm(LargerAlbum)
    assert larger.complete(asked).raw == LargerAlbum(title="Blue", year=1971, label="EMI")
    assert len(llm.llm.log) == 2
    assert '"year"' not in str(llm.llm.log[1]).split("Still to be written")[1]
    assert larger.chat([user(asked)]).raw.label == "EMI"
    assert asyncio.run(larger.achat([user(asked)])).raw.label == "EMI"
    assert len(llm.llm.log) == 2


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_tool_calls_come_back_whole_and_never_for_other_tools():
    llm = calling(lambda text, tools, messages: [("add", {"a": 3, "b": 5})] if tools else "none")
    tool = FunctionTool.from_defaults(add)
    first = llm.chat_with_tools([tool], user_msg="Add 3 and 5")
    again = llm.chat_with_tools([tool], user_msg="Add 3 and 5")
    assert [c.tool_kwargs for c in llm.get_tool_calls_from_response(again)] == [{"a": 3, "b": 5}]
    assert marker(again)["exact"]
    assert isinstance(again.message.blocks[0], ToolCallBlock)
    assert first.message.blocks[0].tool_kwargs == again.message.blocks[0].tool_kwargs
    other = FunctionTool.from_defaults(add, description="Adds otherwise")
    assert not marker(llm.chat_with_tools([other], user_msg="Add 3 and 5"))["exact"]
    assert len(llm.llm.log) == 2


def test_predict_and_call_runs_the_tool_once_a_call():
    llm = calling(lambda text, tools, messages: [("add", {"a": 3, "b": 5})])
    tool = FunctionTool.from_defaults(add)
    assert str(llm.predict_and_call([tool], user_msg="Add 3 and 5")) == "8"
    assert str(llm.predict_and_call([tool], user_msg="Add 3 and 5")) == "8"
    assert len(llm.llm.log) == 1


class Collecting(BaseEventHandler):
    seen: list = Field(default_factory=list)

    def handle(self, event, **kwargs):
        if type(event).__name__.startswith(("LLMChatStart", "LLMChatEnd", "LLMCompletionStart", "LLMCompletionEnd")):
            self.seen.append(event)


def test_events_come_in_pairs_and_tokens_count_what_was_sent():
    collecting = Collecting(seen=[])
    root = get_dispatcher()
    root.add_event_handler(collecting)
    counter = TokenCountingHandler(tokenizer=lambda text: text.split())
    try:
        llm = calling(lambda *a: "an elm")
        llm.callback_manager = CallbackManager([counter])
        llm.chat([user("Name a tree")])
        llm.chat([user("Name a tree")])
    finally:
        root.event_handlers.remove(collecting)
    names = [type(event).__name__ for event in collecting.seen]
    assert names == ["LLMChatStartEvent", "LLMChatEndEvent"] * 2
    assert marker(collecting.seen[-1].response)["source"] == "cache"
    assert counter.total_llm_token_count == 18


class Spans(BaseSpanHandler[BaseSpan]):
    """Keeps which span stands below which, by the names of their methods."""

    seen: list = Field(default_factory=list)
    names: dict = Field(default_factory=dict)

    def new_span(self, id_, bound_args, instance=None, parent_span_id=None, tags=None, **kwargs):
        self.names[id_] = id_.partition("-")[0]
        self.seen.append((self.names.get(parent_span_id), self.names[id_]))
        return BaseSpan(id_=id_, parent_id=parent_span_id)

    def prepare_to_exit_span(self, id_, bound_args, instance=None, result=None, **kwargs):
        return self.open_spans.get(id_)

    def prepare_to_drop_span(self, id_, bound_args, instance=None, err=None, **kwargs):
        return self.open_spans.get(id_)


def test_a_request_is_one_span_and_a_real_call_one_below_it():
    async def awaited(llm):
        await llm.achat([user("Name a herb")])
        return [chunk async for chunk in await llm.astream_complete("Name a fern")]

    def all_ways(llm):
        llm.chat([user("Name a tree")])
        list(llm.stream_chat([user("Name a bush")]))
        llm.complete("Name a rose")
        list(llm.stream_complete("Name a weed"))
        asyncio.run(awaited(llm))

    llm, spans, root = calling(lambda *a: "an elm"), Spans(), get_dispatcher()
    root.add_span_handler(spans)
    ways = ["chat", "stream_chat", "complete", "stream_complete", "achat", "astream_complete"]
    try:
        all_ways(llm)
        fresh, spans.seen = spans.seen, []
        all_ways(llm)
    finally:
        root.span_handlers.remove(spans)
    ours, inner = "StepCacheFunctionCallingLLM", "CallingLLM"
    assert fresh == [pair for way in ways for pair in (
        (None, f"{ours}.{way}"), (f"{ours}.{way}", f"{inner}.{way}"))]
    assert spans.seen == [(None, f"{ours}.{way}") for way in ways]


def test_settings_take_it_and_mirror_the_callback_manager():
    llm = saying()
    Settings.llm = llm
    manager = CallbackManager([])
    llm.callback_manager = manager
    assert llm.llm.callback_manager is manager
    assert isinstance(Settings.llm, StepCacheLLM)
    Settings._llm = None


def test_predict_and_stream_take_templates():
    llm = saying()
    template = PromptTemplate("Name a {thing}")
    said = llm.predict(template, thing="tree")
    assert llm.predict(template, thing="tree") == said
    assert "".join(llm.stream(template, thing="tree")) == said
    assert asyncio.run(llm.apredict(template, thing="tree")) == said
    assert len(llm.llm.log) == 1


def test_control_per_call():
    llm = saying()
    llm.complete("Name a tree", stepcache=CacheControl(no_store=True))
    llm.complete("Name a tree", stepcache=CacheControl(namespace="acme"))
    llm.complete("Name a tree")
    assert len(llm.llm.log) == 3
    with pytest.raises(ConfigurationError, match="CacheControl"):
        llm.complete("Name a tree", stepcache={"no_store": True})


def test_a_prompt_is_needed_and_bad_arguments_say_what_to_write():
    with pytest.raises(ValueError, match="prompt"):
        saying().complete()
    with pytest.raises(ConfigurationError, match="LlamaIndex LLM"):
        StepCacheLLM(llm="gpt", cache=":memory:")
    with pytest.raises(ConfigurationError, match="cache="):
        StepCacheLLM(llm=SayingLLM(say=str))


def test_pickling_keeps_the_folder(tmp_path):
    llm = StepCacheLLM(llm=SayingLLM(say=str), cache=str(tmp_path))
    again = pickle.loads(pickle.dumps(llm))  # noqa: S301 - our own bytes
    assert isinstance(again, StepCacheLLM)
    assert again.cache == str(tmp_path)
    with pytest.raises(ConfigurationError, match="folder"):
        pickle.dumps(saying())


def test_to_dict_holds_no_secret():
    class Secretive(SayingLLM):
        api_key: str = "sk-very-secret"

    llm = StepCacheLLM(llm=Secretive(say=str), cache=memory())
    assert "sk-very-secret" not in json.dumps(llm.to_dict(), default=str)
    assert llm.class_name() == "stepcache_llm"


def test_a_models_error_reaches_the_caller():
    def broken(prompt: str) -> str:
        raise RuntimeError("down")

    with pytest.raises(RuntimeError, match="down"):
        saying(broken).complete("Name a tree")


class SlowLLM(CallingLLM):
    """Takes a while for each reply."""

    async def achat(self, messages, tools=None, **kwargs):
        await asyncio.sleep(0.2)
        return await super().achat(messages, tools=tools, **kwargs)


async def test_fifty_at_once_call_once_a_question_and_hold_up_nobody():
    llm = StepCacheLLM(llm=SlowLLM(say=lambda text, tools, messages: f"You asked: {text}"), cache=memory())
    questions = [f"Tell me about {topic}" for topic in ("rivers", "lakes", "hills", "woods", "roads")] * 10
    ticks = 0

    async def ticker():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(ticker())
    replies = await asyncio.gather(*(llm.achat([user(question)]) for question in questions))
    ticking.cancel()
    assert [reply.message.content for reply in replies] == [f"You asked: {question}" for question in questions]
    assert len({id(reply) for reply in replies}) == 50
    assert len(llm.llm.log) == 5
    assert ticks  # while all were waiting, the loop went on


async def test_inside_a_running_loop_as_in_jupyter_both_kinds_of_calls_work():
    """A synchronous call never waits for a task of the loop that it holds up."""
    llm = StepCacheLLM(llm=SlowLLM(say=lambda *a: "an elm"), cache=memory())
    waiting = asyncio.create_task(llm.achat([user("Name a tree")]))
    await asyncio.sleep(0.05)
    assert llm.chat([user("Name a tree")]).message.content == "an elm"
    assert (await waiting).message.content == "an elm"
    assert "".join(chunk.delta for chunk in llm.stream_chat([user("Name a tree")])) == "an elm"
    assert llm.predict(PromptTemplate("Name a {thing}"), thing="bush") == "an elm"
    assert (await llm.apredict(PromptTemplate("Name a {thing}"), thing="bush")) == "an elm"
    assert len(llm.llm.log) == 3  # the tree by the task, the tree by the call that could not wait, and the bush


def test_it_is_written_down_and_read_again_with_its_llm_and_cache_given():
    llm = saying()
    again = StepCacheLLM.from_dict(llm.to_dict(), llm=llm.llm, cache=":memory:")
    assert isinstance(again, StepCacheLLM)
    assert again.complete("Name a tree").text == llm.complete("Name a tree").text


def test_langchain_and_llamaindex_share_a_store_without_mixing_replies():
    from langchain_core.language_models import FakeListChatModel

    from langchain_stepcache import StepCacheChatModel

    class Calling(FakeListChatModel):
        model_name: str = "calling"

    cache = memory()
    ours = StepCacheLLM(llm=CallingLLM(say=lambda *a: "an elm"), cache=cache)
    theirs = StepCacheChatModel(model=Calling(responses=["an oak", "an ash"]), cache=cache)
    for _ in range(2):
        assert ours.chat([user("Name a tree")]).message.content == "an elm"
        assert ours.complete("Name a tree").text == "an elm"
        assert theirs.invoke("Name a tree").content == "an oak"
        assert theirs.invoke("Please name a tree.").content == "an oak"
        assert ours.chat([user("Please name a tree.")]).message.content == "an elm"
    assert len(ours.llm.log) == 2
    assert len({entry.partition for entry, _ in cache.store.scan()}) == 3


def test_it_is_an_llm_of_its_own_partition():
    assert issubclass(StepCacheLLM, LLM)
    cache = memory()
    llm = StepCacheLLM(llm=SayingLLM(say=lambda prompt: "elm"), cache=cache)
    llm.complete("Name a tree")
    assert cache.complete("Name a tree", lambda prompt, purpose: "oak").outcome == "miss"
