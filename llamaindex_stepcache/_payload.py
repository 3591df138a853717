"""Responses into completions, and results back into responses. Plain JSON in between; classes only by LlamaIndex."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from pydantic import BaseModel, ValidationError

from stepcache import Completion, Result, Usage
from stepcache._demand import Demand
from stepcache.errors import StoreError
from stepcache.tasks._json.extract import Found, extract

__all__ = ["MARKER", "chat_completion", "chat_response", "completion_response", "text_completion"]

MARKER = "stepcache"
Response = TypeVar("Response", ChatResponse, CompletionResponse)
_FINISH = ("finish_reason", "stop_reason", "done_reason")


def chat_completion(response: ChatResponse, demand: Demand, *, whole: bool = True) -> Completion:
    """What a chat reply says, for the core. Where a tool is forced, its text is the JSON of the call's arguments."""
    message = response.message
    calls = _calls(message)
    text = message.content or ""
    if calls and demand.form == "tools" and not text.strip():
        text = json.dumps([{"name": name, "arguments": args} for name, args in calls], ensure_ascii=False)
    elif calls and (demand.form == "forced" or not whole):
        arguments = [args for _, args in calls]
        text = json.dumps(arguments[0] if len(arguments) == 1 else arguments, ensure_ascii=False)
    says = bool(calls or text.strip()) or any(
        not isinstance(block, TextBlock) and block.block_type != "thinking" for block in message.blocks)
    return Completion(text, Usage.of(_usage(response.raw, response.additional_kwargs)), _finish_reason(response.raw),
                      payload=_dumped(response) if whole else None, cacheable=says)


def text_completion(response: CompletionResponse, *, whole: bool = True) -> Completion:
    """What a completion says, for the core."""
    return Completion(
        response.text, Usage.of(_usage(response.raw, response.additional_kwargs)), _finish_reason(response.raw),
        payload=_dumped(response) if whole else None, cacheable=bool(response.text.strip()))


def chat_response(result: Result, demand: Demand) -> ChatResponse:
    """The reply as LlamaIndex wants it: a new object, with the marker that explains it."""
    response = _loaded(ChatResponse, result.payload)
    if response is None:
        response = ChatResponse(message=_rebuilt(result, demand))
    elif demand.form == "forced" and result.calls == 0:
        response.message = _fresh_ids(response.message, demand.tool)
    response.additional_kwargs = _told(response.additional_kwargs, result)
    return response


def completion_response(result: Result) -> CompletionResponse:
    """As `chat_response`, for completions."""
    response = _loaded(CompletionResponse, result.payload) or CompletionResponse(text=result.output)
    response.additional_kwargs = _told(response.additional_kwargs, result)
    return response


def _rebuilt(result: Result, demand: Demand) -> ChatMessage:
    if demand.form == "forced" and isinstance(args := _object(result.output), dict):
        call_id, written = f"call_{uuid.uuid4().hex[:24]}", json.dumps(args, ensure_ascii=False)
        legacy = {"id": call_id, "type": "function", "function": {"name": demand.tool, "arguments": written}}
        return ChatMessage(
            role=MessageRole.ASSISTANT, additional_kwargs={"tool_calls": [_sdk_call(legacy)]},
            blocks=[ToolCallBlock(tool_call_id=call_id, tool_name=demand.tool, tool_kwargs=written)])
    return ChatMessage(role=MessageRole.ASSISTANT, content=result.output)


def _sdk_call(call: dict[str, Any]) -> Any:
    """The OpenAI package's own object where that is installed: its integration reads attributes."""
    try:
        from openai.types.chat.chat_completion_message_tool_call import ChatCompletionMessageToolCall
    except ImportError:
        return call
    return ChatCompletionMessageToolCall.model_validate(call)


def _fresh_ids(message: ChatMessage, tool: str) -> ChatMessage:
    """The call under the name this request forces: it may be a neighbour's."""
    blocks = [block.model_copy(update={"tool_name": tool}) if isinstance(block, ToolCallBlock) else block
              for block in message.blocks]
    return message.model_copy(update={"blocks": blocks})


def _calls(message: ChatMessage) -> list[tuple[str, Any]]:
    """Name and arguments of each tool call, from blocks or from the legacy list."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks:
        return [(block.tool_name, _arguments(block.tool_kwargs)) for block in blocks]
    legacy = message.additional_kwargs.get("tool_calls") or []
    found = []
    for call in legacy if isinstance(legacy, list) else []:
        plain = call.model_dump() if isinstance(call, BaseModel) else call
        if isinstance(plain, Mapping) and isinstance(function := plain.get("function"), Mapping):
            found.append((str(function.get("name")), _arguments(function.get("arguments"))))
    return found


def _arguments(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except ValueError:
        return given


def _dumped(response: BaseModel) -> Any:
    """The response as JSON values, or None where it holds something that has no such form."""
    from stepcache._codec import copy_json

    try:
        return copy_json(json.loads(response.model_dump_json(exclude={"delta"})))
    except (ValueError, TypeError, StoreError):
        return None


def _loaded(kind: type[Response], payload: Any) -> Response | None:
    """A stored response as a new object; None where there is none, or it is not one any more."""
    if not isinstance(payload, dict):
        return None
    try:
        return kind.model_validate(payload)
    except ValidationError:
        return None


def _object(text: str) -> Any:
    found = extract(text)
    return json.loads(found.json) if isinstance(found, Found) else None


def _usage(raw: Any, told: Mapping[str, Any]) -> Mapping[str, Any] | None:
    plain = raw.model_dump() if isinstance(raw, BaseModel) else raw
    usage = plain.get("usage") if isinstance(plain, Mapping) else None
    for source in (usage, told):
        if isinstance(source, Mapping) and any(isinstance(source.get(name), int) for name in
                                               ("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens")):
            return source
    return None


def _finish_reason(raw: Any) -> str | None:
    plain = raw.model_dump() if isinstance(raw, BaseModel) else raw
    if not isinstance(plain, Mapping):
        return None
    choices = plain.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    for source in (first, plain):
        for name in _FINISH:
            if isinstance(reason := source.get(name), str):
                return reason
    return None


def _told(stored: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """What was told beside the reply, the tokens of a patch where one was made, and the marker."""
    told = {key: value for key, value in stored.items() if key != MARKER}
    spent = result.usage
    if result.calls and spent is not None and spent.total is not None:
        told |= {"prompt_tokens": spent.prompt_tokens, "completion_tokens": spent.completion_tokens,
                 "total_tokens": spent.total}
    return {**told, MARKER: result.marker()}
