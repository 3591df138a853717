"""Messages into completions and results back into messages."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult

from langchain_stepcache._payload import chat_generations, llm_output_of, payload_of
from stepcache import Completion, Result
from stepcache._demand import Demand
from stepcache.tasks._json.extract import Found, extract

__all__ = ["Spoken", "chat_result", "completion_of", "finish_reason_of", "usage_of"]

_FINISH = ("finish_reason", "stop_reason", "done_reason", "finishReason")
# Metadata that was true of the one call that made a reply, not of a reply made from it.
_OF_ONE_CALL = frozenset({
    "logprobs", "id", "token_usage", "usage", "headers", "x_groq", "system_fingerprint", "stepcache"})


@dataclass(slots=True)
class Spoken:
    """What the model last said in answer to the whole request, kept so that a fresh reply comes back untouched."""

    result: ChatResult | None = None
    payload: Any = None

    def heard(self, result: ChatResult, completion: Completion) -> None:
        self.result, self.payload = result, completion.payload


def completion_of(result: ChatResult, demand: Demand, *, whole: bool = True) -> Completion:
    """What a model's reply says, for the core.

    Where a tool is forced, its text is the JSON of the tool's arguments, so that a JSON spec can verify it. A reply
    without any candidate, a refusal, or one whose only tool calls are malformed is not to be recorded.
    """
    generation = result.generations[0]
    message = generation.message
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    text = str(message.text)
    if calls and demand.form == "tools":
        text = _written(calls, text)
    elif calls and (demand.form == "forced" or (not whole and demand.form == "json")):
        text = _arguments(calls, text)
    return Completion(
        text=text,
        usage=usage_of(message, result.llm_output),  # type: ignore[arg-type]  # a mapping is taken as well
        finish_reason=finish_reason_of(generation),
        payload=payload_of(result.generations, result.llm_output) if whole else None,
        cacheable=all(_recordable(each.message) for each in result.generations),
    )


def _arguments(calls: Sequence[Mapping[str, Any]], text: str) -> str:
    """One call's arguments; several calls where one was to come stay a list, which no object schema accepts."""
    args = [call["args"] for call in calls]
    try:
        return json.dumps(args[0] if len(args) == 1 else args, ensure_ascii=False)
    except (TypeError, ValueError):
        return text


def _written(calls: Sequence[Mapping[str, Any]], text: str) -> str:
    """Calls as the tool-call task reads them; with words beside them they are more than calls, and stay words."""
    if text.strip():
        return text
    try:
        return json.dumps([{"name": call["name"], "arguments": call["args"]} for call in calls], ensure_ascii=False)
    except (TypeError, ValueError):
        return text


def _recordable(message: BaseMessage) -> bool:
    if not isinstance(message, AIMessage):
        return False
    refused = message.additional_kwargs.get("refusal") or any(
        isinstance(block, Mapping) and block.get("type") == "refusal" for block in message.content)
    malformed = bool(message.invalid_tool_calls) and not message.tool_calls
    says = bool(message.tool_calls or str(message.text).strip()) or any(
        isinstance(block, Mapping) and block.get("type") not in {"text", "reasoning", "thinking"}
        for block in message.content)
    return says and not refused and not malformed


def usage_of(message: BaseMessage, llm_output: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
    """The tokens a reply took, wherever the model tells them; None where it doesn't."""
    told = getattr(message, "usage_metadata", None)
    if told and "input_tokens" in told:
        return dict(told)
    for source in (llm_output or {}, message.response_metadata):
        usage = source.get("token_usage") or source.get("usage")
        if isinstance(usage, Mapping) and any(isinstance(usage.get(key), int) for key in
                                              ("prompt_tokens", "input_tokens", "completion_tokens", "output_tokens")):
            return dict(usage)
    return None


def finish_reason_of(generation: ChatGeneration) -> str | None:
    for source in (generation.generation_info or {}, generation.message.response_metadata):
        for key in _FINISH:
            if isinstance(reason := source.get(key), str):
                return reason
    return None


def chat_result(result: Result, demand: Demand, spoken: Spoken | None = None) -> ChatResult:
    """The reply as LangChain wants it: new objects, tokens as billed just now, and the marker that explains it."""
    fresh = result.source in {"model", "repair"} and result.calls > 0
    if fresh and spoken is not None and spoken.result is not None and result.payload == spoken.payload:
        made = spoken.result
        _finish(made.generations, result, demand)
        return made
    kept = chat_generations(result.payload) if result.payload is not None else None
    if kept is None:
        made = ChatResult(generations=[ChatGeneration(message=_rebuilt(result, demand))])
    else:
        told = llm_output_of(result.payload)
        made = ChatResult(generations=kept, llm_output=told if fresh else _unbilled(told))
        if not fresh:
            for generation in kept:
                generation.message.response_metadata = _unbilled(generation.message.response_metadata) or {}
                generation.generation_info = _unbilled(generation.generation_info)
    _finish(made.generations, result, demand)
    return made


def _finish(generations: Sequence[ChatGeneration], result: Result, demand: Demand) -> None:
    for generation in generations:
        message = generation.message
        if not isinstance(message, AIMessage):
            continue
        _as_demanded(message, result, demand)
        message.response_metadata = {**message.response_metadata, "stepcache": result.marker()}
        message.usage_metadata = _billed(message, result)


def _as_demanded(message: AIMessage, result: Result, demand: Demand) -> None:
    """Name the tool that this call forced, and put the parsed object beside the text for a caller who wants one."""
    if demand.form == "forced" and result.verified:
        if not message.tool_calls and isinstance(args := _object(result.output), dict):
            message.tool_calls, message.invalid_tool_calls = [_call(demand.tool, args)], []
            if isinstance(message.content, str):
                message.content = ""
        elif len(message.tool_calls) == 1:
            message.tool_calls[0]["name"] = demand.tool
    if demand.typed and not message.tool_calls:
        parsed = message.additional_kwargs.get("parsed")
        if parsed is None and isinstance(found := _object(str(message.text)), dict):
            message.additional_kwargs["parsed"] = found


def _billed(message: AIMessage, result: Result) -> UsageMetadata | None:
    """The tokens of the calls just made: zero for a hit, the patch's own for a patch, all of them after a repair."""
    if result.calls == 0:
        return UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    told = message.usage_metadata
    if result.source == "model" and result.calls == 1:
        return told
    spent = result.usage
    if spent is None or (spent.prompt_tokens is None and spent.completion_tokens is None):
        return told if result.payload is not None else None
    read, written = spent.prompt_tokens or 0, spent.completion_tokens or 0
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _rebuilt(result: Result, demand: Demand) -> AIMessage:
    """A message for a text no model said as it stands: what the matched reply told of its model, and nothing more."""
    match = result.decision.match
    model: dict[str, Any] = {}
    content: Any = result.output
    if match is not None and (old := chat_generations(match.entry.payload)) is not None:
        model = {key: value for key, value in old[0].message.response_metadata.items() if key not in _OF_ONE_CALL}
        told = llm_output_of(match.entry.payload) or {}
        model = {**{key: value for key, value in told.items() if key not in _OF_ONE_CALL}, **model}
        if isinstance(old[0].message.content, list) and demand.form != "forced":
            content = [{"type": "text", "text": result.output}]
    model = {key: value for key, value in model.items() if key not in _FINISH} | {
        "finish_reason": result.finish_reason or "stop"}
    if demand.form == "forced" and isinstance(args := _object(result.output), dict):
        return AIMessage(content="", tool_calls=[_call(demand.tool, args)], response_metadata=model)
    return AIMessage(content=content, response_metadata=model)


def _call(name: str, args: dict[str, Any]) -> Any:
    return {"name": name, "args": args, "id": f"call_{uuid.uuid4().hex[:24]}", "type": "tool_call"}


def _object(text: str) -> Any:
    """The JSON value a verified reply holds, fences and prose around it left out; None where there is none."""
    found = extract(text)
    return json.loads(found.json) if isinstance(found, Found) else None


def _unbilled(told: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Metadata of a reply that cost nothing this time: its token counts are zero."""
    if told is None:
        return None
    return {key: _zero(value) if key in {"token_usage", "usage"} else value for key, value in told.items()}


def _zero(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _zero(item) for key, item in value.items()}
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value
