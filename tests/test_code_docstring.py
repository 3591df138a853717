"""Docstrings may be worded otherwise, but constants, types, operations, orders and demands may not change."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import CacheControl, Request, StepCache, gate
from stepcache.stores.memory import MemoryStore
from stepcache.tasks._python.docstring import disagreement
from stepcache.tasks._python.mention import put_loosely
from stepcache.tasks.code import code
from stepcache.testing import HashEmbedder, ScriptedModel

PROMPT = '''def grade_words(text, limit=3):
    """Split the text into words and return a list with the grade of every word that is longer than limit letters.
    The grade is "high" if the word has an even number of vowels, otherwise it is "low".
    The first word counts twice, and the result is sorted in ascending order.

    >>> grade_words("blue river", 4)
    ["high", "low"]
    """
'''
BODY = "    return sorted(text.split())[:limit]\n"


def source(prompt: str) -> str:
    """Where the answer comes from for a prompt, when `PROMPT` has been answered before."""
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(code(),))
    assert cache.complete(PROMPT, ScriptedModel(BODY)).recorded
    request = Request(prompt, control=CacheControl(no_store=True))
    return cache.complete(request, ScriptedModel("    return None\n")).source


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"high" if', '"tall" if'),
        ('"high" if', '"High" if'),
        ('"high" if', '"higj" if'),
        ('it is "low"', 'it is "lower"'),
        ("an even number", "an odd number"),
        ("of vowels", "of consonants"),
        ("The first word", "The last word"),
        ("counts twice", "counts three times"),
        ("in ascending order", "in descending order"),
        ("return a list", "return a tuple"),
        ("return a list", "return a table"),
        ("that is longer than", "that is longest than"),
        ("number of vowels", "index of vowels"),
        ("The first word", "The usual word"),
        ("return a list", "print a list"),
        ("every word", "every line"),
        ("longer than", "shorter than"),
        ("longer than", "no longer than"),
        ("that is longer", "that is not longer"),
        ("is sorted in", "is reversed in"),
        (" and the result", " or the result"),
        ("ascending order.", "ascending order. Skip words that hold a digit."),
        ("ascending order.", "ascending order, without duplicates."),
        ("ascending order.", "ascending order. Raise an error for an empty text."),
        ("grade of every word", "grade of every unique word"),
        ("The first word counts twice, and the result", "The result"),
        ("otherwise it is", "sometimes it is"),
        ("counts twice", "counts backwards"),
        ("Split the text", "Hash the text"),
        ("than limit letters", "than limit bytes"),
        ("limit=3", "limit=4"),
        ("(text, limit=3)", "(text, limit)"),
        ("blue river", "blue rivers"),
        (', 4)\n    ["high"', ', 5)\n    ["high"'),
        ('["high", "low"]', '["low", "high"]'),
    ],
)
def test_a_change_that_the_code_must_heed_is_never_served(was: str, now: str) -> None:
    assert PROMPT.count(was) == 1
    for prompt in (PROMPT.replace(was, now), PROMPT.replace(was, now).replace("grade_words", "gradeWords")):
        assert source(prompt) not in {"cache", "rewrite"}


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("return a list", "returns a list"),
        ("counts twice", "counted twice"),
        ("vowels, otherwise", "vowels, othrewise"),
        ("Split the text", "SpLit thE teXt"),
        ("The result", "The  result"),
        ("    The first word", "  The first word"),
    ],
)
def test_mere_wording_is_no_reason_to_ask_again(was: str, now: str) -> None:
    assert source(PROMPT.replace(was, now)) == "cache"


def test_the_first_difference_is_told_in_words() -> None:
    added = PROMPT + " and skip all empty lines too"
    for now in (PROMPT.replace("even", "odd"), PROMPT.replace('"low"', '"base"'), added):
        assert disagreement(PROMPT, now)
        assert disagreement(now, PROMPT)
    assert disagreement(PROMPT, PROMPT) == ""


def test_a_quoted_text_may_have_slips_only_among_other_slips() -> None:
    assert disagreement(PROMPT, PROMPT.replace('"high" if', '"hihg" if'))
    messy = PROMPT.replace("otherwise", "othrewise").replace("grade of", "gradw of").replace("letters", "leters")
    assert disagreement(PROMPT, messy.replace('"high" if', '"hihg" if')) == ""
    assert disagreement(PROMPT, messy.replace('"high" if', '"tall" if'))


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_get_an_answer(one: str, other: str) -> None:
    assert isinstance(disagreement(one, other), str)
    assert disagreement(one, one) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a b " * 200, "b a a " * 150),
        ("x y " * 20_000, "y x " * 20_000),
        ("'a' " * 10_000, "'b' " * 10_000),
        (" ".join(f"w{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(107 + i // 676)}" for i in range(990)), "w"),
        ("a" * 1_000_000, "b" * 1_000_000),
    ],
    ids=["few words", "many words", "quotes", "strange words", "letters"],
)
def test_long_texts_are_compared_in_bounded_time(one: str, other: str) -> None:
    started = time.process_time()
    assert disagreement(one, other)
    assert time.process_time() - started < 2


SHOWN = '''def rate_words(text):
    """Rate every word of the text.
    - The rating is 'good' where the word is short.
    - The rating is 'poor' otherwise, and 'none' for a word without letters.
    Examples:
    * rate_words("a 7") returns ['good', 'none']
    * rate_words("extraordinary") returns ['poor']
    """
'''


@pytest.mark.parametrize(
    "now",
    [
        SHOWN.replace("\n    -", "\n      -").replace("every word", "ever yword").replace("otherwise", "other wise"),
        SHOWN.replace("'good' where", "'good 'where").replace("' otherwise, and 'none' ", " 'otherwise, and 'none '"),
        " ".join(SHOWN.split()).replace("def rate_words(text):", "def rate_words(text):\n   ") + "\n",
        SHOWN.replace("returns ['good", "return ['good").replace("Examples", "Example"),
    ],
    ids=["blanks", "blanks beside marks", "one line", "other forms of words that are repeated"],
)  # fmt: skip
def test_blanks_line_ends_and_forms_of_words_may_go_astray(now: str) -> None:
    assert now != SHOWN
    assert gate(SHOWN, now)
    assert gate(now, SHOWN)
    assert disagreement(SHOWN, now) == ""
    assert disagreement(now, SHOWN) == ""


@pytest.mark.parametrize(
    ("was", "now"),
    [("'good' where", "'god' where"), ("* rate", "rate"), ("'none' for", "'none 'for no"),
     ("['poor']", "['none']"), ("['good', 'none']", "['none', 'good']")],
)  # fmt: skip
def test_among_stray_blanks_a_changed_text_is_still_seen(was: str, now: str) -> None:
    messy = SHOWN.replace("Rate every word", "Rat eevery word")
    changed = messy.replace(was, now, 1)
    assert changed != messy
    assert not (gate(SHOWN, changed) and disagreement(SHOWN, changed) == "")


def test_a_name_that_is_no_word_is_known_with_a_blank_in_it() -> None:
    spaced = PROMPT.replace("grade_words(text", "gradeW2(text")
    for seen, known in (("gradeW2", True), ("grade W2", True), ("g radeW2", True), ("grad W2", False)):
        cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(code(),))
        assert cache.complete(spaced.replace('grade_words("blue', 'gradeW2("blue'), ScriptedModel(BODY)).recorded
        asked = spaced.replace('grade_words("blue', f'{seen}("blue')
        served = cache.complete(asked, ScriptedModel("    return None\n"))
        assert (served.source == "cache") is known, seen


def test_words_that_read_as_a_phrase_are_not_the_name_of_the_function() -> None:
    prompt = 'def circularShift(x, n):\n    """Circular shift the digits of x.\n    >>> circularShift(12, 1)\n    """\n'
    marked = put_loosely(prompt, "circularShift", "MARK", frozenset())
    assert "Circular shift the digits" in marked
    assert put_loosely("call circ ularShift(12)", "circularShift", "MARK", frozenset()) == "call MARK(12)"
    assert put_loosely("multipl y(2) or multiply by 2", "multiply", "MARK", frozenset()) == "MARK(2) or multiply by 2"


def test_letters_go_without_saying_beside_a_case() -> None:
    cached = 'def f(s):\n    """Return s in lowercase."""\n'
    assert disagreement(cached, cached.replace("lowercase", "lowercase letters")) == ""
    assert disagreement(cached, cached.replace("Return s", "Return the letter s")) != ""
