"""Entries as text and back: JSON of allow-listed fields, versioned, exact, bounded. No pickle, no input or output.

A record that is damaged, foreign, too big or too deep decodes to None and never raises; an entry that cannot be
written exactly raises `StoreError`. Signing (HMAC-SHA256) is for those who share a disk with others.
"""

from __future__ import annotations

import array
import base64
import hashlib
import hmac
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from stepcache._data import CacheControl, Entry, Request, Step, Usage, without_context
from stepcache.errors import StoreError

__all__ = [
    "CODEC_VERSION",
    "MAX_DEPTH",
    "MAX_RECORD_CHARS",
    "copy_json",
    "decode",
    "decode_line",
    "encode",
    "encode_line",
    "kept_form",
    "pack_vector",
    "private_copy",
    "same_signature",
    "sign",
    "unpack_vector",
]

CODEC_VERSION = 1
MAX_RECORD_CHARS = 16_000_000  # a prompt and a reply of 1,000,000 characters, escaped, with payload, fit
MAX_DEPTH = 100  # of a payload; far below what Python's own JSON reader takes without a RecursionError
MAX_DIMENSIONS = 65_536

_NEEDED = frozenset({"v", "key", "prompt", "namespace", "partition", "task", "steps"})
_TEXTS = ("residue", "shape", "template", "trace", "judged", "fingerprint")
_OPTIONAL = frozenset({
    *_TEXTS, "model", "temperature", "multi_turn", "exact_only", "payload", "usage", "finish_reason",
    "created_at", "expires_at", "tags",
})


class _Unfit(Exception):
    """A value that is not what the format allows."""


def copy_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Copy a JSON value (plain dict, list, str, int, finite float, bool, None); a tuple becomes a list.

    Raises `StoreError` for anything else, so that what comes back is what was put.
    """
    try:
        return _checked(value, depth)
    except _Unfit as unfit:
        raise StoreError(f"payload is not plain JSON: {unfit}") from None


def private_copy(entry: Entry) -> Entry:
    """What a caller may do with as it likes: the payload, the only part that could be changed, is copied."""
    if not isinstance(entry.payload, dict | list):
        return entry
    return replace(entry, payload=copy_json(entry.payload))


def _checked(value: Any, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is str:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise _Unfit("a number that is not finite")
        return value
    if depth <= 0:
        raise _Unfit(f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, dict):
        return {_text(name): _checked(item, depth - 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_checked(item, depth - 1) for item in value]
    # Frameworks hand over subclasses (string enums, numpy's float): keep the plain value.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _checked(float(value), depth)
    raise _Unfit(f"{kind.__name__} is not a JSON type")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Unfit(f"text expected, not {type(value).__name__}")
    return value if type(value) is str else str.__str__(value)


def _time(value: Any) -> float:
    if type(value) is int:
        return value if abs(value) < 2**62 else _refuse("a time out of range")
    if type(value) is not float or not math.isfinite(value):
        raise _Unfit("a time that is no number")
    return value


def _count(value: Any) -> int | None:
    if value is not None and type(value) is not int:
        raise _Unfit("a token count that is no whole number")
    return value


def _refuse(reason: str) -> NoReturn:
    raise _Unfit(reason)


def kept_form(entry: Entry) -> Entry:
    """The entry as any store keeps it: the request without context, the payload a private copy."""
    return replace(entry, request=without_context(entry.request), payload=copy_json(entry.payload))


def encode(entry: Entry) -> str:
    """Write an entry as one line of JSON text; fields at their default are left out.

    The request's context and spec are not part of a record. Raises `StoreError` for what JSON cannot hold exactly
    and for records over `MAX_RECORD_CHARS`.
    """
    request = entry.request
    fields: dict[str, Any] = {
        "v": CODEC_VERSION,
        "key": entry.key,
        "namespace": request.wall,
        "partition": entry.partition,
        "task": entry.task,
        "prompt": request.prompt,
        "steps": [step.text for step in entry.steps],
    }
    extra: dict[str, Any] = {
        "model": request.model or None,
        "temperature": request.temperature,
        "multi_turn": request.multi_turn or None,
        "exact_only": request.exact_only or None,
        "payload": copy_json(entry.payload),
        "usage": None if entry.usage is None else [entry.usage.prompt_tokens, entry.usage.completion_tokens],
        "finish_reason": entry.finish_reason,
        "created_at": entry.created_at,
        "expires_at": entry.expires_at,
        "tags": list(entry.tags) or None,
        **{name: getattr(entry, name) or None for name in _TEXTS},
    }
    fields.update((name, value) for name, value in extra.items() if value is not None)
    try:
        text = json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if len(text) > MAX_RECORD_CHARS:
            raise StoreError(f"record of {len(text)} characters is over the limit of {MAX_RECORD_CHARS}")
        return _storable(text)
    except (TypeError, ValueError, RecursionError, OverflowError) as problem:
        raise StoreError(f"entry cannot be written as JSON: {problem}") from None


def _storable(text: str) -> str:
    """Text that UTF-8 can hold. Lone surrogates go in base64: as JSON escapes, two in a row would read back as one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        packed = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
        return json.dumps({"v": CODEC_VERSION, "surrogates": packed}, separators=(",", ":"))
    return text


def decode(text: Any) -> Entry | None:
    """Read a record, or None when it is not one that `encode` of this version could have written."""
    if not isinstance(text, str) or len(text) > 2 * MAX_RECORD_CHARS:
        return None
    try:
        fields = _parsed(text)
        if isinstance(fields, dict) and fields.keys() == {"v", "surrogates"}:
            inner = base64.b64decode(_text(fields["surrogates"]), validate=True).decode("utf-8", "surrogatepass")
            fields = _parsed(inner)
        return _entry(fields)
    except (_Unfit, ValueError, RecursionError):  # ValueError covers JSON, base64, Unicode and int-digit limits
        return None


def _parsed(text: str) -> Any:
    def no_constant(name: str) -> NoReturn:
        _refuse(f"{name} is not JSON")

    return json.loads(text, parse_constant=no_constant)


def _entry(fields: Any) -> Entry:
    if not isinstance(fields, dict) or fields.get("v") != CODEC_VERSION or type(fields["v"]) is not int:
        raise _Unfit("another version")
    names = fields.keys()
    if not names >= _NEEDED or not names <= _NEEDED | _OPTIONAL:
        raise _Unfit("other fields")
    get = fields.get
    temperature = get("temperature")
    request = Request(
        prompt=_text(fields["prompt"]),
        namespace=_text(fields["namespace"]),
        model=_text(get("model", "")),
        temperature=None if temperature is None else _time(temperature),
        multi_turn=_flag(get("multi_turn", False)),
        exact_only=_flag(get("exact_only", False)),
        control=CacheControl(),
    )
    steps = fields["steps"]
    tags = get("tags", [])
    usage = get("usage")
    if not isinstance(steps, list) or not isinstance(tags, list):
        raise _Unfit("steps and tags are lists")
    if usage is not None and (not isinstance(usage, list) or len(usage) != 2):
        raise _Unfit("usage is a pair")
    expires_at = get("expires_at")
    finish_reason = get("finish_reason")
    return Entry(
        key=_text(fields["key"]),
        request=request,
        partition=_text(fields["partition"]),
        task=_text(fields["task"]),
        steps=tuple(Step(_text(step)) for step in steps),
        payload=_checked(get("payload"), MAX_DEPTH),
        usage=None if usage is None else Usage(_count(usage[0]), _count(usage[1])),
        finish_reason=None if finish_reason is None else _text(finish_reason),
        created_at=_time(get("created_at", 0.0)),
        expires_at=None if expires_at is None else _time(expires_at),
        tags=tuple(_text(tag) for tag in tags),
        **{name: _text(get(name, "")) for name in _TEXTS},
    )


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _Unfit("true or false expected")
    return value


def pack_vector(vector: Sequence[float] | None) -> str:
    """A vector as base64 of little-endian 32-bit floats; empty text for none."""
    if vector is None:
        return ""
    floats = array.array("f", vector)
    if sys.byteorder == "big":
        floats.byteswap()
    return base64.b64encode(floats.tobytes()).decode("ascii")


def unpack_vector(text: Any) -> tuple[float, ...] | None:
    """Read what `pack_vector` wrote; None for empty, damaged, oversized or non-finite vectors."""
    if not isinstance(text, str) or not text or len(text) > 6 * MAX_DIMENSIONS:
        return None
    try:
        floats = array.array("f")
        floats.frombytes(base64.b64decode(text, validate=True))
    except ValueError:
        return None
    if sys.byteorder == "big":
        floats.byteswap()
    return tuple(floats) if all(map(math.isfinite, floats)) else None


def encode_line(entry: Entry, vector: Sequence[float] | None, signing_key: bytes | None = None) -> str:
    """One line of a JSON-lines file: record, vector, and signature if there is a key."""
    line: dict[str, Any] = {"v": CODEC_VERSION, "record": encode(entry)}
    if vector is not None:
        line["vector"] = pack_vector(vector)
    if signing_key is not None:
        line["signature"] = sign(signing_key, line["record"], line.get("vector", ""))
    return json.dumps(line, separators=(",", ":"))


def decode_line(text: str, signing_key: bytes | None = None) -> tuple[Entry, tuple[float, ...] | None] | None:
    """Read one line written by `encode_line`; None when it is damaged or, given a key, not signed with it."""
    if len(text) > 4 * MAX_RECORD_CHARS:
        return None
    try:
        line = _parsed(text)
    except (_Unfit, ValueError, RecursionError):
        return None
    if not isinstance(line, Mapping) or line.get("v") != CODEC_VERSION:
        return None
    record, vector = line.get("record"), line.get("vector", "")
    if not isinstance(record, str) or not isinstance(vector, str):
        return None
    if signing_key is not None and not same_signature(line.get("signature"), sign(signing_key, record, vector)):
        return None
    entry = decode(record)
    return None if entry is None else (entry, unpack_vector(vector))


def sign(key: bytes, *parts: str) -> str:
    """HMAC-SHA256 over the parts, each preceded by its length, as hex digits."""
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        mac.update(b"%d:" % len(data))
        mac.update(data)
    return mac.hexdigest()


def same_signature(found: Any, wanted: str) -> bool:
    """Compare in constant time; anything but ASCII text is no signature."""
    return isinstance(found, str) and found.isascii() and hmac.compare_digest(found, wanted)
