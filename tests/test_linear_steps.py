"""Laws of verifying steps against a request, of the hint, and of the patch plan."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from linear_support import FORMS, derive, entry_of, problem, spec_of

from stepcache import Request, Step
from stepcache.segment import segment

OLD = "Solve 2x + 3 = 13 for x."
STEPS = (
    Step("1. Isolate the term with x.\n"),
    Step("2. Subtract 3 from both sides: 2x = 10\n"),
    Step("3. Divide both sides by 2: x = 5\n\n"),
    Step("x = 5"),
)
REPLY = "".join(step.text for step in STEPS)


def passes(prompt: str, reply: str, old: str = OLD, steps: tuple[Step, ...] | None = None) -> list[bool]:
    entry = entry_of(old, reply, steps)
    return [verdict.ok for verdict in spec_of(prompt).verify(entry.steps, entry)]


def test_all_steps_pass_for_the_request_they_were_made_for() -> None:
    for prompt in (OLD, "2*x+3 = 13", "Find x: 2x+3=13"):
        assert passes(prompt, REPLY, steps=STEPS) == [True] * 4


@pytest.mark.parametrize("prompt", ["Solve 2x + 3 = 15 for x.", "Solve 3x + 3 = 15 for x.",
    "Solve 3x + 3 = 18 for x."])
def test_a_changed_constant_fails_only_the_steps_that_depend_on_it(prompt: str) -> None:
    assert passes(prompt, REPLY, steps=STEPS) == [True, False, False, False]


def test_an_operation_that_still_holds_is_kept_though_its_result_in_the_next_step_is_not() -> None:
    steps = (Step("1. Subtract 3 from both sides.\n"), Step("2. This gives 2x = 10.\n"), Step("3. x = 5"))
    assert passes("Solve 2x + 3 = 17 for x.", "".join(s.text for s in steps), steps=steps) == [True, False, False]


def test_an_operation_that_the_new_equation_does_not_call_for_is_not_kept() -> None:
    steps = (Step("1. Subtract 3 from both sides.\n"), Step("2. This gives 2x = 10.\n"), Step("3. x = 5"))
    reply = "".join(s.text for s in steps)
    assert passes("Solve 2x + 7 = 17 for x.", reply, steps=steps) == [False, False, False]
    assert passes("Solve 2x - 3 = 7 for x.", reply, steps=steps) == [False, False, False]


def test_no_step_that_names_another_unknown_passes() -> None:
    assert passes("Solve 2y + 3 = 13 for y.", REPLY, steps=STEPS) == [False] * 4
    assert passes("Solve 2y + 3 = 13 for y.", "So x remains.\n\ny = 5", old="Solve 2y + 3 = 13 for y.")[-1]


def test_the_states_of_another_equation_with_the_same_solution_fail() -> None:
    for prompt in (
        "Solve 4x + 3 = 23 for x.",
        "Solve 4x + 6 = 26 for x.",
        "Solve 20 - 2x = 10 for x.",
        "Solve x - 2 = 3 for x.",
    ):
        assert not all(passes(prompt, REPLY, steps=STEPS))


def test_only_the_answer_may_serve_another_equation_with_the_same_solution() -> None:
    assert passes("Solve 4x + 3 = 23 for x.", "x = 5") == [True]
    assert passes("Solve 4x + 3 = 23 for x.", "The solution is 5.") == [True]
    assert passes("Solve 4x + 3 = 23 for x.", "Because 13 is odd, x = 5") == [False]
    assert passes("Solve 4x + 3 = 23 for x.", "Since both numbers are prime, x = 5") == [False]


def test_a_reply_to_the_very_same_equation_need_only_be_right() -> None:
    reply = "Thirteen is prime, so we guess. x = 5"
    assert passes("Please solve 2x + 3 = 13", reply) == [True]
    assert passes("Solve 4x + 3 = 23 for x.", reply) == [False]


WRONG_CHAINS = [
    "Subtract 7: 2x = 6 + 4\nx = 5", "Divide both sides by 3: 2x = 10\nx = 5", "Subtract 3 from both sides: x = 5",
    "2x + 3 - 3 = 13\nx = 5", "4x + 6 = 26\nx = 5",
    "Add 3 to both sides: 2x = 10\nx = 5", "2x = 10\nDivide both sides by 5: x = 5",
    "Subtract 3 from both sides.\nx = 5.\nDivide by 3.",
]  # fmt: skip


@pytest.mark.parametrize("reply", WRONG_CHAINS)
def test_an_equal_solution_alone_makes_no_chain(reply: str) -> None:
    entry = entry_of(OLD, reply)
    assert not all(v.ok for v in spec_of("Solve 3 + 2x = 13 for x.").verify(entry.steps, entry))
    assert "refused" in spec_of(OLD).trace(reply)


CHAINS = [
    "2x = 10\nx = 5", "13 = 2x + 3\n10 = 2x\n5 = x", "Swap: 13 = 2x + 3\n2x = 10\nx = 5",
    "Subtract 3, then divide by 2: x = 5", "x = (13 - 3)/2 = 5",
    "Divide both sides by 2: x + 3/2 = 13/2\nSubtract 3/2 from both sides: x = 10/2\nx = 5",
    "Subtract 3 from both sides to get 2x + 3 - 3 = 13 - 3, or 2x = 10. x = 5",
    "2x + 3 = 13; 13 - 3 = 10; 10/2 = 5; x = 5",
    "Multiply both sides by -1: -2x - 3 = -13\nAdd 3 to both sides: -2x = -10\nDivide by -2: x = 5",
]  # fmt: skip


@pytest.mark.parametrize("reply", CHAINS)
def test_a_chain_of_true_steps_passes_whoever_it_was_made_for(reply: str) -> None:
    spec = spec_of("Solve 2x + 3 = 13")
    assert [v.ok for v in spec.verify(segment(reply))] == [True] * len(segment(reply)), reply


def test_worked_solutions_pass_in_every_step() -> None:
    chance = random.Random(11)
    for _ in range(60):
        form, style = chance.choice(FORMS), chance.choice(["plain", "latex", "prose"])
        made = problem(chance, form)
        steps = segment(derive(made, style))
        assert all(v.ok for v in spec_of(made.prompt).verify(steps)), derive(made, style)


def test_a_wrong_ending_fails_the_last_step_alone() -> None:
    steps = (Step("2x = 10\n"), Step("Done."))
    verdicts = spec_of(OLD).verify(steps)
    assert [v.ok for v in verdicts] == [True, False]
    assert verdicts[-1].detail


def test_an_unmet_demand_fails_all_steps() -> None:
    spec = spec_of(OLD + " Use numbered steps.")
    assert [v.ok for v in spec.verify(segment("2x = 10\n\nx = 5"))] == [False, False]


def test_no_steps_have_no_verdicts() -> None:
    assert spec_of(OLD).verify(()) == ()


def test_the_hint_states_what_is_reached_and_what_is_expected() -> None:
    spec = spec_of("Solve 2x + 3 = 15 for x.")
    assert spec.hint(STEPS, (1, 4)) == "so far: 2x + 3 = 15; then 2x = 12; expected x = 6"
    right = (Step("Subtract 3: 2x = 12\n"), Step("x = 5"))
    assert spec.hint(right, (1, 2)) == "so far: 2x = 12; expected x = 6"
    assert "no solution" in spec_of("Solve 2x + 1 = 2x + 3").hint(STEPS, (1, 4))
    assert spec_of("Solve 13 = 3 - 2x").hint((), (0, 0)) == "so far: 13 = 3 - 2x; then -2x = 10; expected x = -5"


def test_the_patch_plan_keeps_the_passing_prefix_and_names_the_expected_state() -> None:
    prompt = "Solve 2x + 3 = 15 for x."
    spec, entry = spec_of(prompt), entry_of(OLD, REPLY, STEPS)
    plan = spec.plan_patch(prompt, STEPS, spec.verify(STEPS, entry), entry)
    assert plan is not None
    assert plan.region == (1, 4)
    assert STEPS[0].text.strip() in plan.prompt
    assert "2x = 12" in plan.prompt
    assert "x = 6" in plan.prompt
    assert "2x = 10" not in plan.prompt
    patched = spec.apply_patch(
        STEPS, plan, "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"
    )
    assert patched is not None
    assert patched[0] == STEPS[0]
    assert spec.check("".join(step.text for step in patched)).ok


def test_a_patch_that_contradicts_the_kept_part_fails_the_check() -> None:
    spec = spec_of("Solve 2x + 3 = 15 for x.")
    assert not spec.check("1. Subtract 3: 2x = 12\n2. So 2x = 14\n3. x = 7").ok
    assert not spec.check("1. Subtract 3: 2x = 12\n2. So 2x = 14\n3. x = 6").ok


def test_nothing_kept_means_no_patch() -> None:
    prompt = "Solve 2y + 3 = 13 for y."
    spec, entry = spec_of(prompt), entry_of(OLD, REPLY, STEPS)
    assert spec.plan_patch(prompt, STEPS, spec.verify(STEPS, entry), entry) is None


@pytest.mark.parametrize(
    "reply",
    [
        "Add " + "the " * 20 + "3 to both sides: 2x = 10\nx = 5",
        "Subtract 3 from both sides: 2x = 2x\nx = 5",
        "Subtract 3 from both sides: 10 = 10\nx = 5",
    ],
)
def test_an_operation_that_leads_elsewhere_is_false_however_far_its_operand_stands(reply: str) -> None:
    assert not spec_of(OLD).check(reply).ok


@pytest.mark.parametrize(
    "reply",
    [
        "The term 2x + 3 is on the left.\n2x = 10\nx = 5",  # more than one term is spoken of
        "Move the constant 0 to the right.\n2x = 10\nx = 5",
        "Subtract 3 from both sides: 3 = 3\nx = 5",  # true, but no result of the operation
        "Subtract 3 from both sides. The answer is 5.",  # a division is missing
        "Subtract: 3 from both sides: 2x = 10\nx = 5",  # whether that is one sentence can't be told
        "Subtract 3 from 13: 2x = 10\nx = 5",  # arithmetic, no operation on both sides
        "2x = 10 = 5 + 5\nx = 5",
        "x = 10/2 = 2.5 + 2.5",
        "2*x*1 = 10\nx = 5",
        "(2x + 3) + 0 = 13\nx = 5",
        "(1)\n2x = 10\nx = 5",
        "x^2 plus 1 is 26\nx = 5",
        "Plus 3 is 13\nx = 5",
    ],
)
def test_what_is_true_and_does_not_follow_passes_where_it_was_made_and_nowhere_else(reply: str) -> None:
    spec, entry = spec_of(OLD), entry_of(OLD, reply)
    assert spec.check(reply).ok
    assert not all(verdict.ok for verdict in spec_of("Solve 3 + 2x = 13 for x.").verify(entry.steps, entry))
    assert spec_of("Solve 2x + 3 = 15 for x.").rewrite(entry.steps, entry) is None


@pytest.mark.parametrize("reply", ["10/x = 2\nx = 5", "2x + 3 = 13/0 * 0\nx = 5", "x = 5x/x\nx = 5"])
def test_what_can_not_be_computed_is_no_step(reply: str) -> None:
    spec = spec_of(OLD)
    assert not spec.check(reply).ok
    assert not any(verdict.ok for verdict in spec.verify(segment(reply)))


def test_an_equation_with_the_same_solution_that_is_written_otherwise_is_another() -> None:
    guess = "Thirteen is prime, so we guess. x = 5"
    assert passes("Please solve 2x + 3 = 13", guess) == [True]
    assert passes("Solve 3 + 2x = 13 for x.", guess) == [False]


def test_a_bracket_multiplied_out_and_an_operand_named_by_its_term_are_followed() -> None:
    for reply in (
        "Subtract the constant with x, 3, from both sides: 2x = 10\nx = 5",
        "2x + 6 = 16\n2x = 10\nx = 5",
    ):
        prompt = OLD if "constant" in reply else "Solve 2(x + 3) + 4 = 20 for x."
        steps = segment(reply)
        assert all(verdict.ok for verdict in spec_of(prompt).verify(steps)), reply


@pytest.mark.parametrize("last", ["\\boxed{2x}", "The answer is 2x - 5."])
def test_a_recorded_reply_whose_last_answer_is_no_number_is_refuted(last: str) -> None:
    entry = entry_of(OLD, f"x = 5\n{last}")
    assert spec_of(OLD).refutes(entry)
    assert not spec_of(OLD).check(entry.reply).ok


def test_where_there_is_no_one_solution_nothing_is_refuted_at_a_glance() -> None:
    entry = entry_of(OLD, "x = 5")
    for prompt in ("Solve 2x = 2x + 1 for x.", "Solve 2x = 2x for x."):
        assert not spec_of(prompt).refutes(entry)
        assert not all(verdict.ok for verdict in spec_of(prompt).verify(entry.steps, entry))


def test_an_operation_named_without_its_operand_is_kept_only_where_no_sign_has_turned() -> None:
    steps = (Step("1. Subtract the constant from both sides.\n"), Step("2. This gives 2x = 10.\n"), Step("3. x = 5"))
    reply = "".join(step.text for step in steps)
    assert passes("Solve 2x + 3 = 17 for x.", reply, steps=steps) == [True, False, False]
    assert passes("Solve 2x - 3 = 17 for x.", reply, steps=steps) == [False, False, False]
    straight = "Subtract the constant from both sides, then divide.\nx = 5"
    assert passes("Solve 2x + 5 = 15 for x.", straight) == [True]
    for prompt in ("Solve 2x - 3 = 7 for x.", "Solve 3 + 2x = 13 for x.", "Solve 7x = 35 for x."):
        assert passes(prompt, straight) == [False]
    joke = replace(entry_of(OLD, straight), request=Request("Tell me a joke."))
    assert not any(verdict.ok for verdict in spec_of("Solve 2x + 5 = 15 for x.").verify(joke.steps, joke))
