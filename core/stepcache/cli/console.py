"""How commands speak: tables for people, one JSON value for programs, errors on stderr with an exit code."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from stepcache.errors import StepCacheError

__all__ = ["FOUND_WRONG", "USAGE", "console", "counting", "fail", "noting", "reporting", "show_json", "table"]

FOUND_WRONG = 1  # the command worked, and what it looked for is missing or wrong
USAGE = 2  # what was asked can't be done as it was asked

console = Console()
errors = Console(stderr=True)


def show_json(value: Any) -> None:
    """Print one JSON value and nothing else, so that it can be piped."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def fail(message: str, code: int = USAGE) -> NoReturn:
    """Say what is wrong and end with an exit code."""
    errors.print(f"[bold red]error:[/] {_plain(message)}", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


class _Notes(logging.Handler):
    """Warnings as a person at a terminal wants them."""

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if getattr(record, "stepcache_topic", "") == "guest":  # the full text is advice to an app
            text = "another process has this cache open: vectors can't be read, and changes are handed over to it"
        errors.print(f"[yellow]note:[/] {_plain(text)}", highlight=False, soft_wrap=True)


@contextmanager
def noting() -> Iterator[None]:
    """Show what StepCache warns of as notes on stderr."""
    logger, notes = logging.getLogger("stepcache"), _Notes(logging.WARNING)
    before = logger.propagate
    logger.addHandler(notes)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(notes)
        logger.propagate = before


@contextmanager
def reporting() -> Iterator[None]:
    """Turn StepCache's own errors, and those of the disk, into a message and an exit code."""
    try:
        yield
    except (StepCacheError, OSError) as error:
        fail(str(error) or type(error).__name__)


def table(title: str, *columns: str, right: tuple[str, ...] = (), whole: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns in `right` hold numbers, those in `whole` are never broken into lines."""
    made = Table(title=title, title_justify="left", header_style="bold")
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", overflow="fold", no_wrap=name in whole)
    return made


@contextmanager
def counting(what: str) -> Iterator[Any]:
    """A progress display on stderr for work whose end is not known; call what it yields with the count so far."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.completed:.0f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda count: progress.update(task, completed=count)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
