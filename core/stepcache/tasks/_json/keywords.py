"""JSON Schema keywords of our own, and the drafts they are built into.

They stand in where the `jsonschema` library's are not exact (decimals), not bounded (regular expressions, endless
references) or don't name the key at fault. This module takes time to load: import it only to check a schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from typing import Any

import jsonschema
from jsonschema import validators
from jsonschema.exceptions import ValidationError

from stepcache.tasks._json.decode import canonical
from stepcache.tasks._json.failures import Problem
from stepcache.tasks._json.formats import conforms
from stepcache.tasks._json.patterns import search

__all__ = ["DRAFTS", "STOCK", "URIS", "MemberError", "TooCostly", "checks_left", "is_integer", "short", "work_left"]

_MAX_EXPONENT = 5_000
_REFERENCE_COST = 20  # following one takes about as long as twenty plain checks
checks_left: ContextVar[list[int]] = ContextVar("checks_left")
work_left: ContextVar[list[int]] = ContextVar("work_left")


class TooCostly(Exception):
    """A check needs more work than a schema written in good faith does."""


class MemberError(ValidationError):
    """A validation error about one member, which need not be there."""

    member: str = ""
    problem: Problem = "extra"


def _about(member: str, problem: Problem, message: str) -> MemberError:
    error = MemberError(message)
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
    assert isinstance(exponent, int)  # JSON has no NaN
    return exponent >= 0 or value == value.to_integral_value()


def short(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= 120 else text[:117] + "..."


_Keyword = Callable[[Any, Any, Any, Any], "Iterable[ValidationError] | None"]


def _required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield _about(name, "missing", "is missing")


def _properties(validator: Any, table: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name, subschema in table.items():
            if name in instance:
                yield from _member(validator, name, instance[name], subschema, name)


def _member(validator: Any, name: str, value: Any, subschema: Any, where: str) -> Iterator[ValidationError]:
    if subschema is False:  # the library would not say which member it means
        yield _about(name, "extra", "is not an allowed key")
    else:
        yield from validator.descend(value, subschema, path=name, schema_path=where)


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


def _found(pattern: str, text: str) -> bool:
    return search(pattern, text, work_left.get())


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"does not match the pattern {short(pattern)}")


def _pattern_properties(validator: Any, table: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, subschema in table.items():
            for name, value in instance.items():
                if _found(pattern, name):
                    yield from _member(validator, name, value, subschema, pattern)


def _additional_properties(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    named = schema.get("properties", {})
    patterns = tuple(schema.get("patternProperties", {}))
    for name, value in instance.items():
        if name in named or any(_found(pattern, name) for pattern in patterns):
            continue
        yield from _member(validator, name, value, subschema, name)


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
            raise TooCostly
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
        yield ValidationError(f"is not {short(const)}")


def _enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not any(_equal(instance, value) for value in values):
        yield ValidationError(f"is not one of {short(values)}")


def _format(validator: Any, name: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.format_checker is not None and isinstance(instance, str) and conforms(name, instance) is False:
        yield ValidationError(f"is not a valid {name}")


_OWN: dict[str, _Keyword] = {
    "properties": _properties,
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


def _counted(name: str, keyword: _Keyword) -> _Keyword:
    cost = _REFERENCE_COST if name in ("$ref", "$dynamicRef", "$recursiveRef") else 1

    def run(validator: Any, value: Any, instance: Any, schema: Any) -> Iterable[ValidationError] | None:
        left = checks_left.get()
        left[0] -= cost
        if left[0] < 0:
            raise TooCostly
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
        base, {name: _counted(name, fn) for name, fn in keywords.items()}, type_checker=checker
    )


DRAFTS: dict[str, Any] = {
    "draft4": _bounded(jsonschema.Draft4Validator, whole_floats=False),
    "draft6": _bounded(jsonschema.Draft6Validator, whole_floats=True),
    "draft7": _bounded(jsonschema.Draft7Validator, whole_floats=True),
    "draft2019-09": _bounded(jsonschema.Draft201909Validator, whole_floats=True),
    "draft2020-12": _bounded(jsonschema.Draft202012Validator, whole_floats=True),
}
STOCK: dict[str, Any] = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "draft2019-09": jsonschema.Draft201909Validator,
    "draft2020-12": jsonschema.Draft202012Validator,
}
URIS = {
    "http://json-schema.org/draft-04/schema": "draft4",
    "http://json-schema.org/draft-06/schema": "draft6",
    "http://json-schema.org/draft-07/schema": "draft7",
    "https://json-schema.org/draft/2019-09/schema": "draft2019-09",
    "https://json-schema.org/draft/2020-12/schema": "draft2020-12",
}
