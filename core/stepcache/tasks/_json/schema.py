"""Checking a decoded value against a JSON Schema: what is missing, wrong or forbidden, and where.

The validator is the `jsonschema` library's, with keywords of our own where its are not exact (decimals), not bounded
(regular expressions, endless references) or don't name the key at fault. Nothing is ever fetched: a reference that
the schema itself doesn't answer refuses the schema. Import this module only when a schema has to be checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import jsonschema
import jsonschema_specifications  # type: ignore[import-untyped]
import referencing
import referencing.exceptions
import referencing.jsonschema
from jsonschema import validators
from jsonschema.exceptions import SchemaError, ValidationError

from stepcache.tasks._json.decode import canonical, decode
from stepcache.tasks._json.formats import conforms
from stepcache.tasks._json.patterns import PatternRefused, check_pattern, search
from stepcache.tasks._json.spans import Path

__all__ = ["CompiledSchema", "Failure", "SchemaRefused", "compile_schema", "is_integer"]

Problem = Literal["missing", "wrong", "extra"]

_MAX_CHECKS = 200_000  # keyword evaluations for one reply; a schema that needs more is built to exhaust
_MAX_FAILURES = 1_000
_MAX_EXPONENT = 5_000
_left: ContextVar[list[int]] = ContextVar("_left")


class SchemaRefused(ValueError):
    """The schema is invalid, needs something outside itself, or can't be checked within bounds."""


class _TooCostly(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Failure:
    """One fault of a value. `path` leads to the member concerned; the empty path means the value as a whole.

    "missing" members have to be added, "wrong" ones replaced, "extra" ones dropped. The message quotes nothing of
    the value, so it may be logged.
    """

    path: Path
    problem: Problem
    message: str


class _MemberError(ValidationError):
    """A validation error about one member, which need not be there."""

    member: str = ""
    problem: Problem = "extra"


def _about(member: str, problem: Problem, message: str) -> _MemberError:
    error = _MemberError(message)
    error.member, error.problem = member, problem
    return error


def is_integer(value: Any) -> bool:
    """Whether a decoded number is mathematically whole (1.0 is, true is not)."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return True
    if not isinstance(value, Decimal):
        return False
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # noqa: S101 - JSON has no NaN
    return exponent >= 0 or value == value.to_integral_value()


# --- keywords -------------------------------------------------------------------------------------------------------

_Keyword = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]


def _required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield _about(name, "missing", "is missing")


def _dependent_required(validator: Any, table: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name, needed in table.items():
            for other in needed if name in instance else ():
                if other not in instance:
                    yield _about(other, "missing", f"is missing, and needed where {name!r} is")


def _dependencies(validator: Any, table: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    for name, needed in table.items():
        if isinstance(needed, list):
            yield from _dependent_required(validator, {name: needed}, instance, schema)
        elif isinstance(instance, dict) and name in instance:
            yield from validator.descend(instance, needed, schema_path=name)


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not search(pattern, instance):
        yield ValidationError(f"does not match the pattern {_short(pattern)}")


def _pattern_properties(validator: Any, table: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, subschema in table.items():
            for name, value in instance.items():
                if search(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    named = schema.get("properties", {})
    patterns = tuple(schema.get("patternProperties", {}))
    for name, value in instance.items():
        if name in named or any(search(pattern, name) for pattern in patterns):
            continue
        if subschema is False:
            yield _about(name, "extra", "is not an allowed key")
        else:
            yield from validator.descend(value, subschema, path=name)


def _property_names(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in instance:
            if next(iter(validator.descend(name, subschema)), None) is not None:
                yield _about(name, "extra", "is not an allowed key name")


def _unevaluated_properties(stock: _Keyword) -> _Keyword:
    def check(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        errors = list(stock(validator, subschema, instance, schema) or ())
        if errors and subschema is False:
            named = _named_anywhere(schema)
            rest = {name: value for name, value in instance.items() if name in named}
            if not list(stock(validator, subschema, rest, schema) or ()):
                for name in instance:
                    if name not in named:
                        yield _about(name, "extra", "is not an allowed key")
                return
        yield from errors

    return check


def _named_anywhere(schema: Any) -> set[str]:
    names: set[str] = set()
    stack = [schema]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if isinstance(item.get("properties"), dict):
                names |= item["properties"].keys()
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return names


def _multiple_of(validator: Any, divisor: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, bool) or not isinstance(instance, int | Decimal):
        return
    for number in (instance, divisor):
        if isinstance(number, Decimal) and abs(number.adjusted()) > _MAX_EXPONENT:
            raise _TooCostly
    if (Fraction(instance) / Fraction(divisor)).denominator != 1:
        yield ValidationError(f"is not a multiple of {divisor}")


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(instance, list):
        seen = {_identity(item) for item in instance}
        if len(seen) != len(instance):
            yield ValidationError("has items that are equal")


def _equal(left: Any, right: Any) -> bool:
    return bool(_identity(left) == _identity(right))


def _identity(value: Any) -> Any:
    """A hashable stand-in, equal for values that JSON Schema calls equal: 1 is 1.0 but not true."""
    if isinstance(value, dict):
        return ("object", frozenset((key, _identity(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(_identity(item) for item in value))
    if isinstance(value, bool):
        return ("boolean", value)
    return ("number", value) if isinstance(value, int | Decimal) else value


def _const(validator: Any, const: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not _equal(instance, const):
        yield ValidationError(f"is not {_short(const)}")


def _enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not any(_equal(instance, value) for value in values):
        yield ValidationError(f"is not one of {_short(values)}")


def _format(validator: Any, name: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.format_checker is not None and isinstance(instance, str) and conforms(name, instance) is False:
        yield ValidationError(f"is not a valid {name}")


_OWN: dict[str, _Keyword] = {
    "required": _required,
    "dependentRequired": _dependent_required,
    "dependencies": _dependencies,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
    "const": _const,
    "enum": _enum,
    "format": _format,
}


def _counted(keyword: _Keyword) -> _Keyword:
    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[ValidationError] | None:
        left = _left.get()
        left[0] -= 1
        if left[0] < 0:
            raise _TooCostly
        return keyword(validator, value, instance, schema)

    return run


def _bounded(base: Any, *, whole_floats: bool) -> Any:
    keywords: dict[str, _Keyword] = {name: _OWN.get(name, stock) for name, stock in base.VALIDATORS.items()}
    if "unevaluatedProperties" in keywords:
        keywords["unevaluatedProperties"] = _unevaluated_properties(keywords["unevaluatedProperties"])
    checker = base.TYPE_CHECKER
    if whole_floats:
        checker = checker.redefine("integer", lambda _, value: is_integer(value))
    return validators.extend(  # type: ignore[no-untyped-call]
        base, {name: _counted(fn) for name, fn in keywords.items()}, type_checker=checker
    )


_DRAFTS: dict[str, Any] = {
    "draft4": _bounded(jsonschema.Draft4Validator, whole_floats=False),
    "draft6": _bounded(jsonschema.Draft6Validator, whole_floats=True),
    "draft7": _bounded(jsonschema.Draft7Validator, whole_floats=True),
    "draft2019-09": _bounded(jsonschema.Draft201909Validator, whole_floats=True),
    "draft2020-12": _bounded(jsonschema.Draft202012Validator, whole_floats=True),
}
_STOCK: dict[str, Any] = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "draft2019-09": jsonschema.Draft201909Validator,
    "draft2020-12": jsonschema.Draft202012Validator,
}
_URIS = {
    "http://json-schema.org/draft-04/schema": "draft4",
    "http://json-schema.org/draft-06/schema": "draft6",
    "http://json-schema.org/draft-07/schema": "draft7",
    "https://json-schema.org/draft/2019-09/schema": "draft2019-09",
    "https://json-schema.org/draft/2020-12/schema": "draft2020-12",
}


# --- compiling ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompiledSchema:
    """A schema ready to check values. Make one with `compile_schema`."""

    schema: Any
    draft: str
    validator: Any

    def failures(self, value: Any) -> tuple[Failure, ...]:
        """Every fault of the value, in the schema's order; none means that it is valid."""
        token = _left.set([_MAX_CHECKS])
        try:
            found: dict[tuple[Path, Problem], Failure] = {}
            for error in self.validator.iter_errors(value):
                for failure in _failures_of(error):
                    found.setdefault((failure.path, failure.problem), failure)
                if len(found) > _MAX_FAILURES:
                    break
            return tuple(found.values())
        except _TooCostly:
            return (Failure((), "wrong", "takes too long to check against this schema"),)
        except PatternRefused as refused:
            return (Failure((), "wrong", f"can't be checked: {refused}"),)
        except RecursionError:
            return (Failure((), "wrong", "is nested too deeply to check against this schema"),)
        except referencing.exceptions.Unresolvable:
            return (Failure((), "wrong", "can't be checked: the schema refers to something outside itself"),)
        finally:
            _left.reset(token)


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
        stock = _STOCK[name]
        stock.check_schema(schema, format_checker=None)
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)
        raise SchemaRefused(f"not a valid JSON Schema ({name}) at /{where}") from None
    except RecursionError:
        raise SchemaRefused("the schema is nested too deeply") from None
    _check_patterns(schema, text)
    _check_references(schema, name)
    checker = jsonschema.FormatChecker(formats=()) if format_check else None
    made = _DRAFTS[name](schema, registry=jsonschema_specifications.REGISTRY, format_checker=checker)
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
        if uri in _URIS:
            return _URIS[uri]
        if uri.replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0") in _URIS:
            return _URIS[uri.replace("https:", "http:")]
    if draft is not None:
        if draft not in _DRAFTS:
            raise SchemaRefused(f"unknown draft {draft!r}; known are {', '.join(_DRAFTS)}")
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
        if isinstance(item.get("items"), list) or isinstance(item.get("dependencies"), dict) and (
            "type" in item or "properties" in item or item is schema
        ):
            return "draft7"
        identifier = item.get("$id")
        if isinstance(identifier, str) and "#" in identifier.rstrip("#"):
            return "draft7"
    return "draft2020-12"


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
    if isinstance(value, Decimal) and is_integer(value) and value.adjusted() < 30:  # noqa: PLR2004
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
    dialect = _STOCK[name].META_SCHEMA.get("$schema") or _STOCK[name].META_SCHEMA.get("id", "")
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


# --- from the library's errors to failures ----------------------------------------------------------------------------


def _failures_of(error: ValidationError) -> list[Failure]:
    path: Path = tuple(error.absolute_path)
    keyword: Any = error.validator  # the library leaves it None for the schema `false`
    if isinstance(error, _MemberError):
        return [Failure((*path, error.member), error.problem, error.message)]
    if keyword is None and path and isinstance(path[-1], str):  # the schema of this member is `false`
        return [Failure(path, "extra", "is not an allowed key")]
    if keyword in ("anyOf", "oneOf") and not path and error.context:
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
            return f"is too small (the limit is {_short(value)})"
        case "maximum" | "exclusiveMaximum":
            return f"is too large (the limit is {_short(value)})"
        case "minLength" | "minItems" | "minProperties":
            return f"is too short (at least {_short(value)} needed)"
        case "maxLength" | "maxItems" | "maxProperties":
            return f"is too long (at most {_short(value)} allowed)"
        case "anyOf" | "oneOf":
            return "fits none of the alternatives" if error.context else "fits more than one of the alternatives"
        case "pattern" | "const" | "enum" | "multipleOf" | "uniqueItems" | "format":
            return error.message
        case _:
            return f"breaks the rule {error.validator!r}"


def _short(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= 120 else text[:117] + "..."  # noqa: PLR2004
