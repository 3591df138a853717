"""Every notebook runs from top to bottom, with no key and no network."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning",
                            "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=180, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    assert not [output for output in outputs if output.output_type == "error"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_committed_shows_its_outputs_and_says_who_answered(path: Path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))  # run once, from top to bottom
    outputs = [output for cell in code for output in cell.outputs]
    text = "".join(output.get("text", "") for output in outputs)
    assert "A scripted model stands in" in text or "A real model answers" in text
    assert not [output for output in outputs if output.get("name") == "stderr" or output.output_type == "error"]
    assert any("text/html" in output.get("data", {}) or "image/png" in output.get("data", {}) for output in outputs)
    assert str(Path.home()) not in path.read_text(encoding="utf-8")
