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
from stepcache._stats import Price, cost, model_name
from stepcache.errors import ConfigurationError

__all__ = ["ReplayReport", "ReplayRow", "read_log", "replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRow:
    """What became of one logged request.

    `served` is the reply the cache would have given without a model (None: none). `agrees` tells whether that reply,
    or on a skip the one refused (`compared` in both cases), is the logged one or passes the same check; None where
    there is nothing to compare. `money` is what the row's call cost by the price table.
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
    model: str = ""
    compared: str | None = None
    code: str = ""
    money: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """The sum over a log. `suspicious` are serves that disagree with it, `near_misses` refusals that would have agreed.

    Token, second and money sums cover the rows that tell them; `unpriced` counts those that the money leaves out. A row
    that would take a patch call counts as not saved.
    """

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
    money: float | None
    money_saved: float | None
    unpriced: int
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

    def html(self, worst: int = 50) -> str:
        """A page of its own with plots and at most `worst` rows of each kind to look at; it loads nothing."""
        from stepcache._report import report_page

        return report_page(self, worst)

    def _repr_html_(self) -> str:
        from stepcache._report import report_html

        return report_html(self)


def read_log(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Yield a JSON-lines log's objects: `prompt` and `reply`, and optionally context, namespace, model, seconds, and
    tokens or prompt_tokens and completion_tokens.

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
    rows: Iterable[Mapping[str, Any]], cache: StepCache | None = None, *, prices: Mapping[str, Price] | None = None
) -> ReplayReport:
    """Send a log through a cache (a fresh one in memory by default) in its order, each row recorded after its turn.

    `prices` are those of a million tokens by model, as `Stats.money` takes them. Raises `ConfigurationError` for a
    price that is none.
    """
    cache = StepCache.open(":memory:") if cache is None else cache
    told = tuple(_one(cache, number, row, prices or {}) for number, row in enumerate(rows, 1))
    served = [row for row in told if row.served is not None]
    tokens_saved = sum(row.tokens or 0 for row in served)
    skipped = [row for row in told if row.outcome == "skip"]
    return ReplayReport(
        requests=len(told),
        outcomes=dict(Counter(row.outcome for row in told)),
        sources=dict(Counter(row.source for row in told)),
        skips=dict(Counter(row.code for row in skipped)),
        suspicious=tuple(row for row in served if row.agrees is False),
        near_misses=tuple(row for row in skipped if row.agrees),
        tokens=sum(row.tokens or 0 for row in told),
        tokens_saved=tokens_saved,
        seconds=sum(row.seconds or 0.0 for row in told),
        seconds_saved=sum(row.seconds or 0.0 for row in served),
        money=None if prices is None else sum(row.money or 0.0 for row in told),
        money_saved=None if prices is None else sum(row.money or 0.0 for row in served),
        unpriced=0 if prices is None else sum(row.money is None for row in told),
        rows=told,
    )


def _one(cache: StepCache, number: int, row: Mapping[str, Any], prices: Mapping[str, Price]) -> ReplayRow:
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
    usage = Usage.of(row)
    tokens = row.get("tokens") if usage is None else usage.total
    if usage is None and tokens is not None:
        usage = Usage(0, int(tokens))
    cache.record(request, Completion(logged, usage))
    return ReplayRow(
        number=number, outcome=decision.outcome, source=source, reason=decision.reason, prompt=request.prompt,
        matched_prompt=None if match is None else match.entry.request.prompt,
        similarity=None if match is None else match.similarity, served=served, logged=logged, agrees=agrees,
        tokens=tokens, seconds=row.get("seconds"), model=request.model, compared=compared,
        code=getattr(decision, "code", ""),
        money=_money(row, tokens, prices.get(model_name(request.model), prices.get("*"))),
    )


def _money(row: Mapping[str, Any], tokens: int | None, price: Price | None) -> float | None:
    """What a row's call cost. Prices that differ by kind of token need a log that tells the kinds."""
    if price is None:
        return None
    usage = Usage.of(row)
    if usage is not None and usage.prompt_tokens is not None and usage.completion_tokens is not None:
        return cost(price, usage.prompt_tokens, usage.completion_tokens)
    if tokens is None or isinstance(price, tuple | list):
        return None
    return cost(price, tokens, 0)


def _agrees(cache: StepCache, request: Request, served: str, logged: str) -> bool:
    if canonical(served) == canonical(logged):
        return True
    spec = recognise(request, cache.tasks)
    verdict = Verdict(False) if spec is None or not spec.enforced else spec.check(served)
    return verdict.ok
