"""Any sequence of operations over many namespaces: the stores agree with a dictionary at every step."""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stepcache._data import Entry, Step
from stepcache.protocols import Store
from stepcache.stores.chroma import ChromaStore
from stepcache.stores.memory import MemoryStore
from stepcache.testing._store_contract import an_entry

SPACES = ("space-1", "space-2")
names = st.sampled_from([f"tenant {number}" for number in range(48)] + ["", "日本"])
prompts = st.integers(0, 5)
vectors = st.none() | st.tuples(*[st.integers(1, 5)] * 3)


class StoreMachine(RuleBasedStateMachine):
    """A store beside a plain dictionary."""

    def make(self) -> Store:
        return MemoryStore()

    @initialize()
    def begin(self) -> None:
        self.store = self.make()
        self.kept: dict[tuple[str, str], tuple[Entry, Any]] = {}
        self.blocks: set[tuple[str, str, str]] = set()
        self.clock = 0.0

    @rule(name=names, number=prompts, vector=vectors, space=st.sampled_from(SPACES), template=st.sampled_from("tuv"))
    def put(self, name: str, number: int, vector: Any, space: str, template: str) -> None:
        self.clock += 1
        entry = an_entry(f"p{number}", namespace=name, template=template, fingerprint=space, created_at=self.clock)
        entry = replace(entry, steps=(Step(f"reply {self.clock} " * (1 + number * 40)),), payload={"at": self.clock})
        self.store.put(entry, vector)
        self.kept[name, entry.key] = entry, vector

    @rule(name=names, number=prompts)
    def delete(self, name: str, number: int) -> None:
        key = an_entry(f"p{number}", namespace=name).key
        assert self.store.delete(name, [key]) == (self.kept.pop((name, key), None) is not None)

    @rule(name=names, number=prompts)
    def get(self, name: str, number: int) -> None:
        key = an_entry(f"p{number}", namespace=name).key
        kept = self.kept.get((name, key))
        assert self.store.get(name, key) == (None if kept is None else kept[0])

    @rule(name=names, template=st.sampled_from("tuv"), limit=st.integers(0, 3))
    def by_template(self, name: str, template: str, limit: int) -> None:
        mine = [e for (n, _), (e, _) in self.kept.items() if n == name and e.template == template]
        mine.sort(key=lambda entry: -entry.created_at)
        assert list(self.store.by_template(name, template, limit)) == mine[:limit]

    @rule(name=names, space=st.sampled_from(SPACES), wanted=st.tuples(*[st.integers(1, 5)] * 3))
    def search(self, name: str, space: str, wanted: Any) -> None:
        partition = an_entry(namespace=name).partition
        mine = {e.key: _cosine(v, wanted) for (n, _), (e, v) in self.kept.items()
                if n == name and e.fingerprint == space and v is not None}
        assert self.store.has_vectors(name, partition, space) == bool(mine)
        found = self.store.search(name, partition, space, wanted, 3)
        assert [round(m.similarity or 0, 5) for m in found] == sorted(
            (round(value, 5) for value in mine.values()), reverse=True)[:3]
        for match in found:
            assert match.entry == self.kept[name, match.entry.key][0]
            assert abs((match.similarity or 0) - mine[match.entry.key]) < 1e-5

    @rule(name=names, number=prompts, other=prompts)
    def block(self, name: str, number: int, other: int) -> None:
        self.store.block(name, f"k{number}", f"o{other}")
        self.blocks.add((name, f"k{number}", f"o{other}"))
        assert self.store.blocked(name, f"o{other}") == {
            k for n, k, o in self.blocks if n == name and o == f"o{other}"}

    @rule(name=names)
    def clear(self, name: str) -> None:
        gone = [id_ for id_ in self.kept if id_[0] == name]
        assert self.store.clear(name) == len(gone)
        for id_ in gone:
            del self.kept[id_]
        self.blocks = {block for block in self.blocks if block[0] != name}

    @rule()
    def flush(self) -> None:
        self.store.flush()

    @precondition(lambda self: len(self.kept) > 5)
    @rule()
    def scan(self) -> None:
        assert [entry for entry, _ in self.store.scan()] == sorted(
            (entry for entry, _ in self.kept.values()), key=lambda entry: entry.created_at)

    @invariant()
    def counts_agree(self) -> None:
        if hasattr(self, "store"):
            assert self.store.count() == len(self.kept)


def _cosine(a: Any, b: Any) -> float:
    dot, one, two = (sum(x * y for x, y in zip(p, q, strict=True)) for p, q in ((a, b), (a, a), (b, b)))
    return float(dot / (one * two) ** 0.5)


class ChromaMachine(StoreMachine):
    """As above, on disk, with reopening in between."""

    def make(self) -> Store:
        self.folder = Path(tempfile.mkdtemp())
        self.opened = 0.0
        return ChromaStore(path=self.folder / "cache")

    @precondition(lambda self: self.clock - self.opened > 5)
    @rule()
    def reopen(self) -> None:
        self.opened = self.clock
        self.store.close()
        self.store = ChromaStore(path=self.folder / "cache")

    @rule()
    def compact(self) -> None:
        self.store.flush()
        for name in self.store.namespaces():
            assert self.store.count(name) == sum(n == name for n, _ in self.kept)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)


# 10,000 and more operations on each store with STEPCACHE_STATE_SCALE=40.
_SCALE = int(os.environ.get("STEPCACHE_STATE_SCALE", "1"))
TestMemory = StoreMachine.TestCase
TestMemory.settings = settings(max_examples=25 * _SCALE, stateful_step_count=60, deadline=None)
TestChroma = ChromaMachine.TestCase
TestChroma.settings = settings(max_examples=6 * _SCALE, stateful_step_count=50, deadline=None)
