"""What the tests of the equation task share: builders, and a checker that knows nothing of the verifier under test."""

from __future__ import annotations

import ast
import random
import re
from dataclasses import dataclass
from fractions import Fraction

from stepcache import Request, Step
from stepcache._data import Entry
from stepcache.segment import segment
from stepcache.tasks.linear import LinearEquation, linear_equation

__all__ = ["Problem", "derive", "entry_of", "independent_fault", "problem", "rewritten", "spec_of"]

FORMS = ("sum", "swapped", "difference", "product", "both", "bracket", "arithmetic", "from_constant")


def spec_of(prompt: str) -> LinearEquation:
    """The spec of a prompt that must be recognised."""
    spec = linear_equation()(Request(prompt))
    assert isinstance(spec, LinearEquation), prompt
    return spec


def entry_of(prompt: str, reply: str, steps: tuple[Step, ...] | None = None) -> Entry:
    """The entry that records `reply` for `prompt`."""
    spec = spec_of(prompt)
    return Entry(
        key="key",
        request=Request(prompt),
        partition="",
        task=spec.kind,
        steps=segment(reply) if steps is None else steps,
        residue=spec.residue,
        shape=spec.shape,
        trace=spec.trace(reply),
    )


def rewritten(prompt: str, reply: str, new_prompt: str) -> str | None:
    """What the reply recorded for one prompt becomes for another."""
    entry = entry_of(prompt, reply)
    steps = spec_of(new_prompt).rewrite(entry.steps, entry)
    return None if steps is None else "".join(step.text for step in steps)


@dataclass(frozen=True)
class Problem:
    """An equation by its parts: two sides as printed, as (coefficient, constant), and the unknown."""

    left: str
    right: str
    sides: tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
    variable: str

    @property
    def text(self) -> str:
        return f"{self.left} = {self.right}"

    @property
    def prompt(self) -> str:
        return f"Solve {self.text} for {self.variable}."

    @property
    def solution(self) -> Fraction:
        (a, b), (c, d) = self.sides
        return (d - b) / (a - c)


def problem(chance: random.Random, form: str, variable: str = "x", integer: bool = True) -> Problem:
    """A random equation of one form, with coefficients other than 0 and ±1."""

    def coefficient() -> int:
        return chance.choice([-1, 1]) * chance.randint(2, 40)

    def constant() -> int:
        return chance.choice([-1, 1]) * chance.randint(1, 99)

    def plus(value: int) -> str:
        return f"{'-' if value < 0 else '+'} {abs(value)}"

    v = variable
    while True:
        a, b, x = coefficient(), constant(), chance.randint(-30, 30)
        c = a * x + b if integer else constant()
        if form in {"sum", "swapped"}:
            sides = [(f"{a}{v} {plus(b)}", (a, b)), (f"{c}", (0, c))]
            if form == "swapped":
                sides.reverse()
        elif form == "difference":
            sides = [(f"{a}*{v} {plus(b)}", (a, b)), (f"{c}", (0, c))]
        elif form == "product":
            sides = [(f"{a}{v}", (a, 0)), (f"{a * x}", (0, a * x))]
        elif form == "both":
            e = coefficient()
            if a - e in (0, 1, -1):
                continue
            d = (a - e) * x + b
            sides = [(f"{a}{v} {plus(b)}", (a, b)), (f"{e}{v} {plus(d)}", (e, d))]
            if d == 0:
                continue
        elif form == "bracket":
            sides = [(f"{a}({v} {plus(b)})", (a, a * b)), (f"{a * (x + b)}", (0, a * (x + b)))]
        elif form == "arithmetic":
            n = constant()
            m = a * x - n
            if m == 0:
                continue
            sides = [(f"{n} {plus(m)}", (0, n + m)), (f"{a}{v}", (a, 0))]
        else:
            sides = [(f"{b} {plus(a)}{v}", (a, b)), (f"{c}", (0, c))]
        (left, p), (right, q) = sides
        return Problem(left, right, (_pair(p), _pair(q)), variable)


def _pair(pair: tuple[int, int]) -> tuple[Fraction, Fraction]:
    return Fraction(pair[0]), Fraction(pair[1])


def derive(given: Problem, style: str) -> str:
    """A right worked solution: plain, latex or prose."""
    (a, b), (c, d) = given.sides
    v, lines = given.variable, []

    def state() -> str:
        shown = f"{_side(a, b, v, style)} = {_side(c, d, v, style)}"
        return f"\\( {shown} \\)" if style == "latex" else shown

    def say(words: str) -> None:
        lines.append(
            f"{words}, which gives {state()}." if style == "prose" else f"{len(lines) + 1}. {words}: {state()}"
        )

    say("Simplify both sides")
    if a == 0:
        a, b, c, d = c, d, a, b
        say("Swap the sides")
    if c:
        verb, side = ("Subtract", "from") if c > 0 else ("Add", "to")
        operand = _side(abs(c), Fraction(0), v, style)
        a, c = a - c, Fraction(0)
        say(f"{verb} {operand} {side} both sides")
    if b:
        verb, side = ("Subtract", "from") if b > 0 else ("Add", "to")
        operand = _number(abs(b), style)
        b, d = Fraction(0), d - b
        say(f"{verb} {operand} {side} both sides")
    if a != 1:
        operand = _number(a, style)
        if style == "latex":
            lines.append(
                f"{len(lines) + 1}. Divide both sides by {operand}: "
                f"\\( \\frac{{{_side(a, b, v, style)}}}{{{operand}}} = \\frac{{{_number(d, style)}}}{{{operand}}} \\)"
            )
            a, d = Fraction(1), d / a
            say("Simplify")
        else:
            a, d = Fraction(1), d / a
            say(f"Divide both sides by {operand}")
    value = _number(d, style)
    lines += ["", f"\\boxed{{{value}}}" if style == "latex" else f"{v} = {value}"]
    return "\n".join(lines)


def _number(value: Fraction, style: str) -> str:
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    if style == "latex":
        return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    return str(value)


def _side(coefficient: Fraction, constant: Fraction, variable: str, style: str) -> str:
    if not coefficient:
        return _number(constant, style)
    factor = {1: "", -1: "-"}.get(int(coefficient), _number(coefficient, style)) + variable
    return factor if not constant else f"{factor} {'-' if constant < 0 else '+'} {_number(abs(constant), style)}"


# The independent checker: regular expressions and Python's own arithmetic, on texts of the styles above and their like.

_OPERATION = re.compile(
    r"(Subtract|Add|Divide|Multiply)\w*\D*?(-?\d*(?:/\d+)?[a-z]?(?= (?:from|to) )|(?<=by )-?\d+(?:/\d+)?)"
)


def independent_fault(text: str, given: Problem) -> str:
    """What is wrong with a worked solution, or "" if every equation holds, follows, and ends in the solution."""
    v, solution = given.variable, given.solution
    plain = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
    plain = re.sub(r"\\boxed\{(.*)\}", rf"{v} = \1", plain)
    plain = plain.replace("\\(", " ").replace("\\)", " ").replace("\\[", " ").replace("\\]", " ").replace("\\cdot", "*")
    plain = re.sub(r"^\d+\. ", "", plain, flags=re.MULTILINE)
    state = tuple(_line(side, v) for side in (given.left, given.right))
    pending: tuple[str, Fraction, Fraction] | None = None
    last = None
    name = rf"(?<![A-Za-z]){v}(?![A-Za-z])"
    pieces = re.split(rf"((?:[-+*/() \d]|{name})+=(?:[-+*/()= \d]|{name})+)", plain)
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            for found in _OPERATION.finditer(piece):
                a, b = _line(found[2], v)
                pending = (found[1], a, b)
            continue
        sides = [_line(side, v) for side in piece.split("=")]
        if any(a * solution + b != sides[0][0] * solution + sides[0][1] for a, b in sides):
            return f"false: {piece}"
        pair = (sides[0], sides[-1])
        if pending is not None and pair != state:
            expected = tuple(_after(pending, side) for side in state)
            if pair not in (expected, expected[::-1]):
                return f"{pending[0]} does not lead to {piece}"
            pending = None
        if any(a for a, _ in pair):
            state = pair
        last = sides
    if last is None or last[0] != (1, 0) or last[-1] != (0, solution):
        return "it does not end in the solution"
    return ""


def _after(operation: tuple[str, Fraction, Fraction], side: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    name, a, b = operation
    match name:
        case "Add":
            return side[0] + a, side[1] + b
        case "Subtract":
            return side[0] - a, side[1] - b
        case "Divide":
            return side[0] / b, side[1] / b
        case _:
            return side[0] * b, side[1] * b


def _line(text: str, variable: str) -> tuple[Fraction, Fraction]:
    source = re.sub(rf"(\d|\))\s*(?=[({variable}])", r"\1*", text.strip())
    at_zero, at_one = (_value(ast.parse(source, mode="eval").body, Fraction(x)) for x in (0, 1))
    return at_one - at_zero, at_zero


def _value(node: ast.expr, x: Fraction) -> Fraction:
    match node:
        case ast.Constant(value=int(value)):
            return Fraction(value)
        case ast.Name():
            return x
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, x)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, x)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, x), _value(right, x)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
    raise ValueError(ast.dump(node))
