"""Static embeddings: a vector looked up for each token, and no model run. Fast, small, and blind to the order of words.

The table is made once by `export` out of a sentence-transformers model (which needs torch), or given by path:
`export`, model2vec and sentence-transformers' `StaticEmbedding` write the same two files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepcache.embedders._lazy import Lazy, in_background
from stepcache.embedders._space import PROBE, first_axis, space_name
from stepcache.embedders._windows import readable
from stepcache.embedders.sentence_transformers import installed_model_folder
from stepcache.errors import ConfigurationError, EmbeddingError

__all__ = ["StaticEmbedder", "export"]

_TABLE_FILE, _TOKENIZER_FILE = "model.safetensors", "tokenizer.json"
_TABLES = ("embeddings", "embedding.weight")  # as model2vec and as sentence-transformers name it
_MOST_CHARS = 100_000  # what lies beyond adds time, not direction
_DIMENSIONS = 256
_RARITY = 1e-4  # of smooth inverse frequency (Arora et al. 2017, section 3), for counts estimated from ranks


class _Loaded:
    """The rows of the tokens, already weighted, and what cuts a text into tokens."""

    def __init__(self, rows: Any, tokenizer: Any, unknown: int | None) -> None:
        self.rows = rows
        self.tokenizer = tokenizer
        self.unknown = unknown


class StaticEmbedder:
    """Unit vectors of texts as the mean of their tokens' vectors.

    path: a folder with `model.safetensors` and `tokenizer.json`, as `export`, model2vec and sentence-transformers'
        `StaticEmbedding` write it, or the table's file itself.

    Nothing is imported or loaded before first use. Raises `EmbeddingError` when that fails, and `ConfigurationError`
    for an empty path.
    """

    batches = False  # a text takes as long in a list as alone

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise ConfigurationError('path takes a folder such as path="./minilm-static"')
        given = Path(path)
        self.path = given if given.suffix == ".safetensors" else given / _TABLE_FILE
        self._lazy: Lazy[_Loaded] = Lazy(self._load)
        self._fingerprint: str | None = None

    def __repr__(self) -> str:
        return f"StaticEmbedder(path={str(self.path)!r})"

    @property
    def fingerprint(self) -> str:
        """Class, folder name and the vector of a fixed sentence; loads the table the first time."""
        if self._fingerprint is None:
            self._fingerprint = space_name(type(self).__name__, self.path.parent.name, self.embed(PROBE))
        return self._fingerprint

    def load(self) -> None:
        """Load the table now, if it isn't."""
        self._lazy.get()

    def warm_up(self) -> None:
        """Load the table in the background, so that the first request does not wait for it."""
        in_background(self.load)

    def embed(self, text: str) -> tuple[float, ...]:
        return self.embed_many([text])[0]

    def embed_many(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """As `embed`, one by one."""
        if not texts:
            return []
        loaded = self._lazy.get()
        try:
            cut = loaded.tokenizer.encode_batch([readable(text[:_MOST_CHARS]) for text in texts],
                                                add_special_tokens=False)
            return [self._mean(loaded, one.ids) for one in cut]
        except Exception as problem:  # tokenizers raises what it likes
            raise EmbeddingError(f"the embedder failed: {problem}") from problem

    def _mean(self, loaded: _Loaded, ids: Sequence[int]) -> tuple[float, ...]:
        known = [id_ for id_ in ids if id_ != loaded.unknown]
        if known:
            mean = loaded.rows[known].mean(axis=0)
            length = float((mean @ mean) ** 0.5)
            if length > 0:
                return tuple((mean / length).tolist())
        return first_axis(loaded.rows.shape[1])  # nothing known in it: a direction that no text comes near

    def _load(self) -> _Loaded:
        try:
            import numpy
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as missing:
            raise EmbeddingError(
                f"{missing.name} is not installed; run: pip install numpy safetensors tokenizers") from missing
        tokenizer_file = self._tokenizer_file()
        if not self.path.is_file() or not tokenizer_file.is_file():
            raise EmbeddingError(f"there is no {self.path} with its {_TOKENIZER_FILE}; make them with: "
                                 "python -m stepcache.embedders.static FOLDER")
        tensors = load_file(self.path)
        table = next((tensors[name] for name in _TABLES if name in tensors), None)
        if table is None or table.ndim != 2:
            raise EmbeddingError(f"{self.path} holds no table of token vectors")
        rows = table.astype(numpy.float32)
        if "mapping" in tensors:  # model2vec may let several tokens share a row
            rows = rows[tensors["mapping"]]
        if "weights" in tensors:
            rows = rows * tensors["weights"].astype(numpy.float32)[:, None]
        tokenizer = Tokenizer.from_file(str(tokenizer_file))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if tokenizer.get_vocab_size() > len(rows):
            raise EmbeddingError(f"{self.path} has {len(rows)} rows for {tokenizer.get_vocab_size()} tokens")
        unknown = next((id_ for name in ("[UNK]", "<unk>") if (id_ := tokenizer.token_to_id(name)) is not None), None)
        return _Loaded(rows, tokenizer, unknown)

    def _tokenizer_file(self) -> Path:
        return self.path.with_name(_TOKENIZER_FILE)


def export(folder: str | os.PathLike[str], model: str = "all-MiniLM-L6-v2", dimensions: int = _DIMENSIONS) -> Path:
    """Write a sentence-transformers model's token table with its tokenizer into a folder; returns the table's file.

    Each token is embedded alone, the vectors are brought to their main directions and weighted by how rare the token
    is, which its place in the vocabulary tells (the way of model2vec). Takes about a minute. Needs torch and
    sentence-transformers; afterwards neither. Raises `EmbeddingError`, and `ConfigurationError` for `dimensions` < 2.
    """
    if type(dimensions) is not int or dimensions < 2:
        raise ConfigurationError(f"dimensions takes a whole number >= 2, not {dimensions!r}")
    try:
        import numpy
        import torch
        from safetensors.numpy import save_file
        from sentence_transformers import SentenceTransformer
    except ImportError as missing:
        raise EmbeddingError(f'{missing.name} is not installed; run: pip install "stepcache[embeddings]"') from missing
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    found = installed_model_folder(model)
    whole = SentenceTransformer(found or model, device="cpu", local_files_only=found is not None)
    tokenizer: Any = whole.tokenizer
    first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
    if first is None or last is None:
        raise EmbeddingError(f"{model} has no marks around a text, so its tokens can't be embedded alone")
    size, pieces = len(tokenizer), []
    try:
        for start in range(0, size, 1024):
            ids = torch.arange(start, min(start + 1024, size))
            given = torch.stack([torch.full_like(ids, first), ids, torch.full_like(ids, last)], dim=1)
            with torch.no_grad():
                made = whole({"input_ids": given, "attention_mask": torch.ones_like(given)})
            pieces.append(made["sentence_embedding"].cpu().numpy())
    except Exception as problem:  # torch raises what it likes
        raise EmbeddingError(f"the model could not be exported: {problem}") from problem
    rows = numpy.concatenate(pieces)
    rows = rows - rows.mean(axis=0)
    _, directions = numpy.linalg.eigh(rows.T @ rows)  # the largest last
    rows = rows @ directions[:, ::-1][:, :dimensions]
    share = 1.0 / numpy.arange(2, size + 2)  # Zipf's law over the vocabulary, which is ordered by frequency
    share /= share.sum()
    rows *= (_RARITY / (_RARITY + share))[:, None]
    save_file({_TABLES[0]: numpy.ascontiguousarray(rows, dtype=numpy.float16)}, place / _TABLE_FILE)
    tokenizer.backend_tokenizer.save(str(place / _TOKENIZER_FILE))
    return place / _TABLE_FILE


if __name__ == "__main__":
    import sys

    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m stepcache.embedders.static FOLDER [MODEL]")
    _, where, *named = sys.argv
    sys.stdout.write(f"{export(where, named[0]) if named else export(where)}\n")
