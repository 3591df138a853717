"""Recall of reuse and wrong serves of the content gate, per data file.

    python benchmarks/gate/measure.py --data FOLDER [--show wrong|missed] [--file NAME]

Each `*_dev.jsonl` file holds groups of one base request and its variants. A base -> variant pair is *wrong* when the
gate says Same although the row is not marked `reuse` and its answer differs from the base's. Recall is the share of
the rows marked `reuse` that pass. Pairs of tool requests that differ only in their tool list are left out: tools are
context, which the cache compares on its own.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stepcache._gate import canonical, gate

FILES = (
    "gsm_plus", "gsm_symbolic", "svamp", "nlu_slots", "nestful", "bfcl", "sql_advising", "sql_spider_syn",
    "code_perturb", "code_siblings", "followbench", "arena_hard", "gptcache_mock_pairs",
)  # fmt: skip


class Row(NamedTuple):
    """One base -> variant pair."""

    name: str
    perturbation: str
    base: str
    variant: str
    reuse: bool
    answer_same: bool


def pairs(folder: Path, name: str) -> Iterator[Row]:
    """The pairs of one file."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in (folder / f"{name}_dev.jsonl").open(encoding="utf-8")]
    bases = {row["group"]: row for row in rows if row["role"] == "base"}
    for row in rows:
        base = bases.get(row["group"])
        if row["role"] != "variant" or base is None:
            continue
        reuse = row["meta"].get("expect") == "reuse"
        if not reuse and row["prompt"] == base["prompt"]:
            continue
        same = row["answer"] == base["answer"] and row["answer"] is not None
        yield Row(name, row["perturbation"], base["prompt"], row["prompt"], reuse, same)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--file", action="append", choices=FILES)
    parser.add_argument("--show", choices=("wrong", "missed"))
    options = parser.parse_args()
    print(
        f"{'file':22} {'pairs':>6} {'reuse':>6} {'same':>6} {'recall':>7} {'wrong':>6} {'µs/pair':>8} {'nominated':>9}"
    )
    total = dict.fromkeys(("pairs", "reuse", "same", "wrong"), 0)
    for name in options.file or FILES:
        count = dict.fromkeys(("pairs", "reuse", "same", "wrong", "nominated"), 0)
        spent = 0.0
        for row in pairs(options.data, name):
            started = time.perf_counter()
            verdict = gate(row.base, row.variant)
            spent += time.perf_counter() - started
            count["pairs"] += 1
            count["reuse"] += row.reuse
            wrong = bool(verdict) and not row.reuse and not row.answer_same
            count["same"] += bool(verdict) and row.reuse
            count["nominated"] += bool(verdict) and canonical(row.base) == canonical(row.variant)
            count["wrong"] += wrong
            if (options.show == "wrong" and wrong) or (options.show == "missed" and row.reuse and not verdict):
                print(f"\n[{name} {row.perturbation}] {verdict}\n  {row.base}\n  {row.variant}")
        recall = f"{100 * count['same'] / count['reuse']:.1f} %" if count["reuse"] else "-"
        print(
            f"{name:22} {count['pairs']:6} {count['reuse']:6} {count['same']:6} {recall:>7} {count['wrong']:6}"
            f" {1e6 * spent / max(count['pairs'], 1):8.0f} {count['nominated']:9}"
        )
        for key in total:
            total[key] += count[key]
    share = f"{100 * total['same'] / max(total['reuse'], 1):.1f} %"
    print(f"{'all':22} {total['pairs']:6} {total['reuse']:6} {total['same']:6} {share:>7} {total['wrong']:6}")


if __name__ == "__main__":
    main()
