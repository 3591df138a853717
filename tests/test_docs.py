"""The docs stay true: every Python block of README and docs runs, in order, and every link leads somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from langchain_core.globals import set_llm_cache
from openai_stub import Server, says

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def reply(body: dict) -> dict:
    return says("1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The hosted model that a page names is answered here; all else is as written."""
    server = Server(reply)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("langchain_openai.ChatOpenAI", lambda **options: server.model(**options))
    module = ModuleType("docs_page")  # dataclasses look their module up by name
    monkeypatch.setitem(sys.modules, module.__name__, module)
    names = vars(module)
    names |= {"messages": "Name a tree", "agent": SimpleNamespace(invoke=lambda state: state)}
    sources = blocks(page)
    for number, source in enumerate(sources, 1):
        exec(compile(source, f"{page.name} block {number}", "exec"), names)  # noqa: S102 - our own docs
    assert names.get("__builtins__") or not sources
    set_llm_cache(None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path):
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [t for t in targets if not t.startswith("http") and not (page.parent / t).exists()]
    assert not missing
