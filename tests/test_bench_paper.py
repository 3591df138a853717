"""The paper's benchmark: its prompts have the paper's shape, its checks agree with them, and a run can be resumed."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from scripted_server import scripted_server

from benchmarks.paper import __main__ as command
from benchmarks.paper import report
from benchmarks.paper.backend import Backend
from benchmarks.paper.checks import correct
from benchmarks.paper.prompts import load
from benchmarks.paper.runner import Plan, run
from stepcache import Request
from stepcache.tasks import linear_equation
from stepcache.testing import HashEmbedder

PROMPTS = load()
BY_PROMPT = {prompt.prompt: prompt for prompt in PROMPTS.everything()}
PAPER = {
    ("math", "rewording"): 30, ("math", "relayout"): 30, ("math", "renamed variable"): 30,
    ("math", "changed constant"): 30, ("math", "changed coefficient"): 12,
    ("json", "rewording"): 30, ("json", "key order"): 30, ("json", "added key"): 18, ("json", "removed key"): 12,
}  # fmt: skip


def right_answer(text: str) -> str:
    """What a model that is always right says."""
    prompt = BY_PROMPT.get(text)
    if prompt is None:  # a patch prompt, which quotes what it is about
        prompt = next((one for quoted, one in BY_PROMPT.items() if quoted in text), None)
    if prompt is None:
        return "I don't know."
    if prompt.task == "math":
        return f"1. Do the same to both sides.\n2. So {prompt.variable} = {prompt.expected}"
    if prompt.task in {"json", "tool"}:
        return json.dumps(prompt.expected)
    return "\n".join(f"{number}. Do it." for number in range(1, int(prompt.expected) + 1))


@pytest.mark.parametrize("seed", [42, 43, 44])
def test_a_seed_sends_what_the_paper_sends(seed):
    sent = PROMPTS.of_seed(seed)
    assert Counter((prompt.task, prompt.perturbation) for prompt in sent) == PAPER
    assert len({prompt.id for prompt in sent}) == 222
    assert sent == PROMPTS.of_seed(seed)
    assert sent != PROMPTS.of_seed(seed + 1)


def test_ten_bases_a_task_with_three_variants_a_perturbation():
    assert Counter(base.task for base in PROMPTS.bases) == {"math": 10, "json": 10}
    per_base = Counter((prompt.base, prompt.perturbation) for prompt in PROMPTS.variants)
    assert set(per_base.values()) == {3}
    bases = {base.id for base in PROMPTS.bases + PROMPTS.apart_bases}
    assert {prompt.base for prompt in PROMPTS.variants + PROMPTS.apart} <= bases


def test_prompts_are_all_different():
    assert len(BY_PROMPT) == len(PROMPTS.everything())


def test_what_a_prompt_expects_is_in_the_prompt():
    """The facts of a JSON prompt are in its words, so that values can be checked."""
    for prompt in PROMPTS.everything():
        if prompt.task in {"json", "tool"}:
            for value in _leaves(prompt.expected):
                assert str(value).casefold() in prompt.prompt.casefold(), prompt.id


def test_equations_have_the_solution_that_is_expected():
    solved = 0
    for prompt in PROMPTS.everything():
        spec = linear_equation()(Request(prompt.prompt)) if prompt.task == "math" else None
        if spec is not None:
            assert correct(prompt, spec.fallback() or ""), prompt.id
            solved += 1
    assert solved > 150


def test_the_checks_tell_right_from_wrong():
    for prompt in PROMPTS.bases + PROMPTS.variants:
        assert correct(prompt, right_answer(prompt.prompt)), prompt.id
        assert not correct(prompt, "I don't know."), prompt.id
    math = PROMPTS.bases[0]
    assert not correct(math, f"{math.variable} = {math.expected + 1}")


def plan(folder, **changes) -> Plan:
    settings = {
        "systems": ("none", "InMemoryCache", "cosine 0.90", "stepcache"),
        "seeds": (42,),
        "limit": 12,
        "apart": False,
    }
    return Plan(folder=folder, **(settings | changes))


def test_a_run_measures_every_system_on_the_same_requests(tmp_path):
    with scripted_server(right_answer) as server:
        backend = Backend(server.base_url, "scripted", tmp_path / "replies.jsonl")
        rows, _ = run(plan(tmp_path), PROMPTS, backend, HashEmbedder())
        backend.close()
    sent = [row for row in rows if not row.get("warm_up")]
    assert Counter(row["system"] for row in sent) == dict.fromkeys(plan(tmp_path).systems, 12)
    none = [row for row in sent if row["system"] == "none"]
    ours = [row for row in sent if row["system"] == "stepcache"]
    assert all(row["correct"] and row["calls"] == 1 for row in none)
    assert not any(row["wrong_serve"] for row in ours)
    assert all(row["correct"] for row in ours)
    assert sum(row["calls"] for row in ours) < sum(row["calls"] for row in none)


def test_a_second_run_asks_the_model_for_nothing(tmp_path):
    asked = []
    with scripted_server(right_answer) as server:
        for expected in (["42"], []):
            backend = Backend(server.base_url, "scripted", tmp_path / "replies.jsonl")
            _, ran = run(plan(tmp_path, systems=("none", "stepcache")), PROMPTS, backend, HashEmbedder())
            backend.close()
            assert ran == expected
            asked.append(len(server.prompts))
    assert asked[0] == asked[1] > 0


def test_a_stopped_run_goes_on_from_the_recorded_replies(tmp_path):
    first = plan(tmp_path, systems=("none",), limit=4)
    with scripted_server(right_answer) as server:
        backend = Backend(server.base_url, "scripted", tmp_path / "replies.jsonl")
        run(first, PROMPTS, backend, HashEmbedder())
        backend.close()
        asked = len(server.prompts)
        backend = Backend(server.base_url, "scripted", tmp_path / "replies.jsonl")
        rows, ran = run(plan(tmp_path, systems=("none", "InMemoryCache"), limit=4), PROMPTS, backend, HashEmbedder())
        backend.close()
    assert ran == ["42"]
    assert len(server.prompts) == asked
    assert all(row["replayed_calls"] == row["calls"] == 1 for row in rows if row["system"] == "none")


def test_the_result_has_the_promised_form_and_can_be_shown(tmp_path):
    with scripted_server(right_answer) as server:
        backend = Backend(server.base_url, "scripted", tmp_path / "replies.jsonl")
        rows, _ = run(plan(tmp_path, seeds=(42, 43), limit=9), PROMPTS, backend, HashEmbedder())
        backend.close()
    result = report.document(rows, {"name": "scripted"}, {})
    report.write(result, tmp_path / "results")
    written = json.loads((tmp_path / "results" / "latest.json").read_text(encoding="utf-8"))
    wanted = {"seed", "model", "id", "task", "perturbation", "prompt", "expected", "system", "reply", "outcome",
              "source", "calls", "tokens", "seconds"}  # fmt: skip
    assert all(wanted <= set(row) for row in written["requests"])
    assert not any(row.get("warm_up") for row in written["requests"])
    named = {"system", "model", "mean_s", "median_s", "p95_s", "tokens", "correct", "no_call_share", "wrong_serves"}
    assert all(named <= set(row) for row in written["summary"])
    assert {row["system"] for row in written["summary"]} == set(plan(tmp_path).systems)
    assert "wrong serves" in (tmp_path / "results" / "latest.md").read_text(encoding="utf-8")
    assert {path.name for path in (tmp_path / "results").glob("*.png")} == {"latency.png", "outcomes.png", "tokens.png"}


def test_quick_runs_from_its_command_and_fails_on_a_wrong_serve(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "_STATE", tmp_path)
    monkeypatch.setattr(command, "SentenceTransformerEmbedder", HashEmbedder)
    with scripted_server(right_answer) as server:
        arguments = ["quick", "--base-url", server.base_url, "--model", "scripted"]
        assert command.main(arguments) == 0
        assert "stepcache" in capsys.readouterr().out
    assert (tmp_path / "quick" / "scripted" / "quick.json").is_file()


def test_percentiles_are_interpolated():
    assert report.percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert report.percentile([1.0], 0.99) == 1.0


def _leaves(value):
    if isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    else:
        yield value
