"""The gate itself: language, rules, what is remembered. What a single rule wants stands in `rules`."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stepcache._gate import rules
from stepcache._gate.languages import guess
from stepcache._gate.parse import Parsed, parse
from stepcache._gate.unify import plain, squash
from stepcache._gate.verdict import Differs, Same, excerpt

__all__ = ["MAX_CHARS", "canonical", "gate"]

MAX_CHARS: Final = 32_768  # longer texts are the same only if they are equal but for white space and end punctuation
_REMEMBERED: Final = 4_096  # texts up to this many characters are remembered in their parsed form
_SAME: Final = Same()


def gate(cached: str, new: str) -> Same | Differs:
    """Say whether both prompts ask for the same thing; anything unexplained is a difference."""
    if cached == new:
        return _SAME
    if max(len(cached), len(new)) > MAX_CHARS:
        return _SAME if squash(cached) == squash(new) else Differs("size", excerpt(cached), excerpt(new))
    ours, theirs = plain(cached), plain(new)
    one, other = _language(ours), _language(theirs)
    if one != other and "?" not in (one, other):
        one = other = one if other == "" else other if one == "" else "differs"
    if one == other == "differs":
        return Differs("language", excerpt(cached), excerpt(new))
    name = one if one == other and one != "?" else ""
    return _compare(_parsed(ours, name), _parsed(theirs, name))


def _compare(cached: Parsed, new: Parsed) -> Same | Differs:
    pair = rules.pair(cached, new)
    for rule in rules.RULES:
        found = rule(pair)
        if found is not None:
            return found
    return _SAME


def canonical(text: str) -> str:
    """A normal form: texts with equal normal form are found without embedding. It nominates; the gate decides."""
    if len(text) > MAX_CHARS:
        return squash(text)
    unified = plain(text)
    name = _language(unified)
    return _parsed(unified, "" if name == "?" else name).canonical


@lru_cache(maxsize=1024)
def _remembered_language(text: str) -> str:
    return guess(text)


def _language(text: str) -> str:
    return _remembered_language(text) if len(text) <= _REMEMBERED else guess(text)


@lru_cache(maxsize=1024)
def _remembered(text: str, name: str) -> Parsed:
    return parse(text, name)


def _parsed(text: str, name: str) -> Parsed:
    return _remembered(text, name) if len(text) <= _REMEMBERED else parse(text, name)
