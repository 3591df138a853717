"""LangChain's cache suites hold for the hook, in memory and on Chroma."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from langchain_core.caches import BaseCache
from langchain_tests.integration_tests import AsyncCacheTestSuite, SyncCacheTestSuite

from langchain_stepcache import LangChainStepCache
from stepcache import StepCache
from stepcache.stores.chroma import ChromaStore
from stepcache.stores.memory import MemoryStore
from stepcache.testing import HashEmbedder


class TestSyncInMemory(SyncCacheTestSuite):
    @pytest.fixture
    def cache(self) -> BaseCache:
        return LangChainStepCache(StepCache(MemoryStore(), embedder=HashEmbedder()))


class TestAsyncInMemory(AsyncCacheTestSuite):
    @pytest.fixture
    async def cache(self) -> BaseCache:
        return LangChainStepCache(StepCache(MemoryStore(), embedder=HashEmbedder()))


class TestSyncOnChroma(SyncCacheTestSuite):
    @pytest.fixture
    def cache(self, tmp_path: Path) -> Iterator[BaseCache]:
        with StepCache(ChromaStore(path=tmp_path), embedder=HashEmbedder()) as opened:
            yield LangChainStepCache(opened)


class TestAsyncOnChroma(AsyncCacheTestSuite):
    @pytest.fixture
    async def cache(self, tmp_path: Path) -> AsyncIterator[BaseCache]:
        with StepCache(ChromaStore(path=tmp_path), embedder=HashEmbedder()) as opened:
            yield LangChainStepCache(opened)
