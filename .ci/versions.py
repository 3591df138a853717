"""Run the adapters' tests with the lowest framework versions that the extras allow; `make test` runs the newest.

An environment over the one that runs this holds the older frameworks and nothing else: whatever it lacks is found below
it, so neither PyTorch nor any other dependency is installed again. Arguments go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("langchain", "llamaindex")
# What only the tests need, in the versions of the time: later ones want a later framework. Raise them with the bounds.
COMPANIONS = (
    "langchain==1.2.18",
    "langchain-openai==1.2.1",
    "langchain-tests==1.1.7",
    "langgraph==1.1.10",
    "langgraph-prebuilt==1.0.13",
    "langgraph-sdk==0.3.15",
)
TESTS = ("test_langchain_*.py", "test_llamaindex_*.py")
# An older LlamaIndex is written for an older Pydantic than the newest; nobody who calls it can do anything about that.
IGNORED = "ignore::pydantic.warnings.UnsupportedFieldAttributeWarning"


def lowest() -> list[str]:
    """The lower bounds of the extras as pins: `langchain-core>=1.3.3` gives `langchain-core==1.3.3`."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    bounds = [requirement for extra in EXTRAS for requirement in extras[extra]]
    odd = [bound for bound in bounds if bound.count(">=") != 1 or "," in bound]
    if odd:
        raise SystemExit(f"expected name>=version, found {odd}")
    return [bound.replace(">=", "==") for bound in bounds]


def overlay(folder: Path, pins: list[str]) -> Path:
    """An environment in which the pinned packages hide those of the running one."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    site = Path(subprocess.run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                               capture_output=True, text=True, check=True).stdout.strip())
    below = sysconfig.get_path("purelib")
    (site / "below.pth").write_text(f"import site; site.addsitedir({below!r})\n", encoding="utf-8")
    subprocess.run([str(python), "-m", "pip", "--disable-pip-version-check", "-qq", "install", "--no-deps", *pins],
                   check=True)
    found = subprocess.run(
        [str(python), "-c", "import importlib.metadata as m, sys; print(*(m.version(name) for name in sys.argv[1:]))",
         *(pin.partition("==")[0] for pin in pins)], capture_output=True, text=True, check=True).stdout.split()
    assert found == [pin.partition("==")[2] for pin in pins], (found, pins)
    return python


def main() -> None:
    pins = [*lowest(), *COMPANIONS]
    print(*pins, flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        python = overlay(Path(scratch), pins)
        files = sorted(str(path) for pattern in TESTS for path in (ROOT / "tests").glob(pattern))
        options = ["-q", "-p", "no:cacheprovider", "-W", IGNORED, *sys.argv[1:]]
        done = subprocess.run([str(python), "-m", "pytest", *options, *files], cwd=ROOT,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
