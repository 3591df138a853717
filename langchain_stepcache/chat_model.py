"""A chat model that asks the step cache first. It wraps any chat model and behaves like it in every other respect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from langchain_stepcache._calls import ModelCall
from langchain_stepcache._chunks import Passing, replayed
from langchain_stepcache._conversation import conversation_of
from langchain_stepcache._demand import STRUCTURED, demand_of
from langchain_stepcache._graft import graft
from langchain_stepcache._identity import identity_of
from langchain_stepcache._memo import Built, Known, Memo
from langchain_stepcache._raw import Raw, raw_call
from langchain_stepcache._reply import chat_result
from langchain_stepcache._wrapper import Wrapper, theirs, with_cache
from stepcache import Result, StepCache
from stepcache._asked import CONTROL, Asked, asked_of, control_of
from stepcache._control import ambient
from stepcache._identity import warn_once
from stepcache.errors import ConfigurationError

__all__ = ["StepCacheChatModel"]


class StepCacheChatModel(Wrapper, BaseChatModel):
    """Wraps a chat model: `StepCacheChatModel(model=ChatOpenAI(...), cache="./cache")`.

    `cache` takes a folder, ":memory:" or a `StepCache`. Every way of calling works as on the wrapped model (invoke,
    stream, batch, tools, structured output, agents), and every reply tells in `response_metadata["stepcache"]` how
    it came about. Any call takes `stepcache=CacheControl(...)`. `trace_calls` shows the real model calls as child
    runs in traces (not those of streams, whose run LangChain doesn't hand over). Attributes of the wrapped model can
    be read through this one.

    Raises `ConfigurationError` for a model or cache that can't be used.
    """

    model_config = ConfigDict(populate_by_name=True, arbitrary_types_allowed=True)

    llm: BaseChatModel = Field(alias="model")
    step_cache: Any = Field(default=None, exclude=True, repr=False)
    trace_calls: bool = False

    _open: StepCache = PrivateAttr()
    _memo: Memo = PrivateAttr(default_factory=Memo)

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **with_cache(fields))

    @model_validator(mode="before")
    @classmethod
    def _usable(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        model = fields.get("llm", fields.get("model"))
        if isinstance(model, RunnableBinding):
            raise ConfigurationError(
                "StepCacheChatModel(model=...) takes the chat model itself; for a model with bound options write "
                "with_stepcache(bound_model, cache), or bind the options to the StepCacheChatModel")
        if not isinstance(model, BaseChatModel):
            raise ConfigurationError(f"StepCacheChatModel(model=...) takes a LangChain chat model, not {model!r}")
        if fields.get("step_cache") is None:
            raise ConfigurationError("StepCacheChatModel needs a cache: write cache='./cache', cache=':memory:' or "
                                     "cache=StepCache.open(...)")
        return fields

    @model_validator(mode="after")
    def _like_the_wrapped(self) -> StepCacheChatModel:
        self._settle("output_version", "disable_streaming")
        return self

    # -- what LangChain asks of a chat model --------------------------------------------------------------------

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:
        raw = self._raw(messages, stop, kwargs)
        if (again := self._again(raw)) is not None:
            return again
        asked, call = self._call(messages, stop, run_manager, kwargs)
        result = self._open.run(asked.request, call.generate)
        self._remember(raw, asked, result)
        return chat_result(result, asked.demand, call.spoken)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:
        raw = self._raw(messages, stop, kwargs)
        if (again := self._again(raw)) is not None:
            return again
        asked, call = self._call(messages, stop, run_manager, kwargs)
        result = await self._open.arun(asked.request, call.agenerate)
        self._remember(raw, asked, result)
        return chat_result(result, asked.demand, call.spoken)

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        asked, call = self._call(messages, stop, run_manager, kwargs)
        passing = Passing()
        with closing(self._open.run_stream(asked.request, call.stream)) as items:  # type: ignore[type-var]
            for item in items:
                for chunk in _chunks(item, passing, asked, call):
                    if run_manager is not None:
                        run_manager.on_llm_new_token(str(chunk.text), chunk=chunk)
                    yield chunk

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        asked, call = self._call(messages, stop, run_manager, kwargs)
        passing = Passing()
        async with aclosing(self._open.arun_stream(asked.request, call.astream)) as items:
            async for item in items:
                for chunk in _chunks(item, passing, asked, call):
                    if run_manager is not None:
                        await run_manager.on_llm_new_token(str(chunk.text), chunk=chunk)
                    yield chunk

    def _raw(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]) -> Raw | None:
        """All that a plain call depends on, unread; None for any other call."""
        return None if kwargs or stop else raw_call(self.llm, messages)

    def _again(self, raw: Raw | None) -> ChatResult | None:
        known = None if raw is None else self._memo.get(raw)
        built = None if known is None else known.again(self._open)
        return None if built is None else ChatResult.model_construct(generations=built[0], llm_output=built[1])

    def _remember(self, raw: Raw | None, asked: Asked, result: Result) -> None:
        """How to ask for an exact repetition without reading the call, once it has been repeated."""
        if raw is None or not result.exact or ambient() is not None:
            return
        demand = asked.demand

        def build(repeated: Result) -> Built:
            made = chat_result(repeated, demand)
            return list(made.generations), made.llm_output

        self._memo.put(raw, Known(asked.request, result.key, build, named=False),
                       sum(len(text) for _, text in raw.messages))

    def _call(self, messages: list[BaseMessage], stop: list[str] | None, manager: Any, kwargs: Mapping[str, Any]
              ) -> tuple[Asked, ModelCall]:
        """The request these arguments make, and the model call that would answer it."""
        options = theirs(kwargs)
        control = control_of(kwargs.get(CONTROL))
        demand, plain = demand_of({**options, STRUCTURED: kwargs.get(STRUCTURED)})
        identity = identity_of(self.llm, {**plain, "stop": stop})
        call = ModelCall(model=self.llm, messages=messages, stop=stop, options=options, plain=plain, demand=demand,
                         manager=manager, traced=self.trace_calls,
                         callbacks=getattr(manager, "inheritable_handlers", None))
        return asked_of(conversation_of(messages), identity, demand, control), call

    # -- tools and structured output: built by the wrapped model, called through this one -----------------------

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], *,
        tool_choice: Any = None, **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as the wrapped model does."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self._grafted(self.llm.bind_tools(tools, **kwargs), {})

    def with_structured_output(
        self, schema: Any = None, *, include_raw: bool = False, **kwargs: Any,
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Structured output as the wrapped model gives it; its schema becomes the spec of each request."""
        built = self.llm.with_structured_output(schema, include_raw=include_raw, **kwargs)
        known = _json_schema_of(schema)
        return self._grafted(built, {} if known is None else {STRUCTURED: known})

    def _grafted(self, built: Runnable[LanguageModelInput, Any], options: Mapping[str, Any]
                 ) -> Runnable[LanguageModelInput, Any]:
        def replace(part: Runnable[Any, Any]) -> Runnable[Any, Any] | None:
            if part is not self.llm:
                return None
            return self.bind(**options) if options else self

        grafted: Runnable[LanguageModelInput, Any] = graft(built, replace)
        if grafted is built:
            warn_once("%s built something the cache can't be put into; it is used without the cache",
                      type(self.llm).__name__)
        return grafted

    # -- everything else is the wrapped model's -----------------------------------------------------------------

    def _get_invocation_params(self, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        return self.llm._get_invocation_params(stop=stop, **theirs(kwargs))

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None]) -> dict[str, Any]:
        return self.llm._combine_llm_outputs(llm_outputs)

    def _resolve_model_profile(self) -> Any:
        return self.llm.profile

    def _streaming_disabled(self, **kwargs: Any) -> bool:
        return super()._streaming_disabled(**kwargs) or self.llm._streaming_disabled(**kwargs)

    def _should_stream(self, *, async_api: bool, run_manager: Any = None, **kwargs: Any) -> bool:
        """Stream where either would: a hit can always be replayed, and the wrapped model may insist on it."""
        return (super()._should_stream(async_api=async_api, run_manager=run_manager, **kwargs)
                or self.llm._should_stream(async_api=async_api, run_manager=run_manager, **kwargs))

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Sequence[Any] | None = None) -> int:
        return self.llm.get_num_tokens_from_messages(messages, tools)


def _chunks(item: Any, passing: Passing, asked: Asked, call: ModelCall) -> Iterator[ChatGenerationChunk]:
    """What to show for one item of the core's stream: a chunk as it came, or a result whose words are not shown yet."""
    if not isinstance(item, Result):
        yield from passing.push(item)
    elif passing.began:
        yield passing.last(item)
    else:
        yield from replayed(chat_result(item, asked.demand, call.spoken), item.steps)


def _json_schema_of(schema: Any) -> Any:
    """A Pydantic class as it is, else the JSON Schema in whatever dress it comes; None where none is to be seen."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema
    if isinstance(schema, Mapping):
        inner = schema.get("json_schema", schema)
        if isinstance(inner, Mapping) and isinstance(inner.get("schema"), Mapping):
            return inner["schema"]
    try:
        return convert_to_openai_tool(schema)["function"].get("parameters")
    except Exception:  # the wrapped model has taken it; without a schema the request is only not checked
        return None
