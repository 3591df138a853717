"""The step cache behind LangChain's own caching hook, `set_llm_cache`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult

from langchain_stepcache._calls import ModelCall, takes_formats
from langchain_stepcache._conversation import conversation_of
from langchain_stepcache._demand import demand_of
from langchain_stepcache._llm_string import options_of
from langchain_stepcache._memo import Built, Known, Memo, new_id
from langchain_stepcache._payload import generations_of, payload_of
from langchain_stepcache._reply import chat_result, completion_of
from langchain_stepcache._tracing import ambient_callbacks
from stepcache import CacheControl, Completion, Result, StepCache
from stepcache._asked import Asked, Conversation, asked_of
from stepcache._control import ambient
from stepcache._effects import Generate
from stepcache._identity import identity_of_options
from stepcache.errors import ConfigurationError, loggable

__all__ = ["LangChainStepCache"]

_log = logging.getLogger("stepcache")
_MESSAGES = {"human": HumanMessage, "system": SystemMessage, "ai": AIMessage, "tool": ToolMessage}


class LangChainStepCache(BaseCache):
    """`set_llm_cache(LangChainStepCache("./cache"))`: every model call of an app goes through the step cache.

    `cache` takes a folder, ":memory:" or a `StepCache`. Similar requests are verified and rewritten; with
    `patch_model`, failing regions are patched by it. The hook sees prompt and options as text only, which sets
    limits that `StepCacheChatModel` and `StepCacheTextLLM` don't have: streams and the options of single calls of
    completion models are not seen, fresh replies are shown only afterwards (so they are recorded but not enforced),
    and a Pydantic class as response format has no schema in the text (such requests are not cached).

    Never raises from a lookup or an update, unless the cache's policy is strict. Raises `ConfigurationError` for a
    cache or model that can't be used.
    """

    def __init__(
        self, cache: StepCache | str | PathLike[str], *, patch_model: BaseChatModel | BaseLLM | None = None,
    ) -> None:
        if patch_model is not None and not isinstance(patch_model, BaseChatModel | BaseLLM):
            raise ConfigurationError(
                f"LangChainStepCache(patch_model=...) takes a LangChain chat or completion model, not {patch_model!r}")
        self.step_cache = StepCache.of(cache)
        self.patch_model = patch_model
        self._warned = False
        self._memo = Memo()

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """The generations recorded for this very request, or made for it from a similar one; else None."""
        try:
            if (again := self._again(prompt, llm_string)) is not None:
                return again
            call = _read(prompt, llm_string, self.patch_model)
            generate = None if self.patch_model is None else call.generate
            return self._told(call, llm_string, self.step_cache.lookup(call.asked.request, generate))
        except Exception as error:  # LangChain doesn't catch: the caller would lose an answer to its cache
            self._failed("looking up", error)
            return None

    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """As `lookup`, never blocking the event loop."""
        try:
            if (again := self._again(prompt, llm_string)) is not None:
                return again
            call = _read(prompt, llm_string, self.patch_model)
            generate = None if self.patch_model is None else call.agenerate
            return self._told(call, llm_string, await self.step_cache.alookup(call.asked.request, generate))
        except Exception as error:  # as above
            self._failed("looking up", error)
            return None

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Record what the model answered, if it passes what the request demands."""
        try:
            call = _read(prompt, llm_string, None)
            if (completion := call.completion(return_val)) is not None:
                self.step_cache.record(call.asked.request, completion)
        except Exception as error:  # as above
            self._failed("recording", error)

    async def aupdate(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """As `update`, never blocking the event loop."""
        try:
            call = _read(prompt, llm_string, None)
            if (completion := call.completion(return_val)) is not None:
                await self.step_cache.arecord(call.asked.request, completion)
        except Exception as error:  # as above
            self._failed("recording", error)

    def clear(self, **kwargs: Any) -> None:
        """Remove everything, or what `namespace`, `model`, `tag` or `older_than` name."""
        self.step_cache.clear(**kwargs)

    def _again(self, prompt: str, llm_string: str) -> list[Generation] | None:
        known = self._memo.get((prompt, llm_string))
        built = None if known is None else known.again(self.step_cache)
        return None if built is None else built[0]

    def _told(self, call: _Call, llm_string: str, result: Result | None) -> list[Generation] | None:
        """The reply, which will need no reading of the two texts when it is asked for again."""
        if result is not None and result.exact and ambient() is None:
            known = Known(call.asked.request, result.key, call.built, named=True)
            self._memo.put((call.prompt, llm_string), known, len(call.prompt) + len(llm_string))
        return None if result is None else call.built(result)[0] or None

    def _failed(self, doing: str, error: Exception) -> None:
        if self.step_cache.policy.strict:
            raise error
        if not self._warned:
            self._warned = True
            _log.warning("%s failed (%s); the model answers", doing, loggable(error))
        _log.debug("%s failed", doing, exc_info=error)

    def __repr__(self) -> str:
        return f"LangChainStepCache({self.step_cache!r}, patch_model={self.patch_model!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One request of LangChain, read from its two texts."""

    asked: Asked
    chat: bool
    prompt: str
    messages: Sequence[BaseMessage]
    stop: list[str] | None
    format: Mapping[str, Any] | None
    patch_model: BaseChatModel | BaseLLM | None

    def built(self, result: Result) -> Built:
        """The candidates as LangChain takes them for a hit: all new objects, usage always whole."""
        if not self.chat:
            exact = generations_of(result.payload)
            if exact is not None and result.exact:
                return exact, None
            made = exact or [Generation(text=result.output)]
            for generation in made:
                generation.generation_info = {**(generation.generation_info or {}), "stepcache": result.marker()}
            return made, None
        reply = chat_result(result, self.asked.demand).generations
        for generation in reply:
            message = generation.message
            message.id = new_id()
            if isinstance(message, AIMessage) and message.usage_metadata is None:
                message.usage_metadata = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
        return list(reply), None

    def completion(self, return_val: RETURN_VAL_TYPE) -> Completion | None:
        candidates = list(return_val)
        if not candidates:
            return None
        chats = [candidate for candidate in candidates if isinstance(candidate, ChatGeneration)]
        if self.chat and len(chats) == len(candidates):
            return completion_of(ChatResult(generations=chats), self.asked.demand)
        info = candidates[0].generation_info or {}
        reason = info.get("finish_reason")
        return Completion(text=candidates[0].text, finish_reason=reason if isinstance(reason, str) else None,
                          payload=payload_of(candidates))

    def generate(self, effect: Generate) -> Completion:
        model = self.patch_model
        if isinstance(model, BaseChatModel):
            return self._chat(model).generate(effect)
        assert model is not None
        return _text(model._generate([effect.prompt]))

    async def agenerate(self, effect: Generate) -> Completion:
        model = self.patch_model
        if isinstance(model, BaseChatModel):
            return await self._chat(model).agenerate(effect)
        assert model is not None
        return _text(await model._agenerate([effect.prompt]))

    def _chat(self, model: BaseChatModel) -> ModelCall:
        """A raw call: it enters no cache and no stream, and tracers see it as a run of its own."""
        options = {"response_format": self.format} if self.format is not None and takes_formats(model) else {}
        return ModelCall(model=model, messages=self.messages, stop=self.stop, options=options, plain={},
                         demand=self.asked.demand, traced=True, callbacks=ambient_callbacks())


def _text(result: LLMResult) -> Completion:
    candidate = result.generations[0][0]
    told = (result.llm_output or {}).get("token_usage")
    return Completion(text=candidate.text, usage=told if isinstance(told, Mapping) else None)  # type: ignore[arg-type]


def _read(prompt: str, llm_string: str, patch_model: BaseChatModel | BaseLLM | None) -> _Call:
    options, doubtful = options_of(llm_string)
    fields = _messages(prompt)
    demand, plain = demand_of(options)
    identity = identity_of_options({**plain, "_called": "text" if fields is None else "chat"}, doubtful)
    stop = options.get("stop")
    stop = stop if isinstance(stop, list) else None
    response_format = options.get("response_format") if demand.form == "json" else None
    response_format = response_format if isinstance(response_format, Mapping) else None
    if fields is None:
        asked = asked_of(Conversation(prompt=prompt), identity, demand, CacheControl())
        return _Call(asked=asked, chat=False, prompt=prompt,
                     messages=[HumanMessage(prompt)], stop=stop, format=response_format, patch_model=patch_model)
    messages = [] if patch_model is None else [_message(each) for each in fields]
    asked = asked_of(conversation_of(fields), identity, demand, CacheControl())
    return _Call(asked=asked, chat=True, prompt=prompt,
                 messages=messages, stop=stop, format=response_format, patch_model=patch_model)


def _messages(prompt: str) -> list[Mapping[str, Any]] | None:
    """The fields of the messages a chat prompt holds, or None for plain text (which may well be JSON of its own)."""
    if not prompt.startswith('[{"lc": 1,'):
        return None
    try:
        written = json.loads(prompt)
    except (ValueError, RecursionError):
        return None
    fields: list[Mapping[str, Any]] = []
    for each in written:
        if not (isinstance(each, dict) and each.get("lc") == 1 and each.get("type") == "constructor"):
            return None
        path, kwargs = each.get("id"), each.get("kwargs")
        if not (isinstance(path, list) and str(path[:1]).startswith("['langchain") and isinstance(kwargs, dict)
                and isinstance(kwargs.get("type"), str)):
            return None
        fields.append(kwargs)
    return fields


def _message(fields: Mapping[str, Any]) -> BaseMessage:
    kind: Any = _MESSAGES.get(str(fields.get("type", "")), HumanMessage)
    taken = {key: fields[key] for key in ("content", "name", "tool_calls", "tool_call_id", "status") if key in fields}
    message: BaseMessage = kind(**taken)
    return message
