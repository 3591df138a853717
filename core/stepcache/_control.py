"""Per-call wishes, also for code that has no argument to pass them through (`set_llm_cache`, executors, graphs)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from typing import Any

from stepcache._data import CacheControl, Request

__all__ = ["ambient", "control", "disabled", "merged", "with_control"]

_ambient: ContextVar[CacheControl | None] = ContextVar("stepcache_control", default=None)
_DEFAULT = CacheControl()


@contextmanager
def control(**wishes: Any) -> Iterator[CacheControl]:
    """Apply `CacheControl(**wishes)` to every request made inside, in this context and the tasks it starts.

    Nested uses add up, the inner one winning field by field; so does a control given with a request. A raw thread
    starts with an empty context: run its target through `contextvars.copy_context().run`.
    """
    chosen = merged(CacheControl(**wishes), _ambient.get())
    token = _ambient.set(chosen)
    try:
        yield chosen
    finally:
        _ambient.reset(token)


def merged(inner: CacheControl, outer: CacheControl | None) -> CacheControl:
    """Return `inner` with the fields it leaves at their default taken from `outer`."""
    if outer is None:
        return inner
    taken = {
        field.name: getattr(outer, field.name)
        for field in fields(CacheControl)
        if getattr(inner, field.name) == getattr(_DEFAULT, field.name)
    }
    return replace(inner, **taken)


def ambient() -> CacheControl | None:
    """What the surrounding `control(...)` asks for, if there is one."""
    return _ambient.get()


def with_control(request: Request) -> Request:
    """Return the request with the surrounding `control(...)` applied."""
    outer = _ambient.get()
    return request if outer is None else replace(request, control=merged(request.control, outer))


def disabled() -> bool:
    """Whether STEPCACHE_DISABLED turns every entry point into a plain call."""
    return os.environ.get("STEPCACHE_DISABLED", "").strip().lower() not in {"", "0", "false", "no"}
