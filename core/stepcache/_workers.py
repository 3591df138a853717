"""Blocking calls with a time limit, from threads and from event loops, on daemon threads that never hold up an exit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

__all__ = ["Workers"]

T = TypeVar("T")
_IDLE_SECONDS = 10.0


class Workers:
    """Threads made on demand, ended when idle. A call that hangs costs one of them, never the caller.

    The standard library's executor is no use here: its threads are joined at interpreter exit, so one hung embedder
    would keep the process alive.
    """

    def __init__(self, most: int = 16) -> None:
        self._most = most
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Start `work` on a thread; its result or error arrives in the future."""
        future: Future[T] = Future()
        with self._lock:
            spawn = self._idle == 0 and self._threads < self._most
            if spawn:
                self._threads += 1
            elif self._idle:
                self._idle -= 1
        self._jobs.put((future, work))
        if spawn:
            threading.Thread(target=self._run, name="stepcache-worker", daemon=True).start()
        return future

    def call(self, work: Callable[[], T], timeout: float) -> T:
        """Run `work`, waiting at most `timeout` seconds; raises `TimeoutError` past that."""
        future = self.submit(work)
        try:
            return future.result(timeout)
        except TimeoutError:
            future.cancel()
            raise

    async def acall(self, work: Callable[[], T], timeout: float | None) -> T:
        """As `call`, without blocking the running event loop; `timeout` None waits as long as it takes."""
        import asyncio  # a tenth of what importing stepcache takes

        return await asyncio.wait_for(asyncio.wrap_future(self.submit(work)), timeout)

    def _run(self) -> None:
        while True:
            try:
                future, work = self._jobs.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._idle > 0 and self._jobs.empty():
                        self._idle -= 1
                        self._threads -= 1
                        return
                continue
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:  # the future carries whatever happened to its caller
                    future.set_exception(error)
            del work, future  # keep nothing alive while idle
            with self._lock:
                self._idle += 1
