"""The linear equation task: one equation in one unknown, solved exactly, its replies verified claim by claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from stepcache._data import Entry, Request, Step, Verdict, stitch
from stepcache.tasks._linear import answers, facts
from stepcache.tasks._linear.claims import read_reply
from stepcache.tasks._linear.prompts import Reading, read_prompt
from stepcache.tasks._linear.wording import CANONICAL, DEMAND_WORDS, LANGUAGES
from stepcache.tasks._spec import Spec

if TYPE_CHECKING:
    from stepcache.protocols import Task

__all__ = ["LinearEquation", "linear_equation"]

_MAX_REPLY = 20_000  # no worked solution is longer; it bounds the time that an endless reply costs
_NUMBERED = re.compile(r"^[ \t>*#_]*(?:(?:step|schritt|paso|étape|第)\s*)?\d{1,2}\s*(?:[.):：、]|步|\*\*)", re.MULTILINE | re.IGNORECASE)


def linear_equation() -> Task:
    """A task that recognises prompts asking for the solution of one linear equation in one unknown, and nothing else."""
    return _recognise


def _recognise(request: Request) -> LinearEquation | None:
    reading = read_prompt(request.prompt)
    return None if reading is None else LinearEquation(reading)


@dataclass(frozen=True)
class LinearEquation(Spec):
    """What one equation demands of a reply: its exact solution, no false claim on the way, the form asked for."""

    reading: Reading = field(repr=False)
    kind: ClassVar[str] = "linear_equation"

    def __repr__(self) -> str:
        equation = self.reading.equation
        return f"LinearEquation({equation.text!r}, {equation.variable!r}, {self.residue!r})"

    @property
    def residue(self) -> str:
        """The language and the demands; two prompts that differ in the equation alone have the same."""
        words = [CANONICAL[self.reading.language], *(DEMAND_WORDS[name] for name in self.reading.demands)]
        return " ".join(words)

    @property
    def shape(self) -> str:
        """The equation's form, literals and their signs abstracted: "n*v+n=n"."""
        return self.reading.equation.form

    def check(self, text: str) -> Verdict:
        """Whether a whole reply ends in the exact solution, claims nothing false and keeps to the demands."""
        if len(text) > _MAX_REPLY:
            return Verdict(False, "equation", "the reply is far longer than a solution")
        unmet = self._unmet(text)
        if unmet:
            return Verdict(False, "demand", unmet)
        equation = self.reading.equation
        reply = read_reply(text, equation.variable, self._decimal_comma)
        wrong = facts.false_claim(reply, equation)
        if wrong is not None:
            return Verdict(False, "equation", wrong[1])
        if equation.solution is None:
            said = answers.says_all(text) if equation.always else answers.says_none(text)
            contrary = answers.says_none(text) if equation.always else answers.says_all(text)
            if said and not contrary:
                return Verdict(True, "equation")
            return Verdict(False, "equation", f"the answer should be: {answers.final_line(equation, 'en')}")
        if "value_only" in self.reading.demands and re.fullmatch(r"[\s$*]*[-−]?[\d./,]+[\s$*.]*", text):
            reply = read_reply(f"{equation.variable} = {text.strip(' $*.')}", equation.variable, self._decimal_comma)
        ok, reason = facts.final_answer(reply, equation)
        return Verdict(ok, "answer", reason)

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        """A verdict per step: the steps before the first false claim pass, that one and all after it fail."""
        text = stitch(list(steps))
        if len(text) > _MAX_REPLY:
            return (Verdict(False, "equation", "the reply is far longer than a solution"),) * len(steps)
        reply = read_reply(text, self.reading.equation.variable, self._decimal_comma)
        wrong = facts.false_claim(reply, self.reading.equation)
        if wrong is None:
            verdict = self.check(text)
            return tuple(Verdict(True) for _ in steps[:-1]) + (verdict,) if steps else ()
        verdicts, at = [], 0
        failed = ""
        for step in steps:
            at += len(step.text)
            if not failed and wrong[0] < at:
                failed = wrong[1]
                verdicts.append(Verdict(False, "equation", failed))
            else:
                verdicts.append(Verdict(not failed, "equation", "it depends on a failing step" if failed else ""))
        return tuple(verdicts)

    def fallback(self) -> str | None:
        """A short worked solution in the user's variable and language; its last line is the final assignment."""
        return answers.fallback(self.reading)

    @property
    def _decimal_comma(self) -> bool | None:
        wording = LANGUAGES.get(answers.answer_language(self.reading))
        return None if wording is None else wording.decimal_comma

    def _unmet(self, text: str) -> str:
        """The first demand that a reply does not meet, in words; empty if all are met."""
        demands, last = self.reading.demands, next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
        equation = self.reading.equation
        if not text.strip():
            return "it is empty"
        if "numbered" in demands and len(_NUMBERED.findall(text)) < 2 and equation.solution is not None:
            return "the steps are not numbered"
        if "in_latex" in demands and not re.search(r"\$|\\\(|\\\[|\\begin", text):
            return "it is not written in LaTeX"
        if {"value_only", "answer_only"} & set(demands) and "numbered" not in demands and len(text.strip().splitlines()) > 1:
            return "only the answer was asked for"
        if "end_form" in demands and equation.solution is not None and not re.fullmatch(
                rf"[\s*$\\(]*{re.escape(equation.variable)} ?= ?[-−]?[\d.,/]+[\s*$.\\)]*", last):
            return f"the last line is not of the form {equation.variable} = ..."
        return ""
