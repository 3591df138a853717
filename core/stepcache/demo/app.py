"""The demo: a LangChain app on a small real model, through a cache that stays in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from stepcache._cache import StepCache
from stepcache.demo.models import fetch
from stepcache.demo.prompts import DEMO, DemoRequest
from stepcache.demo.serve import Endpoint, serve

__all__ = ["Outcome", "Row", "Source", "Watcher", "missing_packages", "run"]

_SERVED = frozenset({"cache", "rewrite", "patch"})
_APP_URL = "http://model.demo/v1"  # a name, not an address: see CountingTransport
_MAX_TOKENS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the model comes from: a file, a server, or one of the demo's own models by name."""

    gguf: Path | None = None
    base_url: str | None = None
    model: str | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One request: what the cache did, what it cost, and what the model alone would have cost (None: not known)."""

    kind: str
    prompt: str
    outcome: str
    source: str
    reason: str
    seconds: float
    calls: int
    tokens: int
    passes: bool
    output: str
    seconds_without: float | None = None
    tokens_without: int | None = None

    @property
    def served(self) -> bool:
        """Whether the answer, or part of it, came out of the cache."""
        return self.source in _SERVED


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The whole run."""

    rows: tuple[Row, ...]
    folder: Path
    model: str
    compared_now: int

    @property
    def wrongly_served(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.served and not row.passes)


class Watcher(Protocol):
    """Who is told what goes on."""

    def note(self, text: str) -> None: ...

    def progress(self, what: str, done: int, total: int) -> None: ...

    def row(self, number: int, row: Row) -> None: ...


def missing_packages(served_elsewhere: bool) -> list[str]:
    """What the demo needs and this environment lacks."""
    needed = {"langchain_core": "langchain-core", "langchain_openai": "langchain-openai", "httpx": "httpx"}
    if not served_elsewhere:
        needed["xllamacpp"] = "xllamacpp"
    return [package for module, package in needed.items() if find_spec(module) is None]


def run(source: Source, folder: Path | None, watcher: Watcher) -> Outcome:
    """Send all requests of the demo through the cache in `folder`; the first run also asks the model without it."""
    folder = _default_folder() if folder is None else folder
    with _endpoint(source, watcher) as endpoint:
        return _through_cache(endpoint, folder, watcher)


def _default_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stepcache" / "demo"


@contextmanager
def _endpoint(source: Source, watcher: Watcher) -> Iterator[Endpoint]:
    if source.base_url is not None:
        yield Endpoint(
            base_url=source.base_url,
            model=source.model or _only_model(source.base_url),
            api_key=os.environ.get("OPENAI_API_KEY") or "none",
        )
        return
    path = source.gguf or fetch(source.model or "qwen-0.5b", progress=watcher.progress)
    watcher.note(f"loading {path.name}")
    with serve(path, threads=source.threads) as endpoint:
        watcher.note(
            f"{endpoint.model} answers at {endpoint.base_url}, with {endpoint.threads} of {os.cpu_count()} cores"
        )
        yield endpoint


def _only_model(base_url: str) -> str:
    """The name of the first model that a server lists."""
    import httpx

    from stepcache.errors import ConfigurationError

    try:
        return str(httpx.get(f"{base_url.rstrip('/')}/models", timeout=10.0).raise_for_status().json()["data"][0]["id"])
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        raise ConfigurationError(f"{base_url} does not list its models ({error}); name one with --model") from error


def _through_cache(endpoint: Endpoint, folder: Path, watcher: Watcher) -> Outcome:
    import httpx
    from langchain_openai import ChatOpenAI

    from langchain_stepcache import StepCacheChatModel
    from stepcache.demo.transport import CountingTransport

    local = endpoint.threads is not None
    transport = CountingTransport(endpoint.base_url)
    with httpx.Client(transport=transport, timeout=600.0) as client, _open(folder / "cache") as cache:
        plain = ChatOpenAI(
            model=endpoint.model,
            base_url=_APP_URL if local else endpoint.base_url,
            api_key=endpoint.api_key,  # type: ignore[arg-type]  # a string is taken, too
            http_client=client,
            temperature=0.0,
            max_tokens=_MAX_TOKENS,  # type: ignore[call-arg]  # the field's alias
            max_retries=0,
        )
        chat = StepCacheChatModel(model=plain, cache=cache)
        if cache.embedder is not None and cache.store.count() == 0:
            watcher.note("loading the embedding model")
            cache.embedder.embed("ready")  # so that no request pays for it
        rows = []
        for number, request in enumerate(DEMO, 1):
            rows.append(_ask(chat, request, transport))
            watcher.row(number, rows[-1])
        cache.flush()
        baseline = _Baseline(folder / "without-cache.json", endpoint.model)
        compared = baseline.complete(rows, plain, transport, watcher)
    return Outcome(rows=tuple(map(baseline.compare, rows)), folder=folder, model=endpoint.model, compared_now=compared)


def _open(folder: Path) -> StepCache:
    """The cache, which also knows how-to lists asked again "without X": opt-in, and last before plain text."""
    from stepcache.tasks import DEFAULT_TASKS, procedure

    return StepCache.open(folder, tasks=(*DEFAULT_TASKS[:-1], procedure(), DEFAULT_TASKS[-1]))


def _ask(chat: Any, request: DemoRequest, transport: Any) -> Row:
    before, started = transport.traffic, time.perf_counter()
    message = chat.invoke(request.prompt)
    seconds, after = time.perf_counter() - started, transport.traffic
    told = message.response_metadata["stepcache"]
    return Row(
        kind=request.kind, prompt=request.prompt, outcome=told["outcome"], source=told["source"], reason=told["reason"],
        seconds=seconds, calls=after.calls - before.calls, tokens=after.tokens - before.tokens,
        passes=request.passes(message.text), output=message.text,
    )  # fmt: skip


class _Baseline:
    """What each prompt costs without the cache: measured once on the same model, then kept beside the cache."""

    def __init__(self, file: Path, model: str) -> None:
        self._file, self._model = file, model
        try:
            self._known: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._known = {}

    def complete(self, rows: list[Row], plain: Any, transport: Any, watcher: Watcher) -> int:
        """Measure the prompts whose cost is not known yet; returns how many were asked for it.

        Where the model has just answered a prompt itself in one call, that call is the measurement.
        """
        for row in rows:
            if row.source == "model" and row.calls == 1:
                self._known[self._key(row.prompt)] = {"tokens": row.tokens, "seconds": row.seconds}
        todo = [prompt for prompt in dict.fromkeys(row.prompt for row in rows) if self._key(prompt) not in self._known]
        for done, prompt in enumerate(todo):
            watcher.progress("asking the same without the cache, to compare (first run only)", done, len(todo))
            before, started = transport.traffic, time.perf_counter()
            plain.invoke(prompt)
            self._known[self._key(prompt)] = {
                "tokens": transport.traffic.tokens - before.tokens,
                "seconds": time.perf_counter() - started,
            }
            self._save()
        watcher.progress("asking the same without the cache, to compare (first run only)", len(todo), len(todo))
        self._save()
        return len(todo)

    def compare(self, row: Row) -> Row:
        known = self._known.get(self._key(row.prompt))
        if known is None:
            return row
        return replace(row, tokens_without=known["tokens"], seconds_without=known["seconds"])

    def _key(self, prompt: str) -> str:
        return hashlib.sha256(f"{self._model}\0{prompt}".encode()).hexdigest()[:24]

    def _save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(".partial")
        partial.write_text(json.dumps(self._known, indent=1), encoding="utf-8")
        partial.replace(self._file)
