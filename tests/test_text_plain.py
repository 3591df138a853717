"""Plain text is reused whole or not at all; demands on it are enforced and named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepcache._data import Entry, Request, Step, stitch
from stepcache.errors import ConfigurationError
from stepcache.segment import segment
from stepcache.tasks._spec import Spec
from stepcache.tasks.demands import Words, demand_from
from stepcache.tasks.text import plain_text


def spec_of(task, prompt: str = "Describe the sea.") -> Spec:
    spec = task(Request(prompt))
    assert spec is not None
    return spec


@given(st.text())
def test_without_demands_every_prompt_is_plain_text_and_all_of_it_is_residue(prompt):
    spec = spec_of(plain_text(), prompt)
    assert (spec.kind, spec.residue, spec.shape, spec.enforced) == ("text", prompt, "", False)
    assert spec.fallback() is None


@given(st.text())
def test_without_demands_any_reply_with_words_passes_and_every_step_of_it(reply):
    spec = spec_of(plain_text())
    steps = segment(reply)
    assert spec.check(reply).ok == bool(reply.strip())
    assert [verdict.ok for verdict in spec.verify(steps)] == [True] * len(steps)


@pytest.mark.parametrize("demands", [{}, {"max_words": 1}, {"must_contain": "whale"}])
def test_plain_text_is_never_patched(demands):
    spec = spec_of(plain_text(**demands))
    steps = segment("The sea is wide.\n\nThe sea is deep.")
    entry = Entry(key="k", request=Request("p"), partition="", task="text", steps=steps)
    assert spec.plan_patch("Describe the sea.", steps, spec.verify(steps), entry) is None
    assert spec.rewrite(steps, entry) is None


@pytest.mark.parametrize(("demands", "passing", "failing", "named"), [
    ({"max_words": 3}, "one two three", "one two three four", "at most 3 words"),
    ({"min_words": 3}, "one two three", "one two", "at least 3 words"),
    ({"min_words": 2, "max_words": 2}, "one two", "one", "exactly 2 words"),
    ({"max_sentences": 1}, "It is 3.5 m deep.", "It is deep. It is wide.", "at most 1 sentences"),
    ({"min_sentences": 2}, "It is deep. It is wide.", "It is deep.", "at least 2 sentences"),
    ({"max_lines": 1}, "a", "a\nb", "at most 1 lines"),
    ({"must_contain": ["salt", "water"]}, "Salt water", "Fresh water", "'salt'"),
    ({"must_not_contain": "shark"}, "Whales live there.", "Sharks live there.", "'shark'"),
    ({"format": "bullets"}, "- a\n- b", "a, b", "bullet list"),
    ({"format": "one_word"}, "Wide.", "Very wide.", "one word"),
    ({"format": "Yes/No"}, "Yes.", "Perhaps.", "yes or no"),
    ({"language": "de"}, "Das Meer ist weit und es ist tief.", "The sea is wide and it is deep.", "language de"),
    ({"matches": r"\d+ km"}, "It is 11 km deep.", "It is deep.", "regular expression"),
    ({"demands": (demand_from("punctuation:no_comma"),)}, "wide and deep", "wide, deep", "','"),
])
def test_a_demand_is_enforced_and_its_failure_named_in_the_repair_prompt(demands, passing, failing, named):
    spec = spec_of(plain_text(**demands))
    assert spec.enforced
    assert spec.check(passing).ok
    verdict = spec.check(failing)
    assert not verdict.ok
    assert named in spec.repair_prompt("Describe the sea.", failing, verdict)
    assert not any(step.ok for step in spec.verify((Step(failing),)))


def test_demands_are_about_the_answer_not_about_the_thinking_before_it():
    spec = spec_of(plain_text(max_words=2, must_not_contain="shark"))
    assert spec.check("<think>\nShould I mention a shark here? No.\n</think>\n\nWide sea.").ok
    assert not spec.check("<think>only thoughts</think>").ok


def test_equal_demands_have_equal_identities_and_other_demands_others():
    prompt = "Describe the sea."
    identities = {spec_of(task, prompt).identity for task in (
        plain_text(), plain_text(max_words=3), plain_text(max_words=4), plain_text(must_contain="a"),
        plain_text(must_not_contain="a"))}
    assert len(identities) == 5
    assert spec_of(plain_text(max_words=3)).identity == spec_of(plain_text(demands=[Words(at_most=3)])).identity


@pytest.mark.parametrize("demands", [
    {"max_words": -1}, {"min_words": 3, "max_words": 2}, {"format": "sonnet"}, {"language": "klingon"},
    {"matches": "["},
    {"must_contain": ""}, {"must_not_contain": [None]}, {"demands": ["be nice"]},
])
def test_a_demand_that_makes_no_sense_is_refused_at_once(demands):
    with pytest.raises(ConfigurationError):
        plain_text(**demands)


def test_steps_are_kept_byte_for_byte():
    text = "First.\r\n\r\nSecond.\t\n"
    assert stitch(spec_of(plain_text()).segment(text)) == text
