"""What ties a step to numbers and to the steps before it; English and German."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["amounts", "bears_amount", "refers_back", "scalable"]

_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|half|halves|halved|quarter|third|double|twice|"
    "couple|pair|several|single|both|each|every|"
    "zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dutzend|halbe?[nrsm]?|viertel|drittel|doppelte?[nrsm]?|"
    "zweimal|paar|mehrere|beiden?|jede[nrsm]?"
)
_AMOUNT = re.compile(
    rf"(?<![^\W_])(?:\d[\d.,/]*(?:\s*[-–x×]\s*\d[\d.,/]*)?(?:\s?[^\W\d_]{{1,4}}\b)?|[¼½¾⅓⅔⅛]|(?:{_NUMBER_WORDS}))"
    rf"(?![^\W_])",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"\d[\d.,]*(?:\s*(?:[-–]|to|bis)\s*\d[\d.,]*)?\s*[-–]?\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|degrees?|"
    r"sekunden?|minuten?|stunden?|std|tagen?|grad|°|%)", re.IGNORECASE,
)
_STEP_NUMBER = re.compile(
    r"\b(?:steps?|schritte?n?s?)\s+(\d{1,3})(?:\s*(?:and|to|und|bis|[-–,])\s*(\d{1,3}))?", re.IGNORECASE
)
# "a cup of", "an egg": one of something, unless it is a place or a manner ("in a bowl", "bring to a boil").
_ONE = re.compile(r"(?<![^\W_])(?:an?|eine?[nmrs]?)\s+((?:[^\W\d_]+\s+){0,2}?[^\W\d_-]+)", re.IGNORECASE)
_BEFORE_PLACE = re.compile(
    r"(?:in|into|onto|on|to|with|until|over|for|as|at|using|by|under|through|per|from|like|such|than|auf|mit|bis|zu|als|"
    r"unter|über|bei|durch|aus|für)\s*$", re.IGNORECASE,
)
_TOOLS = frozenset(re.findall(
    r"\S+",
    "pan pot bowl skillet saucepan oven tray sheet dish plate whisk spoon fork knife blender mixer towel lid rack wok "
    "boil simmer bit while time list plan look moment minute break note photo copy form account place hole pfanne topf "
    "schüssel backblech blech form auflaufform teller löffel mixer messer weile moment liste minute",
))
_PRONOUN = re.compile(
    r"(?<![^\W_])(?:it|them|this|these|those|es|sie|ihn|diese[nmrs]?|dies|damit|dazu|darauf|darin|davon|darunter|daraus)"
    r"(?![^\W_])"
)
_MIXTURE = re.compile(
    r"(?<![^\W_])(?:(?:the|this|that|your)\s+(?:(?:\w+\s+)?(?:mixture|mix|blend|paste|result)|above|rest\s+of\s+it)|"
    r"(?:the\s+)?(?:previous|preceding|last)\s+step|(?:die|der|diese[rn]?|zur)\s+(?:\w+)?(?:mischung|masse)|"
    r"(?:vorherigen?|vorige[nr]?|letzten?)\s+schritte?s?)(?![^\W_])",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def amounts(text: str) -> tuple[str, ...]:
    """The numbers in a text, written in digits or words, as they stand, but for the numbers of steps."""
    return tuple(found.group().casefold() for found in _AMOUNT.finditer(_STEP_NUMBER.sub(" ", text)))


def scalable(text: str) -> tuple[str, ...]:
    """The amounts that grow with the number of people: no times, no temperatures."""
    return amounts(_STILL.sub(" ", text))


def bears_amount(text: str) -> bool:
    """Whether a step says how much or how many, so that it may be wrong for another number of people."""
    if amounts(text):
        return True
    for found in _ONE.finditer(text):
        words = found[1].casefold().split()
        if not _BEFORE_PLACE.search(text[max(0, found.start() - 12):found.start()]) and not _TOOLS & set(words):
            return True
    return False


def refers_back(text: str, failing: Collection[int | None], after_failing: bool) -> bool:
    """Whether a step leans on a failing one: by its number, as "the mixture", or by a pronoun right after it.

    The pronoun counts in the first sentence only; it may mean something else, but that can't be told.
    """
    if not failing:
        return False
    for found in _STEP_NUMBER.finditer(text):
        first, last = int(found[1]), int(found[2] or found[1])
        if any(value is not None and first <= value <= last for value in failing):
            return True
    if _MIXTURE.search(text):
        return True
    sentence = _SENTENCE.search(text)
    return after_failing and _PRONOUN.search(text[:sentence.end()] if sentence else text) is not None
