"""Right answers with worked steps: what a perfect model would say to each row of the public workloads.

The equation forms are derived here by own exact arithmetic, not by the parser under test.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

__all__ = ["FORMS", "derivation", "reply_of"]

FORMS = ("plain", "latex", "prose")
Side = tuple[Fraction, Fraction]  # (coefficient of the unknown, constant)


def reply_of(row: Mapping[str, Any], form: str) -> str:
    """The right reply to a row, worked out where the row tells how."""
    meta, answer = row["meta"], row["answer"]
    task = meta["task"]
    if task == "linear_equation":
        return "\n".join(derivation(meta["equation"], form))
    if task.startswith("linear_"):
        return f"The answer is {answer}."
    if isinstance(answer, str):
        return f"{meta['solution']}" if "solution" in meta else answer
    if answer is None:
        return f"An answer made for: {row['prompt']}"
    return json.dumps(answer, indent=2, ensure_ascii=False)


def derivation(equation: str, form: str) -> list[str]:
    """Numbered lines from the equation to its solution: simplify, gather, divide, state."""
    left_text, right_text = equation.split("=")
    left, right = _side(left_text), _side(right_text)
    name = next(iter(re.findall(r"[a-z]", equation)))
    out, number = [], 0

    def say(words: str, state: tuple[Side, Side]) -> None:
        nonlocal number
        number += 1
        shown = f"{_print(state[0], name, form)} = {_print(state[1], name, form)}"
        if form == "plain":
            out.append(f"{number}. {words}: {shown}")
        elif form == "latex":
            out.append(f"{number}. {words}: \\( {shown} \\)")
        else:
            out.append(f"{words}, which gives {shown}.")

    say("Simplify both sides", (left, right))
    if right[0] != 0 and left[0] == 0:
        left, right = right, left
        say("Swap the sides", (left, right))
    if right[0] != 0:
        word, operand = ("Subtract", right[0]) if right[0] > 0 else ("Add", -right[0])
        left, right = (left[0] - right[0], left[1]), (Fraction(0), right[1])
        say(f"{word} {_term(operand, name, form)} {'from' if word == 'Subtract' else 'to'} both sides", (left, right))
    if left[1] != 0:
        word, operand = ("Subtract", left[1]) if left[1] > 0 else ("Add", -left[1])
        left, right = (left[0], Fraction(0)), (Fraction(0), right[1] - left[1])
        say(f"{word} {_number(operand, form)} {'from' if word == 'Subtract' else 'to'} both sides", (left, right))
    if left[0] != 1:
        divisor = left[0]
        left, right = (Fraction(1), Fraction(0)), (Fraction(0), right[1] / divisor)
        say(f"Divide both sides by {_number(divisor, form)}", (left, right))
    value = _number(right[1], form)
    out.append("")
    out.append(f"\\boxed{{{value}}}" if form == "latex" else f"{name} = {value}")
    return out


def _side(text: str) -> Side:
    return _walk(ast.parse(text.strip(), mode="eval").body)


def _walk(node: ast.expr) -> Side:
    match node:
        case ast.Constant(value=int(value)):
            return Fraction(0), Fraction(value)
        case ast.Name():
            return Fraction(1), Fraction(0)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            a, b = _walk(operand)
            return -a, -b
        case ast.BinOp(left=left, op=op, right=right):
            (a, b), (c, d) = _walk(left), _walk(right)
            match op:
                case ast.Add():
                    return a + c, b + d
                case ast.Sub():
                    return a - c, b - d
                case ast.Mult() if a == 0:
                    return b * c, b * d
                case ast.Mult() if c == 0:
                    return a * d, b * d
                case ast.Div() if c == 0:
                    return a / d, b / d
                case _:
                    pass
        case _:
            pass
    raise ValueError(f"not linear: {ast.dump(node)}")


def _number(value: Fraction, form: str) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    top, bottom = abs(value.numerator), value.denominator
    return f"{sign}\\frac{{{top}}}{{{bottom}}}" if form == "latex" else f"{sign}{top}/{bottom}"


def _term(value: Fraction, name: str, form: str) -> str:
    if value in (1, -1):
        return name if value == 1 else f"-{name}"
    shown = _number(value, form)
    return f"({shown}){name}" if "/" in shown else f"{shown}{name}"


def _print(side: Side, name: str, form: str) -> str:
    coefficient, constant = side
    if coefficient == 0:
        return _number(constant, form)
    text = _term(coefficient, name, form)
    if constant == 0:
        return text
    return f"{text} {'+' if constant > 0 else '-'} {_number(abs(constant), form)}"
