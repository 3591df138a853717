"""What `import langchain_stepcache` gives, and what it says where LangChain is missing."""

from __future__ import annotations

import importlib
import sys

import pytest

import langchain_stepcache


def test_the_public_names_are_these() -> None:
    assert langchain_stepcache.__all__ == [
        "LangChainEmbedder", "LangChainStepCache", "StepCacheChatModel", "StepCacheTextLLM", "with_stepcache"]
    assert all(getattr(langchain_stepcache, name) for name in langchain_stepcache.__all__)


def test_without_langchain_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name == "langchain_core" or name.startswith(("langchain_core.", "langchain_stepcache")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    with pytest.raises(ImportError, match=r"stepcache\[langchain\]"):
        importlib.import_module("langchain_stepcache")
