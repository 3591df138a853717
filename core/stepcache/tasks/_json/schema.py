"""Checking a decoded value against a JSON Schema: what is missing, wrong or forbidden, and where.

The validator is the `jsonschema` library's with the keywords of `keywords`. Nothing is ever fetched: a reference that
the schema itself doesn't answer refuses the schema. Import this module only when a schema has to be checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

import jsonschema
import jsonschema_specifications  # type: ignore[import-untyped]
import referencing
import referencing.exceptions
import referencing.jsonschema
from jsonschema.exceptions import SchemaError, ValidationError

from stepcache.tasks._json.decode import decode
from stepcache.tasks._json.failures import Failure, Problem
from stepcache.tasks._json.keywords import (
    DRAFTS,
    STOCK,
    URIS,
    MemberError,
    TooCostly,
    checks_left,
    is_integer,
    short,
    work_left,
)
from stepcache.tasks._json.patterns import MAX_WORK, PatternRefused, check_pattern
from stepcache.tasks._json.spans import Path

__all__ = ["CompiledSchema", "SchemaRefused", "compile_schema"]

_MAX_CHECKS = 200_000  # keyword evaluations for one reply; a schema that needs more is built to exhaust
_MAX_FAILURES = 1_000


class SchemaRefused(ValueError):
    """The schema is invalid, needs something outside itself, or can't be checked within bounds."""


@dataclass(frozen=True)
class CompiledSchema:
    """A schema ready to check values. Make one with `compile_schema`."""

    schema: Any
    draft: str
    validator: Any

    def failures(self, value: Any) -> tuple[Failure, ...]:
        """Every fault of the value, in the schema's order; none means that it is valid."""
        left, work = checks_left.set([_MAX_CHECKS]), work_left.set([MAX_WORK])
        try:
            found: dict[tuple[Path, Problem], Failure] = {}
            for error in self.validator.iter_errors(value):
                for failure in _failures_of(error):
                    found.setdefault((failure.path, failure.problem), failure)
                if len(found) > _MAX_FAILURES:
                    break
            return tuple(found.values())
        except TooCostly:
            return (Failure((), "wrong", "takes too long to check against this schema"),)
        except PatternRefused as refused:
            return (Failure((), "wrong", f"can't be checked: {refused}"),)
        except RecursionError:
            return (Failure((), "wrong", "is nested too deeply to check against this schema"),)
        except referencing.exceptions.Unresolvable:
            return (Failure((), "wrong", "can't be checked: the schema refers to something outside itself"),)
        finally:
            checks_left.reset(left)
            work_left.reset(work)


@lru_cache(maxsize=128)
def compile_schema(text: str, draft: str | None = None, format_check: bool = False) -> CompiledSchema:
    """Make a checker of a schema given as JSON text. Raises `SchemaRefused`.

    `draft` is used where the schema has no `$schema` of a known draft; without it, keywords that only older drafts
    know decide, else it is 2020-12.
    """
    schema = _whole_numbers(decode(text)[0])
    if not isinstance(schema, dict | bool):
        raise SchemaRefused("a JSON Schema is an object, true or false")
    name = _draft_of(schema, draft)
    try:
        stock = STOCK[name]
        stock.check_schema(schema, format_checker=None)
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)
        raise SchemaRefused(f"not a valid JSON Schema ({name}) at /{where}") from None
    except RecursionError:
        raise SchemaRefused("the schema is nested too deeply") from None
    _check_patterns(schema, text)
    _check_references(schema, name)
    checker = jsonschema.FormatChecker(formats=()) if format_check else None
    made = DRAFTS[name](schema, registry=jsonschema_specifications.REGISTRY, format_checker=checker)
    compiled = CompiledSchema(schema, name, made)
    probes: tuple[Any, ...] = ({}, [])
    for probe in probes:
        for failure in compiled.failures(probe):
            if not failure.path and ("too deeply" in failure.message or "too long" in failure.message):
                raise SchemaRefused("the schema refers to itself without end")
    return compiled


def _draft_of(schema: Any, draft: str | None) -> str:
    if isinstance(schema, dict):
        uri = str(schema.get("$schema", "")).rstrip("#")
        if uri in URIS:
            return URIS[uri]
        if uri.replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0") in URIS:
            return URIS[uri.replace("https:", "http:")]
    if draft is not None:
        if draft not in DRAFTS:
            raise SchemaRefused(f"unknown draft {draft!r}; known are {', '.join(DRAFTS)}")
        return draft
    return _guessed_draft(schema)


def _guessed_draft(schema: Any) -> str:
    for item in _dicts(schema):
        if any(isinstance(item.get(key), bool) and ("minimum" in item or "maximum" in item)
               for key in ("exclusiveMinimum", "exclusiveMaximum")):
            return "draft4"
        if isinstance(item.get("id"), str) and "$id" not in item and item is schema and "$defs" not in item:
            return "draft4"
    for item in _dicts(schema):
        if isinstance(item.get("items"), list) or (isinstance(item.get("dependencies"), dict) and (
            "type" in item or "properties" in item or item is schema
        )):
            return "draft7"
        identifier = item.get("$id")
        if isinstance(identifier, str) and "#" in identifier.rstrip("#"):
            return "draft7"
    older = isinstance(schema, dict) and "definitions" in schema and "$defs" not in schema
    return "draft7" if older else "draft2020-12"


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def _whole_numbers(value: Any) -> Any:
    """`2.0` as a length is the integer 2 to JSON Schema; the library's own check wants it written so."""
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    if isinstance(value, Decimal) and is_integer(value) and value.adjusted() < 30:
        return int(value)
    return value


def _check_patterns(schema: Any, text: str) -> None:
    mixed = '"unevaluatedProperties"' in text
    for item in _dicts(schema):
        table = item.get("patternProperties")
        patterns = list(table) if isinstance(table, dict) else []
        # the library itself matches these where unevaluatedProperties is asked for: only what can't backtrack
        if mixed and any(len(re.findall(r"[*+{?]", pattern)) > 1 for pattern in patterns):
            raise SchemaRefused("patternProperties beside unevaluatedProperties must be simple")
        if isinstance(item.get("pattern"), str):
            patterns.append(item["pattern"])
        for pattern in patterns:
            try:
                check_pattern(pattern)
            except PatternRefused as refused:
                raise SchemaRefused(f"a pattern can't be used: {refused}") from None


def _check_references(schema: Any, name: str) -> None:
    """Refuse a schema with a reference that leads outside: nothing is ever fetched."""
    dialect = STOCK[name].META_SCHEMA.get("$schema") or STOCK[name].META_SCHEMA.get("id", "")
    specification = referencing.jsonschema.specification_with(dialect)
    root = specification.create_resource(schema)
    stack: list[tuple[Any, Any]] = [(root, jsonschema_specifications.REGISTRY.resolver_with_root(root))]
    while stack:
        resource, resolver = stack.pop()
        resolver = resolver.in_subresource(resource)
        contents = resource.contents
        if isinstance(contents, Mapping):
            for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                if isinstance(contents.get(keyword), str):
                    try:
                        resolver.lookup(contents[keyword])
                    except (referencing.exceptions.Unresolvable, ValueError, TypeError):
                        raise SchemaRefused("the schema refers to something outside itself") from None
            stack.extend((sub, resolver) for sub in resource.subresources())


def _failures_of(error: ValidationError) -> list[Failure]:
    path: Path = tuple(error.absolute_path)
    if isinstance(error, MemberError):
        return [Failure((*path, error.member), error.problem, error.message)]
    if error.validator in ("anyOf", "oneOf") and not path and error.context:
        branches: dict[Any, list[Failure]] = {}
        for inner in error.context:
            branches.setdefault(inner.schema_path[0], []).extend(_failures_of(inner))
        usable = [fs for fs in branches.values() if all(f.path and f.problem != "extra" for f in fs)]
        if usable:  # the branch that is nearest to being met is the one to meet
            return min(usable, key=len)
    return [Failure(path, "wrong", _message(error))]


def _message(error: ValidationError) -> str:
    value: Any = error.validator_value
    match error.validator:
        case "type":
            kinds = [value] if isinstance(value, str) else value
            return f"is not of type {' or '.join(str(kind) for kind in kinds)}"
        case "minimum" | "exclusiveMinimum":
            return f"is too small (the limit is {short(value)})"
        case "maximum" | "exclusiveMaximum":
            return f"is too large (the limit is {short(value)})"
        case "minLength" | "minItems" | "minProperties":
            return f"is too short (at least {short(value)} needed)"
        case "maxLength" | "maxItems" | "maxProperties":
            return f"is too long (at most {short(value)} allowed)"
        case "anyOf" | "oneOf":
            return "fits none of the alternatives" if error.context else "fits more than one of the alternatives"
        case "pattern" | "const" | "enum" | "multipleOf" | "uniqueItems" | "format":
            return error.message
        case _:
            return f"breaks the rule {error.validator!r}"
