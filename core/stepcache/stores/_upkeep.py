"""Looking after what is on disk: giving back space, leaving no trace of what went, finding and mending faults."""

from __future__ import annotations

import contextlib
import logging
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator

from stepcache.errors import StoreError
from stepcache.stores._chroma_client import Chroma
from stepcache.stores._chroma_engine import Engine
from stepcache.stores._folder import Folder
from stepcache.stores._records import Shelf, collection_name, unpack
from stepcache.stores._rooms import Room
from stepcache.stores._site import FolderSite, Role
from stepcache.stores._vectors import unit

__all__ = ["check", "compact", "notes", "purge", "repair"]

logger = logging.getLogger("stepcache")

_VACUUM_SECONDS = 600
_SAMPLE = 20
_LITTLE_SPACE = 100_000_000  # bytes
_FUTURE_SECONDS = 300.0  # clocks of machines that share a cache differ by less


def compact(engine: Engine) -> None:
    """Give back the space that removed entries still hold."""
    with _alone(engine) as folder:
        chroma = engine.chroma()
        chroma.close()
        _vacuum(folder)
        engine.let_go()


def purge(engine: Engine) -> None:
    """Leave no byte of removed text or vectors in the folder.

    Chroma keeps removed vectors in its index files and removed text in its log and free pages. So every collection
    is written anew from what is still there, the old one dropped, the log emptied, and the database file rewritten.
    """
    with _alone(engine) as folder:
        for name in engine.names():
            room = engine.room(name)
            if room is not None:
                for shelf in list(room.names):
                    _rewrite(engine, room, shelf)
        engine.chroma().close()
        _vacuum(folder)
        folder.drop_set_aside()
        engine.let_go()


@contextlib.contextmanager
def _alone(engine: Engine) -> Iterator[Folder]:
    """Everything is written, and nothing will be until the end. Raises `StoreError` where that can't be had."""
    engine.chroma()
    site = engine.site
    if not isinstance(site, FolderSite):
        raise StoreError("space on a server is the server's to give back: run `chroma vacuum` there")
    if site.role is not Role.OWNER:
        raise StoreError("another process is the writer of this folder, or it is read-only; do this where it is open")
    with engine.queue.paused():
        engine.queue.flush()
        yield site.folder


def _rewrite(engine: Engine, room: Room, shelf: Shelf) -> None:
    """Copy a collection, record by record as it is, into a new one; an interruption leaves the old one whole."""
    chroma, old = engine.chroma(), room.names[shelf]
    generation = int(old.rpartition("-g")[2]) + 1 if "-g" in old else 1
    new = collection_name(shelf, generation)
    chroma.create(new, shelf.metadata)
    for page in chroma.pages(old, vectors=True):
        whole = [(id_, metadata, vector) for id_, (metadata, vector) in page.items()
                 if metadata is not None and vector is not None]
        if whole:
            chroma.upsert(new, [row[0] for row in whole], [row[2] for row in whole], [row[1] for row in whole])
    chroma.drop(old)
    with engine.lock:
        room.names[shelf] = new


def _vacuum(folder: Folder) -> None:
    """Chroma's own vacuum empties the log; SQLite's rewrites the file. Chroma is closed."""
    command = [sys.executable, "-c", "import sys, chromadb_rust_bindings as chroma; chroma.cli(sys.argv)",
               "vacuum", "--path", str(folder.path), "--force"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_VACUUM_SECONDS, check=False)
        if done.returncode:
            logger.warning("chroma vacuum failed: %s", done.stderr.strip()[-200:])
        with contextlib.closing(sqlite3.connect(folder.database, timeout=30)) as database:
            database.execute("PRAGMA secure_delete = ON")
            database.execute("VACUUM")
    except (OSError, subprocess.SubprocessError, sqlite3.Error) as problem:
        raise StoreError(f"the database could not be rewritten: {problem}") from problem
    folder.sweep()


def notes(engine: Engine) -> tuple[str, ...]:
    """What this process may not do here, in words; nothing is wrong with that."""
    with contextlib.suppress(StoreError):
        engine.chroma()
    match engine.site.role:
        case Role.GUEST:
            return ("another process is the writer: only exact repetitions are served here",)
        case Role.READER:
            return ("opened for reading only: nothing is recorded",)
        case _:
            return ()


def check(engine: Engine) -> tuple[str, ...]:
    """What is wrong, in words; empty when all is well."""
    found: list[str] = []
    if isinstance(engine.site, FolderSite):
        with contextlib.suppress(OSError):  # first of all: a full disk explains what comes after
            if (free := shutil.disk_usage(engine.site.folder.path).free) < _LITTLE_SPACE:
                found.append(f"only {free / 1e6:.1f} MB are free on the disk of this folder")
    try:
        for name in engine.names():
            engine.room(name)
    except StoreError as problem:
        return (*found, str(problem))
    rooms, site = engine.rooms, engine.site
    if rooms.refused:
        found.append(f"{rooms.refused} records are damaged, foreign or not signed with our key, and are not served")
    if rooms.doubles:
        found.append(f"{len(rooms.doubles)} entries lie in two collections; the later one is served")
    if rooms.foreign:
        found.append(f"{len(rooms.foreign)} collections are of another version and are left alone; only deleting the "
                     "folder removes them")
    if engine.queue.dropped:
        found.append(f"{engine.queue.dropped} entries were dropped because they could not be written in time")
    if engine.queue.problem:
        found.append(f"writing fails at present: {engine.queue.problem}")
    if ahead := _from_the_future(engine):
        found.append(f"{ahead} entries are dated in the future: the clock was set back; those with a time limit are "
                     "not served until it has caught up")
    if isinstance(site, FolderSite):
        found.extend(site.folder.findings())
    if site.role is not Role.GUEST:
        try:
            found.extend(f"{len(lost)} of {_SAMPLE} sampled vectors of a collection can't be found by search"
                         for _, _, lost in _unfindable(engine))
        except StoreError as problem:
            found.append(f"a collection can't be searched: {problem}")
    return tuple(found)


def _from_the_future(engine: Engine) -> int:
    latest = time.time() + _FUTURE_SECONDS
    with engine.lock:
        return sum(place.created_at > latest
                   for index in engine.rooms.indexes().values() for place in index.places.values())


def _unfindable(engine: Engine) -> Iterator[tuple[Room, Shelf, list[str]]]:
    """Collections whose vector index has lost entries, by a sample of each."""
    chroma = engine.chroma()
    for namespace in engine.names():
        room = engine.rooms.get(namespace)
        for shelf, name in [] if room is None else list(room.names.items()):
            if not shelf.fingerprint or room is None:
                continue
            with engine.lock:
                ids = [id_ for id_, place in room.index.places.items() if place.fingerprint == shelf.fingerprint]
            step = max(1, len(ids) // _SAMPLE)
            lost = [id_ for id_ in ids[::step][:_SAMPLE] if not _found(chroma, name, id_)]
            if lost:
                yield room, shelf, lost


def _found(chroma: Chroma, name: str, id_: str) -> bool:
    try:
        row = chroma.get(name, [id_], vectors=True).get(id_)
        direction = None if row is None else unit(row[1])
        if direction is None:
            return row is None  # removed meanwhile
        nearest = chroma.nearest(name, direction, 10)
    except StoreError:
        return False
    return any(found == id_ or similarity > 0.9999 for found, similarity in nearest)


def repair(engine: Engine) -> tuple[str, ...]:
    """Mend what `check` finds, where this process may write; returns what was done."""
    done: list[str] = []
    with _alone(engine) as folder:
        chroma = engine.chroma()
        for name in engine.names():
            engine.room(name)
        doubles, engine.rooms.doubles = engine.rooms.doubles, []
        for shelf, id_ in doubles:
            room = engine.rooms.get(shelf.namespace)
            if room is not None and shelf in room.names:
                chroma.delete(room.names[shelf], [id_])
        if doubles:
            done.append(f"removed {len(doubles)} second copies of entries")
        for room, shelf, _ in list(_unfindable(engine)):
            _rewrite(engine, room, shelf)
            done.append("wrote a collection anew whose vectors could not be found")
        removed = sum(_remove_refused(engine, chroma, name) for name in engine.names())
        if removed:
            done.append(f"removed {removed} damaged or foreign records")
        engine.rooms.refused = 0
        folder.secure()
        if done:
            engine.let_go()
    return tuple(done)


def _remove_refused(engine: Engine, chroma: Chroma, namespace: str) -> int:
    room = engine.rooms.get(namespace)
    removed = 0
    for name in [] if room is None or not engine.rooms.refused else list(room.names.values()):
        bad = [
            id_ for page in chroma.pages(name) for id_, (metadata, _) in page.items()
            if unpack(id_, metadata, namespace, engine.signing_key) is None and not id_.startswith("b")
        ]
        chroma.delete(name, bad)
        removed += len(bad)
    return removed

