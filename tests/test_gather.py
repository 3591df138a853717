"""Vectors of texts: remembered, embedded together where that pays, and never one for another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from stepcache import StepCache
from stepcache._gather import Gathered
from stepcache.errors import EmbeddingError
from stepcache.testing import HashEmbedder, ScriptedModel

HASHED = HashEmbedder(16)


class Slow:
    """Gives hashed vectors once it is let go, and keeps the lists it was given."""

    def __init__(self) -> None:
        self.lists: list[list[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        self.lists.append(list(texts))
        self.begun.set()
        assert self.go.wait(20)
        if any("bad" in text for text in texts):
            raise EmbeddingError("a bad text")
        return [HASHED.embed(text) for text in texts]


def asked_at_once(gathered: Gathered, slow: Slow, first: str, others: list[str]) -> list[object]:
    """Ask for `others` while the embedder works on `first`; the vectors or errors of all, in their order."""
    def ask(text: str) -> object:
        try:
            return gathered.vector(text)
        except EmbeddingError as error:
            return str(error)

    with ThreadPoolExecutor(len(others) + 1) as pool:
        running = [pool.submit(ask, first)]
        assert slow.begun.wait(20)
        running += [pool.submit(ask, text) for text in others]
        while len(gathered._waiting) < len(set(others)):
            threading.Event().wait(0.001)
        slow.go.set()
        return [each.result(20) for each in running]


def test_texts_wanted_while_the_embedder_works_go_to_it_together() -> None:
    slow = Slow()
    gathered = Gathered(slow, together=True)
    others = ["tea", "rivers", "bridges", "tea"]
    assert asked_at_once(gathered, slow, "first", others) == [HASHED.embed(text) for text in ["first", *others]]
    assert slow.lists[0] == ["first"]
    assert [sorted(texts) for texts in slow.lists[1:]] == [["bridges", "rivers", "tea"]]


def test_one_bad_text_costs_only_itself_its_vector() -> None:
    slow = Slow()
    others = ["tea", "a bad one", "rivers"]
    found = asked_at_once(Gathered(slow, together=True), slow, "first", others)
    assert found == [HASHED.embed("first"), HASHED.embed("tea"), "a bad text", HASHED.embed("rivers")]


def test_an_embedder_that_says_nothing_is_asked_for_each_text_alone() -> None:
    slow = Slow()
    slow.go.set()
    gathered = Gathered(slow, together=False)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(gathered.vector, ["a", "b", "c", "d"]))
    assert sorted(slow.lists) == [["a"], ["b"], ["c"], ["d"]]


def test_vectors_are_remembered_in_a_bounded_number_and_faults_are_not() -> None:
    slow = Slow()
    slow.go.set()
    gathered = Gathered(slow, together=True)
    for number in range(1000):
        gathered.vector(str(number))
    assert len(slow.lists) == 1000
    assert gathered.vector("999") == HASHED.embed("999")
    assert len(slow.lists) == 1000
    gathered.vector("0")
    assert len(slow.lists) == 1001
    for _ in range(2):
        with pytest.raises(EmbeddingError):
            gathered.vector("bad")
    assert len(slow.lists) == 1003


def test_an_embedder_that_gives_too_few_vectors_is_a_fault() -> None:
    with pytest.raises(EmbeddingError, match="0 vectors for 1"):
        Gathered(lambda texts: [], together=True).vector("tea")


class Batching(HashEmbedder):
    """A hash embedder that says that lists pay, and keeps their lengths."""

    batches = True

    def __init__(self) -> None:
        super().__init__(64)
        self.lengths: list[int] = []

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        self.lengths.append(len(texts))
        return super().embed_many(texts)


def test_a_crowd_of_requests_gets_the_same_replies_as_one_by_one() -> None:
    prompts = [f"Name {number} rivers of the north." for number in range(2, 40)]

    async def crowd(cache: StepCache) -> list[str]:
        model = ScriptedModel(lambda prompt, purpose: f"Of those rivers: {prompt}")
        found = await asyncio.gather(*(cache.acomplete(prompt, model.acall) for prompt in prompts))
        return [result.output for result in found]

    embedder = Batching()
    with StepCache.open(":memory:", embedder=embedder) as cache:
        cache.complete("Name 1 river of the north.", ScriptedModel("The Ob."))
        cache.flush()
        assert asyncio.run(crowd(cache)) == [f"Of those rivers: {prompt}" for prompt in prompts]
        cache.flush()
        vectors = {entry.request.prompt: tuple(vector) for entry, vector in cache.store.scan() if vector is not None}
    assert set(vectors) >= set(prompts)
    for prompt in prompts:
        assert vectors[prompt] == pytest.approx(HashEmbedder(64).embed(prompt), abs=1e-6)
