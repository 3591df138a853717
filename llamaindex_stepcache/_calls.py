"""Performing a `Generate` with a LlamaIndex LLM: the caller's own messages or prompt, or a patch in their place."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.llms import LLM
from llama_index_instrumentation.span import active_span_id

from llamaindex_stepcache._convert import with_last_user_text
from llamaindex_stepcache._payload import chat_completion, text_completion
from stepcache import Completion
from stepcache._demand import Demand
from stepcache._effects import Generate

__all__ = ["ModelCall"]

_REPLY_OPTIONS = ("tools", "tool_choice", "parallel_tool_calls", "response_format")


@dataclass(slots=True, kw_only=True)
class ModelCall:
    """One caller's call, made only when the core asks for it.

    `messages` are the caller's for a chat, `prompt` for a completion. The wrapped LLM's own methods are called, so
    that each real call is told to callbacks once. `spoken` keeps its last whole reply. `span` is the caller's span; it
    is closed by the time a stream is read, and a real call stands below it nevertheless.
    """

    llm: LLM
    options: Mapping[str, Any]
    demand: Demand
    messages: Sequence[ChatMessage] | None = None
    prompt: str = ""
    formatted: bool = False
    spoken: Any = None
    span: str | None = field(default_factory=active_span_id.get)

    def generate(self, effect: Generate) -> Completion:
        if self.messages is None:
            return self._hear(effect, self.llm.complete(self._text(effect), formatted=self.formatted,
                                                        **self._options(effect)))
        return self._hear(effect, self.llm.chat(self._messages(effect), **self._options(effect)))

    async def agenerate(self, effect: Generate) -> Completion:
        if self.messages is None:
            return self._hear(effect, await self.llm.acomplete(self._text(effect), formatted=self.formatted,
                                                               **self._options(effect)))
        return self._hear(effect, await self.llm.achat(self._messages(effect), **self._options(effect)))

    def stream(self, effect: Generate) -> Iterator[ChatResponse | CompletionResponse | Completion]:
        if not effect.streams:
            yield self.generate(effect)
            return
        chunks: Any
        with _below(self.span):
            if self.messages is None:
                chunks = self.llm.stream_complete(self._text(effect), formatted=self.formatted, **self._options(effect))
            else:
                chunks = self.llm.stream_chat(self._messages(effect), **self._options(effect))
        last = None
        for chunk in chunks:
            last = chunk
            yield chunk
        yield self._end(effect, last)

    async def astream(self, effect: Generate) -> AsyncIterator[ChatResponse | CompletionResponse | Completion]:
        if not effect.streams:
            yield await self.agenerate(effect)
            return
        chunks: Any
        with _below(self.span):
            if self.messages is None:
                chunks = await self.llm.astream_complete(self._text(effect), formatted=self.formatted,
                                                         **self._options(effect))
            else:
                chunks = await self.llm.astream_chat(self._messages(effect), **self._options(effect))
        last = None
        async for chunk in chunks:
            last = chunk
            yield chunk
        yield self._end(effect, last)

    def _end(self, effect: Generate, last: Any) -> Completion:
        """A LlamaIndex chunk holds all that came before it, so the last one is the whole reply."""
        return Completion("", cacheable=False) if last is None else self._hear(effect, last)

    def _hear(self, effect: Generate, response: Any) -> Completion:
        whole = effect.purpose != "patch"
        if whole:
            self.spoken = response
        if isinstance(response, CompletionResponse):
            return text_completion(response, whole=whole)
        return chat_completion(response, self.demand, whole=whole)

    def _text(self, effect: Generate) -> str:
        return self.prompt if effect.purpose == "answer" else effect.prompt

    def _messages(self, effect: Generate) -> Sequence[ChatMessage]:
        assert self.messages is not None
        if effect.purpose == "answer":
            return self.messages
        return with_last_user_text(self.messages, effect.prompt)

    def _options(self, effect: Generate) -> dict[str, Any]:
        """A patch is asked without tools, bound to the schema of what is missing where the call had one."""
        if effect.purpose != "patch":
            return dict(self.options)
        options = {name: value for name, value in self.options.items() if name not in _REPLY_OPTIONS}
        schema = None if effect.plan is None else effect.plan.schema
        if self.demand.way == "format":
            options.pop("format")
            return options if schema is None else {**options, "format": dict(schema)}
        if schema is not None and isinstance(given := self.options.get("response_format"), Mapping):
            options["response_format"] = dict(given) if given.get("type") == "json_object" else {
                "type": "json_schema", "json_schema": {"name": "missing", "schema": dict(schema)}}
        return options


@contextmanager
def _below(span: str | None) -> Iterator[None]:
    """Spans opened inside have this one above them."""
    token = active_span_id.set(span)
    try:
        yield
    finally:
        active_span_id.reset(token)
