"""Static embeddings: the mean of token vectors, from any of the files that hold such a table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from stepcache.embedders.static import StaticEmbedder, export
from stepcache.errors import ConfigurationError, EmbeddingError

WORDS = ["[UNK]", "tea", "green", "steeps", "trains", "leave"]
TABLE = numpy.array([[9, 9, 9], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1]], dtype=numpy.float32)


def folder(place: Path, **tensors: Any) -> Path:
    place.mkdir(exist_ok=True)
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(place / "tokenizer.json"))
    save_file(tensors, place / "model.safetensors")
    return place


@pytest.fixture
def embedder(tmp_path: Path) -> StaticEmbedder:
    return StaticEmbedder(folder(tmp_path / "table", embeddings=TABLE))


def test_a_text_is_the_direction_of_the_mean_of_its_tokens(embedder: StaticEmbedder) -> None:
    length = math.sqrt(5)
    assert embedder.embed("green tea") == pytest.approx((2 / length, 1 / length, 0.0))
    assert embedder.embed("tea green") == embedder.embed("green tea")


def test_unknown_words_say_nothing_and_nothing_known_is_far_from_everything(embedder: StaticEmbedder) -> None:
    assert embedder.embed("green unheard tea") == embedder.embed("green tea")
    for text in ("", " ", "unheard", "trains leave"):  # the last two cancel each other out
        assert embedder.embed(text) == (1.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> StaticEmbedder:
    return StaticEmbedder(folder(tmp_path_factory.mktemp("shared"), embeddings=TABLE))


@given(text=st.text(st.characters(), max_size=60))
@settings(max_examples=100, deadline=None)
def test_every_text_has_a_unit_vector(shared: StaticEmbedder, text: str) -> None:
    vector = shared.embed(text + " tea")
    assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-5)
    assert shared.embed_many([text, text + " tea"])[1] == vector


def test_the_tables_of_other_libraries_are_read(tmp_path: Path, embedder: StaticEmbedder) -> None:
    theirs = StaticEmbedder(folder(tmp_path / "sentence-transformers", **{"embedding.weight": TABLE}))
    assert theirs.embed("green tea") == embedder.embed("green tea")
    shared = StaticEmbedder(folder(
        tmp_path / "model2vec", embeddings=TABLE[:4].astype(numpy.float16), mapping=numpy.array([0, 1, 2, 3, 3, 3]),
        weights=numpy.array([1.0, 3.0, 1.0, 1.0, 1.0, 1.0])))
    assert shared.embed("green tea") == pytest.approx((4 / math.sqrt(17), 1 / math.sqrt(17), 0.0))
    assert shared.embed("trains") == shared.embed("steeps")


def test_another_table_is_another_space(tmp_path: Path, embedder: StaticEmbedder) -> None:
    same = StaticEmbedder(folder(tmp_path / "table", embeddings=TABLE) / "model.safetensors")
    other = StaticEmbedder(folder(tmp_path / "table2", embeddings=TABLE[:, ::-1].copy()))
    assert same.fingerprint == embedder.fingerprint
    assert other.fingerprint.split(":")[-1] != embedder.fingerprint.split(":")[-1]


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        StaticEmbedder("")
    with pytest.raises(EmbeddingError, match=r"python -m stepcache\.embedders\.static"):
        StaticEmbedder(tmp_path / "nothing").embed("tea")
    with pytest.raises(EmbeddingError, match="no table"):
        StaticEmbedder(folder(tmp_path / "strange", other=TABLE)).embed("tea")
    with pytest.raises(EmbeddingError, match="3 rows for 6 tokens"):
        StaticEmbedder(folder(tmp_path / "short", embeddings=TABLE[:3])).embed("tea")
    broken = folder(tmp_path / "broken", embeddings=TABLE)
    (broken / "model.safetensors").write_bytes(b"no table")
    with pytest.raises(EmbeddingError, match="cannot load"):
        StaticEmbedder(broken).load()
    with pytest.raises(ConfigurationError):
        export(tmp_path / "exported", dimensions=1)
