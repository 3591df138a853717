"""The page that `stepcache replay --html` writes: figures, plots and the rows to look at.

It loads nothing from anywhere. Every text of the log is escaped (`_html`), and a content security policy keeps the page
from running or fetching anything even so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from stepcache._html import OUTCOMES, bars, box, changed, muted, pill, said, shown, stacked, step, tiles, titled

if TYPE_CHECKING:
    from stepcache.replay import ReplayReport, ReplayRow

__all__ = ["report_html", "report_page"]

_WIDTH, _HEIGHT, _POINTS = 640, 180, 320
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>StepCache replay</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body { margin: 12px auto; padding: 0 12px; max-width: 980px; background: Canvas; color: CanvasText }</style>
</head><body><h1 style="font:600 20px system-ui,sans-serif">What a cache would have done</h1>
"""


def report_page(report: ReplayReport, worst: int = 50) -> str:
    """A whole page of its own; at most `worst` rows to look at of each kind."""
    return f"{_PAGE}{report_html(report, worst)}\n</body></html>\n"


def report_html(report: ReplayReport, worst: int = 20) -> str:
    """The same as a piece of a page, as notebooks show it."""
    share = f"{report.served / report.requests:.0%}" if report.requests else "–"
    facts = [("requests", f"{report.requests:,}"), ("without a model call", share)]
    if report.tokens:
        facts.append(("tokens saved", f"{report.tokens_saved:,} of {report.tokens:,}"))
    if report.money_saved is not None:
        facts.append(("money saved", f"{report.money_saved:,.2f} of {report.money:,.2f}"))
    if report.seconds:
        facts.append(("seconds saved", f"{report.seconds_saved:,.0f} of {report.seconds:,.0f}"))
    facts.append(("serves to look at", f"{len(report.suspicious):,}"))
    html = tiles(facts)
    if report.requests:
        html += titled("Outcomes", stacked([(name, report.outcomes.get(name, 0)) for name in OUTCOMES]))
        html += _curves(report)
    if calls := report.sources.get("patch", 0):
        html += muted(f"{calls:,} more would have taken one small call each; what it saves is not in the sums.")
    if report.unpriced:
        html += muted(f"{report.unpriced:,} requests without known tokens or price are not in the money.")
    if report.skips:
        counts = sorted(report.skips.items(), key=lambda pair: -pair[1])[:12]
        html += titled("Reasons of skips", bars([(name, n, f"{n:,}") for name, n in counts], "#E69F00"))
    html += _rows(f"Served, and other than the log ({len(report.suspicious):,})", report.suspicious, worst,
                  "Replies that would have come out of the cache and differ from what your log says. Where your model "
                  "gave two answers to the same question, both may be right.", "served")
    html += _rows(f"Refused, and would have agreed ({len(report.near_misses):,})", report.near_misses, worst,
                  "What caution costs: a task of your own, or Policy(judge=...), could serve these.", "refused")
    return box(html)


def _curves(report: ReplayReport) -> str:
    """What was spent in all, request by request, without and with the cache: tokens, or calls where none are known."""
    rows = report.rows
    if len(rows) < 2:
        return ""
    known = any(row.tokens for row in rows)
    without = list(accumulate((row.tokens or 0) if known else 1 for row in rows))
    with_cache = list(accumulate(
        0 if row.served is not None else ((row.tokens or 0) if known else 1) for row in rows))
    top = without[-1] or 1
    what = "tokens" if known else "model calls"

    def line(values: Sequence[int]) -> str:
        step_by = max(1, len(values) // _POINTS)
        places = [*range(0, len(values) - 1, step_by), len(values) - 1]
        return " ".join(f"{i / (len(values) - 1) * _WIDTH:.1f},{_HEIGHT - values[i] / top * (_HEIGHT - 6):.1f}"
                        for i in places)

    svg = (f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='{what} in all, without and with the cache' "
           "style='width:100%;height:auto;display:block;border-left:1px solid rgba(128,128,128,.5);"
           "border-bottom:1px solid rgba(128,128,128,.5)'>"
           f"<polyline points='{line(without)}' fill='none' stroke='#999999' stroke-width='2' stroke-dasharray='7 4'/>"
           f"<polyline points='{line(with_cache)}' fill='none' stroke='#009E73' stroke-width='3'/></svg>")
    legend = (f"<span style='color:#999999'>┅┅</span> without a cache: {without[-1]:,} {what} · "
              f"<span style='color:#009E73'>━━</span> with it: {with_cache[-1]:,}, over {len(rows):,} requests")
    return titled(f"{what.capitalize()} in all, from the first request to the last", svg + muted(legend))


def _rows(title: str, rows: Sequence[ReplayRow], worst: int, about: str, given: str) -> str:
    if not rows or not worst:
        return ""
    cards = "".join(_card(row, given) for row in rows[:worst])
    more = muted(f"… {len(rows) - worst:,} more") if len(rows) > worst else ""
    return titled(title, muted(about) + cards + more)


def _card(row: ReplayRow, given: str) -> str:
    near = "" if row.similarity is None else f", similarity {row.similarity:.2f}"
    reply = row.served if row.served is not None else (row.compared or "")
    html = f"<div>{pill(f'row {row.number}', OUTCOMES[row.outcome])}{said(row.reason)}{shown(near)}</div>"
    asked = ("recorded request", row.matched_prompt or "", "request", row.prompt)
    for left, old, right, new in (asked, (given, reply, "logged", row.logged)):
        body = shown(new, 1_500) if max(len(old), len(new)) > 1_500 else changed(old, new)
        html += ("<div style='display:flex;flex-wrap:wrap;gap:0 12px'>"
                 f"<div style='flex:1 1 260px;min-width:0'>{muted(left)}{step(shown(old, 1_500), '')}</div>"
                 f"<div style='flex:1 1 260px;min-width:0'>{muted(right)}{step(body, '')}</div></div>")
    return f"<div style='margin:8px 0;padding:6px 0;border-top:1px solid rgba(128,128,128,.4)'>{html}</div>"
