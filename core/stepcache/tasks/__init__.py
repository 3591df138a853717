"""The kinds of request StepCache recognises, in the order they are tried."""

from __future__ import annotations

from importlib import import_module

from stepcache.protocols import Task

_found: list[Task] = []
for _module, _name in (("linear", "linear_equation"), ("json_", "json_schema"), ("json_", "json_keys"),
                       ("tool_calls", "tool_calls"), ("code", "code"), ("text", "plain_text")):
    try:
        _maker = getattr(import_module(f"stepcache.tasks.{_module}"), _name)
    except (ImportError, AttributeError):
        continue
    globals()[_name] = _maker
    _found.append(_maker())
DEFAULT_TASKS: tuple[Task, ...] = tuple(_found)
