"""Commands that measure: replay and demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from stepcache.cli.console import FOUND_WRONG, console, fail, reporting, show_json, table
from stepcache.cli.words import shortened

__all__ = ["price_table", "replay_log", "run_demo"]


def price_table(price: float | None, file: Path | None) -> dict[str, Any] | None:
    """Prices of a million tokens by model, from the price of 1,000 tokens of any model or from a file."""
    if price is not None and file is not None:
        fail("name one price (--price) or a file of prices (--prices), not both")
    if price is not None:
        return {"*": price * 1000}
    if file is None:
        return None
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fail(f"can't read the prices in {file}: {error}")
    if not isinstance(table, dict):
        fail(f"{file} needs one JSON object of prices by model")
    return table


def replay_log(log: Path, prices: dict[str, Any] | None, worst: int, html: Path | None, as_json: bool) -> None:
    """Sum up what a cache would have done on a log. Exit code 1 if it would have served what disagrees with the log."""
    from stepcache.replay import read_log, replay

    with reporting():
        report = replay(read_log(log), prices=prices)
        if html is not None:
            html.write_text(report.html(max(worst, 50)), encoding="utf-8")
    if as_json:
        show_json(report.as_dict())
    else:
        _show_report(report, worst)
    if report.suspicious:
        raise typer.Exit(FOUND_WRONG)


def _show_report(report: Any, worst: int) -> None:
    console.print(str(report), highlight=False)
    counts = table("", "outcome or source", "requests", right=("requests",))
    for name, count in [
        *report.outcomes.items(),
        *((f"from {source}", count) for source, count in report.sources.items()),
    ]:
        counts.add_row(name, str(count))
    console.print(counts)
    if report.money_saved is not None:
        console.print(
            f"{report.money_saved:.2f} of {report.money:.2f} saved, without {report.unpriced} requests whose tokens or "
            "price are not known",
            highlight=False,
        )
    for title, rows in (
        ("Served, and other than the log", report.suspicious),
        ("Refused, and would have agreed", report.near_misses),
    ):
        if rows and worst:
            view = table(
                f"{title} ({len(rows)}, showing {min(worst, len(rows))})",
                "row",
                "prompt",
                "matched",
                "reason",
                right=("row",),
            )
            for row in rows[:worst]:
                view.add_row(
                    str(row.number),
                    Text(shortened(row.prompt, 60)),
                    Text(shortened(row.matched_prompt or "", 60)),
                    Text(shortened(row.reason, 60)),
                )
            console.print(view)


def run_demo(
    cache: Path | None, gguf: Path | None, base_url: str | None, model: str | None, threads: int | None, as_json: bool
) -> None:
    """Run the demo. Exit code 1 if an answer that the cache gave fails its check."""
    from stepcache.demo.app import Source, missing_packages, run
    from stepcache.demo.show import Screen

    if gguf is not None and base_url is not None:
        fail("name a model file (--gguf) or a server (--base-url), not both")
    if absent := missing_packages(served_elsewhere=base_url is not None):
        fail(f'the demo needs {", ".join(absent)}: pip install "stepcache[demo]"')
    screen = Screen(as_json)
    with reporting():
        outcome = run(Source(gguf=gguf, base_url=base_url, model=model, threads=threads), cache, screen)
    screen.finish(outcome)
    if outcome.wrongly_served:
        raise typer.Exit(FOUND_WRONG)
