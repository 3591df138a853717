"""The Chroma store in a folder: durable, walled, bounded, and mended when its folder is not what it was."""

import contextlib
import json
import logging
import math
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import chromadb
import pytest

import stepcache
from stepcache._data import Entry, Step
from stepcache.errors import ConfigurationError, StoreError
from stepcache.stores._records import pack, record_id, unpack
from stepcache.stores._vectors import unit
from stepcache.stores.chroma import ChromaStore
from stepcache.stores.memory import MemoryStore
from stepcache.testing import StoreContract
from stepcache.testing._store_contract import an_entry

SPACE = "space-1"


class TestChromaStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[ChromaStore]:
        store = ChromaStore(path=tmp_path / "cache")
        yield store
        store.close()


class TestChromaStoreSigned(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[ChromaStore]:
        store = ChromaStore(path=tmp_path / "cache", signing_key="a key", sync_writes=True)
        yield store
        store.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def direction(*values: float) -> tuple[float, ...]:
    length = math.sqrt(sum(value * value for value in values))
    return tuple(value / length for value in values)


def some_direction(rng: random.Random, size: int = 16) -> tuple[float, ...]:
    return direction(*(rng.gauss(0, 1) for _ in range(size)))


def raw(folder: Path) -> Any:
    return chromadb.PersistentClient(str(folder) + "/./.", settings=chromadb.Settings(anonymized_telemetry=False))


@pytest.mark.parametrize("options", [
    {}, {"path": "a", "url": "http://b"}, {"path": ""}, {"path": "a\x00b"}, {"url": "ftp://b"}, {"url": "b:8000"},
    {"url": "http://user:pw@b"}, {"path": "a", "headers": {}}, {"path": "a", "default_ttl": -1},
    {"path": "a", "max_entries": 0}, {"path": "a", "max_bytes": 1.5}, {"path": "a", "max_entries": True},
    {"path": "a", "signing_key": ""}, {"path": "a", "signing_key": 5},
])
def test_an_option_that_cannot_work_is_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"take|goes with"):
        ChromaStore(**options)


def test_nothing_is_made_before_first_use(folder: Path) -> None:
    store = ChromaStore(path=folder)
    assert store.peek("default", "0" * 64) is None
    store.flush()
    store.close()
    assert not folder.exists()


@pytest.mark.parametrize("kind", ["memory", "chroma"])
def test_eight_threads_of_two_thousand_operations_lose_and_cross_nothing(folder: Path, kind: str) -> None:
    """Each thread has keys of its own in namespaces that all share, and knows what it must find there."""
    store = MemoryStore() if kind == "memory" else ChromaStore(path=folder)
    problems: list[str] = []
    kept: dict[tuple[str, str], Entry] = {}

    def work(thread: int) -> None:
        rng = random.Random(thread)
        mine: dict[tuple[str, str], Entry] = {}
        try:
            for turn in range(2000):
                name = f"n{rng.randrange(5)}"
                entry = an_entry(f"{thread} {rng.randrange(40)}", f"{thread} {turn} {name}", namespace=name,
                                 template=f"t{thread}", created_at=float(turn))
                id_ = name, entry.key
                match rng.choices(("get", "put", "template", "search", "delete"), (60, 15, 12, 12, 1))[0]:
                    case "put":
                        store.put(entry, some_direction(rng, 8))
                        mine[id_] = entry
                    case "get":
                        if store.get(*id_) != mine.get(id_):
                            problems.append(f"{thread} at {turn}: not what was put")
                    case "template":
                        found = store.by_template(name, f"t{thread}", 100)
                        wanted = {e.key for (n, _), e in mine.items() if n == name}
                        if {e.key for e in found} != wanted:
                            problems.append(f"{thread} at {turn}: another template's entries")
                    case "search":
                        for match in store.search(name, entry.partition, SPACE, some_direction(rng, 8), 3):
                            if not match.entry.reply.endswith(name):
                                problems.append(f"{thread} at {turn}: a wall was crossed")
                    case _:
                        if store.delete(name, [entry.key]) != (mine.pop(id_, None) is not None):
                            problems.append(f"{thread} at {turn}: a wrong count of what was removed")
        except Exception as problem:  # a thread's failure must fail the test
            problems.append(repr(problem))
        kept.update(mine)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert problems == []
    assert not any(thread.is_alive() for thread in threads)
    for again in (False, True):
        if again and kind == "chroma":
            store.close()
            store = ChromaStore(path=folder)
        assert {(entry.namespace, entry.key): entry for entry, _ in store.scan()} == kept
    store.close()


def test_a_reopened_folder_serves_by_key_template_and_similarity(folder: Path) -> None:
    entries = [an_entry(f"p{n}", namespace=f"n{n % 2}", template="t", created_at=float(n)) for n in range(6)]
    bare = an_entry("bare")
    with_block = ChromaStore(path=folder)
    for number, entry in enumerate(entries):
        with_block.put(entry, direction(1, number))
    with_block.put(bare, None)
    with_block.block("n0", entries[0].key, "other")
    with_block.close()
    store = ChromaStore(path=folder)
    assert store.get("n1", entries[1].key) == entries[1]
    assert store.by_template("n0", "t", 2) == (entries[4], entries[2])
    found = store.search("n1", entries[1].partition, SPACE, direction(1, 5), 2)
    assert [match.entry for match in found] == [entries[5], entries[3]]
    assert store.blocked("n0", "other") == {entries[0].key}
    assert store.get("default", bare.key) == bare
    assert store.count() == 7
    assert store.namespaces() == ("default", "n0", "n1")
    store.close()


def test_a_large_partition_is_searched_as_exactly_as_a_small_one(folder: Path) -> None:
    rng = random.Random(3)
    store, memory = ChromaStore(path=folder), MemoryStore()
    entries = [an_entry(f"p{n}", model=f"m{n % 7 and 1}") for n in range(900)]
    for entry in entries:
        vector = some_direction(rng)
        store.put(entry, vector)
        memory.put(entry, vector)
    for flushed in (False, True):
        if flushed:
            store.flush()
        for partition in {entry.partition for entry in entries}:
            for _ in range(5):
                wanted = some_direction(rng)
                mine = store.search("default", partition, SPACE, wanted, 5)
                exact = memory.search("default", partition, SPACE, wanted, 5)
                assert [match.entry.key for match in mine] == [match.entry.key for match in exact]
                assert all(abs((a.similarity or 0) - (b.similarity or 0)) < 1e-5
                           for a, b in zip(mine, exact, strict=True))
    gone = [match.entry.key for match in exact]
    store.delete("default", gone)
    memory.delete("default", gone)
    again = store.search("default", partition, SPACE, wanted, 5)
    assert [m.entry.key for m in again] == [
        m.entry.key for m in memory.search("default", partition, SPACE, wanted, 5)]
    store.close()


def test_another_embedder_finds_old_entries_by_key_only(folder: Path) -> None:
    old = an_entry("old", template="t", fingerprint="old space")
    store = ChromaStore(path=folder)
    store.put(old, direction(1, 2, 3))
    store.close()
    store = ChromaStore(path=folder)
    assert store.search("default", old.partition, "new space", direction(1, 2, 3, 4), 5) == ()
    assert store.search("default", old.partition, "rotated space", direction(1, 2, 3), 5) == ()
    assert store.get("default", old.key) == old
    assert store.by_template("default", "t", 5) == (old,)
    new = replace(old, fingerprint="new space", created_at=2000.0)
    store.put(new, direction(1, 2, 3, 4))
    store.close()
    store = ChromaStore(path=folder)
    assert store.get("default", old.key) == new
    assert store.count() == 1
    assert store.search("default", old.partition, "old space", direction(1, 2, 3), 5) == ()
    store.close()


def test_a_shorter_record_leaves_nothing_of_a_longer_one(folder: Path) -> None:
    rng = random.Random(5)
    noise = "".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(4000))
    entry = an_entry("p", noise)
    for reply in (noise, "short", noise + noise, "ü"):
        store = ChromaStore(path=folder)
        newer = replace(entry, steps=(Step(reply),))
        store.put(newer, direction(1, 2))
        store.close()
        store = ChromaStore(path=folder)
        assert store.get("default", entry.key) == newer
        store.close()


def test_refreshing_identical_content_does_not_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stepcache.stores._chroma_client import Chroma

    writes: list[int] = []
    upsert = Chroma.upsert
    monkeypatch.setattr(Chroma, "upsert", lambda self, *a: (writes.append(len(a[1])), upsert(self, *a)))
    store = ChromaStore(path=folder, sync_writes=True)
    entry = an_entry(payload={"ok": True}, created_at=1000.0)
    for after in (0.0, 1.0, 59.0):
        store.put(replace(entry, created_at=1000.0 + after), direction(1, 2))
    assert writes == [1]
    assert store.get("default", entry.key) == replace(entry, created_at=1059.0)
    store.put(replace(entry, created_at=1061.0), direction(1, 2))
    store.put(replace(entry, created_at=1061.0, payload={"ok": 1}), direction(1, 2))
    store.put(replace(entry, created_at=1061.0, payload={"ok": 1}), None)
    assert writes == [1] * 4
    store.close()


def test_files_are_for_their_owner_only(folder: Path) -> None:
    old = os.umask(0)
    try:
        store = ChromaStore(path=folder, sync_writes=True)
        for number in range(3):
            store.put(an_entry(f"p{number}"), direction(1, number))
        modes = {stat.S_IMODE(place.stat().st_mode) & 0o077 for place in [folder, *folder.rglob("*")]}
        store.close()
    finally:
        os.umask(old)
    assert modes == {0}


def test_other_users_of_the_chroma_are_left_alone(folder: Path) -> None:
    client = raw(folder)
    theirs = client.create_collection("theirs", embedding_function=None)
    theirs.upsert(ids=["a"], embeddings=[[1.0, 2.0]], metadatas=[{"x": 1}])
    client.close()
    store = ChromaStore(path=folder)
    store.put(an_entry(), direction(1, 2))
    store.clear()
    store.purge()
    store.close()
    client = raw(folder)
    assert [made.name for made in client.list_collections()] == ["theirs"]
    assert client.get_collection("theirs", embedding_function=None).count() == 1
    client.close()


def test_stores_of_one_process_share_a_folder(folder: Path) -> None:
    first, second = ChromaStore(path=folder), ChromaStore(path=str(folder) + "/../cache")
    entry = an_entry(template="t")
    first.put(entry, direction(1, 2))
    assert second.get("default", entry.key) == entry
    assert len(second.search("default", entry.partition, SPACE, direction(1, 2), 5)) == 1
    first.close()
    assert second.by_template("default", "t", 1) == (entry,)
    with pytest.raises(StoreError, match="closed"):
        first.get("default", entry.key)
    second.close()
    third = ChromaStore(path=folder, read_only=True)
    assert third.get("default", entry.key) == entry
    assert len(third.search("default", entry.partition, SPACE, direction(1, 2), 5)) == 1
    third.put(an_entry("another"), None)
    assert third.delete("default", [entry.key]) == 0
    assert third.clear() == 0
    assert third.count() == 1
    third.close()


def test_most_recently_used_entries_stay_and_no_namespace_pushes_out_anothers(folder: Path) -> None:
    for store in (ChromaStore(path=folder, max_entries=20), MemoryStore(max_entries=20)):
        small = an_entry("small", namespace="small")
        store.put(small, direction(1, 2))
        used = an_entry("used", namespace="busy")
        store.put(used, direction(1, 2))
        for number in range(60):
            store.put(an_entry(f"p{number}", namespace="busy", created_at=2000.0 + number), direction(1, number))
            assert store.get("busy", used.key) == used
        assert store.count() == 20
        assert store.get("small", small.key) == small
        assert store.get("busy", an_entry("p59", namespace="busy").key) is not None
        assert store.get("busy", an_entry("p10", namespace="busy").key) is None
        store.flush()
        assert store.count() == len(list(store.scan())) == 20
        store.close()
    store = ChromaStore(path=folder)
    assert store.count() == 20
    store.close()


def test_size_levels_off_under_eviction(folder: Path) -> None:
    rng = random.Random(7)
    store = ChromaStore(path=folder, max_bytes=400_000)
    sizes = []
    for _ in range(6):
        for _ in range(40):
            reply = "".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(700))
            store.put(an_entry(str(rng.random()), reply), some_direction(rng))
        store.flush()
        sizes.append(store.size())
    kept = store.count()
    assert 40 < kept < 160
    store.compact()
    assert store.count() == kept
    assert store.size() < 3_000_000
    assert sizes[5] < 1.5 * sizes[3]
    store.close()


def test_an_entry_gets_the_default_ttl_and_goes_when_its_time_has_passed(folder: Path) -> None:
    for store in (ChromaStore(path=folder, default_ttl=10), MemoryStore(default_ttl=10)):
        store.put(an_entry("old", created_at=100.0), None)
        store.put(an_entry("own", created_at=100.0, expires_at=500.0), None)
        old = store.get("default", an_entry("old").key)
        assert old is not None
        assert old.expires_at == 110.0
        assert old.fresh(109.999)
        assert not old.fresh(110.0)
        assert not old.fresh(99.0)  # a clock that ran backwards makes nothing immortal
        store.put(an_entry("new", created_at=110.0), None)
        assert store.get("default", an_entry("old").key) is None
        assert store.get("default", an_entry("own").key) is not None
        store.close()


def test_purge_leaves_no_byte_of_what_was_removed(folder: Path) -> None:
    rng = random.Random(11)
    secret = some_direction(rng, 32)
    traces = [b"PATIENT-KORA-5521", (unit(secret) or b"")[:8].tobytes(), "Geheimnis-über-Kora".encode()]  # type: ignore[union-attr]

    def found() -> set[bytes]:
        return {trace for place in folder.rglob("*") if place.is_file() for trace in traces
                if trace in place.read_bytes()}

    store = ChromaStore(path=folder)
    kept = [an_entry(f"p{n}") for n in range(1100)]  # enough for Chroma to write its vector index
    for entry in kept[:600]:
        store.put(entry, some_direction(rng, 32))
    store.put(an_entry("PATIENT-KORA-5521", "Geheimnis-über-Kora"), secret)
    for entry in kept[600:]:
        store.put(entry, some_direction(rng, 32))
    store.flush()
    assert found() == set(traces)
    store.delete("default", [an_entry("PATIENT-KORA-5521").key])
    store.purge()
    assert found() == set()
    assert store.count() == 1100
    assert store.get("default", kept[3].key) == kept[3]
    assert len(store.search("default", kept[3].partition, SPACE, some_direction(rng, 32), 5)) == 5
    assert store.check() == ()
    store.close()


def test_a_deleted_folder_is_begun_anew(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ChromaStore(path=folder)
    entry = an_entry()
    store.put(entry, direction(1, 2))
    store.flush()
    shutil.rmtree(folder)
    store._open().site._looked = 0.0  # type: ignore[attr-defined]  # as if a moment had passed
    assert store.get("default", entry.key) is None
    second = ChromaStore(path=folder)
    second.put(entry, direction(1, 2))
    second.flush()
    assert store.get("default", entry.key) == entry
    assert [record.levelno for record in caplog.records].count(logging.WARNING) == 1
    store.close()
    second.close()


@pytest.mark.parametrize("damage", ["head", "cut", "emptied"])
def test_an_unreadable_database_is_set_aside_with_one_warning(
    folder: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    entry = an_entry()
    store = ChromaStore(path=folder)
    store.put(entry, direction(1, 2))
    store.close()
    with open(folder / "chroma.sqlite3", "r+b") as database:
        if damage == "head":
            database.write(b"garbage!" * 1000)
        else:
            database.truncate(5000 if damage == "cut" else 0)
    store = ChromaStore(path=folder)
    assert store.get("default", entry.key) is None
    store.put(entry, direction(1, 2))
    store.flush()
    assert store.get("default", entry.key) == entry
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == (0 if damage == "emptied" else 1)
    if damage != "emptied":
        assert any("set aside" in finding for finding in store.check())
        store.purge()
        assert store.check() == ()
    store.close()


_READ_ONLY = """
import os, sys
sys.path.insert(0, sys.argv[1])
from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry
if os.geteuid() == 0:
    warm = ChromaStore(path=sys.argv[2] + "-warm")  # loads what nobody may not read
    warm.put(an_entry(), (1.0, 0.0))
    warm.close()
    os.setgid(65534); os.setuid(65534)
entry = an_entry(template="t")
store = ChromaStore(path=sys.argv[2])
assert store.get("default", entry.key) == entry
assert store.by_template("default", "t", 1) == (entry,)
assert len(store.search("default", entry.partition, "space-1", (1.0, 0.0), 5)) == 1
store.put(an_entry("another"), None)
assert store.get("default", an_entry("another").key) is None
print(store.check())
store.close()
"""


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that other users may enter: the test may run as root and then reads as nobody."""
    made = Path(tempfile.mkdtemp())  # pytest's own folders are closed to others, anew with each run of pytest
    made.chmod(0o755)
    yield made
    for place in (made, *made.rglob("*")):
        if place.is_dir():
            place.chmod(0o755)
    shutil.rmtree(made)


def test_a_read_only_folder_serves_hits_and_records_nothing(open_place: Path) -> None:
    folder = open_place / "cache"
    store = ChromaStore(path=folder)
    store.put(an_entry(template="t"), (1.0, 0.0))
    store.close()
    for place in folder.rglob("*"):
        place.chmod(0o555 if place.is_dir() else 0o444)
    folder.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", _READ_ONLY, str(Path(stepcache.__file__).parents[1]), str(folder)],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "nothing is recorded" in done.stdout
    assert sorted(place.name for place in folder.rglob("*") if "probe" in place.name) == []


def _hostile(rng: random.Random, whole: dict[str, Any]) -> dict[str, Any]:
    """A record as someone may have left it in the folder."""
    spoilt = dict(whole)
    form, signature, text = str(whole["r"]).split(":", 2)
    head = f"{form}:{signature}:"
    match rng.randrange(10):
        case 0:
            spoilt["r"] = head + "".join(rng.choice('{}[]",:0\\ux\x00') for _ in range(rng.randint(1, 300)))
        case 1:
            spoilt["r"] = head + '{"v":1,"lc":1,"type":"constructor","id":["os","system"],"kwargs":{"command":"true"}}'
        case 2:
            other = rng.choice(["", "j", "z1:", "j999999::", "j0::", "jx::", f"z1:{signature}:", "q1::", "j1"])
            spoilt["r"] = other + text
        case 3:
            spoilt["r"] = f"j2:{signature}:{text}"  # of two parts, and the second is not there
        case 4:
            spoilt = {"r": rng.choice([1, True, 2.5]), "other": "x"}
        case 5:
            spoilt["r"] = head + "[" * rng.randint(1000, 50_000)
        case 6:
            at = rng.randrange(len(text))
            spoilt["r"] = head + text[:at] + rng.choice('{"}],9') + text[at + 1:]
        case 7:
            spoilt["r"] = f"{form}:{signature[:-1]}{'0' if signature[-1] != '0' else '1'}:{text}"
        case 8:
            spoilt["s"] = "A" * len(str(whole["s"]))
        case _:
            spoilt["r"] = head + text.replace("A drink.", "A poison.")
    return spoilt if spoilt != whole else {"other": "x"}


def test_hostile_records_are_neither_served_nor_fatal(folder: Path) -> None:
    rng = random.Random(13)
    store = ChromaStore(path=folder, signing_key="key")
    good = an_entry("good", template="t")
    store.put(good, some_direction(rng))
    store.close()
    client = raw(folder)
    collection = next(made for made in client.list_collections() if made.metadata.get("stepcache"))
    collection = client.get_collection(collection.name, embedding_function=None)
    prompts = [f"hostile {number}" for number in range(2000)]
    keys = [an_entry(prompt).key for prompt in prompts]
    for start in range(0, 2000, 500):
        made = []
        for prompt in prompts[start:start + 500]:
            whole = pack(an_entry(prompt, template="t"), unit(some_direction(rng)), b"key").metadata
            made.append(_hostile(rng, whole))
        collection.upsert(ids=keys[start:start + 500], embeddings=[list(some_direction(rng)) for _ in made],
                          metadatas=made)
    foreign = an_entry("signed by another")
    collection.upsert(ids=[foreign.key], embeddings=[list(some_direction(rng))],
                      metadatas=[pack(foreign, unit(some_direction(rng)), b"another key").metadata])
    moved = an_entry("signed for another vector")
    collection.upsert(ids=[moved.key], embeddings=[list(some_direction(rng))],
                      metadatas=[pack(moved, unit(some_direction(rng)), b"key").metadata])
    client.close()
    store = ChromaStore(path=folder, signing_key="key")
    assert all(store.get("default", key) is None for key in [*keys, foreign.key, moved.key])
    assert store.by_template("default", "t", 10) == (good,)
    assert {m.entry.key for m in store.search("default", good.partition, SPACE, some_direction(rng), 50)} <= {good.key}
    assert [entry for entry, _ in store.scan()] == [good]
    assert any("not served" in finding for finding in store.check())
    assert store.repair()
    assert store.get("default", good.key) == good
    store.close()


def test_a_record_moved_to_another_wall_is_not_served() -> None:
    entry = an_entry(namespace="a")
    packed = pack(entry, None, None)
    assert unpack(packed.id, packed.metadata, "a", None) is not None
    assert unpack(packed.id, packed.metadata, "b", None) is None
    assert unpack(record_id("another"), packed.metadata, "a", None) is None


def test_a_compressed_bomb_is_refused() -> None:
    import base64
    import zlib

    bomb = base64.b64encode(zlib.compress(b"[" * 65_000_000, 1)).decode()
    assert unpack("0" * 64, {"r": f"z1::{bomb}"}, "default", None) is None


def test_a_disk_that_is_full_loses_nothing_once_it_has_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from stepcache.stores._chroma_client import Chroma

    store = ChromaStore(path=folder)
    store.put(an_entry("first"), direction(1, 2))
    store.flush()

    def full(self: Chroma, *_: Any, **__: Any) -> None:
        raise StoreError("database or disk is full")

    entries = [an_entry(f"p{n}", template="t", created_at=float(n)) for n in range(5)]
    with monkeypatch.context() as patched:
        patched.setattr(Chroma, "upsert", full)
        for entry in entries:
            store.put(entry, direction(1, 2))
        with pytest.raises(StoreError, match="full"):
            store.flush()
        assert all(store.get("default", entry.key) == entry for entry in entries)
        assert store.by_template("default", "t", 1) == (entries[4],)
    store.flush()
    store.close()
    store = ChromaStore(path=folder)
    assert store.count() == 6
    store.close()


def test_a_full_queue_drops_with_a_count_and_one_warning(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ChromaStore(path=folder)
    store.put(an_entry("first"), None)
    store.flush()
    engine = store._open()
    with engine.queue.paused():
        engine.queue._capacity = 10
        for number in range(30):
            store.put(an_entry(f"p{number}"), None)
        assert engine.queue.dropped >= 19
        assert store.count() <= 12
    store.flush()
    assert [r.levelno for r in caplog.records].count(logging.WARNING) == 1
    assert any("dropped" in finding for finding in store.check())
    store.close()


def test_records_of_the_first_release_are_read_and_leave_nothing_behind(folder: Path) -> None:
    entry, long = an_entry("old", template="t"), an_entry("long", "".join(map(chr, range(0x4E00, 0x5A00))))
    store = ChromaStore(path=folder)
    for made in (entry, long):
        store.put(made, direction(1, 2))
    store.close()
    client = raw(folder)
    name = next(made.name for made in client.list_collections() if made.metadata.get("stepcache"))
    collection = client.get_collection(name, embedding_function=None)
    found = collection.get()
    for id_, metadata in zip(found["ids"], found["metadatas"], strict=True):  # the head alone, the first part by itself
        form, signature, text = metadata["r"].split(":", 2)
        collection.update(ids=[id_], metadatas=[{"r": f"{form}:{signature}", "r0": text}])
    client.close()
    for newer in (entry, replace(entry, steps=(Step("newer"),)), replace(entry, steps=(Step("newest"),))):
        store = ChromaStore(path=folder)
        if newer != entry:
            store.put(newer, direction(1, 2))
        assert store.get("default", entry.key) == newer
        assert store.get("default", long.key) == long
        assert len(store.search("default", entry.partition, SPACE, direction(1, 2), 5)) == 2
        assert store.check() == ()
        store.close()
    client = raw(folder)
    kept = client.get_collection(name, embedding_function=None).get(ids=[entry.key])["metadatas"][0]
    client.close()
    assert set(kept) == {"r"}


def test_a_record_is_json_that_a_person_can_read() -> None:
    packed = pack(an_entry("What is tea?"), None, None)
    assert json.loads(packed.metadata["r"].removeprefix("j1::"))["prompt"] == "What is tea?"
    long = an_entry("p", "word " * 100_000)
    squeezed = pack(long, None, None)
    assert squeezed.size < 20_000
    opened = unpack(squeezed.id, squeezed.metadata, "default", None)
    assert opened is not None
    assert opened[0] == long
    assert isinstance(opened[0], Entry)


def test_what_is_recorded_right_after_opening_hides_nothing_that_was_there(tmp_path: Path) -> None:
    old, new = an_entry("What is tea?"), an_entry("What is mate?")
    with contextlib.closing(ChromaStore(path=tmp_path)) as store:
        store.put(old, (1.0, 0.0))
    with contextlib.closing(ChromaStore(path=tmp_path)) as store:
        store.put(new, (0.0, 1.0))
        found = store.search("default", old.partition, "space-1", (1.0, 0.1), 5)
        assert [match.entry for match in found] == [old, new]
