"""The check of a fresh reply: the final answer is right, and nothing that it claims is false.

Sound, not complete: an equation in the unknown must have exactly the solution asked for, and must follow from the
given one by what one may do to an equation unsaid (add the same to both sides, swap, reduce) or by an operation the
reply states; arithmetic must be true; a rounded number must be marked as rounded. What is not understood is neither
held against a fresh reply nor counted for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd

from stepcache.tasks._linear.around import changed_by_words
from stepcache.tasks._linear.claims import AnswerClaim, Claim, EquationClaim, OperationClaim, Reply
from stepcache.tasks._linear.expressions import Number, Sum, Unreadable, has_variable, plain_value
from stepcache.tasks._linear.prompts import Equation
from stepcache.tasks._linear.scanner import scan
from stepcache.tasks._linear.spoken import denied

__all__ = ["false_claim", "final_answer"]

_MOST_CLAIMS = 250  # bounds the time a hostile reply can cost
_Line = tuple[Fraction, Fraction]
_UNKNOWN = (Fraction(1), Fraction(0))


def _assigned(claim: EquationClaim) -> Sum | None:
    """The expression an assignment gives to the unknown: the last side that has no unknown."""
    alone = [side for side in claim.sides if _try(side) == _UNKNOWN]
    others = [side for side in claim.sides if not has_variable(side)]
    return others[-1] if len(alone) == 1 and len(others) == len(claim.sides) - 1 else None


def _try(side: Sum) -> _Line | None:
    try:
        return plain_value(side)
    except Unreadable:
        return None


def _digits(side: Sum) -> int:
    """How many decimal places a rounded number states."""
    number = next((term.body for term in side.terms), None)
    if not isinstance(number, Number):
        return 0
    denominator, places = number.value.denominator, 0
    while denominator > 1 and places < 40:
        denominator //= gcd(denominator, 10)
        places += 1
    return places


def near(value: Fraction, exact: Fraction, side: Sum) -> bool:
    """Whether `value`, marked as rounded, agrees with `exact` in the digits it states; it must state some."""
    places = _digits(side)
    return places > 0 and abs(value - exact) <= Fraction(1, 2 * 10**places)


@lru_cache(maxsize=64)  # a reply is checked, verified and proved on one request's way
def false_claim(reply: Reply, equation: Equation) -> tuple[int, str] | None:
    """The first claim shown to be false for this equation, as (place in the text, reason); None if there is none."""
    solution = equation.solution
    lines: list[_Line] = [equation.difference]
    stated: list[Fraction] = []
    made = 0
    for claim in reply.claims:
        made += len(claim.relations) if isinstance(claim, EquationClaim) else 1
        if made > _MOST_CLAIMS:
            return claim.start, "it makes more claims than a solution needs"
        wrong = ""
        match claim:
            case OperationClaim(operation, operand):
                value = _try(operand)
                if operation in {"divide", "multiply"} and value is not None and value[0] == 0 and value[1] != 0:
                    stated.append(value[1] if operation == "multiply" else 1 / value[1])
            case AnswerClaim(side, rounded=rounded):
                value = _try(side)
                right = (
                    value is not None
                    and not value[0]
                    and solution is not None
                    and (value[1] == solution or (rounded and near(value[1], solution, side)))
                )
                wrong = "" if right else "the answer is not the solution"
            case EquationClaim():
                wrong = _false_equation(claim, solution, lines, stated)
            case _:
                pass
        if wrong:
            return claim.start, wrong
    return None


def _false_equation(claim: EquationClaim, solution: Fraction | None, lines: list[_Line], stated: list[Fraction]) -> str:
    values = [_try(side) for side in claim.sides]
    for i, relation in enumerate(claim.relations):
        left, right = values[i], values[i + 1]
        if left is None or right is None:
            return "an expression that is not linear"
        line = (left[0] - right[0], left[1] - right[1])
        if relation == "~":
            exact = solution if left == _UNKNOWN else left[1] if left[0] == 0 else None
            if exact is None or right[0] != 0 or not (near(right[1], exact, claim.sides[i + 1]) or right[1] == exact):
                return "a rounded value that does not agree"
            values[i + 1] = (Fraction(0), exact)  # what follows is compared with the exact value
        elif line[0] == 0:
            if line[1] != 0 and not (solution is None and _follows(line, lines, stated)):
                return "it says that two different numbers are equal"
        elif solution is None or line[0] * solution + line[1] != 0:
            return "this equation has another solution"
        elif not (_follows(line, lines, stated) or {left, right} == {_UNKNOWN, (Fraction(0), solution)}):
            return "this equation does not follow from the one given"
        else:
            lines.append(line)
    return ""


def _follows(line: _Line, lines: Sequence[_Line], stated: Sequence[Fraction]) -> bool:
    """Whether left - right is that of an equation before it, up to sign, a stated factor, or reduction.

    All have the same solution, or none at all, so each is some multiple of each.
    """
    allowed = {Fraction(1), Fraction(-1)}
    for factor in stated[-4:]:
        allowed |= {known * factor for known in allowed} | {-known * factor for known in allowed}
    reduced = _reduced(line)
    for before in lines:
        pivot = 0 if before[0] else 1
        if not before[pivot]:
            continue
        if line[pivot] / before[pivot] in allowed or line in (reduced, (-reduced[0], -reduced[1])):
            return True
    return False


def _reduced(line: _Line) -> _Line:
    """The same equation with whole numbers without a common factor."""
    scale = line[0].denominator * line[1].denominator
    p, q = int(line[0] * scale), int(line[1] * scale)
    common = gcd(p, q) or 1
    return Fraction(p, common), Fraction(q, common)


def final_answer(reply: Reply, equation: Equation, text: str, language: str) -> tuple[bool, str]:
    """Whether the last assignment of the reply is the solution, exact or marked as rounded; with the reason if not."""
    solution = equation.solution
    for claim in reversed(reply.claims):
        side, rounded = _stated(claim)
        if side is None:
            continue
        value = _try(side)
        if value is None or solution is None or value[0]:
            return False, "its final answer is not a number"
        if denied(text, claim.start, claim.stop):
            return False, "it denies its final answer or asks for it"
        if more := changed_by_words(scan(text, equation.variable), claim.stop, language):
            return False, f"{more[:40]!r} beside its final answer may make it another one"
        if value[1] == solution or (rounded and near(value[1], solution, side)):
            return True, ""
        return False, f"its final answer is {value[1]}, not the solution"
    return False, "it states no value of the unknown"


def _stated(claim: Claim) -> tuple[Sum | None, bool]:
    """What a claim says the unknown is ("x = 5", "x = 10/2 = 5", a boxed 5), and whether that is marked as rounded."""
    if isinstance(claim, AnswerClaim):
        return claim.value, claim.rounded
    if isinstance(claim, EquationClaim):
        return _assigned(claim), "~" in claim.relations
    return None, False
