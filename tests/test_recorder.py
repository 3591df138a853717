"""Recording never waits for an embedding, and what is recorded can be found at once."""

from __future__ import annotations

import subprocess
import sys
import threading

from stepcache import CacheControl, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder, ScriptedModel


class Held(HashEmbedder):
    """An embedder whose model takes as long to load as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.release = threading.Event()

    def load(self) -> None:
        self.release.wait(30)


def test_a_record_is_readable_by_key_and_template_before_it_is_embedded():
    embedder = Held()
    cache, model = StepCache(MemoryStore(), embedder, tasks=(plain_text(),)), ScriptedModel("elm")
    cache.complete("Name a tree", model)
    assert cache.complete("Name a tree", model).exact
    assert cache.complete("please name a tree.", model).outcome == "reuse"
    assert embedder.calls == 0
    embedder.release.set()
    cache.flush()
    (entry, vector), = cache.store.scan()
    assert entry.fingerprint == embedder.fingerprint
    assert vector is not None


def test_a_search_waits_for_what_was_recorded_before_it():
    embedder = Held()
    cache, model = StepCache(MemoryStore(), embedder, tasks=(plain_text(),)), ScriptedModel("elm")
    cache.complete("Name a tree that grows in Graz", model)
    threading.Timer(0.05, embedder.release.set).start()
    assert cache.complete("Name a tree that grows in Linz", model).outcome == "skip"


def test_each_request_is_embedded_at_most_once():
    embedder = HashEmbedder()
    cache, model = StepCache(MemoryStore(), embedder, tasks=(plain_text(),)), ScriptedModel("elm")
    cache.complete("Name a tree that grows in Graz", model)
    cache.flush()
    before = embedder.calls
    cache.complete("Name a tree that grows in Linz", model)
    cache.flush()
    assert embedder.calls == before + 1


def test_what_is_recorded_anew_is_never_written_over_by_what_waited_before_it():
    class HeldOnce(HashEmbedder):
        """Fast, but for the first entry, which the recorder is still at when the second comes."""

        def __init__(self) -> None:
            super().__init__()
            self.entered, self.release = threading.Event(), threading.Event()

        def embed(self, text):
            if threading.current_thread().name == "stepcache-recorder" and not self.entered.is_set():
                self.entered.set()
                self.release.wait(30)
            return super().embed(text)

    embedder = HeldOnce()
    cache = StepCache(MemoryStore(), embedder, tasks=(plain_text(),))
    model = ScriptedModel(["an elm", "a yew"])
    cache.complete("Name a tree", model)
    assert embedder.entered.wait(30)
    cache.complete("Name a tree", model, control=CacheControl(refresh=True))
    assert cache.complete("Name a tree", model).output == "a yew"
    embedder.release.set()
    cache.flush()
    assert cache.complete("Name a tree", model).output == "a yew"


def test_what_was_recorded_last_survives_a_plain_exit(tmp_path):
    code = (
        "from stepcache import StepCache\nfrom stepcache.testing import HashEmbedder\n"
        f"cache = StepCache.open({str(tmp_path)!r}, embedder=HashEmbedder())\n"
        "print(cache.complete('Name a tree', lambda prompt, purpose: 'elm').source)\n"
    )
    said = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
            for _ in range(2)]
    assert said == ["model", "cache"]


def test_a_plain_exit_waits_for_an_embedding_under_way(tmp_path):
    """Else the entry is lost, and an interpreter that goes away below a running model aborts."""
    code = (
        "import time\nfrom pathlib import Path\nfrom stepcache import StepCache\n"
        "from stepcache.stores.memory import MemoryStore\nfrom stepcache.testing import HashEmbedder\n"
        "class Slow(HashEmbedder):\n"
        "    def embed(self, text):\n"
        "        time.sleep(1)\n"
        "        return super().embed(text)\n"
        "class Told(MemoryStore):\n"
        "    def put(self, entry, vector):\n"
        f"        Path({str(tmp_path / 'put')!r}).write_text(str(vector is not None))\n"
        "StepCache(Told(), Slow()).complete('Name a tree', lambda prompt, purpose: 'elm')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "put").read_text() == "True"
