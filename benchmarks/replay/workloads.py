"""The public workloads as requests, and what makes a reply right for a row."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema

__all__ = ["FILES", "is_right", "read_rows"]

FILES = (
    "gsm_plus", "gsm_symbolic", "svamp", "linear_1d", "linear_1d_composed", "linear_2d", "jsonschema",
    "jsonschema_pairs", "nlu_slots", "nestful", "bfcl", "sql_advising", "sql_spider_syn", "code_perturb",
    "code_siblings", "followbench", "arena_hard", "gptcache_mock_pairs",
)
Row = Mapping[str, Any]


def read_rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one workload; raises FileNotFoundError when it is not in the folder."""
    for suffix, opener in ((".jsonl", open), (".jsonl.gz", gzip.open)):
        for path in sorted(folder.glob(f"{name}*{suffix}")):
            if path.name.startswith((f"{name}_dev", f"{name}_held", f"{name}{suffix}")):
                with opener(path, "rt", encoding="utf-8") as file:
                    yield from (json.loads(line) for line in file if line.strip())
                return
    raise FileNotFoundError(f"no file {name}_dev.jsonl in {folder}")


def is_right(row: Row, reply: str, source: Row | None) -> bool:
    """Whether `reply`, recorded for the row `source` (None: made anew), is right for `row`."""
    if source is not None and source["prompt"] == row["prompt"] and _context(source) == _context(row):
        return True
    meta, answer = row["meta"], row["answer"]
    task = meta["task"]
    if task == "linear_equation" or task.startswith("linear_"):
        return _final_number(reply) == Fraction(str(answer))
    if task == "json_schema":
        value = _json(reply)
        checker = jsonschema.validators.validator_for(meta["schema"])(meta["schema"])
        return bool(value is not None and checker.is_valid(value))
    if task == "json_required_keys":
        return bool(_json(reply) == answer)
    if task == "code_completion" and reply.strip() == str(answer).strip():
        return True  # also what was rewritten for a renamed function
    if (source is not None and source["group"] == row["group"] and source["role"] == "base"
            and meta.get("expect") == "reuse"):
        return True
    if answer is None or source is None:
        return False
    return bool(source["answer"] == answer) and (task != "tool_call" or _context(source) == _context(row))


def _context(row: Row) -> str:
    return json.dumps(row["meta"].get("functions") or row["meta"].get("tools") or None, sort_keys=True)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _final_number(reply: str) -> Fraction | None:
    text = re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", reply).replace("\u2212", "-")
    found = re.findall(r"-?\d+(?:/\d+)?", text.strip().splitlines()[-1])
    return Fraction(found[-1]) if found else None
