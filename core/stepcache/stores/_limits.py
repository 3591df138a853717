"""How much a store may hold, and which entries go when it is too much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from stepcache._data import Entry
from stepcache.errors import ConfigurationError
from stepcache.stores._index import Index

__all__ = ["Limits", "with_default_ttl"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds over all namespaces of a store; None means none. Raises `ConfigurationError` for values out of range."""

    default_ttl: float | None = None
    max_entries: int | None = None
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.default_ttl is not None and not (_is_number(self.default_ttl) and self.default_ttl >= 0):
            raise ConfigurationError(f"default_ttl takes seconds >= 0 or None, not {self.default_ttl!r}")
        for name in ("max_entries", "max_bytes"):
            value = getattr(self, name)
            if value is not None and not (type(value) is int and value >= 1):
                raise ConfigurationError(f"{name} takes a whole number >= 1 or None, not {value!r}")

    def and_also(self, other: Limits) -> Limits:
        """The stricter of both bounds."""
        def least(a: int | None, b: int | None) -> int | None:
            return min((value for value in (a, b) if value is not None), default=None)

        return replace(self, max_entries=least(self.max_entries, other.max_entries),
                       max_bytes=least(self.max_bytes, other.max_bytes))

    def excess(self, indexes: Mapping[str, Index]) -> list[tuple[str, str]]:
        """Namespace and key of what has to go, least recently used first.

        The namespace that holds most gives first: one that stays under its share never loses anything to another.
        """
        gone: list[tuple[str, str]] = []
        if self.max_entries is None and self.max_bytes is None:
            return gone
        counts = {name: len(index) for name, index in indexes.items()}
        sizes = {name: index.size for name, index in indexes.items()}
        oldest = {name: iter(index) for name, index in indexes.items()}
        entries, size = sum(counts.values()), sum(sizes.values())
        while entries > 0:
            if self.max_entries is not None and entries > self.max_entries:
                name = max(counts, key=counts.__getitem__)
            elif self.max_bytes is not None and size > self.max_bytes:
                name = max(sizes, key=sizes.__getitem__)
            else:
                break
            key = next(oldest[name])
            weight = indexes[name].places[key].size
            gone.append((name, key))
            counts[name] -= 1
            sizes[name] -= weight
            entries -= 1
            size -= weight
        return gone


def with_default_ttl(entry: Entry, ttl: float | None) -> Entry:
    """The entry with the store's default expiry, where it has none of its own."""
    if ttl is None or entry.expires_at is not None:
        return entry
    return replace(entry, expires_at=entry.created_at + ttl)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
