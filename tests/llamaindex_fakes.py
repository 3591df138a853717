"""LlamaIndex LLMs whose words are scripted; all else about them is real."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from pydantic import Field

Say = Callable[[str], str]


class Embedding(BaseEmbedding):
    """An embedder of the core, as LlamaIndex wants it."""

    by: Any = Field(exclude=True)

    def _get_text_embedding(self, text: str) -> list[float]:
        return list(self.by.embed(text))

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class SayingLLM(CustomLLM):
    """A completion model: `say(prompt)` makes each reply, `log` keeps the prompts."""

    say: Any = Field(exclude=True)
    log: list[str] = Field(default_factory=list, exclude=True)
    temperature: float = 0.0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="saying", context_window=4096, is_chat_model=False)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.log.append(prompt)
        return CompletionResponse(text=self.say(prompt), raw={"id": len(self.log)})

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any):
        def chunks():
            self.log.append(prompt)
            said = ""
            for word in self.say(prompt).split(" "):
                piece = word if not said else " " + word
                said += piece
                yield CompletionResponse(text=said, delta=piece)

        return chunks()


class CallingLLM(FunctionCallingLLM):
    """A chat model with tools: `say(last user text, tools, messages)` gives text or a list of (name, arguments)."""

    say: Any = Field(exclude=True)
    log: list[Any] = Field(default_factory=list, exclude=True)
    temperature: float = 0.0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="calling", is_chat_model=True, is_function_calling_model=True,
                           context_window=8192)

    def _reply(self, messages: Sequence[ChatMessage], tools: list[Any]) -> ChatResponse:
        last = next(m.content or "" for m in reversed(messages) if m.role == MessageRole.USER)
        self.log.append((last, [tool["function"]["name"] for tool in tools]))
        said = self.say(last, tools, messages)
        if isinstance(said, str):
            blocks: list[Any] = [TextBlock(text=said)]
        else:
            blocks = [
                ToolCallBlock(tool_call_id=f"id-{len(self.log)}-{i}", tool_name=name, tool_kwargs=json.dumps(args))
                for i, (name, args) in enumerate(said)
            ]
        # As OpenAI's integration tells calls: as blocks and, for what still reads it, as the older list.
        older = [{"id": block.tool_call_id, "type": "function",
                  "function": {"name": block.tool_name, "arguments": block.tool_kwargs}}
                 for block in blocks if isinstance(block, ToolCallBlock)]
        kwargs = {"tool_calls": older} if older else {}
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks, additional_kwargs=kwargs),
                            raw={"usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], tools: Any = None, **kwargs: Any) -> ChatResponse:
        return self._reply(messages, tools or [])

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], tools: Any = None, **kwargs: Any) -> ChatResponse:
        return self._reply(messages, tools or [])

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], tools: Any = None, **kwargs: Any):
        def chunks():
            whole = self._reply(messages, tools or [])
            if whole.message.content:
                said = ""
                for word in whole.message.content.split(" "):
                    piece = word if not said else " " + word
                    said += piece
                    yield ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=said), delta=piece)
            else:
                yield whole

        return chunks()

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], tools: Any = None, **kwargs: Any):
        async def chunks():
            for chunk in self.stream_chat(messages, tools=tools, **kwargs):
                yield chunk

        return chunks()

    def _as_completion(self, response: ChatResponse) -> CompletionResponse:
        return CompletionResponse(text=response.message.content or "", raw=response.raw)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self._as_completion(self._reply([ChatMessage(role=MessageRole.USER, content=prompt)], []))

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self._as_completion(self._reply([ChatMessage(role=MessageRole.USER, content=prompt)], []))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any):
        def chunks():
            yield self._as_completion(self._reply([ChatMessage(role=MessageRole.USER, content=prompt)], []))

        return chunks()

    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any):
        async def chunks():
            yield self._as_completion(self._reply([ChatMessage(role=MessageRole.USER, content=prompt)], []))

        return chunks()

    def _prepare_chat_with_tools(self, tools, user_msg=None, chat_history=None, verbose=False,
                                 allow_parallel_tool_calls=False, tool_required=False, **kwargs):
        messages = list(chat_history or [])
        if user_msg is not None:
            messages.append(ChatMessage(role=MessageRole.USER, content=user_msg) if isinstance(user_msg, str)
                            else user_msg)
        return {"messages": messages, "tools": [tool.metadata.to_openai_tool() for tool in tools], **kwargs}

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        blocks = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        if not blocks and error_on_no_tool_call:
            raise ValueError("no tool call")
        return [ToolSelection(tool_id=block.tool_call_id or "", tool_name=block.tool_name,
                              tool_kwargs=json.loads(block.tool_kwargs) if isinstance(block.tool_kwargs, str)
                              else block.tool_kwargs) for block in blocks]
