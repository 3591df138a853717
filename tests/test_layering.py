"""Which module may know which (docs/architecture.md), and what importing the packages must not load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stepcache

ROOT = Path(stepcache.__file__).parent
LAYERS = (  # lower may not import higher; a name stands for the module or the package of that name
    {"errors"}, {"_html"}, {"_data", "_display"},
    {"segment", "_marker", "_policy", "_codec", "_repeats", "_breaker", "_workers", "_control", "_recorder", "_gather",
     "_stable", "_identity", "_demand"},
    {"patching", "protocols"}, {"tasks", "_gate"}, {"_decide", "_asked"}, {"_effects"}, {"_flow"},
    {"_backend", "_drive", "_flight", "_histogram", "_replay"}, {"_stats"}, {"_cache"},
    {"_report"}, {"replay", "testing", "cli", "demo"},
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
EDGES = {"stores", "embedders"}


def imports(path: Path) -> set[str]:
    """The stepcache modules a file imports, those only for type checking aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stepcache"):
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("stepcache.")}
    return found


def modules() -> list[Path]:
    return [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_dependencies_point_one_way(path: Path):
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")
    known = imports(path) & (RANK.keys() | EDGES)
    if part in EDGES:
        allowed = EDGES | {"_data", "_codec", "_breaker", "_workers", "errors", "protocols", "_marker"}
        assert known <= allowed, f"{part} knows {known - allowed}"
        return
    assert part in RANK, f"{part} has no layer; give it one"
    higher = {name for name in known if RANK.get(name, -1) > RANK[part]}
    assert not higher, f"{part} imports {higher}"
    if part not in {"_cache", "cli", "demo", "replay", "testing"}:
        assert not known & EDGES


def loaded_by(statement: str, *names: str) -> list[str]:
    """Which of the named modules a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*[n for n in {names!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_stepcache_loads_nothing_heavy():
    heavy = ("chromadb", "torch", "sentence_transformers", "langchain_core", "llama_index", "numpy", "jsonschema",
             "pydantic", "httpx")
    assert loaded_by("import stepcache, stepcache.tasks, stepcache.testing", *heavy) == []


def test_opening_a_folder_loads_nothing_heavy():
    assert loaded_by("import stepcache, tempfile; stepcache.StepCache.open(tempfile.mkdtemp())", "torch",
                     "sentence_transformers") == []


def test_public_names_are_sorted_and_there():
    assert list(stepcache.__all__) == sorted(stepcache.__all__)
    for name in stepcache.__all__:
        assert getattr(stepcache, name).__doc__, name
