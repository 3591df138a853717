"""From rows to tables and plots. Everything here can be made again from `latest.json` alone."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["document", "machine", "markdown", "percentile", "plots", "summary"]

Row = dict[str, Any]

_PACKAGES = (
    "stepcache", "chromadb", "gptcache", "langchain-core", "numpy", "sentence-transformers", "torch", "xllamacpp",
)
_FREE = frozenset({"cache", "rewrite"})
_OUTCOMES = ("reuse", "patch", "skip", "miss")


def document(rows: Sequence[Row], model: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """The whole result: what ran where, every request, and the summaries."""
    counted = [row for row in rows if not row.get("warm_up") and not row.get("apart")]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "model": model,
        "versions": _versions(),
        "seeds": sorted({row["seed"] for row in rows}),
        "settings": settings,
        "replayed_share": _share(row["replayed_calls"] for row in rows) if rows else 0.0,
        "summary": summary(counted),
        "per_perturbation": _grouped(counted, lambda row: (row["task"], row["perturbation"])),
        "per_task": _grouped(counted, lambda row: (row["task"],)),
        "apart": _grouped(
            [row for row in rows if row.get("apart") and not row.get("warm_up")],
            lambda row: (row["task"], row["perturbation"]),
        ),
        "warm_up": _grouped([row for row in rows if row.get("warm_up")], lambda row: (row["task"],)),
        "requests": [row for row in rows if not row.get("warm_up")],
    }


def machine() -> dict[str, Any]:
    """What this ran on."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "cpu": name,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def summary(rows: Sequence[Row]) -> list[Row]:
    """One row per model and system: the mean over all requests, with the spread over seeds where there are several."""
    groups: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["model"], row["system"]].append(row)
    made = []
    for (model, system), group in groups.items():
        line: Row = {"system": system, "model": model, **_measures(group)}
        seeds = sorted({row["seed"] for row in group})
        if len(seeds) > 1:
            each = [_measures([row for row in group if row["seed"] == seed]) for seed in seeds]
            line["spread"] = {
                name: round(statistics.stdev(one[name] for one in each), 6)
                for name in ("mean_s", "median_s", "p90_s", "p95_s", "p99_s", "tokens", "correct", "served_share")
            }
        made.append(line)
    return made


def _measures(rows: Sequence[Row]) -> Row:
    seconds = [row["seconds"] for row in rows]
    hits = [row["seconds"] for row in rows if row["calls"] == 0 and row["source"] in _FREE]
    checked = [row for row in rows if row["integrity"] is not None]
    stages: Counter[str] = Counter()
    for row in rows:
        stages.update(row.get("stages", {}))
    return {
        "requests": len(rows),
        "mean_s": round(statistics.fmean(seconds), 6),
        "median_s": round(statistics.median(seconds), 6),
        "p90_s": round(percentile(seconds, 0.90), 6),
        "p95_s": round(percentile(seconds, 0.95), 6),
        "p99_s": round(percentile(seconds, 0.99), 6),
        "median_hit_s": round(statistics.median(hits), 6) if hits else None,
        "tokens": sum(row["tokens"] for row in rows),
        "tokens_per_request": round(sum(row["tokens"] for row in rows) / len(rows), 2),
        "prompt_tokens": sum(row["prompt_tokens"] for row in rows),
        "completion_tokens": sum(row["completion_tokens"] for row in rows),
        "calls": sum(row["calls"] for row in rows),
        "correct": round(_share(row["correct"] for row in rows), 6),
        "integrity": round(_share(row["integrity"] for row in checked), 6) if checked else None,
        "both_checks": round(_share(row["correct"] and row["integrity"] is not False for row in rows), 6),
        "no_call_share": round(_share(row["calls"] == 0 for row in rows), 6),
        "served_share": round(_share(row["source"] in _FREE and row["calls"] == 0 for row in rows), 6),
        "fallback_share": round(_share(row["source"] == "fallback" for row in rows), 6),
        "wrong_serves": sum(row["wrong_serve"] for row in rows),
        "outcomes": {name: sum(row["outcome"] == name for row in rows) for name in _OUTCOMES},
        "sources": dict(Counter(row["source"] for row in rows)),
        "stage_mean_s": {name: round(total / len(rows), 6) for name, total in stages.items()},
    }


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed, interpolated."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _grouped(rows: Iterable[Row], key: Callable[[Row], tuple[str, ...]]) -> list[Row]:
    groups: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return [
        {"group": " / ".join(part for part in name if part)} | line
        for name, group in groups.items()
        for line in summary(group)
    ]


def _share(values: Iterable[Any]) -> float:
    listed = [bool(value) for value in values]
    return sum(listed) / len(listed) if listed else 0.0


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


# -- for people ---------------------------------------------------------------------------------------------------


def markdown(result: Row) -> str:
    """The tables, with what they were measured on and what was replayed."""
    parts = [f"# The paper's benchmark, {result['date']}\n", _setting(result)]
    for model in dict.fromkeys(row["model"] for row in result["summary"]):
        parts.append(_model_tables(result, model))
    return "\n".join(parts)


def _setting(result: Row) -> str:
    at = result["machine"]
    lines = [
        f"Machine: {at['cpu']}, {at['cores']} cores, Python {at['python']}. "
        f"Seeds {', '.join(map(str, result['seeds']))}; "
        f"{max(row['requests'] for row in result['summary'])} requests a system. Warm-up is not counted. "
        "Ratios compare systems within this run, on the same server.",
        "",
        f"Replayed: {result['replayed_share']:.0%} of the answers needed a model call whose reply had been recorded "
        "before (the same prompt to the same model at temperature 0); such a call counts with the seconds and tokens "
        "that it really took.",
    ]
    for note in result["settings"].get("notes", ()):
        lines += ["", note]
    return "\n".join(lines) + "\n"


def _model_tables(result: Row, model: str) -> str:
    rows = [row for row in result["summary"] if row["model"] == model]
    none = next((row for row in rows if row["system"] == "none"), None)
    told = next((one for one in result.get("models", ()) if one["name"] == model and "date" in one), None)
    when = "" if told is None else (
        f"{told['date']}; seeds {', '.join(map(str, told['seeds']))}; {rows[0]['requests']} requests a system; "
        f"{told['replayed_share']:.0%} of the answers by a replayed call.\n")
    parts = [f"## {model}\n", when, _table(_SYSTEM_HEAD, [_system_cells(row, none) for row in rows])]
    for title, name in (("By task", "per_task"), ("By perturbation", "per_perturbation"), ("Apart", "apart")):
        cells = [_group_cells(result[name], group, model) for group in _groups(result[name], model)]
        if cells:
            parts.append(f"### {title}: no cache and StepCache\n\n{_table(_GROUP_HEAD, cells)}")
    warm = [row for row in result["warm_up"] if row["model"] == model and row["system"] in {"none", "stepcache"}]
    cells = [
        [row["group"], row["system"], _seconds(row["mean_s"]), f"{row['tokens']}", f"{row['correct']:.1%}"]
        for row in warm
    ]
    parts.append(f"### Warm-up\n\n{_table(('', 'system', 'mean', 'tokens', 'correct'), cells)}")
    parts += _targets(rows, none)
    parts += _called(result, model)
    stages: dict[str, float] = next((row["stage_mean_s"] for row in rows if row["system"] == "stepcache"), {})
    if stages:
        told = ", ".join(f"{name} {1000 * seconds:.2f} ms" for name, seconds in sorted(stages.items()))
        parts.append(f"StepCache's own time per request, mean by stage: {told}.\n")
    return "\n".join(parts)


def _targets(rows: Sequence[Row], none: Row | None) -> list[str]:
    """What this run was to reach (the paper's figures bettered), and whether it did."""
    ours = next((row for row in rows if row["system"] == "stepcache"), None)
    if ours is None or none is None or not ours["mean_s"]:
        return []

    def times(name: str) -> float:
        return float(none[name] / ours[name]) if ours[name] else float("inf")

    fewer = 1 - ours["tokens"] / none["tokens"]
    hit = ours["median_hit_s"]
    lines = [
        ("mean latency", "3.2x", ">= 8x", f"{times('mean_s'):.2f}x", times("mean_s") >= 8),
        ("median latency", "242x", ">= 150x", f"{times('median_s'):.0f}x", times("median_s") >= 150),
        ("median hit", "10 ms", "<= 25 ms", _seconds(hit) if hit else "none", bool(hit) and hit <= 0.025),
        ("p90 latency", "not reported", ">= 5x", f"{times('p90_s'):.2f}x", times("p90_s") >= 5),
        ("tokens", "-24%", "<= -80%", f"-{fewer:.1%}", fewer >= 0.8),
        ("served from the cache", "79.7%", ">= 80%", f"{ours['served_share']:.1%}", ours["served_share"] >= 0.8),
        ("fallback", "not reported", "<= 2%", f"{ours['fallback_share']:.1%}", ours["fallback_share"] <= 0.02),
        ("correct, both checks", "100%", "100%", f"{ours['both_checks']:.1%}", ours["both_checks"] == 1),
        ("wrong serves", "not reported", "0", str(ours["wrong_serves"]), ours["wrong_serves"] == 0),
    ]
    cells = [[name, paper, wanted, found, "yes" if met else "**no**"] for name, paper, wanted, found, met in lines]
    return [f"### Targets\n\n{_table(('', 'paper', 'to reach', 'this run', 'reached'), cells)}"]


def _called(result: Row, model: str) -> list[str]:
    """The requests that the cache did not answer alone, or not rightly: each once, and why."""
    seen: dict[str, Row] = {}
    for row in result["requests"]:
        ours = row["model"] == model and row["system"] == "stepcache" and not row.get("apart")
        if ours and (not row["correct"] or row["source"] not in {*_FREE, "patch"}):
            seen.setdefault(row["id"], row)
    ordered = sorted(seen.values(), key=lambda row: (row["correct"], -row["seconds"]))
    cells = [
        [
            row["id"],
            row["source"],
            _seconds(row["seconds"]),
            str(row["tokens"]),
            "yes" if row["correct"] else "**no**",
            str(row.get("reason", "")).replace("|", "/")[:120],
        ]
        for row in ordered
    ]
    head = ("request", "source", "seconds", "tokens", "correct", "why")
    return [f"### Requests that took a new answer, or got a wrong one\n\n{_table(head, cells)}"] if cells else []


_SYSTEM_HEAD = ("system", "mean", "median", "p90", "p95", "p99", "tokens/request", "calls", "correct", "both checks",
                "served", "fallback", "wrong serves")  # fmt: skip
_GROUP_HEAD = ("", "requests", "mean", "StepCache", "tokens", "StepCache", "correct", "StepCache", "reuse", "patch",
               "skip", "miss", "wrong serves")  # fmt: skip


def _system_cells(row: Row, none: Row | None) -> list[str]:
    def ratio(name: str) -> str:
        if none is None or row is none or not row[name]:
            return _seconds(row[name])
        return f"{_seconds(row[name])} ({none[name] / row[name]:.3g}x)"

    tokens = f"{row['tokens_per_request']:.1f}"
    if none is not None and row is not none and none["tokens"]:
        tokens += f" ({row['tokens'] / none['tokens'] - 1:+.0%})"
    return [
        row["system"],
        *(ratio(name) for name in ("mean_s", "median_s", "p90_s", "p95_s", "p99_s")),
        tokens,
        str(row["calls"]),
        f"{row['correct']:.1%}",
        f"{row['both_checks']:.1%}",
        f"{row['served_share']:.1%}",
        f"{row['fallback_share']:.1%}",
        str(row["wrong_serves"]),
    ]


def _groups(rows: Sequence[Row], model: str) -> list[str]:
    return list(dict.fromkeys(row["group"] for row in rows if row["model"] == model))


def _group_cells(rows: Sequence[Row], group: str, model: str) -> list[str]:
    found = {row["system"]: row for row in rows if row["group"] == group and row["model"] == model}
    none, ours = found["none"], found["stepcache"]
    return [
        group,
        str(ours["requests"]),
        _seconds(none["mean_s"]),
        _seconds(ours["mean_s"]),
        f"{none['tokens_per_request']:.0f}",
        f"{ours['tokens_per_request']:.0f}",
        f"{none['correct']:.1%}",
        f"{ours['correct']:.1%}",
        *(f"{ours['outcomes'][name] / ours['requests']:.0%}" for name in _OUTCOMES),
        str(ours["wrong_serves"]),
    ]


def _seconds(value: float) -> str:
    return f"{1000 * value:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(' --- ' for _ in head)}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


# -- plots --------------------------------------------------------------------------------------------------------


def plots(result: Row, folder: Path) -> list[Path]:
    """Draw latency distribution, outcome shares and tokens against correctness, for the first model of the result."""
    import matplotlib as mpl

    mpl.use("Agg")
    model = result["summary"][0]["model"]
    rows = [row for row in result["requests"] if row["model"] == model and not row.get("apart")]
    made = [
        _latency(rows, model, folder / "latency.png"),
        _outcomes(rows, model, folder / "outcomes.png"),
        _tokens([row for row in result["summary"] if row["model"] == model], folder / "tokens.png"),
    ]
    return made


def _latency(rows: Sequence[Row], model: str, path: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    for system in dict.fromkeys(row["system"] for row in rows):
        if system.startswith("stepcache,"):
            continue
        seconds = sorted(row["seconds"] for row in rows if row["system"] == system)
        shares = [(place + 1) / len(seconds) for place in range(len(seconds))]
        axes.step(seconds, shares, where="post", label=system, linewidth=2.4 if system == "stepcache" else 1.2)
    axes.set(xscale="log", xlabel="seconds per request", ylabel="share of requests answered by then", ylim=(0, 1.01))
    axes.set_title(f"Latency, {model}", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return path


def _outcomes(rows: Sequence[Row], model: str, path: Path) -> Path:
    from matplotlib import pyplot

    ours = [row for row in rows if row["system"] == "stepcache"]
    groups = list(dict.fromkeys((row["task"], row["perturbation"]) for row in sorted(ours, key=_group_of)))
    colours = {"cache": "#2a9d8f", "rewrite": "#8ab17d", "patch": "#e9c46a", "repair": "#f4a261", "fallback": "#9d4edd",
               "model": "#b0b0b0"}  # fmt: skip
    figure, axes = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    left = [0.0] * len(groups)
    for source, colour in colours.items():
        shares = []
        for group in groups:
            members = [row for row in ours if _group_of(row) == group]
            shares.append(sum(row["source"] == source for row in members) / len(members))
        axes.barh([" / ".join(group) for group in groups], shares, left=left, color=colour, label=source)
        left = [done + share for done, share in zip(left, shares, strict=True)]
    axes.set(xlabel="share of requests answered from", xlim=(0, 1))
    axes.set_title(f"What answered, by perturbation, {model}", fontsize=10)
    axes.invert_yaxis()
    axes.legend(fontsize=8, ncols=6, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return path


def _group_of(row: Row) -> tuple[str, str]:
    return row["task"], row["perturbation"]


def _tokens(rows: Sequence[Row], path: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    for row in rows:
        ours = row["system"] == "stepcache"
        axes.scatter(row["tokens_per_request"], 100 * row["correct"], s=80 if ours else 30, zorder=4 if ours else 3,
                     color="#2a9d8f" if row["system"].startswith("stepcache") else "#b0522a")  # fmt: skip
    most = max(row["tokens_per_request"] for row in rows)
    for group in _near_each_other(rows, most / 10):
        right = group[-1]["tokens_per_request"]
        axes.annotate("\n".join(row["system"] for row in group), (right, 100 * group[0]["correct"]), fontsize=7,
                      xytext=(-8 if right > most / 2 else 8, -4), textcoords="offset points", va="top",
                      ha="right" if right > most / 2 else "left")  # fmt: skip
    axes.set(xlabel="tokens per request", ylabel="right answers, %", ylim=(0, 105))
    axes.set_title(f"Tokens against correctness, {rows[0]['model']}", fontsize=10)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return path


def _near_each_other(rows: Sequence[Row], tokens: float) -> list[list[Row]]:
    """The systems in groups that one label can name: few tokens apart and as often right."""
    groups: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: (row["tokens_per_request"], row["system"])):
        near = next((group for group in groups if row["tokens_per_request"] - group[0]["tokens_per_request"] < tokens
                     and abs(row["correct"] - group[0]["correct"]) < 0.03), None)  # fmt: skip
        if near is None:
            groups.append([row])
        else:
            near.append(row)
    return groups


def write(result: Row, folder: Path) -> None:
    """Write `latest.json`, one line per request so that changes can be read, and all that is made from it."""
    folder.mkdir(parents=True, exist_ok=True)
    head = {name: value for name, value in result.items() if name != "requests"}
    text = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in result["requests"])
    (folder / "latest.json").write_text(f'{text},\n "requests": [\n{lines}\n]\n}}\n', encoding="utf-8")
    (folder / "latest.md").write_text(markdown(result), encoding="utf-8")
    plots(result, folder)
