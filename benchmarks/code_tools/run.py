"""Send the variants of public tool-call and code requests to a cache that knows the base rows.

    python -m benchmarks.code_tools.run --data FOLDER [--only code_perturb] [--whole] [--out results.json]

FOLDER holds bfcl_dev.jsonl, nestful_dev.jsonl, code_perturb_dev.jsonl and code_siblings_dev.jsonl (one object a line:
id, group, role, prompt, answer, meta). An oracle stands for the model: it answers every prompt rightly. Every base row
is recorded, then every variant is asked, in one namespace per file; variants leave nothing behind. Served code counts
as right when it passes the row's own tests in the sandbox; served calls when they are calls the row's source accepts.
`--whole` has the oracle give whole functions in a fence, as chat models do, instead of the body alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepcache import CacheControl, Policy, Request, StepCache
from stepcache.protocols import Embedder, Model, Task
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import DEFAULT_TASKS
from stepcache.tasks.code import code
from stepcache.tasks.tool_calls import tool_calls
from stepcache.testing import HashEmbedder

Row = Mapping[str, Any]
FILES = ("bfcl", "nestful", "code_perturb", "code_siblings")
BARS = {("code_perturb", "reuse"): 0.85, ("code_perturb", "patch"): 0.70}
_RESULT = {"name": "var_result", "parameters": {"type": "object", "additionalProperties": True}}
FREE = ("cache", "rewrite", "fallback")


@dataclass(frozen=True)
class Asked:
    """One variant with what came back for it."""

    row: Row
    source: str
    reason: str
    right: bool


def groups(path: Path) -> Iterator[tuple[Row, list[Row]]]:
    """The base row of each group with its variants."""
    found: dict[str, list[Row]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["group"]].append(row)
    for rows in found.values():
        yield rows[0], [row for row in rows[1:] if row["role"] == "variant"]


def tools_of(row: Row, base: Row) -> list[dict[str, Any]]:
    """The tool list of a row; NESTFUL ends each sequence with a pseudo-call that names the results."""
    tools = list(row["meta"].get("functions") or base["meta"]["functions"])
    if row["meta"]["task"] == "tool_call_sequence":
        tools.append(_RESULT)
    return tools


def spec_of(row: Row, base: Row) -> Task | None:
    """Tools have to be given; code is recognised from the prompt."""
    return tool_calls(tools_of(row, base)) if row["meta"]["task"].startswith("tool") else None


def reply_of(row: Row, whole: bool) -> str:
    """What a model without fault says."""
    if not isinstance(row["answer"], str):
        return json.dumps(row["answer"])
    return f"```python\n{row['prompt'].strip()}\n{row['answer']}\n```" if whole else row["answer"]


def oracle(row: Row, whole: bool) -> Model:
    """A model that knows the answer to one row, whatever it is asked for."""
    return lambda prompt, purpose: reply_of(row, whole)


def is_right(row: Row, base: Row, output: str) -> bool:
    """Whether the reply answers this row: by its tests, or by its accepted calls."""
    if row["meta"]["task"].startswith("tool"):
        same_tools = tools_of(row, base) == tools_of(base, base)
        return same_tools and _accepted(json.loads(output), row)
    tests = row["meta"].get("test")
    if tests is None:  # the base row's tests, which may call the function by the base row's name
        tests = f"{base['meta']['entry_point']} = {row['meta']['entry_point']}\n{base['meta']['test']}"
    checker = code(tests=tests)
    spec = checker(Request(row["prompt"], spec=checker))
    return spec is not None and spec.check(output).ok


def _accepted(calls: list[dict[str, Any]], row: Row) -> bool:
    possible = row["meta"].get("possible_answer")
    if possible is None:
        return bool(calls == row["answer"])
    if len(calls) != len(possible):
        return False
    for call, allowed in zip(calls, possible, strict=True):
        arguments = allowed.get(call["name"])
        if arguments is None or not all(call["arguments"].get(key, "") in values for key, values in arguments.items()):
            return False
        if not call["arguments"].keys() <= arguments.keys():
            return False
    return True


def replay(path: Path, embedder: Embedder, whole: bool) -> tuple[list[Asked], int, int]:
    """Ask everything of one file; also returns how many base rows there are and how many could be recorded."""
    cache = StepCache(MemoryStore(), embedder, tasks=DEFAULT_TASKS, policy=Policy(cache_timeout=60.0))
    asked: list[Asked] = []
    every = list(groups(path))
    recorded = 0
    for base, _ in every:
        request = Request(base["prompt"], spec=spec_of(base, base))
        recorded += cache.complete(request, oracle(base, whole)).recorded
    for base, variants in every:
        for row in variants:
            request = Request(row["prompt"], spec=spec_of(row, base), control=CacheControl(no_store=True))
            result = cache.complete(request, oracle(row, whole))
            right = result.source not in FREE or is_right(row, base, result.output)
            asked.append(Asked(row, result.source, result.decision.reason, right))
    return asked, len(every), recorded


def report(name: str, asked: list[Asked], bases: int, recorded: int) -> dict[str, Any]:
    """Print one file's table and return its figures."""
    wrong = [one for one in asked if not one.right]
    figures: dict[str, Any] = {"bases": bases, "recorded": recorded, "wrong": [one.row["id"] for one in wrong]}
    print(f"\n{name}: {recorded} of {bases} base rows recorded, {len(asked)} variants, {len(wrong)} wrong serves")
    for expected in ("reuse", "patch", "skip"):
        rows = [one for one in asked if one.row["meta"]["expect"] == expected]
        if not rows:
            continue
        sources = Counter(one.source for one in rows)
        figures[expected] = {"rows": len(rows), **sources}
        shares = ", ".join(f"{source} {count} ({count / len(rows):.0%})" for source, count in sources.most_common())
        print(f"  expected {expected:5} {len(rows):4} rows: {shares}")
    for one in wrong:
        print(f"  WRONG {one.row['id']} from {one.source}: {one.reason}")
    return figures


def bars_missed(figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The demands these figures fail: nothing wrong, and the shares of `BARS` served without a model."""
    missed = [f"{name}: {len(one['wrong'])} wrong serves" for name, one in figures.items() if one["wrong"]]
    for (name, expected), bar in BARS.items():
        counts = figures.get(name, {}).get(expected)
        if counts is None:
            continue
        sources = ("rewrite",) if expected == "patch" else FREE
        share = sum(counts.get(source, 0) for source in sources) / counts["rows"]
        if share < bar:
            missed.append(f"{name}, expected {expected}: {share:.1%} by {'/'.join(sources)}, bar {bar:.0%}")
    return missed


def main() -> int:
    """Run and report; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", choices=FILES, action="append")
    parser.add_argument("--whole", action="store_true", help="the oracle gives whole functions in a fence")
    parser.add_argument("--embedder", choices=("minilm", "hash"), default="minilm")
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON")
    options = parser.parse_args()
    embedder: Embedder = HashEmbedder(256)
    if options.embedder == "minilm":
        from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder

        embedder = SentenceTransformerEmbedder()
    figures = {}
    for name in options.only or FILES:
        started = time.perf_counter()
        asked, bases, recorded = replay(options.data / f"{name}_dev.jsonl", embedder, options.whole)
        figures[name] = report(name, asked, bases, recorded)
        print(f"  {time.perf_counter() - started:.1f} s")
        reasons = Counter(one.reason.split(":")[0] for one in asked if one.source == "model")
        print("  refused: " + "; ".join(f"{reason} {count}" for reason, count in reasons.most_common(8)))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    missed = bars_missed(figures)
    print("\n" + ("\n".join(f"MISSED {line}" for line in missed) or "all bars met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
