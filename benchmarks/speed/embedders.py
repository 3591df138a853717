"""Embedders side by side: how long a text takes, and how often the right recorded request is among the nearest.

    python -m benchmarks.speed.embedders --data DIR --onnx FOLDER --static FOLDER

DIR holds JSON lines with `group`, `role` ("base" or "variant"), `prompt` and `meta.expect`; for each variant whose
base may be reused or patched, that base is looked for among all bases of its file. The folders are those that
`python -m stepcache.embedders.onnx` and `python -m stepcache.embedders.static` write.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.speed.report import machine
from benchmarks.speed.timing import measure
from stepcache.embedders.onnx import OnnxEmbedder
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
from stepcache.embedders.static import StaticEmbedder

_RESULTS = Path(__file__).parent / "results"
_FILES = ("gptcache_mock_pairs_dev", "gsm_symbolic_dev", "gsm_plus_dev", "svamp_dev", "sql_spider_syn_dev",
          "code_perturb_dev", "nlu_slots_dev")
_SHORT = "What must I pay attention to when I prune an old apple tree in winter, number {}?"


def _recall(embedder: Any, rows: list[dict[str, Any]]) -> dict[str, float]:
    """The share of variants whose own base is the nearest, and is among the nearest five."""
    import numpy

    bases = [row for row in rows if row["role"] == "base"]
    variants = [row for row in rows if row["role"] == "variant" and row["meta"].get("expect") in {"reuse", "patch"}]
    table = numpy.array(embedder.embed_many([row["prompt"] for row in bases]), dtype=numpy.float32)
    asked = numpy.array(embedder.embed_many([row["prompt"] for row in variants]), dtype=numpy.float32)
    order = numpy.argsort(-(asked @ table.T), axis=1)[:, :5]
    groups = [[bases[place]["group"] for place in nearest] for nearest in order.tolist()]
    first = sum(row["group"] == near[0] for row, near in zip(variants, groups, strict=True))
    five = sum(row["group"] in near for row, near in zip(variants, groups, strict=True))
    return {"first": first / len(variants), "five": five / len(variants), "variants": len(variants),
            "bases": len(bases)}


def _measured(embedder: Any, data: Path) -> dict[str, Any]:
    began = time.perf_counter()
    embedder.load()
    loaded = time.perf_counter() - began
    one = measure(lambda number: embedder.embed(_SHORT.format(number)), seconds=3)
    texts = [_SHORT.format(number) for number in range(256)]
    many = measure(lambda number: embedder.embed_many(texts[:64]), seconds=3, least=3)
    found = {}
    for name in _FILES:
        lines = (data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        found[name] = _recall(embedder, [json.loads(line) for line in lines])
    return {"load_seconds": round(loaded, 2), "one_ms": round(one.wall, 3), "one_cpu_ms": round(one.cpu, 3),
            "in_64_ms": round(many.wall / 64, 3), "dimensions": len(embedder.embed("x")), "recall": found}


def _page(result: dict[str, Any]) -> str:
    rows = result["embedders"]
    lines = [
        "# Embedders", "",
        f"{result['date']}, Python {result['python']}, {result['cpus']} CPUs ({result['processor']}), load before the "
        f"run {result['load_before']}. Milliseconds of a prompt of 20 words, alone (wall; processor time of all "
        "threads) and in lists of 64; load without the import of shared libraries that an earlier row has paid.", "",
        "| | dimensions | load | alone | in lists |", "|---|--:|--:|--:|--:|",
        *(f"| {name} | {row['dimensions']} | {row['load_seconds']} s | {row['one_ms']} ms ({row['one_cpu_ms']}) | "
          f"{row['in_64_ms']} ms |" for name, row in rows.items()), "",
        "How often the recorded request that a variant was made from is the nearest, and among the nearest five:", "",
        "| data | variants | bases | " + " | ".join(rows) + " |", "|---|--:|--:|" + "--:|" * len(rows),
    ]
    for name in _FILES:
        known = next(iter(rows.values()))["recall"][name]
        cells = " | ".join(f"{row['recall'][name]['first']:.1%}, {row['recall'][name]['five']:.1%}"
                           for row in rows.values())
        lines.append(f"| {name} | {known['variants']} | {known['bases']} | {cells} |")
    mean = " | ".join(
        f"{sum(row['recall'][name]['first'] for name in _FILES) / len(_FILES):.1%}, "
        f"{sum(row['recall'][name]['five'] for name in _FILES) / len(_FILES):.1%}" for row in rows.values())
    return "\n".join([*lines, f"| mean | | | {mean} |", ""])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--onnx", type=Path)
    arguments.add_argument("--static", type=Path)
    options = arguments.parse_args()
    embedders: dict[str, Any] = {"sentence-transformers": SentenceTransformerEmbedder()}
    if options.onnx is not None:
        embedders["ONNX"] = OnnxEmbedder(options.onnx)
    if options.static is not None:
        embedders["static"] = StaticEmbedder(options.static)
    result: dict[str, Any] = {**machine(), "embedders": {}}
    for name, embedder in embedders.items():
        result["embedders"][name] = _measured(embedder, options.data)
        print(time.strftime("%H:%M:%S"), name, flush=True)
    _RESULTS.mkdir(exist_ok=True)
    (_RESULTS / "embedders.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (_RESULTS / "embedders.md").write_text(_page(result), encoding="utf-8")
    print(_page(result))


if __name__ == "__main__":
    main()
