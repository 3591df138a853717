"""What is promised about the packages as files: metadata, types, names, and imports that stay light."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = ("core/stepcache", "langchain_stepcache", "llamaindex_stepcache")


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def test_name_version_and_licence_are_told():
    project = PROJECT["project"]
    assert project["name"] == "stepcache"
    assert project["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_extra_of_the_readme_exists():
    extras = set(PROJECT["project"]["optional-dependencies"])
    assert {"langchain", "llamaindex", "embeddings", "cli", "all"} <= extras
    named = re.findall(r"stepcache\[([\w,]+)\]", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert {extra for names in named for extra in names.split(",")} <= extras


def test_requirements_are_lower_bounds():
    """An upper bound would make an app's own choice impossible."""
    project = PROJECT["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (requirement for group in groups for requirement in group):
        assert re.fullmatch(r"[\w.\[\],-]+(>=[\w.]+)?", requirement), requirement


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed_and_shipped(package):
    assert (ROOT / package / "py.typed").is_file()
    assert package in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.mark.parametrize("package", PACKAGES)
def test_data_files_lie_inside_the_packages_and_are_not_ignored(package):
    """What git ignores, hatchling leaves out of the wheel."""
    files = [
        str(path)
        for path in (ROOT / package).rglob("*")
        if path.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in path.parts)
    ]
    ignored = subprocess.run(["git", "check-ignore", *files], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ignored.stdout == ""


def test_importing_the_core_loads_nothing_heavy():
    loaded = python("import sys, stepcache; print(*sys.modules)").split()
    assert not {"chromadb", "torch", "numpy", "langchain_core", "llama_index", "typer", "rich"} & set(loaded)


@pytest.mark.parametrize(
    ("adapter", "framework", "extra"),
    [("langchain_stepcache", "langchain_core", "langchain"), ("llamaindex_stepcache", "llama_index", "llamaindex")],
)
def test_an_adapter_without_its_framework_names_the_extra(adapter, framework, extra):
    code = f"""
import sys
sys.modules[{framework!r}] = None
try:
    import {adapter}
except ImportError as error:
    print(error)
"""
    assert f"stepcache[{extra}]" in python(code)


def test_the_public_names_are_all_there():
    import stepcache

    assert sorted(stepcache.__all__) == list(stepcache.__all__)
    assert all(hasattr(stepcache, name) for name in stepcache.__all__)


def test_make_knows_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {"demo", "test", "lint", "types", "notebooks", "bench", "bench-quick", "clean"}
    assert targets <= set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    assert "torch==2.13.0" in makefile


def test_nothing_committed_names_a_machine():
    """Paths of one machine have no place in files that everyone gets."""
    listed = subprocess.check_output(["git", "ls-files"], text=True, cwd=ROOT).split("\n")
    texts = (ROOT / name for name in listed if name.endswith((".py", ".md", ".toml", ".json", ".jsonl", ".ipynb")))
    here = re.compile(r"/(?:work|root|home/\w+)/(?:main|shared|env|\.)")
    assert [path.name for path in texts if path.is_file() and here.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("package", [
    "stepcache", "stepcache.tasks", "stepcache.stores", "stepcache.embedders", "stepcache.testing",
    "langchain_stepcache", "llamaindex_stepcache",
])
def test_a_public_name_is_never_the_module_of_that_name(package: str):
    """Whatever of a package was imported before, in whichever order."""
    told = python(
        "import importlib, pkgutil, types\n"
        f"package = importlib.import_module({package!r})\n"
        "for module in pkgutil.iter_modules(package.__path__):\n"
        "    if not module.name.startswith('__'):\n"
        "        importlib.import_module(f'{package.__name__}.{module.name}')\n"
        "names = getattr(package, '__all__', ())\n"
        "print([name for name in names if isinstance(getattr(package, name), types.ModuleType)])\n")
    assert told.strip() == "[]"
