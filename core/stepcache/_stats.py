"""Counting what the cache did, per namespace. A snapshot is a value; snapshots of processes can be added."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stepcache._data import Result, Skip

__all__ = ["Stats", "Tallies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a cache did since it was opened, for one namespace or for all; `+` adds two.

    `outcomes`, `sources` and `skips` count requests by outcome, by what answered and by the reason of a skip.
    `calls` are model calls; `tokens` those calls' tokens and `saved` the tokens not spent, each over the requests for
    which they are known (`unknown` counts the others). `shadow_wrong` counts replies that shadow mode found to differ.
    `entries` is how many entries the store holds now.
    """

    requests: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    skips: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    saved: int = 0
    unknown: int = 0
    unverified: int = 0
    shadow_wrong: int = 0
    entries: int = 0

    @property
    def served(self) -> int:
        """Requests answered from the cache without a model call (reuse and rewrite)."""
        return self.sources.get("cache", 0) + self.sources.get("rewrite", 0)

    def __add__(self, other: Stats) -> Stats:
        mine, theirs = asdict(self), asdict(other)
        both: dict[str, Any] = {
            name: dict(Counter(value) + Counter(theirs[name])) if isinstance(value, dict) else value + theirs[name]
            for name, value in mine.items()
        }
        return Stats(**both)

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON values."""
        return asdict(self) | {"served": self.served}

    def __str__(self) -> str:
        share = f"{self.served / self.requests:.0%}" if self.requests else "none"
        return (f"{self.requests} requests, {share} served without a model call, {self.calls} model calls, "
                f"{self.saved} tokens saved, {self.entries} entries")

    def _repr_html_(self) -> str:
        from stepcache._display import stats_html

        return stats_html(self)


class Tallies:
    """Running counts by namespace; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_namespace: dict[str, Counter[str]] = {}

    def count(self, result: Result) -> None:
        """Add one finished request."""
        decision = result.decision
        spent = None if result.usage is None else result.usage.total
        with self._lock:
            tally = self._by_namespace.setdefault(result.namespace, Counter())
            tally["requests"] += 1
            tally["outcomes." + result.outcome] += 1
            tally["sources." + result.source] += 1
            if isinstance(decision, Skip):
                tally["skips." + decision.code] += 1
            tally["calls"] += result.calls
            tally["tokens"] += spent or 0
            tally["saved"] += result.saved or 0
            tally["unknown"] += spent is None or result.saved is None
            tally["unverified"] += not result.verified
            tally["shadow_wrong"] += result.shadow is not None and not result.shadow.ok

    def snapshot(self, namespace: str | None, entries: int) -> Stats:
        """The counts of one namespace, or of all together."""
        with self._lock:
            chosen = self._by_namespace.items() if namespace is None else [
                (namespace, self._by_namespace.get(namespace, Counter()))]
            total: Counter[str] = Counter()
            for _, tally in chosen:
                total.update(tally)
        groups: dict[str, dict[str, int]] = {"outcomes": {}, "sources": {}, "skips": {}}
        plain: dict[str, int] = {}
        for name, value in total.items():
            group, _, member = name.partition(".")
            if member:
                groups[group][member] = value
            else:
                plain[name] = value
        return Stats(**plain, **groups, entries=entries)  # type: ignore[arg-type]
