"""Law 4: sync equals async, streamed equals invoked. The same script through all four ways gives the same story."""

from __future__ import annotations

import asyncio

import pytest
from counting import counted, counting
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import Policy, Result, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder, ScriptedModel

PROMPTS = [
    "Count from 1 to 3.", "Count from 1 to 5.", "Count from 2 to 5.", "Please count from 1 to 3.",
    "Name a tree", "Please name a tree", "Name a tree in Graz", "Name a tree in Linz",
]


def answer(prompt: str, purpose: str) -> str:
    if "ount from" in prompt:
        return counted(prompt, purpose)
    return "an elm,\n\n and then some more words to see several pieces of the answer"


def fresh() -> StepCache:
    return StepCache(MemoryStore(), HashEmbedder(), tasks=(counting(True), plain_text()), policy=Policy(),
                     clock=lambda: 1.0)


def story(result: Result) -> tuple:
    return (result.outcome, result.source, result.output, result.steps, result.decision.reason, result.calls,
            result.verified, result.recorded, result.key, result.similarity)


def invoked(prompts, reply=answer):
    cache, model = fresh(), ScriptedModel(reply)
    return [story(cache.complete(p, model)) for p in prompts], model.calls


def awaited(prompts, reply=answer):
    cache, model = fresh(), ScriptedModel(reply)

    async def main():
        return [story(await cache.acomplete(p, model.acall)) for p in prompts]

    return asyncio.run(main()), model.calls


def streamed(prompts, reply=answer):
    cache, model, told = fresh(), ScriptedModel(reply), []
    for prompt in prompts:
        *pieces, result = cache.stream(prompt, model.stream)
        assert "".join(pieces) == result.output
        told.append(story(result))
    return told, model.calls


def astreamed(prompts, reply=answer):
    cache, model = fresh(), ScriptedModel(reply)

    async def main():
        told = []
        for prompt in prompts:
            *pieces, result = [item async for item in cache.astream(prompt, model.astream)]
            assert "".join(pieces) == result.output
            told.append(story(result))
        return told

    return asyncio.run(main()), model.calls


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(PROMPTS), min_size=1, max_size=6), st.sampled_from([answer, "nonsense", "1\n2\n3"]))
def test_four_ways_one_story(prompts, reply):
    told = invoked(prompts, reply)
    assert awaited(prompts, reply) == told
    assert streamed(prompts, reply) == told
    assert astreamed(prompts, reply) == told


def test_plain_text_passes_through_as_it_comes_and_a_checked_task_only_when_checked():
    cache, seen = fresh(), []

    def model(prompt: str, purpose: str):
        for piece in ("1", "\n2", "\n3"):
            seen.append(("made", piece))
            yield piece

    for prompt in ("Say something", "Count from 1 to 3."):
        for item in cache.stream(prompt, model):
            if isinstance(item, str):
                seen.append(("shown", item))
    assert seen[:6] == [("made", "1"), ("shown", "1"), ("made", "\n2"), ("shown", "\n2"), ("made", "\n3"),
                        ("shown", "\n3")]
    assert [kind for kind, _ in seen[6:9]] == ["made"] * 3


def test_a_hit_is_shown_in_several_pieces():
    cache, model = fresh(), ScriptedModel(answer)
    list(cache.stream("Name a tree", model.stream))
    *pieces, result = cache.stream("Name a tree", model.stream)
    assert result.source == "cache"
    assert len(pieces) > 1


def test_a_stream_left_early_records_nothing():
    cache, model = fresh(), ScriptedModel(answer)
    stream = cache.stream("Name a tree", model.stream)
    next(stream)
    stream.close()
    assert cache.stats().entries == 0
    assert cache.complete("Name a tree", model).outcome == "miss"


def test_a_stream_that_breaks_records_nothing_and_raises():
    cache = fresh()

    def broken(prompt: str, purpose: str):
        yield "one"
        raise OSError("line down")

    with pytest.raises(OSError, match="line down"):
        list(cache.stream("Name a tree", broken))
    assert cache.stats().entries == 0


async def test_an_async_stream_left_early_records_nothing():
    cache, model = fresh(), ScriptedModel(answer)
    stream = cache.astream("Name a tree", model.astream)
    await anext(stream)
    await stream.aclose()
    assert cache.stats().entries == 0
