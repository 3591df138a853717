"""A store's folder: who may write in it, what its files may be read by, and whether it is still the same folder."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepcache.errors import StoreError

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows; there the folder is taken to be ours alone
    fcntl = None

__all__ = ["Folder"]

DATABASE = "chroma.sqlite3"
LOCK = ".stepcache.lock"
OPENING = ".stepcache.opening"
SET_ASIDE = ".stepcache-set-aside"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Folder:
    """One folder on disk. At most one process at a time is its writer, held by a lock on `.stepcache.lock`.

    Two writers on one Chroma folder lose vectors, hang or crash; the lock goes with the process, however it ends.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(os.path.realpath(path))
        self._lock: int | None = None

    def __repr__(self) -> str:
        return f"Folder({str(self.path)!r})"

    @property
    def database(self) -> Path:
        return self.path / DATABASE

    def prepare(self) -> None:
        """Make the folder, for its owner's eyes only. Raises OSError."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            self.path.mkdir(mode=0o700)

    def holds_cache(self) -> bool:
        """Whether there is a cache here, or what is left of one."""
        return self.database.exists() or any(self.path.glob(".stepcache-*"))

    def writable(self) -> bool:
        """Whether files can be made here."""
        probe = self.path / f".stepcache.probe.{os.getpid()}"
        try:
            os.close(os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            probe.unlink()
        except OSError:
            return False
        return not self.database.exists() or os.access(self.database, os.W_OK)

    def identity(self) -> tuple[int, int] | None:
        """Changes when the database was deleted or replaced behind our back; None when it is not there."""
        try:
            found = os.stat(self.database)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def acquire(self, shared: bool = False) -> bool:
        """Become the writer, unless another process (or another opener in this one) is. Raises OSError.

        `shared` is for readers: there may be several, and no writer meanwhile.
        """
        if self._lock is not None:
            return True
        if fcntl is None:
            return True
        handle = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._lock = handle
        return True

    def release(self) -> None:
        """Stop being the writer."""
        handle, self._lock = self._lock, None
        if handle is not None:
            fcntl.flock(handle, fcntl.LOCK_UN)  # also where a child of ours still holds the file open
            os.close(handle)

    @contextlib.contextmanager
    def opening(self, timeout: float = 20.0) -> Iterator[None]:
        """Chroma's set-up of a new folder fails when two do it at once: whoever finds none has the folder alone."""
        if fcntl is None:
            yield
            return
        handle = os.open(self.path / OPENING, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            deadline = time.monotonic() + timeout
            while True:
                ready = self.database.exists() and self.database.stat().st_size > 0
                try:
                    fcntl.flock(handle, (fcntl.LOCK_SH if ready else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise StoreError(f"another process has been opening {self.path} for {timeout:g} s") from None
                    time.sleep(0.02)
            yield
        finally:
            os.close(handle)

    def damage(self) -> str | None:
        """What is wrong with the database file, or None. Looks at its head and schema only; never writes."""
        if not self.database.exists():
            return None
        try:
            with contextlib.closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True, timeout=5)) as read:
                read.execute("SELECT count(*) FROM sqlite_master").fetchone()
                read.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError:
            return None  # locked, unreadable, no space: trouble, but not damage
        except sqlite3.DatabaseError as problem:
            return str(problem)
        return None

    def set_aside(self) -> Path:
        """Move everything of Chroma's out of the way into a folder beside it, and return that folder."""
        number = 1
        while (place := self.path / f"{SET_ASIDE}-{number}").exists():
            number += 1
        place.mkdir(mode=0o700)
        for found in self.chromas():
            found.rename(place / found.name)
        return place

    def drop_set_aside(self) -> None:
        """Remove what was set aside."""
        for found in self.path.glob(f"{SET_ASIDE}-*"):
            shutil.rmtree(found, ignore_errors=True)

    def sweep(self) -> None:
        """Remove the folders of indexes that no longer exist, which Chroma leaves behind. Chroma is not open."""
        if not self.database.exists():
            return
        try:
            with contextlib.closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True, timeout=5)) as read:
                known = {row[0] for row in read.execute("SELECT id FROM segments")}
        except sqlite3.Error:
            return
        for found in self.chromas():
            if found.is_dir() and found.name not in known:
                shutil.rmtree(found, ignore_errors=True)

    def findings(self) -> list[str]:
        """What is wrong or worth knowing about the files."""
        found = []
        if (aside := sorted(place.name for place in self.path.glob(f"{SET_ASIDE}-*"))):
            found.append(f"an unreadable cache was set aside in {', '.join(aside)}; purge removes it")
        try:
            with contextlib.closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True, timeout=5)) as read:
                said = read.execute("PRAGMA quick_check(1)").fetchone()[0]
            if said != "ok":
                found.append(f"the database is damaged: {said}")
        except sqlite3.Error as problem:
            found.append(f"the database can't be read: {problem}")
        if any(place.stat().st_mode & 0o077 for place in self.chromas()):
            found.append("other users may read the files of this cache")
        return found

    def chromas(self) -> list[Path]:
        """What Chroma made here: its database files and a folder per index. Nothing else is ours to touch."""
        with contextlib.suppress(OSError):
            return [
                found for found in self.path.iterdir()
                if found.name.startswith(DATABASE) or (_UUID.fullmatch(found.name) and found.is_dir())
            ]
        return []

    def secure(self) -> None:
        """Files 0600, folders 0700: what a cache holds is its owner's business."""
        for found in self.chromas():
            if found.is_dir():
                _limit(found, 0o700)
                for inner in found.iterdir():
                    _limit(inner, 0o600)
            else:
                _limit(found, 0o600)

    def size(self) -> int:
        """Bytes of all files."""
        total = 0
        for folder, _, files in os.walk(self.path):
            for name in files:
                with contextlib.suppress(OSError):
                    total += os.stat(os.path.join(folder, name)).st_size
        return total

    def after_fork(self) -> None:
        """In a child: let go of the parent's lock without unlocking it (closing does not, LOCK_UN would)."""
        handle, self._lock = self._lock, None
        if handle is not None:
            os.close(handle)


def _limit(path: Path, mode: int) -> None:
    with contextlib.suppress(OSError):
        if os.stat(path).st_mode & 0o077:
            os.chmod(path, mode)
