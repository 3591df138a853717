"""Bytes an entry takes on disk and in memory, and how fast the Chroma store is at a given number of entries.

    python -m benchmarks.store.sizes [--entries 10000] [--reply-chars 1000]
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry

_SYLLABLES = ("ka", "lo", "mi", "re", "tun", "sel", "or", "an", "dis", "fe", "gri", "ho", "pa", "qui", "ste", "ver")


def median_ms(call: Callable[[int], object], times: int = 50) -> float:
    taken = []
    for number in range(times):
        began = time.perf_counter()
        call(number)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--entries", type=int, default=10_000)
    arguments.add_argument("--reply-chars", type=int, default=1000)
    options = arguments.parse_args()
    rng = random.Random(0)

    def text(chars: int) -> str:
        words: list[str] = []
        while sum(map(len, words)) + len(words) < chars:
            words.append("".join(rng.choices(_SYLLABLES, k=rng.randint(1, 3))))
        return " ".join(words)[:chars]

    def vector() -> list[float]:
        return [rng.gauss(0, 1) for _ in range(384)]

    with tempfile.TemporaryDirectory() as place:
        store = ChromaStore(path=Path(place) / "cache")
        entries = [an_entry(text(100), text(options.reply_chars), template=f"t{n}") for n in range(options.entries)]
        vectors = [vector() for _ in entries]
        store.load()
        began = time.perf_counter()
        put = []
        for start in range(0, len(entries), 2000):
            for entry, direction in zip(entries[start:start + 2000], vectors[start:start + 2000], strict=True):
                at = time.perf_counter()
                store.put(entry, direction)
                put.append((time.perf_counter() - at) * 1000)
            store.flush()
        seconds = time.perf_counter() - began
        partition = entries[0].partition
        print(f"{len(entries)} entries of {options.reply_chars} characters, written at {len(entries) / seconds:.0f}/s")
        print(f"on disk {store.size() / len(entries):.0f} bytes an entry; put takes {statistics.median(put):.2f} ms")
        store.close()
        store = ChromaStore(path=Path(place) / "cache")
        began = time.perf_counter()
        store.get("default", entries[0].key)
        print(f"first hit after opening {(time.perf_counter() - began) * 1000:.0f} ms")
        cold = rng.sample(entries, 50)
        print(f"exact hit from disk {median_ms(lambda n: store.get('default', cold[n].key)):.2f} ms, "
              f"from memory {median_ms(lambda n: store.peek('default', cold[n].key)):.3f} ms, "
              f"by template {median_ms(lambda n: store.by_template('default', cold[n].template, 3)):.3f} ms")
        wanted = [vector() for _ in range(50)]
        store.search("default", partition, "space-1", wanted[0], 5)
        found = median_ms(lambda n: store.search("default", partition, "space-1", wanted[n], 5))
        print(f"search of five nearest {found:.2f} ms")
        store.compact()
        print(f"after compact {store.size() / len(entries):.0f} bytes an entry")
        store.close()


if __name__ == "__main__":
    main()
