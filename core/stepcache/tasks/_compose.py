"""Several specs on one request: each must be content. No check of its own lives here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stepcache._data import Entry, PatchPlan, Request, Step, Verdict, digest
from stepcache.errors import ConfigurationError
from stepcache.protocols import Task
from stepcache.segment import segment
from stepcache.tasks._spec import Spec

__all__ = ["AllOf", "all_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemberPlan(PatchPlan):
    """A patch plan that remembers whose it is, and that member's own plan."""

    member: int
    own: PatchPlan

    @property
    def rewritten(self) -> int:
        return self.own.rewritten


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemberVerdict(Verdict):
    """A verdict that remembers whose it is, and what that member said in its own words."""

    member: int
    own: Verdict


@dataclass(frozen=True)
class AllOf(Spec):
    """What several specs demand together: the strictest verdict wins, the residue is what none accounts for.

    A reply is patched only where exactly one member fails and offers a plan; rewrites are made by each failing member
    in turn, and the caller verifies the outcome against all.
    """

    prompt: str
    members: tuple[Spec, ...]
    kind: str = ""  # type: ignore[misc]  # the kinds of the members: entries of other compositions don't match

    @property
    def identity(self) -> str:
        return digest("all_of", *(member.identity for member in self.members))

    @property
    def residue(self) -> str:
        return _common_residue(self.prompt, [member.residue for member in self.members])

    @property
    def shape(self) -> str:
        return json.dumps([member.shape for member in self.members])

    @property
    def enforced(self) -> bool:
        return any(member.enforced for member in self.members)

    @property
    def slow(self) -> bool:
        return any(member.slow for member in self.members)

    def segment(self, text: str) -> tuple[Step, ...]:
        """The coarsest cut that a member with a cut of its own makes, so that each finds its steps whole."""
        own = [member.segment(text) for member in self.members if type(member).segment is not Spec.segment]
        return min(own, key=len) if own else segment(text)

    def check(self, text: str) -> Verdict:
        failed = [verdict for member in self.members if not (verdict := member.check(text)).ok]
        if not failed:
            return Verdict(True, self.kind)
        return Verdict(False, failed[0].check, "; ".join(verdict.detail or verdict.check for verdict in failed))

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        judged = [self._verdicts(place, steps, cached) for place in range(len(self.members))]
        failing = [place for place, verdicts in enumerate(judged) if not all(verdicts)]
        leading = failing[0] if failing else 0
        merged = []
        for step in range(len(steps)):
            place = next((place for place in failing if not judged[place][step]), leading)
            verdict = judged[place][step]
            merged.append(_MemberVerdict(
                ok=verdict.ok, check=verdict.check, detail=verdict.detail, member=place, own=verdict))
        return tuple(merged)

    def failing_share(self, steps: Sequence[Step], verdicts: Sequence[Verdict]) -> float:
        judged = [verdict for verdict in verdicts if isinstance(verdict, _MemberVerdict)]
        failing = {verdict.member for verdict in judged if not verdict.ok}
        if len(failing) != 1:
            return super().failing_share(steps, verdicts)
        return self.members[failing.pop()].failing_share(steps, [verdict.own for verdict in judged])

    def trace(self, text: str) -> str:
        traces = [member.trace(text) for member in self.members]
        return json.dumps(traces) if any(traces) else ""

    def rewrite(self, steps: tuple[Step, ...], cached: Entry) -> tuple[Step, ...] | None:
        changed = False
        for place, member in enumerate(self.members):
            if all(self._verdicts(place, steps, cached)):
                continue
            rewritten = member.rewrite(steps, self._entry(place, cached))
            if rewritten is not None:
                steps, changed = rewritten, True
        return steps if changed else None

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        judged = [self._verdicts(place, steps, cached) for place in range(len(self.members))]
        failing = [place for place, verdicts in enumerate(judged) if not all(verdicts)]
        if len(failing) != 1:
            return None
        place = failing[0]
        entry = None if cached is None else self._entry(place, cached)
        plan = self.members[place].plan_patch(prompt, steps, judged[place], entry)
        if plan is None:
            return None
        return _MemberPlan(
            prompt=plan.prompt, region=plan.region, schema=plan.schema, asked=plan.asked, member=place, own=plan)

    def apply_patch(self, steps: tuple[Step, ...], plan: PatchPlan, reply: str) -> tuple[Step, ...] | None:
        if not isinstance(plan, _MemberPlan):
            return None
        return self.members[plan.member].apply_patch(steps, plan.own, reply)

    def repair_prompt(self, prompt: str, reply: str, verdict: Verdict) -> str:
        failed = [(member, own) for member in self.members if not (own := member.check(reply)).ok]
        if len(failed) == 1:
            return failed[0][0].repair_prompt(prompt, reply, failed[0][1])
        return super().repair_prompt(prompt, reply, verdict)

    def fallback(self) -> str | None:
        """A member's computed answer that satisfies the others too."""
        answers = (member.fallback() for member in self.members)
        return next((answer for answer in answers if answer is not None and self.check(answer).ok), None)

    def _verdicts(self, place: int, steps: Sequence[Step], cached: Entry | None) -> tuple[Verdict, ...]:
        verdicts = self.members[place].verify(steps, None if cached is None else self._entry(place, cached))
        if len(verdicts) != len(steps):  # a member that can't judge these steps one by one has not passed them
            return (Verdict(False, self.members[place].kind, "the steps can't be judged one by one"),) * len(steps)
        return verdicts

    def _entry(self, place: int, cached: Entry) -> Entry:
        """The recorded entry as this member alone would have recorded it."""
        try:
            traces = json.loads(cached.trace) if cached.trace else []
        except ValueError:
            traces = []
        trace = traces[place] if isinstance(traces, list) and place < len(traces) else ""
        return replace(cached, task=self.members[place].kind, trace=str(trace))


def all_of(*tasks: Task | Spec) -> Task:
    """A task whose spec demands what all of the given ones demand, as far as they apply to the request.

    Given as `spec=`, each member is given so too; among `tasks`, each reads the request for itself. Where only one
    applies, its own spec is the result. Raises `ConfigurationError` without members.
    """
    if not tasks:
        raise ConfigurationError("all_of takes at least one task or spec, such as all_of(json_keys(), plain_text())")

    def recognise(request: Request) -> Spec | None:
        given = request.spec if request.spec is not None else request.control.spec
        members = []
        for task in tasks:
            if isinstance(task, Spec):
                members.append(task)
            elif (spec := task(replace(request, spec=task) if given is recognise else request)) is not None:
                members.append(spec)
        if len(members) < 2:
            return members[0] if members else None
        return AllOf(request.prompt, tuple(members), "+".join(member.kind for member in members))

    return recognise


def _common_residue(prompt: str, residues: Sequence[str]) -> str:
    """The prompt without every part that some member accounts for.

    A member's part is known where its residue is the prompt with one piece cut out. If two or more members account for
    something and a part is not known, the whole prompt is the residue: nothing may hide from the gate.
    """
    rest = [residue for residue in residues if residue != prompt]
    if not rest:
        return prompt
    if len(rest) == 1:
        return rest[0]
    pieces = [_piece(prompt, residue) for residue in rest]
    known = sorted(piece for piece in pieces if piece is not None)
    if len(known) < len(pieces):
        return prompt
    kept, at = [], 0
    for start, stop in known:
        kept.append(prompt[at:start])
        at = max(at, stop)
    return "".join(kept) + prompt[at:]


def _piece(prompt: str, residue: str) -> tuple[int, int] | None:
    """The one piece of the prompt that is missing in a residue, or None if that is not how they differ."""
    if len(residue) > len(prompt):
        return None
    start = _common_prefix(prompt, residue)
    end = min(_common_prefix(prompt[::-1], residue[::-1]), len(residue) - start)
    return (start, len(prompt) - end) if start + end == len(residue) else None


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
