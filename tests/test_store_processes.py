"""Many processes on one folder, forks and sudden death: nothing is lost, nothing is half, nothing hangs."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import stepcache
from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry

CORE = str(Path(stepcache.__file__).parents[1])
BEGIN = """
import sys, time
sys.path.insert(0, sys.argv[1])
from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry
store = ChromaStore(path=sys.argv[2])
"""


def child(script: str, *arguments: object, **options: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", BEGIN + script, CORE, *map(str, arguments)], text=True, **options)


def test_eight_processes_that_open_a_new_folder_at_once_lose_nothing(tmp_path: Path) -> None:
    """Cases 62 and 63."""
    folder = tmp_path / "cache"
    script = """
for number in range(20):
    entry = an_entry(f"{sys.argv[3]} {number}", template="t", created_at=float(number))
    store.put(entry, (1.0, float(number), float(sys.argv[3])))
    assert store.get("default", entry.key) == entry
store.block("default", "key " + sys.argv[3], "other")
store.close()
"""
    workers = [child(script, folder, number) for number in range(8)]
    assert [worker.wait(timeout=240) for worker in workers] == [0] * 8
    store = ChromaStore(path=folder)
    assert store.count() == 160
    assert store.blocked("default", "other") == {f"key {number}" for number in range(8)}
    assert len(store.by_template("default", "t", 200)) == 160
    store.close()
    store = ChromaStore(path=folder)
    assert store.count() == len(list(store.scan())) == 160
    assert store.check() == ()
    store.close()


def test_a_guest_serves_exact_hits_and_hands_over_what_it_records(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    owner = ChromaStore(path=folder)
    entry, removed = an_entry("owner's"), an_entry("to be removed")
    owner.put(entry, (1.0, 0.0))
    owner.put(removed, (1.0, 0.0))
    owner.flush()
    script = """
entry, removed, new = an_entry("owner's"), an_entry("to be removed"), an_entry("guest's", template="t")
assert store.get("default", entry.key) == entry
assert store.search("default", entry.partition, "space-1", (1.0, 0.0), 5) == ()
store.put(new, (1.0, 0.0))
assert store.get("default", new.key) == new
assert [match.entry for match in store.search("default", new.partition, "space-1", (1.0, 0.0), 5)] == [new]
assert store.delete("default", [removed.key]) == 1
assert store.get("default", removed.key) is None
store.close()
"""
    assert child(script, folder).wait(timeout=60) == 0
    new = an_entry("guest's", template="t")
    deadline = time.monotonic() + 30
    while owner.get("default", new.key) is None or owner.get("default", removed.key) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert owner.by_template("default", "t", 1) == (new,)
    assert len(owner.search("default", new.partition, "space-1", (1.0, 0.0), 5)) == 2
    owner.close()


def test_what_was_flushed_survives_a_kill_and_nothing_is_half(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    script = """
flushed = 0
start = int(sys.argv[3])
for number in range(start, start + 500):
    store.put(an_entry(f"p{number}", f"reply {number} " * 200, template="t"), (1.0, float(number), 2.0))
    if number % 20 == 19:
        store.flush()
        print(number, flush=True)
time.sleep(60)
"""
    safe: list[int] = []
    for round_ in range(3):
        worker = child(script, folder, round_ * 500, stdout=subprocess.PIPE)
        assert worker.stdout is not None
        for _ in range(2 + round_):
            safe.append(int(worker.stdout.readline()))
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
    store = ChromaStore(path=folder)
    for last in safe:
        for number in range(last - 19, last + 1):
            entry = an_entry(f"p{number}", f"reply {number} " * 200, template="t")
            assert store.get("default", entry.key) == entry
    for entry, vector in store.scan():
        number = int(entry.request.prompt[1:])
        assert entry.reply == f"reply {number} " * 200
        assert vector is not None
        found = store.search("default", entry.partition, "space-1", vector, 1)
        assert found[0].similarity is not None
        assert found[0].similarity > 0.9999
    assert store.check() == ()
    store.close()


def test_leaving_without_closing_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    script = """
for number in range(100):
    store.put(an_entry(f"p{number}"), (1.0, float(number)))
"""
    assert child(script, folder).wait(timeout=60) == 0
    store = ChromaStore(path=folder)
    assert store.count() == 100
    store.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_workers_neither_hang_nor_lose_anything(tmp_path: Path) -> None:
    store = ChromaStore(path=tmp_path / "cache")
    entry = an_entry()
    store.put(entry, (1.0, 0.0))
    store.flush()
    stop = threading.Event()

    def keep_writing() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            store.put(an_entry(f"parent {number}"), (1.0, float(number)))
            stop.wait(0.002)

    def work(number: int) -> None:
        assert store.get("default", entry.key) == entry
        store.put(an_entry(f"child {number}"), (1.0, 0.0))
        assert store.get("default", an_entry(f"child {number}").key) is not None

    writer = threading.Thread(target=keep_writing)
    writer.start()
    workers = [multiprocessing.get_context("fork").Process(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)
    stop.set()
    writer.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    store.close()
    again = ChromaStore(path=tmp_path / "cache")
    assert all(again.get("default", an_entry(f"child {number}").key) is not None for number in range(4))
    again.close()


def test_a_guest_becomes_the_owner_when_the_owner_leaves(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    script = """
store.put(an_entry("first owner's"), (1.0, 0.0))
store.flush()
print("ready", flush=True)
sys.stdin.readline()
store.close()
"""
    owner = child(script, folder, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    assert owner.stdout is not None
    assert owner.stdin is not None
    assert owner.stdout.readline() == "ready\n"
    store = ChromaStore(path=folder)
    mine = an_entry("guest's", template="t")
    store.put(mine, (1.0, 0.5))
    assert store.search("default", mine.partition, "space-1", (1.0, 0.0), 5)[0].entry == mine
    owner.stdin.write("\n")
    owner.stdin.close()
    assert owner.wait(timeout=60) == 0
    owner.stdout.close()
    deadline = time.monotonic() + 60
    while len(store.search("default", mine.partition, "space-1", (1.0, 0.0), 5)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert store.by_template("default", "t", 5) == (mine,)
    store.close()
