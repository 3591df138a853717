"""The kinds of request StepCache recognises, and how to demand several things of one reply."""

from stepcache.protocols import Task
from stepcache.tasks._compose import all_of
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

# In the order they are tried: the most particular first, plain text for whatever is left.
DEFAULT_TASKS: tuple[Task, ...] = (
    linear_equation(), json_schema(), json_keys(), tool_calls(), code(), plain_text(),
)
