"""Caches filled with so many entries, in memory and on disk, and the few requests that are timed against them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepcache import Completion, Policy, Request, Step, StepCache
from stepcache._data import Entry
from stepcache.protocols import Store
from stepcache.stores.memory import MemoryStore
from stepcache.testing import HashEmbedder

__all__ = [
    "DIMENSIONS", "EQUATION", "FOLDER", "QUESTION", "REPLY", "REWORDED", "SOLUTION", "filled", "found_by_embedding",
    "never",
]

DIMENSIONS = 384  # as of all-MiniLM-L6-v2
EQUATION = "Solve 2x + 3 = 13 for x."
SOLUTION = "1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5"
QUESTION = "What is the largest ocean?"
REWORDED = "Which is the largest ocean?"
REPLY = "The Pacific is the largest ocean. It covers about a third of the surface of the Earth."
# another number where stores are filled in another way
FOLDER = Path(tempfile.gettempdir()) / "stepcache-speed-1"
_FILLER = "Note {} on rivers, and where the {} of them ends up in the year {}"


def never(prompt: str, purpose: str) -> Completion:
    """A model for requests that the cache must answer."""
    raise AssertionError(f"the model was asked to {purpose}: {prompt[:80]!r}")


def filled(kind: str, entries: int, embedder: Any = None) -> StepCache:
    """A cache with so many entries in one partition, with vectors.

    kind: "memory", or "disk", which is a folder that is kept from run to run, since filling a large one takes minutes.
    """
    embedder = embedder or HashEmbedder(DIMENSIONS)
    patient = Policy(cache_timeout=60)  # on a busy machine what comes late by seconds would be counted as nothing
    if kind == "memory":
        store: Store = MemoryStore()
        _fill(store, entries, embedder.fingerprint)
        return StepCache(store, embedder, policy=patient)
    from stepcache.stores.chroma import ChromaStore

    store = ChromaStore(path=FOLDER / str(entries))
    if store.count() < entries:
        store.clear()
        _fill(store, entries, embedder.fingerprint)
        store.flush()
    return StepCache(store, embedder, policy=patient)


def found_by_embedding(cache: StepCache) -> None:
    """Record a reply that its template key doesn't lead to, so that only its vector does."""
    assert cache.embedder is not None
    request = Request(QUESTION)
    entry = Entry(
        key=request.key, request=request, partition=request.partition, task="text",
        steps=(Step(REPLY),), residue=QUESTION, fingerprint=cache.embedder.fingerprint)
    cache.store.put(entry, cache.embedder.embed(QUESTION))
    cache.flush()


def _fill(store: Store, entries: int, fingerprint: str) -> None:
    for place, (entry, vector) in enumerate(_fillers(entries, fingerprint)):
        store.put(entry, vector)
        if place % 4000 == 3999:
            store.flush()


def _fillers(entries: int, fingerprint: str) -> Iterator[tuple[Entry, Any]]:
    """Replies of about 100 characters to prompts of as many, with directions drawn at random."""
    import numpy

    rng = numpy.random.default_rng(0)
    for number in range(entries):
        request = Request(_FILLER.format(number, ("water", "silt", "ice")[number % 3], 1800 + number % 300))
        yield Entry(
            key=request.key, request=request, partition=request.partition, task="text",
            steps=(Step(f"River {number} flows on for a while.\n"), Step("In the end it reaches the sea, as all do.")),
            residue=request.prompt, template=request.key, fingerprint=fingerprint, created_at=float(number),
        ), rng.standard_normal(DIMENSIONS, dtype=numpy.float32)
