"""Opening the cache a command is about, and finding entries by the start of their key."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stepcache import StepCache
from stepcache._data import Entry
from stepcache.cli.console import FOUND_WRONG, fail, noting, reporting
from stepcache.stores._folder import Folder
from stepcache.stores.chroma import ChromaStore

__all__ = ["entry_values", "find", "folder_size", "opened"]

_SHORTEST_PREFIX = 4


@contextmanager
def opened(folder: Path, *, make: bool = False) -> Iterator[StepCache]:
    """The cache in a folder, without an embedder: no command needs one. Only `load` may make the folder."""
    if not make and not (folder.is_dir() and Folder(str(folder)).holds_cache()):
        fail(f"there is no cache at {folder}; name its folder with --cache")
    with noting(), reporting(), StepCache(ChromaStore(path=str(folder))) as cache:
        yield cache


def find(cache: StepCache, key: str, namespace: str | None) -> Entry:
    """The one entry whose key is, or starts with, this text; ends the command when there is none or more than one."""
    if len(key) < _SHORTEST_PREFIX:
        fail(f"a key is named by at least {_SHORTEST_PREFIX} of its first characters, not {key!r}")
    found = [entry for entry, _ in cache.store.scan(namespace) if entry.key.startswith(key.lower())]
    if not found:
        fail(f"there is no entry whose key starts with {key}", FOUND_WRONG)
    if len(found) > 1:
        fail(
            f"{len(found)} entries start with {key}, among them {found[0].key[:16]} and {found[1].key[:16]}; write more"
        )
    return found[0]


def entry_values(entry: Entry) -> dict[str, Any]:
    """What a person or program may want to know of an entry, as JSON values."""
    usage = entry.usage
    return {
        "key": entry.key,
        "namespace": entry.namespace,
        "task": entry.task,
        "prompt": entry.request.prompt,
        "model": entry.request.model,
        "partition": entry.partition,
        "steps": [step.text for step in entry.steps],
        "residue": entry.residue,
        "shape": entry.shape,
        "judged": entry.judged,
        "tags": list(entry.tags),
        "tokens": None if usage is None else usage.total,
        "finish_reason": entry.finish_reason,
        "created_at": entry.created_at,
        "expires_at": entry.expires_at,
        "expired": not entry.fresh(time.time()),
        "fingerprint": entry.fingerprint,
    }


def folder_size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return Folder(str(folder)).size()
