"""Talking to Chroma: opening a client and the few calls we make, each guarded by a circuit breaker.

Chroma is imported here and only when a store is first used. `embedding_function=None` everywhere: the default one
would download a model. No call filters by metadata: a `where` scans linearly (77 ms at 100,000 entries).
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from stepcache._breaker import Breaker
from stepcache.errors import ConfigurationError, StoreError

__all__ = ["Chroma", "Refused", "client_for_folder", "client_for_url", "import_chromadb", "parse_url", "sessions_of"]

_Answer = TypeVar("_Answer")
_PAGE = 1000
_GET_AT_ONCE = 500
_FAULT_OF_OURS = frozenset({"InvalidArgumentError", "InvalidDimensionException", "DuplicateIDError", "ValueError"})
_BROKEN_CONNECTION = frozenset({"ConnectError", "ReadError", "WriteError", "RemoteProtocolError", "CloseError"})


class Refused(StoreError):
    """Chroma works, but will not do what it was asked; asking again is no use."""


def import_chromadb() -> Any:
    """Chroma, which takes about a second to import; `StoreError` where it can't be."""
    try:
        import chromadb
    except ImportError as missing:
        raise StoreError('chromadb is not installed; run: pip install stepcache (it brings chromadb)') from missing
    except Exception as problem:  # an old SQLite, a stray .env file: Chroma's import itself may fail
        said = " ".join(re.sub("\x1b\\[[0-9;]*m", "", str(problem)).split())  # Chroma writes it for a terminal
        raise StoreError(f"chromadb cannot be imported: {said}") from problem
    return chromadb


def client_for_folder(path: str, generation: int = 0) -> Any:
    """A Chroma client on a folder. Chroma keeps one system per path text; `generation` gives a fork its own."""
    chromadb = import_chromadb()
    return chromadb.PersistentClient(
        os.path.join(path, *["."] * generation), settings=chromadb.Settings(anonymized_telemetry=False))


def parse_url(url: str) -> tuple[str, int, bool]:
    """Host, port and whether to use TLS; raises `ConfigurationError` saying what to write."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except (ValueError, AttributeError, TypeError):
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f'url takes a server\'s address such as url="http://localhost:8000", not {url!r}')
    if parts.path.strip("/") or parts.query or parts.username:
        raise ConfigurationError(f"url takes scheme, host and port only (use headers= for credentials), not {url!r}")
    tls = parts.scheme == "https"
    return parts.hostname, port or (443 if tls else 8000), tls


def client_for_url(url: str, headers: Mapping[str, str] | None, timeout: float) -> Any:
    """A Chroma client of a server."""
    chromadb = import_chromadb()
    host, port, tls = parse_url(url)
    socket.create_connection((host, port), timeout=1.0).close()  # Chroma itself would wait for minutes
    client = chromadb.HttpClient(
        host=host, port=port, ssl=tls, headers=dict(headers or {}),
        settings=chromadb.Settings(anonymized_telemetry=False))
    for session in sessions_of(client):  # Chroma waits for ever and has no setting for it
        session.timeout = timeout
    return client


def sessions_of(client: Any) -> list[Any]:
    """The connection pools of a server's client: its own, and that of the administrator it brings along."""
    servers = (getattr(part, "_server", None) for part in (client, getattr(client, "_admin_client", None)))
    return [session for server in servers if (session := getattr(server, "_session", None)) is not None]


class Chroma:
    """The calls we make, on collections by name. Raises `StoreError`; a collection that is gone reads as empty."""

    def __init__(
        self,
        client: Any,
        breaker: Breaker,
        may_probe: Callable[[], bool] = lambda: True,
        retries: int = 0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.client = client
        self.breaker = breaker
        self._may_probe = may_probe  # a caller should not wait for a dead server; the writer's thread may
        self._retries = retries
        self._pause = pause
        self._collections: dict[str, Any] = {}
        self._at_once = 5000

    def guarded(self, call: Callable[[], _Answer], missing: _Answer) -> _Answer:
        """Make one call. An open breaker refuses at once; a lost connection is tried again, with jitter."""
        if not (self.breaker.closed or (self._may_probe() and self.breaker.allow())):
            raise StoreError("Chroma is not answering; it will be asked again shortly")
        try:
            answer = self._tried(call)
        except Exception as problem:  # Chroma raises its own, httpx's, sqlite's and plain ValueErrors
            name = type(problem).__name__
            if name == "NotFoundError":
                self._collections.clear()
                self.breaker.success()
                return missing
            if name in _FAULT_OF_OURS:
                self.breaker.success()
                raise Refused(f"Chroma: {name}: {problem}") from problem
            self.breaker.failure()
            raise StoreError(f"Chroma: {name}: {problem}") from problem
        except BaseException:
            self.breaker.failure()
            raise
        self.breaker.success()
        return answer

    def _tried(self, call: Callable[[], _Answer]) -> _Answer:
        for attempt in range(self._retries):
            try:
                return call()
            except Exception as problem:  # every call is idempotent; only a broken connection is worth another try
                if type(problem).__name__ not in _BROKEN_CONNECTION:
                    raise
                self._pause((attempt + 1) * random.uniform(0.01, 0.05))
        return call()

    def names(self) -> list[tuple[str, Any, str]]:
        """Name, metadata and distance of every collection."""
        def call() -> list[tuple[str, Any, str]]:
            self._at_once = int(self.client.get_max_batch_size())
            found: list[tuple[str, Any, str]] = []
            while True:
                page = self.client.list_collections(limit=_PAGE, offset=len(found))
                found.extend((made.name, made.metadata, _space(made)) for made in page)
                if len(page) < _PAGE:
                    return found

        return self.guarded(call, [])

    def create(self, name: str, metadata: Mapping[str, Any]) -> None:
        def call() -> str:
            made = self.client.get_or_create_collection(
                name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}, metadata=dict(metadata))
            self._collections[name] = made
            return _space(made)

        if (space := self.guarded(call, "cosine")) != "cosine":  # Chroma ignores the one asked for
            del self._collections[name]
            raise Refused(f"collection {name} is there already, with distance {space}")

    def drop(self, name: str) -> None:
        self._collections.pop(name, None)
        self.guarded(lambda: self.client.delete_collection(name), None)

    def count(self, name: str) -> int:
        return self.guarded(lambda: int(self._collection(name).count()), 0)

    def dimension(self, name: str) -> int:
        """Of the vectors in a collection; 0 if it holds none."""
        def call() -> int:
            found = self._collection(name).get(limit=1, include=["embeddings"])["embeddings"]
            return 0 if found is None or not len(found) else len(found[0])

        return self.guarded(call, 0)

    def upsert(
        self, name: str, ids: Sequence[str], vectors: Sequence[Any], metadatas: Sequence[Mapping[str, Any]]
    ) -> None:
        import numpy

        def call() -> bool:
            collection = self._collection(name)
            for at in range(0, len(ids), self._at_once):
                part = slice(at, at + self._at_once)
                collection.upsert(
                    ids=list(ids[part]),
                    embeddings=numpy.stack([numpy.asarray(row, dtype=numpy.float32) for row in vectors[part]]),
                    metadatas=[dict(metadata) for metadata in metadatas[part]],
                )
            return True

        if not self.guarded(call, False):
            raise StoreError(f"collection {name} is gone")

    def delete(self, name: str, ids: Sequence[str]) -> None:
        def call() -> None:
            collection = self._collection(name)
            for at in range(0, len(ids), _GET_AT_ONCE):
                collection.delete(ids=list(ids[at:at + _GET_AT_ONCE]))

        if ids:
            self.guarded(call, None)

    def get(self, name: str, ids: Sequence[str], vectors: bool = False) -> dict[str, tuple[Any, Any]]:
        """Metadata and vector by id, of those that exist."""
        found: dict[str, tuple[Any, Any]] = {}

        def call() -> None:
            collection = self._collection(name)
            for at in range(0, len(ids), _GET_AT_ONCE):
                found.update(_rows(collection.get(
                    ids=list(ids[at:at + _GET_AT_ONCE]), include=_include(vectors))))

        if ids:
            self.guarded(call, None)
        return found

    def pages(self, name: str, start: int = 0, vectors: bool = False) -> Iterator[dict[str, tuple[Any, Any]]]:
        """All records from the `start`-th on, a page at a time, in the order in which they came."""
        while page := self._page(name, start, vectors):
            yield page
            if len(page) < _PAGE:
                return
            start += _PAGE

    def _page(self, name: str, start: int, vectors: bool) -> dict[str, tuple[Any, Any]]:
        def call() -> dict[str, tuple[Any, Any]]:
            return _rows(self._collection(name).get(limit=_PAGE, offset=start, include=_include(vectors)))

        return self.guarded(call, {})

    def nearest(
        self, name: str, vector: Sequence[float], limit: int, ids: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """Ids and cosines of the nearest records, nearest first."""
        import numpy

        def call() -> list[tuple[str, float]]:
            extra = {} if ids is None else {"ids": list(ids)}
            found = self._collection(name).query(
                query_embeddings=numpy.asarray([vector], dtype=numpy.float32), n_results=limit,
                include=["distances"], **extra)
            return [
                (id_, max(-1.0, min(1.0, 1.0 - float(distance))))
                for id_, distance in zip(found["ids"][0], found["distances"][0], strict=True)
            ]

        return self.guarded(call, [])

    def close(self) -> None:
        """Let go of the client; never raises."""
        self._collections.clear()
        with contextlib.suppress(Exception):
            self.client.close()

    def _collection(self, name: str) -> Any:
        found = self._collections.get(name)
        if found is None:
            found = self.client.get_collection(name, embedding_function=None)
            self._collections[name] = found
        return found


def _space(collection: Any) -> str:
    """The distance of a collection; taken to be ours where Chroma does not tell."""
    found = (getattr(collection, "configuration", None) or {}).get("hnsw") or {}
    return str(found.get("space", "cosine"))


def _include(vectors: bool) -> list[str]:
    return ["metadatas", "embeddings"] if vectors else ["metadatas"]


def _rows(found: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    ids, metadatas, embeddings = found["ids"], found["metadatas"], found.get("embeddings")
    return {
        id_: (metadatas[row] if metadatas is not None else None, None if embeddings is None else embeddings[row])
        for row, id_ in enumerate(ids)
    }
