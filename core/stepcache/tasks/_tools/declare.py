"""Reading a list of tools as frameworks write it: what may be called, with which arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stepcache.errors import ConfigurationError

__all__ = ["Tool", "canonical_tools", "declared"]

_MAX_DEPTH = 64
_TYPES = {
    "array": "array", "list": "array", "tuple": "array", "set": "array",
    "bool": "boolean", "boolean": "boolean",
    "dict": "object", "hashmap": "object", "map": "object", "object": "object",
    "double": "number", "float": "number", "number": "number",
    "int": "integer", "integer": "integer", "long": "integer",
    "none": "null", "null": "null",
    "char": "string", "str": "string", "string": "string",
}  # fmt: skip
_COMBINED = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its name, the JSON Schema of its arguments (as text), and the fields of its result where declared."""

    name: str
    schema: str
    fields: frozenset[str] | None


def canonical_tools(tools: object) -> str:
    """One text for a tool list, equal for lists that differ in the order of dictionary keys alone.

    Raises `ConfigurationError` for what is no list of tools.
    """
    if isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Sequence):
        raise ConfigurationError("tool_calls(tools=...) takes a list of tools, each a dictionary with a name")
    for tool in tools:
        inner = _function(tool) if isinstance(tool, Mapping) else None
        if inner is None or not isinstance(inner.get("name"), str) or not inner["name"]:
            raise ConfigurationError(
                "tool_calls(tools=...) takes tools as dictionaries with a name, a description and parameters, "
                "bare or under 'function' as OpenAI writes them"
            )
        if not isinstance(_parameters(inner), Mapping):
            raise ConfigurationError(f"the parameters of the tool {inner['name'][:60]!r} must be a JSON Schema object")
    try:
        text = json.dumps(tools, sort_keys=True, ensure_ascii=True, allow_nan=False, default=_as_mapping)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"tool_calls(tools=...) takes JSON values only ({error})") from None
    if _too_deep(text):
        raise ConfigurationError(f"the tools are nested more than {_MAX_DEPTH} deep")
    return text


def _as_mapping(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _too_deep(text: str) -> bool:
    depth = deepest = 0
    for letter in text:
        if letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "]}":
            depth -= 1
    return deepest > _MAX_DEPTH


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner = tool.get("function") if "name" not in tool else tool
    return inner if isinstance(inner, Mapping) else None


def _parameters(tool: Mapping[str, Any]) -> Any:
    for key in ("parameters", "input_schema", "inputSchema", "query_parameters"):
        if tool.get(key) is not None:
            return tool[key]
    return {}


@lru_cache(maxsize=64)
def declared(canonical: str) -> tuple[Tool, ...]:
    """The tools of a canonical list."""
    return tuple(_declared(tool) for tool in json.loads(canonical))


def _declared(tool: dict[str, Any]) -> Tool:
    inner = _function(tool) or {}
    given = _parameters(inner)
    schema = _standard(given if _is_schema(given) else _from_flat(given))
    schema.setdefault("type", "object")
    if "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
        # a name the tool doesn't know is no argument, even where JSON Schema would let it pass
        closing = "unevaluatedProperties" if any(key in schema for key in _COMBINED) else "additionalProperties"
        schema[closing] = False
    return Tool(str(inner["name"]), json.dumps(schema, sort_keys=True), _result_fields(inner))


def _is_schema(given: Mapping[str, Any]) -> bool:
    return not given or "properties" in given or isinstance(given.get("type"), str | list) or any(
        key.startswith("$") or key in _COMBINED for key in given
    )


def _from_flat(given: Mapping[str, Any]) -> dict[str, Any]:
    """A schema from a bare table of parameters, each of which says for itself whether it is required."""
    required = [name for name, one in given.items() if isinstance(one, Mapping) and one.get("required") is True]
    return {"type": "object", "properties": dict(given), "required": required}


def _standard(schema: Any) -> Any:
    """The schema in standard words: `dict` is object, `float` number, `allowed_values` an enum; types unknown go."""
    if isinstance(schema, list):
        return [_standard(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        match key:
            case "type" if isinstance(value, str):
                if (known := _TYPES.get(value.strip().lower())) is not None:
                    made["type"] = known
            case "type" if isinstance(value, list):
                made["type"] = [_TYPES.get(str(item).lower(), "object") for item in value]
            case "allowed_values":
                if isinstance(value, list) and "enum" not in schema:
                    made["enum"] = value
            case "required" if not isinstance(value, list):
                pass  # a parameter's own mark, see `_from_flat`
            case "properties" | "$defs" | "definitions" | "patternProperties" if isinstance(value, Mapping):
                made[key] = {name: _standard(one) for name, one in value.items()}
            case "default" | "const" | "enum" | "examples" | "description" | "title":
                made[key] = value
            case _:
                made[key] = _standard(value)
    return made


def _result_fields(tool: Mapping[str, Any]) -> frozenset[str] | None:
    for key in ("output_parameters", "output_schema", "outputSchema"):
        given = tool.get(key)
        if isinstance(given, Mapping) and given:
            return frozenset(_keys(given))
    return None


def _keys(given: Any) -> Iterator[str]:
    """All keys at any depth: tools describe nested results loosely, and a field named nowhere is what matters."""
    todo = [given]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            yield from item
            todo += item.values()
        elif isinstance(item, list):
            todo += item
