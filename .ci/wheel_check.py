"""Build the wheel and try it where nothing else is installed: imports, missing extras, one cached request."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = (
    "stepcache/py.typed",
    "langchain_stepcache/py.typed",
    "llamaindex_stepcache/py.typed",
    "stepcache/cli/__init__.py",
)

BARE = """
import sys, stepcache
heavy = {"chromadb", "torch", "langchain_core", "llama_index"} & set(sys.modules)
assert not heavy, f"import stepcache loaded {heavy}"
for adapter, extra in (("langchain_stepcache", "langchain"), ("llamaindex_stepcache", "llamaindex")):
    try:
        __import__(adapter)
    except ImportError as error:
        assert f"stepcache[{extra}]" in str(error), f"{adapter} does not name its extra: {error}"
    else:
        raise AssertionError(f"{adapter} imported without its framework")
from stepcache import Completion, StepCache
with StepCache.open(":memory:") as cache:
    first = cache.complete("Solve 2x + 3 = 13 for x.", lambda prompt, purpose: Completion("2x = 10\\n\\nx = 5"))
    second = cache.complete("Solve 2x + 3 = 13 for x.", lambda prompt, purpose: 1 / 0)
assert second.output == first.output and second.calls == 0, second
print("bare: ok")
"""

LANGCHAIN = """
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel
from langchain_stepcache import LangChainStepCache
import sys
set_llm_cache(LangChainStepCache(sys.argv[1]))
model = FakeListChatModel(responses=["Paris", "Rome"])
first, second = model.invoke("Capital of France?"), model.invoke("Capital of France?")
assert first.content == second.content == "Paris", (first, second)
print("langchain: ok")
"""


def run(*command: str | Path) -> None:
    print("+", *(str(part).split("\n")[0] or "..." for part in command[:6]), flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=tempfile.gettempdir())


def fresh_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(sys.executable, "-m", "build", "--outdir", folder, ROOT)  # sdist first, then the wheel out of the sdist
        (wheel,) = folder.glob("*.whl")
        names = set(zipfile.ZipFile(wheel).namelist())
        missing = [name for name in EXPECTED if name not in names]
        if missing:
            raise SystemExit(f"not in the wheel: {missing}")
        python = fresh_environment(folder / "venv")
        install = (python, "-m", "pip", "--disable-pip-version-check", "-qq", "install")
        run(*install, wheel)
        run(python, "-c", BARE)
        run(*install, f"{wheel}[langchain]")
        run(python, "-c", LANGCHAIN, folder / "cache")


if __name__ == "__main__":
    main()
