"""Vectors of texts: the last ones are kept, and texts wanted at the same time go to the embedder together."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from stepcache.errors import EmbeddingError

__all__ = ["Gathered"]

Vector = tuple[float, ...]
_KEPT = 256  # a vector of 384 numbers takes 12 kB
_MOST_CHARS = 20_000  # of a text that is kept
_MOST_TOGETHER = 64


class Gathered:
    """Asks `embed_many` for lists of texts; thread-safe.

    With `together`, texts that are asked for while the embedder works wait and then go in one list, which takes a
    model on this machine a fraction of the time. Without it (an embedder behind a network, of which several calls can
    be under way) each goes alone and at once.
    """

    def __init__(self, embed_many: Callable[[Sequence[str]], Sequence[Vector]], together: bool) -> None:
        self._embed_many = embed_many
        self._together = together
        self._lock = threading.Lock()
        self._busy = threading.Lock()
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._waiting: dict[str, Future[Vector]] = {}
        self.seconds = 0.0  # the embedder last took for a text

    def vector(self, text: str) -> Vector:
        """The vector of one text. Raises whatever the embedder raises for it."""
        with self._lock:
            known = self._kept.get(text)
            if known is not None:
                self._kept.move_to_end(text)
                return known
        if not self._together:
            return self._embedded([text])[0]
        with self._lock:
            future = self._waiting.get(text)
            if future is None:
                future = self._waiting[text] = Future()
        while not future.done():
            with self._busy:  # whoever comes first works for all who wait
                if not future.done():
                    self._serve()
        return future.result()

    def prepare(self, texts: Sequence[str]) -> None:
        """Have texts embedded in one list whose vectors will be asked for next. Raises what the embedder raises."""
        if self._together:
            with self._lock:
                missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
            if len(missing) > 1:
                with self._busy:
                    self._embedded(missing)

    def _serve(self) -> None:
        with self._lock:
            texts = list(self._waiting)[:_MOST_TOGETHER]
            futures = [self._waiting.pop(text) for text in texts]
        try:
            self._settle(texts, futures)
        finally:
            for future in futures:
                if not future.done():  # the thread was told to stop; whoever waits must not wait for ever
                    future.set_exception(RuntimeError("embedding was interrupted"))

    def _settle(self, texts: list[str], futures: list[Future[Vector]]) -> None:
        try:
            vectors = self._embedded(texts)
        except Exception as error:
            if len(texts) == 1:
                futures[0].set_exception(error)
                return
            for text, future in zip(texts, futures, strict=True):  # one bad text must not cost the others their vector
                self._settle([text], [future])
            return
        for future, vector in zip(futures, vectors, strict=True):
            future.set_result(vector)

    def _embedded(self, texts: list[str]) -> list[Vector]:
        start = time.perf_counter()
        vectors = list(self._embed_many(texts))
        if len(vectors) != len(texts):
            raise EmbeddingError(f"the embedder gave {len(vectors)} vectors for {len(texts)} texts")
        self.seconds = (time.perf_counter() - start) / len(texts)
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                if len(text) <= _MOST_CHARS:
                    self._kept[text] = vector
                    self._kept.move_to_end(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return vectors
