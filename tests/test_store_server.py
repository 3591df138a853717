"""A Chroma server shared by many: walls hold, a dead server costs next to nothing, and service comes back by itself."""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import stepcache
from stepcache import Request, StepCache
from stepcache.errors import StoreError
from stepcache.stores._chroma_client import sessions_of
from stepcache.stores.chroma import ChromaStore
from stepcache.testing import HashEmbedder
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


async def _left_alone(client: Any) -> Any:
    """The client with the connections closed that it made on this loop; Chroma's own code leaves them open."""
    pool = client._server._clients.pop(hash(asyncio.get_running_loop()), None)
    if pool is not None:
        await pool.aclose()
    return client


async def _async_client(server: Server) -> Any:
    import chromadb

    return await _left_alone(await chromadb.AsyncHttpClient(host="127.0.0.1", port=server.port))


def test_an_async_client_serves_blocking_callers(server: Server) -> None:
    first, second = an_entry("first", namespace="async", template="t"), an_entry("second", namespace="async")
    # Awaited in a loop that is gone by now, or not yet.
    for client in (asyncio.run(_async_client(server)), _async_client(server)):
        store = ChromaStore(client=client, sync_writes=True)
        store.put(first, (1.0, 0.0))
        store.put(second, (0.0, 1.0))
        store.close()
        store = ChromaStore(url=server.url)
        assert store.get("async", first.key) == first
        assert store.by_template("async", "t", 5) == (first,)
        found = store.search("async", first.partition, SPACE, (0.1, 1.0), 1)
        assert [match.entry for match in found] == [second]
        assert store.clear("async") == 2
        store.close()


def test_an_async_client_serves_async_callers_on_its_own_loop(server: Server) -> None:
    """The loop that made the client is the one that waits for the store: neither blocks the other."""
    import chromadb

    calls = []

    async def model(prompt: str, purpose: str) -> str:
        calls.append(prompt)
        return "elm"

    async def main() -> list[str]:
        client = await chromadb.AsyncHttpClient(host="127.0.0.1", port=server.port)
        sources = []
        for _ in range(2):  # the second time from the server: a cache of its own
            cache = StepCache(ChromaStore(client=client, sync_writes=True), embedder=HashEmbedder())
            request = Request("Name a tree", namespace="async app")
            sources.append((await cache.acomplete(request, model)).source)
            near = await cache.acomplete(Request("Please name a tree.", namespace="async app"), model)
            sources.append(near.source)
            await asyncio.to_thread(cache.close)
        assert await client.heartbeat() > 0  # left open
        await _left_alone(client)
        return sources

    assert asyncio.run(main()) == ["model", "cache", "cache", "cache"]
    assert calls == ["Name a tree"]


def test_an_async_client_whose_server_dies_is_found_again(mortal: Server) -> None:
    mortal.start()
    store = ChromaStore(client=asyncio.run(_async_client(mortal)))
    entry = an_entry("before")
    store.put(entry, (1.0, 0.0))
    store.flush()
    mortal.kill()
    failed = 0
    for number in range(50):
        with pytest.raises(StoreError):
            store.get("default", an_entry(f"unknown {number}").key)
        failed += 1
    assert failed == 50
    mortal.start()
    wait_for(lambda: _served(store, an_entry("before").key), 60)
    store.close()


class Mute:
    """A server that takes connections and never says a word."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(64)
        self.port: int = self._socket.getsockname()[1]

    def close(self) -> None:
        self._socket.close()


@pytest.mark.parametrize("kind", ["blocking", "async"])
def test_a_server_that_says_nothing_holds_nobody_up(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    from stepcache.stores import chroma

    monkeypatch.setattr(chroma, "_SERVER_TIMEOUT", 0.3)
    mute = Mute()
    session = httpx.Client(base_url=f"http://127.0.0.1:{mute.port}", timeout=None)

    class Silent:
        """As much of a Chroma client as is asked before the first answer."""

        _server = SimpleNamespace(_session=session)

        def get_max_batch_size(self) -> int:
            session.get("/")
            return 1

    class SilentAsync:
        async def list_collections(self, **_: Any) -> list[Any]:
            return []

        async def get_max_batch_size(self) -> int:
            await asyncio.sleep(3600)
            return 1

    store = ChromaStore(client=Silent() if kind == "blocking" else SilentAsync())
    for _ in range(5):
        with pytest.raises(StoreError):
            store.get("default", "0" * 64)
    store.close()
    session.close()
    mute.close()


_WORKER = """
import sys
sys.path.insert(0, sys.argv[1])
from stepcache.stores.chroma import ChromaStore
from stepcache.testing import HashEmbedder
from stepcache.testing._store_contract import an_entry
store = ChromaStore(url=sys.argv[2])
for number in range(25):
    entry = an_entry(f"{sys.argv[3]} {number}", namespace="many")
    store.put(entry, (1.0, float(number), float(sys.argv[3])))
    assert store.get("many", entry.key) == entry
store.close()
"""


def test_eight_processes_on_one_server_lose_nothing(server: Server) -> None:
    core = str(Path(stepcache.__file__).parents[1])
    workers = [subprocess.Popen([sys.executable, "-c", _WORKER, core, server.url, str(n)]) for n in range(8)]
    assert [worker.wait(timeout=240) for worker in workers] == [0] * 8
    store = ChromaStore(url=server.url)
    assert store.count("many") == 200
    assert len({entry.key for entry, _ in store.scan("many")}) == 200
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
