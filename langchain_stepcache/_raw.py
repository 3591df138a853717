"""A plain call of a chat model as one value to look up by, made without reading what it asks for.

Only what is certain to hold everything the request depends on gets one: plain messages of text, and a model whose
state is plain values. Two calls with equal values make equal requests.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_stepcache._identity import OPTIONS
from stepcache._identity import TRANSPORT

__all__ = ["Raw", "raw_call"]

_ATOMS = frozenset({str, int, float, bool, type(None)})
_MOST_CHARS = 200_000


class Raw(NamedTuple):
    """The model's class and state, and the class and text of each message."""

    model: type
    state: Hashable
    messages: tuple[tuple[type, str], ...]


class _Live(Exception):
    """A value that can change without being replaced, or that says nothing of itself."""


def raw_call(model: BaseChatModel, messages: Sequence[BaseMessage]) -> Raw | None:
    """None where the call is not plain: it then has to be read."""
    texts: list[tuple[type, str]] = []
    for message in messages:
        kind, held = type(message), message.__dict__
        content = held.get("content")
        if (type(content) is not str or held.get("additional_kwargs") or held.get("name") is not None
                or message.__pydantic_extra__):
            return None
        if kind is AIMessage:
            if held.get("tool_calls") or held.get("invalid_tool_calls"):
                return None
        elif kind is not HumanMessage and kind is not SystemMessage:
            return None
        texts.append((kind, content))
    if sum(len(text) for _, text in texts) > _MOST_CHARS:
        return None
    try:
        return Raw(type(model), _state(model), tuple(texts))
    except (_Live, RecursionError):
        return None
    except Exception:  # a partner's property; the way that reads the call knows how to do without
        return None


def _state(model: BaseChatModel) -> Hashable:
    """What `identity_of` makes the model's identity of: its fields, and what it says of itself now.

    What a serialisable model writes of itself it may take from anything it holds, so all of that must be plain.
    """
    held = model.__dict__
    told = model._llm_type, _fixed(model._identifying_params)
    if model.is_lc_serializable():
        fields = {name: value for name, value in held.items() if name not in TRANSPORT}
        return _fixed(fields), _fixed(model.__pydantic_private__), _fixed(model.__pydantic_extra__), *told
    options = {name: value for name in _option_fields(type(model))
               if (value := held.get(name)) is not None and (name in OPTIONS or isinstance(value, float))}
    return _fixed(options), *told


@lru_cache(maxsize=256)
def _option_fields(kind: type[BaseChatModel]) -> tuple[str, ...]:
    return tuple(name for name, field in kind.model_fields.items() if not field.exclude and name not in TRANSPORT)


def _fixed(value: Any) -> Hashable:
    """The value with its types, so that 1, 1.0 and True stay apart."""
    kind = value.__class__
    if kind in _ATOMS:
        return kind, value
    if kind is dict:
        return kind, tuple([
            (name, item.__class__, item if item.__class__ in _ATOMS else _fixed(item)) for name, item in value.items()])
    if kind is list or kind is tuple:
        return kind, tuple([_fixed(item) for item in value])
    raise _Live
