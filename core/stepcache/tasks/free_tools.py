"""Requests whose model may call tools or answer in words: what is verified may be reused, nothing is enforced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stepcache._data import Entry, PatchPlan, Request, Step, Verdict
from stepcache.protocols import Task
from stepcache.tasks._spec import Spec
from stepcache.tasks.tool_calls import ToolCallsSpec, tool_calls

__all__ = ["FreeToolsSpec", "free_tool_calls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeToolsSpec(Spec):
    """A reply under free tool choice: calls, or words, whichever the model finds right.

    Any whole reply may be recorded and repeated for the very same request. For a request in other words only calls
    are reused, whole, and only if the tool-call check passes for them; words have nothing to verify them by.
    """

    kind: ClassVar[str] = "free_tools"

    calls: ToolCallsSpec

    @property
    def identity(self) -> str:
        return f"{self.kind}:{self.calls.identity}"

    @property
    def residue(self) -> str:
        return self.calls.residue

    @property
    def shape(self) -> str:
        return self.calls.shape

    @property
    def enforced(self) -> bool:
        """A model that answers in words, or asks back, has done nothing wrong."""
        return False

    def segment(self, text: str) -> tuple[Step, ...]:
        return self.calls.segment(text)

    def check(self, text: str) -> Verdict:
        return Verdict(bool(text.strip()), self.kind, "" if text.strip() else "the reply is empty")

    def trace(self, text: str) -> str:
        return self.calls.trace(text)

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        return self.calls.verify(steps, cached)

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        """None: which tool to call is the model's choice as a whole."""
        return None


def free_tool_calls(tools: Sequence[Mapping[str, Any]]) -> Task:
    """Make the task for requests that offer these tools without forcing one; adapters give it as the request's spec.

    Tools are taken, and refused, as by `tool_calls`.
    """
    demanded = tool_calls(tools)

    def task(request: Request) -> FreeToolsSpec | None:
        calls = demanded(request)
        return FreeToolsSpec(calls=calls) if isinstance(calls, ToolCallsSpec) else None

    return task
