"""Strict reading of one JSON value (RFC 8259), with exact numbers. No searching: see `extract`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NoReturn

__all__ = ["MAX_DEPTH", "NotJson", "canonical", "compact", "decode", "skip_space"]

MAX_DEPTH = 128  # far above what people write, far below what would exhaust the stack of a schema check
_MAX_INT_DIGITS = 4_000  # Python refuses to make an int of more than 4,300 digits
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]*")
_STRING_OR_SPACE = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+")|[ \t\n\r]++', re.DOTALL)


class NotJson(ValueError):
    """The text at hand is not one strict JSON value; `reason` says why, `position` where."""

    def __init__(self, reason: str, position: int, *, fatal: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
        self.fatal = fatal  # no use in looking for another value behind it


class _Broken(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        double = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Broken(f"the key {double[:60]!r} stands twice in one object")
    return made


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= _MAX_INT_DIGITS else Decimal(text)


def _constant(name: str) -> NoReturn:
    raise _Broken(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=Decimal, parse_int=_integer, parse_constant=_constant, strict=True
)


def skip_space(text: str, position: int) -> int:
    """Return the first position at or after `position` that is no JSON white space."""
    found = _SPACE.match(text, position)
    return found.end() if found else position


def decode(text: str, position: int = 0) -> tuple[Any, int]:
    """Read the JSON value that starts exactly at `position`; return it and where it ends.

    Numbers with a fraction or exponent are `Decimal`, so no digit is lost. Raises `NotJson` for anything RFC 8259
    doesn't allow, and for what it leaves open but no two readers agree on: a key that stands twice, a lone
    surrogate, nesting deeper than `MAX_DEPTH`. Linear in the length of the value.
    """
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string") or not text[error.pos:].strip():
            raise NotJson("the JSON is cut off", len(text), fatal=True) from None
        what = (error.msg[0].lower() + error.msg[1:]).removesuffix(" at")
        line = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"not valid JSON: {what} at {line}", max(error.pos, position + 1)) from None
    except RecursionError:
        raise NotJson("the JSON is nested too deeply", position, fatal=True) from None
    except _Broken as error:
        raise NotJson(str(error), position, fatal=True) from None
    except ArithmeticError:
        raise NotJson("a number is too large", position, fatal=True) from None
    _refuse_odd(value, position)
    return value, end


def _refuse_odd(value: Any, position: int) -> None:
    for text, depth in _strings_and_depths(value):
        if depth > MAX_DEPTH:
            raise NotJson("the JSON is nested too deeply", position, fatal=True)
        if text is not None and _SURROGATE.search(text):
            raise NotJson("a string holds half of a surrogate pair", position, fatal=True)


def _strings_and_depths(value: Any) -> Iterator[tuple[str | None, int]]:
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, str):
            yield item, depth
        elif isinstance(item, dict | list):
            yield None, depth + 1
            if isinstance(item, dict):
                for key in item:
                    yield key, depth
                children = item.values()
            else:
                children = item  # type: ignore[assignment]
            stack.extend((child, depth + 1) for child in children if isinstance(child, str | dict | list))


def compact(text: str) -> str:
    """Return JSON text without the white space outside strings: equal for texts that differ in layout alone."""
    return _STRING_OR_SPACE.sub(lambda match: match.group(1) or "", text)


def canonical(value: Any) -> str:
    """Return JSON text for a decoded value, digits as they were read, keys in their order."""
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def _write(value: Any, parts: list[str]) -> None:
    if isinstance(value, dict):
        parts.append("{")
        for index, (key, item) in enumerate(value.items()):
            parts.append(", " if index else "")
            parts.append(json.dumps(key, ensure_ascii=False))
            parts.append(": ")
            _write(item, parts)
        parts.append("}")
    elif isinstance(value, list):
        parts.append("[")
        for index, item in enumerate(value):
            parts.append(", " if index else "")
            _write(item, parts)
        parts.append("]")
    elif isinstance(value, Decimal):
        parts.append(str(value))
    else:
        parts.append(json.dumps(value, ensure_ascii=False))
