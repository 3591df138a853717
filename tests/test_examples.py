"""The examples run as programs, without a key, and show what they say they show."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest

from stepcache import StepCache
from stepcache.testing import ScriptedModel

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))
pytestmark = pytest.mark.filterwarnings("ignore:.*:langchain_core._api.deprecation.LangChainPendingDeprecationWarning")


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs_without_a_key_and_says_who_answers(script, monkeypatch, capsys):
    for name in ("GGUF", "BASE_URL", "MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    out = capsys.readouterr().out
    assert out.startswith("A scripted model stands in")
    assert re.search(r"\d+ model calls", out)


@pytest.mark.parametrize("page", [FOLDER / "README.md", FOLDER.parent / "README.md"], ids=["examples", "README"])
def test_every_example_is_linked(page):
    text = page.read_text(encoding="utf-8")
    assert [script.name for script in SCRIPTS if script.name not in text] == []


def test_extraction_asks_each_document_for_new_fields_only(monkeypatch):
    extraction = load("extraction", monkeypatch)
    model = ScriptedModel(extraction.script)
    rounds = list(extraction.run(model, 50))
    assert [right for _, _, right, _ in rounds] == [50] * 5
    assert [sum(result.calls for result in results) for _, results, _, _ in rounds] == [50, 50, 50, 0, 0]
    assert [{result.source for result in results} for _, results, _, _ in rounds] == [
        {"model"}, {"patch"}, {"patch"}, {"rewrite"}, {"cache"}]
    written = [sum(result.usage.completion_tokens for result in results) for _, results, _, _ in rounds]
    assert 10 * written[1] < written[0]


def test_the_tutor_is_right_where_its_model_is_not_and_leaves_hints_alone(monkeypatch):
    tutor = load("tutor", monkeypatch)
    told = dict(tutor.run(ScriptedModel(tutor.script)))
    ends = {"= 13 for": "x = 5", "2x + 3 = 21": "x = 9", "2y + 3 = 21": "y = 9", "= 8 for x!": "x = 5/2",
            "3x + 8": "x = 6", "3x + 10": "x = 7"}
    for part, end in ends.items():
        (result,) = [result for prompt, result in told.items() if part in prompt]
        assert result.output.endswith(end)
        assert result.verified
    hint, question = list(told.values())[-2:]
    assert (hint.source, question.source) == ("model", "model")
    assert hint.output == "What could you take away from both sides?"


def test_the_agents_second_run_looks_the_same_and_costs_nothing(monkeypatch):
    agent = load("agent", monkeypatch)
    with StepCache.open(":memory:", embedder=None) as cache:
        first = agent.run(agent.Scripted(), cache)
        calls = cache.stats().calls
        second = agent.run(agent.Scripted(), cache)
        assert cache.stats().calls == calls == 3
    assert [(message.type, message.text) for message in first] == [(message.type, message.text) for message in second]
    assert second[-1].text == "It is 69.8 degrees Fahrenheit in Graz."


def test_tenants_share_nothing_and_equal_requests_at_once_call_once(monkeypatch):
    tenants = load("tenants", monkeypatch)
    model = ScriptedModel(lambda prompt, purpose: prompt, delay=0.01)
    with StepCache.open(":memory:", embedder=None) as cache:
        service = tenants.Service(cache, model.acall)
        asyncio.run(tenants.run(service, tenants=3, burst=4))
        assert len(service.results) == 2 * 3 * 4 * len(tenants.QUESTIONS)
        assert len(model.calls) == 3 * len(tenants.QUESTIONS)
        assert [cache.stats(f"tenant-{n}").requests for n in range(3)] == [8 * len(tenants.QUESTIONS)] * 3
        assert {result.namespace for result in service.results} == {f"tenant-{n}" for n in range(3)}
