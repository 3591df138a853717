"""Linear expressions in one variable: their tree with places in the text, their exact value, their form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, Protocol, Self, TypeVar

from stepcache.tasks._linear.tokens import Token, number_of

__all__ = [
    "Group",
    "Negative",
    "Node",
    "Number",
    "Product",
    "Quotient",
    "Sum",
    "Term",
    "Unreadable",
    "Variable",
    "form",
    "has_variable",
    "leading_number",
    "linear",
    "numbers",
    "parse_sum",
    "plain_value",
]

_MAX_DEPTH = 16
_MAX_TOKENS = 400


class Unreadable(ValueError):
    """The tokens are no linear expression; the message says why."""


@dataclass(frozen=True, slots=True)
class Number:
    """A numeral without a sign."""

    value: Fraction
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Variable:
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Negative:
    """A minus that is no sign of a term of a sum, as in 3 * -2."""

    body: Node
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Term:
    """One signed term of a sum; `mark` is the place of its written sign, None for a first term without one."""

    sign: Literal[1, -1]
    mark: tuple[int, int] | None
    body: Node


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Term, ...]
    start: int
    stop: int
    value: list[tuple[Fraction, Fraction]] = field(default_factory=list, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """A bracketed sum."""

    inner: Sum
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    top: Node
    bottom: Node
    latex: bool
    start: int
    stop: int


Node = Number | Variable | Negative | Sum | Group | Product | Quotient


class _Field(Protocol):
    """What the value of an expression is computed in: exact numbers, or numbers that know their origin."""

    def __add__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __truediv__(self, other: Self, /) -> Self: ...
    def __neg__(self) -> Self: ...
    def __bool__(self) -> bool: ...


F = TypeVar("F", bound=_Field)


class _Parser:
    """Recursive descent; bounded in depth and length, so that hostile input ends early."""

    def __init__(self, tokens: Sequence[Token], variable: str, decimal_comma: bool | None) -> None:
        if len(tokens) > _MAX_TOKENS:
            raise Unreadable("too long")
        self._tokens = tokens
        self._variable = variable
        self._decimal_comma = decimal_comma
        self._at = 0
        self._depth = 0

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> Token:
        if self._at >= len(self._tokens):
            raise Unreadable("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def whole(self) -> Sum:
        found = self._sum()
        if self._at != len(self._tokens):
            raise Unreadable("more than one expression")
        return found

    def _sum(self) -> Sum:
        first = self._peek()
        if first is None:
            raise Unreadable("an empty side")
        terms: list[Term] = []
        while True:
            token = self._peek()
            sign: Literal[1, -1] = 1
            mark = None
            if token is not None and token.kind in {"+", "-"}:
                self._take()
                sign = -1 if token.kind == "-" else 1
                mark = (token.start, token.stop)
            elif terms:
                break
            terms.append(Term(sign, mark, self._product()))
        last = self._tokens[self._at - 1]
        return Sum(tuple(terms), first.start, last.stop)

    def _product(self) -> Node:
        start = self._at
        factors = [self._factor()]
        sloped = False  # after a/b an implied factor would be ambiguous: 1/2x is (1/2)x to some, 1/(2x) to others
        while (token := self._peek()) is not None:
            if token.kind == "*":
                self._take()
                factors.append(self._factor())
                sloped = False
            elif token.kind == "/":
                self._take()
                bottom = self._factor()
                top = factors[0] if len(factors) == 1 else Product(tuple(factors))
                factors = [Quotient(top, bottom, False, self._tokens[start].start, self._tokens[self._at - 1].stop)]
                sloped = True
            elif token.kind in {"number", "word", "(", "{", "frac"}:
                before = factors[-1]
                if sloped or token.kind == "number" or (token.kind == "word" and isinstance(before, Variable)):
                    raise Unreadable("two factors side by side that could be read in more than one way")
                if token.kind == "frac" and isinstance(before, Number):
                    raise Unreadable("a mixed number")
                factors.append(self._factor())
            else:
                break
        return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def _factor(self) -> Node:
        token = self._take()
        if token.kind == "-":
            following = self._peek()
            if following is None or following.kind in {"-", "+"}:
                raise Unreadable("signs in a row")
            return Negative(self._factor(), token.start, self._tokens[self._at - 1].stop)
        if token.kind == "number":
            value = number_of(token.text, self._decimal_comma)
            if value is None:
                raise Unreadable("a numeral that can be read in more than one way")
            node: Node = Number(value, token.start, token.stop)
        elif token.kind == "word":
            if token.text != self._variable:
                raise Unreadable("another name")
            node = Variable(token.start, token.stop)
        elif token.kind in {"(", "{"}:
            node = self._bracket(token)
        elif token.kind == "frac":
            top, bottom = self._braced(), self._braced()
            node = Quotient(top, bottom, True, token.start, self._tokens[self._at - 1].stop)
        else:
            raise Unreadable("no operand")
        following = self._peek()
        if following is not None and following.kind == "^":
            raise Unreadable("a power")
        return node

    def _bracket(self, opening: Token) -> Group:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unreadable("too deep")
        inner = self._sum()
        closing = self._take()
        pairs = {"(": ")", "{": "}", "[": "]", "（": "）", "［": "］", "【": "】", "\\lbrace": "\\rbrace"}
        if pairs.get(opening.text) != closing.text:
            raise Unreadable("brackets do not match")
        self._depth -= 1
        return Group(inner, opening.start, closing.stop)

    def _braced(self) -> Node:
        opening = self._take()
        if opening.kind != "{":
            raise Unreadable("a fraction without braces")
        return self._bracket(opening).inner


def parse_sum(tokens: Sequence[Token], variable: str, decimal_comma: bool | None = None) -> Sum:
    """The tree of an expression in `variable` (an empty name: none is allowed). Raises `Unreadable`."""
    return _Parser(tokens, variable, decimal_comma).whole()


def has_variable(node: Node) -> bool:
    match node:
        case Number():
            return False
        case Variable():
            return True
        case Negative(body):
            return has_variable(body)
        case Group(inner):
            return has_variable(inner)
        case Sum(terms):
            return any(has_variable(term.body) for term in terms)
        case Product(factors):
            return any(map(has_variable, factors))
        case _:
            return has_variable(node.top) or has_variable(node.bottom)


def numbers(node: Node) -> Iterator[Number]:
    """The numerals of a tree, in the order of the text."""
    match node:
        case Number():
            yield node
        case Variable():
            return
        case Negative(body):
            yield from numbers(body)
        case Group(inner):
            yield from numbers(inner)
        case Sum(terms):
            for term in terms:
                yield from numbers(term.body)
        case Product(factors):
            for factor in factors:
                yield from numbers(factor)
        case _:
            yield from numbers(node.top)
            yield from numbers(node.bottom)


def linear(node: Node, value_of: Callable[[Number], F], zero: F, one: F) -> tuple[F, F]:
    """The value of a tree as (coefficient, constant). Raises `Unreadable` where it is not linear."""
    match node:
        case Number():
            return zero, value_of(node)
        case Variable():
            return one, zero
        case Negative(body):
            a, b = linear(body, value_of, zero, one)
            return -a, -b
        case Group(inner):
            return linear(inner, value_of, zero, one)
        case Sum(terms):
            total_a, total_b = zero, zero
            for term in terms:
                a, b = linear(term.body, value_of, zero, one)
                if term.sign == -1:
                    a, b = -a, -b
                total_a = total_a + a if a else total_a
                total_b = total_b + b if b else total_b
            return total_a, total_b
        case Product(factors):
            result = linear(factors[0], value_of, zero, one)
            seen = has_variable(factors[0])
            for factor in factors[1:]:
                varies = has_variable(factor)
                if seen and varies:
                    raise Unreadable("a product of unknowns")
                a, b = linear(factor, value_of, zero, one)
                result = (a * result[1], b * result[1]) if varies else (result[0] * b, result[1] * b)
                seen = seen or varies
            return result
        case _:
            if has_variable(node.bottom):
                raise Unreadable("an unknown in a denominator")
            divisor = linear(node.bottom, value_of, zero, one)[1]
            if not divisor:
                raise Unreadable("a division by zero")
            a, b = linear(node.top, value_of, zero, one)
            return a / divisor, b / divisor


_ZERO, _ONE = Fraction(0), Fraction(1)


def plain_value(node: Node) -> tuple[Fraction, Fraction]:
    """The exact (coefficient, constant) of a tree. Raises `Unreadable` where it is not linear."""
    match node:
        case Number(value):
            return _ZERO, value
        case Variable():
            return _ONE, _ZERO
        case Sum():  # a reply's sides are asked for their value many times
            if not node.value:
                node.value.append(linear(node, _value_of, _ZERO, _ONE))
            return node.value[0]
        case _:
            return linear(node, _value_of, _ZERO, _ONE)


def _value_of(number: Number) -> Fraction:
    return number.value


def form(node: Node, factor: bool = False) -> str:
    """The tree with its literals and signs abstracted, "n*v+n"; a factor 0 or 1 stays, since it changes the steps.

    A minus that belongs to a number is abstracted with it; a minus before anything else (-v, -(v+n)) is form.
    """
    match node:
        case Number(value):
            return str(value) if factor and value in (0, 1) else "n"
        case Variable():
            return "v"
        case Negative(body):
            return "~" + form(body, factor)
        case Group(inner):
            return f"({form(inner)})"
        case Sum(terms):
            parts = []
            for i, term in enumerate(terms):
                fixed = term.sign == -1 and leading_number(term.body) is None
                parts.append(("-" if fixed else "+" if i else "") + form(term.body))
            return "".join(parts)
        case Product(factors):
            return "*".join(form(part, factor=True) for part in factors)
        case _:
            inside = f"{form(node.top, factor=True)}/{form(node.bottom, factor=True)}"
            return f"[{inside}]" if node.latex else inside


def leading_number(node: Node) -> Number | None:
    """The numeral that a sign before `node` belongs to: its first factor, where that is a numeral."""
    match node:
        case Number():
            return node
        case Product(factors):
            return leading_number(factors[0])
        case Quotient(top, _, False):
            return leading_number(top)
        case _:
            return None
