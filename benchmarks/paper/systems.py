"""The systems compared: no cache, what people use today, StepCache, and StepCache with parts switched off.

Every system answers through the same backend. What a system itself needs is timed; nothing here judges a reply.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from benchmarks.gptcache import open_gptcache
from benchmarks.paper.backend import Backend
from stepcache import Completion, Policy, Request, Spec, StepCache
from stepcache.protocols import Embedder, Task
from stepcache.stores.chroma import ChromaStore
from stepcache.tasks import DEFAULT_TASKS, linear_equation, tool_calls
from stepcache.tasks.linear import LinearEquation

__all__ = ["SYSTEMS", "Answer", "System", "TimedEmbedder", "build", "installed", "tools_in_prompt"]

_TOOLS = "Tools: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply, what the system says it did, and the seconds each of its stages took."""

    reply: str
    outcome: str
    source: str
    reason: str = ""
    verified: bool | None = None
    stages: dict[str, float] = field(default_factory=dict)


class System(Protocol):
    """Anything that answers prompts."""

    def answer(self, prompt: str) -> Answer: ...

    def close(self) -> None: ...


class NoCache:
    """The model, each time."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def answer(self, prompt: str) -> Answer:
        return Answer(reply=self._backend.ask(prompt).text, outcome="miss", source="model")

    def close(self) -> None: ...


class BackendChat(BaseChatModel):
    """The backend as a LangChain chat model."""

    backend: Any

    @property
    def _llm_type(self) -> str:
        return "benchmark"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.backend.model}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self.backend.ask(str(messages[-1].content))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply.text))])


class ExactCache:
    """LangChain's `InMemoryCache`: the same prompt again, or nothing."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._chat = BackendChat(backend=backend, cache=InMemoryCache())

    def answer(self, prompt: str) -> Answer:
        calls = self._backend.spent.calls
        reply = str(self._chat.invoke(prompt).content)
        hit = self._backend.spent.calls == calls
        return Answer(reply=reply, outcome="reuse" if hit else "miss", source="cache" if hit else "model")

    def close(self) -> None: ...


class CosineCache:
    """What semantic caches do: the nearest recorded prompt's whole reply, if its cosine reaches a threshold."""

    def __init__(self, backend: Backend, embedder: Embedder, threshold: float) -> None:
        self._backend, self._embedder, self._threshold = backend, embedder, threshold
        self._vectors: list[Sequence[float]] = []
        self._replies: list[str] = []

    def answer(self, prompt: str) -> Answer:
        vector = self._embedder.embed(prompt)
        if self._vectors:
            similarities = np.asarray(self._vectors) @ np.asarray(vector)
            best = int(similarities.argmax())
            if similarities[best] >= self._threshold:
                reason = f"cosine {similarities[best]:.3f}"
                return Answer(reply=self._replies[best], outcome="reuse", source="cache", reason=reason)
        reply = self._backend.ask(prompt).text
        self._vectors.append(vector)
        self._replies.append(reply)
        return Answer(reply=reply, outcome="miss", source="model")

    def close(self) -> None: ...


class GptCache:
    """GPTCache by its `get` and `put`, over the same embedder."""

    def __init__(self, backend: Backend, embedder: Embedder, folder: Path) -> None:
        self._cache = open_gptcache(embedder, folder)
        from gptcache.adapter.api import get, put

        self._backend, self._get, self._put = backend, get, put

    def answer(self, prompt: str) -> Answer:
        known = self._get(prompt, cache_obj=self._cache)
        if known is not None:
            return Answer(reply=str(known), outcome="reuse", source="cache")
        reply = self._backend.ask(prompt).text
        self._put(prompt, reply, cache_obj=self._cache)
        return Answer(reply=reply, outcome="miss", source="model")

    def close(self) -> None: ...


def tools_in_prompt(request: Request) -> Spec | None:
    """A task of the benchmark's own: the tools stand in the prompt, so that every system gets the same text."""
    first, _, _ = request.prompt.partition("\n")
    if not first.startswith(_TOOLS):
        return None
    return tool_calls(json.loads(first.removeprefix(_TOOLS)))(request)


class TimedEmbedder:
    """An embedder whose seconds are counted."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.seconds = 0.0

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    def embed(self, text: str) -> Sequence[float]:
        started = time.perf_counter()
        try:
            return self._inner.embed(text)
        finally:
            self.seconds += time.perf_counter() - started

    def embed_many(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return self._inner.embed_many(texts)


class TimedStore(ChromaStore):
    """The Chroma store, its calls timed by name."""

    seconds: defaultdict[str, float]

    def __init__(self, path: Path) -> None:
        super().__init__(path=str(path))
        self.seconds = defaultdict(float)

    def _timed(self, name: str, call: Callable[..., Any], *arguments: Any) -> Any:
        started = time.perf_counter()
        try:
            return call(*arguments)
        finally:
            self.seconds[name] += time.perf_counter() - started

    def get(self, namespace: str, key: str) -> Any:
        return self._timed("fetch", super().get, namespace, key)

    def by_template(self, namespace: str, template: str, limit: int) -> Any:
        return self._timed("template", super().by_template, namespace, template, limit)

    def search(self, namespace: str, partition: str, fingerprint: str, vector: Sequence[float], limit: int) -> Any:
        return self._timed("search", super().search, namespace, partition, fingerprint, vector, limit)

    def put(self, entry: Any, vector: Sequence[float] | None) -> None:
        self._timed("put", super().put, entry, vector)


class Stepped:
    """StepCache on a fresh Chroma folder."""

    def __init__(
        self,
        backend: Backend,
        embedder: Embedder | None,
        folder: Path,
        policy: Policy,
        tasks: Sequence[Task] = DEFAULT_TASKS,
    ) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._backend, self._folder = backend, folder
        self._embedder = None if embedder is None else TimedEmbedder(embedder)
        self._store = TimedStore(folder)
        self._cache = StepCache(self._store, self._embedder, tasks=(tools_in_prompt, *tasks), policy=policy)
        self._model_seconds = 0.0

    def answer(self, prompt: str) -> Answer:
        self._store.seconds.clear()
        self._model_seconds = 0.0
        if self._embedder is not None:
            self._embedder.seconds = 0.0
        started = time.perf_counter()
        result = self._cache.complete(Request(prompt, model=self._backend.model, temperature=0.0), self._ask)
        whole = time.perf_counter() - started
        stages = dict(self._store.seconds)
        stages["embed"] = 0.0 if self._embedder is None else self._embedder.seconds
        stages["decide"] = max(0.0, whole - self._model_seconds - sum(stages.values()))
        return Answer(
            reply=result.output,
            outcome=result.outcome,
            source=result.source,
            reason=result.decision.reason,
            verified=result.verified,
            stages={name: round(seconds, 6) for name, seconds in stages.items()},
        )

    def _ask(self, prompt: str, purpose: str) -> Completion:
        started = time.perf_counter()
        reply = self._backend.ask(prompt)
        self._model_seconds += time.perf_counter() - started
        usage = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
        return Completion(reply.text, usage, reply.finish_reason)  # type: ignore[arg-type]  # a mapping is taken, too

    def close(self) -> None:
        self._cache.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class PaperEquation(LinearEquation):
    """The paper's rule for constants: another one means another request, and the old reply is not reused."""

    @property
    def residue(self) -> str:
        equation = self.reading.equation
        return f"{super().residue} {equation.text.partition(equation.variable)[2]}"


def _paper_equation(request: Request) -> PaperEquation | None:
    spec = linear_equation()(request)
    return PaperEquation(spec.reading) if isinstance(spec, LinearEquation) else None


def _paper_tasks() -> tuple[Task, ...]:
    """The default tasks, with the paper's rule in place of ours for equations."""
    return (_paper_equation, *DEFAULT_TASKS[1:])


_POLICIES = {
    "stepcache": Policy(),
    "stepcache, no rewrite": Policy(rewrite=False),
    "stepcache, no patch": Policy(patch=False),
    "stepcache, no enforcement": Policy(enforce=False),
    "stepcache, no repair": Policy(max_repairs=0),
}

SYSTEMS = (
    "none",
    "InMemoryCache",
    "cosine 0.80",
    "cosine 0.90",
    "cosine 0.95",
    "GPTCache",
    "stepcache",
    "stepcache, the paper's rules",
    "stepcache, no rewrite",
    "stepcache, no patch",
    "stepcache, no enforcement",
    "stepcache, no repair",
    "stepcache, no embedder",
)


def installed(names: Sequence[str]) -> tuple[str, ...]:
    """Those of these systems that can be built here: all but GPTCache, where that is not installed."""
    there = importlib.util.find_spec("gptcache") is not None and importlib.util.find_spec("faiss") is not None
    return tuple(name for name in names if there or name != "GPTCache")


def build(name: str, backend: Backend, embedder: Embedder, folder: Path) -> System:
    """Make one system, empty."""
    if name == "none":
        return NoCache(backend)
    if name == "InMemoryCache":
        return ExactCache(backend)
    if name.startswith("cosine "):
        return CosineCache(backend, embedder, float(name.removeprefix("cosine ")))
    if name == "GPTCache":
        return GptCache(backend, embedder, folder)
    if name == "stepcache, the paper's rules":
        return Stepped(backend, embedder, folder, Policy(rewrite=False), _paper_tasks())
    if name == "stepcache, no embedder":
        return Stepped(backend, None, folder, Policy())
    return Stepped(backend, embedder, folder, _POLICIES[name])
