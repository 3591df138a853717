"""What every spec must know. The defaults make a working spec of any dataclass with `residue` and `check`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from stepcache._data import Entry, PatchPlan, Step, Verdict, digest
from stepcache.patching import repair_prompt, step_patch_prompt, take_steps

__all__ = ["Spec"]


def _steps_of(text: str) -> tuple[Step, ...]:
    from stepcache.segment import segment  # its patterns are large; importing stepcache should not build them

    return segment(text)


_SHORT = 20_000  # characters
_steps_of_short = lru_cache(maxsize=32)(_steps_of)  # what is put together is cut, checked, and cut to be recorded


class Spec(ABC):
    """What one request demands of an answer; a frozen value that verifies steps and replies (design §4).

    A subclass sets `kind` (one word, the same for all specs of a task) and defines `residue` and `check`. It may
    sharpen the rest: `verify` (a verdict per step) makes patching possible, `rewrite` makes it free, `fallback`
    answers without a model. Every method is pure: no clock, no disk, no model.
    """

    kind: ClassVar[str] = ""
    weighs_docstrings: ClassVar[bool] = False  # `verify` does, so the gate need not mind every word of them

    @property
    def identity(self) -> str:
        """A stable text that is equal for equal specs and differs otherwise; part of an explicit request's key."""
        return digest(type(self).__module__, type(self).__qualname__, repr(self))

    @property
    @abstractmethod
    def residue(self) -> str:
        """The part of the prompt this spec does not account for; the content gate compares it."""

    @property
    def shape(self) -> str:
        """The form of what the spec accounts for, equal for requests that may be rewritten into one another."""
        return ""

    @property
    def enforced(self) -> bool:
        """Whether a fresh reply is checked, repaired and replaced by the fallback; plain text has nothing to check."""
        return True

    @property
    def slow(self) -> bool:
        """Whether a check may take long (it runs code), so that async callers make it off their event loop."""
        return False

    def segment(self, text: str) -> tuple[Step, ...]:
        """Cut a reply into steps; joining them gives back `text` exactly."""
        return _steps_of_short(text) if len(text) < _SHORT else _steps_of(text)

    @abstractmethod
    def check(self, text: str) -> Verdict:
        """The integrity check of a whole reply against this request."""

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        """One verdict per step. `cached` is the entry they come from, where that matters.

        The default judges the whole: all steps pass, or all fail.
        """
        verdict = self.check("".join(step.text for step in steps))
        return (verdict,) * len(steps)

    def refutes(self, cached: Entry) -> bool:
        """Whether a glance tells that `check` would fail a recorded reply: of many, only one need then be verified."""
        return False

    def failing_share(self, steps: Sequence[Step], verdicts: Sequence[Verdict]) -> float:
        """The share of the reply (0 to 1) that the model would have to write again, dependents included."""
        start, stop = self.region(verdicts)
        return (stop - start) / len(steps) if steps else 1.0

    def region(self, verdicts: Sequence[Verdict]) -> tuple[int, int]:
        """The half-open range of steps to regenerate: the first failing step and all that may depend on it."""
        first = next((i for i, verdict in enumerate(verdicts) if not verdict.ok), len(verdicts))
        return first, len(verdicts)

    def trace(self, text: str) -> str:
        """What to remember with a recorded reply so that a later rewrite need not parse it again (JSON text)."""
        return ""

    def rewrite(self, steps: tuple[Step, ...], cached: Entry) -> tuple[Step, ...] | None:
        """Make failing steps right by computation alone, or None; the caller verifies whatever comes back."""
        return None

    def hint(self, steps: Sequence[Step], region: tuple[int, int]) -> str:
        """Verified facts the patch prompt should state, such as the state so far and the expected result."""
        return ""

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        """How to have the failing region regenerated, or None when only a fresh answer will do.

        Where every step passes and only the whole does not, what is missing is asked for after the last step.
        """
        start, stop = self.region(verdicts)
        if start == 0:
            return None
        reason = next((v.detail or v.check for v in verdicts if not v.ok), "the answer stops too early")
        return PatchPlan(
            prompt=step_patch_prompt(prompt, steps, (start, stop), self.hint(steps, (start, stop)), reason),
            region=(start, stop),
        )

    def apply_patch(self, steps: tuple[Step, ...], plan: PatchPlan, reply: str) -> tuple[Step, ...] | None:
        """Put the model's patch reply into its place, every other byte untouched; None if the reply is unusable."""
        start, stop = plan.region
        patched = take_steps(reply, steps[:start], steps[start:stop], self.segment)
        return None if patched is None else steps[:start] + patched + steps[stop:]

    def mend(self, text: str) -> str | None:
        """A fresh failing reply made right by computation alone (a forbidden key dropped), or None."""
        return None

    def repair_prompt(self, prompt: str, reply: str, verdict: Verdict) -> str:
        """What to ask when a whole reply fails its check."""
        return repair_prompt(prompt, reply, verdict)

    def check_repair(self, text: str, cached: Entry) -> Verdict:
        """As `check`, for a whole reply that the model wrote after its patch of `cached` had failed."""
        return self.check(text)

    def fallback(self) -> str | None:
        """The computed answer, where the task has one."""
        return None
