"""Streams: chunks that pass through, and a complete reply cut into chunks. Every chunk holds all that came before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, TextBlock

from stepcache._data import Step
from stepcache._replay import pieces

__all__ = ["Passing", "replayed"]


class Passing:
    """Holds back the last chunk of a stream until it is known to be the last: the marker goes into that one."""

    def __init__(self) -> None:
        self.last: Any = None

    @property
    def begun(self) -> bool:
        return self.last is not None

    def take(self, chunk: Any) -> Iterator[Any]:
        """Yield the chunk held so far and keep this one."""
        if self.last is not None:
            yield self.last
        self.last = chunk


def replayed(whole: ChatResponse | CompletionResponse, steps: Sequence[Step]) -> Iterator[Any]:
    """Cut a reply into chunks; the last one is the whole reply. What is more than one text comes in one chunk."""
    if isinstance(whole, CompletionResponse):
        yield from _texts(whole, whole.text, steps)
    elif len(whole.message.blocks) == 1 and isinstance(whole.message.blocks[0], TextBlock):
        yield from _texts(whole, whole.message.blocks[0].text, steps)
    else:
        yield whole.model_copy(update={"delta": whole.message.content or ""})


def _texts(whole: Any, text: str, steps: Sequence[Step]) -> Iterator[Any]:
    # A reply whose text is not the steps' (a stored message of other wording) is cut as one step.
    cut = list(pieces(steps if "".join(step.text for step in steps) == text else (Step(text),))) or [""]
    said = ""
    for piece in cut[:-1]:
        said += piece
        if isinstance(whole, CompletionResponse):
            yield CompletionResponse(text=said, delta=piece)
        else:
            yield ChatResponse(message=ChatMessage(role=whole.message.role, content=said), delta=piece)
    yield whole.model_copy(update={"delta": cut[-1]})
