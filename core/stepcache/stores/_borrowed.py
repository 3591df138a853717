"""A Chroma client of the caller's, blocking or async: used through a proxy that bounds every call in time.

A client's own limits are the caller's choice, and Chroma's default is none: a server that takes a connection and then
says nothing would hold up the writer's thread for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from stepcache._workers import Workers
from stepcache.errors import StoreError
from stepcache.stores._chroma_client import sessions_of
from stepcache.stores._site import ServerSite

__all__ = ["ClientSite"]

_Call = Callable[[], Any]


class ClientSite(ServerSite):
    """A client of the caller's, who also closes it; or an awaitable that gives an async one."""

    def __init__(self, client: Any, timeout: float) -> None:
        super().__init__("", None, timeout)
        self._client = client
        self._loop: _Loop | None = None
        self._forked = False

    def connect(self) -> Any:
        if not inspect.isawaitable(self._client) and not _is_async(self._client):
            return self._blocking()
        loop = self._loop = _Loop()
        perform = lambda call: loop.run(call(), self._timeout)  # noqa: E731
        if inspect.isawaitable(self._client):
            coming = self._client
            try:
                self._client = loop.run(coming, self._timeout)
            except RuntimeError as spent:  # a coroutine can be awaited once, also if there was no server then
                raise StoreError("the async client could not be made; give ChromaStore a client that has been "
                                 "awaited, or a url, which is tried again by itself") from spent
        return _Proxy(self._client, perform)

    def _blocking(self) -> Any:
        if self._forked:
            raise StoreError("a Chroma client that was opened before a fork can't be used in the child; "
                             "give ChromaStore a path or a url, or open the client in the child")
        if not sessions_of(self._client):
            return _Proxy(self._client, lambda call: call())  # in this process: nothing to wait for
        workers = Workers()
        return _Proxy(self._client, lambda call: workers.call(call, self._timeout))

    def close(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close(self._client)

    def after_fork(self) -> None:
        """The loop's thread did not come along; an async client opens connections of its own on a new loop."""
        self._loop = None
        self._forked = True


class _Proxy:
    """A client or a collection whose every call goes through `perform`."""

    def __init__(self, target: Any, perform: Callable[[_Call], Any]) -> None:
        self._target = target
        self._perform = perform

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return found

        def call(*positional: Any, **named: Any) -> Any:
            answer = self._perform(lambda: found(*positional, **named))
            return _Proxy(answer, self._perform) if hasattr(answer, "upsert") else answer

        return call

    def close(self) -> None:
        """Left open: it is the caller's."""


class _Loop:
    """An event loop on a thread of its own, for callers that block: the app's loop may be the one that waits for us."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stepcache-chroma", daemon=True)
        self._thread.start()

    def run(self, coming: Awaitable[Any], timeout: float) -> Any:
        """What comes of it; raises `TimeoutError` past so many seconds."""
        future = asyncio.run_coroutine_threadsafe(_awaited(coming), self._loop)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise

    def close(self, client: Any) -> None:
        """Close the connections made on this loop, and the loop."""
        with contextlib.suppress(Exception):  # Chroma keeps a connection pool per loop and never closes it
            pool = client._server._clients.pop(hash(self._loop), None)
            if pool is not None:
                self.run(pool.aclose(), 1.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=2.0)
        if not self._thread.is_alive():
            self._loop.close()


async def _awaited(coming: Awaitable[Any]) -> Any:
    return await coming


def _is_async(client: Any) -> bool:
    return inspect.iscoroutinefunction(getattr(client, "list_collections", None))
