"""The parts stores are made of: breaker, limits, vectors, memory tier, write-behind queue, names."""

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache._breaker import Breaker
from stepcache.errors import ConfigurationError, StoreError
from stepcache.stores._index import Index, place_of
from stepcache.stores._limits import Limits
from stepcache.stores._records import Packed, Shelf, collection_name, record_id, shelf_of
from stepcache.stores._tier import Tier
from stepcache.stores._vectors import Vectors, unit
from stepcache.stores._write_behind import Change, WriteBehind
from stepcache.stores.memory import MemoryStore
from stepcache.testing._store_contract import an_entry


def test_a_breaker_opens_after_failures_and_lets_one_probe_through_at_a_time() -> None:
    now = [0.0]
    breaker = Breaker(failures=2, pause=1.0, longest_pause=4.0, clock=lambda: now[0], jitter=lambda: 0.5)
    breaker.failure()
    assert breaker.allow()
    breaker.success()
    breaker.failure()
    breaker.failure()
    assert not breaker.closed
    assert not breaker.allow()
    for pause in (1.0, 2.0, 4.0, 4.0):
        now[0] += pause - 0.01
        assert not breaker.allow()
        now[0] += 0.02
        assert breaker.allow()
        assert not breaker.allow()
        breaker.failure()
    now[0] += 4.1
    assert breaker.allow()
    breaker.success()
    assert breaker.closed
    assert breaker.allow()
    assert breaker.allow()


@given(st.text(st.characters()), st.text(st.characters()), st.text(st.characters()), st.text(st.characters()))
@settings(max_examples=100, deadline=None)
def test_names_of_collections_are_valid_read_back_and_never_collide(a: str, b: str, c: str, d: str) -> None:
    one, two = Shelf(a, b), Shelf(c, d)
    for generation in (0, 1, 12):
        name = collection_name(one, generation)
        assert 3 <= len(name) <= 512
        assert all(char.isascii() and (char.isalnum() or char in "._-") for char in name)
        assert name[-1].isalnum()
        assert shelf_of(name, one.metadata) == (one, generation)
    assert (collection_name(one) == collection_name(two)) == (one == two)
    assert one == two or shelf_of(collection_name(one), two.metadata) is None
    assert (record_id(a) == record_id(c)) == (a == c)


def test_a_collection_that_is_not_ours_is_no_shelf() -> None:
    ours = Shelf("a", "b")
    strange: list[Any] = [None, {}, {"stepcache": 2}, {**ours.metadata, "namespace": 5}, {"stepcache": 1},
                          {**ours.metadata, "namespace": "!"}, {**ours.metadata, "stepcache": "1"}]
    for metadata in strange:
        assert shelf_of(collection_name(ours), metadata) is None
    for name in ("theirs", collection_name(ours) + "-gx", collection_name(ours) + "-g", collection_name(ours) + "²"):
        assert shelf_of(name, ours.metadata) is None


def test_vectors_stay_what_they_were_while_others_come_and_go() -> None:
    rng = random.Random(1)
    vectors, kept = Vectors(4), {}
    for number in range(2000):
        key = str(rng.randrange(60))
        if rng.random() < 0.6:
            made = unit([rng.gauss(0, 1) for _ in range(4)])
            assert made is not None
            vectors.add(key, made)
            kept[key] = made
        else:
            vectors.remove(key)
            kept.pop(key, None)
        assert len(vectors) == len(kept)
        assert vectors.get(key) == kept.get(key)
        if number % 50 == 0 and kept:
            wanted = unit([rng.gauss(0, 1) for _ in range(4)])
            assert wanted is not None
            exact = sorted((sum(x * y for x, y in zip(v, wanted, strict=True)) for v in kept.values()), reverse=True)
            found = vectors.nearest(wanted, 5)
            assert [round(cosine, 5) for _, cosine in found] == [round(cosine, 5) for cosine in exact[:5]]
    assert vectors.nearest(wanted, 0) == []


@pytest.mark.parametrize("vector", [None, (), (0.0, 0.0), (math.nan, 1.0), (math.inf, 1.0), ("a",), 5, (1e300, 1e300)])
def test_what_has_no_direction_is_no_vector(vector: Any) -> None:
    assert unit(vector) is None


def test_a_unit_vector_is_kept_to_the_last_bit() -> None:
    made = unit((3.0, 4.0))
    assert made is not None
    assert list(made) == pytest.approx([0.6, 0.8])
    assert unit(made) == made


def test_the_namespace_that_holds_most_gives_first() -> None:
    indexes = {"big": Index(), "small": Index()}
    for number in range(8):
        indexes["big"].add(f"b{number}", place_of(an_entry(), False, 10))
    for number in range(3):
        indexes["small"].add(f"s{number}", place_of(an_entry(), False, 100))
    assert Limits(max_entries=8).excess(indexes) == [("big", "b0"), ("big", "b1"), ("big", "b2")]
    indexes["big"].touch("b0")
    assert Limits(max_entries=9).excess(indexes) == [("big", "b1"), ("big", "b2")]
    assert Limits(max_bytes=200).excess(indexes) == [("small", "s0"), ("small", "s1")]
    assert Limits().excess(indexes) == []
    assert Limits(max_entries=5).and_also(Limits(max_entries=3, max_bytes=7)) == Limits(max_entries=3, max_bytes=7)


@pytest.mark.parametrize("options", [
    {"default_ttl": -1}, {"default_ttl": "1"}, {"default_ttl": math.nan}, {"max_entries": 0}, {"max_bytes": 0},
    {"max_entries": 1.0}, {"default_ttl": True},
])
def test_a_limit_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="takes"):
        MemoryStore(**options)


def test_an_index_forgets_old_expiries_of_refreshed_entries() -> None:
    index = Index()
    for number in range(5000):
        index.add("k", place_of(an_entry(expires_at=1000.0 + number), False, 1))
    assert len(index._expiries) < 100
    assert index.expired(5998.9) == []
    assert index.expired(5999.0) == ["k"]


def test_the_tier_is_bounded_in_entries_and_characters() -> None:
    tier = Tier(entries=3, chars=10_000)
    for number in range(5):
        tier.put(("n", str(number)), an_entry(f"p{number}"))
    assert [tier.get(("n", str(number))) is not None for number in range(5)] == [False, False, True, True, True]
    tier.put(("n", "large"), an_entry("p", "x" * 4000))
    tier.put(("m", "large"), an_entry("p", "x" * 4000))
    assert tier.get(("n", "large")) is None
    tier.clear("m")
    assert tier.get(("m", "large")) is None
    assert tier.get(("n", "4"), not_older=-1.0) is None


def a_change(id_: str, shelf: Shelf | None = None, parts: int = 1, **fields: Any) -> Change:
    return Change(("n", id_), shelf, None if shelf is None else Packed(id_, {}, parts, 1), **fields)


def test_a_later_change_inherits_what_the_earlier_one_had_to_clean_up() -> None:
    first, second, third = Shelf("n", "1"), Shelf("n", "2"), Shelf("n", "3")
    change = a_change("a", third).after(a_change("a", second, stale={first}))
    assert change.stale == {first, second}
    again = a_change("a", first, parts=1).after(a_change("a", first, parts=7, old_parts=3))
    assert again.stale == set()
    assert again.old_parts == 7
    back = a_change("a", first).after(change)
    assert back.stale == {second, third}
    gone = a_change("a").after(a_change("a", first))
    assert gone.stale == {first}


def test_what_failed_stays_queued_and_newer_changes_win() -> None:
    shelf = Shelf("n", "")
    written: list[list[str]] = []
    failing = [True]
    queue: WriteBehind

    def write(changes: list[Change]) -> None:
        if failing[0]:
            queue.put(a_change("a", shelf, parts=2))  # comes in while the batch is being written
            raise StoreError("disk full")
        written.append([f"{change.id[1]}{change.packed.parts if change.packed else '-'}" for change in changes])

    queue = WriteBehind(write, lambda: None)
    with queue.paused():
        queue.put(a_change("a", shelf))
        queue.put(a_change("b", shelf))
        with pytest.raises(StoreError):
            queue.flush()
        assert len(queue) == 2
        failing[0] = False
        queue.flush()
    assert written == [["a2", "b1"]]
    assert queue.waiting(("n", "a")) is None
    assert queue.close() == 0
