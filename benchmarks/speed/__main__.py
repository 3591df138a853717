"""What the cache itself costs.

    python -m benchmarks.speed                  # everything; the result and the tables of README.md are written
    python -m benchmarks.speed --small          # small sizes, nothing written; warns where a ratio has got worse
    python -m benchmarks.speed --parts core,imports --out /tmp/speed.json

Filling the folder of 100,000 entries takes minutes; it is kept in the system's temporary folder for the next time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.speed import paths, report
from benchmarks.speed.imports import import_seconds

_PARTS = ("core", "frameworks", "embedding", "imports")


def _core(sizes: dict[str, tuple[int, ...]], seconds: float) -> dict[str, Any]:
    by_size = {}
    for kind, counts in sizes.items():
        for entries in counts:
            _say(f"core, {kind}, {entries:,} entries")
            by_size[f"{kind}, {entries}"] = _rows(paths.at_size(kind, entries, seconds))
    _say("core, stages and lengths")
    return {
        "paths": by_size,
        "stages": {kind: _rows(paths.stages(kind, min(max(counts), 10_000), seconds))
                   for kind, counts in sizes.items()},
        "lengths": _rows(paths.by_length(seconds)),
        "hits_a_second": paths.crowd(2 * seconds),
    }


def _frameworks(seconds: float) -> dict[str, Any]:
    from benchmarks.speed import frameworks

    _say("LangChain and LlamaIndex")
    taken, missing = frameworks.langchain(seconds)
    return {"langchain": {name: _rows(rows) for name, rows in taken.items()}, "missing": missing,
            "llamaindex": _rows(frameworks.llamaindex(seconds))}


def _embedding(seconds: float) -> dict[str, Any]:
    from benchmarks.speed import embedding

    _say("with a real embedder, beside GPTCache")
    taken, missing = embedding.against_gptcache(4 * seconds)
    return {"reuse": _rows(taken), "missing": missing, "rates": embedding.tasks_on_hits(3 * seconds)}


def _rows(taken: Any) -> dict[str, Any]:
    return {name: {key: round(value, 5) for key, value in asdict(each).items()} for name, each in taken.items()}


def _say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--small", action="store_true", help="small sizes and no model, for every change")
    arguments.add_argument("--parts", default=",".join(_PARTS), help=f"some of {','.join(_PARTS)}")
    arguments.add_argument("--out", type=Path, help="write the measurements there, and no table")
    options = arguments.parse_args()
    parts = options.parts.split(",")
    small = options.small
    seconds = 0.15 if small else 0.5
    sizes: dict[str, tuple[int, ...]] = {"memory": (100, 1000), "disk": (100,)} if small else {
        "memory": (100, 10_000, 100_000), "disk": (100, 10_000, 100_000)}
    making: dict[str, Callable[[], Any]] = {
        "core": lambda: _core(sizes, seconds),
        "frameworks": lambda: _frameworks(4 * seconds),
        "embedding": lambda: {} if small else _embedding(2 * seconds),
        "imports": lambda: import_seconds(3 if small else 9),
    }
    began = time.perf_counter()
    result: dict[str, Any] = {"small": small, **report.machine()}
    for part in _PARTS:
        if part in parts:
            result[part] = making[part]()
    result["seconds"] = round(time.perf_counter() - began)
    if options.out is not None:
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if small or options.out is not None or set(parts) != set(_PARTS):
        report.tell(result)
    else:
        report.write(result)
        report.tell(result)


if __name__ == "__main__":
    main()
