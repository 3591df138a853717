"""Telling LlamaIndex's instrumentation of a reply for which no model was called.

A real call is told by the wrapped LLM itself. The older callback event is left out on a hit: its token counter would
estimate tokens for a call that was never made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.instrumentation.events.llm import (
    LLMChatEndEvent,
    LLMChatInProgressEvent,
    LLMChatStartEvent,
    LLMCompletionEndEvent,
    LLMCompletionInProgressEvent,
    LLMCompletionStartEvent,
)
from llama_index.core.llms import LLM
from llama_index_instrumentation import get_dispatcher

__all__ = ["Hit"]

_dispatcher = get_dispatcher(__name__)


class Hit:
    """The events of one reply out of the cache: start, in-progress for each chunk, end with the decision in it."""

    def __init__(self, llm: LLM, asked: Sequence[ChatMessage] | str) -> None:
        self._asked = asked
        # What an LLM may tell of itself without a secret; `LLM.to_payload`, where a version of LlamaIndex has it.
        model: dict[str, Any] = {"class_name": llm.class_name(), **llm.metadata.model_dump()}
        if isinstance(asked, str):
            _dispatcher.event(LLMCompletionStartEvent(model_dict=model, prompt=asked, additional_kwargs={}))
        else:
            _dispatcher.event(LLMChatStartEvent(model_dict=model, messages=list(asked), additional_kwargs={}))

    def progress(self, response: ChatResponse | CompletionResponse) -> None:
        if isinstance(response, CompletionResponse):
            _dispatcher.event(LLMCompletionInProgressEvent(prompt=str(self._asked), response=response))
        else:
            _dispatcher.event(LLMChatInProgressEvent(messages=list(self._messages), response=response))

    def end(self, response: ChatResponse | CompletionResponse) -> None:
        if isinstance(response, CompletionResponse):
            _dispatcher.event(LLMCompletionEndEvent(prompt=str(self._asked), response=response))
        else:
            _dispatcher.event(LLMChatEndEvent(messages=list(self._messages), response=response))

    @property
    def _messages(self) -> Sequence[ChatMessage]:
        return [] if isinstance(self._asked, str) else self._asked
