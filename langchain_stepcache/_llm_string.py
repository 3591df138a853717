"""Reading the `llm_string` by which LangChain names a model and its options to a cache. Text in, options out."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["options_of"]

_NAME = re.compile(r"""\(\s*(['"])(.*?)\1\s*,\s*""", re.DOTALL)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MAX_LITERAL = 2_000_000


def options_of(llm_string: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The named options in an llm_string, and the names of those whose value can't be told from its text.

    LangChain writes `str(sorted(options.items()))`, before it for a serialisable model the model's JSON and `---`.
    A value written as anything but a literal (an address, a class) names no content, nor does a list that is not
    pairs throughout. An llm_string of any other form is one opaque option.
    """
    model, mark, listed = llm_string.partition("---[")
    if mark and (known := _model(model)) is not None:
        options, doubtful = _pairs("[" + listed)
        return {**known, **{name: value for name, value in options.items() if value is not None}}, doubtful
    if llm_string.startswith("[("):
        return _pairs(llm_string)
    return {"_opaque": llm_string}, ("llm_string",) if _ADDRESS.search(llm_string) else ()


def _model(text: str) -> dict[str, Any] | None:
    """A serialised model: its class path and its fields."""
    try:
        written = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(written, dict) or "lc" not in written:
        return None
    fields = written.get("kwargs")
    return {"_class": written.get("id"), **(fields if isinstance(fields, dict) else {"_fields": written})}


def _pairs(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    listed = _literal(text)
    if isinstance(listed, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in listed):
        named = {str(name): value for name, value in listed}
        return named, () if len(named) == len(listed) else ("llm_string",)
    options: dict[str, Any] = {}
    tuples = list(_tuples(text))
    doubtful = [] if f"[{', '.join(tuples)}]" == text else ["llm_string"]  # something stands between the pairs
    for written in tuples:
        found = _NAME.match(written)
        if found is None:
            doubtful.append("llm_string")
            continue
        name, value = found[2], _literal(written[found.end():-1])
        if value is _NONE:
            doubtful.append(name)
        else:
            options[name] = value
    return options, tuple(doubtful)


_NONE = object()  # not a literal; None is one


def _literal(text: str) -> Any:
    if len(text) > _MAX_LITERAL:
        return _NONE
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NONE


def _tuples(text: str) -> Iterator[str]:
    """The texts of the tuples in a written list, found by brackets and quotes in one pass."""
    depth, start, quote, skip = 0, 0, "", False
    for i, character in enumerate(text):
        if skip:
            skip = False
        elif quote:
            if character == "\\":
                skip = True
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
            if depth == 2:
                start = i
        elif character in ")]}":
            depth -= 1
            if depth == 1:
                yield text[start:i + 1]
