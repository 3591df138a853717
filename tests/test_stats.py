"""What is counted: every decision once, by stage and by model; snapshots add up and survive a file; logs stay quiet."""

from __future__ import annotations

import asyncio
import logging
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepcache import Completion, ConfigurationError, Policy, Request, Stats, StepCache
from stepcache._histogram import SECONDS, TOKENS, Histogram
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder, ScriptedModel

EQUATION = "1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5"


def spent(text: str, prompt_tokens: int = 10, completion_tokens: int = 30):
    def model(prompt: str, purpose: str) -> Completion:
        return Completion(text, {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens})

    return model


def asked(prompt: str, model: str = "small#1234", namespace: str = "default") -> Request:
    return Request(prompt, model=model, namespace=namespace)


# -- histograms ------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1000)), st.lists(st.floats(0, 1000)))
def test_histograms_add_up_to_that_of_all_values(some, others):
    both = Histogram.of(some) + Histogram.of(others)
    whole = Histogram.of([*some, *others])
    assert both.counts == whole.counts
    assert both.count == len(some) + len(others)
    assert math.isclose(both.total, whole.total, abs_tol=1e-6)


@given(st.lists(st.floats(0, 400), min_size=1), st.floats(0, 1))
def test_a_quantile_bounds_that_share_of_the_values(values, share):
    bound = Histogram.of(values).quantile(share)
    assert sum(value <= bound for value in values) >= share * len(values)


def test_a_value_on_a_bound_counts_below_it_and_one_above_all_is_kept():
    histogram = Histogram.of([1.0, 1.5, 3.0], bounds=(1.0, 2.0))
    assert histogram.counts == (1, 1, 1)
    assert (histogram.quantile(0.3), histogram.quantile(0.5), histogram.quantile(1)) == (1.0, 2.0, math.inf)
    assert Histogram.of([]).quantile(0.5) is None
    assert Histogram.of([]).mean is None


def test_what_is_no_histogram_is_refused():
    for bounds, counts in (((1.0, 2.0), (1, 2)), ((2.0, 1.0), (0, 0, 0)), ((1.0, 1.0), (0, 0, 0))):
        with pytest.raises(ConfigurationError):
            Histogram(bounds, counts)
    with pytest.raises(ConfigurationError):
        Histogram.of([], SECONDS) + Histogram.of([], TOKENS)
    with pytest.raises(ConfigurationError):
        Histogram.of([]).quantile(1.5)


# -- counting --------------------------------------------------------------------------------------------------------


def test_every_decision_is_counted_by_outcome_source_and_reason():
    cache = StepCache(MemoryStore(), HashEmbedder())
    model = spent(EQUATION)
    for prompt in ("Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 13 for x.", "Solve 2x + 3 = 15 for x."):
        cache.complete(asked(prompt), model)
    for prompt in ("Name a tree in Graz", "Name a tree in Linz"):
        cache.complete(asked(prompt), spent("elm"))
    stats = cache.stats()
    assert stats.outcomes == {"miss": 2, "reuse": 1, "patch": 1, "skip": 1}
    assert stats.sources == {"model": 3, "cache": 1, "rewrite": 1}
    assert sum(stats.skips.values()) == 1
    assert sum(stats.misses.values()) == 2
    assert sum(stats.outcomes.values()) == stats.requests == 5


def test_each_stage_has_a_histogram_and_the_parts_make_up_the_whole():
    cache = StepCache(MemoryStore(), HashEmbedder())
    results = [cache.complete(prompt, spent("elm")) for prompt in ("Name a tree", "Name a tree", "Name a bush")]
    seconds = cache.stats().seconds
    assert seconds["total"].count == seconds["decide"].count == seconds["fetch"].count == 3
    assert seconds["answer"].count == 2
    assert seconds["search"].count == 1  # the first request finds the store empty, the second an exact hit
    assert math.isclose(sum(h.total for stage, h in seconds.items() if stage != "total"), seconds["total"].total)
    for result in results:
        assert min(result.seconds.values()) >= 0
        assert math.isclose(sum(result.seconds.values()), 2 * result.seconds["total"])


def test_the_time_of_a_result_is_no_part_of_its_value():
    cache = StepCache(MemoryStore())
    cache.complete("Name a tree", spent("elm"))
    first, again = (cache.complete("Name a tree", spent("elm")) for _ in range(2))
    assert first == again
    assert first.seconds != again.seconds


async def test_async_and_streamed_requests_are_timed_by_the_same_stages():
    def streaming(prompt, purpose):
        yield "elm"

    async def calling(prompt, purpose):
        return "elm"

    async def astreaming(prompt, purpose):
        yield "elm"

    stages = []
    for number in range(4):
        cache = StepCache(MemoryStore())
        if number == 0:
            cache.complete("Name a tree", ScriptedModel("elm"))
        elif number == 1:
            await cache.acomplete("Name a tree", calling)
        elif number == 2:
            assert list(cache.stream("Name a tree", streaming))
        else:
            assert [item async for item in cache.astream("Name a tree", astreaming)]
        stages.append({stage: histogram.count for stage, histogram in cache.stats().seconds.items()})
    assert stages[0]["answer"] == 1
    assert stages == [stages[0]] * 4


async def test_a_follower_counts_its_waiting():
    cache, release = StepCache(MemoryStore()), asyncio.Event()

    async def slow(prompt, purpose):
        await release.wait()
        return "elm"

    both = [asyncio.create_task(cache.acomplete("Name a tree", slow)) for _ in range(2)]
    while not cache._flights._under_way:
        await asyncio.sleep(0)
    for _ in range(20):  # the second boards, too
        await asyncio.sleep(0)
    release.set()
    results = [await task for task in both]
    assert [result.shared for result in results] == [False, True]
    seconds = cache.stats().seconds
    assert (seconds["total"].count, seconds["answer"].count, seconds["wait"].count) == (2, 1, 1)
    assert set(results[1].seconds) == {"wait", "decide", "total"}


def test_a_lookup_that_finds_nothing_is_a_decision_too(caplog):
    told = []
    cache = StepCache(MemoryStore(), HashEmbedder(), hooks=[lambda request, result: told.append(result)])
    assert cache.lookup("Name a tree in Graz") is None
    cache.record("Name a tree in Graz", "elm")
    with caplog.at_level(logging.INFO, "stepcache"):
        assert cache.lookup("Name a tree in Linz") is None
        assert asyncio.run(cache.alookup("Name a tree in Graz")).output == "elm"
    assert [(result.outcome, result.source) for result in told] == [
        ("miss", "model"), ("skip", "model"), ("reuse", "cache")]
    assert cache.stats().outcomes == {"miss": 1, "skip": 1, "reuse": 1}
    assert cache.stats().calls == 0
    assert any(record.getMessage().startswith("skip: ") for record in caplog.records)


def test_counts_of_many_threads_are_whole():
    cache = StepCache(MemoryStore())

    def work(number: int) -> None:
        for turn in range(50):
            cache.complete(asked(f"Name a tree {turn}", namespace=f"n{number % 2}"), spent("elm"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole, parts = cache.stats(), [cache.stats("n0"), cache.stats("n1")]
    assert whole.requests == whole.seconds["total"].count == 400
    assert [part.requests for part in parts] == [200, 200]
    assert sum(parts).requests == 400
    assert sum(parts).outcomes == whole.outcomes
    assert sum(parts).seconds["fetch"].counts == whole.seconds["fetch"].counts


# -- money -----------------------------------------------------------------------------------------------------------


def test_money_follows_the_users_prices_by_model_and_kind_of_token():
    cache = StepCache(MemoryStore())
    for _ in range(3):
        cache.complete(asked("Name a tree", "small#1"), spent("elm", 100, 10))
        cache.complete(asked("Name a tree", "large#2"), spent("elm", 100, 10))
    stats = cache.stats()
    money = stats.money({"small": (1.0, 10.0), "large": 5.0})
    assert money.unpriced == ()
    assert math.isclose(money.spent, (100 * 1 + 10 * 10 + 110 * 5) / 1e6)
    assert math.isclose(money.saved, 2 * money.spent)
    assert stats.money({"small": 1.0}).unpriced == ("large",)
    assert math.isclose(stats.money({"*": 1.0}).saved, 440 / 1e6)
    for wrong in (-1.0, (1.0,), "cheap", True):
        with pytest.raises(ConfigurationError):
            stats.money({"*": wrong})


def test_a_patch_saves_what_the_reply_cost_less_what_the_patch_does():
    cache = StepCache(MemoryStore())
    keys = "Return a JSON object with keys {} for the person Bob Lee, aged 30."
    cache.complete(asked(keys.format("name and age")), spent('{"name": "Bob Lee", "age": 30}', 50, 40))
    result = cache.complete(asked(keys.format("name, age and city")), spent('{"city": "Graz"}', 20, 5))
    assert result.source == "patch"
    counts = cache.stats().models["small"]
    assert (counts.prompt, counts.completion) == (70, 45)
    assert (counts.saved_prompt, counts.saved_completion) == (30, 35)
    assert cache.stats().saved == result.saved == 65
    assert cache.stats().saved_each.count == 1
    assert cache.stats().saved_each.total == 65


# -- snapshots -------------------------------------------------------------------------------------------------------


def test_a_snapshot_survives_a_file_and_adds_up(tmp_path):
    cache = StepCache(MemoryStore(), HashEmbedder())
    for prompt in ("Name a tree", "Name a tree", "Name a bush in Graz", "Name a bush in Linz"):
        cache.complete(asked(prompt), spent("elm"))
    stats = cache.stats()
    stats.save(tmp_path / "new" / "stats.json")
    loaded = Stats.load(tmp_path / "new" / "stats.json")
    assert loaded == stats
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["stats.json"]
    both = loaded + stats
    assert both.requests == 2 * stats.requests
    assert both.outcomes == {name: 2 * count for name, count in stats.outcomes.items()}
    assert both.seconds["total"].count == 2 * stats.requests
    assert both.models["small"].prompt == 2 * stats.models["small"].prompt
    assert stats + Stats() == Stats() + stats == stats


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"requests": 1, "seconds": {"total": {}}}', '{"seconds": 3}'])
def test_a_file_that_holds_no_statistics_is_refused(tmp_path, text):
    (tmp_path / "stats.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError):
        Stats.load(tmp_path / "stats.json")
    with pytest.raises(ConfigurationError):
        Stats.load(tmp_path / "none.json")


# -- logging ---------------------------------------------------------------------------------------------------------


class Quoting(HashEmbedder):
    """Its errors repeat the text they failed on, as a tokenizer's may."""

    def embed(self, text):
        raise ValueError(f"can't embed {text}")

    def embed_many(self, texts):
        raise ValueError(f"can't embed {texts}")


class QuotingStore(MemoryStore):
    blocking = True

    def search(self, namespace, partition, fingerprint, vector, limit):
        raise ValueError("can't search SECRET")

    def by_template(self, namespace, template, limit):
        raise ValueError("can't look up SECRET")


def quoting(*texts):
    raise ValueError(f"failed on {texts!r} SECRET")


@pytest.mark.parametrize("options", [
    {}, {"embedder": Quoting()}, {"tasks": (quoting,)}, {"hooks": (quoting,)}, {"store": QuotingStore()},
    {"policy": Policy(judge=quoting)}, {"policy": Policy(should_store=quoting)}, {"policy": Policy(shadow=True)},
], ids=str)
def test_no_prompt_and_no_reply_is_logged_above_debug(options, caplog):
    """Even where an error message or a traceback repeats them; at DEBUG they may be seen."""
    options = {"store": MemoryStore(), "embedder": HashEmbedder(), "tasks": (plain_text(),), **options}
    cache = StepCache(**options)
    with caplog.at_level(logging.DEBUG, "stepcache"):
        for prompt in ("Name a SECRET tree in Graz", "Name a SECRET tree in Linz", "Name a SECRET tree in Graz"):
            assert cache.complete(prompt, ScriptedModel("SECRET elm")).output == "SECRET elm"
        cache.lookup("Name a SECRET tree in Linz today")
        cache._backend.settle()
    shown = [logging.Formatter("%(message)s").format(record) for record in caplog.records
             if record.levelno > logging.DEBUG]
    assert not [line for line in shown if "SECRET" in line]
    assert [record for record in caplog.records if record.levelno == logging.DEBUG]
