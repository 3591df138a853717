"""The code rule: what may and what must not change in a prompt that defines functions."""

from __future__ import annotations

import pytest

from stepcache._gate import Differs, Same, gate
from stepcache._gate.layout import lay_out

BASE = '''from math import pi


def helper(x: int) -> int:
    """ Double a number.
    >>> helper(2)
    4
    """
    return 2 * x


def select_words(text: str, limit: int = 3) -> list[str]:
    """
    Return the words of the text that are longer than two letters, sorted in ascending order.
    Words with digits do not count, and the result holds at most five words.
    >>> select_words("one three a")
    ['one', 'three']
    >>> select_words("")
    []
    """
'''


def changed(old: str, new: str) -> str:
    assert old in BASE
    return BASE.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("def select_words", "def select_word", "identifier"),
        ("def helper", "def double", "identifier"),
        ("limit: int = 3", "limit: int = 4", "code"),
        ("text: str, limit", "words: str, limit", "code"),
        ("-> list[str]", "-> set[str]", "code"),
        ("from math import pi", "from math import tau", "code"),
        ("return 2 * x", "return 3 * x", "code"),
        ("    return 2 * x", "        return 2 * x", "code"),
        ("def helper", "@cache\ndef helper", "code"),
        ("['one', 'three']", "['three', 'one']", "code"),
        ('>>> select_words("")\n    []\n', "", "code"),
        ("than two letters", "than three letters", "number"),
        ("holds at most five words", "holds at most six words", "number"),
        ("do not count", "do count", "negation"),
        ("ascending order", "descending order", "opposite"),
        ("longer than", "shorter than", "opposite"),
        ("at most five", "at least five", "opposite"),
        ("Return the words", "Return all words", "quantifier"),
        ("digits do not count, and", "digits do not count, or", "conjunction"),
        ("words of the text that", "text of the words that", "order"),
        ("of the text that", "before the text that", "relation"),
    ],
)
def test_what_changes_the_task_is_a_difference(old: str, new: str, what: str) -> None:
    verdict = gate(BASE, changed(old, new))
    back = gate(changed(old, new), BASE)
    assert isinstance(verdict, Differs)
    assert isinstance(back, Differs)
    if what != "opposite":
        assert verdict.what == what
    assert (back.cached, back.new) == (verdict.new, verdict.cached)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Return the words", "Retrun teh wrods"),
        ("Return the words", "Give back the words"),
        ("Return the words of the text", "Returned the word of the text"),
        ("longer than two", "long er thant wo"),
        ("Return the words of the text that are", "ReTurn tHe wOrds oF thE teXt tHat Are"),
        ("sorted in", "ordered in"),
        ("    Words with digits", "  Words   with digits"),
        ("\n\n\ndef select", "\n\ndef select"),
        ("of the text that", "of the text select _ words that".replace(" select _ words", "")),
        ("result holds", "outcome holds"),
    ],
)
def test_slips_spaces_and_other_plain_words_are_none(old: str, new: str) -> None:
    assert gate(BASE, changed(old, new)) == Same()
    assert gate(changed(old, new), BASE) == Same()


PLAIN = '''def area(side: float) -> float:
    """Give the area of a square with this side."""
'''


def test_without_examples_only_slips_are_seen_through() -> None:
    assert gate(PLAIN, PLAIN.replace("square", "sqaure")) == Same()
    assert gate(PLAIN, PLAIN.replace("with this side", "withthis  side")) == Same()
    assert not gate(PLAIN, PLAIN.replace("square", "circle"))
    assert not gate(PLAIN, PLAIN.replace("area of", "large area of"))


CALLS = '''def pick(names, n):
    """
    Pick the n longest names.
    Examples:
    pick(["Ann", "Bo"], 1) == ["Ann"]
    """
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["Ann"]', '["Bo"]'),
        ('["Ann"]', '["ann"]'),
        (", 1)", ", 2)"),
        ("longest names", "longest n names"),
        ("Pick the n longest names", "Pick the n names n times quickly from a hat that holds many names and colours"),
    ],
)
def test_examples_written_as_calls_count_too(old: str, new: str) -> None:
    assert old in CALLS
    assert gate(CALLS, CALLS.replace("Pick the n", "Choose the n")) == Same()
    assert not gate(CALLS, CALLS.replace(old, new))


def test_a_function_may_be_misspelt_or_spaced_out_where_it_is_mentioned() -> None:
    text = CALLS.replace("pick(", "pick_some(").replace("Pick the", "pick_some gives the")
    assert gate(text, text.replace("pick_some gives", "pick _ some gives")) == Same()
    assert gate(text, text.replace("pick_some gives", "pikc_some gives")) == Same()
    assert not gate(text, text.replace("pick_some gives", "take_many gives"))


def test_the_closing_marks_may_be_spaced_out_or_missing() -> None:
    assert gate(CALLS, CALLS.replace('    """\n', '    " " "\n').replace('    " " "\n', '    """\n', 1)) == Same()
    assert gate(CALLS, CALLS.rstrip().removesuffix('"""')) == Same()


def test_the_words_around_the_code_go_through_the_word_gate() -> None:
    assert gate("Explain this:\n" + BASE, "Please explain this:\n" + BASE) == Same()
    assert not gate("Explain this:\n" + BASE, "Translate this:\n" + BASE)
    assert not gate(BASE, BASE + "\nWrite tests for it.")


def test_names_in_calls_keep_their_case_and_their_letters() -> None:
    assert not gate("What does Sum(x) give?", "What does sum(x) give?")
    assert not gate("What does film(x) give?", "What does movie(x) give?")


def test_code_in_another_language_is_compared_line_by_line() -> None:
    text = "function add(a, b) {\n  // adds the film\n  return a + b;\n}\nExplain the function."
    assert gate(text, text.replace("Explain the", "Please explain the")) == Same()
    assert not gate(text, text.replace("film", "movie"))
    assert not gate(text, text.replace("a + b;", "a - b;"))


def test_a_layout_tells_code_from_prose() -> None:
    layout = lay_out("Fix it.\n" + BASE)
    assert layout is not None
    assert layout.prose == "Fix it."
    assert layout.functions == ("helper", "select_words")
    assert len(layout.docs) == 2
    assert lay_out("What does def mean in it?") is None
    assert lay_out("```\ndef f(x):\n    return x\n```") is None
    brackets = lay_out("def f(\n    x,\n    y,\n):\n    return x\n\nExplain it.")
    assert brackets is not None
    assert brackets.prose == "Explain it."
