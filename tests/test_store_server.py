"""A Chroma server shared by many: walls hold, a dead server costs next to nothing, and service comes back by itself."""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import stepcache
from stepcache.errors import StoreError
from stepcache.stores._chroma_client import sessions_of
from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry

SPACE = "space-1"


class Server:
    """`chroma run` on loopback. Its output goes to a file: with a full pipe it would stand still."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-c", "import sys, chromadb_rust_bindings as chroma; chroma.cli(sys.argv)", "run",
                   "--path", str(self._folder), "--host", "127.0.0.1", "--port", str(self.port)]
        with open(f"{self._folder}.log", "ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        wait_for(self._answers, 60)

    def _answers(self) -> bool:
        with socket.socket() as attempt:
            return attempt.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


def wait_for(holds: Callable[[], bool], seconds: float) -> None:
    """Until something holds; fails when it takes too long."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("server"))
    made.start()
    yield made
    made.kill()


def test_a_server_serves_by_key_template_and_similarity(server: Server) -> None:
    store = ChromaStore(url=server.url, sync_writes=True)
    entries = [an_entry(f"p{n}", namespace=f"first{n % 2}", template="t", created_at=float(n)) for n in range(6)]
    for number, entry in enumerate(entries):
        store.put(entry, (1.0, float(number), 0.0))
    store.block("first0", entries[0].key, "other")
    store.close()
    store = ChromaStore(url=server.url)
    assert store.get("first1", entries[1].key) == entries[1]
    assert store.get("first0", entries[1].key) is None
    assert store.by_template("first0", "t", 2) == (entries[4], entries[2])
    found = store.search("first1", entries[1].partition, SPACE, (1.0, 5.0, 0.0), 2)
    assert [match.entry for match in found] == [entries[5], entries[3]]
    assert store.blocked("first0", "other") == {entries[0].key}
    assert store.delete("first1", [entries[1].key]) == 1
    assert store.get("first1", entries[1].key) is None
    with pytest.raises(StoreError, match="vacuum"):
        store.purge()
    assert store.clear("first0") == 3
    assert store.get("first0", entries[0].key) is None
    assert store.get("first1", entries[3].key) == entries[3]
    store.close()


def test_one_sees_what_another_recorded_and_removed(server: Server) -> None:
    first, second = ChromaStore(url=server.url, sync_writes=True), ChromaStore(url=server.url, sync_writes=True)
    second.put(an_entry("begin", namespace="seen"), (1.0, 0.0))
    entry = an_entry("news", namespace="seen", template="t")
    first.put(an_entry("begin", namespace="seen"), (1.0, 0.0))
    first.put(entry, (0.0, 1.0))
    assert second.get("seen", entry.key) == entry
    found = second.search("seen", entry.partition, SPACE, (0.0, 1.0), 1)
    assert [match.entry for match in found] == [entry]
    second.delete("seen", [entry.key])
    assert second.get("seen", entry.key) is None
    found = second.search("seen", entry.partition, SPACE, (0.0, 1.0), 5)
    assert entry not in [match.entry for match in found]
    first.close()
    second.close()


def test_a_client_of_the_callers_is_used_and_left_open(server: Server) -> None:
    import chromadb

    client = chromadb.HttpClient(host="127.0.0.1", port=server.port)
    store = ChromaStore(client=client, sync_writes=True)
    entry = an_entry("by client", namespace="client")
    store.put(entry, (1.0, 0.0))
    assert store.get("client", entry.key) == entry
    store.close()
    assert client.heartbeat() > 0
    for session in sessions_of(client):  # Chroma's own client leaves them open
        session.close()


_WORKER = """
import sys
sys.path.insert(0, sys.argv[1])
from stepcache.stores.chroma import ChromaStore
from stepcache.testing._store_contract import an_entry
store = ChromaStore(url=sys.argv[2])
for number in range(25):
    entry = an_entry(f"{sys.argv[3]} {number}", namespace="many")
    store.put(entry, (1.0, float(number), float(sys.argv[3])))
    assert store.get("many", entry.key) == entry
store.close()
"""


def test_many_processes_on_one_server_lose_nothing(server: Server) -> None:
    core = str(Path(stepcache.__file__).parents[1])
    workers = [subprocess.Popen([sys.executable, "-c", _WORKER, core, server.url, str(n)]) for n in range(3)]
    assert [worker.wait(timeout=120) for worker in workers] == [0] * 3
    store = ChromaStore(url=server.url)
    assert store.count("many") == 75
    assert len({entry.key for entry, _ in store.scan("many")}) == 75
    store.close()


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "mortal")
    yield made
    made.kill()


@pytest.fixture
def store(mortal: Server) -> Iterator[ChromaStore]:
    made = ChromaStore(url=mortal.url)
    yield made
    made.close()


def test_a_dead_server_costs_one_slow_call_and_is_found_again(
    mortal: Server, store: ChromaStore, caplog: pytest.LogCaptureFixture
) -> None:
    before, waiting = an_entry("before"), an_entry("while it was away")
    mortal.start()
    store.put(before, (1.0, 0.0))
    store.flush()
    mortal.kill()
    slow = 0
    for number in range(200):
        began = time.thread_time()
        with pytest.raises(StoreError):
            store.get("default", an_entry(f"unknown {number}").key)
        slow += time.thread_time() - began > 0.005  # of our own time: the machine may be busy with others
    assert slow <= 2
    store.put(waiting, (0.0, 1.0))
    assert store.get("default", waiting.key) == waiting
    mortal.start()
    wait_for(lambda: _served(store, before.key), 60)
    wait_for(lambda: len(store._open().queue) == 0, 60)
    again = ChromaStore(url=mortal.url)
    assert again.get("default", waiting.key) == waiting
    again.close()
    assert [record.levelno for record in caplog.records].count(logging.WARNING) <= 2


def _served(store: ChromaStore, key: str) -> bool:
    try:
        return store.get("default", key) is not None
    except StoreError:
        return False


def test_no_server_is_said_at_once_and_found_when_it_comes(mortal: Server, store: ChromaStore) -> None:
    for number in range(20):
        began = time.thread_time()
        with pytest.raises(StoreError):
            store.get("default", str(number))
    assert time.thread_time() - began < 0.05
    mortal.start()
    wait_for(lambda: _answers(store), 60)


def _answers(store: ChromaStore) -> bool:
    try:
        return store.get("default", "0" * 64) is None
    except StoreError:
        return False
