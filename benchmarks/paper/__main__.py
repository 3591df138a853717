"""The benchmark's commands: `python -m benchmarks.paper run | quick | report`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.paper import readme, report
from benchmarks.paper.backend import Backend
from benchmarks.paper.prompts import load
from benchmarks.paper.runner import Plan, run
from benchmarks.paper.systems import SYSTEMS, installed
from stepcache.demo.models import MODELS, fetch
from stepcache.demo.serve import Endpoint, serve
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
from stepcache.protocols import Embedder

_ROOT = Path(__file__).resolve().parents[2]
_STATE = _ROOT / ".cache" / "bench"
_RESULTS = Path(__file__).with_name("results")
_QUICK_TOKENS = 192  # the smallest model rambles to any limit
_QUICK_SYSTEMS = ("none", "InMemoryCache", "cosine 0.90", "stepcache")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 1 when StepCache served what a check refutes, 130 when stopped."""
    options = _parser().parse_args(arguments)
    try:
        if options.command == "report":
            return _report(options)
        return _run(options)
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    full = commands.add_parser("run", help="all systems, three seeds, 222 requests each")
    quick = commands.add_parser("quick", help="one seed, a dozen requests, a small model, under three minutes")
    for command in (full, quick):
        command.add_argument("--model", help=f"one of {', '.join(MODELS)}, or with --base-url the server's name for it")
        command.add_argument("--gguf", type=Path, help="a model file of your own")
        command.add_argument("--base-url", help="an OpenAI-compatible server")
        command.add_argument("--threads", type=int, help="for llama.cpp (default: the idle cores)")
        command.add_argument("--fresh", action="store_true", help="forget recorded replies and finished seeds")
    full.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    full.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    full.add_argument("--limit", type=int, help="so many requests a seed, of every perturbation, for a slow model")
    full.add_argument("--ask-every-seed", action="store_true", help="ask the model again in each seed")
    full.add_argument("--record-only", action="store_true", help="ask every prompt once without a cache, no more")
    full.add_argument("--note", action="append", default=[], help="a remark that the report repeats")
    full.add_argument("--results", type=Path, default=_RESULTS, help="where latest.json, latest.md and plots go")
    again = commands.add_parser("report", help="make tables and plots again from latest.json")
    again.add_argument("--results", type=Path, default=_RESULTS)
    return parser


def _run(options: argparse.Namespace) -> int:
    quick = options.command == "quick"
    prompts = load()
    with _endpoint(options, "smollm2" if quick else "qwen-0.5b") as endpoint:
        folder = _STATE / ("quick" if quick else "") / endpoint.model
        folder.mkdir(parents=True, exist_ok=True)
        recording = folder / "replies.jsonl"
        if options.fresh or quick:  # quick is a test of the whole way, with the model really asked
            recording.unlink(missing_ok=True)
            for seed in folder.glob("seed-*.jsonl"):
                seed.unlink()
        limit = {"max_tokens": _QUICK_TOKENS} if quick else {}
        with closing(Backend(endpoint.base_url, endpoint.model, recording, endpoint.api_key, **limit)) as backend:
            if not quick and options.record_only:
                for number, prompt in enumerate(prompts.everything(), 1):
                    reply = backend.ask(prompt.prompt)
                    print(f"{number}/{len(prompts.everything())} {prompt.id} {reply.seconds:.1f} s", flush=True)
                return 0
            plan = Plan(
                systems=_QUICK_SYSTEMS if quick else installed(options.systems),
                seeds=(42,) if quick else options.seeds,
                folder=folder,
                limit=12 if quick else options.limit,
                apart=not quick and options.limit is None,
                ask_every_seed=not quick and options.ask_every_seed,
            )
            rows, _ = run(plan, prompts, backend, _embedder(endpoint.threads))
    settings = {
        "temperature": 0,
        "threads": endpoint.threads,
        "asked_every_seed": plan.ask_every_seed,
        "notes": [] if quick else options.note,
    }
    described = {"name": endpoint.model, "settings": settings}
    if quick:
        result = report.document(rows, described, settings)
        (folder / "quick.json").write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")
    else:
        result = _merged(options.results, rows, described, settings)
        report.write(result, options.results)
    _show(result, endpoint.model)
    # All wrong serves are counted and shown. A value that a very weak model got wrong, in a patch or in the reply that
    # was recorded, is beyond any check; a reply that fails the task's own check must never be served, by any model.
    ours = [row for row in result["requests"] if row["system"] == "stepcache" and row["wrong_serve"]]
    return int(any(row["integrity"] is False or row["task"] == "math" for row in ours))


def _embedder(threads: int | None) -> Embedder:
    """The embedder all systems share, with no more threads than the model's server, and for the same reason."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
    return SentenceTransformerEmbedder()


@contextmanager
def _endpoint(options: argparse.Namespace, default: str) -> Iterator[Endpoint]:
    if options.base_url:
        if not options.model:
            raise SystemExit("--base-url needs --model, the server's name for the model")
        key = os.environ.get("OPENAI_API_KEY") or "none"
        yield Endpoint(base_url=options.base_url, model=options.model, api_key=key)
        return
    path = options.gguf or fetch(options.model or default, progress=_progress)
    with serve(path, threads=options.threads) as endpoint:
        yield endpoint


def _progress(what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{what}: {done / total:.0%} ", end="\n" if done >= total else "", file=sys.stderr, flush=True)


def _merged(
    folder: Path, rows: list[dict[str, Any]], model: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """The new result, with the other models of the last one kept beside it.

    The default model comes first, and date, seeds and settings of the whole are its own.
    """
    result = report.document(rows, model, settings)
    model |= {name: result[name] for name in ("date", "seeds", "replayed_share")}
    try:
        last = json.loads((folder / "latest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return result | {"models": [model]}
    others = [one for one in last.get("models", []) if one["name"] != model["name"]]
    models = sorted([model, *others], key=lambda one: "0.5b" not in one["name"])
    whole = dict(result if models[0] is model else last)
    for name in ("summary", "per_perturbation", "per_task", "apart", "warm_up", "requests"):
        kept = [row for row in last[name] if row["model"] != model["name"]]
        whole[name] = sorted(result[name] + kept, key=lambda row: "0.5b" not in row["model"])
    return whole | {"models": models, "model": models[0]}


def _report(options: argparse.Namespace) -> int:
    result = json.loads((options.results / "latest.json").read_text(encoding="utf-8"))
    (options.results / "latest.md").write_text(report.markdown(result), encoding="utf-8")
    if options.results == _RESULTS:
        readme.write(result, _ROOT / "benchmarks" / "replay" / "results" / "latest.json", _ROOT / "README.md")
    for path in report.plots(result, options.results):
        print(path)
    return 0


def _show(result: dict[str, Any], model: str) -> None:
    print(
        f"\n{'system':30} {'mean s':>8} {'median s':>9} {'tokens':>8} {'right':>7} {'served':>7} {'wrong serves':>13}"
    )
    for row in result["summary"]:
        if row["model"] == model:
            print(
                f"{row['system']:30} {row['mean_s']:8.3f} {row['median_s']:9.4f} {row['tokens']:8} "
                f"{row['correct']:7.1%} {row['served_share']:7.1%} {row['wrong_serves']:13}"
            )


if __name__ == "__main__":
    sys.exit(main())
