"""How a result, a decision and statistics look in a notebook. Text in, HTML out; every text is escaped.

Kept, rewritten, patched and failing steps differ in colour, in a letter and in the line at their side, so that they
can be told apart without colours too; the colours are from the Okabe-Ito palette and hold on light and dark grounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepcache._data import Decision, Result, Step, Verdict
    from stepcache._stats import Stats

__all__ = ["decision_html", "result_html", "stats_html"]

_MAX_CHARS = 4_000  # of one step: a page is for people
_STYLE = {  # kind: (letter, colour, line)
    "kept": ("=", "#009E73", "solid"),
    "rewritten": ("~", "#0072B2", "dashed"),
    "patched": ("+", "#D55E00", "double"),
    "failing": ("!", "#CC79A7", "dotted"),
    "new": ("*", "#56B4E9", "solid"),
}
_BOX = ("font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;max-width:100%;color:inherit;"
        "overflow-wrap:anywhere")
_PRE = ("margin:2px 0;padding:2px 6px;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;"
        "font-family:ui-monospace,monospace;font-size:12px;background:transparent;color:inherit")


def result_html(result: Result) -> str:
    """The outcome in a line, then the steps in order, beside the recorded reply's where there is one."""
    match = result.decision.match
    head = f"<b>{escape(result.outcome)}</b> from <b>{escape(result.source)}</b>: {_shown(result.decision.reason)}"
    tokens = "unknown" if result.saved is None else str(result.saved)
    facts = (f"model calls {result.calls}, tokens saved {tokens}, kept {result.kept}, regenerated "
             f"{result.regenerated}, {'verified' if result.verified else 'not verified'}")
    columns = [("reply", _steps(result.steps, _kinds(result)))]
    if match is not None and result.source in {"rewrite", "patch"}:
        verdicts = result.decision.verdicts
        kinds = ["kept" if i < len(verdicts) and verdicts[i].ok else "failing" for i in range(len(match.entry.steps))]
        columns.append(("recorded", _steps(match.entry.steps, kinds, verdicts)))
    return _box(f"<div>{head}</div><div style='opacity:.75'>{facts}</div>{_beside(columns)}{_legend(result)}")


def decision_html(decision: Decision) -> str:
    """The decision as a sentence, with a verdict beside each step of the match."""
    body = f"<div><b>{escape(decision.outcome)}</b>: {_shown(decision.reason)}</div>"
    if decision.match is not None and decision.verdicts:
        kinds = ["kept" if verdict.ok else "failing" for verdict in decision.verdicts]
        body += _beside([("recorded", _steps(decision.match.entry.steps, kinds, decision.verdicts))])
    return _box(body)


def stats_html(stats: Stats) -> str:
    """The counts as a table."""
    rows: list[tuple[str, Any]] = [
        ("requests", stats.requests), ("served without a call", stats.served), ("model calls", stats.calls),
        ("tokens spent", stats.tokens), ("tokens saved", stats.saved), ("entries", stats.entries)]
    for title, counts in (("outcome", stats.outcomes), ("source", stats.sources), ("skip", stats.skips)):
        rows += [(f"{title}: {name}", count) for name, count in _sorted(counts)]
    cells = "".join(f"<tr><td style='padding:1px 12px 1px 0;text-align:left'>{escape(name)}</td>"
                    f"<td style='text-align:right'>{value}</td></tr>" for name, value in rows)
    return _box(f"<table style='border-collapse:collapse;color:inherit'>{cells}</table>")


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _kinds(result: Result) -> list[str]:
    match = result.decision.match
    if match is None or result.source not in {"cache", "rewrite", "patch"}:
        return ["new"] * len(result.steps)
    recorded = match.entry.steps
    changed = "rewritten" if result.source == "rewrite" else "patched"
    return ["kept" if i < len(recorded) and recorded[i] == step else changed for i, step in enumerate(result.steps)]


def _steps(steps: Sequence[Step], kinds: Sequence[str], verdicts: Sequence[Verdict] = ()) -> str:
    parts = []
    for i, step in enumerate(steps):
        kind = kinds[i] if i < len(kinds) else "new"
        letter, colour, line = _STYLE[kind]
        why = verdicts[i].detail if i < len(verdicts) and not verdicts[i].ok else ""
        note = f"<div style='padding-left:6px;opacity:.75'>{_shown(why)}</div>" if why else ""
        parts.append(f"<div style='border-left:4px {line} {colour};margin:3px 0;padding-left:4px' title='{kind}'>"
                     f"<pre dir='auto' style='{_PRE}'><span style='color:{colour}'>{letter}</span> "
                     f"{_shown(step.text.rstrip())}</pre>{note}</div>")
    return "".join(parts)


def _beside(columns: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<div style='flex:1 1 280px;min-width:0'><div style='opacity:.75'>{title}</div>{body}</div>"
                    for title, body in columns)
    return f"<div style='display:flex;flex-wrap:wrap;gap:12px'>{cells}</div>"


def _legend(result: Result) -> str:
    shown = dict.fromkeys([*_kinds(result), *(["failing"] if result.source in {"rewrite", "patch"} else [])])
    return "<div style='opacity:.75'>" + " ".join(
        f"<span style='color:{_STYLE[kind][1]}'>{_STYLE[kind][0]}</span> {kind}" for kind in shown) + "</div>"


def _shown(text: str) -> str:
    """Escaped and cut. Direction marks stay, each step being isolated by its own element."""
    cut = text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS] + f" [... {len(text) - _MAX_CHARS} more characters]"
    return escape(cut.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd"))


def _box(body: str) -> str:
    return f"<div class='stepcache' style='{_BOX}'>{body}</div>"
