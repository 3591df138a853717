"""How an entry lies in Chroma: names of collections, ids, and one record packed into metadata.

Text goes into metadata, never into documents: Chroma builds a full-text index over documents (100,000 entries took
1 GB). Metadata strings are indexed too, and SQLite gives every index entry above 1,002 bytes a page of its own, so a
record is cut into parts below that: a third less disk, measured. Each part costs a row and an index entry more, so
the first one carries the head, and most records are one part.
"""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepcache._codec import CODEC_VERSION, MAX_RECORD_CHARS, decode, encode, same_signature, sign
from stepcache._data import Entry, digest

__all__ = [
    "OURS",
    "Packed",
    "Shelf",
    "block_id",
    "block_record",
    "collection_name",
    "disk_size",
    "pack",
    "placeholder_vector",
    "read_block",
    "read_name",
    "record_id",
    "shelf_of",
    "unpack",
    "write_name",
]

OURS = "stepcache"  # every collection of ours is named so, others in the same Chroma are left alone
_PART_BYTES = 980
_COMPRESS_FROM = 600
_MAX_PARTS = 64_000
_DIGEST = re.compile("[0-9a-f]{64}")
_HEAD = re.compile("([jz])([1-9][0-9]{0,5}):([0-9a-f]*)(:?)")


@dataclass(frozen=True, slots=True)
class Shelf:
    """One collection: a namespace and a vector space (empty for entries without a vector)."""

    namespace: str
    fingerprint: str

    @property
    def metadata(self) -> dict[str, Any]:
        """What the collection says about itself."""
        return {
            "stepcache": CODEC_VERSION,
            "namespace": write_name(self.namespace),
            "fingerprint": write_name(self.fingerprint),
        }


def write_name(name: str) -> str:
    """A name as ASCII text that reads back exactly, also where UTF-8 can't hold it (lone surrogates)."""
    return base64.b64encode(name.encode("utf-8", "surrogatepass")).decode("ascii")


def read_name(text: str) -> str:
    return base64.b64decode(text, validate=True).decode("utf-8", "surrogatepass")


def collection_name(shelf: Shelf, generation: int = 0) -> str:
    """A name that Chroma takes for any namespace and fingerprint; digests, so that no two collide."""
    space = digest(shelf.fingerprint)[:32] if shelf.fingerprint else "plain"
    tail = f"-g{generation}" if generation else ""
    return f"{OURS}{CODEC_VERSION}-{digest(shelf.namespace)}-{space}{tail}"


def shelf_of(name: str, metadata: Mapping[str, Any] | None) -> tuple[Shelf, int] | None:
    """The shelf and generation a collection belongs to, or None if it is not one of ours and of this version."""
    if metadata is None or metadata.get("stepcache") != CODEC_VERSION:
        return None
    try:
        shelf = Shelf(read_name(metadata["namespace"]), read_name(metadata["fingerprint"]))
        base = collection_name(shelf)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    if name == base:
        return shelf, 0
    tail = name.removeprefix(base + "-g")
    if tail != name and tail.isascii() and tail.isdigit() and len(tail) < 10:
        return shelf, int(tail)
    return None


def record_id(key: str) -> str:
    """The id of a key in Chroma: the key itself where it is a digest, else a digest of it."""
    return key if _DIGEST.fullmatch(key) else "x" + digest(key)


def placeholder_vector(record: str) -> list[float]:
    """A direction for records without a vector: Chroma wants one, and many equal ones would slow its graph down."""
    angle = int(digest(record)[:12], 16) / 16**12 * 2 * math.pi
    return [math.cos(angle), math.sin(angle)]


@dataclass(frozen=True, slots=True)
class Packed:
    """A record ready for Chroma."""

    id: str
    metadata: dict[str, Any]
    parts: int
    size: int


def pack(entry: Entry, vector: array[float] | None, signing_key: bytes | None) -> Packed:
    """Pack an entry; raises `StoreError` if it can't be written exactly or is too large."""
    return _pack(record_id(entry.key), entry.namespace, encode(entry), vector, signing_key)


def _pack(
    id_: str, namespace: str, text: str, vector: array[float] | None, signing_key: bytes | None
) -> Packed:
    data = text.encode()
    form = "j"
    if len(data) > _COMPRESS_FROM:
        squeezed = base64.b64encode(zlib.compress(data, 6))
        if len(squeezed) < 0.85 * len(data):
            data, form, text = squeezed, "z", squeezed.decode("ascii")
    sketch = _sketch(vector) if signing_key is not None and vector is not None else ""
    signature = "" if signing_key is None else sign(signing_key, namespace, id_, text, sketch)
    pieces = _cut(text, data, _PART_BYTES - len(signature))
    metadata: dict[str, Any] = {f"r{number}": piece for number, piece in enumerate(pieces) if number}
    metadata["r"] = f"{form}{len(pieces)}:{signature}:{pieces[0]}"
    if sketch:
        metadata["s"] = sketch
    return Packed(id_, metadata, len(pieces), disk_size(len(data), len(vector or ())))


def disk_size(text: int, dimensions: int) -> int:
    """Bytes an entry takes on disk, about: text lies in a table and an index, a vector in Chroma's graph."""
    return 700 + 2 * text + (5 * dimensions if dimensions else 0)


def _cut(text: str, data: bytes, first: int) -> list[str]:
    """The text in parts of at most `_PART_BYTES` bytes of UTF-8, and `first` bytes in the first one."""
    if len(data) == len(text):  # ASCII
        return [text[:first], *(text[at:at + _PART_BYTES] for at in range(first, len(text), _PART_BYTES))]
    pieces: list[str] = []
    start = 0
    while start < len(data):
        stop = min(start + (_PART_BYTES if pieces else first), len(data))
        while stop < len(data) and data[stop] & 0xC0 == 0x80:  # never inside a character
            stop -= 1
        pieces.append(data[start:stop].decode())
        start = stop
    return pieces


def unpack(
    id_: str,
    metadata: Any,
    namespace: str,
    signing_key: bytes | None,
    vector: Any = None,
) -> tuple[Entry, int, int] | None:
    """Entry, parts and bytes of text of a record; None for anything damaged, foreign, or not signed with the key.

    `vector`, where it was read too, is compared with the signed sketch of it.
    """
    found = _text_of(id_, metadata, namespace, signing_key, vector)
    if found is None:
        return None
    text, parts, size = found
    entry = decode(text)
    if entry is None or entry.namespace != namespace or record_id(entry.key) != id_:
        return None
    return entry, parts, size


def _text_of(
    id_: str, metadata: Any, namespace: str, signing_key: bytes | None, vector: Any
) -> tuple[str, int, int] | None:
    if not isinstance(metadata, Mapping):
        return None
    whole = metadata.get("r")
    if not isinstance(whole, str):
        return None
    head = _HEAD.match(whole)
    if head is None or (parts := int(head[2])) > _MAX_PARTS:
        return None
    first: Any = whole[head.end():]
    if not head[4]:  # as 0.1.0 wrote it: the head alone, and the first part by itself
        first = None if first else metadata.get("r0")
    pieces = [piece for piece in (first, *(metadata.get(f"r{at}") for at in range(1, parts))) if type(piece) is str]
    if len(pieces) != parts:
        return None
    text = "".join(pieces)
    if signing_key is not None:
        sketch = metadata.get("s", "")
        if not isinstance(sketch, str):
            return None
        if not same_signature(head[3], sign(signing_key, namespace, id_, text, sketch)):
            return None
        if vector is not None and not _like(sketch, vector):
            return None
    size = len(text)
    if head[1] == "j":
        return text, parts, size
    try:
        opened = zlib.decompressobj()
        data = opened.decompress(base64.b64decode(text, validate=True), 4 * MAX_RECORD_CHARS)
        if opened.unconsumed_tail or not opened.eof:
            return None
        return data.decode(), parts, size
    except (ValueError, zlib.error):
        return None


def _sketch(vector: array[float]) -> str:
    """The vector in steps of 1/127, small enough to lie beside the record and to be signed with it."""
    return base64.b64encode(bytes(round(value * 127) + 128 for value in vector)).decode("ascii")


def _like(sketch: str, vector: Any) -> bool:
    try:
        marks = base64.b64decode(sketch, validate=True)
    except ValueError:
        return False
    if len(marks) != len(vector):
        return False
    return all(abs((mark - 128) / 127 - float(value)) < 0.006 for mark, value in zip(marks, vector, strict=True))


def block_id(key: str, other: str) -> str:
    return "b" + digest(key, other)


def block_record(namespace: str, key: str, other: str, signing_key: bytes | None) -> Packed:
    """The record that keeps `key` from ever matching the request `other` again."""
    id_ = block_id(key, other)
    text = json.dumps({"v": CODEC_VERSION, "block": [write_name(key), write_name(other)]})
    return _pack(id_, namespace, text, None, signing_key)


def read_block(id_: str, metadata: Any, namespace: str, signing_key: bytes | None) -> tuple[str, str] | None:
    """Key and other of a block record, or None if it isn't one."""
    found = _text_of(id_, metadata, namespace, signing_key, None)
    if found is None:
        return None
    try:
        first, second = json.loads(found[0])["block"]
        key, other = read_name(first), read_name(second)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (key, other) if id_ == block_id(key, other) else None
