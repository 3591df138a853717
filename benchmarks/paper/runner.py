"""One run: for each seed, warm every system with the base prompts, then send the variants, system beside system.

A run can be stopped at any time. Replies of the model are recorded as they come, finished seeds are kept, and the next
run goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

import stepcache
from benchmarks.paper.backend import Backend
from benchmarks.paper.checks import correct
from benchmarks.paper.prompts import Prompt, Prompts, bases_of
from benchmarks.paper.systems import Answer, System, build, tools_in_prompt
from stepcache import Request
from stepcache.protocols import Embedder
from stepcache.tasks import json_keys, linear_equation

__all__ = ["Plan", "run"]

_SAY_EVERY = 200
_FROM_CACHE = frozenset({"cache", "rewrite", "patch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one run does: which systems, which seeds, which prompts of each seed, and where it keeps its state."""

    systems: Sequence[str]
    seeds: Sequence[int]
    folder: Path
    limit: int | None = None
    apart: bool = True
    ask_every_seed: bool = False


def run(plan: Plan, prompts: Prompts, backend: Backend, embedder: Embedder) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of all seeds (warm-up rows marked) and the seeds' names that had to be run now."""
    embedder.embed("warm")  # loading the weights is nobody's latency
    seeds = {seed: _prompts_of(plan, prompts, seed) for seed in plan.seeds}
    total = sum(len(warm) + len(sent) for warm, sent in seeds.values()) * len(plan.systems)
    rows: list[dict[str, Any]] = []
    ran: list[str] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=False),
    )
    with Progress(*columns, refresh_per_second=2) as progress:
        task = progress.add_task("", total=total)
        for seed, (warm, sent) in seeds.items():
            kept = plan.folder / f"seed-{seed}-{_fingerprint(plan, backend.model, warm + sent)}.jsonl"
            if kept.exists():
                done = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
                progress.advance(task, len(done))
            else:
                done = []
                backend.take = seed if plan.ask_every_seed else 0
                for row in _one_seed(plan, seed, warm, sent, backend, embedder):
                    done.append(row)
                    progress.update(task, advance=1, description=f"seed {seed} {row['system'][:22]:<22}")
                    _say_now_and_then(progress, progress.tasks[task])
                partial = kept.with_suffix(".partial")
                partial.write_text(
                    "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in done), encoding="utf-8"
                )
                partial.replace(kept)
                ran.append(str(seed))
            rows += done
    return rows, ran


def _say_now_and_then(progress: Progress, task: Task) -> None:
    """Where no bar can be drawn, a line every so often."""
    if not progress.console.is_terminal and task.completed % _SAY_EVERY == 0:
        left = "" if task.time_remaining is None else f", about {task.time_remaining / 60:.0f} min left"
        print(f"{task.completed:.0f} of {task.total:.0f}{left}", flush=True)


def _prompts_of(plan: Plan, prompts: Prompts, seed: int) -> tuple[tuple[Prompt, ...], tuple[Prompt, ...]]:
    sent = prompts.of_seed(seed)
    if plan.limit is not None:
        sent = _one_of_each(sent, plan.limit)
    warm = prompts.bases if plan.limit is None else bases_of(sent, prompts.bases)
    if plan.apart:
        warm, sent = warm + prompts.apart_bases, sent + prompts.apart
    return warm, sent


def _one_of_each(sent: Sequence[Prompt], limit: int) -> tuple[Prompt, ...]:
    """A few prompts that still show every perturbation, of as few bases as possible."""
    chosen: dict[tuple[str, str], list[Prompt]] = {}
    for prompt in sorted(sent, key=lambda prompt: prompt.id):
        chosen.setdefault((prompt.task, prompt.perturbation), []).append(prompt)
    rounds = [list(group) for group in chosen.values()]
    picked: list[Prompt] = []
    while len(picked) < limit and any(rounds):
        picked += [group.pop(0) for group in rounds if group]
    return tuple(picked[:limit])


def _one_seed(
    plan: Plan,
    seed: int,
    warm: Sequence[Prompt],
    sent: Sequence[Prompt],
    backend: Backend,
    embedder: Embedder,
) -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        systems: dict[str, System] = {}
        for number, name in enumerate(plan.systems):
            system = build(name, backend, embedder, plan.folder / f"store-{os.getpid()}-{number}")
            systems[name] = stack.enter_context(closing(system))
        for prompt in (*warm, *sent):
            for name, system in systems.items():
                yield _one(seed, name, system, prompt, backend)


def _one(seed: int, name: str, system: System, prompt: Prompt, backend: Backend) -> dict[str, Any]:
    spent = backend.start()
    started = time.perf_counter()
    answer = system.answer(prompt.prompt)
    seconds = time.perf_counter() - started + spent.replayed
    right = correct(prompt, answer.reply)
    row: dict[str, Any] = {
        "seed": seed,
        "model": backend.model,
        "id": prompt.id,
        "task": prompt.task,
        "perturbation": prompt.perturbation,
        "prompt": prompt.prompt,
        "expected": prompt.expected,
        "system": name,
        "reply": answer.reply,
        "outcome": answer.outcome,
        "source": answer.source,
        "calls": spent.calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "seconds": round(seconds, 6),
        "replayed_calls": spent.replayed_calls,
        "correct": right,
        "integrity": _integrity(prompt, answer.reply),
        "wrong_serve": not right and _served(answer.source, spent.calls),
    }
    return row | _details(prompt, answer)


def _served(source: str, calls: int) -> bool:
    """Whether a reply came out of the cache; a fresh one made right by computation is a rewrite of no recorded one."""
    return source in _FROM_CACHE and (source == "patch" or calls == 0)


def _details(prompt: Prompt, answer: Answer) -> dict[str, Any]:
    """What only some rows have."""
    details: dict[str, Any] = {}
    if answer.reason:
        details["reason"] = answer.reason
    if answer.verified is not None:
        details["verified"] = answer.verified
    if answer.stages:
        details["stages"] = answer.stages
    if prompt.apart:
        details["apart"] = True
    if not prompt.perturbation:
        details["warm_up"] = True
    return details


def _integrity(prompt: Prompt, reply: str) -> bool | None:
    """The stitched output's check by the task's own spec; None where there is none to apply."""
    if prompt.task == "math":
        spec = linear_equation()(Request(prompt.prompt))
    elif prompt.task == "json":
        spec = json_keys(list(prompt.expected))(Request(prompt.prompt))
    elif prompt.task == "tool":
        spec = tools_in_prompt(Request(prompt.prompt))
    else:
        return None
    return None if spec is None else spec.check(reply).ok


def _fingerprint(plan: Plan, model: str, prompts: Sequence[Prompt]) -> str:
    """Changes whenever a finished seed must be run again: other prompts, systems, model, or another StepCache."""
    digest = hashlib.sha256()
    for part in (model, *plan.systems, str(plan.ask_every_seed), *map(repr, prompts)):
        digest.update(part.encode("utf-8") + b"\0")
    for folder in (Path(stepcache.__file__).parent, Path(__file__).parent):
        for source in sorted(folder.rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
