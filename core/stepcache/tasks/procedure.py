"""How-to lists: the cached steps serve the same request "without X", "with Y instead of X" or "for N people" (opt-in).

The steps that such a change touches, and those that lean on them, are written again by the model, in one call; all
other steps stay byte for byte, also those between. The paper's first example, made real.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from stepcache._data import Entry, PatchPlan, Request, Step, Verdict
from stepcache._marker import Mark, read_mark
from stepcache.protocols import Task
from stepcache.tasks._procedure.links import bears_amount, refers_back, scalable
from stepcache.tasks._procedure.mentions import mentions, named, names_with, plain_mention, referred, shows
from stepcache.tasks._procedure.modifiers import Change, Modifiers, read_modifiers
from stepcache.tasks._procedure.splice import cut, placed
from stepcache.tasks._spec import Spec
from stepcache.tasks.demands import detect_language

__all__ = ["Procedure", "procedure"]

_MAX_REPLY = 50_000  # a longer reply is no list that a person follows
_PEOPLE = "people"
_HOW_TO = re.compile(
    r"\bhow\s+(?:do|can|could|should|would|to|does|might)\b|\b(?:steps?|instructions?|directions|recipe|guide|tutorial|"
    r"itinerary|checklist|procedure|walk\s+me\s+through)\b|\b(?:plan|organi[sz]e|prepare|cook|bake|make|build|assemble|"
    r"install|set\s+up|book|apply|pack)\s+(?:me\s+)?(?:an?|the|my|our)\b|"
    r"\bwie\s+(?:man|kann|soll|\w+e\s+ich|\w+t\s+man|\w+en\s+wir)\b|"
    r"\b(?:Anleitung|Rezept|Schritte?n?|Schritt\s+für\s+Schritt|Reiseplan|Checkliste|Ablauf)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_SERVES = re.compile(
    r"\b(?:serves|servings?:?|for|für|ergibt|portionen:?)\s+(\d{1,4})(?=\s+(?:people|persons?|servings?|guests?|personen|"
    r"portionen|leute|gäste)\b|\s*(?:[.)]|$))", re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinePlan(PatchPlan):
    """A plan for single steps of its region; `places` are their indexes in the reply."""

    places: tuple[int, ...]

    @property
    def rewritten(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class Procedure(Spec):
    """A how-to request: its base, and the changes it asks for.

    The base is what the content gate compares. A recorded request may ask for fewer changes than the new one, never
    for others. A change that no recorded step names can't be judged here, so it is left to the model.
    """

    prompt: str
    wanted: Modifiers
    kind: ClassVar[str] = "procedure"

    @property
    def residue(self) -> str:
        return self.wanted.base

    @property
    def enforced(self) -> bool:
        return bool(self.wanted)

    def check(self, text: str) -> Verdict:
        if not text.strip():
            return Verdict(False, self.kind, "the reply is empty")
        if not self.wanted:
            return Verdict(True, self.kind)
        if len(text) > _MAX_REPLY:
            return Verdict(False, self.kind, f"the reply is too long for a list of steps ({len(text)} characters)")
        for change in self.wanted.changes:
            names = names_with(self.wanted.base, change.without, change.language)
            if said := plain_mention(text, change.without, change.instead, change.language, names):
                return Verdict(False, "absent", f"it mentions {said!r}, but the request is {change}")
            if change.instead and not shows(text, change.instead, change.language):
                return Verdict(False, "present", f"it lacks {change.instead!r}, but the request is {change}")
        people = self.wanted.people
        if people is not None and (others := [n for n in _SERVES.findall(text) if int(n) != people]):
            return Verdict(False, "people", f"it is for {others[0]}, but the request is for {people} people")
        return _numbering(self.segment(text))

    def check_repair(self, text: str, cached: Entry) -> Verdict:
        """Also: no step that could have stayed is gone. A model asked twice tends to repeat only what it was asked."""
        verdict = self.check(text)
        judged = zip(cached.steps, self.verify(cached.steps, cached), strict=True)
        kept = sum(_is_item(step) for step, at in judged if at.ok)
        if verdict.ok and sum(map(_is_item, self.segment(text))) < kept:
            return Verdict(False, "steps", f"it has fewer than the {kept} steps that could have stayed")
        return verdict

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        if cached is None:
            return super().verify(steps)
        had = read_modifiers(cached.request.prompt)
        new, refusal = self._difference(had)
        if refusal or (not new and self.wanted.people == had.people):
            return (Verdict(not refusal, self.kind, refusal),) * len(steps)
        if sum(len(step.text) for step in steps) > _MAX_REPLY or sum(map(_is_item, steps)) < 2:
            return (Verdict(False, self.kind, "the recorded reply is no list of steps"),) * len(steps)
        touched = [self._touched(step, new, had.people) for step in steps]
        for change in (*map(str, new), *(() if self.wanted.people == had.people else (_PEOPLE,))):
            if not any(change in reasons for reasons in touched):
                what = f"what the change {change!r} touches" if change != _PEOPLE else "an amount"
                return (Verdict(False, self.kind, f"no recorded step names {what}"),) * len(steps)
        verdicts = [Verdict(not reasons, self.kind, "; ".join(reasons.values())) for reasons in touched]
        return tuple(_with_dependents(steps, verdicts))

    def _difference(self, had: Modifiers) -> tuple[tuple[Change, ...], str]:
        """The changes the recorded reply has not been made for yet, or why it can't serve at all."""
        if missing := [change for change in had.changes if change not in self.wanted.changes]:
            return (), f"the recorded request is {missing[0]}, this one is not"
        if had.people is not None and self.wanted.people is None:
            return (), f"the recorded request is for {had.people} people, this one does not say so"
        return tuple(change for change in self.wanted.changes if change not in had.changes), ""

    def _touched(self, step: Step, new: tuple[Change, ...], people: int | None) -> dict[str, str]:
        """Why a step must change, by the change that it is for; empty where it may stay."""
        text = _content(step)
        reasons = {
            str(change): f"it names {word!r}, but the request is {change}" for change in new
            if (word := mentions(text, change.without, change.instead, change.language)
                or referred(text, change.without, change.instead, change.language))
        }
        if self.wanted.people != people and bears_amount(text):
            reasons[_PEOPLE] = f"it says how much, but the request is for {self.wanted.people} people"
        return reasons

    def failing_share(self, steps: Sequence[Step], verdicts: Sequence[Verdict]) -> float:
        """The share of the steps (0 to 1) that fail; the passing ones between them stay."""
        return len(_failing(verdicts)) / len(steps) if steps else 1.0

    def region(self, verdicts: Sequence[Verdict]) -> tuple[int, int]:
        failing = _failing(verdicts)
        return (failing[0], failing[-1] + 1) if failing else (len(verdicts), len(verdicts))

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        failing = _failing(verdicts)
        old = [steps[place] for place in failing]
        if not old or len(old) == len(steps) or not any(map(_is_item, old)):
            return None
        asked = tuple(mark.text for step in old if (mark := _mark(step)) is not None)
        return _LinePlan(
            prompt=self._patch_prompt(prompt, old), region=self.region(verdicts), asked=asked, places=tuple(failing))

    def _patch_prompt(self, prompt: str, old: Sequence[Step]) -> str:
        """What is done, the steps to write anew, the rules.

        Of the request itself no more than the question: told its form ("eight steps"), a model writes all of it again.
        """
        german = self._german(prompt)
        demands = _demands_in_german(self.wanted) if german else _demands_in_english(self.wanted)
        if never := " / ".join(map(repr, self._named_in(old))):
            demands.append(f"Schreibe nie {never}." if german else f"Never write {never}.")
        frame = (_frame_in_german if german else _frame_in_english)(len(old) == 1)
        listed = "\n".join(step.text.strip() for step in old)
        return f"{_question(self.wanted.base)}\n\n{listed}\n\n{' '.join([frame, *demands])}"

    def _german(self, prompt: str) -> bool:
        return any(change.language == "de" for change in self.wanted.changes) or detect_language(prompt) == "de"

    def _named_in(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """The words of the things to leave out, in the forms that these steps have them in."""
        found: dict[str, None] = {}
        for change in self.wanted.changes:
            if not change.instead:
                said = [mentions(_content(step), change.without, "", change.language) for step in steps]
                found |= dict.fromkeys(word.casefold() for word in (change.without, *said) if word)
        return tuple(found)

    def apply_patch(self, steps: tuple[Step, ...], plan: PatchPlan, reply: str) -> tuple[Step, ...] | None:
        """Put each new step in the place of its old one, under the old marker, every other byte untouched."""
        if not isinstance(plan, _LinePlan):
            return None
        old = [steps[place] for place in plan.places]
        new = placed(old, cut(reply))
        if new is None:
            return None
        written = "".join(step.text for step in new)
        if any(named(written, change.without, change.instead, change.language) for change in self.wanted.changes):
            return None
        if self.wanted.people is not None and any(
            scalable(_content(before)) and scalable(_content(before)) == scalable(_content(after))
            for before, after in zip(old, new, strict=True)
        ):
            return None  # amounts for another number of people were copied
        patched = list(steps)
        for place, step in zip(plan.places, new, strict=True):
            patched[place] = step
        return tuple(patched)

    def repair_prompt(self, prompt: str, reply: str, verdict: Verdict) -> str:
        """Ask for the whole again. The failing text is not shown: of a few steps a model makes a few steps."""
        demands = (_demands_in_german if self._german(prompt) else _demands_in_english)(self.wanted)
        return f"{prompt.rstrip()}\n\n{' '.join(demands)}"


def procedure() -> Task:
    """A task for how-to requests in English and German; not among the default tasks.

    Given as `spec=`, it takes every request for a procedure; among `tasks`, those that ask how something is done.
    """

    def recognise(request: Request) -> Spec | None:
        given = request.spec if request.spec is not None else request.control.spec
        if given is not recognise and _HOW_TO.search(request.prompt[:_MAX_REPLY]) is None:
            return None
        return Procedure(request.prompt, read_modifiers(request.prompt))

    return recognise


def _question(base: str) -> str:
    """The sentence that asks how something is done; the whole request where none is told apart."""
    sentences = _SENTENCE_END.split(base.strip())
    return next((sentence for sentence in sentences if _HOW_TO.search(sentence)), base.strip())


def _demands_in_english(wanted: Modifiers) -> list[str]:
    return [
        *(f"Use {change.instead} instead of {change.without}." if change.instead else
          f"Leave out {change.without} and use something else." for change in wanted.changes),
        *(() if wanted.people is None else (f"Adapt every amount to {wanted.people} people.",)),
    ]


def _demands_in_german(wanted: Modifiers) -> list[str]:
    return [
        *(f"Nimm {change.instead} statt {change.without}." if change.instead else
          f"Lass {change.without} weg und nimm etwas anderes." for change in wanted.changes),
        *(() if wanted.people is None else (f"Passe alle Mengen an {wanted.people} Personen an.",)),
    ]


def _frame_in_english(one: bool) -> str:
    return f"Rewrite only {'this step' if one else 'these steps'}, with the same {'number' if one else 'numbers'}."


def _frame_in_german(one: bool) -> str:
    steps, numbers = ("diesen Schritt", "derselben Nummer") if one else ("diese Schritte", "denselben Nummern")
    return f"Schreibe nur {steps} um, mit {numbers}."


def _failing(verdicts: Sequence[Verdict]) -> list[int]:
    return [place for place, verdict in enumerate(verdicts) if not verdict.ok]


def _mark(step: Step) -> Mark | None:
    blank = len(step.text) - len(step.text.lstrip("\r\n"))
    return read_mark(step.text, blank)


def _is_item(step: Step) -> bool:
    return _mark(step) is not None


def _content(step: Step) -> str:
    """The text of a step after its marker."""
    mark = _mark(step)
    return step.text if mark is None else step.text[mark.end:]


def _with_dependents(steps: Sequence[Step], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Fail the steps that lean on a failing one, and those that lean on them."""
    judged: list[Verdict] = []
    numbers: list[int | None] = []
    for place, (step, verdict) in enumerate(zip(steps, verdicts, strict=True)):
        if verdict.ok and refers_back(_content(step), numbers, place > 0 and not judged[-1].ok):
            verdict = Verdict(False, verdict.check, "it leans on a step that changes")
        if not verdict.ok:
            mark = _mark(step)
            numbers.append(None if mark is None else mark.value)
        judged.append(verdict)
    return judged


def _numbering(steps: Sequence[Step]) -> Verdict:
    """Whether each series of numbers counts up by one (or is all ones, as Markdown allows) and the first begins it."""
    last: dict[str, int] = {}
    for step in steps:
        mark = _mark(step)
        if mark is None or mark.value is None:
            continue
        before = last.get(mark.style)
        if not last and mark.value > 1:
            return Verdict(False, "numbering", f"it begins with step {mark.text}")
        if before is not None and mark.value not in (1, before + 1):
            return Verdict(False, "numbering", f"step {mark.text} follows number {before}")
        last[mark.style] = mark.value
    return Verdict(True, "procedure")
