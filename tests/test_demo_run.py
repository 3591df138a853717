"""The demo end to end on a scripted server: what is served, counted and kept, and when it fails."""

from __future__ import annotations

import json
import re

import pytest
from scripted_server import ScriptedServer, scripted_server
from typer.testing import CliRunner

from stepcache.cli.app import app

ANNA = {"name": "Anna Berger", "age": 34, "city": "Graz"}
BRUNO = {"name": "Bruno Haas", "age": 51, "city": "Linz"}


def good_model(prompt: str) -> str:
    """Right answers to all that the demo asks."""
    if equation := re.search(r"2([a-z]) \+ 3 = (\d+)", prompt):
        letter, right = equation[1], int(equation[2])
        return f"1. Subtract 3 from both sides: 2{letter} = {right - 3}\n2. Divide by 2: {letter} = {(right - 3) // 2}"
    if "JSON" in prompt:
        return json.dumps(_asked_for(prompt))
    if "pancakes" in prompt:
        if "Rewrite only this step" in prompt:
            return "2. Pour in the oat milk."
        milk = "oat milk" if "oat milk" in prompt else "milk"
        return f"1. Sift the flour.\n2. Pour in the {milk}.\n3. Stir.\n4. Fry.\n5. Serve."
    return "1. Open the settings.\n2. Choose security.\n3. Follow the instructions.\n4. Save."


def _asked_for(prompt: str) -> dict[str, object]:
    person = BRUNO if "Bruno" in prompt else ANNA
    return {key: value for key, value in person.items() if re.search(rf"\b{key}\b", prompt.partition(" for this ")[0])}


def run_demo(server: ScriptedServer, folder) -> tuple[int, dict]:
    outcome = CliRunner().invoke(app, ["demo", "--cache", str(folder), "--base-url", server.base_url, "--json"])
    return outcome.exit_code, json.loads(outcome.stdout)


@pytest.fixture(autouse=True)
def without_embeddings(monkeypatch):
    """Exact and template reuse need no embedding model, and loading one would take longer than all these tests."""
    monkeypatch.setattr("stepcache._cache._default_embedder", lambda: None)


def test_the_second_run_asks_the_model_for_nothing_that_repeats(tmp_path):
    with scripted_server(good_model) as server:
        code, first = run_demo(server, tmp_path)
        asked = len(server.prompts)
        assert code == 0
        assert first["wrongly_served"] == 0
        assert first["totals"]["right"] == first["totals"]["requests"]
        assert first["totals"]["tokens"] < first["totals"]["tokens_without"]
        code, second = run_demo(server, tmp_path)
    assert code == 0
    assert second["totals"]["calls"] == 0
    assert len(server.prompts) == asked
    assert second["totals"]["tokens_without"] == first["totals"]["tokens_without"]


def test_equations_are_rewritten_and_another_person_is_not_mixed_up(tmp_path):
    with scripted_server(good_model) as server:
        _, told = run_demo(server, tmp_path)
    rows = {row["kind"]: row for row in told["rows"]}
    assert (rows["exact repeat"]["outcome"], rows["exact repeat"]["calls"]) == ("reuse", 0)
    assert (rows["changed constant"]["source"], rows["changed constant"]["calls"]) == ("rewrite", 0)
    assert (rows["renamed variable"]["source"], rows["renamed variable"]["calls"]) == ("rewrite", 0)
    assert rows["added key"]["source"] == "patch"
    assert rows["another person"]["source"] == "model"
    assert "Bruno" in rows["another person"]["output"]
    assert (rows["Y instead of X"]["source"], rows["Y instead of X"]["calls"]) == ("patch", 1)
    assert rows["Y instead of X"]["output"].startswith("1. Sift the flour.\n2. Pour in the oat milk.\n3. Stir.")


def test_a_model_that_talks_nonsense_is_not_served(tmp_path):
    with scripted_server(lambda prompt: "Bananas are yellow.") as server:
        _, told = run_demo(server, tmp_path)
    checkable = [row for row in told["rows"] if "How do I" not in row["prompt"] and "how to" not in row["prompt"]]
    assert len(checkable) == len(told["rows"]) - 5  # advice has no verifier
    assert all(not row["served"] or row["passes"] for row in checkable)
    equations = [row for row in told["rows"] if "+ 3 =" in row["prompt"]]
    assert {row["source"] for row in equations} == {"fallback"}
    assert all(row["passes"] for row in equations)


def test_a_served_answer_that_fails_its_check_is_a_failure(tmp_path, monkeypatch):
    """The cache can't know that a model put a fact under the wrong key, but the demo's own check does."""

    def misreads(prompt: str) -> str:
        return good_model(prompt).replace('"Anna Berger"', '"Graz"')

    with scripted_server(misreads) as server:
        code, told = run_demo(server, tmp_path)
    assert told["wrongly_served"] > 0
    assert code == 1


def test_a_file_that_is_not_there_is_named(tmp_path):
    outcome = CliRunner().invoke(app, ["demo", "--cache", str(tmp_path), "--gguf", str(tmp_path / "none.gguf")])
    assert outcome.exit_code == 2
    assert "none.gguf" in outcome.stderr


def test_a_file_and_a_server_at_once_are_refused(tmp_path):
    outcome = CliRunner().invoke(app, ["demo", "--gguf", "a.gguf", "--base-url", "http://127.0.0.1:9/v1"])
    assert outcome.exit_code == 2
