"""Replay the public workloads: record each base row, send the variants, count what is served and what is wrong.

    python -m benchmarks.replay.run --data FOLDER [--files linear_1d,nlu_slots] [--embedder minilm|hash|none]

Writes results/latest.json and results/latest.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.replay.oracle import FORMS, reply_of
from benchmarks.replay.workloads import FILES, Row, is_right, read_rows
from stepcache import Completion, Policy, Request, StepCache, Usage
from stepcache._effects import Generate
from stepcache.protocols import Embedder
from stepcache.stores.memory import MemoryStore

HERE = Path(__file__).parent
THRESHOLDS = (0.8, 0.9, 0.95)


@dataclass
class Tally:
    """Counts of one file, or of one perturbation in it."""

    requests: int = 0
    variants: int = 0
    expect_reuse: int = 0
    cache: int = 0
    rewrite: int = 0
    patch: int = 0
    fallback: int = 0
    skip: int = 0
    model: int = 0
    wrong: int = 0
    reuse_free: int = 0
    reuse_cheap: int = 0
    patch_rows: int = 0
    patch_rows_cheap: int = 0
    written: int = 0
    whole: int = 0
    needless_skips: int = 0
    wrong_ids: list[str] = field(default_factory=list)


def oracle(row: Row, form: str) -> Callable[[Generate], Completion]:
    """A perfect model for one row: whole replies, or on a patch only what is asked for."""

    def generate(effect: Generate) -> Completion:
        whole = reply_of(row, form)
        text = whole
        if effect.purpose == "patch" and effect.plan is not None:
            if effect.plan.asked and isinstance(row["answer"], dict):
                text = json.dumps({key: row["answer"][key] for key in effect.plan.asked if key in row["answer"]})
            elif effect.plan.schema is None:
                lines = whole.splitlines(keepends=True)
                text = "".join(lines[effect.plan.region[0]:])
        return Completion(text, Usage(len(effect.prompt.split()), len(text.split())), "stop")

    return generate


def request_of(row: Row) -> Request:
    """The row as an app would send it: tools are context, the rest is prompt."""
    tools = row["meta"].get("functions") or row["meta"].get("tools")
    return Request(row["prompt"], context="" if tools is None else json.dumps(tools, sort_keys=True))


def replay_file(rows: list[Row], embedder: Embedder | None, form: str) -> dict[str, Tally]:
    """Bases first, as a warm-up whose own serves count too; then the variants in the file's order."""
    cache = StepCache(MemoryStore(), embedder, policy=Policy(cache_timeout=60.0))
    by_key: dict[str, Row] = {}
    tallies: dict[str, Tally] = defaultdict(Tally)
    for row in sorted(rows, key=lambda row: row["role"] != "base"):
        result = cache.run(request_of(row), oracle(row, form))
        by_key.setdefault(result.key, row)
        expect = row["meta"].get("expect")
        source = by_key.get(result.matched) if result.matched is not None and result.source == "cache" else None
        made_by_model = result.source in {"model", "repair"}
        right = made_by_model or is_right(row, result.output, source)
        for name in ("all", row["perturbation"]):
            tally = tallies[name]
            tally.requests += 1
            tally.variants += row["role"] != "base"
            tally.expect_reuse += expect == "reuse"
            setattr(tally, result.source, getattr(tally, result.source, 0) + 1)
            tally.skip += result.outcome == "skip"
            free = result.source in {"cache", "rewrite"}
            small = result.source == "patch" and _kept_half(result, by_key)
            tally.reuse_free += expect == "reuse" and free
            tally.reuse_cheap += expect == "reuse" and (free or small)
            tally.patch_rows += expect == "patch"
            tally.patch_rows_cheap += expect == "patch" and (free or small)
            tally.needless_skips += expect == "reuse" and made_by_model
            if result.source == "patch" and result.usage is not None:
                tally.written += result.usage.completion_tokens or 0
                tally.whole += len(result.output.split())
            if not right:
                tally.wrong += 1
                tally.wrong_ids.append(row["id"])
    return dict(tallies)


def _kept_half(result: Any, by_key: dict[str, Row]) -> bool:
    """A small patch: at least half of the reply's characters stand unchanged in the recorded one."""
    match = result.decision.match
    if match is None:
        return False
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, match.entry.reply, result.output, autojunk=False).get_matching_blocks()
    return 2 * sum(block.size for block in blocks) >= len(result.output)


def cosine_file(rows: list[Row], vectors: dict[str, Any], threshold: float) -> dict[str, int]:
    """What a cache that decides by similarity would do with the same rows in the same order."""
    seen: list[Row] = []
    matrix = np.zeros((len(rows), len(next(iter(vectors.values())))), dtype=np.float32)
    served = wrong = 0
    for row in sorted(rows, key=lambda row: row["role"] != "base"):
        vector = vectors[row["prompt"]]
        if seen:
            similarity = matrix[:len(seen)] @ vector
            nearest = int(np.argmax(similarity))
            if similarity[nearest] >= threshold:
                served += 1
                source = seen[nearest]
                wrong += not is_right(row, reply_of(source, "plain"), source)
                continue
        matrix[len(seen)] = vector
        seen.append(row)
    return {"served": served, "wrong": wrong}


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the *_dev.jsonl files")
    parser.add_argument("--files", default=",".join(FILES))
    parser.add_argument("--embedder", choices=("minilm", "hash", "none"), default="minilm")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args(None if arguments is None else list(arguments))
    embedder = _Cached(_embedder(options.embedder)) if options.embedder != "none" else None
    report: dict[str, Any] = {"embedder": options.embedder, "files": {}}
    for name in options.files.split(","):
        rows: list[Row] = [row for row in read_rows(options.data, name) if row["prompt"]]
        start = time.perf_counter()
        forms = FORMS if name == "linear_1d" else FORMS[:1]
        for form in forms:
            title = name if len(forms) == 1 else f"{name} ({form})"
            tallies = replay_file(rows, embedder, form)
            report["files"][title] = {key: vars(tally) for key, tally in tallies.items()}
            total = tallies["all"]
            sys.stderr.write(f"{title:24} {total.requests:5} requests, free {total.cache + total.rewrite:4} "
                             f"(rewrite {total.rewrite}), patch {total.patch:3}, fallback {total.fallback:3}, "
                             f"wrong {total.wrong:2}, reuse rows free {total.reuse_free}/{total.expect_reuse} "
                             f"cheap {total.reuse_cheap}, "
                             f"patch rows cheap {total.patch_rows_cheap}/{total.patch_rows}, "
                             f"{time.perf_counter() - start:.1f} s {total.wrong_ids[:4] or ''}\n")
        if embedder is not None:
            vectors = {row["prompt"]: np.asarray(embedder.embed(row["prompt"]), dtype=np.float32) for row in rows}
            report["files"][name if len(forms) == 1 else f"{name} (plain)"]["cosine"] = {
                str(threshold): cosine_file(rows, vectors, threshold) for threshold in THRESHOLDS}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "latest.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (options.out / "latest.md").write_text(table(report), encoding="utf-8")
    return 1 if any(file["all"]["wrong"] for file in report["files"].values()) else 0


def table(report: dict[str, Any]) -> str:
    """The report as a Markdown table, one row a file."""
    lines = ["| workload | requests | free (cache + rewrite) | patched | fallback | **wrong serves** | "
             "reusable rows free | cosine 0.80: served / wrong | 0.90 | 0.95 |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for name, file in report["files"].items():
        total = file["all"]
        cosine = [f"{c['served']} / {c['wrong']}" for c in file.get("cosine", {}).values()] or ["", "", ""]
        reusable = f"{total['reuse_free']} of {total['expect_reuse']}" if total["expect_reuse"] else ""
        lines.append(f"| {name} | {total['requests']} | {total['cache'] + total['rewrite']} | {total['patch']} | "
                     f"{total['fallback']} | **{total['wrong']}** | {reusable} | {' | '.join(cosine)} |")
    return "\n".join(lines) + "\n"


class _Cached:
    """The same vector for the same text, so that StepCache and the cosine caches share the cost."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._known = embedder, dict[str, Any]()

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    def embed(self, text: str) -> Any:
        if text not in self._known:
            self._known[text] = self._embedder.embed(text)
        return self._known[text]

    def embed_many(self, texts: Any) -> Any:
        return self._embedder.embed_many(texts)


def _embedder(name: str) -> Embedder:
    if name == "hash":
        from stepcache.testing import HashEmbedder

        return HashEmbedder(256)
    from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder()


if __name__ == "__main__":
    raise SystemExit(main())
