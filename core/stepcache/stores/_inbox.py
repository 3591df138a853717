"""How processes that may not write a folder hand their changes to the one that may: a file of JSON lines each.

A line is on disk when `append` returns. The owner renames a file before it reads it, so nothing is read while being
written and nothing is lost if the owner dies half-way; taking a line in twice does no harm.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepcache._codec import CODEC_VERSION, MAX_RECORD_CHARS, decode_line, encode_line, same_signature, sign
from stepcache._data import Entry
from stepcache.stores._records import read_name, write_name

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows; there is no second process then
    fcntl = None

__all__ = ["INBOX", "Blocked", "Cleared", "Inbox", "Order", "Put", "Removed"]

logger = logging.getLogger("stepcache")

INBOX = ".stepcache-inbox"
_TAKEN = ".taken"


@dataclass(frozen=True, slots=True)
class Put:
    """Record this entry."""

    entry: Entry
    vector: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Removed:
    """Remove the record with this id, if it is not newer than the order."""

    namespace: str
    id: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """Never match `key` with the request `other` again."""

    namespace: str
    key: str
    other: str


@dataclass(frozen=True, slots=True)
class Cleared:
    """Remove all of a namespace."""

    namespace: str


Order = Put | Removed | Blocked | Cleared


class Inbox:
    """The inbox of one folder."""

    def __init__(self, folder: Path, signing_key: bytes | None) -> None:
        self._folder = folder / INBOX
        self._signing_key = signing_key
        self._mine = f"{os.getpid()}-{secrets.token_hex(4)}.jsonl"

    def append(self, orders: Iterable[Order]) -> None:
        """Hand over; on disk when this returns. Raises OSError."""
        data = b"".join(self._line(order).encode() + b"\n" for order in orders)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._folder / self._mine
        while True:
            handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                _lock(handle)
                if not _same_file(handle, path):
                    continue  # taken by the owner between open and lock
                with memoryview(data) as rest:
                    written = 0
                    while written < len(data):
                        written += os.write(handle, rest[written:])
                os.fsync(handle)
                return
            finally:
                os.close(handle)

    def waiting(self) -> bool:
        """Whether anything was handed over that has not been taken in."""
        with contextlib.suppress(OSError):
            return any(True for _ in self._folder.iterdir())
        return False

    def take(self) -> Iterator[tuple[Path, list[Order]]]:
        """Each file with its orders, oldest first. The caller removes the file once they are safe."""
        with contextlib.suppress(OSError):
            files = sorted(
                (found for found in self._folder.iterdir() if found.name.endswith((".jsonl", _TAKEN))),
                key=lambda found: (found.stat().st_mtime_ns, found.name))
            for file in files:
                taken = file
                if not file.name.endswith(_TAKEN):
                    taken = file.with_name(f"{file.name}.{secrets.token_hex(4)}{_TAKEN}")
                    file.rename(taken)
                yield taken, self._orders(taken)

    def _orders(self, file: Path) -> list[Order]:
        orders: list[Order] = []
        spoilt = 0
        with open(file, "rb") as lines:
            _lock(lines.fileno())  # wait for an append that was under way when the file was renamed
            while line := lines.readline(4 * MAX_RECORD_CHARS):
                try:
                    order = self._order(line.decode("utf-8", "replace")) if line.endswith(b"\n") else None
                except (ValueError, TypeError, KeyError, RecursionError):
                    order = None
                if order is None:
                    spoilt += 1
                else:
                    orders.append(order)
        if spoilt:
            logger.warning("%d damaged or unsigned lines of %s were left out", spoilt, file.name)
        return orders

    def _line(self, order: Order) -> str:
        if isinstance(order, Put):
            return encode_line(order.entry, order.vector, self._signing_key)
        match order:
            case Removed():
                names = ["removed", order.namespace, order.id]
            case Blocked():
                names = ["blocked", order.namespace, order.key, order.other]
            case Cleared():
                names = ["cleared", order.namespace]
        text = " ".join([names[0], *map(write_name, names[1:])])
        line = {"v": CODEC_VERSION, "order": text}
        if self._signing_key is not None:
            line["signature"] = sign(self._signing_key, text)
        return json.dumps(line)

    def _order(self, text: str) -> Order | None:
        found = decode_line(text, self._signing_key)
        if found is not None:
            return Put(*found)
        line = json.loads(text)
        order = line["order"]
        if line["v"] != CODEC_VERSION or not isinstance(order, str):
            return None
        if self._signing_key is not None and not same_signature(line.get("signature"), sign(self._signing_key, order)):
            return None
        kind, *names = order.split(" ")
        match kind, [read_name(name) for name in names]:
            case "removed", [namespace, id_]:
                return Removed(namespace, id_)
            case "blocked", [namespace, key, other]:
                return Blocked(namespace, key, other)
            case "cleared", [namespace]:
                return Cleared(namespace)
            case _:
                return None


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def _same_file(handle: int, path: Path) -> bool:
    try:
        there = os.stat(path)
    except OSError:
        return False
    mine = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)
