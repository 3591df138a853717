"""Reading records straight from Chroma's tables, for processes that must not open Chroma: guests and forked children.

Only names, metadata and counts; vectors lie elsewhere. Should a later Chroma lay its tables out differently, a guest
finds nothing and says so; it never fails a call.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from stepcache._breaker import Breaker
from stepcache.errors import StoreError
from stepcache.stores._chroma_client import Chroma

__all__ = ["Tables"]

logger = logging.getLogger("stepcache")

_PAGE = 1000
_IDS_AT_ONCE = 500
_ROWS = """
SELECT e.embedding_id, m.key, m.string_value FROM embeddings e
JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection
JOIN embedding_metadata m ON m.id = e.id
WHERE c.name = ? AND s.scope = 'METADATA' AND """

_NUMBERS = """
SELECT e.id FROM embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection
WHERE c.name = ? AND s.scope = 'METADATA' AND e.id > ? """


class Tables(Chroma):
    """The reading half of `Chroma`, by plain SQL in a read-only connection."""

    def __init__(self, database: Path) -> None:
        super().__init__(None, Breaker())
        self._database = database
        self._warned = False

    def names(self) -> list[tuple[str, Any, str]]:
        rows = self._select("SELECT c.name, m.key, m.str_value, m.int_value FROM collections c "
                            "JOIN collection_metadata m ON m.collection_id = c.id", ())
        found: dict[str, dict[str, Any]] = {}
        for name, key, text, number in rows:
            found.setdefault(name, {})[key] = number if text is None else text
        return [(name, metadata, "cosine") for name, metadata in found.items()]

    def count(self, name: str) -> int:
        rows = self._select("SELECT count(*) FROM embeddings e JOIN segments s ON s.id = e.segment_id "
                            "JOIN collections c ON c.id = s.collection WHERE c.name = ? AND s.scope = 'METADATA'",
                            (name,))
        return int(rows[0][0]) if rows else 0

    def dimension(self, name: str) -> int:
        return 0

    def get(self, name: str, ids: Sequence[str], vectors: bool = False) -> dict[str, tuple[Any, Any]]:
        found: dict[str, tuple[Any, Any]] = {}
        for at in range(0, len(ids), _IDS_AT_ONCE):
            part = ids[at:at + _IDS_AT_ONCE]
            found.update(self._records(f"e.embedding_id IN ({','.join('?' * len(part))})", (name, *part)))
        return found

    def pages(self, name: str, start: int = 0, vectors: bool = False) -> Iterator[dict[str, tuple[Any, Any]]]:
        after = 0
        if start:
            rows = self._select(_NUMBERS + "ORDER BY e.id LIMIT 1 OFFSET ?", (name, 0, start - 1))
            if not rows:
                return
            after = rows[0][0]
        while numbers := [row[0] for row in self._select(_NUMBERS + "ORDER BY e.id LIMIT ?", (name, after, _PAGE))]:
            after = numbers[-1]
            page: dict[str, tuple[Any, Any]] = {}
            for at in range(0, len(numbers), _IDS_AT_ONCE):
                part = numbers[at:at + _IDS_AT_ONCE]
                page.update(self._records(f"e.id IN ({','.join('?' * len(part))})", (name, *part)))
            yield page

    def _records(self, where: str, values: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
        found: dict[str, tuple[dict[str, Any], None]] = {}
        for id_, key, text in self._select(_ROWS + where, values):
            found.setdefault(id_, ({}, None))[0][key] = text
        return dict(found)

    def _select(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if not self._database.exists():
            return []
        try:
            uri = f"{self._database.as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=5)) as connection:
                return connection.execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as problem:
            if not self._warned and "locked" not in str(problem):
                self._warned = True
                logger.warning("What another process has recorded can't be read: %s", problem)
            raise StoreError(f"cannot read the cache of another process: {problem}") from problem

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise StoreError("only the owner of the folder may do this")

    create = drop = upsert = delete = nearest = _refuse

    def close(self) -> None:
        """Nothing is held between calls."""
