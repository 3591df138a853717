"""The gate itself: language, rules, what is remembered. What a single rule wants stands in `rules`."""

from __future__ import annotations

from functools import lru_cache
from itertools import zip_longest
from typing import Final

from stepcache._gate import rules
from stepcache._gate.docstrings import TORN, Around, docstring, loosely_equal
from stepcache._gate.languages import guess, plausible
from stepcache._gate.layout import Layout, lay_out
from stepcache._gate.parse import Parsed, parse, parse_plainly
from stepcache._gate.tables import LANGUAGES
from stepcache._gate.unify import plain, squash
from stepcache._gate.verdict import Differs, Same, excerpt

__all__ = ["MAX_CHARS", "canonical", "gate", "template_form"]

MAX_CHARS: Final = 16_384  # longer texts are the same only if they are equal but for white space and end punctuation
_REMEMBERED: Final = 2_048  # texts up to this many characters are remembered in their parsed form
_SAME: Final = Same()


def gate(cached: str, new: str, freely: bool = True) -> Same | Differs:
    """Say whether both prompts ask for the same thing; anything unexplained is a difference.

    `freely`: docstrings may be worded freely, for whoever asks weighs their words.
    """
    if cached == new:
        return _SAME
    if max(len(cached), len(new)) > MAX_CHARS:
        return _SAME if squash(cached) == squash(new) else Differs("size", excerpt(cached), excerpt(new))
    ours, theirs = plain(cached), plain(new)
    plan, other_plan = lay_out(ours), lay_out(theirs)
    if plan is not None and other_plan is not None:
        return _compare_code(plan, other_plan, freely)
    return _compare_prose(ours, theirs)


def _compare_code(cached: Layout, new: Layout, freely: bool) -> Same | Differs:
    """Prompts that hold functions: equal code, then equal prose, then docstrings by the code rule.

    Where more is asked than to complete the function, its examples don't pin the answer down.
    """
    freely = freely and not (cached.prose or new.prose)
    if cached.code != new.code or len(cached.docs) != len(new.docs):
        ours, theirs = _first_difference(cached.code, new.code)
        what = "identifier" if cached.functions != new.functions else "code"
        return Differs(what, excerpt(ours), excerpt(theirs))
    verdict = _compare_prose(cached.prose, new.prose)
    for ours, theirs in zip(cached.docs, new.docs, strict=True):
        if not verdict:
            break
        verdict = _compare_docs(ours, theirs, cached, freely)
    return verdict


def _compare_docs(cached: str, new: str, layout: Layout, freely: bool) -> Same | Differs:
    ours, theirs = docstring(cached, layout.functions), docstring(new, layout.functions)
    if ours.doctests != theirs.doctests:
        cached, new = next((a, b) for a, b in zip_longest(ours.doctests, theirs.doctests, fillvalue="") if a != b)
        return Differs("code", excerpt(cached), excerpt(new))
    if (
        ours.letters == theirs.letters
        and (ours.digits == theirs.digits or abs(ours.torn - theirs.torn) >= TORN)
        and (ours.quotes == theirs.quotes or ours.unquoted != theirs.unquoted)
    ):
        return _SAME  # only spaces went astray, and not just in a literal
    if ours.letters.casefold() == theirs.letters.casefold() and (ours.jumbled or theirs.jumbled):
        return _SAME  # only case went astray
    if ours.prose > theirs.prose:  # one order for either direction, so that the verdict is symmetric
        turned = _compare_docs(new, cached, layout, freely)
        return Differs(turned.what, turned.new, turned.cached) if isinstance(turned, Differs) else turned
    guessed = _language(ours.prose)
    name = guessed if guessed in LANGUAGES else "en"
    pinned = freely and (ours.examples or theirs.examples)  # literals are compared anyway
    around = Around(layout.functions, layout.identifiers, pinned)
    found = loosely_equal(parse_plainly(ours.prose, name), parse_plainly(theirs.prose, name), around)
    return _SAME if found is None else found  # a Differs is falsy


def _first_difference(ours: tuple[tuple[int, str], ...], theirs: tuple[tuple[int, str], ...]) -> tuple[str, str]:
    for one, other in zip_longest(ours, theirs, fillvalue=(0, "")):
        if one != other:
            return one[1], other[1]
    return "", ""


def _compare_prose(ours: str, theirs: str) -> Same | Differs:
    one, other = _languages(ours, theirs)
    if one != other and one in LANGUAGES and other in LANGUAGES:
        return Differs("language", excerpt(ours), excerpt(theirs))
    name = one if one == other and one in LANGUAGES else ""
    return _compare(_parsed(ours, name), _parsed(theirs, name))


def _languages(ours: str, theirs: str) -> tuple[str, str]:
    """The languages of both texts; a text that leaves it open follows the other."""
    one, other = _language(ours), _language(theirs)
    if one not in LANGUAGES and other in LANGUAGES and (one == "" or plausible(ours, other)):
        one = other
    elif other not in LANGUAGES and one in LANGUAGES and (other == "" or plausible(theirs, one)):
        other = one
    return one, other


def _compare(cached: Parsed, new: Parsed) -> Same | Differs:
    if not cached.keys and not new.keys and _bare(cached.text) != _bare(new.text):
        return Differs("word", excerpt(cached.text), excerpt(new.text))  # mere politeness: it is all that is said
    pair = rules.pair(cached, new)
    for rule in rules.RULES:
        found = rule(pair)
        if found is not None:
            return found
    return _SAME


def _bare(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(filter(str.isalnum, text.casefold()))


def canonical(text: str) -> str:
    """A normal form: texts that say the same with other politeness, inflection and layout share it."""
    return squash(text) if len(text) > MAX_CHARS else _canonical(plain(text))


def template_form(text: str) -> str:
    """What template keys are made of: texts that share it are found without embedding, and the gate decides.

    It is the normal form; of a prompt that holds functions, that of their code and of the prose around them, since
    docstrings may be worded with slips and gaps.
    """
    if len(text) > MAX_CHARS:
        return squash(text)
    unified = plain(text)
    plan = lay_out(unified)
    if plan is None:
        return _canonical(unified)
    code = "\n".join(f"{depth} {line}" for depth, line in plan.code)
    return f"{code}\n\n{_canonical(plan.prose)}"


def _canonical(unified: str) -> str:
    name = _language(unified)
    return _parsed(unified, "" if name == "?" else name).canonical


@lru_cache(maxsize=256)
def _remembered_language(text: str) -> str:
    return guess(text)


def _language(text: str) -> str:
    return _remembered_language(text) if len(text) <= _REMEMBERED else guess(text)


@lru_cache(maxsize=256)
def _remembered(text: str, name: str) -> Parsed:
    return parse(text, name)


def _parsed(text: str, name: str) -> Parsed:
    return _remembered(text, name) if len(text) <= _REMEMBERED else parse(text, name)
