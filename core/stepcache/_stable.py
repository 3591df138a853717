"""Values with one text form that is the same in every process; what has none must not become part of a key."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any
from uuid import UUID

__all__ = ["Unstable", "canonical_json", "stable"]

_MAX_DEPTH = 200


class Unstable(ValueError):
    """A value without a stable text form: an object known only by its address, a function with a closure, a class."""


def stable(value: Any, depth: int = 0) -> Any:
    """Return `value` as JSON values: equal for equal values, in this process and any other.

    Binary values keep their type, shape and a digest of their bytes. Secrets count as one and the same value: which
    key pays for an answer doesn't change it. Raises `Unstable` for anything else without a text form of its own.
    """
    if value is None or isinstance(value, bool | str | int):
        return str(value) if isinstance(value, str) else value
    if depth > _MAX_DEPTH:
        raise Unstable("nested too deeply")
    if isinstance(value, float):
        if not math.isfinite(value):
            return {"$float": repr(value)}
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if callable(getattr(value, "get_secret_value", None)):
        return {"$secret": ""}
    if isinstance(value, Mapping):
        return _mapping(value, depth)
    if isinstance(value, bytes | bytearray | memoryview):
        return {"$bytes": hashlib.sha256(bytes(value)).hexdigest()}
    if isinstance(value, Enum):
        return _tagged(type(value), stable(value.value, depth + 1))
    if isinstance(value, Sequence):
        return [stable(item, depth + 1) for item in value]
    if isinstance(value, AbstractSet):
        return {"$set": sorted(canonical_json(item) for item in value)}
    if isinstance(value, Decimal | Fraction | UUID | PurePath | date | time | timedelta):
        return {f"${type(value).__name__}": str(value)}
    return _object(value, depth)


def _mapping(value: Mapping[Any, Any], depth: int) -> Any:
    if value.get("lc") == 1 and value.get("type") == "not_implemented":
        raise Unstable("an object LangChain could not write down")
    if all(isinstance(key, str) for key in value):
        return {key: stable(item, depth + 1) for key, item in value.items()}
    pairs = [[stable(key, depth + 1), stable(item, depth + 1)] for key, item in value.items()]
    return {"$map": sorted(pairs, key=canonical_json)}


def _object(value: Any, depth: int) -> Any:
    if isinstance(value, type):
        if callable(schema := getattr(value, "model_json_schema", None)):
            return {"$schema": stable(schema(), depth + 1)}
    elif isinstance(names := getattr(type(value), "model_fields", None), Mapping):  # a Pydantic model
        return _tagged(type(value), {name: stable(getattr(value, name), depth + 1) for name in names})
    elif is_dataclass(value):
        return _tagged(type(value), {each.name: stable(getattr(value, each.name), depth + 1) for each in fields(value)})
    elif all(hasattr(value, name) for name in ("dtype", "shape", "tobytes")):
        digest = hashlib.sha256(value.tobytes()).hexdigest()
        return {"$array": [str(value.dtype), [int(size) for size in value.shape], digest]}
    raise Unstable(f"{type(value).__name__} has no stable text form")


def _tagged(kind: type, value: Any) -> dict[str, Any]:
    return {f"${kind.__module__}.{kind.__qualname__}": value}


def canonical_json(value: Any) -> str:
    """The JSON text of `stable(value)`: the order of dictionary keys doesn't count, the order of lists does."""
    return json.dumps(stable(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
