"""One request from recognition to result, as a generator that yields effects (design §5). No input or output here.

The drivers in `_drive` perform the effects, so that sync, async and streaming callers share this one logic.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from stepcache._data import (
    Completion,
    Decision,
    Entry,
    Match,
    Miss,
    Patch,
    Request,
    Result,
    Reuse,
    Skip,
    Source,
    Step,
    Usage,
    Verdict,
    digest,
    stitch,
    without_context,
)
from stepcache._decide import Refusal, decide, similar_reuse_refused
from stepcache._effects import Block, Compute, Effect, Embed, Fetch, FetchTemplate, Generate, Judge, Save, Search
from stepcache._gate import canonical, template_form
from stepcache._policy import Policy
from stepcache.errors import loggable
from stepcache.protocols import Task
from stepcache.tasks._spec import Spec
from stepcache.tasks.text import PlainText

__all__ = ["Plan", "World", "answer", "lookup", "plain_call", "plan", "recognise", "record", "repeated"]

_log = logging.getLogger("stepcache")

# Words in a finish reason that mean the reply is not whole, as OpenAI, Anthropic, Bedrock, Google, Cohere, watsonx and
# llama.cpp name them: max_tokens, model_context_window_exceeded, content_filtered, IMAGE_SAFETY, ...
_CUT_OFF = frozenset({
    "length", "limit", "max", "exceeded", "truncated", "incomplete", "unfinished", "partial", "paused", "pause",
    "filter", "filtered", "safety", "recitation", "blocklist", "blocked", "prohibited", "spii", "refusal", "refused",
    "language", "intervened", "toxic", "error", "failed", "failure", "malformed", "unexpected", "timeout", "cancelled",
    "canceled", "aborted", "abort", "interrupted", "other", "unspecified",
})
_REASON_WORD = re.compile(r"[a-z]+")

# A difference in single words is all a second opinion may overrule; numbers, names, negation and the like are facts.
_JUDGEABLE = frozenset({"word", "order", "question", "relation", "demand"})

Flow = Generator[Effect, Any, Result]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the flow may know besides the request: the time, the policy, the tasks and, if already made, its key.

    `trusted` says whether an entry's reply has passed its checks in this process, `trust` remembers that it has;
    both only save repeated checking of the very same object. `seconds` is where the driver notes what each stage took.
    """

    now: float
    policy: Policy
    tasks: tuple[Task, ...]
    key: str | None = None
    trusted: Callable[[Entry], bool] = lambda entry: False
    trust: Callable[[Entry], None] = lambda entry: None
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was decided, and what recording the answer will need.

    `cacheable` False: leave no trace of this request. `judged`: a second opinion joined it with the decision's match.
    """

    decision: Decision
    spec: Spec | None
    key: str
    template: str = ""
    vector: tuple[float, ...] | None = None
    cacheable: bool = True
    judged: bool = False


def recognise(request: Request, tasks: Iterable[Task]) -> Spec | None:
    """Return the spec of a request: the given one, else the first task's that applies, else None.

    A task that raises propagates; the caller decides what a broken task costs.
    """
    given = request.spec if request.spec is not None else request.control.spec
    if isinstance(given, Spec):
        return given
    if given is not None:
        request = replace(request, spec=given)
        if (spec := given(request)) is not None:
            return spec
    for task in tasks:
        if (spec := task(request)) is not None:
            return spec
    return None


def _aside(spec: Spec, work: Callable[[], T]) -> Generator[Effect, Any, T]:
    """What `work` returns or raises. Where this spec's checks take long, no event loop waits for it."""
    if not spec.slow:
        return work()
    value, error = yield Compute(partial(_outcome, work))
    if error is not None:
        raise error
    result: T = value
    return result


def _outcome(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    try:
        return work(), None
    except Exception as error:  # raised again inside the flow, which knows what a broken spec costs
        return None, error


def _template(request: Request, spec: Spec) -> str:
    return digest(request.partition, spec.kind, spec.shape, template_form(spec.residue))


def plan(request: Request, world: World) -> Generator[Effect, Any, Plan]:
    """Stages 1 to 5: recognise, fetch, embed, retrieve, decide."""
    policy, control = world.policy, request.control
    if len(request.prompt) > policy.max_chars:
        return Plan(decision=Miss(reason=f"the prompt is longer than max_chars ({policy.max_chars})"),
                    spec=None, key=digest(request.prompt), cacheable=False)
    try:
        key = world.key or request.key
    except Exception as error:  # a user's task computes the key of an explicit spec; its fault must not break the call
        return _broken_task(error, policy)
    reads = not (control.no_cache or control.refresh)
    exact: Entry | None = None
    if reads:
        exact = yield Fetch(request.wall, key)
        if exact is not None and not exact.fresh(world.now, control.max_age):
            exact = None
        if exact is not None and world.trusted(exact) and not policy.shadow:  # what shadows is checked itself
            return Plan(decision=_exact(exact), spec=None, key=key)
    try:
        spec = recognise(request, world.tasks)
    except Exception as error:  # as above
        return _broken_task(error, policy)
    if spec is None:
        return Plan(decision=Miss(reason="no task recognises this request"), spec=None, key=key, cacheable=False)
    try:
        return (yield from _plan_with(request, spec, key, exact, reads, world))
    except Exception as error:  # a spec is a user's code too
        return _broken_task(error, policy)


def _plan_with(
    request: Request, spec: Spec, key: str, exact: Entry | None, reads: bool, world: World
) -> Generator[Effect, Any, Plan]:
    policy = world.policy
    template = _template(request, spec)
    if not reads:
        word = "refresh" if request.control.refresh else "no_cache"
        return Plan(decision=Miss(reason=f"the caller asked for a fresh answer ({word})"), spec=spec, key=key,
                    template=template)
    if exact is not None:
        words = exact.task == PlainText.kind and not request.enforce  # as `_kept_as_words` keeps them
        if not spec.enforced or words or (yield from _aside(spec, partial(spec.check, exact.reply))).ok:
            world.trust(exact)
            return Plan(decision=_exact(exact), spec=spec, key=key, template=template)
        exact = None  # recorded under other rules, or tampered with: not an answer
    if refused := similar_reuse_refused(request, policy):
        return Plan(decision=Miss(reason=refused), spec=spec, key=key, template=template)

    usable = _usable(world, request, key)
    by_template: tuple[Entry, ...] = yield FetchTemplate(request.wall, template, policy.candidates, key)
    matches = [Match(entry=entry) for entry in by_template if usable(entry)]
    decision, refusals = yield from _aside(spec, partial(decide, matches, spec, request.prompt, policy))
    if isinstance(decision, Reuse | Patch):
        return Plan(decision=decision, spec=spec, key=key, template=template)

    vector = yield Embed(request.wall, request.partition, request.prompt)
    if vector is not None:
        found: tuple[Match, ...] = yield Search(request.wall, request.partition, vector, policy.candidates, key)
        seen = {match.entry.key for match in matches}
        matches += [match for match in found if match.entry.key not in seen and usable(match.entry)]
        decision, refusals = yield from _aside(spec, partial(decide, matches, spec, request.prompt, policy))
    judged = False
    if policy.judge is not None and not isinstance(decision, Reuse | Patch):
        decision = yield from _second_opinion(decision, refusals, matches, spec, request, key, policy)
        judged = isinstance(decision, Reuse | Patch)
    return Plan(decision=decision, spec=spec, key=key, template=template, vector=vector, judged=judged)


def _usable(world: World, request: Request, key: str) -> Callable[[Entry], bool]:
    def usable(entry: Entry) -> bool:
        return (entry.key != key and entry.partition == request.partition
                and entry.fresh(world.now, request.control.max_age))

    return usable


def _exact(entry: Entry) -> Reuse:
    reason = "the very same request was recorded"
    if entry.judged:
        reason += f", with a reply that a second opinion took over from entry {entry.judged[:8]}"
    return Reuse(match=Match(entry=entry, similarity=1.0, exact=True), reason=reason)


def _broken_task(error: Exception, policy: Policy) -> Plan:
    _warn_of(error, policy)
    return Plan(decision=Miss(reason=f"a task or spec failed ({type(error).__name__})"), spec=None, key="",
                cacheable=False)


def _warn_of(error: Exception, policy: Policy) -> None:
    """Say that a task or spec failed; raise it where the policy is strict."""
    if policy.strict:
        raise error
    _log.warning("a task or spec failed (%s); the model answers and nothing is recorded", loggable(error))
    _log.debug("a task or spec failed", exc_info=error)


def _second_opinion(
    decision: Decision, refusals: tuple[Refusal, ...], matches: list[Match], spec: Spec, request: Request, key: str,
    policy: Policy,
) -> Generator[Effect, Any, Decision]:
    """Ask the policy's judge about texts that differ in words only.

    A no is remembered as a block and a yes as an entry of its own, so it is asked once. What rests on a second opinion
    itself isn't judged again: two small steps in the same direction could make a large one.
    """
    for refusal in refusals:
        entry = refusal.skip.match.entry
        if refusal.difference.what not in _JUDGEABLE or entry.judged:
            continue
        same: bool = yield Judge(entry.request.prompt, request.prompt)
        if not same:
            yield Block(request.wall, entry.key, key)
            if isinstance(decision, Skip) and decision.match.entry.key == entry.key:
                decision = replace(decision, reason=f"{decision.reason}; a second opinion found them to differ, too")
            continue
        this = [match for match in matches if match.entry.key == entry.key]
        judged, _ = yield from _aside(
            spec, partial(decide, this, spec, request.prompt, policy, frozenset({entry.key})))
        if isinstance(judged, Reuse | Patch):
            return judged
    return decision


def answer(request: Request, world: World) -> Flow:
    """The whole flow: plan, then reuse, patch or answer afresh, check, repair, fall back, record."""
    made = yield from plan(request, world)
    tally = _Tally(request, made, world)
    if world.policy.shadow and not isinstance(made.decision, Miss):
        result = yield from _fresh(tally)
        return replace(result, shadow=(yield from _shadow_verdict(tally, made, result)))
    served = yield from _served(tally)
    return served if served is not None else (yield from _fresh(tally))


def lookup(request: Request, world: World, may_patch: bool) -> Flow:
    """As `answer`, but where only a whole new answer would do, the result has no text and the source "model"."""
    made = yield from plan(request, world)
    tally = _Tally(request, made, world)
    needs_model = isinstance(made.decision, Patch) and made.decision.plan is not None and not may_patch
    if not needs_model and not world.policy.shadow:
        served = yield from _served(tally)
        if served is not None:
            return served
    return tally.result((), "model", Verdict(False, "", "the model has still to answer"), saved=0)


def plain_call(request: Request, reason: str) -> Flow:
    """Just the model: what every entry point becomes when the cache is disabled."""
    completion: Completion = yield Generate(request.prompt, "answer", request, streams=True)
    text = completion.text
    return Result(output=text, steps=(Step(text),) if text else (), decision=Miss(reason=reason), source="model",
                  verified=False, payload=completion.payload, calls=1, saved=0, usage=completion.usage,
                  finish_reason=completion.finish_reason, namespace=request.wall)


def record(request: Request, completion: Completion, world: World) -> Generator[Effect, Any, bool]:
    """Record an answer that was made elsewhere, if it passes what this request demands."""
    try:
        key = request.key
        spec = recognise(request, world.tasks)
        template = "" if spec is None else _template(request, spec)
    except Exception as error:  # a user's task or spec; nothing is recorded, but the caller goes on
        _warn_of(error, world.policy)
        return False
    if spec is None or len(request.prompt) > world.policy.max_chars:
        return False
    made = Plan(decision=Miss(reason="recorded by the caller"), spec=spec, key=key, template=template)
    tally = _Tally(request, made, world)
    verdict = yield from tally.check(completion.text)
    verdict = yield from _kept_as_words(tally, completion, verdict)
    saved = yield from tally.save(completion, "model", verdict)
    return saved is not None


class _Tally:
    """What one request has cost so far, and the two things every branch does: check and save."""

    __slots__ = ("calls", "made", "request", "usage", "world")

    def __init__(self, request: Request, made: Plan, world: World) -> None:
        self.request, self.made, self.world = request, made, world
        self.calls = 0
        self.usage: Usage | None = Usage(0, 0)

    def generate(self, effect: Generate) -> Generator[Effect, Any, Completion]:
        completion: Completion = yield effect
        self.calls += 1
        self.usage = None if self.usage is None or completion.usage is None else self.usage + completion.usage
        return completion

    def check(self, text: str, base: Entry | None = None) -> Generator[Effect, Any, Verdict]:
        """The spec's verdict on a whole reply, written anew after a failed patch of `base` if that is given.

        A spec that raises has not verified anything.
        """
        spec = self.made.spec
        if spec is None:
            return Verdict(False, "spec", "nothing here can check this reply")
        if len(text) > self.world.policy.max_chars:
            return Verdict(False, "length", f"the reply is longer than max_chars ({self.world.policy.max_chars})")
        try:
            judge = partial(spec.check, text) if base is None else partial(spec.check_repair, text, base)
            return (yield from _aside(spec, judge))
        except Exception as error:  # law 6: a broken verifier costs a warning, never the caller's call
            if self.world.policy.strict:
                raise
            _log.warning("the check of a %s spec failed (%s); its reply counts as unverified", spec.kind,
                         loggable(error))
            _log.debug("the check of a %s spec failed", spec.kind, exc_info=error)
            return Verdict(False, spec.kind, f"the check itself failed ({type(error).__name__})")

    def save(self, completion: Completion, source: Source, verdict: Verdict, base: Entry | None = None
             ) -> Generator[Effect, Any, Entry | None]:
        """Record a verified, complete reply (law 5); returns the entry, or None when it must not or could not be."""
        request, made, policy = self.request, self.made, self.world.policy
        spec = made.spec
        if (
            spec is None or not made.cacheable or not verdict.ok or not policy.record
            or request.control.no_store or not completion.cacheable or _cut_off(completion.finish_reason)
            or (not completion.text.strip() and completion.payload is None)
            or (source == "fallback" and not policy.record_fallback)
        ):
            return None
        entry = self._entry(spec, completion, base)
        if entry is None or not _wanted(policy, request, completion):
            return None
        taken: bool = yield Save(entry, made.vector)
        if not taken:
            return None
        self.world.trust(entry)
        return entry

    def _entry(self, spec: Spec, completion: Completion, base: Entry | None) -> Entry | None:
        request, made, now = self.request, self.made, self.world.now
        try:
            steps = spec.segment(completion.text)
            trace = spec.trace(completion.text)
        except Exception as error:  # as in check
            _log.warning("a %s spec failed while recording (%s); nothing is recorded", spec.kind, type(error).__name__)
            return None
        ttl = request.control.ttl
        expires = None if ttl is None else now + ttl
        if base is not None and base.expires_at is not None:  # what is made of an old reply is no fresher than it
            expires = base.expires_at if expires is None else min(expires, base.expires_at)
        return Entry(
            key=made.key, request=without_context(request), partition=request.partition, task=spec.kind, steps=steps,
            residue=spec.residue, shape=spec.shape, template=made.template, trace=trace, payload=completion.payload,
            usage=completion.usage if base is None else base.usage, finish_reason=completion.finish_reason,
            created_at=now if base is None else base.created_at,
            expires_at=expires, tags=request.control.tags, judged=self._judged(base),
        )

    def _judged(self, base: Entry | None) -> str:
        if base is None:
            return ""
        return base.key if self.made.judged else base.judged

    def result(self, steps: tuple[Step, ...], source: Source, verdict: Verdict, *, payload: Any = None, kept: int = 0,
               saved: int | None = 0, finish_reason: str | None = None, recorded: bool = False) -> Result:
        return Result(
            output=stitch(steps), steps=steps, decision=self.made.decision, source=source, verified=verdict.ok,
            payload=payload, calls=self.calls, saved=saved, usage=self.usage, kept=kept, regenerated=len(steps) - kept,
            key=self.made.key, verdict=verdict, finish_reason=finish_reason, recorded=recorded,
            namespace=self.request.wall, seconds=self.world.seconds,
        )


def _reused(decision: Reuse, key: str, namespace: str, seconds: dict[str, float]) -> Result:
    entry = decision.match.entry
    return Result(
        output=entry.reply, steps=entry.steps, decision=decision, source="cache", verified=True, payload=entry.payload,
        saved=None if entry.usage is None else entry.usage.total, usage=Usage(0, 0), kept=len(entry.steps), key=key,
        verdict=Verdict(True, entry.task), finish_reason=entry.finish_reason, namespace=namespace, seconds=seconds)


def repeated(entry: Entry) -> Result:
    """What an exact repetition of an entry's own request gets, once its reply has passed its checks."""
    return _reused(_exact(entry), entry.key, entry.namespace, {})


def _served(tally: _Tally) -> Generator[Effect, Any, Result | None]:
    """As `_serve`; where the spec itself fails, the model is left to answer and nothing is recorded.

    A model's own errors are raised by the driver and never pass through here.
    """
    try:
        return (yield from _serve(tally))
    except Exception as error:
        _gave_up(tally, error)
        return None


def _gave_up(tally: _Tally, error: Exception) -> None:
    """Go on without the spec that failed."""
    _warn_of(error, tally.world.policy)
    tally.made = replace(tally.made, spec=None, cacheable=False)


def _serve(tally: _Tally) -> Generator[Effect, Any, Result | None]:
    """Answer from the match, or None where only a fresh answer will do."""
    decision = tally.made.decision
    if isinstance(decision, Reuse):
        result = _reused(decision, tally.made.key, tally.request.wall, tally.world.seconds)
        if not tally.made.judged:
            return result
        entry = decision.match.entry
        completion = Completion(entry.reply, entry.usage, entry.finish_reason, payload=entry.payload)
        taken = yield from tally.save(completion, "cache", result.verdict, entry)
        return replace(result, recorded=taken is not None)
    if not isinstance(decision, Patch):
        return None
    base = decision.match.entry
    if decision.plan is None:
        text = stitch(decision.steps)
        verdict = yield from tally.check(text)
        completion = Completion(text, base.usage, base.finish_reason)
        taken = yield from tally.save(completion, "rewrite", verdict, base)
        kept = sum(1 for old, new in zip(base.steps, decision.steps, strict=False) if old == new)
        return tally.result(decision.steps, "rewrite", verdict, kept=kept, recorded=taken is not None,
                            saved=None if base.usage is None else base.usage.total, finish_reason=base.finish_reason)
    return (yield from _patch(tally, decision, base))


def _patch(tally: _Tally, decision: Patch, base: Entry) -> Generator[Effect, Any, Result | None]:
    spec, plan = tally.made.spec, decision.plan
    assert spec is not None
    assert plan is not None
    request = tally.request
    completion = yield from tally.generate(Generate(plan.prompt, "patch", request, plan=plan))
    patched: tuple[Step, ...] | None = None
    if not _cut_off(completion.finish_reason) and len(completion.text) <= tally.world.policy.max_chars:
        try:
            patched = spec.apply_patch(decision.steps, plan, completion.text)
        except Exception as error:  # as in _Tally.check
            _log.warning("a %s spec failed while patching (%s)", spec.kind, type(error).__name__)
    if patched is None:
        failing, verdict = completion.text, Verdict(False, spec.kind, "the patch reply cannot be put in its place")
    else:
        failing = stitch(patched)
        verdict = yield from tally.check(failing)
        if verdict.ok:
            return (yield from _patched(tally, patched, verdict, base, decision.steps))
    repaired = yield from _repair(tally, spec, failing, verdict, base)
    return repaired if repaired is not None else (yield from _fall_back(tally, spec))


def _patched(tally: _Tally, steps: tuple[Step, ...], verdict: Verdict, base: Entry, before: tuple[Step, ...]
             ) -> Generator[Effect, Any, Result]:
    completion = Completion(stitch(steps), base.usage, "stop")
    entry = yield from tally.save(completion, "patch", verdict, base)
    plan = tally.made.decision.plan if isinstance(tally.made.decision, Patch) else None
    kept = len(before) - plan.rewritten if plan is not None else 0
    saved = None
    if base.usage is not None and base.usage.total is not None and tally.usage is not None:
        spent = tally.usage.total
        saved = None if spent is None else base.usage.total - spent
    # What was added may end the last kept step, so the steps are cut anew; the text is the same.
    cut = steps if tally.made.spec is None else tally.made.spec.segment(stitch(steps))
    return tally.result(cut, "patch", verdict, kept=kept, saved=saved, finish_reason="stop",
                        recorded=entry is not None)


def _mend(tally: _Tally, spec: Spec, completion: Completion) -> Generator[Effect, Any, Result | None]:
    """Make a fresh reply right without asking again, where computation alone can."""
    if _cut_off(completion.finish_reason):
        return None
    try:
        text = spec.mend(completion.text)
    except Exception as error:  # as in _Tally.check
        _log.warning("a %s spec failed while mending (%s)", spec.kind, type(error).__name__)
        return None
    if text is None or not (verdict := (yield from tally.check(text))).ok:
        return None
    taken = yield from tally.save(replace(completion, text=text, payload=None), "rewrite", verdict)
    return tally.result(spec.segment(text), "rewrite", verdict, finish_reason=completion.finish_reason,
                        recorded=taken is not None)


def _repair(tally: _Tally, spec: Spec, failing: str, verdict: Verdict, base: Entry | None = None
            ) -> Generator[Effect, Any, Result | None]:
    """Ask again for a whole reply, at most `policy.max_repairs` times."""
    request = tally.request
    for _ in range(tally.world.policy.max_repairs):
        prompt = spec.repair_prompt(request.prompt, failing, verdict)
        completion = yield from tally.generate(Generate(prompt, "repair", request))
        failing = completion.text
        verdict = yield from tally.check(failing, base)
        if verdict.ok and not _cut_off(completion.finish_reason):
            entry = yield from tally.save(completion, "repair", verdict)
            return tally.result(spec.segment(completion.text), "repair", verdict, payload=completion.payload,
                                finish_reason=completion.finish_reason, recorded=entry is not None)
    return None


def _fall_back(tally: _Tally, spec: Spec) -> Generator[Effect, Any, Result | None]:
    """The spec's computed answer, itself checked; flagged by its source."""
    text = spec.fallback() if tally.request.enforce else None
    if text is None or not (verdict := (yield from tally.check(text))).ok:
        return None
    return tally.result(spec.segment(text), "fallback", verdict, finish_reason="stop")


def _fresh(tally: _Tally) -> Flow:
    """Answer with the model; a recognised task's reply is checked, repaired and, where computable, replaced."""
    request, policy = tally.request, tally.world.policy
    try:
        spec = tally.made.spec
        enforced = spec is not None and spec.enforced and policy.enforce and request.enforce and tally.made.cacheable
    except Exception as error:  # a spec is a user's code too
        _gave_up(tally, error)
        enforced = False
    completion = yield from tally.generate(
        Generate(request.prompt, "answer", request, streams=not enforced or policy.stream_unverified))
    try:
        return (yield from _judged(tally, completion, enforced and not policy.stream_unverified))
    except Exception as error:
        _gave_up(tally, error)
        return (yield from _judged(tally, completion, False))


def _judged(tally: _Tally, completion: Completion, enforced: bool) -> Flow:
    """Check a fresh reply, put it right where that is wanted, record it."""
    spec = tally.made.spec
    verdict = yield from _fresh_verdict(tally, completion)
    if not verdict.ok and enforced and spec is not None:
        repaired = yield from _mend(tally, spec, completion)
        if repaired is None:
            repaired = yield from _repair(tally, spec, completion.text, verdict)
        if repaired is None and (fallback := (yield from _fall_back(tally, spec))) is not None:
            entry = yield from tally.save(Completion(fallback.output), "fallback", fallback.verdict)
            repaired = replace(fallback, recorded=entry is not None)
        if repaired is not None:
            return repaired
    verdict = yield from _kept_as_words(tally, completion, verdict)
    entry = yield from tally.save(completion, "model", verdict)
    if entry is not None:
        steps = entry.steps
    else:
        steps = (Step(completion.text),) if completion.text else ()
    return tally.result(steps, "model", verdict, payload=completion.payload, recorded=entry is not None,
                        finish_reason=completion.finish_reason)


def _fresh_verdict(tally: _Tally, completion: Completion) -> Generator[Effect, Any, Verdict]:
    spec = tally.made.spec
    if _cut_off(completion.finish_reason):
        return Verdict(False, "complete", f"the reply was cut off (finish reason {completion.finish_reason})")
    if spec is not None and not spec.enforced and not completion.text.strip() and completion.payload is not None:
        return Verdict(True, spec.kind)  # tool calls or other blocks without text
    return (yield from tally.check(completion.text))


def _kept_as_words(tally: _Tally, completion: Completion, verdict: Verdict) -> Generator[Effect, Any, Verdict]:
    """Where the context may ask for another kind of reply, one that fails an inferred check is plain words."""
    request = tally.request
    if verdict.ok or request.enforce or request.spec is not None or request.control.spec is not None:
        return verdict
    words = PlainText(request.prompt)
    tally.made = replace(tally.made, spec=words, template=_template(request, words))
    return (yield from _fresh_verdict(tally, completion))


def _shadow_verdict(tally: _Tally, made: Plan, result: Result) -> Generator[Effect, Any, Verdict]:
    """Whether what the cache would have served agrees with the model's own answer."""
    decision, spec = made.decision, tally.made.spec
    if isinstance(decision, Reuse):
        would = decision.match.entry.reply
    elif isinstance(decision, Patch) and decision.plan is None:
        would = stitch(decision.steps)
    else:
        return Verdict(True, "shadow", "nothing would have been served without the model")
    if canonical(would) == canonical(result.output):
        return Verdict(True, "shadow")
    if spec is not None and spec.enforced and (yield from tally.check(would)).ok:
        return Verdict(True, "shadow", "other words, and the reply passes the same check")
    return Verdict(False, "shadow", "the model answers otherwise now")


def _cut_off(finish_reason: str | None) -> bool:
    if finish_reason is None:
        return False
    return not _CUT_OFF.isdisjoint(_REASON_WORD.findall(finish_reason.lower().rsplit(".", 1)[-1]))


def _wanted(policy: Policy, request: Request, completion: Completion) -> bool:
    if policy.should_store is None:
        return True
    try:
        return bool(policy.should_store(request, completion))
    except Exception as error:  # the user's predicate must not cost the user's answer
        if policy.strict:
            raise
        _log.warning("should_store failed (%s); the reply is not recorded", loggable(error))
        _log.debug("should_store failed", exc_info=error)
        return False
