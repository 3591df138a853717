"""With a real embedder: a reuse by embedding beside GPTCache's `get`, and 64 tasks beside the embedder alone."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.gptcache import NEEDED, open_gptcache
from benchmarks.speed.timing import Taken, in_turn
from benchmarks.speed.worlds import FOLDER, QUESTION, REPLY, REWORDED, found_by_embedding, never
from stepcache import Completion, Policy, StepCache
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder

__all__ = ["against_gptcache", "tasks_on_hits"]

_PATIENT = Policy(cache_timeout=60)  # on a busy machine an embedding late by seconds would be counted as none
_FOUND_BY_TEMPLATE = "Why is the Danube of so much use to the cities of Austria?"
_POLITE = "Hi! Why is the Danube of so much use to the cities of Austria? Thanks."
_TOPICS = ("river", "mountain", "bridge", "harbour", "forest", "island", "glacier", "canal", "valley", "coast")


def _others(many: int) -> list[str]:
    return [f"Why is the {_TOPICS[i % 10]} of region {i} so well known?" for i in range(many)]


def against_gptcache(seconds: float, entries: int = 200) -> tuple[dict[str, Taken], str]:
    """Milliseconds to answer a rewording out of so many entries, embedding included; and why GPTCache is missing."""
    embedder = SentenceTransformerEmbedder()
    embedder.load()
    calls: dict[str, Callable[[int], Any]] = {"the embedding alone": lambda number: embedder.embed(_fresh(number))}
    missing = ""
    with tempfile.TemporaryDirectory() as place:
        cache = StepCache.open(Path(place) / "stepcache", embedder=embedder, policy=_PATIENT)
        for prompt in _others(entries):
            cache.record(prompt, REPLY)
        found_by_embedding(cache)
        cache.record(_FOUND_BY_TEMPLATE, REPLY)
        cache.flush()
        calls["StepCache, by template"] = lambda number: cache.complete(_POLITE + " " * number, never)
        calls["StepCache, by embedding"] = lambda number: cache.complete(_fresh(number), never)
        try:
            calls["GPTCache get"] = _gptcache(embedder, entries)
        except ImportError as error:
            missing = f"{error}; {NEEDED}"
        taken = in_turn(calls, seconds)
        cache.close()
    return taken, missing


def _fresh(number: int) -> str:
    """The same question in bytes not met before, so that no embedding is remembered."""
    return REWORDED + " " * number


def _gptcache(embedder: Any, entries: int) -> Callable[[int], Any]:
    cache = open_gptcache(embedder, FOLDER / "gptcache")
    from gptcache.adapter.api import get, put

    for prompt in [*_others(entries), QUESTION]:
        put(prompt, REPLY, cache_obj=cache)

    def call(number: int) -> None:
        assert get(_fresh(number), cache_obj=cache) is not None

    return call


def tasks_on_hits(seconds: float, tasks: int = 64) -> dict[str, float]:
    """Reuses a second by embedding from so many tasks, and embeddings a second that the embedder alone makes."""
    embedder = SentenceTransformerEmbedder()
    embedder.load()
    cache = StepCache.open(":memory:", embedder=embedder, policy=_PATIENT)
    found_by_embedding(cache)
    number = 0

    def fresh() -> str:
        nonlocal number
        number += 1
        return _fresh(number)

    async def no_model(prompt: str, purpose: str) -> Completion:
        return never(prompt, purpose)

    async def one(until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            await cache.acomplete(fresh(), no_model)
            done += 1
        return done

    async def crowd() -> float:
        start = time.perf_counter()
        done = sum(await asyncio.gather(*(one(start + seconds) for _ in range(tasks))))
        return done / (time.perf_counter() - start)

    def alone() -> float:
        start, done = time.perf_counter(), 0
        while time.perf_counter() < start + seconds:
            embedder.embed(fresh())
            done += 1
        return done / (time.perf_counter() - start)

    rates = [(alone(), asyncio.run(crowd())) for _ in range(3)]
    rates.sort(key=lambda pair: pair[1] / pair[0])
    return {"the embedder alone": rates[1][0], f"{tasks} tasks": rates[1][1]}
