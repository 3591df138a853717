"""A million operations on bounded stores: memory and size level off.

    python -m benchmarks.store.soak [--operations 1000000]
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time

from benchmarks.store.results import record
from stepcache.stores.memory import MemoryStore
from stepcache.testing._store_contract import an_entry


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--operations", type=int, default=1_000_000)
    operations: int = arguments.parse_args().operations
    rng = random.Random(0)
    store = MemoryStore(max_entries=2000)
    entries = [an_entry(f"p{n}", "x" * 300, namespace=f"n{n % 10}", template=f"t{n % 50}") for n in range(6000)]
    vectors = [tuple(rng.gauss(0, 1) for _ in range(16)) for _ in entries]
    began, marks = time.perf_counter(), []
    for number in range(operations):
        at = rng.randrange(len(entries))
        entry = entries[at]
        match rng.randrange(8):
            case 0 | 1:
                store.put(entry, vectors[at])
            case 2 | 3 | 4:
                store.get(entry.namespace, entry.key)
            case 5:
                store.by_template(entry.namespace, entry.template, 3)
            case 6:
                store.search(entry.namespace, entry.partition, entry.fingerprint, vectors[at], 3)
            case _:
                store.delete(entry.namespace, [entry.key])
        if (number + 1) % (operations // 10) == 0:
            marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    seconds = time.perf_counter() - began
    print(f"{operations} operations in {seconds:.0f} s, {store.count()} entries; "
          f"peak memory in MB at each tenth: {marks}")
    record("soak", {"operations": operations, "seconds": round(seconds), "entries": store.count(),
                    "peak_mb_at_each_tenth": marks})
    sys.exit(0 if marks[-1] <= marks[1] * 1.1 + 5 else 1)


if __name__ == "__main__":
    main()
