"""An LLM that asks the step cache first. It wraps any LlamaIndex LLM and behaves like it in every other respect."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.output_parsers import PydanticOutputParser
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools.types import BaseTool

from llamaindex_stepcache._calls import ModelCall
from llamaindex_stepcache._chunks import Passing, replayed
from llamaindex_stepcache._convert import chat_request, completion_request
from llamaindex_stepcache._events import Hit
from llamaindex_stepcache._payload import MARKER, chat_response, completion_response
from stepcache import Result, StepCache, control
from stepcache._asked import CONTROL, Asked, control_of
from stepcache.errors import ConfigurationError
from stepcache.tasks import json_schema

__all__ = ["StepCacheLLM"]

FORCED = "stepcache_forced"  # tells a chat that exactly one call of its one tool is waited for
_COPIED = ("system_prompt", "messages_to_prompt", "completion_to_prompt", "output_parser", "pydantic_program_mode",
           "query_wrapper_prompt", "callback_manager")
_asking: ContextVar[str] = ContextVar("stepcache_asking", default="")
_MIRRORED = frozenset({"callback_manager", "pydantic_program_mode"})
_ROUTED = ("chat", "achat", "stream_chat", "astream_chat", "complete", "acomplete", "stream_complete",
           "astream_complete")


class StepCacheLLM(LLM):
    """Wraps an LLM: `Settings.llm = StepCacheLLM(llm=OpenAI(...), cache="./cache")`.

    `cache` takes a folder, ":memory:" or a `StepCache`. It is a `FunctionCallingLLM` exactly when the wrapped LLM is
    one. Every reply tells in `additional_kwargs["stepcache"]` how it came about, and any call takes
    `stepcache=CacheControl(...)`. Raises `ConfigurationError` for an LLM or cache that can't be used.
    """

    llm: LLM = Field(description="the wrapped LLM")
    cache: Any = Field(default=None, exclude=True, repr=False, description="a folder, ':memory:' or a StepCache")
    _open: StepCache = PrivateAttr()
    _shadow: LLM | None = PrivateAttr(default=None)

    def __new__(cls, *args: Any, **fields: Any) -> StepCacheLLM:
        if cls is StepCacheLLM and isinstance(fields.get("llm"), FunctionCallingLLM):
            return super().__new__(StepCacheFunctionCallingLLM)
        return super().__new__(cls)

    def __init__(self, **fields: Any) -> None:
        llm, cache = fields.get("llm"), fields.get("cache")
        if not isinstance(llm, LLM):
            raise ConfigurationError(f"StepCacheLLM(llm=...) takes a LlamaIndex LLM, not {llm!r}")
        if isinstance(llm, StepCacheLLM):
            raise ConfigurationError("StepCacheLLM wraps the model itself, not another StepCacheLLM")
        if cache is None:
            raise ConfigurationError("StepCacheLLM needs a cache: write cache='./cache', cache=':memory:' or "
                                     "cache=StepCache.open(...)")
        given = {name: getattr(llm, name) for name in _COPIED if name not in fields and hasattr(llm, name)}
        super().__init__(**{**given, **fields})
        self._open = StepCache.of(cache)

    def __setattr__(self, name: str, value: Any) -> None:
        """LlamaIndex sets a callback manager on the LLM it is given: the wrapped one must tell the same."""
        super().__setattr__(name, value)
        if name in _MIRRORED and isinstance(self.__dict__.get("llm"), LLM):
            setattr(self.llm, name, value)
            self._shadow = None

    def __getstate__(self) -> dict[str, Any]:
        """A cache in a folder travels as that folder; one that is nowhere but here can't."""
        address = self.cache if isinstance(self.cache, str) else getattr(self._open.store, "_path", None)
        if address is None:
            raise ConfigurationError("only a StepCacheLLM whose cache is a folder can be pickled: cache='./cache'")
        # LlamaIndex's own way deletes what can't be pickled from the living object, so it is not asked.
        fields = {name: value for name, value in self.__dict__.items() if name not in {"cache", "callback_manager"}}
        return {"__dict__": {**fields, "cache": address}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["__dict__"])  # type: ignore[misc]

    @classmethod
    def class_name(cls) -> str:
        return "stepcache_llm"

    @property
    def metadata(self) -> LLMMetadata:
        return self.llm.metadata

    @property
    def step_cache(self) -> StepCache:
        """The cache behind this LLM."""
        return self._open

    # -- completion ---------------------------------------------------------------------------------------------

    def complete(self, prompt: str | None = None, formatted: bool = False, **options: Any) -> CompletionResponse:
        asked, call = self._completion(prompt, formatted, options)
        return self._completed(call, self._open.run(asked.request, call.generate))

    async def acomplete(self, prompt: str | None = None, formatted: bool = False, **options: Any) -> CompletionResponse:
        asked, call = self._completion(prompt, formatted, options)
        return self._completed(call, await self._open.arun(asked.request, call.agenerate))

    def stream_complete(
        self, prompt: str | None = None, formatted: bool = False, **options: Any
    ) -> Generator[CompletionResponse, None, None]:
        asked, call = self._completion(prompt, formatted, options)
        return self._stream(asked, call)

    async def astream_complete(
        self, prompt: str | None = None, formatted: bool = False, **options: Any
    ) -> AsyncGenerator[CompletionResponse, None]:
        asked, call = self._completion(prompt, formatted, options)
        return self._astream(asked, call)

    # -- chat ---------------------------------------------------------------------------------------------------

    def chat(self, messages: Sequence[ChatMessage], **options: Any) -> ChatResponse:
        asked, call = self._chat(messages, options)
        return self._chatted(call, self._open.run(asked.request, call.generate))

    async def achat(self, messages: Sequence[ChatMessage], **options: Any) -> ChatResponse:
        asked, call = self._chat(messages, options)
        return self._chatted(call, await self._open.arun(asked.request, call.agenerate))

    def stream_chat(self, messages: Sequence[ChatMessage], **options: Any) -> Generator[ChatResponse, None, None]:
        asked, call = self._chat(messages, options)
        return self._stream(asked, call)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **options: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        asked, call = self._chat(messages, options)
        return self._astream(asked, call)

    # -- structured output: the provider's own way where it has one -----------------------------------------------

    def structured_predict(
        self, output_cls: Any, prompt: PromptTemplate, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> Any:
        if (native := self._native("structured_predict")) is not None:
            return native(output_cls, prompt, llm_kwargs=llm_kwargs, **prompt_args)
        with control(spec=json_schema(output_cls)), _program_of(output_cls):
            return super().structured_predict(output_cls, prompt, llm_kwargs=llm_kwargs, **prompt_args)

    async def astructured_predict(
        self, output_cls: Any, prompt: PromptTemplate, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> Any:
        if (native := self._native("astructured_predict")) is not None:
            return await native(output_cls, prompt, llm_kwargs=llm_kwargs, **prompt_args)
        with control(spec=json_schema(output_cls)), _program_of(output_cls):
            return await super().astructured_predict(output_cls, prompt, llm_kwargs=llm_kwargs, **prompt_args)

    def stream_structured_predict(
        self, output_cls: Any, prompt: PromptTemplate, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> Any:
        chosen = self._native("stream_structured_predict") or super().stream_structured_predict
        return chosen(output_cls, prompt, llm_kwargs=llm_kwargs, **prompt_args)

    async def astream_structured_predict(
        self, output_cls: Any, prompt: PromptTemplate, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> Any:
        chosen = self._native("astream_structured_predict") or super().astream_structured_predict
        return await chosen(output_cls, prompt, llm_kwargs=llm_kwargs, **prompt_args)

    def _native(self, method: str) -> Any:
        """A provider's own structured prediction, routed through the cache by a copy of its LLM; None if inherited."""
        if getattr(type(self.llm), method) in (getattr(LLM, method), getattr(FunctionCallingLLM, method)):
            return None
        if self._shadow is None:
            shadow = self.llm.model_copy()
            for name in (*_ROUTED, *(("_prepare_chat_with_tools_compat",) if self._calls_functions else ())):
                shadow.__dict__[name] = getattr(self, name)
            self._shadow = shadow
        return getattr(self._shadow, method)

    @property
    def _calls_functions(self) -> bool:
        return isinstance(self.llm, FunctionCallingLLM)

    # -- one request --------------------------------------------------------------------------------------------

    def _completion(self, prompt: str | None, formatted: bool, options: dict[str, Any]) -> tuple[Asked, ModelCall]:
        if prompt is None:
            raise ValueError("complete() needs a prompt: llm.complete('...')")
        wishes = control_of(options.pop(CONTROL, None))
        asked = completion_request(self.llm, prompt, options, wishes, asking=_asking.get())
        return asked, ModelCall(llm=self.llm, options=options, demand=asked.demand, prompt=prompt, formatted=formatted)

    def _chat(self, messages: Sequence[ChatMessage], options: dict[str, Any]) -> tuple[Asked, ModelCall]:
        wishes = control_of(options.pop(CONTROL, None))
        forced = bool(options.pop(FORCED, False))
        asked = chat_request(self.llm, messages, options, wishes, forced=forced, asking=_asking.get())
        return asked, ModelCall(llm=self.llm, options=options, demand=asked.demand, messages=messages)

    def _completed(self, call: ModelCall, result: Result) -> CompletionResponse:
        if result.calls and result.payload is not None and call.spoken is not None:
            return _marked(call.spoken, result)  # type: ignore[no-any-return]
        response = completion_response(result)
        self._tell_hit(call, result, response)
        return response

    def _chatted(self, call: ModelCall, result: Result) -> ChatResponse:
        if result.calls and result.payload is not None and call.spoken is not None:
            return _marked(call.spoken, result)  # type: ignore[no-any-return]
        response = chat_response(result, call.demand)
        self._tell_hit(call, result, response)
        return response

    def _tell_hit(self, call: ModelCall, result: Result, response: ChatResponse | CompletionResponse) -> None:
        if result.calls == 0:
            Hit(self, call.prompt if call.messages is None else call.messages).end(response)

    def _stream(self, asked: Asked, call: ModelCall) -> Generator[Any, None, None]:
        passing = Passing()
        with closing(self._open.run_stream(asked.request, call.stream)) as items:  # type: ignore[type-var]
            for item in items:
                if not isinstance(item, Result):
                    yield from passing.take(item)
                elif passing.begun:
                    yield _marked(passing.last, item)
                else:
                    yield from self._replay(call, item)

    async def _astream(self, asked: Asked, call: ModelCall) -> AsyncGenerator[Any, None]:
        passing = Passing()
        async with aclosing(self._open.arun_stream(asked.request, call.astream)) as items:
            async for item in items:
                if not isinstance(item, Result):
                    for chunk in passing.take(item):
                        yield chunk
                elif passing.begun:
                    yield _marked(passing.last, item)
                else:
                    for chunk in self._replay(call, item):
                        yield chunk

    def _replay(self, call: ModelCall, result: Result) -> Generator[Any, None, None]:
        """A reply that is complete already, in several chunks; told as a hit where no model was called."""
        if result.calls and result.payload is not None and call.spoken is not None:
            whole = _marked(call.spoken, result)
        elif call.messages is None:
            whole = completion_response(result)
        else:
            whole = chat_response(result, call.demand)
        hit = None
        if result.calls == 0:
            hit = Hit(self, call.prompt if call.messages is None else call.messages)
        for chunk in replayed(whole, result.steps):
            if hit is not None:
                hit.progress(chunk)
            yield chunk
        if hit is not None:
            hit.end(whole)


class StepCacheFunctionCallingLLM(StepCacheLLM, FunctionCallingLLM):
    """What `StepCacheLLM(...)` makes around an LLM that calls functions."""

    def _prepare_chat_with_tools(
        self, tools: Sequence[BaseTool], user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None, verbose: bool = False, allow_parallel_tool_calls: bool = False,
        tool_required: bool = False, **kwargs: Any,
    ) -> dict[str, Any]:
        inner: Any = self.llm
        prepared: dict[str, Any] = inner._prepare_chat_with_tools_compat(
            tools, user_msg=user_msg, chat_history=chat_history, verbose=verbose,
            allow_parallel_tool_calls=allow_parallel_tool_calls, tool_required=tool_required, **kwargs)
        if tool_required and len(tools) == 1 and not allow_parallel_tool_calls:
            prepared[FORCED] = True
        return prepared

    def _validate_chat_with_tools_response(
        self, response: ChatResponse, tools: Sequence[BaseTool], allow_parallel_tool_calls: bool = False, **kwargs: Any
    ) -> ChatResponse:
        inner: Any = self.llm
        validated: ChatResponse = inner._validate_chat_with_tools_response(
            response, tools, allow_parallel_tool_calls=allow_parallel_tool_calls, **kwargs)
        return validated

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        inner: Any = self.llm
        calls: list[ToolSelection] = inner.get_tool_calls_from_response(
            response, error_on_no_tool_call=error_on_no_tool_call, **kwargs)
        return calls


@contextmanager
def _program_of(output_cls: Any) -> Iterator[None]:
    """Know inside which words LlamaIndex's program for this class adds to a prompt."""
    token = _asking.set(PydanticOutputParser(output_cls=output_cls).format(""))
    try:
        yield
    finally:
        _asking.reset(token)


def _marked(response: Any, result: Result) -> Any:
    """The model's own reply, untouched but for the marker."""
    return response.model_copy(
        update={"additional_kwargs": {**response.additional_kwargs, MARKER: result.marker()}})
