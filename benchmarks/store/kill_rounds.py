"""Kill a writer at random moments, again and again: everything flushed survives, and no record is half.

    python -m benchmarks.store.kill_rounds [--rounds 100]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import stepcache
from benchmarks.store.results import record
from stepcache.stores.chroma import ChromaStore

WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry
store = ChromaStore(path=sys.argv[2])
start = int(sys.argv[3])
for number in range(start, start + 500):
    store.put(an_entry(f"p{number}", f"reply {number} " * 100, template="t"), (1.0, number % 97, 2.0))
    if number % 25 == 24:
        store.flush()
        print(number, flush=True)
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--rounds", type=int, default=100)
    rounds: int = arguments.parse_args().rounds
    rng = random.Random(0)
    core = str(Path(stepcache.__file__).parents[1])
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "cache")
        flushed: list[int] = []
        for number in range(rounds):
            worker = subprocess.Popen(
                [sys.executable, "-c", WRITER, core, folder, str(number * 500)], stdout=subprocess.PIPE, text=True)
            assert worker.stdout is not None
            reader = threading.Thread(target=lambda lines: flushed.extend(map(int, lines)), args=(worker.stdout,))
            reader.start()
            before = len(flushed)
            while len(flushed) == before and worker.poll() is None:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 1.0))
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            reader.join()
        store = ChromaStore(path=folder)
        lost = half = 0
        found = set()
        for entry, vector in store.scan():
            written = int(entry.request.prompt[1:])
            found.add(written)
            half += entry.reply != f"reply {written} " * 100 or vector is None
        safe = {at for last in flushed for at in range(last - 24, last + 1)}
        lost = len(safe - found)
        findings = list(store.check())
        store.close()
        print(f"{rounds} kills, {len(safe)} entries flushed, {len(found)} found: {lost} lost, {half} half; "
              f"check: {findings or 'all well'}")
        record("kill_rounds", {"kills": rounds, "entries_flushed": len(safe), "entries_found": len(found),
                               "lost": lost, "half": half, "findings": findings})
        sys.exit(1 if lost or half else 0)


if __name__ == "__main__":
    main()
