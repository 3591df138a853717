"""What was to be reached and what was, as a table; and a warning where a ratio is worse than the committed one."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["bars", "machine", "tell", "write"]

_HERE = Path(__file__).parent / "results"
_LATEST = _HERE / "latest.json"
_README = Path(__file__).parents[2] / "README.md"
_BEGIN, _END = "<!-- speed:begin -->", "<!-- speed:end -->"
_NOISE = 1.5  # times a committed ratio before it is worth a warning


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure with what it may be at most (`at_least`: at least). `ratio`: it says something on any machine."""

    name: str
    unit: str
    bar: float
    figure: float
    ratio: bool = False
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.figure >= self.bar if self.at_least else self.figure <= self.bar


def machine() -> dict[str, Any]:
    names = ("langchain-core", "llama-index-core", "chromadb", "sentence-transformers", "onnxruntime", "gptcache")
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"date": time.strftime("%Y-%m-%d"), "python": platform.python_version(), "cpus": os.cpu_count(),
            "processor": _processor(), "load_before": round(os.getloadavg()[0], 2), "versions": versions}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def bars(result: dict[str, Any]) -> list[Bar]:
    """The bars of which this run holds the figures."""
    found: list[Bar] = []
    for bar in _all(result):
        try:
            found.append(bar())
        except KeyError:
            continue
    return found


def _all(result: dict[str, Any]) -> Iterator[Callable[[], Bar]]:
    def core(kind: str, entries: int, path: str, key: str = "wall") -> float:
        value: float = result["core"]["paths"][f"{kind}, {entries}"][path][key]
        return value

    def ratio(prompt: str, one: str, other: str) -> float:
        rows = result["frameworks"]["langchain"][prompt]
        value: float = rows[one]["wall"] / rows[other]["wall"]
        return value

    for kind in ("memory", "disk"):
        yield lambda kind=kind: Bar(  # type: ignore[misc]
            f"exact hit, core, 100,000 entries ({kind})", "ms", 0.15, core(kind, 100_000, "exact hit"))
        for most, least in ((100_000, 100), (1000, 100)):
            yield lambda kind=kind, most=most, least=least: Bar(  # type: ignore[misc]
                f"exact hit, {most:,} entries over {least} ({kind})", "x", 1.25,
                core(kind, most, "exact hit") / core(kind, least, "exact hit"), ratio=True)
    for prompt in ("a short prompt", "a history of 2 kB"):
        for ours in ("LangChainStepCache, in memory", "LangChainStepCache, folder", "StepCacheChatModel, in memory"):
            for theirs, most_ in (("InMemoryCache", 1.25), ("SQLiteCache", 0.7)):
                yield lambda prompt=prompt, ours=ours, theirs=theirs, most_=most_: Bar(  # type: ignore[misc]
                    f"exact hit by invoke, {prompt}, {ours} over {theirs}", "x", most_, ratio(prompt, ours, theirs),
                    ratio=True)
    for entries in (100, 10_000, 100_000):
        for path in ("rewrite, equation", "rewrite, JSON", "reuse by template"):
            yield lambda entries=entries, path=path: Bar(  # type: ignore[misc]
                f"{path}, {entries:,} entries (disk)", "ms", 2.0, core("disk", entries, path))
    for entries, limit in ((10_000, 3.0), (100_000, 5.0)):
        for kind in ("memory", "disk"):
            yield lambda kind=kind, entries=entries, limit=limit: Bar(  # type: ignore[misc]
                f"reuse by embedding beyond the embedding, {entries:,} entries ({kind})", "ms", limit,
                core(kind, entries, "reuse by embedding, vector at hand"))
    for entries in (10_000, 100_000):
        for kind in ("memory", "disk"):
            yield lambda kind=kind, entries=entries: Bar(  # type: ignore[misc]
                f"miss beyond the embedding, {entries:,} entries ({kind})", "ms", 4.0,
                core(kind, entries, "miss beyond the embedding"))
            yield lambda kind=kind, entries=entries: Bar(  # type: ignore[misc]
                f"record on the caller's path, {entries:,} entries ({kind})", "ms", 0.5, core(kind, entries, "record"))
    yield lambda: Bar("gate and verify", "ms", 0.5,
                      result["core"]["stages"]["memory"]["gate and verify, all candidates"]["wall"])
    for way in ("template", "embedding"):
        yield lambda way=way: Bar(  # type: ignore[misc]
            f"reuse by {way} over GPTCache get, all included", "x", 0.5,
            _over(result["embedding"]["reuse"], f"StepCache, by {way}", "GPTCache get"), ratio=True)
    yield lambda: Bar("64 tasks on hits over the embedder alone", "x", 0.8, result["embedding"]["rates"]["64 tasks"]
                      / result["embedding"]["rates"]["the embedder alone"], ratio=True, at_least=True)
    yield lambda: Bar("import stepcache", "s", 0.12, result["imports"]["stepcache"][0])
    for adapter in ("langchain_stepcache", "llamaindex_stepcache"):
        yield lambda adapter=adapter: Bar(  # type: ignore[misc]
            f"import {adapter} beyond its framework", "s", 0.1,
            result["imports"][f"{adapter} beyond its framework"][0])


def _over(rows: dict[str, Any], one: str, other: str) -> float:
    value: float = rows[one]["wall"] / rows[other]["wall"]
    return value


def tell(result: dict[str, Any]) -> None:
    """Print the table and, for every ratio that the committed result has too, a warning where it is much worse."""
    print(_bars_table(bars(result)))
    missing = {**result.get("frameworks", {}).get("missing", {})}
    if why := result.get("embedding", {}).get("missing"):
        missing["GPTCache"] = why
    for name, reason in missing.items():
        print(f"not measured: {name} ({reason})")
    print(f"{result['seconds']} s in all")
    if not _LATEST.is_file():
        return
    before = {bar.name: bar for bar in bars(json.loads(_LATEST.read_text(encoding="utf-8"))) if bar.ratio}
    for bar in bars(result):
        known = before.get(bar.name)
        if known is None:
            continue
        worse = known.figure / bar.figure if bar.at_least else bar.figure / known.figure
        if worse > _NOISE:
            print(f"warning: {bar.name}: {bar.figure:.2f}, and {known.figure:.2f} in the committed result")


def write(result: dict[str, Any]) -> None:
    """Write the result, its tables, and the table between the marks in README.md."""
    _HERE.mkdir(exist_ok=True)
    _LATEST.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (_HERE / "latest.md").write_text(_page(result), encoding="utf-8")
    text = _README.read_text(encoding="utf-8")
    head, mark, rest = text.partition(_BEGIN)
    if mark and _END in rest:
        _README.write_text(head + _BEGIN + "\n" + _short(result) + _END + rest.partition(_END)[2], encoding="utf-8")


def _number(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def _bars_table(found: list[Bar]) -> str:
    rows = ["| | figure | bar | |", "|---|--:|--:|---|"]
    for bar in found:
        sign = "≥" if bar.at_least else "≤"
        rows.append(f"| {bar.name} | {_number(bar.figure)} {bar.unit} | {sign} {bar.bar:g} {bar.unit} | "
                    f"{'met' if bar.met else '**missed**'} |")
    return "\n".join(rows) + "\n"


def _table(columns: dict[str, dict[str, Any]]) -> str:
    """Rows by name: median wall time with its quartiles, and processor time, in milliseconds."""
    names = list(dict.fromkeys(name for rows in columns.values() for name in rows))
    lines = ["| ms | " + " | ".join(columns) + " |", "|---|" + "--:|" * len(columns)]
    for name in names:
        cells = []
        for rows in columns.values():
            row = rows.get(name)
            cells.append("" if row is None else
                         f"{_number(row['wall'])} ({_number(row['low'])}–{_number(row['high'])}; "
                         f"cpu {_number(row['cpu'])})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _page(result: dict[str, Any]) -> str:
    core, frameworks, embedding = result["core"], result["frameworks"], result["embedding"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    rates = "".join(f"- {name}: {rate:,.0f}/s\n" for name, rate in
                    {**core["hits_a_second"], **embedding["rates"]}.items())
    imports = "".join(f"- `{name}`: {wall:.3f} s (cpu {worked:.3f} s)\n"
                      for name, (wall, worked) in result["imports"].items())
    missing = dict(frameworks["missing"])
    if embedding["missing"]:
        missing["GPTCache"] = embedding["missing"]
    return "\n".join([
        "# What the cache itself costs", "",
        f"{result['date']}, Python {result['python']}, {result['cpus']} CPUs ({result['processor']}), load before the "
        f"run {result['load_before']}; {versions}. Medians (quartiles; processor time of all threads), of one run of "
        f"{result['seconds']} s: `python -m benchmarks.speed`. The model answers at once.", "",
        "## What was to be reached", "", _bars_table(bars(result)),
        "## Paths of the core by store and entries", "", _table(core["paths"]),
        "## Stages", "", _table(core["stages"]),
        "## An exact hit as the request grows", "", _table({"memory, 100": core["lengths"]}),
        "## LangChain `invoke`", "", _table(frameworks["langchain"]),
        "## LlamaIndex `chat`", "", _table({"a short prompt": frameworks["llamaindex"]}),
        "## A reuse by embedding, the embedding included", "", _table({"201 entries": embedding["reuse"]}),
        "## Requests a second", "", rates,
        "## Imports", "", imports,
        *(f"Not measured: {name} ({reason})." for name, reason in missing.items()),
    ])


def _short(result: dict[str, Any]) -> str:
    """What a reader of README.md wants to know."""
    core, rows = result["core"]["paths"], result["frameworks"]["langchain"]
    disk = "disk, 100000"

    def at(path: str) -> str:
        return f"{_number(core[disk][path]['wall'])} ms"

    lines = [
        "| on disk, 100,000 entries, one process | median |", "|---|--:|",
        f"| exact hit | {at('exact hit')} |",
        f"| rewrite of an equation | {at('rewrite, equation')} |",
        f"| reuse by embedding, beyond the embedding | {at('reuse by embedding, vector at hand')} |",
        f"| miss, beyond the embedding and the model | {at('miss beyond the embedding')} |",
        f"| recording, on the caller's path | {at('record')} |",
    ]
    for prompt in rows:
        ours, theirs = rows[prompt]["LangChainStepCache, folder"], rows[prompt]["InMemoryCache"]
        lines.append(f"| exact hit by LangChain `invoke`, {prompt} | {_number(ours['wall'])} ms; `InMemoryCache` "
                     f"{_number(theirs['wall'])} ms |")
    return "\n".join([
        *lines, "",
        f"Measured on {result['date']} on {result['cpus']} CPU cores; all figures, their spread and what was to be "
        "reached: [benchmarks/speed/results/latest.md](benchmarks/speed/results/latest.md).", ""])
