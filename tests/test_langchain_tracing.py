"""Traces and callbacks: one run a request, with the decision in it; real calls below it only where asked for."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_fakes import USAGE, Chat, StreamingChat, memory

from langchain_stepcache import LangChainStepCache, StepCacheChatModel
from stepcache import Policy

SOLVED = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n"
          "3. Divide both sides by 2: x = 5\n\nx = 5")
PATCH = "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"
ASKED = ("Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 15 for x.")


class Told(Chat):
    """Tells the model's name, as usage callbacks want it."""

    def _next(self, messages: Any, options: dict[str, Any]) -> AIMessage:
        message = super()._next(messages, options)
        message.response_metadata = {**message.response_metadata, "model_name": "told-1"}
        return message


class ToldStreaming(StreamingChat, Told):
    pass


def model(kind: type[Chat] = Told, **options: Any) -> StepCacheChatModel:
    return StepCacheChatModel(model=kind(script=[SOLVED, PATCH]), cache=memory(Policy(rewrite=False)), **options)


def reply_of(run: Any) -> Any:
    return run.outputs["generations"][0][0]["message"]["kwargs"]


@pytest.mark.parametrize("kind", [Told, ToldStreaming])
def test_a_request_is_one_run_that_carries_the_decision(kind: type[Chat]) -> None:
    over = model(kind)
    with collect_runs() as collected:
        for text in ASKED:
            over.invoke(text)
            list(over.stream(text))
    runs = collected.traced_runs
    assert [run.run_type for run in runs] == ["llm"] * 6
    assert all(not run.child_runs for run in runs)
    assert [reply_of(run)["response_metadata"]["stepcache"]["source"] for run in runs] == [
        "model", "cache", "cache", "cache", "patch", "cache"]
    assert [reply_of(run)["usage_metadata"]["total_tokens"] for run in runs] == [18, 0, 0, 0, 18, 0]


def test_usage_callbacks_count_what_was_billed_and_nothing_twice() -> None:
    over = model()
    with get_usage_metadata_callback() as counted:
        for text in ASKED:
            over.invoke(text)
    assert counted.usage_metadata == {"told-1": {**{key: 2 * value for key, value in USAGE.items()}}}


def test_real_calls_are_shown_below_it_only_where_asked_for() -> None:
    over = model(trace_calls=True)
    seen = RunCollectorCallbackHandler()
    with get_usage_metadata_callback() as counted:
        for text in ASKED:
            over.invoke(text, config={"callbacks": [seen]})
    assert [[child.name for child in run.child_runs] for run in seen.traced_runs] == [
        ["stepcache answer"], [], ["stepcache patch"]]
    assert counted.usage_metadata["told-1"]["total_tokens"] == 2 * USAGE["total_tokens"]
    children = [child for run in seen.traced_runs for child in run.child_runs]
    assert all(reply_of(child).get("usage_metadata") is None for child in children)
    assert "expected" in str(children[1].inputs) or "right and stays" in str(children[1].inputs)


async def test_real_calls_of_async_requests_are_shown_as_well() -> None:
    over = model(ToldStreaming, trace_calls=True)
    seen = RunCollectorCallbackHandler()
    for text in ASKED:
        await over.ainvoke(text, config={"callbacks": [seen]})
    assert [len(run.child_runs) for run in seen.traced_runs] == [1, 0, 1]


def test_a_failed_real_call_is_shown_as_failed() -> None:
    over = StepCacheChatModel(model=Chat(script=[ConnectionError("down")]), cache=memory(), trace_calls=True)
    seen = RunCollectorCallbackHandler()
    with pytest.raises(ConnectionError):
        over.invoke("hi", config={"callbacks": [seen]})
    assert "down" in str(seen.traced_runs[0].error)
    assert "down" in str(seen.traced_runs[0].child_runs[0].error)


def test_what_a_trace_says_of_the_model_is_what_it_says_of_the_wrapped_one() -> None:
    inner: BaseChatModel = Told(script=["x"], metadata={"team": "a"})
    bare, through = RunCollectorCallbackHandler(), RunCollectorCallbackHandler()
    inner.invoke("hi", config={"callbacks": [bare]}, temperature=0.5)
    StepCacheChatModel(model=inner, cache=memory()).invoke("hi", config={"callbacks": [through]}, temperature=0.5)
    one, other = bare.traced_runs[0].extra, through.traced_runs[0].extra
    assert other["invocation_params"] == one["invocation_params"]
    assert other["metadata"] == one["metadata"]


def test_a_patch_under_the_hook_is_a_run_of_its_own_without_usage() -> None:
    from langchain_core.globals import set_llm_cache

    inner, patcher = Told(script=[SOLVED]), Told(script=[PATCH])
    set_llm_cache(LangChainStepCache(memory(Policy(rewrite=False)), patch_model=patcher))
    try:
        with collect_runs() as collected, get_usage_metadata_callback() as counted:
            for text in ASKED:
                inner.invoke(text)
    finally:
        set_llm_cache(None)
    assert sorted(run.name for run in collected.traced_runs) == ["Told", "Told", "Told", "stepcache patch"]
    assert counted.usage_metadata["told-1"]["total_tokens"] == 2 * USAGE["total_tokens"]
