"""What StepCache asks of the things it is given: tasks, models, stores, embedders, hooks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from stepcache._data import Completion, Entry, Match, Request, Result

if TYPE_CHECKING:  # the tasks package imports this module
    from stepcache.tasks._spec import Spec

__all__ = [
    "AsyncModel",
    "AsyncStreamingModel",
    "Embedder",
    "Hook",
    "Model",
    "Purpose",
    "Store",
    "StreamingModel",
    "Task",
]

Purpose = Literal["answer", "patch", "repair"]

Task = Callable[[Request], "Spec | None"]
Model = Callable[[str, str], Completion | str]
AsyncModel = Callable[[str, str], Awaitable[Completion | str]]
# A streaming model yields text pieces (or any opaque chunk) and may end with one Completion that joins them.
StreamingModel = Callable[[str, str], Iterator[Any]]
AsyncStreamingModel = Callable[[str, str], AsyncIterator[Any]]
Hook = Callable[[Request, Result], None]


class Embedder(Protocol):
    """Turns text into vectors. `fingerprint` names the vector space: other model or weights, other fingerprint.

    A class that sets `batches = True` embeds several texts at once in a fraction of their time one by one: texts that
    are wanted at the same time are then given to its `embed_many` together.
    """

    @property
    def fingerprint(self) -> str:
        """The name of the vector space; vectors of another are never compared with these."""
        ...

    def embed(self, text: str) -> Sequence[float]:
        """The vector of a text: finite numbers, not all zero, always of the same length."""
        ...

    def embed_many(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, in order, shape (texts, dimensions)."""
        ...


class Store(Protocol):
    """Where entries live. Every method is blocking and thread-safe and may raise `StoreError`.

    `namespace` is a wall: no call for one namespace returns, counts or changes anything of another. What was `put`
    is readable at once through the same object, however late it reaches the disk.
    """

    def get(self, namespace: str, key: str) -> Entry | None:
        """The entry with this key, expired or not, or None."""
        ...

    def peek(self, namespace: str, key: str) -> Entry | None:
        """As `get`, from memory alone: never blocks on a disk or network; None says nothing.

        The entry may be the stored object itself: who asks does not change it, and the same object again means that
        nothing has happened to the entry since.
        """
        ...

    def by_template(self, namespace: str, template: str, limit: int) -> tuple[Entry, ...]:
        """The latest `limit` entries recorded under a template key, newest first. No embedding is involved."""
        ...

    def has_vectors(self, namespace: str, partition: str, fingerprint: str) -> bool:
        """Whether a search of this partition could find anything (False saves the embedding)."""
        ...

    def search(
        self, namespace: str, partition: str, fingerprint: str, vector: Sequence[float], limit: int
    ) -> tuple[Match, ...]:
        """The nearest entries of one partition and vector space, nearest first, each confirmed to exist still."""
        ...

    def put(self, entry: Entry, vector: Sequence[float] | None) -> None:
        """Record or replace an entry; without a vector it can be found by key and template only."""
        ...

    def delete(self, namespace: str, keys: Iterable[str]) -> int:
        """Remove entries by key; returns how many were there."""
        ...

    def block(self, namespace: str, key: str, other: str) -> None:
        """Remember that the entry `key` must never again match the request with key `other`."""
        ...

    def blocked(self, namespace: str, other: str) -> frozenset[str]:
        """The entry keys that may not match the request with key `other`."""
        ...

    def scan(self, namespace: str | None = None) -> Iterator[tuple[Entry, Sequence[float] | None]]:
        """All entries (of one namespace, or of all) with their vectors, oldest first."""
        ...

    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that hold anything."""
        ...

    def count(self, namespace: str | None = None) -> int:
        """How many entries there are, of one namespace or of all."""
        ...

    def flush(self) -> None:
        """Return when everything put so far is where it will survive the process."""
        ...

    def clear(self, namespace: str | None = None) -> int:
        """Remove all entries and blocks of one namespace, or of all; returns how many entries went."""
        ...

    def compact(self) -> None:
        """Give back disk space that removed entries still hold."""
        ...

    def purge(self) -> None:
        """Leave no byte of removed text or vectors on disk."""
        ...

    def close(self) -> None:
        """Write what is still queued and let go of what the store holds open."""
        ...
