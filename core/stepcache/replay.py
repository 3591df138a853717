"""What the cache would have done on a log of one's own traffic: hits, savings and serves that look wrong.

No model is called: each row's own reply is what the model said. Reading and writing files is the caller's business
but for `read_log`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stepcache._cache import StepCache
from stepcache._data import Completion, Patch, Request, Skip, Usage, Verdict
from stepcache._flow import recognise
from stepcache._gate import canonical
from stepcache.errors import ConfigurationError

__all__ = ["ReplayReport", "ReplayRow", "read_log", "replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRow:
    """What became of one logged request.

    `served` is the reply the cache would have given without a model (None: none). `agrees` tells whether that reply,
    or on a skip the one refused, is the logged one or passes the same check; None where there is nothing to compare.
    """

    number: int
    outcome: str
    source: str
    reason: str
    prompt: str
    matched_prompt: str | None
    similarity: float | None
    served: str | None
    logged: str
    agrees: bool | None
    tokens: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """The sum over a log. `suspicious` are serves that disagree with it, `near_misses` refusals that would have agreed.

    Token, second and money sums cover the rows that tell them; `priced` counts those with tokens."""

    requests: int
    outcomes: Mapping[str, int]
    sources: Mapping[str, int]
    skips: Mapping[str, int]
    suspicious: tuple[ReplayRow, ...]
    near_misses: tuple[ReplayRow, ...]
    tokens: int
    tokens_saved: int
    seconds: float
    seconds_saved: float
    money_saved: float | None
    priced: int
    rows: tuple[ReplayRow, ...] = field(repr=False, default=())

    @property
    def served(self) -> int:
        """Requests that would have been answered without a model call."""
        return self.sources.get("cache", 0) + self.sources.get("rewrite", 0)

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON values, without the single rows."""
        plain = asdict(self)
        del plain["rows"]
        return plain | {"served": self.served}

    def __str__(self) -> str:
        share = self.served / self.requests if self.requests else 0.0
        return (f"{self.requests} requests: {self.served} ({share:.1%}) served without a model call, "
                f"{len(self.suspicious)} of them to look at; {self.tokens_saved} of {self.tokens} tokens saved")


def read_log(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Yield a JSON-lines log's objects: `prompt` and `reply`, optionally context, namespace, model, tokens, seconds.

    Raises `ConfigurationError` naming the line that is not such an object.
    """
    source = Path(path)
    if not source.is_file():
        raise ConfigurationError(f"expected a file of JSON lines, found none at {source}")
    with source.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ConfigurationError(f"line {number} of {source.name} is not JSON: {error}") from error
            if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("prompt", "reply")):
                raise ConfigurationError(f"line {number} of {source.name} needs the texts 'prompt' and 'reply'")
            yield row


def replay(
    rows: Iterable[Mapping[str, Any]], cache: StepCache | None = None, *, price_per_1k_tokens: float | None = None
) -> ReplayReport:
    """Send a log through a cache (a fresh one in memory by default) in its order, each row recorded after its turn."""
    cache = StepCache.open(":memory:") if cache is None else cache
    told = tuple(_one(cache, number, row) for number, row in enumerate(rows, 1))
    served = [row for row in told if row.served is not None]
    tokens_saved = sum(row.tokens or 0 for row in served)
    skipped = [row for row in told if row.outcome == "skip"]
    return ReplayReport(
        requests=len(told),
        outcomes=dict(Counter(row.outcome for row in told)),
        sources=dict(Counter(row.source for row in told)),
        skips=dict(Counter(row.reason.split(":")[0] for row in skipped)),
        suspicious=tuple(row for row in served if row.agrees is False),
        near_misses=tuple(row for row in skipped if row.agrees),
        tokens=sum(row.tokens or 0 for row in told),
        tokens_saved=tokens_saved,
        seconds=sum(row.seconds or 0.0 for row in told),
        seconds_saved=sum(row.seconds or 0.0 for row in served),
        money_saved=None if price_per_1k_tokens is None else tokens_saved / 1000 * price_per_1k_tokens,
        priced=sum(row.tokens is not None for row in told),
        rows=told,
    )


def _one(cache: StepCache, number: int, row: Mapping[str, Any]) -> ReplayRow:
    request = Request(row["prompt"], context=row.get("context") or "", model=row.get("model") or "",
                      namespace=row.get("namespace") or "default")
    logged = row["reply"]
    decision = cache.explain(request)
    result = cache.lookup(request)
    served = None if result is None else result.output
    match = decision.match
    compared = served
    if compared is None and isinstance(decision, Skip):
        compared = decision.match.entry.reply
    agrees = None if compared is None else _agrees(cache, request, compared, logged)
    source = "model"
    if result is not None:
        source = result.source
    elif isinstance(decision, Patch):
        source = "patch"
    tokens = row.get("tokens")
    cache.record(request, Completion(logged, None if tokens is None else Usage(0, int(tokens))))
    return ReplayRow(
        number=number, outcome=decision.outcome, source=source, reason=decision.reason, prompt=request.prompt,
        matched_prompt=None if match is None else match.entry.request.prompt,
        similarity=None if match is None else match.similarity, served=served, logged=logged, agrees=agrees,
        tokens=tokens, seconds=row.get("seconds"),
    )


def _agrees(cache: StepCache, request: Request, served: str, logged: str) -> bool:
    if canonical(served) == canonical(logged):
        return True
    spec = recognise(request, cache.tasks)
    verdict = Verdict(False) if spec is None or not spec.enforced else spec.check(served)
    return verdict.ok
