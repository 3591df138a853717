"""Performing the effects that touch store, embedder and judge: bounded in time, and failing open (design law 6)."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, assert_never

from stepcache._data import Entry, Match
from stepcache._effects import Block, Effect, Embed, Fetch, FetchTemplate, Generate, Judge, Save, Search
from stepcache._policy import Policy
from stepcache._workers import Workers
from stepcache.errors import EmbeddingError, StepCacheError, StoreError
from stepcache.protocols import Embedder, Store

__all__ = ["Backend"]

_log = logging.getLogger("stepcache")
_LOAD_SECONDS = 120.0  # loading a model from disk is slow once, and not a fault
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0  # seconds without a failed part, doubled at each failure
_MIN_SPREAD = 0.02
# Sentences without any common topic: an embedder that sees them as one can't tell requests apart (case 32).
_UNRELATED = ("The ferry leaves the harbour at dawn.", "Photosynthesis needs light.", "int main(void) { return 0; }",
              "She refused the loan because of the interest rate.")


class _Guard:
    """One warning per outage and part, and a pause after a fault so that a dead part costs almost nothing."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.open_until = 0.0
        self.pause = _FIRST_PAUSE
        self.warned = False

    @property
    def closed(self) -> bool:
        return time.monotonic() >= self.open_until

    def failed(self, error: BaseException) -> None:
        self.open_until = time.monotonic() + self.pause
        self.pause = min(2 * self.pause, _LONGEST_PAUSE)
        if not self.warned:
            self.warned = True
            _log.warning("the %s failed (%s: %s); requests go on without it and it is tried again by itself",
                         self.name, type(error).__name__, error)

    def worked(self) -> None:
        if self.warned:
            _log.info("the %s works again", self.name)
        self.warned = False
        self.pause = _FIRST_PAUSE
        self.open_until = 0.0


class Backend:
    """Store, embedder and judge behind one door: `perform(effect)` and its async form never raise unless strict."""

    def __init__(self, store: Store, embedder: Embedder | None, policy: Policy) -> None:
        self.store, self.embedder, self.policy = store, embedder, policy
        self.workers = Workers()
        self._store_guard = _Guard("store")
        self._embedder_guard = _Guard("embedder")
        self._judge_guard = _Guard("judge")
        self._loaded = False
        self._dimensions: int | None = None
        self._semantic = embedder is not None
        self._blocking = bool(getattr(store, "blocking", True))

    def perform(self, effect: Effect) -> Any:
        """Perform one effect and return its answer; on a fault the answer that means "nothing"."""
        if (ready := self._ready(effect)) is not None:
            return ready[0]
        work, timeout, guard = self._work(effect)
        try:
            answer = work() if timeout is None else self.workers.call(work, timeout)
        except Exception as error:  # law 6: whatever a store or embedder raises, the caller's call goes on
            return self._nothing(effect, guard, error)
        guard.worked()
        return answer

    async def aperform(self, effect: Effect) -> Any:
        """As `perform`, off the event loop whenever anything could block."""
        if (ready := self._ready(effect)) is not None:
            return ready[0]
        work, timeout, guard = self._work(effect)
        try:
            answer = work() if timeout is None else await self.workers.acall(work, timeout)
        except Exception as error:  # as in perform
            return self._nothing(effect, guard, error)
        guard.worked()
        return answer

    def _ready(self, effect: Effect) -> tuple[Any] | None:
        """An answer that needs no work: what memory holds, or nothing while a part is out of order."""
        if isinstance(effect, Embed):
            if not self._semantic or not self._embedder_guard.closed:
                return (None,)
            return None
        if isinstance(effect, Judge):
            return None
        if not self._store_guard.closed:
            return (_nothing_of(effect),)
        if isinstance(effect, Fetch):
            try:
                found = self.store.peek(effect.namespace, effect.key)
            except Exception:  # the store's own fault shows in the guarded call that follows
                return None
            return None if found is None else (found,)
        return None

    def _work(self, effect: Effect) -> tuple[Callable[[], Any], float | None, _Guard]:
        """What to do, how long it may take (None: not at all worth a thread), and whose fault a failure is."""
        store = self.store
        timeout = self.policy.cache_timeout if self._blocking else None
        match effect:
            case Fetch():
                return lambda: store.get(effect.namespace, effect.key), timeout, self._store_guard
            case FetchTemplate():
                return lambda: self._by_template(effect), timeout, self._store_guard
            case Search():
                return lambda: self._search(effect), timeout, self._store_guard
            case Save():
                return lambda: self._save(effect), timeout, self._store_guard
            case Block():
                return lambda: store.block(effect.namespace, effect.key, effect.asker), timeout, self._store_guard
            case Embed():
                slow = not self._loaded and hasattr(self.embedder, "load")
                return (lambda: self._embed(effect)), (_LOAD_SECONDS if slow else self.policy.cache_timeout), \
                    self._embedder_guard
            case Judge():
                return (lambda: self._judge(effect)), self.policy.flight_timeout, self._judge_guard
            case Generate():
                raise TypeError("a driver performs Generate itself")
            case _ as never:
                assert_never(never)

    def _nothing(self, effect: Effect, guard: _Guard, error: Exception) -> Any:
        guard.failed(error)
        if self.policy.strict:
            if isinstance(error, StepCacheError):
                raise error
            kind = EmbeddingError if isinstance(effect, Embed) else StoreError
            raise kind(f"the {guard.name} failed: {type(error).__name__}: {error}") from error
        return _nothing_of(effect)

    def _by_template(self, effect: FetchTemplate) -> tuple[Entry, ...]:
        blocked = self.store.blocked(effect.namespace, effect.asker)
        found = self.store.by_template(effect.namespace, effect.template, effect.limit + len(blocked))
        return tuple(entry for entry in found if entry.key not in blocked)[: effect.limit]

    def _search(self, effect: Search) -> tuple[Match, ...]:
        assert self.embedder is not None
        blocked = self.store.blocked(effect.namespace, effect.asker)
        found = self.store.search(effect.namespace, effect.partition, self.embedder.fingerprint, effect.vector,
                                  effect.limit + len(blocked))
        return tuple(match for match in found if match.entry.key not in blocked)[: effect.limit]

    def _save(self, effect: Save) -> bool:
        entry = effect.entry
        if effect.vector is not None and self.embedder is not None:
            entry = replace(entry, fingerprint=self.embedder.fingerprint)
        self.store.put(entry, effect.vector)
        return True

    def _embed(self, effect: Embed) -> tuple[float, ...] | None:
        embedder = self.embedder
        assert embedder is not None
        if not self._loaded:
            self._load(embedder)
        if not self._semantic:
            return None
        if effect.only_if_searchable and not self.store.has_vectors(
                effect.namespace, effect.partition, embedder.fingerprint):
            return None
        # Tokenizers refuse lone surrogates; for similarity a replacement character does as well.
        text = effect.text.encode("utf-8", "replace").decode("utf-8")
        return self._checked(embedder.embed(text))

    def _load(self, embedder: Embedder) -> None:
        """Load the model where it has to be, and look once whether its vectors tell texts apart."""
        load = getattr(embedder, "load", None)
        if load is not None:
            load()
        probes = [self._checked(vector) for vector in embedder.embed_many(_UNRELATED)]
        nearest = [_cosine(a, b) for i, a in enumerate(probes) for b in probes[:i]]
        if min(nearest) > 1 - _MIN_SPREAD:
            self._semantic = False
            _log.warning("the embedder gives unrelated sentences a cosine above %.2f; similar reuse by embedding is "
                         "turned off", 1 - _MIN_SPREAD)
        self._loaded = True

    def _checked(self, vector: Any) -> tuple[float, ...]:
        values = tuple(float(x) for x in vector)
        if self._dimensions is None:
            self._dimensions = len(values)
        if not values or len(values) != self._dimensions:
            raise EmbeddingError(f"expected a vector of {self._dimensions} numbers, got {len(values)}")
        if not all(map(math.isfinite, values)):
            raise EmbeddingError("the embedder gave a vector with NaN or infinity")
        if not any(values):
            raise EmbeddingError("the embedder gave a zero vector")
        return values

    def _judge(self, effect: Judge) -> bool:
        assert self.policy.judge is not None
        return bool(self.policy.judge(effect.cached_prompt, effect.new_prompt))


def _nothing_of(effect: Effect) -> Any:
    """The answer to an effect that could not be performed."""
    match effect:
        case Fetch() | Embed() | Block():
            return None
        case FetchTemplate() | Search():
            return ()
        case _:
            return False


def _cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
