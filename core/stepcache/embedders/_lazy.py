"""Loading a model at its first use, once, under a lock, and not again and again when it can't be loaded."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from stepcache.errors import EmbeddingError

__all__ = ["Lazy", "in_background"]

_Model = TypeVar("_Model")
_RETRY_SECONDS = 60.0


class Lazy(Generic[_Model]):
    """Holds what `load` returns. A failed load is remembered for a minute and costs nothing meanwhile."""

    def __init__(self, load: Callable[[], _Model], clock: Callable[[], float] = time.monotonic) -> None:
        self._load = load
        self._clock = clock
        self._lock = threading.RLock()
        self._model: _Model | None = None
        self._failure: tuple[float, str] | None = None

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def get(self) -> _Model:
        """The model, loaded if need be. Raises `EmbeddingError`."""
        if self._model is not None:
            return self._model
        with self._lock:
            if self.loaded:
                return self.get()
            if self._failure is not None and self._clock() - self._failure[0] < _RETRY_SECONDS:
                raise EmbeddingError(self._failure[1])
            try:
                self._model = self._load()
            except Exception as problem:  # whatever a model library raises, the cache only knows "no embedder"
                text = str(problem) if isinstance(problem, EmbeddingError) else f"cannot load the embedder: {problem}"
                self._failure = (self._clock(), text)
                raise EmbeddingError(text) from problem
            return self._model


def in_background(load: Callable[[], object]) -> None:
    """Run `load` in a thread of its own; the first request meets the same error and reports it."""
    def run() -> None:
        with contextlib.suppress(EmbeddingError):
            load()

    threading.Thread(target=run, name="stepcache-warm-up", daemon=True).start()
