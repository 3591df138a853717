"""The tool-call task: calls are checked against the tools that are bound and against the words of the request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from stepcache._data import Entry, PatchPlan, Request, Step, Verdict, digest, stitch
from stepcache.protocols import Task
from stepcache.tasks._spec import Spec
from stepcache.tasks._tools.calls import Call, read_calls
from stepcache.tasks._tools.declare import Tool, canonical_tools, declared
from stepcache.tasks._tools.ground import MAX_PROMPT, REFERENCE, Grounds, grounds, ungrounded

__all__ = ["ToolCallsSpec", "tool_calls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallsSpec(Spec):
    """Calls of the tools at hand for one request: known names, valid arguments, values the request speaks of.

    Which tool to call is the model's choice, so nothing of a reply is ever patched: it is reused whole, for a request
    that asks for the same thing of the same tools, or not at all.
    """

    kind: ClassVar[str] = "tool_calls"

    prompt: str
    tools: str

    @property
    def identity(self) -> str:
        """Equal for equal tool lists: descriptions and order count, the order of dictionary keys doesn't."""
        return digest(self.kind, self.tools)

    @property
    def residue(self) -> str:
        """The whole prompt: nothing of it says which calls are right."""
        return self.prompt

    @property
    def shape(self) -> str:
        return self.identity

    def segment(self, text: str) -> tuple[Step, ...]:
        """The calls are one step: their order and number belong to the answer."""
        return (Step(text),) if text else ()

    def check(self, text: str) -> Verdict:
        """Every call names a tool, fits its schema, and passes only values that stand in the request."""
        calls = read_calls(text)
        if isinstance(calls, str):
            return _fail(calls)
        if len(self.prompt) > MAX_PROMPT:
            return _fail(f"a request of {len(self.prompt):,} characters is too long to look values up in")
        request = grounds(self.prompt)
        labels: dict[str, frozenset[str] | None] = {}
        for number, call in enumerate(calls, 1):
            tools = [tool for tool in declared(self.tools) if tool.name == call.name]
            if not tools:
                return _fail(f"call {number}: there is no such tool")
            faults = [_fault(call, tool, request, labels) for tool in tools]
            if all(faults):
                return _fail(f"call {number} of {call.name}: {faults[0]}")
            if call.label:
                if call.label in labels:
                    return _fail(f"call {number}: its label stands twice")
                labels[call.label] = tools[faults.index("")].fields
        return Verdict(True, self.kind)

    def trace(self, text: str) -> str:
        """The tools the calls were made with."""
        return json.dumps({"tools": self.identity})

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        """All steps pass or none; calls that were recorded with other tools never pass."""
        if cached is not None and _traced(cached) != self.identity:
            verdict = Verdict(False, "tools", "the tools differ from those the recorded calls were made with")
        else:
            verdict = self.check(stitch(list(steps)))
        return (verdict,) * len(steps)

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        """None: tool calls are never patched as text."""
        return None


def tool_calls(tools: Sequence[Mapping[str, Any]] | None = None) -> Task:
    """Make the tool-call task for these tools; without tools it applies to nothing, for no prompt's words tell them.

    Each tool is a dictionary with `name`, `description` and `parameters` (a JSON Schema), bare or under `function`
    as OpenAI writes it; `input_schema` and the type names of other dialects (`dict`, `float`) are read as well. The
    tools are taken as they are now: later changes to the list don't count.

    A reply is JSON: a list of `{"name", "arguments"}` with an optional `label`, one such object, or `{"tool_calls":
    [...]}`, also in OpenAI's shape. An argument may refer to an earlier call's result as `$label.field$`.

    Raises `ConfigurationError` for what is no list of tools.
    """
    known = None if tools is None else canonical_tools(tools)

    def task(request: Request) -> ToolCallsSpec | None:
        return None if known in (None, "[]") else ToolCallsSpec(prompt=request.prompt, tools=known)

    return task


def _fail(reason: str) -> Verdict:
    return Verdict(False, "tool_calls", reason)


def _traced(entry: Entry) -> str:
    try:
        return str(json.loads(entry.trace)["tools"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _fault(call: Call, tool: Tool, request: Grounds, labels: Mapping[str, frozenset[str] | None]) -> str:
    """What is wrong with the arguments, without quoting them; empty when nothing is."""
    from stepcache.tasks._json.schema import compile_schema  # loads jsonschema

    try:
        compiled = compile_schema(tool.schema)
    except ValueError as refused:
        return f"the tool's parameters can't be checked ({refused})"
    for failure in compiled.failures(call.arguments):
        if failure.problem == "wrong" and _is_reference(call.arguments, failure.path):
            continue  # what an earlier call will give is not known yet
        where = ".".join(str(key) for key in failure.path)
        return f"the argument {where} {failure.message}" if where else f"its arguments: {failure.message}"
    place = ungrounded(call.arguments, _schema_of(tool), request, labels)
    return f"the value of {place} does not stand in the request" if place else ""


def _is_reference(value: Any, path: Sequence[str | int]) -> bool:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return False
    return isinstance(value, str) and REFERENCE.fullmatch(value) is not None


@lru_cache(maxsize=256)
def _schema_of(tool: Tool) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads(tool.schema)
    return schema
