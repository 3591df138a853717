"""How a result, a decision and statistics look in a notebook. What HTML is made of is in `_html`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from stepcache._html import OUTCOMES, bars, box, changed, muted, pill, said, shown, stacked, step, tiles, titled

if TYPE_CHECKING:
    from stepcache._data import Decision, Match, Result, Step, Verdict
    from stepcache._histogram import Histogram
    from stepcache._stats import Stats

__all__ = ["decision_html", "result_html", "stats_html"]

_MAX_STEPS = 60  # shown of one reply
_OF_PROMPT = 600  # characters shown of a recorded prompt
_FROM = {"cache": "from the cache", "rewrite": "made right by computation", "patch": "patched by one model call",
         "repair": "asked again and now right", "fallback": "computed", "model": "from the model"}


def result_html(result: Result) -> str:
    """The outcome in a line, what it cost, then the steps; beside those of the recorded reply where some changed."""
    decision, match = result.decision, result.decision.match
    facts = [_counted(result.calls, "model call"), _tokens(result.saved)]
    if result.kept:
        facts.append(f"{result.kept} of {_counted(len(result.steps), 'step')} kept")
    facts.append(("verified" if result.verified else "NOT verified") + (
        f": {said(result.verdict.detail)}" if result.verdict.detail else ""))
    if "total" in result.seconds:
        facts.append(_time(result.seconds["total"]))
    head = _head(decision, _FROM[result.source]) + muted(" · ".join(facts)) + _matched(match)
    kinds = _kinds(result)
    if match is not None and result.source in {"rewrite", "patch"}:
        recorded = match.entry.steps
        return box(head + _beside("recorded", recorded, _found(decision.verdicts, len(recorded)), decision.verdicts,
                                  "reply", result.steps, kinds))
    return box(head + _column("reply", result.steps, kinds))


def decision_html(decision: Decision) -> str:
    """The decision as a sentence, with a verdict beside each step of the match and what would become of it."""
    match = decision.match
    head = _head(decision, "") + _matched(match)
    if match is None or not decision.verdicts:
        return box(head)
    recorded = match.entry.steps
    kinds = _found(decision.verdicts, len(recorded))
    planned = getattr(decision, "steps", None)  # of a Patch
    if planned is None or planned == recorded:
        return box(head + _column("recorded", recorded, kinds, decision.verdicts))
    becomes = ["kept" if i < len(recorded) and recorded[i] == one else "rewritten" for i, one in enumerate(planned)]
    return box(head + _beside("recorded", recorded, kinds, decision.verdicts, "would be", planned, becomes))


def stats_html(stats: Stats) -> str:
    """Figures, a bar by outcome, reasons of skips and misses, and how long each stage took."""
    share = f"{stats.served / stats.requests:.0%}" if stats.requests else "–"
    html = tiles([("requests", f"{stats.requests:,}"), ("without a model call", share),
                  ("model calls", f"{stats.calls:,}"), ("tokens spent", f"{stats.tokens:,}"),
                  ("tokens saved", f"{stats.saved:,}"), ("entries", f"{stats.entries:,}")])
    if stats.requests:
        html += titled("Outcomes", stacked([(name, stats.outcomes.get(name, 0)) for name in OUTCOMES]))
    reasons = [(f"skip: {name}", count) for name, count in _sorted(stats.skips)]
    reasons += [(f"miss: {name}", count) for name, count in _sorted(stats.misses)]
    if reasons:
        html += titled("Why not from the cache", bars([(name, n, f"{n:,}") for name, n in reasons[:12]], "#E69F00"))
    if stats.seconds:
        html += titled("Time by stage", bars([_timed(name, stats.seconds[name]) for name in _by_time(stats)]))
    notes = []
    if stats.unknown:
        notes.append(f"{stats.unknown:,} requests whose tokens are not known are not in the sums")
    if stats.unverified:
        notes.append(f"{stats.unverified:,} replies did not pass their check, or nothing checks them")
    if stats.shadow_wrong:
        notes.append(f"{stats.shadow_wrong:,} times shadow mode would have served another reply than the model's")
    return box(html + (muted("; ".join(notes) + ".") if notes else ""))


def _head(decision: Decision, how: str) -> str:
    word = decision.outcome + (f" ({decision.code})" if hasattr(decision, "code") else "")
    how = f"{shown(how)}: " if how else ""
    return f"<div>{pill(word, OUTCOMES[decision.outcome])}{how}{said(decision.reason)}</div>"


def _matched(match: Match | None) -> str:
    if match is None:
        return ""
    near = "the very same request" if match.exact else (
        "found by template" if match.similarity is None else f"similarity {match.similarity:.2f}")
    return muted(f"matched {shown(match.entry.key[:8])}, {near}: “{said(match.entry.request.prompt, _OF_PROMPT)}”")


def _kinds(result: Result) -> list[str]:
    match = result.decision.match
    if match is None or result.source not in {"cache", "rewrite", "patch"}:
        return ["new"] * len(result.steps)
    recorded = match.entry.steps
    changed = "rewritten" if result.source == "rewrite" else "patched"
    return ["kept" if i < len(recorded) and recorded[i] == one else changed for i, one in enumerate(result.steps)]


def _found(verdicts: Sequence[Verdict], steps: int) -> list[str]:
    """Kinds of recorded steps; one that nothing was found about is part of what fails."""
    return ["kept" if i < len(verdicts) and verdicts[i].ok else "failing" for i in range(steps)]


def _beside(left: str, recorded: Sequence[Step], kinds: Sequence[str], verdicts: Sequence[Verdict], right: str,
            reply: Sequence[Step], becomes: Sequence[str]) -> str:
    """Two replies, step beside step (below it where there is no room); what is kept is shown once."""
    html = f"<div style='font-weight:600'>{left} → {right}</div>"
    for i in range(min(_MAX_STEPS, max(len(recorded), len(reply)))):
        old = recorded[i].text.strip("\r\n") if i < len(recorded) else None
        new = reply[i].text.strip("\r\n") if i < len(reply) else None
        if old == new and becomes[i] == kinds[i] == "kept" and new is not None:
            html += step(shown(new), "kept", _note(verdicts, i))
            continue
        cells = "" if old is None else step(shown(old), kinds[i], _note(verdicts, i))
        cells = f"<div style='flex:1 1 260px;min-width:0'>{cells}</div>"
        if new is not None:
            body = shown(new) if old is None else changed(old, new)
            cells += f"<div style='flex:1 1 260px;min-width:0'>{step(body, becomes[i])}</div>"
        html += f"<div style='display:flex;flex-wrap:wrap;gap:0 12px'>{cells}</div>"
    return f"<div style='margin-top:6px'>{html}{_more(max(len(recorded), len(reply)))}</div>"


def _column(title: str, steps: Sequence[Step], kinds: Sequence[str], verdicts: Sequence[Verdict] = ()) -> str:
    cells = "".join(step(shown(one.text.strip("\r\n")), kinds[i], _note(verdicts, i))
                    for i, one in enumerate(steps[:_MAX_STEPS]))
    return (f"<div style='margin-top:6px'><div style='font-weight:600'>{title}</div>{cells}{_more(len(steps))}</div>")


def _note(verdicts: Sequence[Verdict], i: int) -> str:
    if i >= len(verdicts):
        return ""
    found = verdicts[i]
    return "✓ passes" if found.ok else f"✗ {said(found.detail or found.check or 'fails')}"


def _more(count: int) -> str:
    return muted(f"… {count - _MAX_STEPS:,} more steps") if count > _MAX_STEPS else ""


def _by_time(stats: Stats) -> list[str]:
    """Stages, the costliest first, the whole last."""
    stages = sorted(stats.seconds, key=lambda name: -stats.seconds[name].total)
    return [name for name in stages if name != "total"] + [name for name in stages if name == "total"]


def _timed(name: str, histogram: Histogram) -> tuple[str, float, str]:
    mean, high = histogram.mean or 0.0, histogram.quantile(0.95) or 0.0
    return name, histogram.total, f"{histogram.count:,} × {_time(mean)}, 95% below {_time(high)}"


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _tokens(saved: int | None) -> str:
    return "tokens saved unknown" if saved is None else f"{saved:,} tokens saved"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "0 s"
