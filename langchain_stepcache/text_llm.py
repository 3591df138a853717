"""A completion model that asks the step cache first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseLLM
from langchain_core.outputs import Generation, GenerationChunk, LLMResult
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from langchain_stepcache._identity import identity_of
from langchain_stepcache._payload import generations_of, payload_of
from langchain_stepcache._wrapper import Wrapper, theirs, with_cache
from stepcache import Completion, Result, StepCache
from stepcache._asked import CONTROL, Asked, Conversation, asked_of, control_of
from stepcache._demand import Demand
from stepcache._effects import Generate
from stepcache._replay import pieces
from stepcache.errors import ConfigurationError

__all__ = ["StepCacheTextLLM"]

_FINISH = ("finish_reason", "stop_reason", "done_reason")


class StepCacheTextLLM(Wrapper, BaseLLM):
    """Wraps a completion model: `StepCacheTextLLM(llm=some_model, cache=cache)`.

    The options of each call count (LangChain's own cache leaves them out), several prompts at once are asked for
    one by one, and every reply tells in `generation_info["stepcache"]` how it came about. Raises `ConfigurationError`
    for a model or cache that can't be used.
    """

    model_config = ConfigDict(populate_by_name=True, arbitrary_types_allowed=True)

    llm: BaseLLM = Field(alias="model")
    step_cache: Any = Field(default=None, exclude=True, repr=False)

    _open: StepCache = PrivateAttr()

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **with_cache(fields))

    @model_validator(mode="before")
    @classmethod
    def _usable(cls, fields: Any) -> Any:
        if isinstance(fields, dict):
            model = fields.get("llm", fields.get("model"))
            if not isinstance(model, BaseLLM):
                raise ConfigurationError(f"StepCacheTextLLM(llm=...) takes a LangChain completion model, not {model!r}")
            if fields.get("step_cache") is None:
                raise ConfigurationError("StepCacheTextLLM needs a cache: write cache='./cache', cache=':memory:' or "
                                         "cache=StepCache.open(...)")
        return fields

    @model_validator(mode="after")
    def _like_the_wrapped(self) -> StepCacheTextLLM:
        self._settle()
        return self

    def _generate(
        self, prompts: list[str], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> LLMResult:
        candidates, told = [], []
        for prompt in prompts:
            asked, call = self._call(prompt, stop, kwargs)
            candidates.append(_candidates(self._open.run(asked.request, call.generate), call))
            told.append(call.told)
        return LLMResult(generations=candidates, llm_output=_combined(told))

    async def _agenerate(
        self, prompts: list[str], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> LLMResult:
        async def answered(prompt: str) -> tuple[list[Generation], Mapping[str, Any]]:
            asked, call = self._call(prompt, stop, kwargs)
            return _candidates(await self._open.arun(asked.request, call.agenerate), call), call.told

        made = await asyncio.gather(*map(answered, prompts))
        return LLMResult(generations=[one for one, _ in made], llm_output=_combined([told for _, told in made]))

    def _stream(
        self, prompt: str, stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> Iterator[GenerationChunk]:
        asked, call = self._call(prompt, stop, kwargs)
        shown = False
        with closing(self._open.run_stream(asked.request, call.stream)) as items:  # type: ignore[type-var]
            for item in items:
                for chunk in _chunks(item, shown, call):
                    if run_manager is not None:
                        run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                    yield chunk
                shown = True

    async def _astream(
        self, prompt: str, stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> AsyncIterator[GenerationChunk]:
        asked, call = self._call(prompt, stop, kwargs)
        shown = False
        async with aclosing(self._open.arun_stream(asked.request, call.astream)) as items:
            async for item in items:
                for chunk in _chunks(item, shown, call):
                    if run_manager is not None:
                        await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                    yield chunk
                shown = True

    def _call(self, prompt: str, stop: list[str] | None, kwargs: Mapping[str, Any]) -> tuple[Asked, _TextCall]:
        options = theirs(kwargs)
        identity = identity_of(self.llm, {**options, "stop": stop})
        asked = asked_of(Conversation(prompt=prompt), identity, Demand(), control_of(kwargs.get(CONTROL)))
        return asked, _TextCall(model=self.llm, prompt=prompt, stop=stop, options=options)


@dataclass(slots=True, kw_only=True)
class _TextCall:
    """One call of the wrapped model, made only when the core asks for it; `spoken` is its last whole reply."""

    model: BaseLLM
    prompt: str
    stop: list[str] | None
    options: Mapping[str, Any]
    spoken: list[Generation] = field(default_factory=list)
    payload: Any = None
    told: Mapping[str, Any] = field(default_factory=dict)

    def generate(self, effect: Generate) -> Completion:
        return self._heard(effect, self.model._generate([self._asked(effect)], stop=self.stop, **self.options))

    async def agenerate(self, effect: Generate) -> Completion:
        return self._heard(effect, await self.model._agenerate([self._asked(effect)], stop=self.stop, **self.options))

    def stream(self, effect: Generate) -> Iterator[GenerationChunk | Completion]:
        if not effect.streams or type(self.model)._stream is BaseLLM._stream:
            yield self.generate(effect)
            return
        whole: GenerationChunk | None = None
        for chunk in self.model._stream(self._asked(effect), stop=self.stop, **self.options):
            whole = chunk if whole is None else whole + chunk
            yield chunk
        yield self._streamed(effect, whole)

    async def astream(self, effect: Generate) -> AsyncIterator[GenerationChunk | Completion]:
        streams = type(self.model)._stream is not BaseLLM._stream or type(self.model)._astream is not BaseLLM._astream
        if not effect.streams or not streams:
            yield await self.agenerate(effect)
            return
        whole: GenerationChunk | None = None
        async for chunk in self.model._astream(self._asked(effect), stop=self.stop, **self.options):
            whole = chunk if whole is None else whole + chunk
            yield chunk
        yield self._streamed(effect, whole)

    def _asked(self, effect: Generate) -> str:
        return self.prompt if effect.purpose == "answer" else effect.prompt

    def _streamed(self, effect: Generate, whole: GenerationChunk | None) -> Completion:
        if whole is None:
            raise ValueError("No generation chunks were returned")
        reply = Generation(text=whole.text, generation_info=whole.generation_info)
        return self._heard(effect, LLMResult(generations=[[reply]]))

    def _heard(self, effect: Generate, result: LLMResult) -> Completion:
        candidates = [Generation(text=each.text, generation_info=each.generation_info)
                      for each in result.generations[0]]
        info = candidates[0].generation_info or {}
        self.told = _combined([self.told, result.llm_output or {}]) or {}
        told = (result.llm_output or {}).get("token_usage")
        payload = None
        if effect.purpose != "patch":
            payload = payload_of(candidates)
            self.spoken, self.payload = candidates, payload
        return Completion(
            text=candidates[0].text,
            usage=told if isinstance(told, Mapping) else None,  # type: ignore[arg-type]  # a mapping is taken as well
            finish_reason=next((info[key] for key in _FINISH if isinstance(info.get(key), str)), None),
            payload=payload,
        )


def _combined(told: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What real calls told beside their candidates: token counts added up, of the rest the last word."""
    combined: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    for one in told:
        combined |= one
        usage = one.get("token_usage")
        for name, count in (usage.items() if isinstance(usage, Mapping) else ()):
            tokens[name] = tokens.get(name, 0) + count if isinstance(count, int) else count
    return {**combined, **({"token_usage": tokens} if tokens else {})} or None


def _candidates(result: Result, call: _TextCall) -> list[Generation]:
    """The reply's candidates as new objects, each with the marker that explains it."""
    if result.payload is not None and result.payload == call.payload and result.calls > 0:
        made: list[Generation] = call.spoken
    else:
        made = generations_of(result.payload) or [Generation(text=result.output, generation_info={
            "finish_reason": result.finish_reason or "stop"})]
    for generation in made:
        generation.generation_info = {**(generation.generation_info or {}), "stepcache": result.marker()}
    return made


def _chunks(item: Any, shown: bool, call: _TextCall) -> Iterator[GenerationChunk]:
    """What to show for one item of the core's stream: a chunk as it came, or a result whose words are not shown yet."""
    if not isinstance(item, Result):
        yield item
        return
    if shown:
        yield GenerationChunk(text="", generation_info={"stepcache": item.marker()})
        return
    reply = _candidates(item, call)[0]
    for piece in pieces(item.steps):
        yield GenerationChunk(text=piece)
    yield GenerationChunk(text="", generation_info=reply.generation_info)
