"""Laws of reading a prompt: one linear equation and nothing else, in any of the known languages, or no spec at all."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_support import FORMS, problem, spec_of

from stepcache import Request
from stepcache.tasks.linear import linear_equation

recognise = linear_equation()


def solution_of(prompt: str) -> Fraction | None:
    return spec_of(prompt).reading.equation.solution


FORMS_OF_COEFFICIENTS = [
    ("2x + 3 = 13", 5), ("x + 3 = 13", 10), ("-x = 4", -4), ("3 - 2x = 7", -2), ("2 x = 6", 3), ("2*x=6", 3),
    ("2·x = 6", 3), ("2×x = 6", 3), ("x*4 = 8", 2), ("+x = 4", 4), ("x/4 = 2", 8), ("x ÷ 4 = 2", 8), ("3x/4 = 6", 8),
    ("(2/3)x = 4", 6), ("0x + x = 3", 3), ("1x = 3", 3), ("2 * -x = 6", -3), ("2·(-3)·x = 12", -2),
    # brackets
    ("2(x+1)=10", 4), ("x(2+1) = 9", 3), ("3(x-2)-2(x+1)=0", 8), ("-(x-1)=5", -4), ("(x+1)(2)=8", 3),
    ("[2(x + 1)] = 8", 3),
    ("2(3(x - 1) + 2) = 10", 2), ("(x + 1)/2 = 3", 5), ("(x - 1)·3 = 6", 3),
    # decimals and fractions
    ("0.1x + 0.2 = 0.3", 1), (".5x = 2", 4), ("1.25x = 5", 4), (r"\frac{1}{2}x + 3 = 7", 8), (r"\frac{x}{3} = 4", 12),
    (r"\dfrac{2x + 1}{3} = 5", 7), (r"2 \cdot x = 8", 4), (r"2 \times x + 1 = 9", 4), (r"\left(x + 1\right) = 4", 3),
    # either side, both sides
    ("5x - 4 = 2x + 8", 4), ("13 = 2x + 3", 5), ("5 = x", 5), ("0 = 3 - x", 3), ("1036 - 992 = 22*y", 2),
    ("7*y - 2*y = 0", 0),
    # unicode signs and digits
    ("2x − 3 = 7", 5), ("2x – 3 = 7", 5), ("２x ＋ ３ ＝ １３", 5), ("٢x + ٣ = ١٣", 5), ("２ｘ + 3 = 13", 5),
    ("2𝑥 + 3 = 13", 5),
    # any name
    ("2N = 4", 2), ("S + 1 = 3", 2), ("E = 5", 5), ("I + 2 = 5", 3), ("2e + 1 = 5", 2), ("2π = 6", 3),
    ("3λ + 1 = 7", 2), ("2ж = 8", 4),
    ("x_1 + 3 = 5", 2), ("2x₁ = 6", 3), ("2x_{12} = 6", 3), ("4o = 8", 2), ("2l = 2", 1), ("3i = 9", 3),
]  # fmt: skip


@pytest.mark.parametrize(("equation", "solution"), FORMS_OF_COEFFICIENTS)
@pytest.mark.parametrize("prompt", ["{}", "Solve {}.", "Solve the equation {} please"])
def test_every_way_to_write_a_linear_equation_is_solved(equation: str, solution: int, prompt: str) -> None:
    assert solution_of(prompt.format(equation)) == solution


@settings(deadline=None, max_examples=120)
@given(st.integers(), st.sampled_from(FORMS), st.sampled_from("xyznkETλ"), st.booleans())
def test_solving_what_was_printed_gives_back_the_solution(seed: int, form: str, name: str, integer: bool) -> None:
    made = problem(random.Random(seed), form, name, integer)
    spec = spec_of(f"Solve {made.text} for {name}.")
    assert spec.reading.equation.solution == made.solution
    assert spec.reading.equation.variable == name


WORDINGS = {
    "": ["2x + 3 = 13", "$2x + 3 = 13$", "\\(2x + 3 = 13\\)", "2x + 3 = 13.", "  2x + 3 = 13  \n", "(2x + 3 = 13)",
    "**2x + 3 = 13**"],
    "en": [
        "Solve 2x + 3 = 13 for x.", "2x+3=13, solve for x", "Solve for x: 2x+3=13 please", "Solve for x 2x + 3 = 13",
        "Find x if 2x + 3 = 13",
        "What is x if 2x + 3 = 13?", "Find the value of x in the equation 2x + 3 = 13",
        "Calculate x from 2x + 3 = 13.",
        "Can you solve the equation 2x + 3 = 13?", "Determine x such that 2x + 3 = 13",
        "Solve the following linear equation: 2x + 3 = 13",
        "If 2x + 3 = 13, what is x?", "For which value of x does 2x + 3 = 13 hold?",
        "Equation: 2x + 3 = 13\nFind x.", "Isolate x in 2x + 3 = 13",
        "What value of x satisfies 2x + 3 = 13?", "Solve $2x + 3 = 13$ for $x$.",
        "Solve\n\n    2x + 3 = 13\n\nfor x.", "Hi! Please work out x: 2x + 3 = 13. Thanks!",
        "SOLVE 2x + 3 = 13 FOR x", "2x + 3 = 13, x = ?", "- Find x\n- Equation: 2x + 3 = 13",
        "Let's solve 2x + 3 = 13. Thanks!",
    ],
    "de": [
        "Löse 2x + 3 = 13 nach x auf.", "Löse die Gleichung 2x + 3 = 13.", "Bestimme x: 2x + 3 = 13",
        "Berechne x aus 2x + 3 = 13 bitte", "Was ist x, wenn 2x + 3 = 13?",
        "Bitte lösen Sie die folgende Gleichung: 2x + 3 = 13", "Lo\u0308se 2x + 3 = 13",
    ],
    "es": [
        "Resuelve 2x+3=13 para x", "Resuelve la ecuación 2x + 3 = 13", "Halla x si 2x + 3 = 13",
        "¿Cuál es el valor de x si 2x + 3 = 13?", "Encuentra el valor de x en 2x + 3 = 13, por favor.",
        "Calcula x: 2x + 3 = 13",
    ],
    "fr": ["Résous 2x + 3 = 13", "Résoudre l'équation 2x + 3 = 13", "Trouve x si 2x + 3 = 13",
    "Quelle est la valeur de x si 2x + 3 = 13 ?", "Résolvez l’équation 2x + 3 = 13 pour x, s'il vous plaît."],
    "zh": ["求解 2x+3=13", "解方程：2x+3=13", "请解方程2x+3=13", "已知2x+3=13，求x的值。",
           "求x：2x+3=13", "2x+3=13，求x"],
    "ar": ["حل المعادلة 2x+3=13", "أوجد قيمة x في المعادلة 2x + 3 = 13", "من فضلك حل 2x + 3 = 13",
    "أوجد x إذا كان 2x + 3 = 13"],
}  # fmt: skip


@pytest.mark.parametrize(("language", "prompt"), [(k, p) for k, prompts in WORDINGS.items() for p in prompts])
def test_the_equation_is_found_among_harmless_words(language: str, prompt: str) -> None:
    spec = spec_of(prompt)
    assert spec.reading.equation.solution == 5
    assert spec.reading.language == language
    assert spec.shape == "n*v+n=n"


REFUSED = {
    "two equations": ["Solve 2x=6 and 3y=12", "Solve 2x = 6 and 3x = 12", "2x = 6; 3x = 9", "x = 2x = 6"],
    "systems": ["x + y = 3; x - y = 1", "Solve 2*b - 4*v = -0*v - 4, 0 = -5*b + 6*v - 6 for b.", "3x + 4y = 10",
    "xy = 6", "2x + y = 4 for x"],
    "no unknown": ["3 = 3", "Solve 2 + 3 = 5", "What is 2 + 3?", "x", "Solve", ""],
    "powers": ["x^2 = 4", "x² = 4", "x**2 = 4", "2^x = 8", "x(x-1)=0", "x·x = 4", "x.x = 4", "x^{2} = 4", "√x = 3",
    r"\sqrt{x} = 3"],
    "denominators": ["1/x = 2", "3/(x - 1) = 2", "x/0 = 2", "2/3x = 4", "1/2(x + 1) = 3"],
    "inequalities": ["x + 1 > 3", "2x <= 4", "x ≠ 3", "x ≥ 2", "x != 2", "x ≈ 2", "2x := 6"],
    "absolute values and functions": ["|x| = 4", "sin(x) = 0", "f(x) = 3", "log x = 2", "x! = 6",
    "2x = 3!", "Solve 2x + 3 = 13! for x", "Solve 3! = 2x", "Solve 2x + 3 = 13!", "x mod 3 = 1"],
    "plus or minus": ["2x +- 3 = 13", "Solve 2x + 3 = +-13", "2x ± 3 = 13", "Solve 2x -+ 3 = 13", "2x -- 3 = 13"],
    "parameters": ["Given a=2, solve ax+3=13", "Solve ax + 3 = 13 for x", "Let a = 2. Solve a*x = 4",
    "Solve 2x + b = 4 for x", "x = k"],
    "composed": [
        "Let l be 4 + 2. Suppose 2*d = l. Solve d = 5*v - v + 4 for v.",
        "Suppose 8 = 5*g + 3. Solve -2*f = -6*f - g for f.",
        "Let d = -13291 - -13306. Solve d = -38*v + 91 for v.",
    ],
    "other demands": [
        "Give me a hint for 2x + 3 = 13, not the answer", "Is x = 4 a solution of 2x + 3 = 13?",
        "Write a story about 2x + 3 = 13", "Find the mistake in 2x + 3 = 13",
        "Find the student's mistake: 2x + 3 = 13", "Explain 2x + 3 = 13", "What kind of equation is 2x + 3 = 13?",
        "Do not solve 2x + 3 = 13", "Is 2x + 3 = 13?",
        "What is the equation 2x + 3 = 13 for?", "Graph 2x + 3 = 13", "Plot y = 2x + 3",
        "Solve 2x + 3 = 13 without algebra", "Solve 2x + 3 = 13 using matrices",
        "Check whether 2x + 3 = 13 is linear", "Solve 2x + 3 = 13 like a pirate",
        "How many solutions has 2x + 3 = 13?", "What is 2x if 2x + 3 = 13?", "Solve 2x + 3 = 13 in 3 steps",
        "Translate 2x + 3 = 13 into words", "Ana has 2x + 3 = 13 apples", "Rewrite 2x + 3 = 13 in standard form",
        "Only the first step of 2x + 3 = 13", "Solve 2x + 3 = 13 and double the result",
    ],
    "another unknown asked for": ["Solve 2x+3=13 for y", "Solve for t: 2x = 6", "Find n if 2N = 4",
    "Solve 2x = 6 and end with y = <value>"],
    "languages that are not known": ["Los 2x + 3 = 13 op", "Lös ekvationen 2x + 3 = 13",
    "Реши уравнение 2x + 3 = 13", "2x+3=13 を解いて", "방정식 2x+3=13을 풀어라"],
    "mixed languages": ["Solve die Gleichung 2x + 3 = 13", "Resuelve the equation 2x + 3 = 13"],
    "numerals that can be read in two ways": ["Löse x = 1.000", "Resuelve 2x = 1,000", "2x = 1,000", "x = 1.2.3",
    "1 1/2 x = 3", "x = 12,34,56", "2 3x = 6"],
    "broken": ["2x + = 13", "(2x + 3 = 13", "2x + 3 =", "= 13", "2x ++ 3 = 13", "2x + 3) = 13", "x = ",
    r"\frac{1}{x = 2", "{x] = 2"],
    "letters at the edges": ["Solve for y + y = 3", "Solve for x + y = 3", "Solve for x - x = 4",
    "Solve for x * x = 4", "Solve x + 3 = 13 y", "Solve 2x = 6 a", "x + 3 = 5 x y"],
    "huge powers": ["9**9**9**9 * x = 1", "9^9^9^9 x = 1"],
    "code and fields": ["x = 5  # comment", 'the JSON {"x": "2 = y"}', "if (x == 3) return;", "x += 3",
    "x = input()", "color=red", "a=b"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "prompt"), [(k, p) for k, prompts in REFUSED.items() for p in prompts])
def test_what_is_not_one_linear_equation_to_be_solved_is_refused_whole(kind: str, prompt: str) -> None:
    assert recognise(Request(prompt)) is None, kind


@settings(deadline=None, max_examples=60)
@given(
    st.integers(),
    st.sampled_from(FORMS),
    st.sampled_from(
        [
            "banana",
            "not",
            "except",
            "hint",
            "instead",
            "wrong",
            "graph",
            "twice",
            "seven",
            "poem",
            "z",
            "7",
            "x^2",
            "pour",
            "und",
            "haiku",
        ]
    ),
)
def test_one_unknown_word_more_and_there_is_no_spec(seed: int, form: str, word: str) -> None:
    made = problem(random.Random(seed), form)
    for prompt in (f"Solve {made.text} for x {word}.", f"{word} solve {made.text}", f"Solve {made.text}. {word}"):
        assert recognise(Request(prompt)) is None


DEMANDS = [
    ("Solve 2x + 3 = 13. Show your work in numbered steps.", ("numbered",)),
    ("Solve 2x + 3 = 13 for x step by step", ("steps",)),
    ("Solve 2x + 3 = 13 for x. Give only the value.", ("value_only",)),
    ("Solve 2x + 3 = 13 for x and give only the final answer", ("answer_only",)),
    ("Solve 2x + 3 = 13 and end with x = <value>", ("end_form",)),
    ("Solve 2x + 3 = 13. The last line must be x = ...", ("end_form",)),
    ("Solve 2x + 3 = 13 in LaTeX", ("in_latex",)),
    ("Solve 2x + 3 = 13. Answer in French.", ("in_french",)),
    ("Solve 2x + 3 = 13 and explain each step", ("explain",)),
    ("Solve 2x + 3 = 13. Check your answer.", ("with_check",)),
    ("Solve 2x + 3 = 13. No explanation.", ("no_words",)),
    ("Löse 2x + 3 = 13 Schritt für Schritt", ("steps",)),
    ("Resuelve 2x+3=13 paso a paso y explica", ("steps", "explain")),
    ("Résous 2x + 3 = 13 étape par étape", ("steps",)),
    ("解方程2x+3=13，写出步骤", ("steps",)),
    ("حل المعادلة 2x+3=13 خطوة بخطوة", ("steps",)),
]


@pytest.mark.parametrize(("prompt", "demands"), DEMANDS)
def test_known_demands_are_read(prompt: str, demands: tuple[str, ...]) -> None:
    assert spec_of(prompt).reading.demands == demands


def test_prompts_that_differ_in_the_equation_only_leave_the_same_residue() -> None:
    chance = random.Random(7)
    for wording in [p for prompts in WORDINGS.values() for p in prompts if "2x + 3 = 13" in p]:
        for form in FORMS:
            made = problem(chance, form)
            assert spec_of(wording.replace("2x + 3 = 13", made.text)).residue == spec_of(wording).residue


def test_the_residue_keeps_language_and_demands_apart() -> None:
    residues = {spec_of(prompt).residue for prompt, _ in DEMANDS}
    assert len(residues) == len({(spec_of(p).reading.language, d) for p, d in DEMANDS})
    assert len({spec_of(prompts[0]).residue for prompts in WORDINGS.values()}) == len(WORDINGS)


def test_harmless_wording_leaves_no_residue_of_its_own() -> None:
    for prompts in WORDINGS.values():
        assert len({spec_of(prompt).residue for prompt in prompts}) == 1


@pytest.mark.parametrize(
    ("equation", "shape"),
    [
        ("2x + 3 = 13", "n*v+n=n"), ("-7y - 4 = 1", "n*v+n=n"), ("2*x+3=13", "n*v+n=n"), ("x + 3 = 13", "v+n=n"),
        ("-x + 3 = 13", "-v+n=n"),
        ("1x + 3 = 13", "1*v+n=n"), ("0x + x = 13", "0*v+v=n"), ("13 = 2x + 3", "n=n*v+n"),
        ("2(x - 1) = 4", "n*(v+n)=n"), ("x/2 = 4", "v/n=n"),
    ],
)  # fmt: skip
def test_the_shape_abstracts_literals_and_signs_but_not_the_form(equation: str, shape: str) -> None:
    assert spec_of(equation).shape == shape


def test_a_decimal_comma_is_read_where_it_can_be_nothing_else() -> None:
    assert solution_of("Löse 0,5x + 1 = 2") == 2
    assert solution_of("Résous 2,5x = 5") == 2
    assert solution_of("0,1x + 0,2 = 0,3") == 1
    assert solution_of("Solve 2x = 1,000 for x.") == 500
    assert solution_of("Löse 2x = 1.000,5") == Fraction(10005, 20)


def test_words_as_unknowns_are_accepted_whole_or_refused() -> None:
    spec = spec_of("Solve for apples: 3·apples = 12")
    assert (spec.reading.equation.variable, spec.reading.equation.solution) == ("apples", 4)
    assert recognise(Request("3·apples = 12 pears")) is None


def test_a_spec_is_a_value() -> None:
    one, other = spec_of("Solve 2x + 3 = 13 for x."), spec_of("Solve 2x + 3 = 13 for x.")
    assert one == other
    assert one.identity == other.identity
    assert one.identity != spec_of("Solve 2x + 3 = 15 for x.").identity
    assert "2x + 3 = 13" in repr(one)


ASKED = "My {0} homework says {1}; {2} is the number of marbles, help me like a teacher would."


def test_a_task_given_explicitly_takes_any_prompt_with_one_equation() -> None:
    from stepcache import CacheControl

    prompt = ASKED.format("second", "2x + 3 = 13", "x")
    assert recognise(Request(prompt)) is None
    for request in (Request(prompt, spec=recognise), Request(prompt, control=CacheControl(spec=recognise))):
        spec = recognise(request)
        assert spec is not None
        assert spec.residue == ASKED.format("second", "«equation»", "«variable»")
        assert spec.shape == "n*v+n=n"
        assert spec.check("x = 5").ok
        assert spec.check(spec.fallback() or "").ok


@pytest.mark.parametrize("equation", ["2x = 6 and 3x = 9", "x^2 = 4", "ax = 4", "x + y = 3", "|x| = 3", "x < 3",
    "no equation", "2x = 6 ^ 2", "1/x = 2"])
def test_an_explicit_task_still_refuses_what_is_no_linear_equation(equation: str) -> None:
    prompt = ASKED.format("first", equation, "x")
    assert recognise(Request(prompt, spec=recognise)) is None
    assert recognise(Request("y" * 3_000 + equation, spec=recognise)) is None


@pytest.mark.parametrize("prompt", [
    "2x + 3 = 13. Please solve it for x and show the steps as a numbered list.",
    "Equation: 2x + 3 = 13. Could you please solve it for x? Number each step.",
    "Equation:\n2x + 3 = 13\nNow solve it for x step by step. Number each step.",
])
def test_politeness_and_steps_beside_numbered_steps_are_no_other_demand(prompt: str) -> None:
    assert spec_of(prompt).residue == spec_of("Solve 2x + 3 = 13 for x. Use numbered steps.").residue


@pytest.mark.parametrize("prompt", ["2x + 3 = 13. Please do not solve it for x.", "2x + 3 = 13. Now, who wrote it?"])
def test_other_words_there_are_not_passed_over(prompt: str) -> None:
    assert recognise(Request(prompt)) is None
