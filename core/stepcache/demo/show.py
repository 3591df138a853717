"""The demo's screen: progress bars, a line per request as it comes, the table and what it adds up to."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.progress import TimeRemainingColumn as Remaining
from rich.table import Table
from rich.text import Text

from stepcache.cli.console import console, show_json
from stepcache.cli.words import shortened
from stepcache.demo.app import Outcome, Row

__all__ = ["Screen"]

_BYTES = 10_000  # counts above this are bytes, those below are requests
_ROOM_FOR_REASONS = 120  # columns; on a narrower terminal the reasons stand in the lines above the table


class Screen:
    """Shows a run to a person; with `as_json` all but the final JSON value goes to stderr."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._console = Console(stderr=True) if as_json else console
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._what = ""

    def note(self, text: str) -> None:
        self._stop()
        self._console.print(Text(text, style="dim"), soft_wrap=True)

    def progress(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self._stop()
            if done >= total:
                return
            count = DownloadColumn() if total > _BYTES else MofNCompleteColumn()
            self._progress = Progress(
                TextColumn("{task.description}"), BarColumn(), count, Remaining(), console=self._console
            )
            self._progress.start()
            self._task, self._what = self._progress.add_task(what, total=total), what
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done)
        if done >= total:
            self._stop()

    def row(self, number: int, row: Row) -> None:
        self._stop()
        line = Text(f"{number:>2} ")
        line.append(f"{row.kind:<17}", style="bold")
        line.append(f"{row.outcome:<6} {row.source:<9}", style=_colour(row))
        line.append(f"{row.seconds:7.3f} s  ")
        line.append(shortened(row.reason, 200), style="dim")
        self._console.print(line, no_wrap=True, overflow="ellipsis")

    def finish(self, outcome: Outcome) -> None:
        """The table with all rows, and what they add up to."""
        self._stop()
        if self._as_json:
            rows = [{**asdict(row), "served": row.served} for row in outcome.rows]
            show_json(
                {
                    "model": outcome.model,
                    "folder": str(outcome.folder),
                    "rows": rows,
                    "totals": _totals(outcome),
                    "wrongly_served": len(outcome.wrongly_served),
                }
            )
            return
        self._console.print()
        self._console.print(_table(outcome, with_reasons=self._console.width >= _ROOM_FOR_REASONS))
        for sentence in _sentences(outcome):
            self._console.print(sentence, highlight=False)

    def _stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
        self._progress, self._task, self._what = None, None, ""


def _table(outcome: Outcome, *, with_reasons: bool) -> Table:
    view = Table(box=None, pad_edge=False, header_style="bold", title=f"{outcome.model}\n", title_justify="left")
    view.add_column("", justify="right", no_wrap=True)
    for name in ("request", "outcome", "source"):
        view.add_column(name, no_wrap=True)
    for name in ("seconds", "without", "tokens", "without"):
        view.add_column(name, justify="right", no_wrap=True)
    view.add_column("right", no_wrap=True)
    if with_reasons:
        view.add_column("reason", ratio=1, no_wrap=True, overflow="ellipsis")
    for number, row in enumerate(outcome.rows, 1):
        cells: list[Text | str] = [
            str(number),
            row.kind,
            row.outcome,
            Text(row.source, style=_colour(row)),
            f"{row.seconds:.3f}",
            "" if row.seconds_without is None else f"{row.seconds_without:.1f}",
            str(row.tokens),
            "" if row.tokens_without is None else str(row.tokens_without),
            Text("yes", style="green") if row.passes else Text("NO", style="bold red"),
        ]
        if with_reasons:
            cells.append(Text(shortened(row.reason, 200), style="dim"))
        view.add_row(*cells)
    return view


def _totals(outcome: Outcome) -> dict[str, float | int]:
    rows = outcome.rows
    return {
        "requests": len(rows),
        "answered_without_a_call": sum(row.calls == 0 for row in rows),
        "calls": sum(row.calls for row in rows),
        "tokens": sum(row.tokens for row in rows),
        "tokens_without": sum(row.tokens_without or 0 for row in rows),
        "seconds": round(sum(row.seconds for row in rows), 3),
        "seconds_without": round(sum(row.seconds_without or 0.0 for row in rows), 3),
        "right": sum(row.passes for row in rows),
    }


def _sentences(outcome: Outcome) -> list[str]:
    totals = _totals(outcome)
    lines = [
        "",
        f"{totals['requests']} requests, {totals['answered_without_a_call']} answered without a model call; "
        f"{totals['tokens']} tokens instead of {totals['tokens_without']}, "
        f"{totals['seconds']:.1f} s instead of {totals['seconds_without']:.1f} s; {totals['right']} right.",
        '"without" is the same prompt put to the same model directly, '
        + ("measured in this run and kept." if outcome.compared_now else "as measured in an earlier run."),
        f"The cache is in {outcome.folder}.",
    ]
    if not_served := [row for row in outcome.rows if not row.passes and not row.served]:
        lines.append(f"{len(not_served)} wrong answers are the model's own, not out of the cache.")
    if wrong := outcome.wrongly_served:
        lines.append(f"[bold red]{len(wrong)} served answers fail their check.[/]")
    elif any(row.calls for row in outcome.rows):
        lines.append("Run it again: what repeats then comes from disk.")
    return lines


def _colour(row: Row) -> str:
    return "green" if row.served else "cyan" if row.source in {"repair", "fallback"} else "yellow"
