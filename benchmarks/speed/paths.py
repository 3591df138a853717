"""Every path of the core, timed at one size: what each costs beyond the model's own time."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.speed.timing import Taken, measure
from benchmarks.speed.worlds import (
    EQUATION,
    QUESTION,
    REPLY,
    REWORDED,
    SOLUTION,
    filled,
    found_by_embedding,
    never,
)
from stepcache import CacheControl, Completion, Request, StepCache
from stepcache._codec import private_copy
from stepcache._decide import decide
from stepcache._flow import recognise
from stepcache._gate import gate, template_form
from stepcache.segment import segment
from stepcache.tasks import DEFAULT_TASKS

__all__ = ["at_size", "by_length", "stages"]

_UNRECORDED = CacheControl(no_store=True)
_JSON = "Ann is 34 and lives in Rome. Return a JSON object with the keys name, age, city."
_JSON_REPLY = json.dumps({"name": "Ann", "age": 34, "city": "Rome"})


def at_size(kind: str, entries: int, seconds: float) -> dict[str, Taken]:
    """Milliseconds of each path with so many entries in the partition."""
    cache = filled(kind, entries)
    # anew: a folder may keep what another version recorded
    cache.complete(EQUATION, lambda prompt, purpose: SOLUTION, control=CacheControl(refresh=True))
    cache.complete(_JSON, lambda prompt, purpose: _JSON_REPLY, control=CacheControl(refresh=True))
    found_by_embedding(cache)
    cache.flush()
    taken = {name: measure(call, seconds) for name, call in _paths(cache).items()}
    embedding = measure(lambda number: cache.embedder and cache.embedder.embed(_unseen(number)), seconds / 3)
    taken["miss beyond the embedding"] = taken.pop("miss").without(embedding)
    taken["skip beyond the embedding"] = taken.pop("skip").without(embedding)
    if cache.store.count() > entries + 10_000:
        cache.clear()  # a folder that has grown over many runs is filled anew
    cache.close()
    return taken


def _paths(cache: StepCache) -> dict[str, Any]:
    loop = asyncio.new_event_loop()

    def streamed(number: int) -> None:
        for _ in cache.stream(EQUATION, _no_stream):
            pass

    def recorded(number: int) -> None:
        cache.record(f"What is said in chapter {number} of volume {time.perf_counter_ns()}?", REPLY)

    return {
        "exact hit": lambda number: cache.complete(EQUATION, never),
        "exact hit, async": lambda number: loop.run_until_complete(cache.acomplete(EQUATION, _no_async)),
        "exact hit, streamed": streamed,
        "reuse by template": lambda number: cache.complete("Please " + EQUATION[0].lower() + EQUATION[1:], never),
        "rewrite, equation": lambda number: cache.complete(
            f"Solve 2x + 3 = {2 * number + 1001} for x.", never, control=_UNRECORDED),
        "rewrite, JSON": lambda number: cache.complete(
            _JSON.replace("name, age, city", ("name, age", "age, city", "city, name")[number % 3]), never,
            control=_UNRECORDED),
        "reuse by embedding, vector at hand": lambda number: cache.complete(REWORDED, never),
        "skip": lambda number: cache.complete(
            f"What is the largest ocean of {number} planets?", _fresh, control=_UNRECORDED),
        "miss": lambda number: cache.complete(_unseen(number), _fresh, control=_UNRECORDED),
        "record": recorded,
        "explain": lambda number: cache.explain(f"Solve 2x + 3 = {2 * number + 101} for x."),
    }


def by_length(seconds: float) -> dict[str, Taken]:
    """An exact hit as the prompt and the context around it grow."""
    cache = filled("memory", 100)
    taken = {}
    for chars in (30, 2_000, 20_000):
        prompt = ("Tell me about the rivers of the north. " * (chars // 30 + 1))[:chars]
        for name, request in ((f"prompt of {chars:,} characters", Request(prompt)),
                              (f"context of {chars:,} characters", Request(QUESTION, context=prompt))):
            cache.complete(request, _fresh)
            taken[name] = measure(lambda number, request=request: cache.complete(request, never), seconds)  # type: ignore[misc]
    return taken


def stages(kind: str, entries: int, seconds: float) -> dict[str, Taken]:
    """The parts a request is made of, one by one."""
    cache = filled(kind, entries)
    embedder = cache.embedder
    assert embedder is not None
    found_by_embedding(cache)
    cache.complete(EQUATION, lambda prompt, purpose: SOLUTION)
    cache.flush()
    request, reworded, equation = Request(QUESTION), Request(REWORDED), Request(EQUATION)
    vector = embedder.embed(REWORDED)
    spec = recognise(reworded, DEFAULT_TASKS)
    assert spec is not None
    matches = cache.store.search("default", request.partition, embedder.fingerprint, vector, cache.policy.candidates)
    calls: dict[str, Any] = {
        "key": lambda number: request.key,
        "fetch from memory": lambda number: cache.store.peek("default", equation.key),
        "recognise a question": lambda number: recognise(Request(_unseen(number)), DEFAULT_TASKS),
        "recognise an equation": lambda number: recognise(
            Request(f"Solve 2x + 3 = {number + 7} for x."), DEFAULT_TASKS),
        "template key": lambda number: template_form(_unseen(number)),
        "retrieve": lambda number: cache.store.search(
            "default", request.partition, embedder.fingerprint, vector, cache.policy.candidates),
        "gate": lambda number: gate(QUESTION + " " * (number % 2), REWORDED),
        "gate and verify, all candidates": lambda number: decide(matches, spec, REWORDED, cache.policy),
        "cut into steps": lambda number: segment(f"{SOLUTION}{number}"),
        "copy an entry": lambda number: private_copy(matches[0].entry),
    }
    taken = {name: measure(call, seconds) for name, call in calls.items()}
    cache.close()
    return taken


def crowd(seconds: float) -> dict[str, float]:
    """Exact hits a second from one thread, from eight, and from 64 tasks of one event loop."""
    cache = filled("memory", 1000)
    cache.complete(EQUATION, lambda prompt, purpose: SOLUTION)

    def hits(until: float, counted: list[int]) -> None:
        done = 0
        while time.perf_counter() < until:
            cache.complete(EQUATION, never)
            done += 1
        counted.append(done)

    def threads(many: int) -> float:
        counted: list[int] = []
        until = time.perf_counter() + seconds
        running = [threading.Thread(target=hits, args=(until, counted)) for _ in range(many)]
        for each in running:
            each.start()
        for each in running:
            each.join()
        return sum(counted) / seconds

    async def tasks(many: int) -> float:
        async def one(until: float) -> int:
            done = 0
            while time.perf_counter() < until:
                await cache.acomplete(EQUATION, _no_async)
                await asyncio.sleep(0)
                done += 1
            return done

        until = time.perf_counter() + seconds
        return sum(await asyncio.gather(*(one(until) for _ in range(many)))) / seconds

    return {"1 thread": threads(1), "8 threads": threads(8), "64 tasks": asyncio.run(tasks(64))}


def _unseen(number: int) -> str:
    return f"How would a clock maker number {number} count the {number * 7} teeth of a wheel?"


def _fresh(prompt: str, purpose: str) -> str:
    return REPLY


async def _no_async(prompt: str, purpose: str) -> Completion:
    return never(prompt, purpose)


def _no_stream(prompt: str, purpose: str) -> Iterator[str]:
    yield never(prompt, purpose).text
