"""Ask how-to questions of a real model, then the same with one thing changed, and look at what was kept.

    python -m benchmarks.procedure.run --gguf FILE [--threads 2] [--seconds 200] [--out results/NAME.json]
    python -m benchmarks.procedure.run --base-url http://localhost:8000/v1 --model NAME

Each case of `cases.json` is asked of a fresh cache with `procedure()`: first its base, so that the model's own reply is
recorded, then the changed request. Beside it the model is asked the changed request without a cache, which is what
regenerating costs. What is looked at is told apart from the package's own checks: steps by their numbers, what must be
absent or present by the regular expressions of the case. At temperature 0 a prompt gets one reply, so replies are
recorded and a run that was stopped (`--seconds` of asking) goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Mapping
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

from benchmarks.paper.backend import Backend
from stepcache import Completion, Result, StepCache, Usage
from stepcache.demo.serve import Endpoint, serve
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.tasks.procedure import procedure

Case = Mapping[str, Any]
HERE = Path(__file__).parent
FORM = {
    "en": "Give six short numbered steps.",
    "de": "Gib sechs kurze nummerierte Schritte.",
}


_STEP = re.compile(r"^(?=[ \t]*\d{1,2}[.)]\s)", re.MULTILINE)


class OutOfTime(Exception):
    """The time for asking is over; what has been asked is recorded."""


class Asker:
    """The model as a cache calls it, with what each call cost; stops asking when its time is over."""

    def __init__(self, backend: Backend, seconds: float) -> None:
        self.backend, self.until = backend, time.monotonic() + seconds
        self.calls: list[dict[str, Any]] = []

    def __call__(self, prompt: str, purpose: str) -> Completion:
        if time.monotonic() > self.until and not self.backend.knows(prompt):
            raise OutOfTime
        reply = self.backend.ask(prompt)
        self.calls.append({
            "purpose": purpose, "prompt": prompt, "reply": reply.text, "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens, "seconds": round(reply.seconds, 2),
        })
        return Completion(reply.text, Usage(reply.prompt_tokens, reply.completion_tokens), reply.finish_reason)


def ask(case: Case, model: Asker) -> dict[str, Any]:
    """One case: the base, the changed request with the cache, and without."""
    base, prompt = (f"{case[which]} {FORM[case['language']]}" for which in ("base", "prompt"))
    with StepCache(MemoryStore(), None, tasks=(procedure(), plain_text())) as cache:
        recorded = cache.complete(base, model)
        model.calls.clear()
        result = cache.complete(prompt, model)
    spent = list(model.calls)
    model.calls.clear()
    model(prompt, "answer")
    return judge(case, recorded, result, spent, model.calls[0])


def judge(
    case: Case, base: Result, result: Result, spent: list[dict[str, Any]], fresh: dict[str, Any]
) -> dict[str, Any]:
    """What came of one case, by its numbered steps and regular expressions alone."""
    old, new = ([part.rstrip() for part in _STEP.split(text) if part.strip()] for text in (base.output, result.output))
    kept = sum(one == other for one, other in zip(old, new, strict=False))
    told = {
        "id": case["id"], "prompt": case["prompt"], "source": result.source, "reason": result.decision.reason,
        "steps": len(old), "kept": kept, "rewritten": result.regenerated if result.source == "patch" else len(new),
        "same_number_of_steps": len(old) == len(new),
        "kept_byte_equal": kept >= len(old) - result.regenerated,
        "absent": "absent" not in case or re.search(case["absent"], result.output, re.IGNORECASE) is None,
        "present": "present" not in case or re.search(case["present"], result.output, re.IGNORECASE) is not None,
        "fresh_absent": "absent" not in case or re.search(case["absent"], fresh["reply"], re.IGNORECASE) is None,
        "completion_tokens": sum(call["completion_tokens"] for call in spent),
        "fresh_completion_tokens": fresh["completion_tokens"],
        "tokens": sum(call["completion_tokens"] + call["prompt_tokens"] for call in spent),
        "fresh_tokens": fresh["completion_tokens"] + fresh["prompt_tokens"],
        "seconds": sum(call["seconds"] for call in spent), "fresh_seconds": fresh["seconds"],
        "base_reply": base.output, "reply": result.output, "fresh_reply": fresh["reply"], "calls": spent,
    }
    told["patched"] = result.source == "patch" and all(
        told[what] for what in ("same_number_of_steps", "kept_byte_equal", "absent", "present"))
    return told


def table(rows: list[dict[str, Any]]) -> str:
    """The cases as a Markdown table, and the sums."""
    lines = ["| case | answered by | steps kept | absent | written tokens | regenerating | all tokens | regenerating |",
             "|---|---|--:|:-:|--:|--:|--:|--:|"]
    for row in rows:
        kept = row["kept"] if row["patched"] else 0
        absent = ("yes" if row[one] else "no" for one in ("absent", "fresh_absent"))
        tokens = (row[f"{whose}{which}tokens"] for which in ("completion_", "") for whose in ("", "fresh_"))
        lines.append(f"| {row['prompt']} | {row['source']} | {kept} of {row['steps']} | {', afresh: '.join(absent)} | "
                     f"{' | '.join(map(str, tokens))} |")
    patched = [row for row in rows if row["patched"]]
    written = sum(row["completion_tokens"] < row["fresh_completion_tokens"] for row in patched)
    total = sum(row["tokens"] < row["fresh_tokens"] for row in patched)
    lines.append(f"\n{len(patched)} of {len(rows)} patched; of these {written} with fewer written tokens than "
                 f"regenerating, {total} with fewer tokens in all.")
    return "\n".join(lines)


def main() -> int:
    """Run, report; 1 when a patch keeps less than it says or lets through what must be absent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--base-url")
    parser.add_argument("--model")
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long to ask in this run")
    parser.add_argument("--recording", type=Path, default=Path(".cache/bench/procedure"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.gguf is None and not options.base_url:
        parser.error("name a model: --gguf FILE, or --base-url URL --model NAME")
    cases = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
    serving = (nullcontext(Endpoint(base_url=options.base_url, model=options.model)) if options.gguf is None
               else serve(options.gguf, threads=options.threads))
    rows, missing = [], 0
    with serving as endpoint:
        recording = options.recording / f"{endpoint.model}.jsonl"
        with closing(Backend(endpoint.base_url, endpoint.model, recording, endpoint.api_key)) as backend:
            model = Asker(backend, options.seconds)
            for case in cases:
                try:
                    rows.append(ask(case, model))
                except OutOfTime:
                    missing += 1
    print(table(rows))
    if missing:
        print(f"{missing} cases not asked yet: run it again")
    if options.out and not missing:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        told = {"model": endpoint.model, "form": FORM, "cases": rows}
        options.out.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        report = f"# How-to lists on {endpoint.model}\n\n{table(rows)}\n"
        options.out.with_suffix(".md").write_text(report, encoding="utf-8")
    bad = [row["id"] for row in rows if row["source"] == "patch" and not row["patched"]]
    if bad:
        print(f"MISSED: {', '.join(bad)}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
