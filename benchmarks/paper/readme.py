"""The measured part of the project's README, written from the committed results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["write"]

_BEGIN, _END = "<!-- results:begin -->", "<!-- results:end -->"
_SYSTEMS = {
    "none": "no cache",
    "InMemoryCache": "LangChain InMemoryCache",
    "cosine 0.80": "cosine cache, 0.80",
    "cosine 0.90": "cosine cache, 0.90",
    "cosine 0.95": "cosine cache, 0.95",
    "GPTCache": "GPTCache, 0.8",
    "stepcache, the paper's rules": "StepCache by the paper's rules",
    "stepcache": "**StepCache**",
}


def write(result: dict[str, Any], replay: Path, readme: Path) -> None:
    """Put the first model's table, and what the replay of public workloads showed, between the README's markers."""
    text = readme.read_text(encoding="utf-8")
    head, _, rest = text.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    body = "\n\n".join([_intro(result), _table(result), _plot(), _caveats(result), _replay(replay), _links()])
    readme.write_text(f"{head}{_BEGIN}\n## Measured\n\n{body}\n{_END}{tail}", encoding="utf-8")


def _first(result: dict[str, Any]) -> list[dict[str, Any]]:
    model = result["summary"][0]["model"]
    return [row for row in result["summary"] if row["model"] == model]


def _intro(result: dict[str, Any]) -> str:
    rows, at = _first(result), result["machine"]
    return (
        f"The paper's micro-benchmark in its shape ({rows[0]['requests']} requests over seeds "
        f"{', '.join(map(str, result['seeds']))}), {rows[0]['model']}, {at['cores']} CPU cores ({at['cpu']}), "
        f"{result['date'][:10]}; all systems in one run, temperature 0."
    )


def _table(result: dict[str, Any]) -> str:
    rows = {row["system"]: row for row in _first(result)}
    none = rows["none"]
    lines = [
        "| system | mean | median | p90 | tokens | correct | without a model call | wrong serves |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, shown in _SYSTEMS.items():
        if (row := rows.get(name)) is not None:
            fewer = row["tokens"] / none["tokens"] - 1
            times = "" if row is none else f" ({none['mean_s'] / row['mean_s']:.1f}x)"
            lines.append(
                f"| {shown} | {_seconds(row['mean_s'])}{times} | {_seconds(row['median_s'])} | "
                f"{_seconds(row['p90_s'])} | {fewer:+.0%} | {row['correct']:.1%} | {row['served_share']:.1%} | "
                f"{row['wrong_serves']} |"
            )
    return "\n".join(lines)


def _plot() -> str:
    return "![Tokens against correctness](benchmarks/paper/results/tokens.png)"


def _caveats(result: dict[str, Any]) -> str:
    notes = " ".join(result["settings"].get("notes", ()))
    said = (
        f"In {result['replayed_share']:.0%} of the answers a model call was replayed with the seconds it had taken: a "
        "prompt is asked once. The prompts are ours and were revised while looking at results, for all systems alike: "
        "they are no blind sample."
    )
    return f"{notes} {said}".strip()


def _replay(path: Path) -> str:
    every = json.loads(path.read_text(encoding="utf-8"))["files"].values()
    files = [one for one in every if "cosine" in one]  # the same prompts in other forms of reply count once
    requests, wrong = (sum(one["all"][name] for one in files) for name in ("requests", "wrong"))
    served, false = (sum(one["cosine"]["0.8"][name] for one in files) for name in ("served", "wrong"))
    return (
        f"On {requests:,} requests of public workloads that differ in a detail, StepCache served {wrong} "
        f"repl{'y' if wrong == 1 else 'ies'} that the data call wrong; a cosine cache at 0.80 over the same embedder "
        f"served {served:,}, of which {false:,} were wrong: "
        "[benchmarks/replay/results/latest.md](benchmarks/replay/results/latest.md)."
    )


def _links() -> str:
    return (
        "What it is and where it misses: [benchmarks/README.md](benchmarks/README.md), "
        "[benchmarks/paper/results/latest.md](benchmarks/paper/results/latest.md)."
    )


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.0f} ms"
