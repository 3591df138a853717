import pytest

from stepcache.stores.memory import MemoryStore
from stepcache.testing import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()
