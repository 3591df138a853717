"""What every store must keep, as tests: subclass `StoreContract` and give it a `store` fixture."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from stepcache._data import Entry, Request, Step, Usage
from stepcache.protocols import Store

__all__ = ["StoreContract", "an_entry"]

_SPACE = "space-1"


def an_entry(prompt: str = "What is tea?", reply: str = "A drink.", **fields: Any) -> Entry:
    """An entry with everything a store needs; `namespace`, `model` and any field of `Entry` may be given."""
    request = Request(
        prompt=prompt, namespace=fields.pop("namespace", "default"), model=fields.pop("model", "a-model")
    )
    values: dict[str, Any] = {
        "key": request.key,
        "request": request,
        "partition": request.partition,
        "task": "text",
        "steps": (Step(reply),),
        "created_at": 1000.0,
        "fingerprint": _SPACE,
    }
    return Entry(**{**values, **fields})


def _direction(*values: float) -> tuple[float, ...]:
    length = sum(value * value for value in values) ** 0.5
    return tuple(value / length for value in values)


_EAST, _NORTH, _WEST = _direction(1, 0, 0), _direction(0, 1, 0), _direction(-1, 0, 0)


class StoreContract:
    """Laws of a `Store`. A subclass defines a pytest fixture `store` that gives an empty one:

        class TestMyStore(StoreContract):
            @pytest.fixture
            def store(self):
                return MyStore()
    """

    def test_an_empty_store_finds_nothing(self, store: Store) -> None:
        assert store.get("default", "0" * 64) is None
        assert store.peek("default", "0" * 64) is None
        assert store.by_template("default", "t", 3) == ()
        assert store.search("default", "p", _SPACE, _EAST, 5) == ()
        assert not store.has_vectors("default", "p", _SPACE)
        assert store.count() == 0
        assert store.count("default") == 0
        assert store.namespaces() == ()
        assert list(store.scan()) == []
        assert store.delete("default", ["0" * 64]) == 0
        assert store.clear() == 0
        assert store.clear("default") == 0
        assert store.blocked("default", "k") == frozenset()

    def test_what_was_put_is_readable_at_once_and_equal(self, store: Store) -> None:
        entry = an_entry(
            prompt="Grüße,\x00 世界 \ud83d\ude00 \ud83d and \u2028\r\n",
            reply="1. a\n2. b\r\n",
            steps=(Step("1. a\n"), Step("2. b\r\n"), Step("")),
            task="json",
            residue="r",
            shape="n*v+n=n",
            template="t",
            trace='{"a": 1}',
            payload={
                "user": None, "tags": [], "n": 2**70, "ok": False, "zero": 0, "empty": "", "one": 1.0,
                "nested": {"a": [1, [2.5, {"b": True}]]}, "half": "\udc00\ud800",
            },
            usage=Usage(3, None),
            finish_reason="stop",
            expires_at=2000.5,
            tags=("a", "ü"),
        )
        store.put(entry, _EAST)
        got = store.get("default", entry.key)
        assert got == entry
        assert got is not None
        assert repr(got.payload) == repr(entry.payload)
        store.flush()
        assert store.get("default", entry.key) == entry

    def test_falsy_payloads_come_back_as_they_were(self, store: Store) -> None:
        payloads: list[Any] = [None, False, 0, 0.0, "", [], {}]
        for number, payload in enumerate(payloads):
            entry = an_entry(f"prompt {number}", payload=payload)
            store.put(entry, None)
            got = store.get("default", entry.key)
            assert got is not None
            assert repr(got.payload) == repr(payload)

    def test_a_caller_may_change_what_it_put_or_got(self, store: Store) -> None:
        payload: dict[str, Any] = {"list": [1]}
        entry = an_entry(payload=payload)
        store.put(entry, _EAST)
        payload["list"].append(2)
        first = store.get("default", entry.key)
        assert first is not None
        assert first.payload == {"list": [1]}
        first.payload["list"].append(3)
        again = store.get("default", entry.key)
        found = store.search("default", entry.partition, _SPACE, _EAST, 1)
        assert again is not None
        assert again.payload == {"list": [1]}
        assert found[0].entry.payload == {"list": [1]}

    def test_context_and_spec_of_a_request_are_not_kept(self, store: Store) -> None:
        request = Request("p", context="a secret system message", model="m")
        entry = an_entry(key=request.key, request=request, partition=request.partition)
        store.put(entry, None)
        got = store.get("default", request.key)
        assert got is not None
        assert got.request.context == ""
        assert got.partition == request.partition

    def test_putting_a_key_again_replaces_it(self, store: Store) -> None:
        store.put(an_entry(reply="one", template="t"), _EAST)
        store.flush()
        newer = an_entry(reply="two", template="u", created_at=1001.0)
        store.put(newer, _NORTH)
        assert store.get("default", newer.key) == newer
        assert store.count() == 1
        assert store.by_template("default", "t", 5) == ()
        assert store.by_template("default", "u", 5) == (newer,)
        (match,) = store.search("default", newer.partition, _SPACE, _NORTH, 5)
        assert match.entry == newer
        assert match.similarity is not None
        assert match.similarity > 0.999
        store.flush()
        (match,) = store.search("default", newer.partition, _SPACE, _NORTH, 5)
        assert match.entry == newer
        assert match.similarity is not None
        assert match.similarity > 0.999

    def test_namespaces_are_walls(self, store: Store) -> None:
        names = ["", "a", "a/b", "b", "A", "a b", "日本", "x" * 600, "a\x00", "\ud800", "..", "default"]
        entries = {}
        for name in names:
            entry = an_entry("the same prompt", f"secret of {name!r}", namespace=name, template="t")
            entries[name] = replace(entry, key="k" * 64)
            store.put(entries[name], _EAST)
            store.block(name, "k" * 64, f"other of {name!r}")
        for flushed in (False, True):
            if flushed:
                store.flush()
            assert sorted(store.namespaces()) == sorted(names)
            for name in names:
                entry = entries[name]
                assert store.get(name, entry.key) == entry
                assert store.by_template(name, "t", 9) == (entry,)
                assert [m.entry for m in store.search(name, entry.partition, _SPACE, _EAST, 9)] == [entry]
                assert [kept for kept, _ in store.scan(name)] == [entry]
                assert store.count(name) == 1
                assert store.blocked(name, f"other of {name!r}") == {"k" * 64}
                assert store.blocked(name, "other of 'nobody'") == frozenset()
        assert store.delete("a", ["k" * 64]) == 1
        assert store.clear("b") == 1
        assert store.get("a/b", "k" * 64) == entries["a/b"]
        assert store.count() == len(names) - 2
        assert store.blocked("b", "other of 'b'") == frozenset()
        assert store.blocked("A", "other of 'A'") == {"k" * 64}

    def test_a_template_gives_its_latest_entries_newest_first(self, store: Store) -> None:
        entries = [an_entry(f"p{n}", template="t", created_at=1000.0 + n) for n in range(5)]
        for entry in entries:
            store.put(entry, None)
        assert store.by_template("default", "t", 3) == (entries[4], entries[3], entries[2])
        assert store.by_template("default", "", 3) == ()
        assert store.by_template("default", "t", 0) == ()
        store.put(replace(entries[0], created_at=1010.0), None)
        assert [e.key for e in store.by_template("default", "t", 2)] == [entries[0].key, entries[4].key]

    def test_a_search_stays_in_its_partition_and_space(self, store: Store) -> None:
        here = an_entry("near")
        far = an_entry("far")
        other_model = an_entry("near", model="another")
        other_space = an_entry("elsewhere", fingerprint="space-2")
        bare = an_entry("no vector")
        store.put(here, _direction(1, 0.1, 0))
        store.put(far, _WEST)
        store.put(other_model, _EAST)
        store.put(other_space, _EAST)
        store.put(bare, None)
        for flushed in (False, True):
            if flushed:
                store.flush()
            found = store.search("default", here.partition, _SPACE, _EAST, 5)
            assert [match.entry for match in found] == [here, far]
            similarities = [match.similarity for match in found]
            assert similarities[0] is not None
            assert abs(similarities[0] - 0.995037) < 1e-4
            assert similarities[1] is not None
            assert abs(similarities[1] + 1.0) < 1e-4
            assert [m.exact for m in found] == [False, False]
            assert len(store.search("default", here.partition, _SPACE, _EAST, 1)) == 1
            assert store.search("default", here.partition, "space-3", _EAST, 5) == ()
            assert store.search("default", here.partition, _SPACE, _EAST, 0) == ()
            assert [m.entry for m in store.search("default", here.partition, "space-2", _EAST, 5)] == [other_space]
            assert store.has_vectors("default", here.partition, _SPACE)
            assert not store.has_vectors("default", here.partition, "space-3")
            assert not store.has_vectors("elsewhere", here.partition, _SPACE)
        assert store.get("default", bare.key) == bare

    def test_a_vector_of_another_dimension_or_kind_never_crashes(self, store: Store) -> None:
        entry = an_entry("one")
        store.put(entry, _EAST)
        strange = [an_entry(f"strange {n}", created_at=1001.0 + n) for n in range(5)]
        vectors: list[Any] = [_direction(1, 2), (float("nan"), 1.0, 0.0), (0.0, 0.0, 0.0), (), (float("inf"), 0, 0)]
        for made, vector in zip(strange, vectors, strict=True):
            store.put(made, vector)
        store.flush()
        for made in strange:
            assert store.get("default", made.key) == made
        for vector in vectors:
            assert store.search("default", entry.partition, _SPACE, vector, 5) == ()
        assert [m.entry for m in store.search("default", entry.partition, _SPACE, _EAST, 9)] == [entry]

    def test_what_was_removed_is_gone_at_once(self, store: Store) -> None:
        entries = [an_entry(f"p{n}", template="t", created_at=1000.0 + n) for n in range(4)]
        for number, entry in enumerate(entries):
            store.put(entry, _direction(1, number, 0))
        store.flush()
        late = an_entry("late", template="t", created_at=1009.0)
        store.put(late, _EAST)
        gone = [entries[1].key, late.key, "not there"]
        assert store.delete("default", gone) == 2
        for flushed in (False, True):
            if flushed:
                store.flush()
            for key in gone:
                assert store.get("default", key) is None
                assert store.peek("default", key) is None
            assert [e.key for e in store.by_template("default", "t", 9)] == [entries[n].key for n in (3, 2, 0)]
            found = store.search("default", entries[0].partition, _SPACE, _EAST, 9)
            assert [m.entry.key for m in found] == [entries[n].key for n in (0, 2, 3)]
            assert store.count() == 3
        assert store.delete("default", iter([e.key for e in entries])) == 3
        assert not store.has_vectors("default", entries[0].partition, _SPACE)
        assert store.count() == 0
        assert store.namespaces() == ()

    def test_more_neighbours_than_there_are(self, store: Store) -> None:
        entries = [an_entry(f"p{n}") for n in range(3)]
        partition = entries[0].partition
        for number in range(4):
            store.flush()
            assert len(store.search("default", partition, _SPACE, _EAST, 5)) == number
            if number < 3:
                store.put(entries[number], _direction(1, number, 0))
        store.delete("default", [entries[0].key, entries[2].key])
        store.flush()
        (match,) = store.search("default", partition, _SPACE, _EAST, 5)
        assert match.entry == entries[1]

    def test_a_block_is_one_pair_and_stays(self, store: Store) -> None:
        entry = an_entry()
        store.put(entry, None)
        store.block("default", entry.key, "other")
        store.block("default", entry.key, "other")
        store.block("default", "second", "other")
        store.flush()
        assert store.blocked("default", "other") == {entry.key, "second"}
        assert store.blocked("default", entry.key) == frozenset()
        store.delete("default", [entry.key])
        store.put(entry, None)
        assert store.blocked("default", "other") == {entry.key, "second"}
        store.clear("default")
        assert store.blocked("default", "other") == frozenset()

    def test_a_scan_gives_all_with_vectors_oldest_first(self, store: Store) -> None:
        first = an_entry("first", namespace="b", created_at=1.0)
        second = an_entry("second", namespace="a", created_at=2.0)
        third = an_entry("third", namespace="b", created_at=3.0)
        store.put(third, _NORTH)
        store.put(first, None)
        store.flush()
        store.put(second, _direction(1, 1, 0))
        scanned = list(store.scan())
        assert [entry for entry, _ in scanned] == [first, second, third]
        assert scanned[0][1] is None
        for (_, vector), wanted in zip(scanned[1:], (_direction(1, 1, 0), _NORTH), strict=True):
            assert vector is not None
            assert max(abs(a - b) for a, b in zip(vector, wanted, strict=True)) < 1e-6
        assert [entry for entry, _ in store.scan("b")] == [first, third]

    def test_a_scan_survives_changes_meanwhile(self, store: Store) -> None:
        for number in range(10):
            store.put(an_entry(f"p{number}", created_at=float(number)), None)
        seen = 0
        for entry, _ in store.scan():
            store.delete("default", [entry.key])
            seen += 1
        assert seen == 10
        assert store.count() == 0

    def test_upkeep_keeps_what_is_there(self, store: Store) -> None:
        kept, gone = an_entry("kept", template="t"), an_entry("gone", template="t")
        store.put(kept, _EAST)
        store.put(gone, _EAST)
        store.block("default", kept.key, "other")
        store.delete("default", [gone.key])
        store.compact()
        store.purge()
        assert store.get("default", kept.key) == kept
        assert store.get("default", gone.key) is None
        assert store.by_template("default", "t", 5) == (kept,)
        assert [m.entry for m in store.search("default", kept.partition, _SPACE, _EAST, 5)] == [kept]
        assert store.blocked("default", "other") == {kept.key}

    def test_threads_see_whole_entries_only(self, store: Store) -> None:
        problems: list[str] = []

        def work(number: int) -> None:
            try:
                for turn in range(25):
                    name = f"ns{number % 2}"
                    shared = an_entry("shared", f"reply {number} {turn}", namespace=name, template=f"t{number}-{turn}")
                    store.put(shared, _EAST)
                    own = an_entry(f"own {number} {turn}", f"own {number} {turn}", namespace=name)
                    store.put(own, _NORTH)
                    if store.get(name, own.key) != own:
                        problems.append("a thread does not find what it put")
                    got = store.get(name, shared.key)
                    if got is not None and f"reply {got.template[1:].replace('-', ' ')}" != got.reply:
                        problems.append("a mixed entry")
                    for match in store.search(name, own.partition, _SPACE, _EAST, 3):
                        if match.entry.namespace != name:
                            problems.append("a wall was crossed")
                    if turn % 5 == 0:
                        store.delete(name, [own.key])
            except Exception as problem:  # a thread's failure must fail the test
                problems.append(repr(problem))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert store.count() == 2 + 4 * 20
