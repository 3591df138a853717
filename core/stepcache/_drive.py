"""The drivers: they send a flow the answers to its effects, sync, async or streaming. No decision is taken here.

Each notes in `seconds` how long the effects of each stage took; a stream's time includes its reader's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from time import perf_counter
from typing import Any, TypeVar

from stepcache._backend import Backend
from stepcache._data import Completion
from stepcache._effects import Effect, Generate

__all__ = ["arun", "arun_stream", "run", "run_stream"]

T = TypeVar("T")
Seconds = dict[str, float]


class _Done:
    """The value a flow returned."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _advance(flow: Generator[Effect, Any, Any], answer: Any = None) -> Effect | _Done:
    """Send one answer. Only here may StopIteration mean the flow's end: a model may raise one too."""
    try:
        return flow.send(answer)
    except StopIteration as stop:
        return _Done(stop.value)


def run(
    flow: Generator[Effect, Any, T], backend: Backend, generate: Callable[[Generate], Completion],
    seconds: Seconds,
) -> T:
    """Drive a flow to its end. An error of `generate` reaches the caller unchanged, and nothing is recorded."""
    try:
        effect = _advance(flow)
        while not isinstance(effect, _Done):
            start = perf_counter()
            answer = generate(effect) if isinstance(effect, Generate) else backend.perform(effect)
            _note(seconds, effect, start)
            effect = _advance(flow, answer)
        result: T = effect.value
        return result
    finally:
        flow.close()


async def arun(
    flow: Generator[Effect, Any, T], backend: Backend, generate: Callable[[Generate], Awaitable[Completion]],
    seconds: Seconds,
) -> T:
    """As `run`, awaiting the model and keeping everything that may block off the event loop."""
    try:
        effect = _advance(flow)
        while not isinstance(effect, _Done):
            start = perf_counter()
            answer = await generate(effect) if isinstance(effect, Generate) else await backend.aperform(effect)
            _note(seconds, effect, start)
            effect = _advance(flow, answer)
        result: T = effect.value
        return result
    finally:
        flow.close()


def run_stream(
    flow: Generator[Effect, Any, T], backend: Backend, generate: Callable[[Generate], Iterator[Any]],
    seconds: Seconds,
) -> Iterator[Any | T]:
    """Yield the model's chunks where they may be shown as they come, then the flow's result, last and once.

    `generate` yields opaque chunks and, last, one `Completion` that joins them. Leaving early closes model and flow
    before anything can be recorded.
    """
    try:
        effect = _advance(flow)
        while not isinstance(effect, _Done):
            start = perf_counter()
            if not isinstance(effect, Generate):
                answer = backend.perform(effect)
                _note(seconds, effect, start)
                effect = _advance(flow, answer)
                continue
            pieces = generate(effect)
            completion = None
            try:
                for piece in pieces:
                    if isinstance(piece, Completion):
                        completion = piece
                    elif effect.streams:
                        yield piece
            finally:
                if (close := getattr(pieces, "close", None)) is not None:
                    close()
            _note(seconds, effect, start)
            effect = _advance(flow, _joined(completion))
        yield effect.value
    finally:
        flow.close()


async def arun_stream(
    flow: Generator[Effect, Any, T], backend: Backend, generate: Callable[[Generate], AsyncIterator[Any]],
    seconds: Seconds,
) -> AsyncGenerator[Any | T, None]:
    """As `run_stream`, async."""
    try:
        effect = _advance(flow)
        while not isinstance(effect, _Done):
            start = perf_counter()
            if not isinstance(effect, Generate):
                answer = await backend.aperform(effect)
                _note(seconds, effect, start)
                effect = _advance(flow, answer)
                continue
            pieces = generate(effect)
            completion = None
            try:
                async for piece in pieces:
                    if isinstance(piece, Completion):
                        completion = piece
                    elif effect.streams:
                        yield piece
            finally:
                if (close := getattr(pieces, "aclose", None)) is not None:
                    await close()
            _note(seconds, effect, start)
            effect = _advance(flow, _joined(completion))
        yield effect.value
    finally:
        flow.close()


def _note(seconds: Seconds, effect: Effect, start: float) -> None:
    seconds[effect.stage] = seconds.get(effect.stage, 0.0) + perf_counter() - start


def _joined(completion: Completion | None) -> Completion:
    if completion is None:
        raise TypeError("a streaming generate() must end with one Completion that joins its chunks")
    return completion
