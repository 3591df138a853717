"""The store on disk or on a server: Chroma."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stepcache._data import Entry, Match
from stepcache.errors import ConfigurationError, StoreError
from stepcache.stores._borrowed import ClientSite
from stepcache.stores._chroma_client import parse_url
from stepcache.stores._chroma_engine import Engine
from stepcache.stores._engines import leave, leave_soon, share
from stepcache.stores._folder import Folder
from stepcache.stores._limits import Limits, with_default_ttl
from stepcache.stores._site import FolderSite, Role, ServerSite, Site
from stepcache.stores._upkeep import check, compact, notes, purge, repair

__all__ = ["ChromaStore"]

_SERVER_TIMEOUT = 5.0


class ChromaStore:
    """Entries in Chroma: a folder (`path=`), a server (`url=`, `headers=`), or a client of yours (`client=`).

    client: any of Chroma's clients, blocking or async (awaited or not yet); it is used from threads of ours and left
        open. Callers need not be of its kind: no call of an async caller blocks its loop with either.
    default_ttl: seconds an entry lives that has no expiry of its own (None: for ever).
    max_entries, max_bytes: bounds over all namespaces; beyond them the least recently used entries of the largest
        namespace go.
    sync_writes: `put` returns when the entry is on disk; otherwise it is written within moments, in batches.
    read_only: nothing is ever written.
    signing_key: entries are signed with it (HMAC-SHA256 over record and vector); any other entry is not there.

    Nothing is imported or opened before first use. Raises `ConfigurationError` for options that cannot work.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        client: Any = None,
        default_ttl: float | None = None,
        max_entries: int | None = None,
        max_bytes: int | None = None,
        sync_writes: bool = False,
        read_only: bool = False,
        signing_key: bytes | str | None = None,
    ) -> None:
        if sum(given is not None for given in (path, url, client)) != 1:
            raise ConfigurationError(
                'ChromaStore takes one of path="./cache", url="http://localhost:8000" or client=a Chroma client')
        self._limits = Limits(default_ttl=default_ttl, max_entries=max_entries, max_bytes=max_bytes)
        self._path = None if path is None else os.fspath(path)
        if self._path is not None and (not self._path or "\x00" in self._path):
            raise ConfigurationError(f'path takes a folder such as path="./cache", not {path!r}')
        if url is not None:
            parse_url(url)
        if headers is not None and url is None:
            raise ConfigurationError("headers= goes with url=")
        self._url, self._headers, self._client = url, headers, client
        self._sync_writes = bool(sync_writes)
        self._read_only = bool(read_only)
        if isinstance(signing_key, str):
            signing_key = signing_key.encode("utf-8", "surrogatepass")
        if signing_key is not None and (type(signing_key) is not bytes or not signing_key):
            raise ConfigurationError("signing_key takes bytes or text, not empty")
        self._signing_key = signing_key
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._leave: Any = None
        self._closed = False

    def __repr__(self) -> str:
        return f"ChromaStore({self._where()!r})"

    def _where(self) -> str:
        return self._path or self._url or type(self._client).__name__

    def _open(self) -> Engine:
        engine = self._engine
        if engine is not None:
            return engine
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed")
            if self._engine is None:
                site = self._site()
                failures = 1 if site.role is Role.SHARED else 2  # before calls are refused for a while
                self._engine = share(site, self._limits, self._signing_key, failures)
                # A store that is dropped without being closed must not keep the folder.
                self._leave = weakref.finalize(self, leave_soon, self._engine)
                self._leave.atexit = False
            return self._engine

    def load(self) -> None:
        """Open the folder or server now; slow once (imports, migrations): for whoever bounds calls in time."""
        self._open().chroma()

    def _site(self) -> Site:
        if self._path is not None:
            return FolderSite(self._path, self._read_only)
        if self._url is not None:
            return ServerSite(self._url, self._headers, _SERVER_TIMEOUT)
        return ClientSite(self._client, _SERVER_TIMEOUT)

    def get(self, namespace: str, key: str) -> Entry | None:
        return self._open().reading.get(namespace, key)

    def peek(self, namespace: str, key: str) -> Entry | None:
        return None if self._engine is None else self._engine.reading.peek(namespace, key)

    def by_template(self, namespace: str, template: str, limit: int) -> tuple[Entry, ...]:
        return self._open().reading.by_template(namespace, template, limit)

    def has_vectors(self, namespace: str, partition: str, fingerprint: str) -> bool:
        return self._open().reading.has_vectors(namespace, partition, fingerprint)

    def search(
        self, namespace: str, partition: str, fingerprint: str, vector: Sequence[float], limit: int
    ) -> tuple[Match, ...]:
        return self._open().searching.search(namespace, partition, fingerprint, vector, limit)

    def put(self, entry: Entry, vector: Sequence[float] | None) -> None:
        if self._read_only:
            return
        engine = self._open()
        engine.changing.put(with_default_ttl(entry, self._limits.default_ttl), vector)
        if self._sync_writes:
            engine.queue.flush()

    def delete(self, namespace: str, keys: Iterable[str]) -> int:
        return 0 if self._read_only else self._open().changing.delete(namespace, keys)

    def block(self, namespace: str, key: str, other: str) -> None:
        if self._read_only:
            return
        engine = self._open()
        engine.changing.block(namespace, key, other)
        if self._sync_writes:
            engine.queue.flush()

    def blocked(self, namespace: str, other: str) -> frozenset[str]:
        return self._open().reading.blocked(namespace, other)

    def scan(self, namespace: str | None = None) -> Iterator[tuple[Entry, Sequence[float] | None]]:
        return self._open().reading.scan(namespace)

    def namespaces(self) -> tuple[str, ...]:
        engine = self._open()
        return tuple(name for name in engine.names() if engine.count(name))

    def count(self, namespace: str | None = None) -> int:
        return self._open().count(namespace)

    def flush(self) -> None:
        if self._engine is not None:
            self._engine.queue.flush()

    def clear(self, namespace: str | None = None) -> int:
        return 0 if self._read_only else self._open().changing.clear(namespace)

    def compact(self) -> None:
        """Give back disk space; takes a moment and holds up writing meanwhile."""
        compact(self._open())

    def purge(self) -> None:
        """Leave no byte of removed text or vectors in the folder; rewrites everything that is kept."""
        purge(self._open())

    def size(self) -> int:
        """Bytes on disk; 0 for a server, which does not tell."""
        return 0 if self._path is None else Folder(self._path).size()

    def check(self) -> tuple[str, ...]:
        """What is wrong or worth knowing, in words; empty when all is well. Reads everything there is."""
        return (*self.notes(), *self.faults())

    def notes(self) -> tuple[str, ...]:
        """What this process may not do here, in words, though nothing is wrong."""
        return notes(self._open())

    def faults(self) -> tuple[str, ...]:
        """What is wrong, in words. Reads everything there is."""
        return check(self._open())

    def repair(self) -> tuple[str, ...]:
        """Mend what `check` finds; returns what was done."""
        return repair(self._open())

    def close(self) -> None:
        with self._lock:
            self._closed = True
            engine, self._engine = self._engine, None
        if engine is not None:
            if self._leave is not None:
                self._leave.detach()
            leave(engine)
