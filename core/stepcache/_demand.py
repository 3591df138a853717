"""What form of reply a call asks for: text, JSON by a schema, a forced tool, or tools the model may choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Demand", "demand_of"]

Form = Literal["text", "json", "forced", "tools"]

_REPLY_OPTIONS = ("response_format", "tools", "tool_choice", "functions", "function_call")


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The form of reply, taken out of a call's options.

    `schema` is a JSON Schema or a Pydantic class; `tool` the name of the one tool that must be called; `tools` the
    offered ones; `typed` says that the caller wants a parsed object beside the text; `way` tells apart replies whose
    messages look different though they say the same.
    """

    form: Form = "text"
    schema: Any = None
    tool: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    choice: Any = None
    typed: bool = False
    way: str = ""


def demand_of(
    options: Mapping[str, Any], structured: Any = None, as_mapping: Callable[[Any], Mapping[str, Any]] = dict
) -> tuple[Demand, dict[str, Any]]:
    """Split a call's options (named as in the OpenAI API) into the form of reply they ask for and the rest.

    `structured` is the schema whose parser waits for the reply, where the adapter knows it; `as_mapping` turns a
    framework's tool object into its OpenAI form.

    A tool is forced only where exactly one call of it is sure to come: it is the sole tool and parallel calls are
    excluded, or a structured output was asked for. Otherwise the tools count as free.
    """
    rest = {key: value for key, value in options.items() if key not in _REPLY_OPTIONS}
    tools = tuple(tool if isinstance(tool, Mapping) else as_mapping(tool) for tool in options.get("tools") or ())
    choice = options.get("tool_choice")
    if tools:
        forced = _forced(tools, choice)
        if forced is not None and (structured is not None or options.get("parallel_tool_calls") is False):
            rest = {key: value for key, value in rest.items() if key not in {"parallel_tool_calls", "strict"}}
            return Demand(form="forced", schema=_parameters(forced), tool=_name(forced), way="tool call"), rest
        response_format = options.get("response_format")
        if response_format is not None:
            rest["response_format"] = response_format
        return Demand(form="tools", tools=tools, choice=choice, way="tools", typed=_is_class(response_format)), rest
    if "functions" in options:
        rest |= {key: options[key] for key in ("functions", "function_call") if key in options}
        return Demand(form="tools", way="functions"), rest
    return _by_format(options.get("response_format"), structured, rest)


def _by_format(response_format: Any, structured: Any, rest: dict[str, Any]) -> tuple[Demand, dict[str, Any]]:
    if response_format is None:
        if isinstance(rest.get("format"), Mapping):  # as Ollama is told of a schema
            return Demand(form="json", schema=rest.pop("format"), way="format"), rest
        if structured is None:
            return Demand(), rest
        return Demand(form="json", schema=structured, way="structured"), rest
    if _is_class(response_format):
        return Demand(form="json", schema=response_format, typed=True, way="json_schema class"), rest
    if isinstance(response_format, Mapping):
        kind = response_format.get("type")
        if kind == "text":
            return Demand(), rest
        if kind == "json_object":
            schema = response_format.get("schema", structured)
            return Demand(form="json", schema=schema, way="json_object"), rest
        inner = response_format.get("json_schema", response_format)
        if isinstance(inner, Mapping) and isinstance(inner.get("schema"), Mapping):
            return Demand(form="json", schema=inner["schema"], way="json_schema"), rest
    rest["response_format"] = response_format
    return Demand(way="response_format"), rest


def _is_class(response_format: Any) -> bool:
    """Whether a caller wants an object of a Pydantic class."""
    return isinstance(response_format, type) and hasattr(response_format, "model_json_schema")


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function")
    return function if isinstance(function, Mapping) else tool


def _name(tool: Mapping[str, Any]) -> str:
    return str(_function(tool).get("name", ""))


def _parameters(tool: Mapping[str, Any]) -> Any:
    function = _function(tool)
    return function.get("parameters") or function.get("input_schema") or {"type": "object"}


def _forced(tools: tuple[Mapping[str, Any], ...], choice: Any) -> Mapping[str, Any] | None:
    """The one tool that a choice leaves no way around, or None."""
    if isinstance(choice, Mapping):
        inner = choice.get("function")
        choice = inner.get("name") if isinstance(inner, Mapping) else choice.get("name", choice.get("type"))
    if choice is True or (isinstance(choice, str) and choice in {"any", "required"}):
        return tools[0] if len(tools) == 1 and _name(tools[0]) else None
    if isinstance(choice, str) and choice not in {"auto", "none", "tool", "function"} and len(tools) == 1:
        return next((tool for tool in tools if _name(tool) == choice), None)
    return None
