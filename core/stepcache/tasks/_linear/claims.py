"""Cutting a reply into claims: equations, operations, the answer, mentions of the unknown; and what is none of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from stepcache.tasks._linear.expressions import Sum, Unreadable, parse_sum
from stepcache.tasks._linear.phrases import ANSWER_WORDS, IS_WORDS, OPERAND_FILLERS, VERBS, Operation
from stepcache.tasks._linear.tokens import Token, tokenize

__all__ = ["AnswerClaim", "Claim", "EquationClaim", "Mention", "OperationClaim", "Reply", "UnknownClaim", "Word", "read_reply"]


@dataclass(frozen=True, slots=True)
class EquationClaim:
    """Two or more expressions said to be equal (or nearly so, where `relations` holds a "~")."""

    sides: tuple[Sum, ...]
    relations: tuple[Literal["=", "~"], ...]
    start: int
    stop: int
    latex: bool


@dataclass(frozen=True, slots=True)
class OperationClaim:
    """A stated operation with its operand; `verb` and `preposition` are the places that a change of sign rewords."""

    operation: Operation
    operand: Sum
    start: int
    stop: int
    latex: bool
    verb: Word
    preposition: Word | None = None


@dataclass(frozen=True, slots=True)
class AnswerClaim:
    """The value of the unknown, said without the unknown: a boxed 5, "the solution is 5"."""

    value: Sum
    start: int
    stop: int
    latex: bool


@dataclass(frozen=True, slots=True)
class Mention:
    """The unknown as a lone token in prose."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class UnknownClaim:
    """Mathematics that is not understood."""

    start: int
    stop: int
    why: str


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    stop: int
    written: str


Claim = EquationClaim | OperationClaim | AnswerClaim | Mention | UnknownClaim


@dataclass(frozen=True, slots=True)
class Reply:
    """The claims of a reply in their order, and the words around them."""

    claims: tuple[Claim, ...]
    words: tuple[Word, ...]


@dataclass(slots=True)
class _Run:
    tokens: list[Token]
    latex: bool


@dataclass(slots=True)
class _Gap:
    """Punctuation or the end of a line; `ends` tells whether a sentence ends here."""

    text: str
    ends: bool


_Item = Word | _Run | _Gap
_MATH = {"number", "+", "-", "*", "/", "=", "~", "<", "^", "|", "(", ")", "{", "}", "frac", "boxed", "over", "command"}
_TEXT_COMMANDS = {"\\text", "\\textbf", "\\mathrm", "\\mathbf", "\\textit", "\\mathit", "\\mbox", "\\textrm", "\\operatorname", "\\emph"}
_STEP_WORDS = {"step", "schritt", "paso", "étape", "etape", "steps", "第", "步骤", "الخطوة"}
_OPENING, _CLOSING = {"(", "{"}, {")", "}"}


@dataclass(slots=True)
class _Scanner:
    """Walks the tokens once, line by line, and groups them into words, runs of mathematics and gaps."""

    tokens: Sequence[Token]
    variable: str
    items: list[_Item] = field(default_factory=list)
    at: int = 0
    latex: bool = False
    display: bool = False
    line_start: bool = True

    def scan(self) -> list[_Item]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if self.line_start and not self.display and self._marker():
                continue
            self.line_start = self.line_start and token.kind in {"stress"}
            if token.kind == "newline":
                self.line_start = True
                if not self.display:
                    self.items.append(_Gap("\n", True))
                self.at += 1
            elif token.kind == "math":
                self._delimiter(token)
            elif token.kind == "command" and self._environment(token):
                continue
            elif token.kind == "word" and token.text != self.variable:
                written = token.text
                self.items.append(Word(written.lower().replace("’", "'"), token.start, token.stop, written))
                self.at += 1
                self._step_number()
            elif token.kind == "word" or token.kind in _MATH:
                self._run()
            elif token.kind in {"punctuation", "break", "arrow"}:
                self.items.append(_Gap(token.text, token.text in ".!?。！？؟" or token.kind != "punctuation"))
                self.at += 1
            elif token.kind == "stress":
                self.at += 1
            else:
                self.items.append(_Run([token], self.latex))
                self.at += 1
        return self.items

    def _peek(self, ahead: int = 0) -> Token | None:
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else None

    def _marker(self) -> bool:
        """Skip "1.", "2)", "3:", "-", at the start of a line."""
        token, following, third = self._peek(), self._peek(1), self._peek(2)
        if token is None or following is None:
            return False
        if token.kind in {"-", "+"} and following.spaced and following.kind != "newline":
            self.at += 1
            return True
        if (token.kind == "number" and token.text.isdigit() and len(token.text) < 3 and following.text in {".", ")", ":", "．", "、", "）"}
                and not following.spaced and third is not None and third.kind != "newline" and (third.spaced or third.kind == "stress")):
            self.at += 2
            self.items.append(_Gap(following.text, True))
            return True
        return False

    def _step_number(self) -> None:
        """Skip the number of "Step 2:" and of "from step 2"."""
        word, number = self.items[-1], self._peek()
        if isinstance(word, Word) and word.text in _STEP_WORDS and number is not None and number.kind == "number" and len(number.text) < 3:
            self.at += 1
            following = self._peek()
            if following is not None and following.text in {"-", "–", ".", ":", ")"}:
                self.at += 1
                self.items.append(_Gap(":", True))

    def _delimiter(self, token: Token) -> None:
        self.at += 1
        if token.text == "&":
            return
        if token.text in {"\\(", "\\["}:
            self.latex, self.display = True, token.text == "\\["
        elif token.text in {"\\)", "\\]"}:
            self.latex = self.display = False
        else:
            self.latex = not self.latex
            self.display = self.latex and token.text == "$$"
        self.items.append(_Gap(token.text, token.text in {"\\[", "\\]", "$$"}))

    def _environment(self, token: Token) -> bool:
        """Drop \\begin{...}, \\end{...}; keep what \\text{...} and its like hold."""
        if token.text.rstrip("*") in {"\\begin", "\\end"}:
            end = self.at + 1
            while end < len(self.tokens) and end < self.at + 5 and self.tokens[end].kind != "}":
                end += 1
            self.display = self.latex = token.text == "\\begin"
            self.items.append(_Gap(token.text, True))
            self.at = end + 1
            return True
        following = self._peek(1)
        if token.text in _TEXT_COMMANDS and following is not None and following.kind == "{":
            depth, end = 0, self.at + 1
            inner: list[Token] = []
            while end < len(self.tokens):
                kind = self.tokens[end].kind
                depth += (kind == "{") - (kind == "}")
                if depth == 0:
                    break
                if end > self.at + 1:
                    inner.append(self.tokens[end])
                end += 1
            nested = _Scanner(inner, self.variable, latex=self.latex, display=True, line_start=False)
            self.items.append(_Gap("\\text", False))
            self.items.extend(nested.scan())
            self.items.append(_Gap("\\text", False))
            self.at = end + 1
            return True
        return False

    def _run(self) -> None:
        taken: list[Token] = []
        while (token := self._peek()) is not None:
            if token.kind == "word" and token.text != self.variable:
                break
            if token.kind == "command" and token.text.rstrip("*") in {"\\begin", "\\end", *_TEXT_COMMANDS}:
                break
            if token.kind == "newline" and self.display:
                self.at += 1
                continue
            if token.text == "&":
                self.at += 1
                continue
            if token.kind not in _MATH and token.kind != "word":
                break
            taken.append(token)
            self.at += 1
        self.items.append(_Run(_trim(taken), self.latex))


def _trim(tokens: list[Token]) -> list[Token]:
    """Take off what prose leaves at the edges: operators without an operand, brackets without a partner."""
    start, stop = 0, len(tokens)
    while True:
        piece = tokens[start:stop]
        if not piece:
            return piece
        balance = sum((t.kind in _OPENING) - (t.kind in _CLOSING) for t in piece)
        if balance > 0 and piece[0].text in {"(", "（", "["}:
            start += 1
        elif balance < 0 and piece[-1].text in {")", "）", "]"}:
            stop -= 1
        elif piece[-1].kind in {"+", "-", "*", "/"} or (piece[-1].kind in _OPENING and balance > 0):
            stop -= 1
        elif piece[0].kind in {"*", "/"} or (piece[0].kind in _CLOSING and balance < 0):
            start += 1
        else:
            return piece


def read_reply(text: str, variable: str, decimal_comma: bool | None = None) -> Reply:
    """The claims of `text` about `variable`."""
    items = _Scanner(tokenize(text), variable).scan()
    claims: list[Claim] = []
    operands = _operations(items, variable, decimal_comma)
    for i, item in enumerate(items):
        if i in operands:
            claims.append(operands[i])
        elif isinstance(item, _Run) and item.tokens:
            claims.append(_claim(items, i, item, variable, decimal_comma))
    claims.sort(key=lambda claim: claim.start)
    return Reply(tuple(claims), tuple(item for item in items if isinstance(item, Word)))


def _claim(items: Sequence[_Item], i: int, run: _Run, variable: str, decimal_comma: bool | None) -> Claim:
    tokens = run.tokens
    start, stop = tokens[0].start, tokens[-1].stop
    boxed = tokens[0].kind == "boxed"
    if any(token.kind == "boxed" for token in tokens):
        if boxed and len(tokens) > 2 and tokens[1].kind == "{" and tokens[-1].kind == "}":
            tokens = tokens[2:-1]
        else:
            tokens = [token for token in tokens if token.kind != "boxed"]
            boxed = False
    if not tokens:
        return UnknownClaim(start, stop, "an empty box")
    bad = next((token for token in tokens if token.kind in {"<", "^", "|", "over", "other", "command"}), None)
    if bad is not None:
        return UnknownClaim(start, stop, f"{bad.text!r} is not understood")
    if len(tokens) == 1 and tokens[0].text == variable:
        return Mention(tokens[0].start, tokens[0].stop)
    cuts = [j for j, token in enumerate(tokens) if token.kind in {"=", "~"}]
    relations: list[Literal["=", "~"]] = ["=" if tokens[j].kind == "=" else "~" for j in cuts]
    bounds = [-1, *cuts, len(tokens)]
    try:
        sides = tuple(parse_sum(tokens[a + 1 : b], variable, decimal_comma) for a, b in zip(bounds, bounds[1:], strict=False))
    except Unreadable as reason:
        return UnknownClaim(start, stop, str(reason))
    if len(sides) > 1:
        return EquationClaim(sides, tuple(relations), start, stop, run.latex)
    if boxed or _answers(items, i, variable):
        return AnswerClaim(sides[0], start, stop, run.latex)
    return UnknownClaim(start, stop, "a number or term without a claim")


_BETWEEN = frozenset(
    "the of for to a this given original final equation variable unknown exact correct therefore so thus hence and x "
    "der die das von für gleichung variable endgültige la el de para ecuación final incógnita le pour l'équation finale inconnue "
    "方程 最终 最后 المعادلة النهائي".split()
)


def _answers(items: Sequence[_Item], i: int, variable: str) -> bool:
    """Whether the words before a lone number make it the answer: "the solution is 5", "x equals 5", "Answer: 5"."""
    says = colon = False
    for item in reversed(items[max(0, i - 14) : i]):
        if isinstance(item, Word):
            if item.text in ANSWER_WORDS:
                return says or colon
            if item.text in IS_WORDS:
                says = True
            elif item.text not in _BETWEEN:
                return False
        elif isinstance(item, _Run):
            if len(item.tokens) == 1 and item.tokens[0].text == variable:
                if says:
                    return True
            elif not any(token.kind == "=" for token in item.tokens):
                return False
        elif item.text in {":", "："}:
            colon = True
        elif item.ends and item.text not in {"\\[", "\n", "$$"}:
            return False
    return False


def _operations(items: Sequence[_Item], variable: str, decimal_comma: bool | None) -> dict[int, OperationClaim]:
    """The operation phrases, by the index of the item that is their operand."""
    found: dict[int, OperationClaim] = {}
    for i, item in enumerate(items):
        if not isinstance(item, Word) or item.text not in VERBS:
            continue
        operation = VERBS[item.text]
        at, by = i + 1, operation in {"subtract", "add"}
        while at < len(items) and at < i + 16:
            other = items[at]
            if isinstance(other, _Run) and other.tokens:
                alone = len(other.tokens) == 1 and other.tokens[0].text == variable
                if alone and at + 1 < len(items) and not by:
                    at += 1
                    continue
                if alone and by and isinstance(items[at - 1], Word) and items[at - 1].text in {"of", "with"}:  # type: ignore[union-attr]
                    at += 1
                    continue
                if operation in {"divide", "multiply"} and not _by(items, i, at):
                    break
                claim = _operation(items, item, operation, at, other, variable, decimal_comma)
                if claim is not None:
                    found[at] = claim
                break
            if isinstance(other, Word) and other.text not in OPERAND_FILLERS:
                break
            if isinstance(other, _Gap) and (other.ends or other.text not in {",", "$", "\\(", "\\)"}):
                break
            at += 1
    return found


def _by(items: Sequence[_Item], verb: int, operand: int) -> bool:
    """Whether "by" (or its like) stands between, so that the operand divides and is not divided."""
    word = items[verb]
    if isinstance(word, Word) and re.search(r"[\u4e00-\u9fff]", word.text):
        return True
    return any(isinstance(item, Word) and item.text in {"by", "durch", "mit", "entre", "por", "par", "على", "في"}
               for item in items[verb:operand])


def _operation(
    items: Sequence[_Item], verb: Word, operation: Operation, at: int, run: _Run, variable: str, decimal_comma: bool | None
) -> OperationClaim | None:
    if any(token.kind in {"=", "~", "boxed"} for token in run.tokens):
        return None
    try:
        operand = parse_sum(run.tokens, variable, decimal_comma)
    except Unreadable:
        return None
    preposition = None
    for item in items[at + 1 : at + 3]:
        if isinstance(item, Word):
            preposition = item
            break
        if isinstance(item, _Gap) and item.text in {"\\)", "$"}:
            continue
        break
    following = [item for item in items[at + 1 : at + 6] if isinstance(item, Word)]
    second = following[1].text if len(following) > 1 else ""
    if preposition is not None and preposition.text in {"from", "to", "von"} and operation in {"subtract", "add"}:
        after = next((other for other in items[at + 2 : at + 6] if not isinstance(other, _Gap)), None)
        if isinstance(after, _Run):
            return None  # "subtract 3 from 13" is arithmetic, not a step of the equation
        if second not in {"both", "each", "beiden", "the"}:
            preposition = None
    return OperationClaim(operation, operand, min(verb.start, operand.start), operand.stop, run.latex, verb, preposition)
