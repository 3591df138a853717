"""Streams read and fill the cache; what the user watches is whole, in several chunks, and told once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.messages import AIMessage, message_chunk_to_message
from langchain_fakes import USAGE, Chat, StreamingChat, joined, marker, memory, wrapped
from openai_stub import Server

from langchain_stepcache import StepCacheChatModel
from stepcache import Policy

POEM = "Rain on the roof,\n  a drum of glass.\n\nThen silence,\tand a thrush. "
SOLVED = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n"
          "3. Divide both sides by 2: x = 5\n\nx = 5")


class Tokens(BaseCallbackHandler):
    def __init__(self) -> None:
        self.tokens: list[str] = []

    def on_llm_new_token(self, token: str, **kwargs: Any) -> None:
        self.tokens.append(token)


def test_stream_twice_then_invoke_is_one_call() -> None:
    inner = StreamingChat(script=[POEM])
    model = wrapped(inner)
    first, second = list(model.stream("Write a poem")), list(model.stream("Write a poem"))
    assert joined(first).content == joined(second).content == model.invoke("Write a poem").content == POEM
    assert inner.count == 1


@pytest.mark.parametrize("kind", [Chat, StreamingChat])
def test_invoke_then_stream_gives_several_chunks_that_make_the_stored_message(kind: type[Chat]) -> None:
    inner = kind(script=[AIMessage(POEM, usage_metadata=USAGE, response_metadata={"finish_reason": "stop"},
                                   additional_kwargs={"note": "kept"})])
    model = wrapped(inner)
    model.invoke("Write a poem")
    chunks = list(model.stream("Write a poem"))
    invoked = model.invoke("Write a poem")
    merged = message_chunk_to_message(joined(chunks))
    assert len(chunks) > 2
    assert merged.model_copy(update={"id": None}) == invoked.model_copy(update={"id": None})
    assert chunks[-1].content == ""
    assert chunks[-1].chunk_position == "last"
    assert chunks[-1].response_metadata["finish_reason"] == "stop"
    assert chunks[-1].usage_metadata == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert marker(chunks[-1])["exact"]
    assert inner.count == 1


def test_a_fresh_stream_ends_with_finish_reason_usage_and_marker_together() -> None:
    chunks = list(wrapped(StreamingChat(script=[POEM])).stream("Write a poem"))
    assert [chunk.content for chunk in chunks[:-1]] == [POEM[at:at + 5] for at in range(0, len(POEM), 5)]
    assert chunks[-1].usage_metadata == joined(chunks).usage_metadata == USAGE
    assert chunks[-1].response_metadata["finish_reason"] == "stop"
    assert marker(chunks[-1])["outcome"] == "miss"


def test_chunks_come_as_the_model_makes_them() -> None:
    inner = StreamingChat(script=[POEM])
    stream = wrapped(inner).stream("Write a poem")
    assert next(stream).content == POEM[:5]
    stream.close()


def test_tool_calls_are_streamed_and_come_back() -> None:
    called = [{"name": "add", "args": {"a": 1, "b": 2}, "id": "c1", "type": "tool_call"}]
    inner = StreamingChat(script=[AIMessage("", tool_calls=called)])
    model = wrapped(inner).bind(tools=[{"type": "function", "function": {
        "name": "add", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}}}])
    fresh, hit = joined(list(model.stream("Add 1 and 2"))), joined(list(model.stream("Add 1 and 2")))
    assert fresh.tool_calls[0]["args"] == hit.tool_calls[0]["args"] == {"a": 1, "b": 2}
    assert fresh.tool_calls[0]["id"] != hit.tool_calls[0]["id"]
    assert inner.count == 1


def test_a_recognised_task_is_shown_only_when_it_has_been_checked() -> None:
    wrong = SOLVED.replace("x = 5", "x = 4")
    inner = StreamingChat(script=[wrong, SOLVED])
    model = wrapped(inner)
    shown = list(model.stream("Solve 2x + 3 = 13 for x."))
    assert joined(shown).content == SOLVED
    assert marker(shown[-1])["source"] == "repair"
    assert shown[-1].usage_metadata == {"input_tokens": 22, "output_tokens": 14, "total_tokens": 36}
    rewritten = list(model.stream("Solve 2x + 3 = 15 for x."))
    assert len(rewritten) > 2
    assert joined(rewritten).content.endswith("x = 6")
    assert (marker(rewritten[-1])["outcome"], marker(rewritten[-1])["source"]) == ("patch", "rewrite")


def test_no_token_of_a_patch_reaches_the_user() -> None:
    patch = "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"
    inner = StreamingChat(script=[SOLVED, f"2. Nonsense first\n{patch}", patch])
    model = wrapped(inner, policy=Policy(rewrite=False))
    watch = Tokens()
    model.invoke("Solve 2x + 3 = 13 for x.")
    shown = list(model.stream("Solve 2x + 3 = 15 for x.", config={"callbacks": [watch]}))
    assert joined(shown).content == "".join(watch.tokens)
    assert joined(shown).content.endswith("x = 6")


def test_token_callbacks_fire_on_a_hit_and_make_the_stored_text() -> None:
    model = wrapped(StreamingChat(script=[POEM]))
    for _ in range(2):
        watch = Tokens()
        list(model.stream("Write a poem", config={"callbacks": [watch]}))
        assert "".join(watch.tokens) == POEM
        assert len(watch.tokens) > 2


def test_a_stream_that_breaks_records_nothing() -> None:
    inner = StreamingChat(script=[POEM], break_after=2)
    model = wrapped(inner)
    seen: list[str] = []
    with pytest.raises(ConnectionError, match="went dead"):
        seen.extend(str(chunk.content) for chunk in model.stream("Write a poem"))
    assert "".join(seen) == POEM[:10]
    assert model.step_cache.store.count() == 0
    inner.break_after = None
    assert model.invoke("Write a poem").content == POEM


def test_a_stream_left_early_records_nothing() -> None:
    inner = StreamingChat(script=[POEM])
    model = wrapped(inner)
    for _chunk in model.stream("Write a poem"):
        break
    assert model.step_cache.store.count() == 0
    for _ in range(2):
        list(model.stream("Write a poem"))
    assert inner.count == 2


async def test_an_async_stream_left_early_records_nothing() -> None:
    inner = StreamingChat(script=[POEM])
    model = wrapped(inner)
    stream = model.astream("Write a poem")
    assert (await anext(stream)).content == POEM[:5]
    await stream.aclose()
    await asyncio.sleep(0)
    assert model.step_cache.store.count() == 0
    assert joined([chunk async for chunk in model.astream("Write a poem")]).content == POEM
    assert inner.count == 2


async def test_async_streams_fire_async_token_callbacks() -> None:
    class Watch(AsyncCallbackHandler):
        def __init__(self) -> None:
            self.tokens: list[str] = []

        async def on_llm_new_token(self, token: str, **kwargs: Any) -> None:
            self.tokens.append(token)

    model = wrapped(StreamingChat(script=[POEM]))
    for _ in range(2):
        watch = Watch()
        chunks = [chunk async for chunk in model.astream("Write a poem", config={"callbacks": [watch]})]
        assert joined(chunks).content == "".join(watch.tokens) == POEM


async def test_astream_events_tell_of_one_run_and_every_token_once() -> None:
    model = wrapped(StreamingChat(script=[POEM]))
    for _ in range(2):
        events = [event async for event in model.astream_events("Write a poem", version="v2")]
        kinds = [event["event"] for event in events]
        assert (kinds.count("on_chat_model_start"), kinds.count("on_chat_model_end")) == (1, 1)
        assert "".join(str(event["data"]["chunk"].content) for event in events
                       if event["event"] == "on_chat_model_stream") == POEM


async def test_invoke_inside_event_streaming_finds_what_a_plain_invoke_recorded() -> None:
    from langchain_core.runnables import RunnableLambda

    inner = StreamingChat(script=[POEM])
    model = wrapped(inner)
    model.invoke("Write a poem")
    chain = RunnableLambda(lambda text: model.invoke(text).content)
    events = [event async for event in chain.astream_events("Write a poem", version="v2")]
    assert [event for event in events if event["event"] == "on_chat_model_stream"]
    assert events[-1]["data"]["output"] == POEM
    assert inner.count == 1


def test_a_model_that_insists_on_streaming_is_streamed_and_one_that_refuses_is_not() -> None:
    class Insists(StreamingChat):
        streaming: bool = True

        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise AssertionError("this model streams")

    insisting = wrapped(Insists(script=[POEM], streaming=True))
    assert [insisting.invoke("Write a poem").content for _ in range(2)] == [POEM, POEM]
    refusing = wrapped(StreamingChat(script=[POEM], disable_streaming=True))
    assert [chunk.content for chunk in refusing.stream("Write a poem") if chunk.content] == [POEM]


def test_usage_told_piece_by_piece_is_counted_once() -> None:
    class Piecewise(StreamingChat):
        def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
            for chunk in super()._stream(*args, **kwargs):
                if chunk.message.content:
                    chunk.message.usage_metadata = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
                yield chunk

    inner = Piecewise(script=[POEM])
    bare = joined(list(inner.stream("Write a poem")))
    through = joined(list(wrapped(Piecewise(script=[POEM])).stream("Write a poem")))
    assert through.usage_metadata == bare.usage_metadata
    assert through.content == bare.content


def test_a_rate_limit_slows_real_calls_only() -> None:
    from langchain_core.rate_limiters import BaseRateLimiter

    class Counting(BaseRateLimiter):
        taken = 0

        def acquire(self, *, blocking: bool = True) -> bool:
            Counting.taken += 1
            return True

        async def aacquire(self, *, blocking: bool = True) -> bool:
            return self.acquire()

    model = StepCacheChatModel(model=StreamingChat(script=[POEM], rate_limiter=Counting()), cache=memory())
    for _ in range(3):
        model.invoke("Write a poem")
        list(model.stream("Write a poem"))
    assert Counting.taken == 1


def test_content_blocks_of_the_newer_form_stream_fresh_and_on_a_hit_as_they_do_unwrapped() -> None:
    """The provider ends such a stream with an empty list, while its words were texts."""
    bare = Server().model(output_version="v1")
    server = Server()
    through = StepCacheChatModel(model=server.model(output_version="v1"), cache=memory())
    expected = joined(list(bare.stream("Tell me"))).content
    for _ in range(2):
        chunks = list(through.stream("Tell me"))
        assert joined(chunks).content == expected
        assert len([chunk for chunk in chunks if chunk.content]) > 2
    assert through.invoke("Tell me").text == bare.invoke("Tell me").text
    assert server.count == 1
