"""Where entries live. A store is imported when its name is first used: `ChromaStore` brings chromadb along."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepcache.stores.chroma import ChromaStore
    from stepcache.stores.memory import MemoryStore

__all__ = ["ChromaStore", "MemoryStore"]

_HOMES = {"ChromaStore": "chroma", "MemoryStore": "memory"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
