"""Plain text: the spec of every request that no other task accounts for, with or without demands on the reply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stepcache._data import Entry, PatchPlan, Request, Step, Verdict
from stepcache.errors import ConfigurationError
from stepcache.protocols import Task
from stepcache.tasks._count import asked_steps, numbered_steps
from stepcache.tasks._spec import Spec

if TYPE_CHECKING:
    from stepcache.tasks.demands import Demand

__all__ = ["PlainText", "plain_text"]

_THINKING = re.compile(r"\s*<(think|thinking|thought|reasoning|reflection|scratchpad)>.*?</\1>\s*", re.DOTALL | re.I)


@dataclass(frozen=True)
class PlainText(Spec):
    """The words of a reply: reused whole or not at all, never patched.

    Nothing of the prompt is accounted for, so the content gate compares all of it. Without demands there is nothing
    to enforce; with demands a fresh reply is checked and asked for again if it fails one. A recorded list with more or
    fewer numbered steps than the prompt's words ask for answers only its own request again.
    """

    prompt: str
    demands: tuple[Demand, ...] = ()
    kind: ClassVar[str] = "text"

    @property
    def residue(self) -> str:
        return self.prompt

    @property
    def enforced(self) -> bool:
        return bool(self.demands)

    def check(self, text: str) -> Verdict:
        answer = _without_thinking(text)
        if not answer.strip():
            return Verdict(False, "text", "the reply is empty")
        if not self.demands:
            return Verdict(True, "text")
        from stepcache.tasks.demands import and_

        verdict = and_(*self.demands).check(answer)
        return Verdict(verdict.ok, verdict.check or "text", verdict.detail)

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        asked = asked_steps(self.prompt) if cached is not None else None
        if asked is not None:
            found = numbered_steps(_without_thinking("".join(step.text for step in steps)))
            if found is not None and found != asked:
                said = f"the recorded list has {found} steps where {asked} are asked for"
                return (Verdict(False, "steps", said),) * len(steps)
        if not self.demands:
            return (Verdict(True, "text"),) * len(steps)
        return super().verify(steps, cached)

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        return None


def plain_text(
    *,
    max_words: int | None = None,
    min_words: int | None = None,
    max_sentences: int | None = None,
    min_sentences: int | None = None,
    max_lines: int | None = None,
    must_contain: str | Iterable[str] = (),
    must_not_contain: str | Iterable[str] = (),
    format: str | None = None,
    language: str | None = None,
    matches: str | None = None,
    demands: Iterable[Demand] = (),
) -> Task:
    """A task whose spec takes any request as plain text and enforces the given demands.

    `must_contain` looks for whole words or phrases, `must_not_contain` for these and their plurals, both in any case.
    `format` is one of `stepcache.tasks.demands.FORMATS`, `language` an ISO 639-1 code, `matches` a regular expression
    searched with a time limit, `demands` any further ones. Raises `ConfigurationError` for a demand that can't hold.
    """
    given = (max_words, min_words, max_sentences, min_sentences, max_lines, format, language, matches)
    asked: tuple[Demand, ...] = ()
    if (must_contain, must_not_contain, demands) != ((), (), ()) or any(each is not None for each in given):
        asked = _demands(max_words, min_words, max_sentences, min_sentences, max_lines, must_contain, must_not_contain,
                         format, language, matches, demands)

    def recognise(request: Request) -> Spec | None:
        return PlainText(request.prompt, asked)

    return recognise


def _demands(
    max_words: int | None, min_words: int | None, max_sentences: int | None, min_sentences: int | None,
    max_lines: int | None, must_contain: str | Iterable[str], must_not_contain: str | Iterable[str],
    format: str | None, language: str | None, matches: str | None, demands: Iterable[Demand],
) -> tuple[Demand, ...]:
    from stepcache.tasks.demands import (  # their patterns are large; most requests demand nothing
        FORMATS,
        Demand,
        Lacks,
        Language,
        Lines,
        Matches,
        Mentions,
        Sentences,
        Words,
    )

    made: list[Demand] = []
    if max_words is not None or min_words is not None:
        made.append(Words(at_least=min_words, at_most=max_words))
    if max_sentences is not None or min_sentences is not None:
        made.append(Sentences(at_least=min_sentences, at_most=max_sentences))
    if max_lines is not None:
        made.append(Lines(at_most=max_lines))
    if wanted := _phrases(must_contain):
        made.append(Mentions(wanted))
    if unwanted := _phrases(must_not_contain):
        made.append(Lacks(unwanted))
    if format is not None:
        name = re.sub(r"[\W_]+", "_", format.casefold())  # "yes/no" and "one word" are understood
        if name not in FORMATS:
            raise ConfigurationError(f"plain_text(format=) takes one of {', '.join(FORMATS)}, not {format!r}")
        made.append(FORMATS[name]())
    if language is not None:
        made.append(Language(language))
    if matches is not None:
        made.append(Matches(matches))
    for demand in demands:
        if not isinstance(demand, Demand):
            raise ConfigurationError(f"plain_text(demands=) takes demands such as Words(at_most=50), not {demand!r}")
        made.append(demand)
    return tuple(made)


def _phrases(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _without_thinking(text: str) -> str:
    """The reply proper. Demands are about what the user reads, not about a thinking block before it."""
    if "</" not in text[:1_000_000]:
        return text
    thinking = _THINKING.match(text)
    return text[thinking.end():] if thinking else text
