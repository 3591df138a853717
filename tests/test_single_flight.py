"""The same request at once calls the model once; each caller has its own copy; nobody waits for ever."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from stepcache import Completion, Policy, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import ScriptedModel


def fresh(**policy) -> StepCache:
    return StepCache(MemoryStore(), tasks=(plain_text(),), policy=Policy(**policy))


def test_threads_share_one_call_for_each_distinct_request():
    cache = fresh()
    model = ScriptedModel(lambda prompt, purpose: Completion("re: " + prompt, payload={"words": [prompt]}), delay=0.05)
    prompts = [f"word {'abcde'[i % 5]}" for i in range(60)]
    with ThreadPoolExecutor(60) as pool:
        results = list(pool.map(lambda p: cache.complete(p, model), prompts))
    assert [r.output for r in results] == ["re: " + p for p in prompts]
    assert len(model.calls) == 5
    payloads = [id(r.payload) for r in results]
    assert len(set(payloads)) == len(payloads)


def test_tasks_share_one_call_for_each_distinct_request():
    cache, model = fresh(), ScriptedModel(lambda prompt, purpose: "re: " + prompt, delay=0.05)
    prompts = [f"word {'abcde'[i % 5]}" for i in range(60)]

    async def main():
        return await asyncio.gather(*(cache.acomplete(p, model.acall) for p in prompts))

    results = asyncio.run(main())
    assert [r.output for r in results] == ["re: " + p for p in prompts]
    assert len(model.calls) == 5
    assert sum(not r.shared and r.source == "model" for r in results) == 5


def test_when_the_leader_fails_each_follower_calls_for_itself():
    cache, gate = fresh(), threading.Barrier(3)
    model = ScriptedModel(RuntimeError("down"), delay=0.05)

    def ask(_: int) -> str:
        gate.wait()
        with pytest.raises(RuntimeError, match="down") as caught:
            cache.complete("same", model)
        return str(caught.value)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(ask, range(3))) == ["down"] * 3
    assert len(model.calls) == 3


def test_a_cancelled_leader_hands_over_to_a_follower():
    cache, model = fresh(), ScriptedModel("elm", delay=0.1)

    async def main():
        leader = asyncio.create_task(cache.acomplete("same", model.acall))
        await asyncio.sleep(0.02)
        followers = [asyncio.create_task(cache.acomplete("same", model.acall)) for _ in range(3)]
        await asyncio.sleep(0.02)
        leader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leader
        return [r.output for r in await asyncio.gather(*followers)]

    assert asyncio.run(main()) == ["elm"] * 3
    assert len(model.calls) == 1


def test_a_cancelled_follower_disturbs_nobody():
    cache, model = fresh(), ScriptedModel("elm", delay=0.1)

    async def main():
        tasks = [asyncio.create_task(cache.acomplete("same", model.acall)) for _ in range(3)]
        await asyncio.sleep(0.02)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, cancelled, third = asyncio.run(main())
    assert first.output == third.output == "elm"
    assert isinstance(cancelled, asyncio.CancelledError)
    assert len(model.calls) == 1


def test_a_sync_caller_inside_the_leaders_own_loop_never_waits():
    cache, inner = fresh(), ScriptedModel("inner")

    async def model(prompt: str, purpose: str) -> str:
        return cache.complete("same", inner).output

    assert asyncio.run(cache.acomplete("same", model)).output == "inner"


def test_a_model_that_asks_its_own_request_does_not_wait_for_itself():
    cache, inner = fresh(), ScriptedModel("inner")
    assert cache.complete("same", lambda prompt, purpose: cache.complete("same", inner).output).output == "inner"


def test_waiting_is_bounded():
    cache, release = fresh(flight_timeout=0.05), threading.Event()
    hanging = threading.Thread(
        target=cache.complete, args=("same", lambda prompt, purpose: str(release.wait(10))), daemon=True)
    hanging.start()
    while not cache._flights._under_way:
        pass
    assert cache.complete("same", ScriptedModel("mine")).output == "mine"
    release.set()
    hanging.join()
