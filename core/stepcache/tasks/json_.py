"""JSON replies: required keys or a JSON Schema, given with the request or recognised from its words.

A reply is one step. Its object is found strictly, checked key by key, and changed by splicing: what the new request
does not touch keeps its bytes. No value is ever invented here: there is no computed fallback.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepcache._data import Request
from stepcache.errors import ConfigurationError
from stepcache.tasks._json.decode import NotJson, canonical, decode
from stepcache.tasks._json.spec import JsonSpec, Many

__all__ = ["JsonSpec", "json_keys", "json_schema"]


@dataclass(frozen=True)
class _Given:
    """A task whose demand is known beforehand: it applies to every request."""

    schema_text: str
    cut: Callable[[str], str] = field(compare=False, repr=False)
    draft: str | None = None
    format_check: bool = False
    many: Many = "one"
    repair: bool = False

    def __call__(self, request: Request) -> JsonSpec:
        return JsonSpec(
            about=self.cut(request.prompt), schema_text=self.schema_text, draft=self.draft,
            format_check=self.format_check, many=self.many, repair=self.repair,
        )


@dataclass(frozen=True)
class _Recognised:
    """A task that reads its demand from the prompt, and applies only where the prompt asks for that alone."""

    wanted: str
    format_check: bool = False
    repair: bool = False

    def __call__(self, request: Request) -> JsonSpec | None:
        from stepcache.tasks._json import recognise

        read = recognise.demanded_keys if self.wanted == "keys" else recognise.demanded_schema
        demand = read(request.prompt)
        if demand is None:
            return None
        spec = JsonSpec(
            about=demand.residue, schema_text=canonical(demand.schema), format_check=self.format_check,
            many=demand.many, repair=self.repair, bare=demand.bare,
        )
        return spec if _usable(spec) == "" else None


def _usable(spec: JsonSpec) -> str:
    """Why the schema of a spec can't be checked; empty where it can."""
    from stepcache.tasks._json.schema import SchemaRefused, compile_schema

    try:
        compile_schema(spec.schema_text, spec.draft, spec.format_check)
    except (SchemaRefused, NotJson) as refused:
        return str(refused)
    return ""


def json_keys(
    keys: Iterable[str] | None = None, *, extra: bool = True, array: bool = False, repair: bool = False
) -> Callable[[Request], JsonSpec | None]:
    """A task for JSON replies with certain keys.

    With `keys` it applies to every request: the reply is an object that has them all (with `array`, a list of such
    objects, each checked). Other keys are allowed unless `extra=False`, which drops them without a model call.
    Without `keys` the prompt is read: the task applies where it asks for just a JSON reply with the keys it lists.
    The reply then has these keys and no others, because these are what was asked for ("at least the keys ..." lets
    more in). With `repair`, a reply that is almost JSON (trailing commas, comments, single or curly quotes, True and
    None) passes if what it is mended to does; without, it fails.

    Raises `ConfigurationError` for a string or an empty list.
    """
    if keys is None:
        return _Recognised("keys", repair=repair)
    if isinstance(keys, str):
        raise ConfigurationError(f"json_keys takes a list of keys; write json_keys([{keys!r}])")
    names = tuple(dict.fromkeys(keys))
    if not names or not all(isinstance(name, str) for name in names):
        raise ConfigurationError('json_keys takes the names of the keys, such as json_keys(["name", "age"])')
    one: dict[str, Any] = {"type": "object", "properties": {name: {} for name in names}, "required": list(names)}
    if not extra:
        one["additionalProperties"] = False
    text = json.dumps(one, ensure_ascii=False)
    try:
        decode(text)
    except NotJson as error:
        raise ConfigurationError(f"json_keys can't use these keys: {error.reason}") from None
    wanted = frozenset(names)

    def cut(prompt: str) -> str:
        from stepcache.tasks._json.recognise import cut_keys

        return cut_keys(prompt, wanted)

    return _Given(text, cut, many="list" if array else "one", repair=repair)


def json_schema(
    schema: Mapping[str, Any] | bool | type | str | None = None,
    *,
    draft: str | None = None,
    format_check: bool = False,
    repair: bool = False,
) -> Callable[[Request], JsonSpec | None]:
    """A task for JSON replies that satisfy a JSON Schema.

    `schema` is the schema (a mapping, or its JSON text), a pydantic model class, typed dictionary or dataclass, or an
    OpenAI `response_format`. It then applies to every request. Without `schema` the prompt is read: the task applies
    where it asks for just a JSON reply that matches the schema it holds.

    `$schema` names the draft, else `draft` ("draft4" to "draft2020-12"), else keywords that only older drafts know,
    else 2020-12. `format` is checked only with `format_check=True`. Nothing is ever fetched: a schema with a reference
    to something outside itself is refused. `repair` is as in `json_keys`.

    Raises `ConfigurationError` for a schema that can't be used, saying why.
    """
    if schema is None:
        return _Recognised("schema", format_check, repair)
    text = _schema_text(schema)
    try:
        value = decode(text)[0]
    except NotJson as error:
        raise ConfigurationError(f"json_schema takes a JSON Schema; this one can't be read: {error.reason}") from None
    if isinstance(value, dict) and value.get("type") == "json_schema" and isinstance(value.get("json_schema"), dict):
        value = value["json_schema"].get("schema", value["json_schema"])
    elif isinstance(value, dict) and value.get("type") == "json_object":
        value = {"type": "object"}
    text = canonical(value)
    if why := _usable(JsonSpec("", text, draft, format_check)):
        raise ConfigurationError(f"json_schema can't use this schema: {why}")

    def cut(prompt: str) -> str:
        from stepcache.tasks._json.recognise import cut_schema

        return cut_schema(prompt, value)

    return _Given(text, cut, draft, format_check, repair=repair)


def _schema_of_type(kind: type) -> Any:
    """The schema of a typed dictionary or dataclass, where pydantic is there to read it."""
    try:
        from pydantic import PydanticUserError, TypeAdapter
    except ImportError:
        raise ConfigurationError("json_schema needs pydantic to read a class; or give it a JSON Schema") from None
    try:
        return TypeAdapter(kind).json_schema()
    except PydanticUserError as error:
        raise ConfigurationError(f"json_schema can't read a schema off {kind!r}: {error.message}") from None


def _schema_text(schema: Any) -> str:
    if isinstance(schema, str):
        return schema
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    elif isinstance(schema, type):
        schema = _schema_of_type(schema)
    if not isinstance(schema, Mapping | bool):
        raise ConfigurationError(f"json_schema takes a JSON Schema or a class that has one, not {schema!r}")
    try:
        return json.dumps(schema, ensure_ascii=False, default=dict)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"json_schema takes a JSON Schema; this one is not JSON: {error}") from None
