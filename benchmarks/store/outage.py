"""A server killed in the middle of a run: what each call costs by the clock until it is back, and after.

    python -m benchmarks.store.outage [--requests 400]
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.store.results import record
from stepcache import StepCache
from stepcache.stores.chroma import ChromaStore
from stepcache.testing import HashEmbedder

_RUN = "import sys, chromadb_rust_bindings as chroma; chroma.cli(sys.argv)"
_BAR = 0.005  # seconds a call may cost while the server is away, but for the first


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--requests", type=int, default=400)
    requests: int = arguments.parse_args().requests
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        server = _start(Path(folder), port)
        cache = StepCache(ChromaStore(url=f"http://127.0.0.1:{port}"), embedder=HashEmbedder())
        _timed(cache, "before", 50)
        cache.flush()
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        away = _timed(cache, "away", requests)
        server = _start(Path(folder), port)
        back = time.perf_counter()
        while not _served(cache, "before 0"):
            time.sleep(0.05)
            if time.perf_counter() - back > 120:
                raise SystemExit("the cache did not come back within two minutes of its server")
        resumed = time.perf_counter() - back
        os.killpg(server.pid, signal.SIGKILL)
    record("outage", {
        "calls_while_away": requests,
        "slowest_ms": round(1000 * max(away), 3),
        "slower_than_5_ms": sum(seconds > _BAR for seconds in away),
        "median_ms": round(1000 * statistics.median(away), 3),
        "p99_ms": round(1000 * sorted(away)[int(0.99 * len(away))], 3),
        "served_again_after_s": round(resumed, 2),
    })


def _timed(cache: StepCache, name: str, count: int) -> list[float]:
    """Seconds of each of `count` new requests, with a model that takes none."""
    seconds = []
    for number in range(count):
        began = time.perf_counter()
        cache.complete(f"{name} {number}", lambda prompt, purpose: "yes")
        seconds.append(time.perf_counter() - began)
    return seconds


def _served(cache: StepCache, prompt: str) -> bool:
    """Whether a fresh process's view holds the entry: memory is asked past."""
    return any(entry.request.prompt == prompt for entry, _ in _scan(cache))


def _scan(cache: StepCache) -> Any:
    try:
        return list(cache.store.scan())
    except Exception:  # still away
        return []


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _RUN, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.05)
    raise SystemExit("chroma's server did not start within a minute")


if __name__ == "__main__":
    main()
