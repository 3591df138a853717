"""A model whose words are scripted: the one part of StepCache's tests that is not real."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from stepcache._data import Completion, Usage

__all__ = ["ScriptedModel"]

Reply = str | Completion | Exception


class ScriptedModel:
    """Answers from a script and remembers what it was asked.

    `replies` is one reply for every call, a sequence used up in order (the last one is repeated), or a callable
    `(prompt, purpose) -> reply`. An exception in place of a reply is raised. `calls` lists `(prompt, purpose)`.
    Call it as a model, `await model.acall(...)` or pass `model.acall` as an async model, `model.stream` and
    `model.astream` as streaming ones. Token counts are words, unless a reply is a `Completion`. `delay` is in seconds.
    """

    def __init__(self, replies: Reply | Sequence[Reply] | Callable[[str, str], Reply], *, delay: float = 0.0) -> None:
        self._replies = replies
        self._lock = threading.Lock()
        self.delay = delay
        self.calls: list[tuple[str, str]] = []

    def __call__(self, prompt: str, purpose: str) -> Completion:
        if self.delay:
            time.sleep(self.delay)
        return self._next(prompt, purpose)

    async def acall(self, prompt: str, purpose: str) -> Completion:
        """The next reply, as an async model gives it."""
        if self.delay:
            await asyncio.sleep(self.delay)
        return self._next(prompt, purpose)

    def stream(self, prompt: str, purpose: str) -> Iterator[str | Completion]:
        """The next reply in pieces of seven characters, then whole."""
        completion = self(prompt, purpose)
        yield from _pieces(completion.text)
        yield completion

    async def astream(self, prompt: str, purpose: str) -> AsyncIterator[str | Completion]:
        """As `stream`, async."""
        completion = await self.acall(prompt, purpose)
        for piece in _pieces(completion.text):
            await asyncio.sleep(0)
            yield piece
        yield completion

    def _next(self, prompt: str, purpose: str) -> Completion:
        with self._lock:
            self.calls.append((prompt, purpose))
            number = len(self.calls)
        reply: Reply
        if callable(self._replies):
            reply = self._replies(prompt, purpose)
        elif isinstance(self._replies, str | Completion | Exception):
            reply = self._replies
        else:
            reply = self._replies[min(number, len(self._replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        return Completion(reply, Usage(len(prompt.split()), len(reply.split())), "stop")

    @property
    def purposes(self) -> list[str]:
        """What each call was for, in order."""
        return [purpose for _, purpose in self.calls]


def _pieces(text: str, size: int = 7) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start:start + size]
