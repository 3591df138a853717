"""Generations as JSON and back, so that an exact repetition returns what was stored. No pickle, no `load`.

Only the fields listed here are kept, and only the classes named here are ever built: a tampered record yields None.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, Generation
from pydantic import BaseModel

__all__ = ["chat_generations", "generations_of", "llm_output_of", "payload_of"]

_VERSION = 1
_TAG = "$stepcache"
_MAX_DEPTH = 100
_MESSAGE_FIELDS = ("content", "additional_kwargs", "response_metadata", "name", "tool_calls", "invalid_tool_calls",
                   "usage_metadata")


def payload_of(generations: Sequence[Generation], llm_output: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON form of all candidates of one reply. A parsed object is left out: it is rebuilt from the text."""
    return {
        "framework": "langchain",
        "version": _VERSION,
        "generations": [_written(generation) for generation in generations],
        "llm_output": _json(llm_output),
    }


def generations_of(payload: Any) -> list[Generation] | None:
    """New objects for a payload made by `payload_of`, without message ids and with new tool-call ids; else None."""
    if not isinstance(payload, Mapping) or payload.get("framework") != "langchain":
        return None
    if payload.get("version") != _VERSION:
        return None
    try:
        read = [_read(item) for item in payload["generations"]]
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        # a record of another layout or a tampered one is a miss, not a crash
        return None
    return read or None


def chat_generations(payload: Any) -> list[ChatGeneration] | None:
    """As `generations_of`, None unless every candidate is a chat message."""
    read = generations_of(payload)
    if read is None:
        return None
    chats = [generation for generation in read if isinstance(generation, ChatGeneration)]
    return chats if len(chats) == len(read) else None


def llm_output_of(payload: Any) -> dict[str, Any] | None:
    """What the model told beside its candidates."""
    told = _value(payload.get("llm_output")) if isinstance(payload, Mapping) else None
    return told if isinstance(told, dict) else None


def _written(generation: Generation) -> dict[str, Any]:
    info = _json(generation.generation_info)
    if not isinstance(generation, ChatGeneration):
        return {"kind": "text", "text": generation.text, "info": info}
    return {"kind": "chat", "message": _message(generation.message), "info": info}


def _message(message: BaseMessage) -> dict[str, Any]:
    written = {name: _json(getattr(message, name, None)) for name in _MESSAGE_FIELDS}
    kwargs, metadata = written["additional_kwargs"], written["response_metadata"]
    if isinstance(kwargs, dict) and "parsed" in kwargs:
        kwargs["parsed"] = None
    if isinstance(metadata, dict):
        metadata.pop("stepcache", None)
    return {name: value for name, value in written.items() if value is not None}


def _read(item: Mapping[str, Any]) -> Generation:
    info = _value(item["info"])
    if item["kind"] == "text":
        return Generation(text=str(item["text"]), generation_info=info)
    if item["kind"] != "chat":
        raise ValueError("unknown kind of generation")
    fields = {name: _value(value) for name, value in item["message"].items() if name in _MESSAGE_FIELDS}
    return ChatGeneration(message=AIMessage(**_with_new_ids(fields)), generation_info=info)


def _with_new_ids(fields: dict[str, Any]) -> dict[str, Any]:
    """Give every tool call a new id, the same one wherever the old one stands."""
    calls = [*(fields.get("tool_calls") or ()), *(fields.get("invalid_tool_calls") or ())]
    renamed = {call["id"]: f"call_{uuid.uuid4().hex[:24]}" for call in calls if isinstance(call.get("id"), str)}
    if not renamed:
        return fields
    return {name: _renamed(value, renamed) for name, value in fields.items()}


def _renamed(value: Any, renamed: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(item, renamed) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: renamed.get(item, item) if key in {"id", "tool_call_id", "call_id"} and isinstance(item, str)
        else item if key in {"args", "input", "arguments"} else _renamed(item, renamed)
        for key, item in value.items()
    }


def _json(value: Any, depth: int = 0) -> Any:
    """`value` as JSON values; what JSON doesn't know is tagged so that `_value` gives it back, or left out."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else {_TAG: "float", "is": repr(value)}
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, bytes):
        return {_TAG: "bytes", "is": base64.b64encode(value).decode("ascii")}
    if isinstance(value, datetime):
        return {_TAG: "datetime", "is": value.isoformat()}
    if isinstance(value, date):
        return {_TAG: "date", "is": value.isoformat()}
    if isinstance(value, Decimal):
        return {_TAG: "decimal", "is": str(value)}
    if isinstance(value, BaseModel):
        return _json(value.model_dump(), depth + 1)
    if isinstance(value, Mapping):
        written = {str(key): _json(item, depth + 1) for key, item in value.items()}
        return {_TAG: "dict", "is": written} if _TAG in written else written
    if isinstance(value, tuple):
        return {_TAG: "tuple", "is": [_json(item, depth + 1) for item in value]}
    if isinstance(value, list | set | frozenset):
        return [_json(item, depth + 1) for item in value]
    return None


_READERS: dict[str, Any] = {
    "float": float,
    "bytes": base64.b64decode,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "decimal": Decimal,
}


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    tag = value.get(_TAG)
    if tag is None:
        return {key: _value(item) for key, item in value.items()}
    inner = value.get("is")
    if tag == "dict" and isinstance(inner, Mapping):
        return {key: _value(item) for key, item in inner.items()}
    if tag == "tuple" and isinstance(inner, list):
        return tuple(_value(item) for item in inner)
    if tag in _READERS and isinstance(inner, str):
        return _READERS[tag](inner)
    raise ValueError("unknown tag")
