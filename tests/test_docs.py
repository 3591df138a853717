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
LINKING = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "examples" / "README.md", *sorted((ROOT / "benchmarks").rglob("*.md"))]


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


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_and_headings_lead_somewhere(page: Path):
    missing = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"),
                                                       flags=re.DOTALL)):
        if target.startswith(("http://", "https://")):
            continue
        file, _, heading = target.partition("#")
        other = page.parent / file if file else page
        if not other.exists() or (heading and heading not in headings(other)):
            missing.append(target)
    assert not missing


def headings(page: Path) -> set[str]:
    """The anchors GitHub makes of a page's headings."""
    lines = re.findall(r"^#+ +(.+?)\s*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def test_every_page_of_the_docs_can_be_reached_from_the_readme():
    linked, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        for target in re.findall(r"\]\(([^)#\s]+\.md)", page.read_text(encoding="utf-8")):
            other = (page.parent / target).resolve()
            if not target.startswith("http") and other not in linked:
                linked.add(other)
                todo.append(other)
    assert [page.name for page in PAGES[1:] if page.resolve() not in linked] == []


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*")), ids=lambda path: path.name)
def test_pictures_are_small_and_shown(picture: Path):
    assert picture.stat().st_size < 150_000
    assert any(f"images/{picture.name}" in page.read_text(encoding="utf-8") for page in PAGES)
