"""Reading the calls out of a reply: JSON and nothing else, in any of the shapes that frameworks and models write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepcache.tasks._json.decode import NotJson, decode, skip_space

__all__ = ["Call", "read_calls"]

_MAX_CHARS = 1_000_000
_FENCE = re.compile(r"\s*(`{3,}|~{3,})[ \t]*(?:json[5c]?)?[ \t]*\r?\n", re.IGNORECASE)
_ARGUMENTS = ("arguments", "args", "parameters", "input")
_AROUND = frozenset({"id", "type", "index", "function", "label", "name", *_ARGUMENTS})


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the tool's name, its decoded arguments, and the label later calls may refer to (empty: none)."""

    name: str
    arguments: Mapping[str, Any]
    label: str = ""


def read_calls(text: str) -> tuple[Call, ...] | str:
    """The calls of a reply in their order, or the reason in words why there are none."""
    if len(text) > _MAX_CHARS:
        return f"a reply of {len(text):,} characters is too long to be read as tool calls"
    start, end = _inside_fence(text)
    try:
        value, after = decode(text, skip_space(text, start))
    except NotJson as error:
        return f"the reply is no list of tool calls: {error.reason}"
    if text[after:end].strip():
        return "the reply holds something else beside its tool calls"
    if isinstance(value, dict) and "tool_calls" in value:
        if value.get("content") or not value.keys() <= {"tool_calls", "content", "role"}:
            return "the reply holds something else beside its tool calls"
        value = value["tool_calls"]
    items = value if isinstance(value, list) else [value]
    if not items:
        return "the reply calls no tool"
    calls: list[Call] = []
    for number, item in enumerate(items, 1):
        call = _call(item)
        if isinstance(call, str):
            return f"call {number}: {call}"
        calls.append(call)
    return tuple(calls)


def _inside_fence(text: str) -> tuple[int, int]:
    """The range inside a fence that is all of the text; else the whole text."""
    opened = _FENCE.match(text)
    if opened is None:
        return 0, len(text)
    rest = text.rstrip()
    return (opened.end(), len(rest) - len(opened.group(1))) if rest.endswith(opened.group(1)) else (0, len(text))


def _call(item: Any) -> Call | str:
    if not isinstance(item, dict):
        return "is no object with a name and arguments"
    if not item.keys() <= _AROUND:
        return "has keys that belong to no tool call"
    inner = item
    if "function" in item:
        inner = item["function"]
        if not isinstance(inner, dict) or "name" in item or not inner.keys() <= {"name", *_ARGUMENTS}:
            return "is no object with a name and arguments"
    name = inner.get("name")
    given = [inner[key] for key in _ARGUMENTS if key in inner]
    if not isinstance(name, str) or len(given) != 1:
        return "is no object with a name and arguments"
    arguments = given[0]
    if isinstance(arguments, str):  # OpenAI writes the arguments as JSON text
        try:
            arguments, after = decode(arguments, skip_space(arguments, 0))
        except NotJson as error:
            return f"its arguments are no JSON: {error.reason}"
        if given[0][after:].strip():
            return "its arguments are no JSON: something follows them"
    if not isinstance(arguments, dict):
        return "its arguments are no object"
    label = item.get("label", "")
    if not isinstance(label, str):
        return "its label is no text"
    return Call(name, arguments, label)
