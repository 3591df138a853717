"""Performing the effects that touch store, embedder and judge: bounded in time, and failing open (design law 6)."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from stepcache._codec import kept_form, private_copy
from stepcache._data import Entry, Match
from stepcache._effects import Block, Compute, Effect, Embed, Fetch, FetchTemplate, Generate, Judge, Save, Search
from stepcache._gather import Gathered
from stepcache._policy import Policy
from stepcache._recorder import Recorder
from stepcache._workers import Workers
from stepcache.errors import EmbeddingError, StepCacheError, StoreError, loggable
from stepcache.protocols import Embedder, Store

__all__ = ["Backend"]

_log = logging.getLogger("stepcache")
_LOAD_SECONDS = 120.0  # loading a model from disk is slow once, and not a fault
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0  # seconds without a failed part, doubled at each failure
_MIN_SPREAD = 0.02
_COMPUTERS = 4  # checks that run code, at once
_INLINE_SECONDS = 0.002  # an embedding faster than this is made on the caller's path
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
            _log.warning("the %s failed (%s); requests go on without it and it is tried again by itself",
                         self.name, loggable(error))
        _log.debug("the %s failed", self.name, exc_info=error)

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
        self._computers = Workers(_COMPUTERS)  # apart: a long check must not keep the store waiting
        self._store_guard = _Guard("store")
        self._embedder_guard = _Guard("embedder")
        self._judge_guard = _Guard("judge")
        self._loaded = False
        self._store_loaded = not hasattr(store, "load")
        self._load_lock = threading.Lock()
        self._vectors = Gathered(self._embed_many, together=getattr(type(embedder), "batches", False) is True)
        self._recorder = Recorder(self._write, self._prepare)
        self._dimensions: int | None = None
        self._semantic = embedder is not None
        # Only a class that says so of itself: what a subclass of a quick store does nobody knows.
        self._blocking = bool(vars(type(store)).get("blocking", True))

    def perform(self, effect: Effect) -> Any:
        """Perform one effect and return its answer; on a fault the answer that means "nothing"."""
        if isinstance(effect, Compute):
            return effect.work()
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
        if isinstance(effect, Compute):
            return await self._computers.acall(partial(copy_context().run, effect.work), None)
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
            found = self.peek(effect.namespace, effect.key)
            try:
                return None if found is None else (private_copy(found),)
            except StoreError:  # a payload of some other store's that is no JSON: as `get` gives it
                return None
        return None

    def peek(self, namespace: str, key: str) -> Entry | None:
        """What memory holds for a key, as it is held (not to be changed); None says nothing."""
        if not self._store_guard.closed:
            return None
        if (waiting := self._recorder.find(namespace, key)) is not None:
            return waiting
        try:
            return self.store.peek(namespace, key)
        except Exception:  # the store's own fault shows in the guarded call that follows
            return None

    def _work(self, effect: Effect) -> tuple[Callable[[], Any], float | None, _Guard]:
        """What to do, how long it may take (None: not at all worth a thread), and whose fault a failure is."""
        timeout = self.policy.cache_timeout if self._blocking else None
        if not self._store_loaded:
            timeout = _LOAD_SECONDS
        match effect:
            case Fetch():
                return lambda: self._opened().get(effect.namespace, effect.key), timeout, self._store_guard
            case FetchTemplate():
                return lambda: self._by_template(effect), timeout, self._store_guard
            case Search():
                return lambda: self._search(effect), timeout, self._store_guard
            case Save():
                if self._semantic and self._inline():
                    timeout = _LOAD_SECONDS if self._loads_slowly() else self.policy.cache_timeout
                return lambda: self._save(effect), timeout, self._store_guard
            case Block():
                return (lambda: self._opened().block(effect.namespace, effect.key, effect.asker)), timeout, \
                    self._store_guard
            case Embed():
                timeout = _LOAD_SECONDS if self._loads_slowly() else self.policy.cache_timeout
                return (lambda: self._embed(effect)), timeout, self._embedder_guard
            case Judge():
                return (lambda: self._judge(effect)), self.policy.flight_timeout, self._judge_guard
            case Generate() | Compute():
                raise TypeError(f"{type(effect).__name__} is not performed here")
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

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until everything recorded so far has reached the store; False if the time was too short."""
        return self._recorder.drain(timeout)

    def _opened(self) -> Store:
        """The store, opened where that is slow once (an import, a migration), so that later calls are not."""
        if not self._store_loaded:
            self.store.load()  # type: ignore[attr-defined]
            self._store_loaded = True
        return self.store

    def _by_template(self, effect: FetchTemplate) -> tuple[Entry, ...]:
        store = self._opened()
        blocked = store.blocked(effect.namespace, effect.asker)
        waiting = self._recorder.by_template(effect.namespace, effect.template)
        found = store.by_template(effect.namespace, effect.template, effect.limit + len(blocked))
        newer = {entry.key for entry in waiting}
        both = (*waiting, *(entry for entry in found if entry.key not in newer))
        return tuple(entry for entry in both if entry.key not in blocked)[: effect.limit]

    def _search(self, effect: Search) -> tuple[Match, ...]:
        assert self.embedder is not None
        store = self._opened()
        blocked = store.blocked(effect.namespace, effect.asker)
        found = store.search(effect.namespace, effect.partition, self.embedder.fingerprint, effect.vector,
                             effect.limit + len(blocked))
        return tuple(match for match in found if match.entry.key not in blocked)[: effect.limit]

    def _save(self, effect: Save) -> bool:
        """Store at once what has a vector or needs none; embed the rest later, unless that takes no time."""
        if self._recorder.find(effect.entry.namespace, effect.entry.key) is not None:
            # behind the older one, which would else be written over it
            return self._recorder.submit(kept_form(effect.entry))
        if effect.vector is not None or not self._semantic or not self._embedder_guard.closed:
            self._put(effect.entry, effect.vector)
            return True
        if self._inline():
            self._write(effect.entry)
            return True
        return self._recorder.submit(kept_form(effect.entry))

    def _inline(self) -> bool:
        """Whether to embed on the caller's path: where that is known to take no time, or a fault must be raised."""
        return self.policy.strict or (self._loaded and self._vectors.seconds < _INLINE_SECONDS)

    def _put(self, entry: Entry, vector: tuple[float, ...] | None) -> None:
        if vector is not None and self.embedder is not None:
            entry = replace(entry, fingerprint=self.embedder.fingerprint)
        self._opened().put(entry, vector)

    def _write(self, entry: Entry) -> None:
        """Embed and store one entry; one that can't be embedded is stored for exact and template reuse."""
        vector = None
        try:
            vector = self._vector(entry.request.prompt)
        except Exception as error:  # law 6
            self._embedder_guard.failed(error)
            if self.policy.strict:
                raise EmbeddingError(f"the embedder failed: {type(error).__name__}: {error}") from error
        try:
            self._put(entry, vector)
        except Exception as error:  # law 6
            self._store_guard.failed(error)
            raise

    def _embed(self, effect: Embed) -> tuple[float, ...] | None:
        store = self._opened()
        if self._recorder.find_any(effect.namespace):
            self._recorder.drain()
        if not self._loaded and not store.count(effect.namespace):
            return None  # nothing to find: the model need not be loaded for that
        self._load()
        assert self.embedder is not None
        if self._semantic and store.has_vectors(effect.namespace, effect.partition, self.embedder.fingerprint):
            return self._vector(effect.text)
        return None

    def _vector(self, text: str) -> tuple[float, ...] | None:
        self._load()
        if not self._semantic:
            return None
        return self._vectors.vector(_clean(text))

    def _embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        assert self.embedder is not None
        found = [self.embedder.embed(texts[0])] if len(texts) == 1 else self.embedder.embed_many(texts)
        return [self._checked(vector) for vector in found]

    def _prepare(self, entries: Sequence[Entry]) -> None:
        """Embed together what is about to be written one by one; a fault shows, and is dealt with, there."""
        with suppress(Exception):
            self._load()
            if self._semantic:
                self._vectors.prepare([_clean(entry.request.prompt) for entry in entries])

    def _loads_slowly(self) -> bool:
        return not self._loaded and hasattr(self.embedder, "load")

    def _load(self) -> None:
        """Load the model where it has to be, and look once whether its vectors tell texts apart."""
        with self._load_lock:
            if self._loaded or self.embedder is None:
                return
            if (load := getattr(self.embedder, "load", None)) is not None:
                load()
            probes = [self._checked(vector) for vector in self.embedder.embed_many(_UNRELATED)]
            nearest = [_cosine(a, b) for i, a in enumerate(probes) for b in probes[:i]]
            if min(nearest) > 1 - _MIN_SPREAD:
                self._semantic = False
                _log.warning("the embedder gives unrelated sentences a cosine above %.2f; similar reuse by embedding "
                             "is turned off", 1 - _MIN_SPREAD)
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


def _clean(text: str) -> str:
    """Tokenizers refuse lone surrogates; for similarity a replacement character does as well."""
    return text.encode("utf-8", "replace").decode("utf-8")


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
