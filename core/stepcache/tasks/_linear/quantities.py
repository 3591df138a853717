"""Numbers that know where they come from: an exact value in several worlds at once, and the recipe for others.

A literal of a reply has a role (rewrite rule R3): a literal of the given equation, or what was computed from such. Two
roles with the same value are told apart by carrying every number through further worlds, in which the literals of the
given equation have other values; the recipe computes the number in a world not yet known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = ["ONE", "ZERO", "Quantity", "constant", "literal", "value_in"]

Recipe = int | str | tuple["Recipe", ...]  # a literal's index, a fixed number, or an operation with its operands


@dataclass(frozen=True, slots=True)
class Quantity:
    """`values` are its values in the worlds (one value stands for all); `recipe` tells how it comes about."""

    values: tuple[Fraction, ...]
    recipe: Any

    @property
    def value(self) -> Fraction:
        """The value in the world of the reply at hand."""
        return self.values[0]

    def same(self, other: Quantity) -> bool:
        """Whether both are the same number in every world, hence the same role."""
        a, b = _aligned(self.values, other.values)
        return a == b

    def __bool__(self) -> bool:
        return any(self.values)

    def __add__(self, other: Quantity) -> Quantity:
        if not other:
            return self
        return _combine("+", self, other) if self else other

    def __sub__(self, other: Quantity) -> Quantity:
        return self + -other

    def __mul__(self, other: Quantity) -> Quantity:
        if self.same(ONE):
            return other
        return self if other.same(ONE) else _combine("*", self, other)

    def __truediv__(self, other: Quantity) -> Quantity:
        return self if other.same(ONE) else _combine("/", self, other)

    def __neg__(self) -> Quantity:
        if isinstance(self.recipe, tuple) and self.recipe[0] == "~":
            return Quantity(tuple(-v for v in self.values), self.recipe[1])
        return Quantity(tuple(-v for v in self.values), ("~", self.recipe))


def _aligned(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Both with a value for every world; one that is the same everywhere is repeated."""
    if len(a) == len(b):
        return a, b
    return (a * len(b), b) if len(a) == 1 else (a, b * len(a))


def _apply(sign: str, a: Fraction, b: Fraction) -> Fraction:
    if sign == "+":
        return a + b
    return a * b if sign == "*" else a / b


def _combine(sign: str, a: Quantity, b: Quantity) -> Quantity:
    left, right = _aligned(a.values, b.values)
    return Quantity(tuple(_apply(sign, x, y) for x, y in zip(left, right, strict=True)), (sign, a.recipe, b.recipe))


def constant(value: Fraction | int) -> Quantity:
    """A number that is the same in every world."""
    return Quantity((Fraction(value),), str(value))


def literal(index: int, values: Sequence[Fraction]) -> Quantity:
    """The `index`-th literal of the given equation."""
    return Quantity(tuple(values), index)


ZERO, ONE = constant(0), constant(1)


def value_in(recipe: Any, literals: Sequence[Fraction]) -> Fraction:
    """The value of a recipe in the world where the given equation has these literals. Raises `ZeroDivisionError`.

    Recipes are stored as JSON, so lists are taken for tuples; a malformed one raises `ValueError`.
    """
    if isinstance(recipe, bool) or not isinstance(recipe, int | str | tuple | list):
        raise ValueError("not a recipe")
    if isinstance(recipe, int):
        if not 0 <= recipe < len(literals):
            raise ValueError("no such literal")
        return literals[recipe]
    if isinstance(recipe, str):
        return Fraction(recipe)
    if len(recipe) == 2 and recipe[0] == "~":
        return -value_in(recipe[1], literals)
    if len(recipe) == 3 and recipe[0] in {"+", "*", "/"}:
        return _apply(recipe[0], value_in(recipe[1], literals), value_in(recipe[2], literals))
    raise ValueError("not a recipe")
