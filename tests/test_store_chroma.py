from collections.abc import Iterator
from pathlib import Path

import pytest

from stepcache.stores.chroma import ChromaStore
from stepcache.testing import StoreContract


class TestChromaStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[ChromaStore]:
        store = ChromaStore(path=str(tmp_path / "cache"))
        yield store
        store.close()
