"""Seconds that an import takes in a new process, and an adapter's beyond those of its framework."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

__all__ = ["import_seconds"]

_ADAPTERS = {"langchain_stepcache": ("langchain_core", "langsmith", "pydantic"), "llamaindex_stepcache": (
    "llama_index", "pydantic")}
_LOADED = """
import sys, json, importlib
importlib.import_module({adapter!r})
print(json.dumps([name for name in sys.modules if name.split('.')[0] in {framework!r}]))
"""
_TIMED = """
import time, importlib, json, sys
for name in json.loads(sys.argv[2]):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
began, worked = time.perf_counter(), time.process_time()
importlib.import_module(sys.argv[1])
print(json.dumps([time.perf_counter() - began, time.process_time() - worked]))
"""


def import_seconds(rounds: int) -> dict[str, tuple[float, float]]:
    """Medians of wall and processor time over so many new processes; the adapters' include stepcache's own."""
    seconds = {"stepcache": _timed("stepcache", [], rounds)}
    for adapter, framework in _ADAPTERS.items():
        loaded = json.loads(_run(_LOADED.format(adapter=adapter, framework=framework)))
        seconds[f"{adapter} beyond its framework"] = _timed(adapter, loaded, rounds)
    return seconds


def _timed(module: str, first: list[str], rounds: int) -> tuple[float, float]:
    taken = [json.loads(_run(_TIMED, module, json.dumps(first))) for _ in range(rounds)]
    return statistics.median(wall for wall, _ in taken), statistics.median(worked for _, worked in taken)


def _run(code: str, *arguments: str) -> str:
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # as installed packages are
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, env=compiled)
    return done.stdout.strip().splitlines()[-1]
