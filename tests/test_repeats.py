"""Exact repetition from memory: as quick as it is, it serves what is there now, whole and the caller's own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from stepcache import CacheControl, Completion, Policy, Request, Result, StepCache, control
from stepcache._codec import private_copy
from stepcache._data import Entry
from stepcache.stores.chroma import ChromaStore
from stepcache.stores.memory import MemoryStore
from stepcache.testing import ScriptedModel

ASKED = "Name a river that runs north."
PAYLOAD = {"said": ["the Ob"], "n": 1}


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "folder"])
def opened(request: pytest.FixtureRequest, tmp_path: Any) -> Callable[..., StepCache]:
    def make(**options: Any) -> StepCache:
        store = MemoryStore() if request.param == "memory" else ChromaStore(path=tmp_path / "cache")
        return StepCache(store, **options)

    return make


def model(*texts: str) -> ScriptedModel:
    return ScriptedModel([Completion(text, payload={**copy.deepcopy(PAYLOAD), "text": text}) for text in texts])


def often(cache: StepCache, asked: ScriptedModel, **options: Any) -> list[Result]:
    """Enough repetitions for every memo on the way to be in use."""
    return [cache.complete(ASKED, asked, **options) for _ in range(4)]


def test_repetitions_come_whole_from_memory_and_each_is_the_callers_own(opened: Callable[..., StepCache]) -> None:
    with opened() as cache:
        asked = model("The Ob.")
        first, *again = often(cache, asked)
        assert len(asked.calls) == 1
        assert first.source == "model"
        for each in again:
            assert (each.source, each.output, each.exact) == ("cache", "The Ob.", True)
            assert each.payload == {**PAYLOAD, "text": "The Ob."}
            assert each.seconds["total"] > 0
            each.payload["said"].append("nothing")
            assert each.decision.match is not None
        assert cache.stats().sources == {"model": 1, "cache": 3}


def test_a_reply_recorded_anew_is_what_is_repeated_from_then_on(opened: Callable[..., StepCache]) -> None:
    with opened() as cache:
        asked = model("The Ob.", "The Lena.")
        often(cache, asked)
        assert cache.complete(ASKED, asked, control=CacheControl(refresh=True)).output == "The Lena."
        assert {each.output for each in often(cache, asked)} == {"The Lena."}
        assert len(asked.calls) == 2


@pytest.mark.parametrize("remove", [
    lambda cache, result: cache.forget(result),
    lambda cache, result: cache.forget(result.key),
    lambda cache, result: cache.clear(),
    lambda cache, result: cache.clear(namespace="default"),
    lambda cache, result: cache.store.delete("default", [result.key]),
], ids=["forget", "forget by key", "clear", "clear a namespace", "delete in the store"])
def test_what_is_removed_is_not_repeated(opened: Callable[..., StepCache], remove: Any) -> None:
    with opened() as cache:
        asked = model("The Ob.", "The Lena.")
        remove(cache, often(cache, asked)[-1])
        assert cache.complete(ASKED, asked).output == "The Lena."


def test_what_has_expired_or_is_too_old_for_the_caller_is_not_repeated(opened: Callable[..., StepCache]) -> None:
    clock = Clock()
    with opened(clock=clock) as cache:
        asked = model("The Ob.", "The Lena.", "The Yenisei.")
        often(cache, asked, control=CacheControl(ttl=60))
        clock.now += 59
        assert cache.complete(ASKED, asked).output == "The Ob."
        assert cache.complete(ASKED, asked, control=CacheControl(max_age=10, no_store=True)).output == "The Lena."
        clock.now += 1
        assert cache.complete(ASKED, asked).output == "The Yenisei."


def test_namespaces_and_wishes_hold_for_repetitions(opened: Callable[..., StepCache],
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as cache:
        asked = model("The Ob.", "The Lena.", "The Yenisei.", "The Mackenzie.")
        often(cache, asked)
        assert cache.complete(ASKED, asked, namespace="other").output == "The Lena."
        with control(no_cache=True, no_store=True):
            assert cache.complete(ASKED, asked).output == "The Yenisei."
        monkeypatch.setenv("STEPCACHE_DISABLED", "1")
        assert cache.complete(ASKED, asked).output == "The Mackenzie."
        monkeypatch.delenv("STEPCACHE_DISABLED")
        assert cache.complete(ASKED, asked).output == "The Ob."


def test_shadow_mode_asks_the_model_for_repetitions_too(opened: Callable[..., StepCache]) -> None:
    with opened(policy=Policy(shadow=True)) as cache:
        asked = model("The Ob.")
        assert [each.source for each in often(cache, asked)] == ["model"] * 4


def test_hooks_are_told_of_every_repetition_and_cannot_change_it(opened: Callable[..., StepCache]) -> None:
    told: list[Result] = []

    def spoil(request: Request, result: Result) -> None:
        told.append(result)
        result.payload["said"].clear()

    with opened(hooks=(spoil,)) as cache:
        request = Request(ASKED)
        often(cache, model("The Ob."))
        shared = cache.repeat(request, request.key)
        assert shared is not None
        assert shared.payload == {**PAYLOAD, "text": "The Ob."}
        assert len(told) == 5


def test_an_unchanged_entry_is_the_same_object_and_a_changed_one_is_not(opened: Callable[..., StepCache]) -> None:
    with opened() as cache:
        result = often(cache, model("The Ob."))[-1]
        before = cache.store.peek("default", result.key)
        assert before is not None
        assert cache.store.peek("default", result.key) is before
        assert cache.store.get("default", result.key) is not before
        changed = private_copy(before)
        cache.store.delete("default", [result.key])
        cache.store.put(changed, None)
        assert cache.store.peek("default", result.key) is not before


class Copying(MemoryStore):
    """A store of someone else's whose `peek` gives another object each time."""

    def peek(self, namespace: str, key: str) -> Entry | None:
        found = super().peek(namespace, key)
        return None if found is None else private_copy(found)


def test_a_store_that_only_copies_is_served_as_right() -> None:
    with StepCache(Copying()) as cache:
        asked = model("The Ob.", "The Lena.")
        often(cache, asked)
        assert len(asked.calls) == 1
        cache.complete(ASKED, asked, control=CacheControl(refresh=True))
        assert {each.output for each in often(cache, asked)} == {"The Lena."}
