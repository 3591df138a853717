"""The linear equation task: one equation in one unknown, solved exactly, its replies verified claim by claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from stepcache._data import Entry, Request, Step, Verdict, stitch
from stepcache.tasks._linear import answers, facts
from stepcache.tasks._linear.around import in_numerals, other_answer
from stepcache.tasks._linear.chain import explain
from stepcache.tasks._linear.claims import Reply, read_items, read_reply
from stepcache.tasks._linear.languages import decimal_comma_of
from stepcache.tasks._linear.prompts import Reading, read_any_prompt, read_prompt
from stepcache.tasks._linear.rewriting import rewrite_text, same_equation, signed_alone, trace_of, turned
from stepcache.tasks._linear.scanner import scan
from stepcache.tasks._linear.spoken import false_in_words
from stepcache.tasks._linear.vocabulary import unknown_word
from stepcache.tasks._linear.wording import CANONICAL, DEMAND_WORDS
from stepcache.tasks._spec import Spec

if TYPE_CHECKING:
    from stepcache.protocols import Task

__all__ = ["LinearEquation", "linear_equation"]

_MAX_REPLY = 20_000  # no worked solution is longer; it bounds the time that an endless reply costs
_NUMBERED = re.compile(
    r"^[ \t>*#_]*(?:(?:step|schritt|paso|étape|第)\s*)?\d{1,2}\s*(?:[.):：、]|步|\*\*)", re.MULTILINE | re.IGNORECASE
)


def linear_equation() -> Task:
    """A task that recognises prompts asking for the solution of one linear equation in one unknown, nothing else."""
    return _recognise


def _recognise(request: Request) -> LinearEquation | None:
    """The spec of a prompt that asks for just that; of any prompt with one equation if the task is given explicitly."""
    reading = read_prompt(request.prompt)
    if reading is None and _recognise in (request.spec, request.control.spec):
        reading = read_any_prompt(request.prompt)
    return None if reading is None else LinearEquation(reading)


@dataclass(frozen=True)
class LinearEquation(Spec):
    """What one equation demands of a reply: its exact solution, no false claim on the way, the form asked for.

    A rounded number passes only where the reply marks it (≈, "about") and it agrees in the digits that it states. A
    fresh reply whose mathematics is not wholly understood passes if its answer is right and nothing in it is shown to
    be false; steps of another request are kept only as far as each claim follows from the one before (`verify`).
    """

    reading: Reading = field(repr=False)
    # One request checks the same few replies several times on its way.
    checked: dict[str, Verdict] = field(default_factory=dict, init=False, repr=False, compare=False)
    proved: set[str] = field(default_factory=set, init=False, repr=False, compare=False)  # explained wholly (R5)
    kind: ClassVar[str] = "linear_equation"

    def __repr__(self) -> str:
        equation = self.reading.equation
        return f"LinearEquation({equation.text!r}, {equation.variable!r}, {self.residue!r})"

    @property
    def residue(self) -> str:
        """The language and the demands; two prompts that differ in the equation alone have the same."""
        if self.reading.rest:
            return self.reading.rest
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
        if text not in self.checked:
            self.checked[text] = self._checked(text)
        return self.checked[text]

    def _checked(self, text: str) -> Verdict:
        unmet = self._unmet(text)
        if unmet:
            return Verdict(False, "demand", unmet)
        equation = self.reading.equation
        reply = self._read(text)
        wrong = facts.false_claim(reply, equation)
        if wrong is not None:
            return Verdict(False, "equation", wrong[1])
        if equation.solution is not None and answers.says_none(text):
            return Verdict(False, "answer", "it says that there is no solution")
        if equation.solution is None:
            said = answers.says_all(text) if equation.always else answers.says_none(text)
            contrary = answers.says_none(text) if equation.always else answers.says_all(text)
            if said and not contrary:
                return Verdict(True, "equation")
            return Verdict(False, "equation", f"the answer should be: {answers.final_line(equation, 'en')}")
        failure = None if text in self.proved else explain(reply, equation, probes=False).failure
        if failure is not None and failure.false:
            return Verdict(False, "equation", failure.why)
        items = scan(text, equation.variable)
        spelled = in_numerals(items, self._language)
        comma = decimal_comma_of(self._language)
        if false_in_words(spelled, equation.variable, equation.solution, comma) is not None:
            return Verdict(False, "equation", "a sum in words is wrong")
        if other := other_answer(items, spelled, equation.variable, equation.solution):
            return Verdict(False, "answer", f"in words it says that the answer is {other}")
        if spelled != items:
            failure = explain(read_items(spelled, text, equation.variable, comma), equation, probes=False).failure
            if failure is not None and failure.false:
                return Verdict(False, "equation", failure.why)
        ok, reason = facts.final_answer(reply, equation, text, self._language)
        return Verdict(ok, "answer", reason)

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        """A verdict per step: what stands before the first claim that does not follow passes, the rest fails.

        A reply to the very same equation need only be right. One to another equation must be explained wholly as a
        chain of states (rewrite rules R1, R2): its equations, its arithmetic, its operations, its words.
        """
        if not steps:
            return ()
        text = stitch(list(steps))
        whole = self.check(text)
        if whole.ok and self._same_equation(cached):
            return (whole,) * len(steps)
        if len(text) > _MAX_REPLY or whole.check == "demand":
            return (whole,) * len(steps)
        doubt = self._first_doubt(text, cached)
        if doubt is None:
            return (*(Verdict(True, "equation") for _ in steps[:-1]), whole)
        return self._verdicts(steps, *doubt)

    def refutes(self, cached: Entry) -> bool:
        """Its final answer is not the solution."""
        equation, text = self.reading.equation, cached.reply
        if equation.solution is None or len(text) > _MAX_REPLY:
            return False
        return not facts.final_answer(self._read(text), equation, text, self._language)[0]

    def _first_doubt(self, text: str, cached: Entry | None) -> tuple[int, str] | None:
        """The place and reason of the first thing that is false, does not follow or is not understood."""
        equation = self.reading.equation
        reply = self._read(text)
        doubts = []
        if (wrong := facts.false_claim(reply, equation)) is not None:
            doubts.append(wrong)
        if (word := unknown_word(reply.words, self._language)) is not None:
            doubts.append((word.start, f"{word.written[:40]!r} may not hold for this equation"))
        if equation.solution is not None and text not in self.proved:
            explained = explain(reply, equation, probes=False)
            if explained.failure is not None:
                doubts.append((explained.failure.start, explained.failure.why))
            word = next(signed_alone(reply, explained.operations), None)
            if word is not None and cached is not None and self._turned(cached):
                doubts.append((word.start, f"{word.written[:40]!r} may not hold for this equation"))
        return min(doubts) if doubts else None

    def _turned(self, cached: Entry) -> bool:
        """Whether what a word for an operation speaks of may have another sign than in the equation of an entry."""
        old, new = self._reading_of(cached), self.reading.equation
        return old is None or old.equation.form != new.form or turned(old.equation, new)

    @staticmethod
    def _verdicts(steps: Sequence[Step], place: int, why: str) -> tuple[Verdict, ...]:
        verdicts: list[Verdict] = []
        at = 0
        for step in steps:
            at += len(step.text)
            if place >= at:
                verdicts.append(Verdict(True, "equation"))
            elif not verdicts or verdicts[-1].ok:
                verdicts.append(Verdict(False, "equation", why))
            else:
                verdicts.append(Verdict(False, "equation", "it depends on a failing step"))
        return tuple(verdicts)

    def _same_equation(self, cached: Entry | None) -> bool:
        old = None if cached is None else self._reading_of(cached)
        return old is not None and same_equation(old.equation, self.reading.equation)

    def _reading_of(self, cached: Entry) -> Reading | None:
        """What the prompt of an entry asks, read as this request's prompt was."""
        return (read_any_prompt if self.reading.rest else read_prompt)(cached.request.prompt)

    def trace(self, text: str) -> str:
        """The explained reply: where its literals stand and what each is, so that a hit need not explain it again."""
        if len(text) > _MAX_REPLY or self.reading.equation.solution is None:
            return ""
        return trace_of(text, self.reading.equation, self._language)

    def rewrite(self, steps: tuple[Step, ...], cached: Entry) -> tuple[Step, ...] | None:
        """The recorded reply with all its states computed anew for this equation, proved from scratch, or None."""
        old = self._reading_of(cached)
        text = stitch(steps)
        if old is None or len(text) > _MAX_REPLY or answers.answer_language(old) != self._language:
            return None
        trace = cached.trace if text == cached.reply else ""
        new = rewrite_text(text, trace, old.equation, self.reading.equation, self._language)
        if new is None:
            return None
        self.proved.add(new)
        if not self.check(new).ok:
            return None
        return self.segment(new)

    def hint(self, steps: Sequence[Step], region: tuple[int, int]) -> str:
        """The state that the kept steps reach, where the equation goes from there, and the expected result."""
        equation = self.reading.equation
        expected = answers.final_line(equation, "en")
        if equation.solution is None:
            return f"so far: {equation.text}; expected answer: {expected}"
        kept = self._read(stitch(list(steps[: region[0]])))
        reached = explain(kept, equation, probes=False).states
        so_far, then = answers.states_text(equation, reached[-1][1] if reached else None)
        return "; ".join([f"so far: {so_far}", *(f"then {state}" for state in then), f"expected {expected}"])

    def fallback(self) -> str | None:
        """A short worked solution in the user's variable and language; its last line is the final assignment."""
        return answers.fallback(self.reading)

    @property
    def _language(self) -> str:
        return answers.answer_language(self.reading)

    def _read(self, text: str) -> Reply:
        return read_reply(text, self.reading.equation.variable, decimal_comma_of(self._language))

    def _unmet(self, text: str) -> str:
        """The first demand that a reply does not meet, in words; empty if all are met."""
        if not text.strip():
            return "it is empty"
        demands, equation = self.reading.demands, self.reading.equation
        lines = text.strip().splitlines()
        if "numbered" in demands and len(_NUMBERED.findall(text)) < 2 and equation.solution is not None:
            return "the steps are not numbered"
        if "in_latex" in demands and not re.search(r"\$|\\\(|\\\[|\\begin", text):
            return "it is not written in LaTeX"
        if {"value_only", "answer_only"} & set(demands) and "numbered" not in demands and len(lines) > 1:
            return "only the answer was asked for"
        ending = rf"[\s*$\\(]*{re.escape(equation.variable)} ?= ?[-−]?[\d.,/]+[\s*$.\\)]*"
        if "end_form" in demands and equation.solution is not None and not re.fullmatch(ending, lines[-1]):
            return f"the last line is not of the form {equation.variable} = ..."
        return ""
