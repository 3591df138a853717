"""Where a Chroma is and what this process may do there: a folder or a server."""

from __future__ import annotations

import contextlib
import enum
import itertools
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from stepcache.errors import StoreError
from stepcache.stores._chroma_client import client_for_folder, client_for_url, import_chromadb, sessions_of
from stepcache.stores._folder import Folder
from stepcache.stores._tables import Tables

__all__ = ["FolderSite", "Role", "ServerSite", "Site"]

logger = logging.getLogger("stepcache")

_SNAPSHOT_LIMIT = 4_000_000_000
# Chroma keeps one system per path text and never shares it safely with a reopened or forked one: no text is used twice.
_openings = itertools.count()


class Role(enum.Enum):
    """What this process is to the place."""

    OWNER = "owner"  # the only writer: what memory knows is the truth
    GUEST = "guest"  # another process is the writer: exact hits by id, changes go into its inbox
    READER = "reader"  # nothing is written by anyone while we read
    SHARED = "shared"  # a server: others change it at any time


class Site(Protocol):
    """A place. `connect` may be called again after a loss."""

    role: Role

    def connect(self) -> Any:
        """Open a Chroma client and settle the role. Raises whatever Chroma, the disk or the network raise."""
        ...

    def lost(self) -> bool:
        """Whether what `connect` opened is no longer what lies there."""
        ...

    def promoted(self) -> bool:
        """Whether a guest has just become the owner."""
        ...

    def settle(self) -> None:
        """Called after writing: limit what others may read."""
        ...

    def close(self) -> None: ...

    def after_fork(self) -> None: ...


class ServerSite:
    """A Chroma server."""

    role = Role.SHARED

    def __init__(self, url: str, headers: Mapping[str, str] | None, timeout: float) -> None:
        self._url, self._headers, self._timeout = url, headers, timeout
        self._sessions: list[Any] = []

    def connect(self) -> Any:
        client = client_for_url(self._url, self._headers, self._timeout)
        self._sessions = sessions_of(client)
        return client

    def lost(self) -> bool:
        return False

    def promoted(self) -> bool:
        return False

    def settle(self) -> None:
        """Nothing: the files are the server's."""

    def close(self) -> None:
        """Close the connections, which Chroma's own client leaves open."""
        sessions, self._sessions = self._sessions, []
        for session in sessions:
            session.close()

    def after_fork(self) -> None:
        """The connections are the parent's."""
        self._sessions = []


class FolderSite:
    """A folder on disk."""

    def __init__(self, path: str, read_only: bool = False) -> None:
        self.folder = Folder(path)
        self.read_only = read_only
        self.role = Role.READER if read_only else Role.OWNER
        self.set_aside: list[Path] = []
        self._identity: tuple[int, int] | None = None
        self._snapshot: str | None = None
        self._said: set[str] = set()
        self._forked = False
        self._looked = 0.0

    def connect(self) -> Any:
        folder = self.folder
        if self._forked:
            return self._connect_as_guest()
        if self.read_only and not folder.path.is_dir():
            raise StoreError(f"there is no cache in {folder.path} to read")
        if not self.read_only:
            try:
                folder.prepare()
            except OSError as problem:
                raise StoreError(f"cannot make the folder {folder.path}: {problem.strerror}") from problem
        if not folder.writable():
            return self._connect_to_snapshot()
        if self.read_only:
            self.role = Role.READER if folder.acquire(shared=True) else Role.GUEST
        else:
            self.role = Role.OWNER if folder.acquire() else Role.GUEST
        if self.role is Role.GUEST:
            return self._connect_as_guest()
        import_chromadb()  # takes a second: before others are kept waiting
        with folder.opening():
            if self.role is Role.OWNER:
                self._set_aside_if(folder.damage())
                folder.sweep()
            try:
                client = client_for_folder(str(folder.path), next(_openings))
            except StoreError:
                raise
            except Exception as problem:  # Chroma and its Rust core raise what they like
                if self.role is not Role.OWNER or not _means_damage(problem):
                    raise
                self._set_aside_if(str(problem))
                client = client_for_folder(str(folder.path), next(_openings))
        self._identity = folder.identity()
        folder.secure()
        return client

    def _connect_as_guest(self) -> Any:
        """Read Chroma's tables without Chroma: a second opener might write, and in a forked child would hang."""
        folder = self.folder
        self.role = Role.GUEST
        self._say("guest", "Another process is the writer of %s: here only exact repetitions are served, and what is "
                  "recorded is handed over to it. To share a cache fully, run `chroma run --path %s` and use "
                  "ChromaStore(url=...)", folder.path, folder.path)
        self._identity = folder.identity()
        return Tables(folder.database)

    def _connect_to_snapshot(self) -> Any:
        """A folder nobody can write in can't be opened by Chroma at all; a private copy of it can."""
        folder = self.folder
        import_chromadb()
        if not folder.database.is_file():
            raise StoreError(f"the folder {folder.path} is read-only and holds no cache")
        if folder.size() > _SNAPSHOT_LIMIT:
            raise StoreError(f"the folder {folder.path} is read-only and too large to be copied for reading")
        self._say("read-only", "%s is read-only: what it holds is served, nothing is recorded", folder.path)
        self.role = Role.READER
        self._drop_snapshot()
        self._snapshot = tempfile.mkdtemp(prefix="stepcache-")
        for found in folder.chromas():
            target = os.path.join(self._snapshot, found.name)
            if found.is_dir():
                shutil.copytree(found, target, copy_function=shutil.copyfile)
                os.chmod(target, 0o700)
            else:
                shutil.copyfile(found, target)
        self._identity = folder.identity()
        return client_for_folder(self._snapshot, next(_openings))

    def _set_aside_if(self, damage: str | None) -> None:
        if damage is not None:
            place = self.folder.set_aside()
            self.set_aside.append(place)
            logger.warning("The cache in %s cannot be read (%s); it was moved to %s and a new one begun",
                           self.folder.path, damage, place.name)

    def _say(self, topic: str, text: str, *values: Any) -> None:
        if topic not in self._said:
            self._said.add(topic)
            logger.warning(text, *values, extra={"stepcache_topic": topic})

    def lost(self) -> bool:
        """Looks at most every twentieth of a second: asking a file system lets other threads in each time."""
        clock = time.monotonic()
        if clock - self._looked < 0.05 and self._identity is not None:
            return False
        now = self.folder.identity()
        if self.role is Role.GUEST:  # the owner may make the database after we have opened
            lost = now is None and self._identity is not None
        else:
            lost = self._identity is not None and now != self._identity
        if not lost:
            self._looked = clock
        return lost

    def promoted(self) -> bool:
        if self.role is not Role.GUEST or self.read_only or self._forked:
            return False
        with contextlib.suppress(OSError):
            return self.folder.acquire()
        return False

    def settle(self) -> None:
        if self.role is Role.OWNER:
            self.folder.secure()

    def close(self) -> None:
        self._identity = None
        self.folder.release()
        self._drop_snapshot()

    def _drop_snapshot(self) -> None:
        snapshot, self._snapshot = self._snapshot, None
        if snapshot is not None:
            shutil.rmtree(snapshot, ignore_errors=True)

    def after_fork(self) -> None:
        """A child of a process that had the folder open stays a guest: SQLite's state came along half-way."""
        self._forked = self._forked or self._identity is not None
        self._identity = None
        self._snapshot = None  # the parent's
        self.folder.after_fork()


def _means_damage(problem: Exception) -> bool:
    """Whether opening failed because of what is in the files, and not of locks, rights or space."""
    text = str(problem).lower()
    return any(sign in text for sign in (
        "malformed", "not a database", "no such table", "no such column", "migration", "corrupt", "unsupported",
        "decode", "invalid type", "missing field"))
