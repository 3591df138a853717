"""Commands that only look: stats, ls, show, doctor."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import typer
from rich.panel import Panel
from rich.text import Text

from stepcache._data import Entry
from stepcache.cli.console import FOUND_WRONG, console, show_json, table
from stepcache.cli.opening import entry_values, find, folder_size, opened
from stepcache.cli.words import age, counted, lifetime, shortened, size, when
from stepcache.errors import StoreError
from stepcache.stores.chroma import ChromaStore

__all__ = ["doctor", "entries", "entry", "stats"]

_KEY_WIDTH = 12


def stats(folder: Path, as_json: bool) -> None:
    """Counts by namespace and task, and the folder's size."""
    now = time.time()
    with opened(folder) as cache:
        total = cache.stats().entries
        groups: dict[str, dict[str, Any]] = {}
        for name in cache.store.namespaces():
            found = [entry for entry, _ in cache.store.scan(name)]
            groups[name] = {
                "entries": len(found),
                "expired": sum(not entry.fresh(now) for entry in found),
                "tasks": dict(Counter(entry.task or "text" for entry in found)),
                "steps": sum(len(entry.steps) for entry in found),
                "oldest": min((entry.created_at for entry in found), default=None),
                "latest": max((entry.created_at for entry in found), default=None),
            }
    taken = folder_size(folder)
    if as_json:
        show_json({"folder": str(folder), "bytes": taken, "entries": total, "namespaces": groups})
        return
    view = table(
        f"{folder}: {counted(total, 'entry', 'entries')}, {size(taken)}",
        "namespace",
        "entries",
        "expired",
        "steps",
        "tasks",
        "oldest",
        "latest",
        right=("entries", "expired", "steps"),
    )
    for name, group in groups.items():
        tasks = ", ".join(f"{task} {count}" for task, count in sorted(group["tasks"].items()))
        view.add_row(
            _text(name, 40),
            str(group["entries"]),
            str(group["expired"]),
            str(group["steps"]),
            tasks,
            _ago(group["oldest"], now),
            _ago(group["latest"], now),
        )
    console.print(view)


def entries(
    folder: Path, namespace: str | None, task: str | None, contains: str | None, limit: int, as_json: bool
) -> None:
    """One row per entry, latest first."""
    now = time.time()
    with opened(folder) as cache:
        found = [
            entry
            for entry, _ in cache.store.scan(namespace)
            if (task is None or entry.task == task) and (contains is None or contains in entry.request.prompt)
        ]
    found.sort(key=lambda entry: entry.created_at, reverse=True)
    shown = found[:limit] if limit else found
    if as_json:
        show_json([entry_values(entry) for entry in shown])
        return
    view = table(
        f"{len(shown)} of {counted(len(found), 'entry', 'entries')}",
        "key",
        "namespace",
        "task",
        "steps",
        "age",
        "expires",
        "prompt",
        right=("steps", "age"),
        whole=("key", "age", "expires"),
    )
    for entry in shown:
        view.add_row(
            entry.key[:_KEY_WIDTH],
            _text(entry.namespace, 24),
            entry.task or "text",
            str(len(entry.steps)),
            age(now - entry.created_at),
            lifetime(entry.expires_at, now),
            _text(entry.request.prompt, 70),
        )
    console.print(view)


def entry(folder: Path, key: str, namespace: str | None, as_json: bool) -> None:
    """Everything about one entry, its reply step by step."""
    with opened(folder) as cache:
        found = find(cache, key, namespace)
    if as_json:
        show_json(entry_values(found))
        return
    console.print(_facts(found))
    for number, step in enumerate(found.steps, 1):
        console.print(
            Panel(
                Text(_printable(step.text.rstrip())), title=f"step {number} of {len(found.steps)}", title_align="left"
            )
        )


def doctor(folder: Path, repair: bool, as_json: bool) -> None:
    """Findings of the store's self-examination, after mending what can be mended if that is wished."""
    with opened(folder) as cache:
        store = cache.store
        assert isinstance(store, ChromaStore)
        mended = store.repair() if repair else ()
        findings, notes = store.faults(), store.notes()
        try:
            count: int | None = store.count()
        except StoreError:  # among the findings already
            count = None
    if as_json:
        show_json({"healthy": not findings, "entries": count, "findings": list(findings), "notes": list(notes),
                   "mended": list(mended)})
    else:
        for line in (*mended, *(f"note: {note}" for note in notes), *(f"- {finding}" for finding in findings)):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        if not findings:
            console.print(f"healthy: {counted(count or 0, 'entry', 'entries')}, {size(folder_size(folder))}",
                          highlight=False)
    if findings:
        raise typer.Exit(FOUND_WRONG)


def _facts(found: Entry) -> Any:
    now = time.time()
    facts = {
        "key": found.key,
        "namespace": found.namespace,
        "task": found.task or "text",
        "prompt": found.request.prompt,
        "model": found.request.model,
        "recorded": f"{when(found.created_at)} ({age(now - found.created_at)} ago)",
        "expires": lifetime(found.expires_at, now),
        "tags": ", ".join(found.tags),
        "tokens": "" if found.usage is None or found.usage.total is None else str(found.usage.total),
        "residue": found.residue,
        "shape": found.shape,
        "judged": found.judged and f"a second opinion took the reply over from entry {found.judged}",
    }
    view = table("", "", "")
    view.show_header = False
    for name, value in facts.items():
        if value:
            view.add_row(name, Text(_printable(value)))
    return view


def _ago(timestamp: float | None, now: float) -> str:
    return "" if timestamp is None else f"{age(now - timestamp)} ago"


def _text(value: str, width: int) -> Text:
    return Text(shortened(value, width))


def _printable(text: str) -> str:
    """What a model wrote must not steer the terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)
