"""Streams: a finished reply cut into chunks, and a model's own chunks passed on and joined."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from stepcache import Result, Step
from stepcache._data import stitch
from stepcache._replay import pieces

__all__ = ["Passing", "joined", "kept", "replayed"]

_FINISH = frozenset({"finish_reason", "stop_reason", "done_reason"})


def replayed(reply: ChatResult, steps: Sequence[Step]) -> Iterator[ChatGenerationChunk]:
    """Cut the first candidate into chunks that merge to exactly that message.

    The last chunk has no content; it carries finish reason, usage and the marker.
    """
    generation = reply.generations[0]
    message = generation.message
    if not isinstance(message, AIMessage):
        yield ChatGenerationChunk(
            message=AIMessageChunk(content=message.content), generation_info=generation.generation_info)
        return
    for content in _contents(message, steps):
        yield ChatGenerationChunk(message=AIMessageChunk(content=content))
    calls = _call_chunks(message)
    blank: Any = "" if isinstance(message.content, str) else []
    if calls:
        yield ChatGenerationChunk(message=AIMessageChunk(content=blank, tool_call_chunks=calls))
    told = reply.llm_output if len(reply.generations) == 1 else None
    yield ChatGenerationChunk(
        message=AIMessageChunk(
            content=blank,
            additional_kwargs=message.additional_kwargs,
            response_metadata={**(told or {}), **message.response_metadata},
            usage_metadata=message.usage_metadata,
            name=message.name,
            chunk_position="last",
        ),
        generation_info=generation.generation_info,
    )


def _contents(message: AIMessage, steps: Sequence[Step]) -> Iterator[Any]:
    content = message.content
    if isinstance(content, str):
        yield from pieces(steps if stitch(tuple(steps)) == content else (Step(content),))
        return
    for block in content:  # without a running number, blocks merge by standing one after the other
        if isinstance(block, dict) and block.keys() == {"type", "text", "index"} and block["type"] == "text":
            yield from ([{**block, "text": piece}] for piece in pieces((Step(block["text"]),)))
        else:
            yield [block]


def _call_chunks(message: AIMessage) -> list[Any]:
    written: list[tuple[str | None, str | None, str | None]]
    written = [(call["name"], json.dumps(call["args"], ensure_ascii=False), call["id"]) for call in message.tool_calls]
    written += [(call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls]
    return [tool_call_chunk(name=name, args=args, id=known, index=i) for i, (name, args, known) in enumerate(written)]


def joined(chunks: Sequence[ChatGenerationChunk]) -> ChatResult:
    """The reply a model's chunks make. Raises `ValueError` for none, as LangChain does."""
    made = generate_from_stream(iter(chunks))
    for generation in made.generations:
        message = generation.message
        if message.content and all(isinstance(part, str) for part in message.content):
            message.content = "".join(map(str, message.content))  # a text behind an empty list, by older versions
            message.response_metadata.pop("output_version", None)  # true of blocks only, which LangChain makes of it
    return made


def kept(chunk: ChatGenerationChunk) -> ChatGenerationChunk:
    """A copy that stays as it is when LangChain numbers and rewrites the chunk it is handed."""
    info = None if chunk.generation_info is None else dict(chunk.generation_info)
    return ChatGenerationChunk(message=chunk.message.model_copy(), generation_info=info)


class Passing:
    """Passes a model's chunks on as they come and ends the stream with one chunk that carries all there is to tell.

    What ends a reply (finish reason, usage, empty chunks) is held back until more content follows or the stream ends,
    so that finish reason, usage and marker arrive together in the last chunk.
    """

    def __init__(self) -> None:
        self._held: ChatGenerationChunk | None = None
        self.began = False

    def push(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """What may be shown now that this chunk has come."""
        self.began = True
        shown, rest = _split(chunk)
        if shown is not None:
            if self._held is not None:
                yield self._held
                self._held = None
            yield shown
        if rest is not None:
            self._held = rest if self._held is None else _ended(self._held, rest)

    def last(self, result: Result) -> ChatGenerationChunk:
        """The end of the stream, with the marker."""
        blank: Any = "" if self._held is None or isinstance(self._held.message.content, str) else []
        end = ChatGenerationChunk(message=AIMessageChunk(
            content=blank, response_metadata={"stepcache": result.marker()}, chunk_position="last"))
        return end if self._held is None else self._held + end


def _ended(held: ChatGenerationChunk, rest: ChatGenerationChunk) -> ChatGenerationChunk:
    """Two chunks without content as one. An empty text and an empty list would make a list with a text in it."""
    if isinstance(held.message.content, str) is not isinstance(rest.message.content, str):
        held, rest = (ChatGenerationChunk(message=each.message.model_copy(update={"content": []}),
                                          generation_info=each.generation_info) for each in (held, rest))
    return held + rest


def _split(chunk: ChatGenerationChunk) -> tuple[ChatGenerationChunk | None, ChatGenerationChunk | None]:
    """A chunk's content, and what it tells of the reply's end; either may be missing."""
    message = chunk.message
    if not isinstance(message, AIMessageChunk):
        return chunk, None
    content = bool(message.content) or bool(message.tool_call_chunks) or bool(
        message.additional_kwargs.keys() - {"parsed", "refusal"})
    info = chunk.generation_info or {}
    ends = (message.usage_metadata is not None or message.chunk_position == "last"
            or not _FINISH.isdisjoint(info) or not _FINISH.isdisjoint(message.response_metadata))
    if not content:
        rest = ChatGenerationChunk(message=message.model_copy(update={"chunk_position": None}),
                                   generation_info=chunk.generation_info)
        return None, rest
    if not ends:
        return chunk, None
    blank: Any = "" if isinstance(message.content, str) else []
    shown = ChatGenerationChunk(message=message.model_copy(update={
        "usage_metadata": None, "response_metadata": {}, "chunk_position": None}))
    rest = ChatGenerationChunk(
        message=AIMessageChunk(content=blank, id=message.id, usage_metadata=message.usage_metadata,
                               response_metadata=message.response_metadata),
        generation_info=chunk.generation_info)
    return shown, rest
