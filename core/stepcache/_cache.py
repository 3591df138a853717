"""StepCache itself: what a caller holds. It binds store, embedder, tasks and policy to the flow; it decides nothing."""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from importlib.util import find_spec
from inspect import getattr_static
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import WeakValueDictionary

from stepcache import _drive, _flow
from stepcache._backend import Backend
from stepcache._codec import copy_json, decode_line, encode_line
from stepcache._control import disabled, merged, with_control
from stepcache._data import CacheControl, Completion, Decision, Request, Result, Skip, Usage
from stepcache._effects import Generate
from stepcache._flight import Flights, Ticket, await_turn, wait_turn
from stepcache._policy import Policy
from stepcache._repeats import Repeats
from stepcache._replay import pieces
from stepcache._stats import Stats, Tallies
from stepcache.errors import ConfigurationError, StoreError, loggable
from stepcache.protocols import AsyncModel, AsyncStreamingModel, Embedder, Hook, Model, Store, StreamingModel, Task
from stepcache.tasks import DEFAULT_TASKS
from stepcache.tasks._spec import Spec

__all__ = ["StepCache"]

_log = logging.getLogger("stepcache")
_SETTLE_SECONDS = 120.0  # long enough for an embedder that is being loaded
_by_path: WeakValueDictionary[str, StepCache] = WeakValueDictionary()
_by_path_lock = threading.Lock()
_embedding_notice = False


class StepCache:
    """A cache of reasoning: replies are kept as steps, verified against each new request, reused, patched or skipped.

    store: where entries live (`stepcache.stores`).
    embedder: None runs with exact and template reuse only.
    tasks: what kinds of request are recognised, tried in order.
    policy: see `Policy`.
    hooks: called with `(request, result)` after every request; a `lookup` that finds nothing reports a result without
        text.
    clock: seconds since the epoch, as `time.time`.

    Safe to share between threads and event loops. Raises `ConfigurationError` for unusable arguments.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None = None,
        tasks: Iterable[Task] = DEFAULT_TASKS,
        policy: Policy | None = None,
        hooks: Iterable[Hook] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not _offers(store, Store):
            raise ConfigurationError(
                f"StepCache(store=...) takes a store such as MemoryStore() or ChromaStore(path=...), not {store!r}; "
                "for a folder write StepCache.open('./cache')")
        if embedder is not None and not _offers(embedder, Embedder):
            raise ConfigurationError("StepCache(embedder=...) takes an object with fingerprint, embed and embed_many, "
                                     f"or None, not {embedder!r}")
        policy = Policy() if policy is None else policy
        if not isinstance(policy, Policy):
            raise ConfigurationError(f"StepCache(policy=...) takes a Policy, not {policy!r}; write Policy(...)")
        self.tasks = tuple(tasks)
        self.hooks = tuple(hooks)
        for name, given in (("tasks", self.tasks), ("hooks", self.hooks), ("clock", (clock,))):
            if not all(callable(one) for one in given):
                raise ConfigurationError(f"StepCache({name}=...) takes callables, not {given!r}")
        self.store, self.embedder, self.policy, self.clock = store, embedder, policy, clock
        self._backend = Backend(store, embedder, policy)
        self._flights = Flights()
        self._tallies = Tallies()
        self._repeats = Repeats(_flow.repeated)

    # -- opening ------------------------------------------------------------------------------------------------

    @classmethod
    def open(cls, path: Any, **options: Any) -> StepCache:
        """Open a cache in a folder (Chroma), or in memory for ":memory:".

        Options are those of the constructor; the embedder defaults to all-MiniLM-L6-v2 where sentence-transformers
        is installed. Nothing is read, written or loaded before the first request.
        """
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise ConfigurationError(f"StepCache.open takes a folder or ':memory:', not {path!r}")
        store: Store
        if os.fspath(path) == ":memory:":
            from stepcache.stores.memory import MemoryStore

            store = MemoryStore()
        else:
            from stepcache.stores.chroma import ChromaStore

            store = ChromaStore(path=Path(path))
        if "embedder" not in options:
            options["embedder"] = _default_embedder()
        try:
            return cls(store, **options)
        except TypeError as error:
            raise ConfigurationError(
                f"StepCache.open: {error}; options are embedder, tasks, policy, hooks and clock") from error

    @classmethod
    def of(cls, cache: Any) -> StepCache:
        """Return the cache itself, or the one open StepCache of a folder in this process."""
        if isinstance(cache, StepCache):
            return cache
        if not isinstance(cache, str | os.PathLike) or not os.fspath(cache):
            raise ConfigurationError(f"cache= takes a folder, ':memory:' or a StepCache, not {cache!r}")
        if os.fspath(cache) == ":memory:":
            return cls.open(cache)
        real = os.path.realpath(cache)
        with _by_path_lock:
            known = _by_path.get(real)
            if known is None:
                known = _by_path[real] = cls.open(real)
            return known

    # -- answering ----------------------------------------------------------------------------------------------

    def complete(
        self, request: Request | str, model: Model, *, control: CacheControl | None = None,
        spec: Spec | Task | None = None, namespace: str | None = None,
    ) -> Result:
        """Answer a request, from the cache where that is right, else with the model.

        `model(prompt, purpose)` returns a `Completion` or a string; purpose is "answer", "patch" or "repair". Its
        errors reach the caller unchanged.
        """
        return self.run(_request(request, control, spec, namespace),
                        lambda effect: Completion.of(model(effect.prompt, effect.purpose)))

    async def acomplete(
        self, request: Request | str, model: AsyncModel, *, control: CacheControl | None = None,
        spec: Spec | Task | None = None, namespace: str | None = None,
    ) -> Result:
        """As `complete`, with an async model, never blocking the event loop."""

        async def generate(effect: Generate) -> Completion:
            return Completion.of(await model(effect.prompt, effect.purpose))

        return await self.arun(_request(request, control, spec, namespace), generate)

    def stream(
        self, request: Request | str, model: StreamingModel, *, control: CacheControl | None = None,
        spec: Spec | Task | None = None, namespace: str | None = None,
    ) -> Iterator[str | Result]:
        """As `complete`, yielding pieces of text and, last, the `Result` whose output they join to.

        `model(prompt, purpose)` yields strings and may end with a `Completion`. What must be checked is shown only
        when it has been checked; what the cache holds is shown in several pieces.
        """
        def generate(effect: Generate) -> Iterator[Any]:
            text: list[str] = []
            last: Completion | None = None
            for piece in model(effect.prompt, effect.purpose):
                if isinstance(piece, Completion):
                    last = piece
                else:
                    text.append(piece)
                    yield piece
            yield last if last is not None else Completion("".join(text))

        shown = False
        for item in self.run_stream(_request(request, control, spec, namespace), generate):
            if isinstance(item, Result) and not shown:
                yield from pieces(item.steps)
            shown = True
            yield item

    async def astream(
        self, request: Request | str, model: AsyncStreamingModel, *, control: CacheControl | None = None,
        spec: Spec | Task | None = None, namespace: str | None = None,
    ) -> AsyncGenerator[str | Result, None]:
        """As `stream`, async."""
        async def generate(effect: Generate) -> AsyncIterator[Any]:
            text: list[str] = []
            last: Completion | None = None
            async for piece in model(effect.prompt, effect.purpose):
                if isinstance(piece, Completion):
                    last = piece
                else:
                    text.append(piece)
                    yield piece
            yield last if last is not None else Completion("".join(text))

        shown = False
        items = self.arun_stream(_request(request, control, spec, namespace), generate)
        async with aclosing(items):
            async for item in items:
                if isinstance(item, Result) and not shown:
                    for piece in pieces(item.steps):
                        yield piece
                shown = True
                yield item

    def explain(self, request: Request | str, *, control: CacheControl | None = None,
                spec: Spec | Task | None = None, namespace: str | None = None) -> Decision:
        """The decision this request would get now, without calling a model or changing anything."""
        asked = with_control(_request(request, control, spec, namespace))
        policy = replace(self.policy, judge=None)  # a second opinion may cost a call

        def only_plan(effect: Generate) -> Completion:
            raise AssertionError("a plan never calls the model")

        return _drive.run(_flow.plan(asked, self._world(None, {}, policy)), self._backend, only_plan, {}).decision

    def lookup(self, request: Request | str, generate: Callable[[Generate], Completion] | None = None, *,
               model: Model | None = None) -> Result | None:
        """The reply the cache can give without a whole new answer, or None. A `model` lets it patch and repair."""
        started, seconds = time.perf_counter(), dict[str, float]()
        asked = with_control(_request(request, None, None, None))
        if disabled():
            return None
        if (known := self._repeated(asked, key := self._flight_key(asked), started)) is not None:
            return known
        if model is not None:
            chosen = model

            def generate(effect: Generate) -> Completion:
                return Completion.of(chosen(effect.prompt, effect.purpose))

        flow = _flow.lookup(asked, self._world(key, seconds), may_patch=generate is not None)
        result = _drive.run(flow, self._backend, generate or _no_model, seconds)
        finished = self._finished(asked, result, seconds, started)
        return None if finished.source == "model" else finished

    async def alookup(self, request: Request | str,
                      generate: Callable[[Generate], Awaitable[Completion]] | None = None) -> Result | None:
        """As `lookup`, async."""
        started, seconds = time.perf_counter(), dict[str, float]()
        asked = with_control(_request(request, None, None, None))
        if disabled():
            return None
        if (known := self._repeated(asked, key := self._flight_key(asked), started)) is not None:
            return known
        flow = _flow.lookup(asked, self._world(key, seconds), may_patch=generate is not None)
        result = await _drive.arun(flow, self._backend, generate or _no_async_model, seconds)
        finished = self._finished(asked, result, seconds, started)
        return None if finished.source == "model" else finished

    def record(self, request: Request | str, output: Completion | str) -> bool:
        """Record a reply made elsewhere, if it passes what the request demands; returns whether it was taken."""
        asked = with_control(_request(request, None, None, None))
        if disabled():
            return False
        flow = _flow.record(asked, Completion.of(output), self._world(None, {}))
        return _drive.run(flow, self._backend, _no_model, {})

    async def arecord(self, request: Request | str, output: Completion | str) -> bool:
        """As `record`, async."""
        asked = with_control(_request(request, None, None, None))
        if disabled():
            return False
        flow = _flow.record(asked, Completion.of(output), self._world(None, {}))
        return await _drive.arun(flow, self._backend, _no_async_model, {})

    # -- for adapters: a request and a function that performs Generate --------------------------------------------

    def run(self, request: Request, generate: Callable[[Generate], Completion]) -> Result:
        """Answer one request; `generate` performs a `Generate` effect. The same request at once calls once."""
        started, seconds = time.perf_counter(), dict[str, float]()
        request = with_control(request)
        key = self._flight_key(request)
        if (known := self._repeated(request, key, started)) is not None:
            return known
        ticket = wait_turn(self._flights, key, self.policy.flight_timeout)
        if ticket.shared is not None:
            return self._shared(request, ticket.shared, started)
        with self._flights.leading(ticket) as landed, self._flights.held(ticket):
            driven = _drive.run(self._flow_for(request, ticket, seconds), self._backend, generate, seconds)
            result = self._finished(request, driven, seconds, started)
            landed.append(result)
        return result

    async def arun(self, request: Request, generate: Callable[[Generate], Awaitable[Completion]]) -> Result:
        """As `run`, async."""
        started, seconds = time.perf_counter(), dict[str, float]()
        request = with_control(request)
        key = self._flight_key(request)
        if (known := self._repeated(request, key, started)) is not None:
            return known
        ticket = await await_turn(self._flights, key, self.policy.flight_timeout)
        if ticket.shared is not None:
            return self._shared(request, ticket.shared, started)
        with self._flights.leading(ticket) as landed, self._flights.held(ticket):
            driven = await _drive.arun(self._flow_for(request, ticket, seconds), self._backend, generate, seconds)
            result = self._finished(request, driven, seconds, started)
            landed.append(result)
        return result

    def repeat(self, request: Request, key: str) -> Result | None:
        """What memory has for this very request, whose key is given; None says nothing.

        For adapters that keep a request with its key: the control in force is the request's own, and the result is
        shared between callers, so that its payload must not be changed.
        """
        started = time.perf_counter()
        if (result := self._remembered(request, key)) is not None:
            seconds = _at_once(started)
            shown = replace(_with_own_payload(result), seconds=seconds) if self.hooks else result
            self._reported(request, shown, seconds)
        return result

    def run_stream(self, request: Request, generate: Callable[[Generate], Iterator[Any]]) -> Iterator[Any]:
        """Yield the model's chunks where they may be shown as they come, and last the `Result`, once.

        `generate` yields opaque chunks and, last, one `Completion` that joins them. No chunk before the result means
        that the reply was complete (and checked) before anything could be shown.
        """
        started, seconds = time.perf_counter(), dict[str, float]()
        request = with_control(request)
        key = self._flight_key(request)
        if (known := self._repeated(request, key, started)) is not None:
            yield known
            return
        ticket = wait_turn(self._flights, key, self.policy.flight_timeout)
        if ticket.shared is not None:
            yield self._shared(request, ticket.shared, started)
            return
        with self._flights.leading(ticket) as landed:
            flow = self._flow_for(request, ticket, seconds)
            for item in _drive.run_stream(flow, self._backend, generate, seconds):
                if isinstance(item, Result):
                    item = self._finished(request, item, seconds, started)
                    landed.append(item)
                yield item

    async def arun_stream(
        self, request: Request, generate: Callable[[Generate], AsyncIterator[Any]]
    ) -> AsyncGenerator[Any, None]:
        """As `run_stream`, async."""
        started, seconds = time.perf_counter(), dict[str, float]()
        request = with_control(request)
        key = self._flight_key(request)
        if (known := self._repeated(request, key, started)) is not None:
            yield known
            return
        ticket = await await_turn(self._flights, key, self.policy.flight_timeout)
        if ticket.shared is not None:
            yield self._shared(request, ticket.shared, started)
            return
        with self._flights.leading(ticket) as landed:
            driven = _drive.arun_stream(self._flow_for(request, ticket, seconds), self._backend, generate, seconds)
            async with aclosing(driven):
                async for item in driven:
                    if isinstance(item, Result):
                        item = self._finished(request, item, seconds, started)
                        landed.append(item)
                    yield item

    def _flow_for(self, request: Request, ticket: Ticket, seconds: dict[str, float]) -> _flow.Flow:
        if disabled():
            return _flow.plain_call(request, "STEPCACHE_DISABLED is set")
        return _flow.answer(request, self._world(ticket.key, seconds))

    def _flight_key(self, request: Request) -> str | None:
        """The key under which equal requests share a call; None for those that must not."""
        control = request.control
        if disabled() or control.no_cache or control.refresh or self.policy.shadow:
            return None
        if len(request.prompt) > self.policy.max_chars:
            return None
        try:
            return request.key
        except Exception:  # a broken explicit task; the flow meets the same fault and reports it
            return None

    def _repeated(self, request: Request, key: str | None, started: float) -> Result | None:
        """An exact repetition's own copy of its result, where memory has it; None says nothing."""
        result = None if key is None else self._remembered(request, key)
        if result is None:
            return None
        seconds = _at_once(started)
        return self._reported(request, replace(_with_own_payload(result), seconds=seconds), seconds)

    def _remembered(self, request: Request, key: str) -> Result | None:
        """What the flow would find by its first step, served without the flow; as shared."""
        control = request.control
        if control.no_cache or control.refresh or self.policy.shadow:
            return None
        entry = self._backend.peek(request.wall, key)
        if entry is None or not entry.fresh(self.clock(), control.max_age):
            return None
        return self._repeats.result(entry)

    def _shared(self, request: Request, result: Result, started: float) -> Result:
        """A follower's own copy of the leader's result: no call of its own."""
        seconds = {"wait": time.perf_counter() - started}
        mine = replace(result, payload=copy.deepcopy(result.payload), calls=0, usage=Usage(0, 0), shared=True,
                       recorded=False, seconds=seconds)
        return self._finished(request, mine, seconds, started)

    def _world(self, key: str | None, seconds: dict[str, float], policy: Policy | None = None) -> _flow.World:
        return _flow.World(now=self.clock(), policy=policy or self.policy, tasks=self.tasks, key=key,
                           trusted=self._repeats.trusts, trust=self._repeats.trust, seconds=seconds)

    def _finished(self, request: Request, result: Result, seconds: dict[str, float], started: float) -> Result:
        """Count, log and report one finished request; what no stage accounts for went into deciding.

        A recorded payload is copied, as callers may change what they are given.
        """
        if disabled():
            return result
        total = time.perf_counter() - started
        seconds["decide"] = total - sum(seconds.values())
        seconds["total"] = total
        return self._reported(request, _with_own_payload(result), seconds)

    def _reported(self, request: Request, result: Result, seconds: dict[str, float]) -> Result:
        self._tallies.count(request, result, seconds)
        decision = result.decision
        if isinstance(decision, Skip):  # the reason may quote the prompt, so it stays below INFO
            _log.info("skip: %s (entry %s)", decision.code, decision.match.entry.key[:8])
        _log.debug("%s", decision)
        for hook in self.hooks:
            try:
                hook(request, result)
            except Exception as error:  # an observer must not break what it observes
                _log.warning("a hook failed (%s)", loggable(error))
                _log.debug("a hook failed", exc_info=True)
        return result

    # -- keeping ------------------------------------------------------------------------------------------------

    def forget(self, result_or_key: Result | str) -> int:
        """Remove what served a result (or the entry with this key), and never let that pair match again.

        Returns how many entries were removed.
        """
        self._backend.settle(_SETTLE_SECONDS)
        if isinstance(result_or_key, str):
            return sum(self.store.delete(namespace, [result_or_key]) for namespace in self.store.namespaces())
        result = result_or_key
        keys = {result.key}
        if (match := result.decision.match) is not None:
            keys.add(match.entry.key)
            # The pair, and the one that a second opinion had joined before.
            for partner in {match.entry.key, match.entry.judged} - {result.key, ""}:
                self.store.block(result.namespace, partner, result.key)
        self._repeats.forget(keys)
        return self.store.delete(result.namespace, keys)

    def clear(self, *, namespace: str | None = None, model: str | None = None, tag: str | None = None,
              older_than: float | None = None) -> int:
        """Remove entries: all, or those of a namespace, model identity, tag or age in seconds. Returns how many."""
        self._backend.settle(_SETTLE_SECONDS)
        self._repeats.clear()
        if model is None and tag is None and older_than is None:
            return self.store.clear(namespace)
        now = self.clock()
        doomed: dict[str, list[str]] = {}
        for entry, _ in self.store.scan(namespace):
            known = entry.request.model  # adapters write a model's name, # and a digest of its options
            if ((model is None or known == model or known.startswith(f"{model}#"))
                    and (tag is None or tag in entry.tags)
                    and (older_than is None or now - entry.created_at > older_than)):
                doomed.setdefault(entry.namespace, []).append(entry.key)
        return sum(self.store.delete(wall, keys) for wall, keys in doomed.items())

    def export(self, path: str | os.PathLike[str], *, namespace: str | None = None,
               progress: Callable[[int], None] | None = None) -> int:
        """Write all entries (of one namespace, or all) with their vectors to a file of JSON lines; returns how many.

        The file appears only when it is whole. `progress` is told the count so far after each entry.
        """
        self._backend.settle(_SETTLE_SECONDS)
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        count = 0
        try:
            with partial.open("w", encoding="utf-8") as file:
                for entry, vector in self.store.scan(namespace):
                    file.write(encode_line(entry, vector) + "\n")
                    count += 1
                    if progress is not None:
                        progress(count)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return count

    def load(self, path: str | os.PathLike[str], *, progress: Callable[[int], None] | None = None) -> int:
        """Take in the entries of a file that `export` wrote; returns how many.

        Damaged or foreign lines are left out with one warning. Raises `ConfigurationError` when there is no such file.
        """
        source = Path(path)
        if not source.is_file():
            raise ConfigurationError(f"load takes a file that export wrote; there is none at {source}")
        count = damaged = 0
        with source.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if not line.strip():
                    continue
                read = decode_line(line)
                if read is None:
                    damaged += 1
                    continue
                self.store.put(*read)
                count += 1
                if progress is not None:
                    progress(count)
        if damaged:
            _log.warning("%d lines of %s are damaged or of another version and were left out", damaged, source.name)
        self.store.flush()
        return count

    def purge(self) -> None:
        """Leave no byte of removed text or vectors on disk."""
        self._backend.settle(_SETTLE_SECONDS)
        self.store.purge()

    def compact(self) -> None:
        """Give back disk space that removed entries still hold."""
        self.store.compact()

    def flush(self) -> None:
        """Return when everything recorded so far will survive this process."""
        self._backend.settle(_SETTLE_SECONDS)
        self.store.flush()

    def stats(self, namespace: str | None = None) -> Stats:
        """What this cache did since it was opened, for one namespace or for all."""
        try:
            self._backend.settle(self.policy.cache_timeout)
            entries = self.store.count(namespace)
        except Exception:  # counting must not break an app whose store is down
            entries = 0
        return self._tallies.snapshot(namespace, entries)

    def close(self) -> None:
        """Write what is still queued and let the store go."""
        self._backend.settle(_SETTLE_SECONDS)
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"StepCache({self.store!r}, embedder={self.embedder!r})"


def _offers(given: object, protocol: type) -> bool:
    """Whether an object has a protocol's members. Looks without touching: reading a fingerprint may load a model."""
    missing = object()
    names = [name for name in vars(protocol) if not name.startswith("_")]
    return all(getattr_static(given, name, missing) is not missing for name in names)


def _at_once(started: float) -> dict[str, float]:
    total = time.perf_counter() - started
    return {"fetch": total, "decide": 0.0, "total": total}


def _with_own_payload(result: Result) -> Result:
    if result.source != "cache" or not isinstance(result.payload, dict | list):
        return result
    try:
        return replace(result, payload=copy_json(result.payload))
    except StoreError:  # a payload of some other store's that is no JSON
        return replace(result, payload=copy.deepcopy(result.payload))


def _request(request: Request | str, control: CacheControl | None, spec: Spec | Task | None,
             namespace: str | None) -> Request:
    """The request a caller means, with the named options put in."""
    if isinstance(request, str):
        request = Request(request)
    elif not isinstance(request, Request):
        raise ConfigurationError(f"a request is a string or a Request, not {type(request).__name__}")
    if control is not None:
        request = replace(request, control=merged(control, request.control))
    if spec is not None:
        request = replace(request, spec=spec)
    return request if namespace is None else replace(request, namespace=namespace)


def _no_model(effect: Generate) -> Completion:
    raise AssertionError(f"no model was given, yet one is needed to {effect.purpose}")


async def _no_async_model(effect: Generate) -> Completion:
    return _no_model(effect)


def _default_embedder() -> Embedder | None:
    """all-MiniLM-L6-v2 where sentence-transformers is installed; else None, said once."""
    global _embedding_notice
    if find_spec("sentence_transformers") is not None:
        from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder()
    if not _embedding_notice:
        _embedding_notice = True
        _log.warning("no embedder is installed: exact and template reuse only; "
                     "for similar requests: pip install 'stepcache[embeddings]'")
    return None
