"""Reading a prompt: the one equation and its unknown, the language, the demands; or nothing at all.

A prompt is read only if all of it is understood (design §4): the equation, harmless wording, known demands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

from stepcache.tasks._linear.expressions import Sum, Unreadable, form, has_variable, parse_sum, plain_value
from stepcache.tasks._linear.languages import LANGUAGES
from stepcache.tasks._linear.tokens import Token, plain_characters, tokenize
from stepcache.tasks._linear.wording import Wording

__all__ = ["Equation", "Reading", "read_any_prompt", "read_equation", "read_prompt"]

_MAX_PROMPT = 2_000
_FORBIDDEN = {"<", "~", "^", "|", "other", "arrow", "boxed", "command", "over", "break"}
_MATH = {"number", "+", "-", "*", "/", "=", "(", ")", "{", "}", "frac"}
_ANSWER_FORM = re.compile(
    r"(?<![\w+*/^)-])([^\W\d]\w*) ?= ?"
    r"(?:<[^<>=\n]{1,20}>|\[[^\W\d][^\[\]=\n\d]{0,20}\]|\{[^\W\d][^{}=\n\d]{2,20}\}|\.\.\.|…|\?|_{1,5}(?!\w))"
)
_LIST_MARKER = re.compile(r"^[^\S\n]*(?:\d{1,2}[.)]|[-*•])[^\S\n]+(?=[^\W\d_]{2})", re.MULTILINE)
_MARK = "\u241e"  # stands for an answer form while tokens are cut; a prompt that holds it is refused


@dataclass(frozen=True)
class Equation:
    """Two linear sides in one variable, with the text they were read from."""

    left: Sum
    right: Sum
    variable: str
    text: str

    def __hash__(self) -> int:
        """Of the text alone: equal equations have equal ones, and trees of fractions take long to hash."""
        return hash((self.text, self.variable))

    @cached_property
    def form(self) -> str:
        return f"{form(self.left)}={form(self.right)}"

    @cached_property
    def difference(self) -> tuple[Fraction, Fraction]:
        """(p, q) of left - right = p v + q."""
        a, b = plain_value(self.left)
        c, d = plain_value(self.right)
        return a - c, b - d

    @cached_property
    def solution(self) -> Fraction | None:
        """The one solution, or None (see `always` and `never`)."""
        p, q = self.difference
        return -q / p if p else None

    @property
    def always(self) -> bool:
        """Every number solves it."""
        return self.difference == (Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a prompt says: equation, language ("" if it has no words), demands in canonical order.

    `rest` is the wording of a prompt whose words were not read, since the spec was asked for explicitly.
    """

    equation: Equation
    language: str
    demands: tuple[str, ...] = ()
    rest: str = ""


def read_equation(tokens: Sequence[Token], text: str, variable: str, decimal_comma: bool | None) -> Equation | None:
    """The equation these tokens are, one "=" among them, with places relative to their own text, or None."""
    own = tokenize(text[tokens[0].start : tokens[-1].stop])
    middle = next((i for i, token in enumerate(own) if token.kind == "="), len(own))
    try:
        left = parse_sum(own[:middle], variable, decimal_comma)
        right = parse_sum(own[middle + 1 :], variable, decimal_comma)
        equation = Equation(left, right, variable, text[tokens[0].start : tokens[-1].stop])
        equation.difference  # noqa: B018 (refuses what is not linear)
    except Unreadable:
        return None
    return equation if has_variable(left) or has_variable(right) else None


@lru_cache(maxsize=512)
def read_prompt(prompt: str) -> Reading | None:
    """What the prompt asks, or None where it is not wholly understood as one linear equation to be solved."""
    if len(prompt) > _MAX_PROMPT or _MARK in prompt:
        return None
    forms: list[str] = []

    def keep(found: re.Match[str]) -> str:
        forms.append(found.group(1))
        return f" {_MARK} "

    text = _ANSWER_FORM.sub(keep, _LIST_MARKER.sub("", plain_characters(prompt)))
    tokens = tokenize(text)
    if any(token.kind in _FORBIDDEN and token.text != _MARK for token in tokens):
        return None
    equals = [i for i, token in enumerate(tokens) if token.kind == "="]
    if len(equals) != 1:
        return None
    readings = {}
    for start, stop in _candidates(tokens, equals[0]):
        names = {token.text for token in tokens[start:stop] if token.kind == "word"}
        if len(names) != 1 or any(name not in names for name in forms) or _torn(tokens, start, stop):
            continue
        reading = _read(tokens, start, stop, text, names.pop())
        if reading is not None:
            readings[reading.equation.text] = reading
    return next(iter(readings.values())) if len(readings) == 1 else None


@lru_cache(maxsize=512)
def read_any_prompt(prompt: str) -> Reading | None:
    """The one equation of a prompt whatever its words, for a spec asked for explicitly; the words stay as `rest`."""
    if len(prompt) > _MAX_PROMPT:
        return None
    text = plain_characters(prompt)
    tokens = tokenize(text)
    equals = [i for i, token in enumerate(tokens) if token.kind == "="]
    if len(equals) != 1:
        return None
    for start, stop in _candidates(tokens, equals[0]):
        names = {token.text for token in tokens[start:stop] if token.kind == "word"}
        around = {tokens[i].kind for i in (start - 1, stop) if 0 <= i < len(tokens)}
        if len(names) != 1 or around & (_FORBIDDEN | _MATH) or _torn(tokens, start, stop):
            continue  # what touches it belongs to it, and is no linear expression
        variable = names.pop()
        equation = read_equation(tokens[start:stop], text, variable, None)
        if equation is not None:
            marks = [(t.start, t.stop, "«variable»") for t in (*tokens[:start], *tokens[stop:]) if t.text == variable]
            marks.append((tokens[start].start, tokens[stop - 1].stop, "«equation»"))
            rest, at = "", 0
            for begin, end, mark in sorted(marks):
                rest, at = rest + text[at:begin] + mark, end
            return Reading(equation, "", rest=rest + text[at:])
    return None


def _candidates(tokens: Sequence[Token], equals: int) -> Iterator[tuple[int, int]]:
    """Half-open ranges that may be the equation: letters at its ends may be words ("for x 2x = 6", "= 6 y explica")."""
    counts: dict[str, int] = {}
    for token in tokens:
        counts[token.text] = counts.get(token.text, 0) + (token.kind == "word")

    def belongs(i: int) -> bool:
        token = tokens[i]
        if token.kind != "word":
            return token.kind in _MATH
        letter = re.sub(r"_.*|[\u2080-\u2089]+", "", token.text)
        return len(letter) == 1 or (
            letter.isascii() and len(letter) > 2 and counts[token.text] > 1 and _joined(tokens, i)
        )

    start, stop = equals, equals + 1
    while start > 0 and belongs(start - 1):
        start -= 1
    while stop < len(tokens) and belongs(stop):
        stop += 1
    for first in range(start, min(start + 3, equals)):
        if first > start and not (tokens[first - 1].kind == "word" and _begins(tokens, first)):
            break
        for last in range(stop, max(stop - 3, equals + 1), -1):
            if last < stop and not (
                tokens[last].kind == "word"
                and tokens[last].spaced
                and last + 1 < len(tokens)
                and tokens[last + 1].kind == "word"
            ):
                break
            if tokens[first].text == "(" and tokens[last - 1].text == ")" and _loose(tokens[first:equals]):
                yield first + 1, last - 1
            yield first, last


def _torn(tokens: Sequence[Token], start: int, stop: int) -> bool:
    """Whether a range is no whole expression: it ends at a point of "x.x = 4", a factorial, or holds "+-"."""

    def joins(i: int) -> bool:
        sides = tokens[i - 1 : i + 2]
        return (
            len(sides) == 3
            and sides[1].text in {".", "'"}
            and not (sides[1].spaced or sides[2].spaced)
            and sides[0].kind in {"word", "number", ")"}
            and sides[2].kind in {"word", "number", "("}
        )

    factorial = stop < len(tokens) and tokens[stop].text == "!" and not tokens[stop].spaced
    doubled = any(
        {one.kind, other.kind} <= {"+", "-"} and not other.spaced
        for one, other in pairwise(tokens[start:stop])
    )  # "+-" is "plus or minus" as often as a sign
    return factorial or doubled or (start > 1 and joins(start - 1)) or joins(stop)


def _begins(tokens: Sequence[Token], i: int) -> bool:
    """Whether an equation may begin here, after a letter that is a word: "for x -x = 4", but not "x - y = 4"."""
    sign = tokens[i].kind == "-" and not tokens[i + 1].spaced
    return tokens[i].spaced and (sign or tokens[i].kind in {"number", "word", "(", "frac"})


def _joined(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word stands in arithmetic: beside an operator or right after a number."""
    before = tokens[i - 1].kind if i else ""
    after = tokens[i + 1].kind if i + 1 < len(tokens) else ""
    return before in {"*", "+", "-", "number"} or after in {"*", "+", "-", "/", "="}


def _loose(tokens: Sequence[Token]) -> bool:
    """Whether more brackets open than close here."""
    return sum((token.text == "(") - (token.text == ")") for token in tokens) == 1


def _read(tokens: Sequence[Token], start: int, stop: int, text: str, variable: str) -> Reading | None:
    skeleton = _skeleton(tokens, start, stop, variable)
    if skeleton is None:
        return None
    if not re.search(r"\w", skeleton.replace("E", "", 1)):
        equation = read_equation(tokens[start:stop], text, variable, None)
        return None if equation is None else Reading(equation, "", ())
    for language, wording in LANGUAGES.items():
        demands = _understand(skeleton.replace(" ", "") if language == "zh" else skeleton, wording)
        if demands is not None:
            equation = read_equation(tokens[start:stop], text, variable, wording.decimal_comma)
            return None if equation is None else Reading(equation, language, demands)
    return None


def _skeleton(tokens: Sequence[Token], start: int, stop: int, variable: str) -> str | None:
    """The wording with E, V and A for equation, variable and answer form; None if it holds other mathematics."""
    parts: list[str] = []
    for i, token in enumerate(tokens):
        if i == start:
            parts.append(" E")
        bracketed = (
            i in {start - 1, stop}
            and start > 0
            and stop < len(tokens)
            and tokens[start - 1].text + tokens[stop].text == "()"
        )
        if start <= i < stop or bracketed or token.kind in {"math", "stress"}:
            continue
        if token.text == _MARK:
            parts.append(" A")
        elif token.kind == "word":
            word = "V" if token.text == variable else token.text.lower().replace("’", "'")
            parts.append(
                (" " if token.spaced or i == stop or (parts and parts[-1] in {" V", "V"}) or word == "V" else "") + word
            )
        elif token.kind in {"punctuation", "newline"}:
            parts.append(
                {
                    "\n": " ",
                    "،": ",",
                    "؛": ";",
                    "؟": "?",
                    "。": ".",
                    "，": ",",
                    "：": ":",
                    "；": ";",
                    "！": "!",
                    "？": "?",
                }.get(token.text, token.text if token.text in ".,:;!?" else " ")
            )
        elif token.kind == "-" and i + 1 < len(tokens) and tokens[i + 1].kind == "word":
            parts.append("-")
        else:
            return None
    skeleton = re.sub(r" *([.,:;!?]) *", r"\1 ", "".join(parts)).strip()
    return re.sub(r" +", " ", skeleton)


def _understand(skeleton: str, wording: Wording) -> tuple[str, ...] | None:
    """The demands of a skeleton that the table explains wholly, or None."""
    for core in wording.cores:
        found = core.search(skeleton)
        if found is None:
            continue
        before, after = _demands(skeleton[: found.start()], wording), _demands(skeleton[found.end() :], wording)
        if before is not None and after is not None:
            named = {*before, *after}
            if "numbered" in named:
                named.discard("steps")  # "show the steps as a numbered list" asks for one thing
            bare = found.group().endswith("E") and not re.search(r"[^\W\d_]{2,}", found.group())
            if bare and (before or named & {"explain", "with_check"}):
                continue  # "Explain 2x = 6" does not ask for its solution
            return tuple(name for name, _ in wording.demands if name in named)
    return None


def _demands(text: str, wording: Wording) -> tuple[str, ...] | None:
    """The demands that a piece of wording without the equation consists of, or None if anything is left over."""
    found = []
    at = 0
    while at < len(text):
        best: tuple[int, str] = (0, "")
        for name, pattern in wording.demands:
            match = pattern.match(text, at)
            if match is not None and match.end() > max(best[0], at):
                best = (match.end(), name)
        filler = wording.fillers.match(text, at)
        if filler is not None and filler.end() > max(best[0], at):
            best = (filler.end(), "")
        if best[0] <= at:
            return None
        at = best[0]
        if best[1]:
            found.append(best[1])
    return tuple(found)
