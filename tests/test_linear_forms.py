"""Rewrites of equations of every form (brackets, fractions, decimals, both sides), and the parts they need."""

from __future__ import annotations

from fractions import Fraction

import pytest
from linear_support import entry_of, rewritten, spec_of

from stepcache import Step
from stepcache.tasks._linear.claims import UnknownClaim, read_reply
from stepcache.tasks._linear.expressions import Unreadable, form, numbers, parse_sum, plain_value
from stepcache.tasks._linear.quantities import ONE, ZERO, constant, literal, value_in
from stepcache.tasks._linear.tokens import number_of, tokenize

REWRITES = [
    ("x/4 = 2", "Multiply both sides by 4: x = 8", "x/5 = 3", "Multiply both sides by 5: x = 15"),
    (
        "x/4 + 1 = 3", "Subtract 1 from both sides: x/4 = 2. Multiply both sides by 4: x = 8",
        "x/5 - 2 = 3", "Add 2 to both sides: x/5 = 5. Multiply both sides by 5: x = 25",
    ),
    (
        "2(x + 1) = 10", "Divide both sides by 2: x + 1 = 5. Subtract 1 from both sides: x = 4",
        "3(x - 2) = 9", "Divide both sides by 3: x - 2 = 3. Add 2 to both sides: x = 5",
    ),
    (
        "2(x + 3) = 10",
        "Distribute the 2: 2x + 6 = 10\nSubtract 6 from both sides: 2x = 4\nDivide both sides by 2: x = 2",
        "4(x - 2) = 12", "Distribute the 4: 4x - 8 = 12\nAdd 8 to both sides: 4x = 20\nDivide both sides by 4: x = 5",
    ),
    (
        "2(x + 3) = 16", "2*x + 2*3 = 16, 2x + 6 = 16, 2x = 10, x = 5. Check: 2(5 + 3) = 16",
        "4(x + 5) = 12", "4*x + 4*5 = 12, 4x + 20 = 12, 4x = -8, x = -2. Check: 4(-2 + 5) = 12",
    ),
    (
        "2(x + 3) = 10", "\\frac{2(x + 3)}{2} = \\frac{10}{2}, x + 3 = 5, x = 2",
        "7(x + 1) = 21", "\\frac{7(x + 1)}{7} = \\frac{21}{7}, x + 1 = 3, x = 2",
    ),
    (
        r"\frac{x}{3} = 4", r"Multiply both sides by 3: \(3 \cdot \frac{x}{3} = 3 \cdot 4\), so \(x = 12\)",
        r"\frac{x}{5} = 2", r"Multiply both sides by 5: \(5 \cdot \frac{x}{5} = 5 \cdot 2\), so \(x = 10\)",
    ),
    (r"\frac{2}{3}x = 4", "x = 6", r"\frac{3}{4}x = 6", "x = 8"),
    (
        "5x + 3 = 2x + 12",
        "Subtract 2x from both sides: 3x + 3 = 12\nSubtract 3 from both sides: 3x = 9\nDivide by 3: x = 3",
        "2x + 3 = 7x - 12",
        "Subtract 7x from both sides: -5x + 3 = -12\nSubtract 3 from both sides: -5x = -15\nDivide by -5: x = 3",
    ),
    (
        "5x + 3 = 2x + 12", "5x + 3 - 2x = 2x + 12 - 2x\n3x + 3 = 12\n3x = 9\nx = 3",
        "7x - 4 = -2x + 14", "7x - 4 + 2x = -2x + 14 + 2x\n9x - 4 = 14\n9x = 18\nx = 2",
    ),
    ("-x = 4", "Multiply both sides by -1: x = -4", "-x = -7", "Multiply both sides by -1: x = 7"),
    (
        "3 - x = 8", "Subtract 3 from both sides: -x = 5. Divide both sides by -1: x = -5",
        "4 - x = 10", "Subtract 4 from both sides: -x = 6. Divide both sides by -1: x = -6",
    ),
    ("0.5x = 2", "x = 2/0.5 = 4", "0.25x = 2", "x = 2/0.25 = 8"),
    ("4 - -5 = 2x", "9 = 2x, x = 9/2", "13 - -8 = 4x", "21 = 4x, x = 21/4"),
    (
        "2x + 3x = 10", "Combine like terms: 5x = 10. Divide both sides by 5: x = 2. Check: 2(2) + 3(2) = 4 + 6 = 10",
        "3x + 4x = 21", "Combine like terms: 7x = 21. Divide both sides by 7: x = 3. Check: 3(3) + 4(3) = 9 + 12 = 21",
    ),
    ("12 = 4x", "Swap the sides: 4x = 12. x = 3", "20 = -4x", "Swap the sides: -4x = 20. x = -5"),
    ("2x + 3 = 13", "Move 3 to the right side: 2x = 13 - 3. So 2x = 10. x = 10/2 = 5.",
     "5x + 2 = 17", "Move 2 to the right side: 5x = 17 - 2. So 5x = 15. x = 15/5 = 3."),
    ("2x + 3 = 13", "x = (13 - 3)/2 = 5", "4x + 1 = 29", "x = (29 - 1)/4 = 7"),
    ("2x + 3 = 13", "Subtract 3 and then divide both sides by 2: \\boxed{5}", "4x - 1 = 27",
    "Add 1 and then divide both sides by 4: \\boxed{7}"),
    ("2x + 3 = 13", "Divide both sides by 2: x + 3/2 = 13/2. x = 5", "4x + 3 = 23",
    "Divide both sides by 4: x + 3/4 = 23/4. x = 5"),
    ("5x - 3x + 4 = 10", "2x + 4 = 10, 2x = 6, x = 3", "9x - 4x + 5 = 20", "5x + 5 = 20, 5x = 15, x = 3"),
    ("3 + 2x = 13", "2x + 3 = 13, 2x = 10, x = 5", "4 + 5x = 19", "5x + 4 = 19, 5x = 15, x = 3"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "reply", "new", "expected"), REWRITES)
def test_equations_of_every_form_are_rewritten(old: str, reply: str, new: str, expected: str) -> None:
    result = rewritten(f"Solve {old}", reply, f"Solve {new}")
    assert result == expected
    assert all(v.ok for v in spec_of(f"Solve {new}").verify((Step(expected),)))


UNPROVED = [
    ("2(x + 1) = 10", "Distribute the 2: 2x + 2 = 10, 2x = 8, x = 4", "3(x + 5) = 9"),
    # 2 is the factor and the product
    ("2x + 3 = 13", "Subtract 3 from 13: 10. x = 5", "2x + 3 = 15"),
    ("5x + 3 = 2x + 12", "Subtract 2x and 3 from both sides: 3x = 9. x = 3", "7x + 3 = 2x + 13"),
    ("3x - 2x = 5", "x = 5", "4x - 2x = 5 + x - x"),
    ("2x + 3 - 3 = 10", "2x = 10, x = 5", "2x + 4 - 3 = 11"),  # what cancelled there does not cancel here
    ("2x + 3 = 13", "2x = 10, x = 5", "2x + 3 = 3 + 0x"),
    ("2x + 3 = 13", "The + 3 is here. 2x = 10 x = 5", "2x + 3 = 15"),
    ("0.5x = 2", "0.5x = 2.0, x = 4", "0.7x = 2"),
    ("2x = 10", "x = 10/2 = 5", "3x = 10"),  # 10/3 can't be read back as the quotient that it was
]


@pytest.mark.parametrize(("old", "reply", "new"), UNPROVED)
def test_what_can_not_be_proved_is_left(old: str, reply: str, new: str) -> None:
    assert rewritten(f"Solve {old}", reply, f"Solve {new}") is None


def test_the_fallbacks_are_rewritten_into_one_another() -> None:
    for old, new in (("2x + 3 = 13", "7x - 5 = 16"), ("5x - 4 = 2x + 8", "2x - 4 = 9x + 17"),
        ("2(x + 3) = 10", "5(x - 1) = 30")):
        a, b = spec_of(f"Solve {old} for x."), spec_of(f"Solve {new} for x.")
        assert rewritten(f"Solve {old} for x.", a.fallback() or "", f"Solve {new} for x.") == b.fallback()


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [
        ("12", None, 12), ("1.5", None, Fraction(3, 2)), ("1,5", None, Fraction(3, 2)), ("1,000", None, None),
        ("1,000", False, 1000), ("1,000", True, None),
        ("1.000", None, 1), ("1.000", False, 1), ("1.000", True, None), ("1,000,000", None, 10**6),
        ("1.000.000", None, 10**6), ("1,000.5", None, Fraction(2001, 2)),
        ("1.000,5", None, Fraction(2001, 2)), ("1.2.3", None, None), ("1,2,3", None, None),
        ("0,125", None, Fraction(1, 8)), ("١٫٥", None, Fraction(3, 2)), ("9" * 41, None, None),
    ],
)  # fmt: skip
def test_numerals_are_read_exactly_or_not_at_all(text: str, comma: bool | None, value: Fraction | None) -> None:
    assert number_of(text, comma) == value


@pytest.mark.parametrize(
    ("text", "value", "shape"),
    [
        ("2x + 3", (2, 3), "n*v+n"), ("3 * -2", (0, -6), "n*~n"), ("x / -2", (Fraction(-1, 2), 0), "v/~n"),
        ("-(x - 1)", (-1, 1), "-(v+n)"),
        (r"\frac{2x + 4}{2}", (1, 2), "[n*v+n/n]"), ("{x}", (1, 0), "(v)"), ("x·3−2", (3, -2), "v*n+n"),
        ("13 - -2", (0, 15), "n-~n"), ("x/2/3", (Fraction(1, 6), 0), "v/n/n"),
    ],
)  # fmt: skip
def test_expressions_have_an_exact_value_and_a_form(text: str, value: tuple[Fraction, Fraction], shape: str) -> None:
    tree = parse_sum(tokenize(text), "x")
    assert plain_value(tree) == value
    assert form(tree) == shape
    assert [n.value for n in numbers(tree)] == [Fraction(t.text) for t in tokenize(text) if t.kind == "number"]


@pytest.mark.parametrize("text", ["", "2", "x 2", "x x", "2 3", "y", "x^2", "2^x", r"\frac12", r"2\frac{1}{2}", "(x",
    "(x]", "x)", "- - -x", "2 * -", "+", "*2", "x/", "1/2x", "1/2(x)",
                                  "x" + "+x" * 300, "(" * 20 + "x" + ")" * 20, "1,000"])  # fmt: skip
def test_what_is_no_expression_is_unreadable(text: str) -> None:
    if text == "2":
        assert plain_value(parse_sum(tokenize(text), "x")) == (0, 2)
        return
    with pytest.raises(Unreadable):
        parse_sum(tokenize(text), "x")


@pytest.mark.parametrize("text", ["x(x + 1)", "1/x", "x/0", "x/(2 - 2)", "(x)(x)"])
def test_what_is_not_linear_has_no_value(text: str) -> None:
    with pytest.raises(Unreadable):
        plain_value(parse_sum(tokenize(text), "x"))


def test_every_character_but_white_space_lies_in_one_token() -> None:
    text = "**So**, \\(2x ≤ 3\\) → x_1 := 5 & 6 \\\\ \\text{a} ② ½ don't «x»\n# 1.5e3\t|y|"
    tokens = tokenize(text)
    at = 0
    for token in tokens:
        assert text[token.start : token.stop] == token.text
        assert not text[at : token.start].strip()
        at = token.stop
    assert not text[at:].strip()


def test_a_star_is_an_operator_only_between_operands_evenly_spaced() -> None:
    kinds = [t.kind for t in tokenize("**2 * x** *3*x* 2**3 * a")]
    assert kinds == ["stress", "number", "*", "word", "stress", "stress", "number", "*", "word", "stress", "number",
        "^", "number", "*", "word"]  # fmt: skip


def test_a_quantity_knows_its_values_and_its_recipe() -> None:
    two = literal(0, [Fraction(2), Fraction(7)])
    three = literal(1, [Fraction(3), Fraction(11)])
    made = (two + three) * two / three - ONE
    assert made.values == (Fraction(7, 3), Fraction(115, 11))
    assert value_in(made.recipe, [Fraction(2), Fraction(3)]) == Fraction(7, 3)
    assert value_in(made.recipe, [Fraction(4), Fraction(2)]) == 11
    assert (-(-two)).recipe == two.recipe  # noqa: B002
    assert (two + ZERO).same(two)
    assert (ZERO + two).same(two)
    assert not constant(2).same(two)
    assert constant(2).same(literal(0, [Fraction(2), Fraction(2)]))


@pytest.mark.parametrize("recipe", [9, -1, True, None, 1.5, [], ["+", 0], ["^", 0, 1], ["~"], {"a": 1}, "x"])
def test_a_malformed_recipe_is_refused(recipe: object) -> None:
    with pytest.raises(ValueError):
        value_in(recipe, [Fraction(1), Fraction(2)])


@pytest.mark.parametrize("text", ["f(x) = 3", "\\boxed{}", "x^2 = 4", "x < 3", "|x| = 5", "2x + y = 3",
    "\\sqrt{x} = 2", "x = = 3", "x + " * 300 + "x = 1"])
def test_mathematics_that_is_not_understood_is_marked(text: str) -> None:
    assert any(isinstance(claim, UnknownClaim) for claim in read_reply(text, "x").claims)


@pytest.mark.parametrize(
    "reply",
    [
        "Subtract 0 from both sides: 2x + 3 = 13, x = 5", "Divide both sides by x: x = 5",
        "Subtract 2x + 3 from both sides: x = 5", "Divide 10 by 2 to get x = 5",
        "Subtract 3 from 13 to get 10. x = 5", "Add = 3. x = 5", "2x = 10, x = 5. Subtract x^2.",
        "Multiply both sides by 0: 0 = 0, x = 5", "2x/0 = 5, x = 5", "2x = 10 (x = 5",
    ],
)  # fmt: skip
def test_odd_operations_are_not_rewritten(reply: str) -> None:
    entry = entry_of("Solve 2x + 3 = 13", reply)
    assert spec_of("Solve 2x + 3 = 15").rewrite(entry.steps, entry) is None
