"""Several specs on one request: all must be content, and what none accounts for is compared by the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepcache import Request, Spec, Step, StepCache, Verdict
from stepcache._data import Entry
from stepcache.errors import ConfigurationError
from stepcache.tasks import json_keys, linear_equation
from stepcache.tasks._compose import AllOf, all_of
from stepcache.tasks.procedure import procedure
from stepcache.tasks.text import plain_text
from stepcache.testing import ScriptedModel


@dataclass(frozen=True)
class Cut(Spec):
    """A spec that accounts for one word and wants a letter."""

    prompt: str
    word: str = ""
    letter: str = ""
    answer: str | None = None
    kind: ClassVar[str] = "cut"

    @property
    def residue(self) -> str:
        return self.prompt.replace(self.word, "", 1) if self.word else self.prompt

    def check(self, text: str) -> Verdict:
        return Verdict(self.letter in text, "letter", f"no {self.letter!r}")

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        return tuple(self.check(step.text) for step in steps)

    def rewrite(self, steps: tuple[Step, ...], cached: Entry) -> tuple[Step, ...] | None:
        return tuple(Step(step.text.replace("?", self.letter)) for step in steps) if self.letter == "z" else None

    def trace(self, text: str) -> str:
        return f"trace of {self.letter}"

    def fallback(self) -> str | None:
        return self.answer


def compose(*members: Spec, prompt: str = "a b c d") -> AllOf:
    spec = all_of(*members)(Request(prompt))
    assert isinstance(spec, AllOf)
    return spec


@given(st.text("xy. ", max_size=12))
def test_the_strictest_verdict_wins_and_every_failure_is_named(text):
    spec = compose(Cut("p", letter="x"), Cut("p", letter="y"))
    verdict = spec.check(text)
    assert verdict.ok == ("x" in text and "y" in text)
    assert ("no 'x'" in verdict.detail) == ("x" not in text)
    assert ("no 'y'" in verdict.detail) == ("y" not in text)


@pytest.mark.parametrize(("words", "residue"), [
    (("", ""), "one two three four"),
    (("two ", ""), "one three four"),
    (("two ", "four"), "one three "),
    (("two three ", "three "), "one four"),
    (("two ", "two "), "one three four"),
])
def test_the_residue_is_what_no_member_accounts_for(words, residue):
    prompt = "one two three four"
    spec = compose(*(Cut(prompt, word) for word in words), prompt=prompt)
    assert spec.residue == residue


def test_where_a_part_is_not_known_the_whole_prompt_is_compared():
    @dataclass(frozen=True)
    class Other(Cut):
        @property
        def residue(self) -> str:
            return "other words altogether and more of them"

    spec = compose(Cut("one two", "one "), Other("one two"), Other("one two"), prompt="one two")
    assert spec.residue == "one two"
    three = compose(Cut("one two", "one "), Cut("one two", "e t"), Other("one two"), prompt="one two")
    assert three.residue == "one two"
    scattered = Cut("a x b y c", "x ")
    assert compose(scattered, ThreeParts("a x b y c"), prompt="a x b y c").residue == "a x b y c"


@dataclass(frozen=True)
class ThreeParts(Cut):
    @property
    def residue(self) -> str:
        return "a b c"


def test_a_member_that_does_not_apply_is_left_out():
    task = all_of(linear_equation(), plain_text(max_words=5))
    spec = task(Request("Name a fruit."))
    assert spec is not None
    assert spec.kind == "text"
    assert all_of(linear_equation(), json_keys())(Request("Name a fruit.")) is None
    both = task(Request("Solve 2x + 3 = 13 for x."))
    assert isinstance(both, AllOf)
    assert both.kind == "linear+text" or both.kind.endswith("+text")


def test_given_as_the_spec_each_member_is_given_so_too():
    task = all_of(procedure(), plain_text(max_words=50))
    explicit = task(Request("Soup without leeks", spec=task))
    assert isinstance(explicit, AllOf)
    inferred = task(Request("Soup without leeks"))
    assert not isinstance(inferred, AllOf)


def test_all_of_nothing_is_refused():
    with pytest.raises(ConfigurationError, match="all_of"):
        all_of()


def test_identity_follows_the_members():
    one, other = Cut("p", letter="x"), Cut("p", letter="y")
    assert compose(one, other).identity == compose(one, other).identity
    assert len({compose(*pair).identity for pair in ((one, other), (other, one), (one, one))}) == 3


def entry_of(reply: str, trace: str = "") -> Entry:
    return Entry(key="k", request=Request("p"), partition="", task="cut+cut", steps=(Step(reply),), trace=trace)


def test_a_patch_needs_exactly_one_failing_member_that_offers_a_plan():
    spec = compose(Cut("p", letter="x"), Cut("p", letter="y"))
    steps = (Step("xy\n\n"), Step("x"))
    verdicts = spec.verify(steps)
    plan = spec.plan_patch("p", steps, verdicts)
    assert plan is not None
    assert plan.region == (1, 2)
    assert spec.failing_share(steps, verdicts) == 0.5
    assert spec.apply_patch(steps, plan, "new xy") == (Step("xy\n\n"), Step("new xy"))
    both = (Step("xy\n\n"), Step("none"))
    assert spec.plan_patch("p", both, spec.verify(both)) is None
    assert spec.failing_share(both, spec.verify(both)) == 0.5
    first = (Step("x"), Step("xy"))
    assert spec.plan_patch("p", first, spec.verify(first)) is None
    assert spec.apply_patch(steps, type("P", (), {})(), "") is None


def test_members_rewrite_in_turn_each_with_its_own_trace():
    seen = []

    @dataclass(frozen=True)
    class Reader(Cut):
        def rewrite(self, steps: tuple[Step, ...], cached: Entry) -> tuple[Step, ...] | None:
            seen.append((cached.trace, cached.task))
            return super().rewrite(steps, cached)

    spec = compose(Reader("p", letter="x"), Reader("p", letter="z"))
    trace = spec.trace("any")
    assert spec.rewrite((Step("x?"),), entry_of("x?", trace)) == (Step("xz"),)
    assert spec.rewrite((Step("?"),), entry_of("?", "[not json")) == (Step("z"),)
    assert spec.rewrite((Step("z"),), entry_of("z")) is None
    assert seen == [("trace of z", "cut"), ("", "cut"), ("", "cut"), ("", "cut")]


def test_the_fallback_is_a_computed_answer_that_all_accept():
    assert compose(Cut("p", letter="x", answer="x"), Cut("p", letter="y", answer="xy")).fallback() == "xy"
    assert compose(Cut("p", letter="x", answer="x"), Cut("p", letter="y")).fallback() is None


def test_the_repair_prompt_names_what_failed():
    spec = compose(Cut("p", letter="x"), Cut("p", letter="y"))
    assert "no 'y'" in spec.repair_prompt("p", "x", spec.check("x"))
    both = spec.repair_prompt("p", "none", spec.check("none"))
    assert "no 'x'; no 'y'" in both


def test_a_member_with_a_cut_of_its_own_decides_the_steps():
    spec = all_of(json_keys(["a"]), plain_text(max_words=50))(Request("Any JSON"))
    assert spec is not None
    assert spec.segment('Intro.\n\n{"a": 1}\n\nOutro.') == (Step('Intro.\n\n{"a": 1}\n\nOutro.'),)
    assert len(compose(Cut("p"), Cut("p")).segment("a\n\nb")) == 2


def test_a_member_that_judges_other_steps_than_these_has_not_passed_them():
    @dataclass(frozen=True)
    class Whole(Cut):
        def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
            return (Verdict(True),)

    verdicts = compose(Cut("p"), Whole("p")).verify((Step("a"), Step("b")))
    assert [verdict.ok for verdict in verdicts] == [False, False]


def test_an_equation_in_at_most_so_many_words_is_rewritten_and_enforced():
    task = all_of(linear_equation(), plain_text(max_words=30))
    reply = "1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5"
    model = ScriptedModel([reply])
    with StepCache.open(":memory:", embedder=None, tasks=(task,)) as cache:
        cache.complete("Solve 2x + 3 = 13 for x.", model)
        result = cache.complete("Solve 2x + 3 = 15 for x.", model)
    assert (result.source, len(model.calls)) == ("rewrite", 1)
    assert result.output == reply.replace("10", "12").replace("5", "6").replace("15", "16")


def test_a_json_key_is_patched_in_and_other_demands_still_hold():
    words = plain_text(must_not_contain="secret")
    old, new = (all_of(json_keys(keys), words) for keys in (["name"], ["name", "age"]))
    model = ScriptedModel(['{"name": "Ann"}', '{"age": 7}'])
    with StepCache.open(":memory:", embedder=None) as cache:
        cache.complete(Request("Invent a child.", spec=old), model)
        result = cache.complete(Request("Invent a child.", spec=new), model)
    assert (result.source, model.calls[1][1]) == ("patch", "patch")
    assert result.output.startswith('{"name": "Ann"')
    assert '"age": 7' in result.output


def test_a_reply_that_breaks_one_demand_is_repaired():
    task = all_of(json_keys(["name"]), plain_text(must_not_contain="secret"))
    model = ScriptedModel(['{"name": "secret"}', '{"name": "Ann"}'])
    with StepCache.open(":memory:", embedder=None) as cache:
        result = cache.complete(Request("Invent a child.", spec=task), model)
    assert (result.source, result.output) == ("repair", '{"name": "Ann"}')
    assert "'secret'" in model.calls[1][0]
