"""Chat and completion models that answer from a script and remember what they were asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
    Generation,
    GenerationChunk,
    LLMResult,
)
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from langchain_stepcache import StepCacheChatModel
from stepcache import Policy, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.testing import HashEmbedder

USAGE = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}

Answer = str | AIMessage | Exception | Callable[[list[BaseMessage]], Any]


class Chat(BaseChatModel):
    """Answers from `script`, the last line for ever; `asked` holds the messages, `options` the options of each call."""

    script: list[Any]
    candidates: int = 1
    asked: list[Any] = Field(default_factory=list, exclude=True)
    options: list[Any] = Field(default_factory=list, exclude=True)
    lock: Any = Field(default_factory=threading.Lock, exclude=True)

    @property
    def _llm_type(self) -> str:
        return "scripted-chat"

    @property
    def count(self) -> int:
        return len(self.asked)

    def _next(self, messages: Sequence[BaseMessage], options: dict[str, Any]) -> AIMessage:
        with self.lock:
            answer = self.script[min(len(self.asked), len(self.script) - 1)]
            self.asked.append(list(messages))
            self.options.append(options)
        if callable(answer):
            answer = answer(list(messages))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, AIMessage):
            return answer.model_copy(deep=True)
        return AIMessage(answer, usage_metadata=dict(USAGE), response_metadata={"finish_reason": "stop"})

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None,
                  run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any) -> ChatResult:
        message = self._next(messages, {**kwargs, "stop": stop})
        several = kwargs.get("n", self.candidates)
        return ChatResult(generations=[
            ChatGeneration(message=message.model_copy(update={"content": f"{message.content}{i or ''}"})
                           if several > 1 else message)
            for i in range(several)])

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Runnable[Any, Any]:
        choice = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **choice, **kwargs)


class StreamingChat(Chat):
    """The same in chunks of five characters; `break_after` chunks it fails."""

    break_after: int | None = None

    def _stream(self, messages: list[BaseMessage], stop: list[str] | None = None,
                run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        message = self._next(messages, {**kwargs, "stop": stop})
        text = str(message.text)
        for number, at in enumerate(range(0, len(text), 5)):
            if self.break_after is not None and number >= self.break_after:
                raise ConnectionError("the line went dead")
            yield ChatGenerationChunk(message=AIMessageChunk(content=text[at:at + 5]))
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=message.usage_metadata, tool_calls=message.tool_calls),
            generation_info={"finish_reason": "stop"})


class Text(BaseLLM):
    """A completion model that answers from a script."""

    script: list[Any]
    temperature: float = 0.0
    asked: list[Any] = Field(default_factory=list, exclude=True)
    options: list[Any] = Field(default_factory=list, exclude=True)

    @property
    def _llm_type(self) -> str:
        return "scripted-text"

    @property
    def count(self) -> int:
        return len(self.asked)

    def _next(self, prompt: str, options: dict[str, Any]) -> str:
        answer = self.script[min(len(self.asked), len(self.script) - 1)]
        self.asked.append(prompt)
        self.options.append(options)
        if callable(answer):
            answer = answer(prompt)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    def _generate(self, prompts: list[str], stop: list[str] | None = None,
                  run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any) -> LLMResult:
        return LLMResult(generations=[
            [Generation(text=self._next(prompt, {**kwargs, "stop": stop}), generation_info={"finish_reason": "stop"})
             for _ in range(kwargs.get("n", 1))] for prompt in prompts])


class StreamingText(Text):
    def _stream(self, prompt: str, stop: list[str] | None = None, run_manager: CallbackManagerForLLMRun | None = None,
                **kwargs: Any) -> Iterator[GenerationChunk]:
        text = self._next(prompt, {**kwargs, "stop": stop})
        for at in range(0, len(text), 5):
            yield GenerationChunk(text=text[at:at + 5])


def memory(policy: Policy | None = None, **options: Any) -> StepCache:
    """A cache of one's own in memory, with an embedder that needs no model."""
    return StepCache(MemoryStore(), **{"embedder": HashEmbedder(), "policy": policy, **options})


def wrapped(model: BaseChatModel, **options: Any) -> StepCacheChatModel:
    return StepCacheChatModel(model=model, cache=memory(**options))


def marker(message: BaseMessage) -> dict[str, Any]:
    told: dict[str, Any] = message.response_metadata["stepcache"]
    return told


def joined(chunks: Sequence[AIMessageChunk]) -> AIMessageChunk:
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole
