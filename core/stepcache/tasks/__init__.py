"""The kinds of request StepCache recognises. `DEFAULT_TASKS` are tried in order; the first that applies makes the spec.

A task is `Request -> Spec | None`; `plain_text()` takes whatever no other task recognises. The modules behind these
names hold large tables and are imported when first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from stepcache._data import Request
from stepcache.protocols import Task

if TYPE_CHECKING:
    from stepcache.tasks._compose import all_of
    from stepcache.tasks._spec import Spec
    from stepcache.tasks.code import code
    from stepcache.tasks.json_ import json_keys, json_schema
    from stepcache.tasks.linear import linear_equation
    from stepcache.tasks.procedure import procedure
    from stepcache.tasks.text import plain_text
    from stepcache.tasks.tool_calls import tool_calls

__all__ = [
    "DEFAULT_TASKS",
    "all_of",
    "code",
    "json_keys",
    "json_schema",
    "linear_equation",
    "plain_text",
    "procedure",
    "tool_calls",
]

_HOMES = {
    "all_of": "_compose",
    "code": "code",
    "json_keys": "json_",
    "json_schema": "json_",
    "linear_equation": "linear",
    "plain_text": "text",
    "procedure": "procedure",
    "tool_calls": "tool_calls",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


class _Package(ModuleType):
    """This package. Some of its names are those of a module and of the function in it; they mean the function.

    Importing such a module, which anything may do, would put it in the function's place.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, getattr(value, name) if name in _HOMES and isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = _Package


class _Default:
    """A default task, made by calling the function of this name when the first request comes."""

    __slots__ = ("_made", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._made: Task | None = None

    def __call__(self, request: Request) -> Spec | None:
        if self._made is None:
            self._made = __getattr__(self._name)()
        return self._made(request)

    def __repr__(self) -> str:
        return f"{self._name}()"


DEFAULT_TASKS: tuple[Task, ...] = tuple(
    map(_Default, ("linear_equation", "json_schema", "json_keys", "tool_calls", "code", "plain_text")))
