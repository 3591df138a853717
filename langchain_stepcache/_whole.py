"""A Runnable of which nothing is known but its input and output, behind the step cache."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatResult, Generation
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, patch_config

from langchain_stepcache._chunks import Passing, replayed
from langchain_stepcache._conversation import conversation_of, with_last_human_text
from langchain_stepcache._payload import generations_of, payload_of
from langchain_stepcache._reply import Spoken, chat_result, completion_of
from stepcache import Completion, Result, StepCache
from stepcache._asked import CONTROL, Asked, Conversation, asked_of, control_of
from stepcache._demand import Demand
from stepcache._effects import Generate
from stepcache._identity import identity_of_options, warn_once
from stepcache._replay import pieces
from stepcache._stable import Unstable, canonical_json

__all__ = ["StepCacheRunnable"]

_DEMAND = Demand()


class _Other(Exception):
    """The Runnable gave something that is neither text nor a message; it goes to the caller as it is."""

    def __init__(self, output: Any, rest: Any = None) -> None:
        super().__init__(type(output).__name__)
        self.output, self.rest = output, rest


class StepCacheRunnable(Runnable[Any, Any]):
    """Answers like `bound`, from the cache where that is right. Made by `with_stepcache`."""

    def __init__(self, bound: Runnable[Any, Any], cache: StepCache, *, name: str | None = None) -> None:
        self.bound = bound
        self.step_cache = cache
        self.name = bound.get_name()
        self._identity = f"runnable {name}" if name else f"runnable {uuid.uuid4().hex}"

    @property
    def InputType(self) -> Any:
        return self.bound.InputType

    @property
    def OutputType(self) -> Any:
        return self.bound.OutputType

    @property
    def config_specs(self) -> Any:
        return self.bound.config_specs

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self._call_with_config(self._invoke, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._acall_with_config(self._ainvoke, input, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        yield from self._transform_stream_with_config(iter([input]), self._stream, config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        async def once() -> AsyncIterator[Any]:
            yield input

        async for item in self._atransform_stream_with_config(once(), self._astream, config, **kwargs):
            yield item

    def _invoke(self, input: Any, run_manager: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        asked, call = self._call(input, run_manager, config, kwargs)
        try:
            return call.output(self.step_cache.run(asked.request, call.generate))
        except _Other as other:
            return _passed(other, self)

    async def _ainvoke(self, input: Any, run_manager: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        asked, call = self._call(input, run_manager, config, kwargs)
        try:
            return call.output(await self.step_cache.arun(asked.request, call.agenerate))
        except _Other as other:
            return _passed(other, self)

    def _stream(self, inputs: Iterator[Any], run_manager: Any, config: RunnableConfig, **kwargs: Any) -> Iterator[Any]:
        asked, call = self._call(next(inputs), run_manager, config, kwargs)
        try:
            with closing(self.step_cache.run_stream(asked.request, call.stream)) as items:  # type: ignore[type-var]
                for item in items:
                    yield from call.shown(item)
        except _Other as other:
            yield _passed(other, self)
            yield from other.rest or ()

    async def _astream(self, inputs: AsyncIterator[Any], run_manager: Any, config: RunnableConfig, **kwargs: Any
                       ) -> AsyncIterator[Any]:
        asked, call = self._call(await anext(inputs), run_manager, config, kwargs)
        try:
            async with aclosing(
                    self.step_cache.arun_stream(asked.request, call.astream)) as items:
                async for item in items:
                    for piece in call.shown(item):
                        yield piece
        except _Other as other:
            yield _passed(other, self)
            if other.rest is not None:
                async for piece in other.rest:
                    yield piece

    def _call(self, input: Any, manager: Any, config: RunnableConfig, kwargs: Mapping[str, Any]
              ) -> tuple[Asked, _WholeCall]:
        options = {key: value for key, value in kwargs.items() if key != CONTROL}
        configurable = {key: value for key, value in (ensure_config(config).get("configurable") or {}).items()
                        if not key.startswith(("__", "checkpoint"))}
        identity = identity_of_options({"_class": self._identity, **options, **configurable})
        conversation, reworded = _asked_about(input)
        asked = asked_of(conversation, identity, _DEMAND, control_of(kwargs.get(CONTROL)))
        call = _WholeCall(bound=self.bound, input=input, reworded=reworded, options=options, config=config,
                          manager=manager)
        return asked, call


@dataclass(slots=True, kw_only=True)
class _WholeCall:
    """One call of the wrapped Runnable, made only when the core asks for it."""

    bound: Runnable[Any, Any]
    input: Any
    reworded: Callable[[str], Any]
    options: Mapping[str, Any]
    config: RunnableConfig
    manager: Any
    spoken: Spoken = field(default_factory=Spoken)
    text: bool | None = None
    passing: Passing = field(default_factory=Passing)
    began: bool = False

    def generate(self, effect: Generate) -> Completion:
        return self._heard(effect, self.bound.invoke(self._asked(effect), self._config(effect), **self.options))

    async def agenerate(self, effect: Generate) -> Completion:
        return self._heard(effect, await self.bound.ainvoke(self._asked(effect), self._config(effect), **self.options))

    def stream(self, effect: Generate) -> Iterator[Any]:
        if not effect.streams:
            yield self.generate(effect)
            return
        whole: Any = None
        chunks = self.bound.stream(self._asked(effect), self._config(effect), **self.options)
        for chunk in chunks:
            if not isinstance(chunk, str | BaseMessage):
                raise _Other(chunk, chunks)
            whole = chunk if whole is None else whole + chunk
            yield chunk
        yield self._heard(effect, "" if whole is None else whole)

    async def astream(self, effect: Generate) -> AsyncIterator[Any]:
        if not effect.streams:
            yield await self.agenerate(effect)
            return
        whole: Any = None
        chunks = self.bound.astream(self._asked(effect), self._config(effect), **self.options)
        async for chunk in chunks:
            if not isinstance(chunk, str | BaseMessage):
                raise _Other(chunk, chunks)
            whole = chunk if whole is None else whole + chunk
            yield chunk
        yield self._heard(effect, "" if whole is None else whole)

    def output(self, result: Result) -> Any:
        """The reply in the form the Runnable gives: text or a message."""
        if self._is_text(result):
            return result.output
        return chat_result(result, _DEMAND, self.spoken).generations[0].message

    def shown(self, item: Any) -> Iterator[Any]:
        """What to show for one item of the core's stream."""
        if not isinstance(item, Result):
            self.began = True
            yield item
        elif self.began:
            if not self._is_text(item):
                yield AIMessageChunk(content="", response_metadata={"stepcache": item.marker()})
        elif self._is_text(item):
            yield from pieces(item.steps)
        else:
            reply = chat_result(item, _DEMAND, self.spoken)
            yield from (chunk.message for chunk in replayed(reply, item.steps))

    def _is_text(self, result: Result) -> bool:
        if self.text is not None:
            return self.text
        match = result.decision.match
        known = generations_of(result.payload if match is None or result.payload is not None else match.entry.payload)
        return known is None or not isinstance(known[0], ChatGeneration)

    def _asked(self, effect: Generate) -> Any:
        return self.input if effect.purpose == "answer" else self.reworded(effect.prompt)

    def _config(self, effect: Generate) -> RunnableConfig:
        """A patch is no part of what the user watches."""
        if effect.purpose != "answer":
            return patch_config(self.config, callbacks=[])  # type: ignore[arg-type]
        return patch_config(self.config, callbacks=self.manager.get_child())

    def _heard(self, effect: Generate, output: Any) -> Completion:
        if isinstance(output, str):
            self.text = True
            return Completion(text=str(output), payload=payload_of([Generation(text=output)]))
        if not isinstance(output, BaseMessage):
            raise _Other(output)
        self.text = False
        message = message_chunk_to_message(output) if isinstance(output, AIMessageChunk) else output
        reply = ChatResult(generations=[ChatGeneration(message=message)])
        completion = completion_of(reply, _DEMAND, whole=effect.purpose != "patch")
        if effect.purpose != "patch":
            self.spoken.heard(reply, completion)
        return completion


def _passed(other: _Other, runnable: StepCacheRunnable) -> Any:
    warn_once("the output of %s is neither text nor a message (%s); it passes through uncached",
              runnable.name, type(other.output).__name__)
    return other.output


def _messages(input: Any) -> list[BaseMessage] | None:
    if isinstance(input, PromptValue):
        return input.to_messages()
    if isinstance(input, BaseMessage):
        return [input]
    if isinstance(input, list) and input and all(isinstance(each, BaseMessage) for each in input):
        return list(input)
    return None


def _asked_about(input: Any) -> tuple[Conversation, Callable[[str], Any]]:
    """What an input asks, and how to put other words in the place of its prompt.

    A mapping with one text is asked about that text; any other value is repeated exactly or not at all.
    """
    if (messages := _messages(input)) is not None:
        return conversation_of(messages), lambda text: with_last_human_text(messages, text)
    if isinstance(input, str):
        return Conversation(prompt=input), lambda text: text
    texts = [key for key, value in input.items() if isinstance(value, str)] if isinstance(input, Mapping) else []
    try:
        if len(texts) == 1:
            key = texts[0]
            around = canonical_json({**input, key: None})
            return Conversation(prompt=input[key], context=around), lambda text: {**input, key: text}
        return Conversation(prompt=canonical_json(input), whole=True), lambda text: input
    except (Unstable, RecursionError) as error:
        return Conversation(doubts=(f"its input has no stable text form ({error})",)), lambda text: input
