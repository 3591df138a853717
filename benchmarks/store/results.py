"""Where the store's runs write what they found: `results.json` beside this module, one entry a run."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import chromadb

__all__ = ["record"]

_FILE = Path(__file__).with_name("results.json")


def record(name: str, found: dict[str, Any]) -> None:
    """Put a run's figures in place of those of the run before it, with the machine they were seen on."""
    known = json.loads(_FILE.read_text(encoding="utf-8")) if _FILE.exists() else {}
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version(),
               "chromadb": chromadb.__version__}
    known[name] = {**found, "machine": machine}
    _FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
