"""Counting what the cache did, per namespace. A snapshot is a value; snapshots of processes can be added."""

from __future__ import annotations

import json
import os
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from stepcache._data import Miss, Patch, Request, Result, Reuse, Skip, Usage
from stepcache._histogram import SECONDS, TOKENS, Histogram
from stepcache.errors import ConfigurationError

__all__ = ["Money", "Price", "Stats", "Tallies", "TokenCounts", "cost", "model_name"]

Price = float | tuple[float, float]
"""What a million tokens cost, in any currency: one figure, or one for prompt tokens and one for completion tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of one model: those its calls took, and those that were not taken because of the cache."""

    prompt: int = 0
    completion: int = 0
    saved_prompt: int = 0
    saved_completion: int = 0

    def __add__(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(prompt=self.prompt + other.prompt, completion=self.completion + other.completion,
                           saved_prompt=self.saved_prompt + other.saved_prompt,
                           saved_completion=self.saved_completion + other.saved_completion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """Money spent and saved, in the price table's currency. `unpriced` names the models the table does not."""

    spent: float
    saved: float
    unpriced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a cache did since it was opened, for one namespace or for all; `+` adds those of two caches or processes.

    `outcomes`, `sources`, `skips` and `misses` count requests by outcome, by what answered, by the code of a skip and
    by the reason of a miss. `calls` are model calls; `tokens` those calls' tokens and `saved` the tokens not spent,
    each over the requests for which they are known (`unknown` counts the others). `shadow_wrong` counts replies that
    shadow mode found to differ. `entries` is how many entries the store holds now.

    `seconds` has a histogram of seconds for each stage: fetch (by key), template, embed, search, judge, answer, patch,
    repair (the model's calls), check (running a reply's tests), save, block, wait (for the same request under way),
    decide (recognising, comparing, verifying: all the rest) and total.
    `mended` counts fresh replies made right by computation: their source is "rewrite", but the model was called.
    `saved_each` is one of tokens saved by each request that saved any. `models` counts tokens by the model's name, for
    `money`.
    """

    requests: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    skips: Mapping[str, int] = field(default_factory=dict)
    misses: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    saved: int = 0
    unknown: int = 0
    unverified: int = 0
    shadow_wrong: int = 0
    mended: int = 0
    entries: int = 0
    seconds: Mapping[str, Histogram] = field(default_factory=dict)
    saved_each: Histogram = field(default_factory=lambda: Histogram.of((), TOKENS))
    models: Mapping[str, TokenCounts] = field(default_factory=dict)

    @property
    def served(self) -> int:
        """Requests answered from the cache without a model call (reuse and rewrite)."""
        return self.sources.get("cache", 0) + self.sources.get("rewrite", 0) - self.mended

    def money(self, prices: Mapping[str, Price]) -> Money:
        """What the calls cost and what was saved, by prices of a million tokens for each model's name.

        `{"gpt-4o-mini": (0.15, 0.60)}` prices prompt and completion tokens; a single figure prices both; "*" stands for
        every model not named. Raises `ConfigurationError` for a price that is none.
        """
        spent = saved = 0.0
        unpriced = []
        for name, counts in self.models.items():
            price = prices.get(name, prices.get("*"))
            if price is None:
                unpriced.append(name)
                continue
            spent += cost(price, counts.prompt, counts.completion)
            saved += cost(price, counts.saved_prompt, counts.saved_completion)
        return Money(spent=spent, saved=saved, unpriced=tuple(sorted(unpriced)))

    def __add__(self, other: Stats) -> Stats:
        if not isinstance(other, Stats):
            return NotImplemented
        both = {one.name: _added(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)}
        return Stats(**both)

    def __radd__(self, other: object) -> Stats:
        return self if other == 0 else NotImplemented  # so that sum() works

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON values; `from_dict` reads them."""
        return asdict(self) | {"served": self.served}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The snapshot that `as_dict` wrote. Raises `ConfigurationError` for anything else."""
        try:
            known = {one.name: values[one.name] for one in fields(cls) if one.name in values}
            known["seconds"] = {name: Histogram.from_dict(one) for name, one in values["seconds"].items()}
            known["saved_each"] = Histogram.from_dict(values["saved_each"])
            known["models"] = {name: TokenCounts(**one) for name, one in values["models"].items()}
            return cls(**known)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigurationError(f"these are no statistics that Stats.as_dict wrote ({error!r})") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the snapshot to a file of JSON, which appears only when it is whole."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        partial.write_text(json.dumps(self.as_dict(), ensure_ascii=False, indent=1), encoding="utf-8")
        partial.replace(target)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a snapshot that `save` wrote. Raises `ConfigurationError` where there is none."""
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"Stats.load takes a file that Stats.save wrote ({error})") from error
        return cls.from_dict(values)

    def __repr__(self) -> str:
        return f"Stats({self}; outcomes={dict(self.outcomes)}, sources={dict(self.sources)}, skips={dict(self.skips)})"

    def __str__(self) -> str:
        share = f"{self.served / self.requests:.0%}" if self.requests else "none"
        return (f"{self.requests} requests, {share} served without a model call, {self.calls} model calls, "
                f"{self.saved} tokens saved, {self.entries} entries")

    def _repr_html_(self) -> str:
        from stepcache._display import stats_html

        return stats_html(self)


def cost(price: Price, prompt: int, completion: int) -> float:
    """What tokens cost at a price of a million. Raises `ConfigurationError` for a price that is none."""
    pair: tuple[Any, ...] = tuple(price) if isinstance(price, tuple | list) else (price, price)
    if len(pair) != 2 or not all(type(one) in {int, float} and one >= 0 for one in pair):
        raise ConfigurationError(f"a price is a figure >= 0 or a pair of them (prompt, completion), not {price!r}")
    return float(prompt * pair[0] + completion * pair[1]) / 1e6


def model_name(identity: str) -> str:
    """The model's name in a request's model identity; adapters put # and a digest of its options behind it."""
    return identity.partition("#")[0]


def _added(mine: Any, theirs: Any) -> Any:
    if not isinstance(mine, Mapping):
        return mine + theirs
    both = dict(mine)
    for name, value in theirs.items():
        both[name] = both[name] + value if name in both else value
    return both


class _Tally:
    """Running counts of one namespace. Histograms are kept as counts by bucket, made when first needed."""

    __slots__ = ("misses", "models", "outcomes", "plain", "saved_each", "seconds", "skips", "sources", "sums")

    def __init__(self) -> None:
        self.plain: defaultdict[str, int] = defaultdict(int)
        self.outcomes: defaultdict[str, int] = defaultdict(int)
        self.sources: defaultdict[str, int] = defaultdict(int)
        self.skips: defaultdict[str, int] = defaultdict(int)
        self.misses: defaultdict[str, int] = defaultdict(int)
        self.seconds: dict[str, list[int]] = {}
        self.sums: defaultdict[str, float] = defaultdict(float)
        self.saved_each = [0] * (len(TOKENS) + 1)
        self.models: dict[str, list[int]] = {}

    def snapshot(self) -> Stats:
        empty = [0] * (len(SECONDS) + 1)
        return Stats(
            **self.plain, outcomes=dict(self.outcomes), sources=dict(self.sources), skips=dict(self.skips),
            misses=dict(self.misses),
            seconds={stage: Histogram(SECONDS, tuple(self.seconds.get(stage, empty)), total)
                     for stage, total in self.sums.items()},
            saved_each=Histogram(TOKENS, tuple(self.saved_each), float(self.plain.get("saved", 0))),
            models={name: TokenCounts(prompt=one[0], completion=one[1], saved_prompt=one[2], saved_completion=one[3])
                    for name, one in self.models.items()},
        )


class Tallies:
    """Running counts by namespace; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_namespace: dict[str, _Tally] = {}

    def count(self, request: Request, result: Result, seconds: Mapping[str, float]) -> None:
        """Add one finished request and the time its stages took."""
        decision, spent = result.decision, result.usage
        tokens = None if spent is None else spent.total
        with self._lock:
            tally = self._by_namespace.get(result.namespace)
            if tally is None:
                tally = self._by_namespace[result.namespace] = _Tally()
            plain = tally.plain
            plain["requests"] += 1
            tally.outcomes[decision.outcome] += 1
            tally.sources[result.source] += 1
            if isinstance(decision, Skip):
                tally.skips[decision.code] += 1
            elif isinstance(decision, Miss):
                tally.misses[decision.reason] += 1
            if result.calls:
                plain["calls"] += result.calls
                plain["mended"] += result.source == "rewrite"
            if tokens:
                plain["tokens"] += tokens
            if tokens is None or result.saved is None:
                plain["unknown"] += 1
            if result.saved:
                plain["saved"] += result.saved
                tally.saved_each[bisect_left(TOKENS, result.saved)] += 1
            if not result.verified and result.output:
                plain["unverified"] += 1
            if result.shadow is not None and not result.shadow.ok:
                plain["shadow_wrong"] += 1
            if tokens or result.saved:
                _count_tokens(tally.models, request, result)
            buckets, sums = tally.seconds, tally.sums
            for stage, taken in seconds.items():
                counts = buckets.get(stage)
                if counts is None:
                    counts = buckets[stage] = [0] * (len(SECONDS) + 1)
                counts[bisect_left(SECONDS, taken)] += 1
                sums[stage] += taken

    def snapshot(self, namespace: str | None, entries: int) -> Stats:
        """The counts of one namespace, or of all together."""
        with self._lock:
            chosen = [tally.snapshot() for name, tally in self._by_namespace.items()
                      if namespace is None or name == namespace]
        return sum(chosen, Stats(entries=entries))


def _count_tokens(models: dict[str, list[int]], request: Request, result: Result) -> None:
    """Tokens spent, and those of the match that were not, under the model's name."""
    name = model_name(request.model)
    counts = models.get(name)
    if counts is None:
        counts = models[name] = [0, 0, 0, 0]
    spent = result.usage or Usage(0, 0)
    prompt, completion = spent.prompt_tokens or 0, spent.completion_tokens or 0
    counts[0] += prompt
    counts[1] += completion
    if result.saved and isinstance(result.decision, Reuse | Patch):
        before = result.decision.match.entry.usage
        if before is not None:
            counts[2] += (before.prompt_tokens or 0) - prompt
            counts[3] += (before.completion_tokens or 0) - completion
