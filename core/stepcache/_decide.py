"""Which match serves a request, and how: reuse, patch, skip or miss. Pure; similarity nominates, it never decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stepcache._data import Decision, Match, Miss, Patch, Request, Reuse, Skip, Step, Verdict, stitch
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
    and the refusals of the gate met on the way, nearest first.
    """
    refusals: list[Refusal] = []
    skips: list[Skip] = []
    failing: list[_Failing] = []
    refuted: list[Match] = []
    for match in matches:
        if match.similarity is not None and match.similarity < policy.min_similarity:
            continue
        if failing and match.entry.task == spec.kind and spec.refutes(match.entry):
            refuted.append(match)  # no reuse; where the one before it can be rewritten, it need not be verified
            continue
        judged = _judge(match, spec, same, refusals, skips)
        if isinstance(judged, Reuse):
            return judged, tuple(refusals)
        if judged is not None:
            failing.append(judged)
    # Dearer ways only when no match serves as it stands: computation first, and the model last.
    for i, known in enumerate(failing):
        if isinstance(rewritten := _rewritten(known, spec, policy), Patch):
            return rewritten, tuple(refusals)
        failing[i] = rewritten
    for match in refuted:
        judged = _judge(match, spec, same, refusals, skips)
        if isinstance(judged, Reuse):
            return judged, tuple(refusals)
        if judged is not None:
            if isinstance(rewritten := _rewritten(judged, spec, policy), Patch):
                return rewritten, tuple(refusals)
            failing.append(rewritten)
    plans = [_plan(match_failing, spec, prompt, policy) for match_failing in failing]
    patches = [plan for plan in plans if isinstance(plan, Patch)]
    if patches:
        return min(patches, key=lambda patch: spec.failing_share(patch.steps, patch.verdicts)), tuple(refusals)
    skips += [plan for plan in plans if isinstance(plan, Skip)]
    if skips:
        # A match that failed its checks came nearer than one that asks for something else.
        return (skips[-1] if failing else skips[0]), tuple(refusals)
    reason = "no recorded request is near enough" if matches else "nothing recorded in this partition could match"
    return Miss(reason=reason), ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failing:
    """A match that asks for the same thing but whose steps do not all pass, as far as it has been made right."""

    match: Match
    steps: tuple[Step, ...]
    verdicts: tuple[Verdict, ...]
    why: str


def _judge(
    match: Match, spec: Spec, same: frozenset[str], refusals: list[Refusal], skips: list[Skip]
) -> Reuse | _Failing | None:
    """As `_compare`, keeping a refusal or skip for later."""
    judged = _compare(match, spec, same)
    if isinstance(judged, Refusal):
        refusals.append(judged)
        judged = judged.skip
    if isinstance(judged, Skip):
        skips.append(judged)
        return None
    return judged


def _compare(match: Match, spec: Spec, same: frozenset[str]) -> Reuse | Skip | Refusal | _Failing:
    """Let the gate compare what both ask for, then verify every step against the new request."""
    entry = match.entry
    if entry.task != spec.kind:
        return Skip(match=match, code="kind",
                    reason=f"the recorded request is of another kind ({entry.task}, not {spec.kind})")
    if entry.key in same:
        asked = "a second opinion found both to ask for the same thing"
    else:
        difference = gate(entry.residue, spec.residue, freely=spec.weighs_docstrings)
        if isinstance(difference, Differs):
            return Refusal(skip=Skip(match=match, reason=str(difference), code=difference.what), difference=difference)
        asked = "both ask for the same thing"
    verdicts = spec.verify(entry.steps, entry)
    if not _all_pass(verdicts):
        return _Failing(match=match, steps=entry.steps, verdicts=verdicts, why=_first_failure(verdicts))
    whole = spec.check(entry.reply)
    if whole.ok:
        return Reuse(match=match, reason=f"{asked} and every step passes", verdicts=verdicts)
    return _Failing(match=match, steps=entry.steps, verdicts=verdicts,
                    why=whole.detail or "the reply fails its check")


def _rewritten(failing: _Failing, spec: Spec, policy: Policy) -> Patch | _Failing:
    """Make failing steps right by computation; what is left failing goes on as far as it came."""
    if not policy.rewrite:
        return failing
    entry = failing.match.entry
    steps = spec.rewrite(entry.steps, entry)
    if steps is None:
        return failing
    verdicts = spec.verify(steps, entry)
    if _all_pass(verdicts) and spec.check(stitch(steps)).ok:
        return Patch(match=failing.match, reason=failing.why, steps=steps, verdicts=failing.verdicts)
    return replace(failing, steps=steps, verdicts=verdicts)


def _plan(failing: _Failing, spec: Spec, prompt: str, policy: Policy) -> Patch | Skip:
    """Have the failing region written by the model, if it may be and most of the reply stands."""
    match, steps, verdicts, why = failing.match, failing.steps, failing.verdicts, failing.why
    if not policy.patch:
        return Skip(match=match, reason=f"{why}; patching is switched off", verdicts=verdicts)
    share = spec.failing_share(steps, verdicts)
    if share > policy.max_failing_share:
        return Skip(match=match, reason=f"too much would have to be written again ({share:.0%}): {why}",
                    verdicts=verdicts)
    plan = spec.plan_patch(prompt, steps, verdicts, match.entry)
    if plan is None:
        return Skip(match=match, reason=f"nothing of the recorded reply can be kept: {why}", verdicts=verdicts)
    return Patch(match=match, reason=why, steps=steps, verdicts=verdicts, plan=plan)


def _all_pass(verdicts: Sequence[Verdict]) -> bool:
    return bool(verdicts) and all(verdict.ok for verdict in verdicts)


def _first_failure(verdicts: Sequence[Verdict]) -> str:
    return next((verdict.detail or verdict.check for verdict in verdicts if not verdict.ok), "")
