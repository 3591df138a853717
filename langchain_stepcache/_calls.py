"""Performing a `Generate` with a chat model: the caller's own messages, or a patch in their place."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, nullcontext
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from langchain_stepcache._chunks import joined, kept
from langchain_stepcache._conversation import with_last_human_text
from langchain_stepcache._reply import Spoken, completion_of
from langchain_stepcache._tracing import child_run
from stepcache import Completion
from stepcache._demand import Demand
from stepcache._effects import Generate

__all__ = ["ModelCall", "takes_formats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One caller's call of a chat model, made only when the core asks for it.

    The model's raw methods are called, so that callbacks, usage and events appear once, on the run around it.
    `options` are the caller's, `plain` those without tools and response format. `manager` is the run manager of the
    call, told nothing of patches. `spoken` keeps the last whole reply. `traced` reports each call as a child run.
    """

    model: BaseChatModel
    messages: Sequence[BaseMessage]
    stop: list[str] | None
    options: Mapping[str, Any]
    plain: Mapping[str, Any]
    demand: Demand
    manager: Any = None
    traced: bool = False
    callbacks: Any = None
    spoken: Spoken = field(default_factory=Spoken)

    def generate(self, effect: Generate) -> Completion:
        messages, options = self._asked(effect), self._options(effect)
        self._wait()
        with self._run(effect, messages) as told:
            if self.model._should_stream(async_api=False, **options):
                reply = joined(list(self.model._stream(messages, stop=self.stop, **options)))
            else:
                reply = self.model._generate(messages, stop=self.stop, **self._managed(effect, self.model._generate),
                                             **options)
            told.append(reply)
        return self._heard(effect, reply)

    async def agenerate(self, effect: Generate) -> Completion:
        messages, options = self._asked(effect), self._options(effect)
        await self._await()
        with self._run(effect, messages) as told:
            if self.model._should_stream(async_api=True, **options):
                reply = joined([chunk async for chunk in self.model._astream(messages, stop=self.stop, **options)])
            else:
                reply = await self.model._agenerate(
                    messages, stop=self.stop, **self._managed(effect, self.model._agenerate), **options)
            told.append(reply)
        return self._heard(effect, reply)

    def stream(self, effect: Generate) -> Iterator[ChatGenerationChunk | Completion]:
        options = self._options(effect)
        if not effect.streams or not self.model._should_stream(async_api=False, **{**options, "stream": True}):
            yield self.generate(effect)
            return
        messages = self._asked(effect)
        self._wait()
        chunks: list[ChatGenerationChunk] = []
        with self._run(effect, messages) as told:
            with closing(self.model._stream(messages, stop=self.stop, **options)) as made:  # type: ignore[type-var]
                for chunk in made:
                    chunks.append(kept(chunk))
                    yield chunk
            told.append(joined(chunks))
        yield self._heard(effect, told[0])

    async def astream(self, effect: Generate) -> AsyncIterator[ChatGenerationChunk | Completion]:
        options = self._options(effect)
        if not effect.streams or not self.model._should_stream(async_api=True, **{**options, "stream": True}):
            yield await self.agenerate(effect)
            return
        messages = self._asked(effect)
        await self._await()
        chunks: list[ChatGenerationChunk] = []
        with self._run(effect, messages) as told:
            async with aclosing(self.model._astream(messages, stop=self.stop, **options)) as made:  # type: ignore[type-var]
                async for chunk in made:
                    chunks.append(kept(chunk))
                    yield chunk
            told.append(joined(chunks))
        yield self._heard(effect, told[0])

    def _asked(self, effect: Generate) -> list[BaseMessage]:
        if effect.purpose == "answer":
            return list(self.messages)
        return with_last_human_text(self.messages, effect.prompt)

    def _options(self, effect: Generate) -> dict[str, Any]:
        """A patch is asked without tools, and by the sub-schema of what is missing where the call had a schema."""
        if effect.purpose != "patch":
            return dict(self.options)
        options = dict(self.plain)
        schema = None if effect.plan is None else effect.plan.schema
        given = self.options.get("response_format")
        if schema is not None and self.demand.way == "format":
            options["format"] = dict(schema)
        elif schema is not None and (given is not None or (self.demand.form == "forced" and takes_formats(self.model))):
            if isinstance(given, Mapping) and given.get("type") == "json_object":
                options["response_format"] = dict(given)
            else:
                options["response_format"] = {
                    "type": "json_schema", "json_schema": {"name": "missing", "schema": dict(schema)}}
        return options

    def _heard(self, effect: Generate, reply: ChatResult) -> Completion:
        completion = completion_of(reply, self.demand, whole=effect.purpose != "patch")
        if effect.purpose != "patch":
            self.spoken.heard(reply, completion)
        return completion

    def _managed(self, effect: Generate, method: Any) -> dict[str, Any]:
        if effect.purpose != "answer" or self.manager is None or "run_manager" not in _parameters(method):
            return {}
        return {"run_manager": self.manager}

    def _run(self, effect: Generate, messages: Sequence[BaseMessage]) -> Any:
        if not self.traced:
            return nullcontext([])
        parent = getattr(self.manager, "run_id", None)
        return child_run(f"stepcache {effect.purpose}", messages, self.callbacks, parent)

    def _wait(self) -> None:
        """The model's own rate limit holds for real calls only; a hit is not slowed down."""
        if self.model.rate_limiter is not None:
            self.model.rate_limiter.acquire(blocking=True)

    async def _await(self) -> None:
        if self.model.rate_limiter is not None:
            await self.model.rate_limiter.aacquire(blocking=True)


def _parameters(method: Any) -> Mapping[str, Any]:
    return inspect.signature(method).parameters


def takes_formats(model: BaseChatModel) -> bool:
    """Whether a model that was called with a forced tool also knows `response_format`."""
    return "response_format" in _parameters(type(model).bind_tools)
