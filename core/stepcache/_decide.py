"""Which match serves a request, and how: reuse, patch, skip or miss. Pure; similarity nominates, it never decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stepcache._data import Decision, Match, Miss, Patch, Request, Reuse, Skip, Verdict, stitch
from stepcache._gate import Differs, gate
from stepcache._policy import Policy
from stepcache.tasks._spec import Spec

__all__ = ["Refusal", "decide", "similar_reuse_refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A skip that came from the content gate: what a second opinion may be asked about."""

    skip: Skip
    difference: Differs


def similar_reuse_refused(request: Request, policy: Policy) -> str:
    """Why only an exact repetition may answer this request; empty when similar entries may."""
    if request.exact_only:
        return "a request of this kind is answered by exact repetition only"
    if request.multi_turn and not policy.multi_turn:
        return "earlier turns are part of the request, so only an exact repetition may answer it"
    if request.temperature is not None and request.temperature > policy.max_temperature:
        return (f"sampling temperature {request.temperature:g} is above max_temperature "
                f"{policy.max_temperature:g}, so only an exact repetition may answer it")
    return ""


def decide(
    matches: Sequence[Match],
    spec: Spec,
    prompt: str,
    policy: Policy,
    same: frozenset[str] = frozenset(),
) -> tuple[Decision, tuple[Refusal, ...]]:
    """Judge every match and choose the decision that keeps most (design §5, stages 5 and 6).

    `same` holds the keys of entries that a second opinion has found to ask for the same thing. Returns the decision
    and the refusals of the gate, nearest first.
    """
    refusals: list[Refusal] = []
    best: tuple[float, Decision] | None = None
    skipped: Skip | None = None
    for match in matches:
        if match.similarity is not None and match.similarity < policy.min_similarity:
            continue
        judged = _judge(match, spec, prompt, policy, same)
        if isinstance(judged, Refusal):
            refusals.append(judged)
            judged = judged.skip
        if isinstance(judged, Skip):
            skipped = skipped or judged
            continue
        cost = _cost(judged, spec)
        if best is None or cost < best[0]:
            best = (cost, judged)
        if cost == 0.0:
            break
    if best is not None:
        return best[1], tuple(refusals)
    if skipped is not None:
        return skipped, tuple(refusals)
    reason = "no recorded request is near enough" if matches else "nothing recorded in this partition could match"
    return Miss(reason=reason), ()


def _cost(decision: Decision, spec: Spec) -> float:
    """How much of the reply a model must write again: 0 for reuse, just above for a rewrite."""
    if isinstance(decision, Patch):
        return 0.001 if decision.plan is None else 0.01 + spec.failing_share(decision.steps, decision.verdicts)
    return 0.0


def _judge(
    match: Match, spec: Spec, prompt: str, policy: Policy, same: frozenset[str]
) -> Reuse | Patch | Skip | Refusal:
    entry = match.entry
    if entry.task != spec.kind:
        return Skip(match=match, code="kind",
                    reason=f"the recorded request is of another kind ({entry.task}, not {spec.kind})")
    if entry.key in same:
        asked = "a second opinion found both to ask for the same thing"
    else:
        difference = gate(entry.residue, spec.residue)
        if isinstance(difference, Differs):
            return Refusal(skip=Skip(match=match, reason=str(difference), code=difference.what), difference=difference)
        asked = "both ask for the same thing"
    steps = entry.steps
    verdicts = spec.verify(steps, entry)
    if _all_pass(verdicts) and spec.check(entry.reply).ok:
        return Reuse(match=match, reason=f"{asked} and every step passes", verdicts=verdicts)
    why = _first_failure(verdicts) or spec.check(entry.reply).detail or "the reply fails its check"
    if policy.rewrite and (rewritten := spec.rewrite(steps, entry)) is not None:
        steps = rewritten
        after = spec.verify(steps, entry)
        if _all_pass(after) and spec.check(stitch(steps)).ok:
            return Patch(match=match, reason=why, steps=steps, verdicts=verdicts)
        verdicts = after
    if not policy.patch:
        return Skip(match=match, reason=f"{why}; patching is switched off", verdicts=verdicts)
    share = spec.failing_share(steps, verdicts)
    if share > policy.max_failing_share:
        return Skip(match=match, reason=f"too much would have to be written again ({share:.0%}): {why}",
                    verdicts=verdicts)
    plan = spec.plan_patch(prompt, steps, verdicts, entry)
    if plan is None:
        return Skip(match=match, reason=f"nothing of the recorded reply can be kept: {why}", verdicts=verdicts)
    return Patch(match=match, reason=why, steps=steps, verdicts=verdicts, plan=plan)


def _all_pass(verdicts: Sequence[Verdict]) -> bool:
    return bool(verdicts) and all(verdict.ok for verdict in verdicts)


def _first_failure(verdicts: Sequence[Verdict]) -> str:
    return next((verdict.detail or verdict.check for verdict in verdicts if not verdict.ok), "")
