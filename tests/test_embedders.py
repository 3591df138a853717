"""Embedders: the same text, the same vector; long and strange texts; loading late, once, and saying what is missing."""

import math
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepcache
from stepcache.embedders._lazy import Lazy
from stepcache.embedders._space import first_axis, mean_direction, space_name
from stepcache.embedders._windows import readable, windows
from stepcache.embedders.onnx import OnnxEmbedder
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
from stepcache.errors import ConfigurationError, EmbeddingError
from stepcache.testing import HashEmbedder


def cosine(a: Any, b: Any) -> float:
    return float(sum(x * y for x, y in zip(a, b, strict=True)))


def words(text: str) -> list[tuple[int, int]]:
    """A tokenizer of single words."""
    found, start = [], None
    for at, char in enumerate(text + " "):
        if char.isspace():
            if start is not None:
                found.append((start, at))
            start = None
        elif start is None:
            start = at
    return found


@given(st.text(st.characters(), max_size=200))
@settings(max_examples=100, deadline=None)
def test_the_hash_embedder_gives_a_unit_vector_for_every_text(text: str) -> None:
    embedder = HashEmbedder()
    vector = embedder.embed(text)
    assert len(vector) == 64
    assert abs(math.sqrt(cosine(vector, vector)) - 1.0) < 1e-9
    assert embedder.embed_many([text]) == [vector]


def test_the_hash_embedder_finds_texts_that_share_words_near() -> None:
    embedder = HashEmbedder(dimensions=256)
    tea, tea_too, train = map(embedder.embed, (
        "How long should green tea steep?", "How long must green tea steep?", "When does the night train leave?"))
    assert cosine(tea, tea_too) > 0.7 > 0.4 > cosine(tea, train)
    assert HashEmbedder(64).fingerprint != HashEmbedder(65).fingerprint
    with pytest.raises(ConfigurationError):
        HashEmbedder(dimensions=0)


def test_a_short_text_is_read_whole() -> None:
    for text in ("", "one", "one two three", " spaced  out "):
        assert windows(text, words, 5) == (text,)


@given(st.lists(st.sampled_from(["a", "bb", "ccc", "\n", "déjà"]), max_size=300), st.integers(1, 40))
@settings(max_examples=150, deadline=None)
def test_a_long_text_is_read_at_its_head_and_its_tail(parts: list[str], tokens: int) -> None:
    text = " ".join(parts)
    found = windows(text, words, tokens)
    assert text.startswith(found[0])
    assert text.endswith(found[-1])
    assert all(len(words(part)) <= tokens for part in found)
    if len(words(text)) <= tokens and len(text) < 12 * tokens:
        assert found == (text,)


def test_prompts_that_differ_only_at_the_end_of_a_long_context_differ_in_what_is_read() -> None:
    context = "the report tells of sales in many countries " * 500
    assert windows(context + "Who leads?", words, 50) != windows(context + "How many apples?", words, 50)
    assert windows("Who leads? " + context, words, 50) != windows("How many apples? " + context, words, 50)


def test_half_characters_are_replaced() -> None:
    readable("a\ud800b").encode()
    assert readable("a\x00é") == "a\x00é"


def test_the_name_of_a_space_changes_with_model_and_weights_and_not_with_the_last_digits() -> None:
    probe = [0.011 + 0.0007 * number for number in range(40)]
    name = space_name("A", "m", probe)
    assert space_name("A", "m", [value + 1e-7 for value in probe]) == name
    assert space_name("B", "m", probe) != name
    assert space_name("A", "n", probe) != name
    assert space_name("A", "m", probe[:-1]) != name
    assert space_name("A", "m", [-value for value in probe]) != name
    assert space_name("A", "m", probe[1:] + probe[:1]) != name


def test_a_mean_of_directions_is_a_direction() -> None:
    assert mean_direction([(1.0, 0.0), (0.0, 1.0)]) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))
    assert mean_direction([(1.0, 0.0), (-1.0, 0.0)]) == (0.0, 0.0)
    assert first_axis(3) == (1.0, 0.0, 0.0)


def test_a_model_is_loaded_once_however_many_ask_at_once() -> None:
    loads: list[int] = []

    def load() -> str:
        loads.append(1)
        return "model"

    lazy = Lazy(load)
    assert not lazy.loaded
    gate = threading.Barrier(8)

    def ask() -> None:
        gate.wait()
        assert lazy.get() == "model"

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert lazy.loaded


def test_a_failed_load_is_not_tried_again_for_a_minute() -> None:
    loads: list[int] = []
    now = [0.0]

    def load() -> str:
        loads.append(1)
        raise OSError("no such model")

    lazy = Lazy(load, clock=lambda: now[0])
    for _ in range(3):
        with pytest.raises(EmbeddingError, match="no such model"):
            lazy.get()
    assert len(loads) == 1
    now[0] = 61.0
    with pytest.raises(EmbeddingError):
        lazy.get()
    assert len(loads) == 2


def test_an_option_that_cannot_work_is_refused_at_once() -> None:
    for make in (
        lambda: SentenceTransformerEmbedder(model=""), lambda: SentenceTransformerEmbedder(batch_size=0),
        lambda: OnnxEmbedder(path=""), lambda: OnnxEmbedder(path="m", threads=0),
    ):
        with pytest.raises(ConfigurationError, match="takes"):
            make()


def test_a_missing_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match=r"python -m stepcache\.embedders\.onnx"):
        OnnxEmbedder(path=tmp_path).embed("text")


def test_nothing_heavy_is_imported_before_first_use() -> None:
    script = """
import sys
sys.path.insert(0, sys.argv[1])
from stepcache.embedders.onnx import OnnxEmbedder
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
from stepcache.stores.chroma import ChromaStore
from stepcache.stores.memory import MemoryStore
SentenceTransformerEmbedder(), OnnxEmbedder("m"), ChromaStore(path="never made"), MemoryStore()
heavy = {"torch", "sentence_transformers", "chromadb", "numpy", "onnxruntime", "transformers"} & set(sys.modules)
assert not heavy, heavy
"""
    core = str(Path(stepcache.__file__).parents[1])
    assert subprocess.run([sys.executable, "-c", script, core], check=False, timeout=60).returncode == 0
