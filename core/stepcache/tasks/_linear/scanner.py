"""Cutting a reply into words, runs of mathematics and the gaps between them. No claim is understood here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from stepcache.tasks._linear.tokens import Token, tokenize

__all__ = ["Gap", "Item", "Run", "Word", "scan"]


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    stop: int
    written: str


@dataclass(slots=True)
class Run:
    """Mathematics without a break; `called` if a name stands right before its bracket, as in f(x)."""

    tokens: list[Token]
    latex: bool
    called: bool = False


@dataclass(slots=True)
class Gap:
    """Punctuation or the end of a line; `ends` tells whether a sentence ends here."""

    text: str
    ends: bool


Item = Word | Run | Gap
_MATH = {"number", "+", "-", "*", "/", "=", "~", "<", "^", "|", "(", ")", "{", "}", "frac", "boxed", "over", "command"}
_TEXT_COMMANDS = {
    "\\text",
    "\\textbf",
    "\\mathrm",
    "\\mathbf",
    "\\textit",
    "\\mathit",
    "\\mbox",
    "\\textrm",
    "\\operatorname",
    "\\emph",
}
_STEP_WORDS = {"step", "schritt", "paso", "étape", "etape", "steps", "第", "步骤", "الخطوة"}
_OPENING, _CLOSING, _OPERATORS = {"(", "{"}, {")", "}"}, {"+", "-", "*", "/"}
_MOST_NESTED = 3


@dataclass(slots=True)
class _Scanner:
    """Walks the tokens once, line by line, and groups them into words, runs of mathematics and gaps."""

    tokens: Sequence[Token]
    variable: str
    items: list[Item] = field(default_factory=list)
    at: int = 0
    latex: bool = False
    display: bool = False
    line_start: bool = True
    nested: int = 0

    def scan(self) -> list[Item]:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if self.line_start and not self.display and self._marker():
                continue
            self.line_start = self.line_start and token.kind in {"stress"}
            if token.kind == "newline":
                self.line_start = True
                if not self.display:
                    self.items.append(Gap("\n", True))
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
                self._mathematics()
            elif token.kind in {"punctuation", "break", "arrow"}:
                self.items.append(Gap(token.text, token.text in ".!?。！？؟" or token.kind != "punctuation"))
                self.at += 1
            elif token.kind == "stress":
                self.at += 1
            else:
                self.items.append(Run([token], self.latex))
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
        if token.text == "(" and following.kind == "number" and len(following.text) < 3 and third and third.text == ")":
            fourth = self._peek(3)
            if fourth is not None and fourth.spaced and fourth.kind != "newline":
                self.at += 3
                return True
        if token.kind in {"-", "+"} and following.spaced and following.kind != "newline":
            self.at += 1
            return True
        if (
            token.kind == "number"
            and token.text.isdigit()
            and len(token.text) < 3
            and following.text in {".", ")", ":", "．", "、", "）"}
            and not following.spaced
            and third is not None
            and third.kind != "newline"
            and (third.spaced or third.kind == "stress")
        ):
            self.at += 2
            self.items.append(Gap(following.text, True))
            return True
        return False

    def _step_number(self) -> None:
        """Skip the number of "Step 2:" and of "from step 2"."""
        word, number = self.items[-1], self._peek()
        if (
            isinstance(word, Word)
            and word.text in _STEP_WORDS
            and number is not None
            and number.kind == "number"
            and len(number.text) < 3
        ):
            self.at += 1
            following = self._peek()
            if following is not None and following.text in {"-", "–", ".", ":", ")"}:
                self.at += 1
                self.items.append(Gap(":", True))

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
        self.items.append(Gap(token.text, token.text in {"\\[", "\\]", "$$"}))

    def _environment(self, token: Token) -> bool:
        """Drop \\begin{...}, \\end{...}; keep what \\text{...} and its like hold."""
        if token.text.rstrip("*") in {"\\begin", "\\end"}:
            end = self.at + 1
            while end < len(self.tokens) and end < self.at + 5 and self.tokens[end].kind != "}":
                end += 1
            self.display = self.latex = token.text == "\\begin"
            self.items.append(Gap(token.text, True))
            self.at = end + 1
            return True
        following = self._peek(1)
        if (
            token.text in _TEXT_COMMANDS
            and following is not None
            and following.kind == "{"
            and self.nested < _MOST_NESTED
        ):
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
            nested = _Scanner(inner, self.variable, [], 0, self.latex, True, False, self.nested + 1)
            self.items.append(Gap("\\text", False))
            self.items.extend(nested.scan())
            self.items.append(Gap("\\text", False))
            self.at = end + 1
            return True
        return False

    def _mathematics(self) -> None:
        taken: list[Token] = []
        while (token := self._peek()) is not None:
            if token.kind == "word" and token.text != self.variable:
                break
            if taken and token.kind == "command" and token.text.rstrip("*") in {"\\begin", "\\end", *_TEXT_COMMANDS}:
                break  # as the first token it is one that could not be read; it must not stop the walk
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
        called = bool(self.items) and isinstance(self.items[-1], Word) and taken[0].text == "(" and not taken[0].spaced
        run = taken if called else _trim(taken)  # f(x) = ...: no claim about x
        self.items.append(Run(run, self.latex, called))


def _trim(tokens: list[Token]) -> list[Token]:
    """Take off what prose leaves at the edges: operators without an operand, brackets without a partner."""
    start, stop = 0, len(tokens)
    balance = sum((t.kind in _OPENING) - (t.kind in _CLOSING) for t in tokens)
    while start < stop:
        first, last = tokens[start], tokens[stop - 1]
        if (first.kind == "(" and balance > 0) or (first.kind in _CLOSING and balance < 0) or first.kind in {"*", "/"}:
            start += 1
            balance -= (first.kind in _OPENING) - (first.kind in _CLOSING)
        elif (last.kind == ")" and balance < 0) or (last.kind in _OPENING and balance > 0) or last.kind in _OPERATORS:
            stop -= 1
            balance -= (last.kind in _OPENING) - (last.kind in _CLOSING)
        else:
            break
    return tokens[start:stop]


@lru_cache(maxsize=64)  # as `tokenize`
def scan(text: str, variable: str) -> tuple[Item, ...]:
    """The items of a reply, in order; list markers, stress and brackets without a partner are left out."""
    return tuple(_Scanner(tokenize(text), variable).scan())
