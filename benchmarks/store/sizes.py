"""What the Chroma store in a folder costs: writing, disk, memory and search at given numbers of entries.

    python -m benchmarks.store.sizes [--entries 10000 100000] [--reply-chars 1000]

Writing is measured beside bare Chroma, which takes the same records in the same batches within the same minutes, so
that what the machine does besides meets both.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from benchmarks.store.results import record
from stepcache.stores._chroma_client import client_for_folder
from stepcache.stores._records import pack
from stepcache.stores._vectors import unit
from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry

_SYLLABLES = ("ka", "lo", "mi", "re", "tun", "sel", "or", "an", "dis", "fe", "gri", "ho", "pa", "qui", "ste", "ver")
_DIMENSIONS = 384
_FLUSHED_AFTER = 2000


def _text(rng: random.Random, chars: int) -> str:
    words: list[str] = []
    size = 0
    while size < chars:
        words.append("".join(rng.choices(_SYLLABLES, k=rng.randint(1, 3))))
        size += len(words[-1]) + 1
    return " ".join(words)[:chars]


def _median_ms(call: Callable[[int], object], times: int = 50) -> float:
    taken = []
    for number in range(times):
        began = time.perf_counter()
        call(number)
        taken.append((time.perf_counter() - began) * 1000)
    return round(statistics.median(taken), 3)


def _vectors(seed: int, count: int) -> Any:
    made = numpy.random.default_rng(seed).normal(size=(count, _DIMENSIONS)).astype(numpy.float32)
    return made / numpy.linalg.norm(made, axis=1, keepdims=True)


class _Bare:
    """Chroma alone, given the same records in batches of 512."""

    def __init__(self, place: Path) -> None:
        self._client = client_for_folder(str(place))
        self._collection = self._client.create_collection("bare", embedding_function=None)
        self.seconds = self.cpu_seconds = 0.0

    def write(self, entries: list[Any], vectors: Any) -> None:
        packed = [pack(entry, unit(vector), None) for entry, vector in zip(entries, vectors, strict=True)]
        began, spent = time.perf_counter(), time.process_time()
        for at in range(0, len(packed), 512):
            part = packed[at:at + 512]
            self._collection.upsert(ids=[record.id for record in part], embeddings=vectors[at:at + 512],
                                    metadatas=[record.metadata for record in part])
        self.seconds += time.perf_counter() - began
        self.cpu_seconds += time.process_time() - spent

    def close(self) -> None:
        self._client.close()


def measure(count: int, reply_chars: int) -> dict[str, Any]:
    """One row of the table."""
    rng = random.Random(0)
    row: dict[str, Any] = {"entries": count, "reply_chars": reply_chars}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "cache"
        store = ChromaStore(path=folder)
        store.load()
        bare = _Bare(Path(place) / "bare")
        keys: list[str] = []
        templates: list[str] = []
        partition = ""
        seconds = spent = 0.0
        for start in range(0, count, _FLUSHED_AFTER):
            some = range(start, min(start + _FLUSHED_AFTER, count))
            entries = [an_entry(_text(rng, 100), _text(rng, reply_chars), template=f"t{n}") for n in some]
            vectors = [tuple(map(float, vector)) for vector in _vectors(start, len(entries))]
            began, used = time.perf_counter(), time.process_time()
            for entry, vector in zip(entries, vectors, strict=True):
                store.put(entry, vector)
            store.flush()
            seconds += time.perf_counter() - began
            spent += time.process_time() - used
            keys.extend(entry.key for entry in entries)
            templates.extend(entry.template for entry in entries)
            partition = entries[0].partition
            bare.write(entries, _vectors(start, len(entries)))
        bare.close()
        row["bare_chroma_per_second"] = round(count / bare.seconds)
        row["bare_chroma_per_cpu_second"] = round(count / bare.cpu_seconds)
        row["written_per_second"], row["written_per_cpu_second"] = round(count / seconds), round(count / spent)
        row["disk_bytes_an_entry"] = round(store.size() / count)
        store.close()
        del entries, vectors
        row.update(_read(folder, keys, templates, partition))
        row["memory_bytes_an_entry"] = _memory(folder, count)
        store = ChromaStore(path=folder)
        store.compact()
        row["disk_bytes_an_entry_compacted"] = round(store.size() / count)
        store.close()
    return row


def _read(folder: Path, keys: list[str], templates: list[str], partition: str) -> dict[str, float]:
    rng = random.Random(1)
    store = ChromaStore(path=folder)
    began = time.perf_counter()
    store.get("default", keys[0])
    row: dict[str, float] = {"first_hit_ms": round((time.perf_counter() - began) * 1000)}
    began = time.perf_counter()
    store.count()
    row["index_read_ms"] = round((time.perf_counter() - began) * 1000)
    cold = rng.sample(range(len(keys)), 50)
    row["exact_hit_from_disk_ms"] = _median_ms(lambda n: store.get("default", keys[cold[n]]))
    row["exact_hit_from_memory_ms"] = _median_ms(lambda n: store.peek("default", keys[cold[n]]))
    row["by_template_ms"] = _median_ms(lambda n: store.by_template("default", templates[cold[n]], 3))
    wanted = [tuple(map(float, vector)) for vector in _vectors(10**6, 51)]
    store.search("default", partition, "space-1", wanted[50], 5)
    row["search_ms"] = _median_ms(lambda n: store.search("default", partition, "space-1", wanted[n], 5))
    store.close()
    return row


def _memory(folder: Path, count: int) -> int:
    """Bytes of Python's memory an entry takes once the index has been read: all but Chroma's own."""
    gc.collect()
    tracemalloc.start()
    store = ChromaStore(path=folder)
    store.load()
    before = tracemalloc.get_traced_memory()[0]
    store.count()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    store.close()
    return round(taken / count)


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown, one column each."""
    lines = ["| | " + " | ".join(f"{row['entries']:,} entries" for row in rows) + " |",
             "|---|" + "--:|" * len(rows)]
    lines.extend(f"| {name.replace('_', ' ')} | " + " | ".join(str(row[name]) for row in rows) + " |"
                 for name in rows[0] if name != "entries")
    return "\n".join(lines)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--entries", type=int, nargs="+", default=[10_000, 100_000])
    arguments.add_argument("--reply-chars", type=int, default=1000)
    options = arguments.parse_args()
    rows = []
    for count in options.entries:
        rows.append(measure(count, options.reply_chars))
        record(f"sizes_{count}", rows[-1])
    print(table(rows))


if __name__ == "__main__":
    main()
