"""Law 6: a broken store, embedder or disk costs a warning and a model call, never the caller's call."""

from __future__ import annotations

import asyncio
import logging
import threading
import time

import pytest

from stepcache import ConfigurationError, EmbeddingError, Policy, StepCache, StoreError
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder, ScriptedModel


class BrokenStore(MemoryStore):
    blocking = True

    def get(self, namespace, key):
        raise OSError("disk gone")

    peek = by_template = search = put = blocked = has_vectors = get  # type: ignore[assignment]


class BrokenEmbedder(HashEmbedder):
    def embed(self, text):
        raise RuntimeError("no weights")

    def embed_many(self, texts):
        raise RuntimeError("no weights")


def warnings_of(caplog) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


@pytest.mark.parametrize(("store", "embedder", "word"), [
    (BrokenStore(), HashEmbedder(), "store"),
    (MemoryStore(), BrokenEmbedder(), "embedder"),
])
def test_the_call_answers_with_one_warning(store, embedder, word, caplog):
    cache, model = StepCache(store, embedder, tasks=(plain_text(),)), ScriptedModel("elm")
    for prompt in ("Name a tree", "Name a bush", "Name a flower"):
        assert cache.complete(prompt, model).output == "elm"
    assert asyncio.run(cache.acomplete("Name a weed", model.acall)).output == "elm"
    cache._backend.settle()
    assert len([line for line in warnings_of(caplog) if word in line]) == 1


def test_strict_raises_instead():
    policy = Policy(strict=True)
    with pytest.raises(StoreError, match="disk gone"):
        StepCache(BrokenStore(), tasks=(plain_text(),), policy=policy).complete("Name a tree", ScriptedModel("elm"))
    with pytest.raises(EmbeddingError, match="no weights"):
        StepCache(MemoryStore(), BrokenEmbedder(), tasks=(plain_text(),), policy=policy).complete(
            "Name a tree", ScriptedModel("elm"))


def test_a_hanging_embedder_delays_one_call_by_the_timeout_only():
    release = threading.Event()

    class Hanging(HashEmbedder):
        def embed_many(self, texts):
            release.wait(20)
            return super().embed_many(texts)

    cache = StepCache(MemoryStore(), Hanging(), tasks=(plain_text(),), policy=Policy(cache_timeout=0.05))
    start = time.monotonic()
    assert cache.complete("Name a tree", ScriptedModel("elm")).output == "elm"
    assert time.monotonic() - start < 10
    release.set()


@pytest.mark.parametrize("vector", [[float("nan")] * 8, [0.0] * 8, [], [float("inf")] + [0.0] * 7])
def test_an_embedder_without_usable_vectors_is_no_embedder(vector, caplog):
    class Odd(HashEmbedder):
        def embed(self, text):
            return vector

        def embed_many(self, texts):
            return [vector for _ in texts]

    cache, model = StepCache(MemoryStore(), Odd(8), tasks=(plain_text(),)), ScriptedModel("elm")
    assert cache.complete("Name a tree", model).output == "elm"
    assert cache.complete("Name a tree", model).exact
    cache.flush()
    assert any("embedder" in line for line in warnings_of(caplog))


def test_an_embedder_that_sees_no_difference_is_turned_off(caplog):
    class Weak(HashEmbedder):
        def embed(self, text):
            return [1.0, 0.001 * (len(text) % 7), *[0.0] * 6]

    cache = StepCache(MemoryStore(), Weak(8), tasks=(plain_text(),))
    model = ScriptedModel(lambda prompt, purpose: "re " + prompt)
    for prompt in ("What is yoghurt?", "Who won?", "Where is Oslo?"):
        assert cache.complete(prompt, model).outcome == "miss"
    assert any("turned off" in line for line in warnings_of(caplog))


def test_a_hook_that_raises_disturbs_nobody(caplog):
    def hook(request, result):
        raise KeyError("oops")

    cache = StepCache(MemoryStore(), tasks=(plain_text(),), hooks=[hook])
    assert cache.complete("Name a tree", ScriptedModel("elm")).output == "elm"
    assert any("hook" in line for line in warnings_of(caplog))


def test_a_slow_store_does_not_hold_up_the_event_loop():
    class Slow(MemoryStore):
        blocking = True

        def get(self, namespace, key):
            time.sleep(0.2)
            return super().get(namespace, key)

        def peek(self, namespace, key):
            return None

    cache, gaps = StepCache(Slow(), tasks=(plain_text(),)), []

    async def main():
        async def ticker():
            last = time.monotonic()
            while True:
                await asyncio.sleep(0.01)
                now = time.monotonic()
                gaps.append(now - last)
                last = now

        ticking = asyncio.create_task(ticker())
        await cache.acomplete("Name a tree", ScriptedModel("elm").acall)
        ticking.cancel()

    asyncio.run(main())
    assert len(gaps) >= 5


@pytest.mark.parametrize(("make", "advice"), [
    (lambda: StepCache("./cache"), "StepCache.open"),
    (lambda: StepCache(MemoryStore(), embedder="MiniLM"), "embedder"),
    (lambda: StepCache(MemoryStore(), policy={"patch": False}), "Policy"),
    (lambda: StepCache(MemoryStore(), tasks=["equations"]), "tasks"),
    (lambda: StepCache.open(""), "folder"),
    (lambda: StepCache.open(":memory:", polciy=Policy()), "options"),
    (lambda: Policy(min_similarity=2), "cosine"),
    (lambda: Policy(max_repairs=-1), "max_repairs"),
    (lambda: Policy(patch="no"), "True or False"),
    (lambda: Policy(judge="gpt"), "callable"),
])
def test_bad_configuration_says_what_to_write(make, advice):
    with pytest.raises(ConfigurationError, match=advice):
        make()
