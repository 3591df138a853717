"""The code rule: what may and what must not change in a prompt that defines functions."""

from __future__ import annotations

import pytest

from stepcache import StepCache
from stepcache._gate import Differs, Same, gate
from stepcache._gate.docstrings import Around, docstring, loosely_equal
from stepcache._gate.layout import lay_out
from stepcache._gate.parse import parse_plainly
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder

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


def judged(cached: str, new: str) -> str:
    """What the code rule says of two texts that examples pin down; "" for nothing."""
    around = Around(("pick_one",), frozenset(("pick_one", "nums")), pinned=True)
    found = loosely_equal(parse_plainly(cached, "en"), parse_plainly(new, "en"), around)
    return "" if found is None else found.what


LONG = "Take the numbers of the list and give back those that stand near the middle of it"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("the numbers", "the nubmers", ""),
        ("give back", "hand over", "relation"),
        ("give back", "hand out", ""),
        ("near the middle", "near hte middle", ""),
        ("near the middle", "close to the middle", ""),
        ("the numbers", "the sorted numbers", ""),
        ("of the list", "of the list in place", "word"),
        ("of the list", "of the list with loops", "demand"),
        ("of the list", "of the list that grows every single day now", "quantifier"),
        ("of the list", "of the list cheap red old wooden", "colour"),
        ("of the list", "of the list cheap big old wooden", "demand"),
        ("and give", "or give", "conjunction"),
        ("near the", "far the", "opposite"),
        ("stand near", "never stand near", "negation"),
        ("the numbers", "the hours", ""),
        ("the middle", "7", "number"),
        ("of the list", "of nums", "word"),
        ("the numbers", "the num bers", ""),
    ],
)
def test_plain_words_may_change_and_demands_may_not(old: str, new: str, what: str) -> None:
    assert old in LONG
    assert judged(LONG, LONG.replace(old, new)) == what


@pytest.mark.parametrize(
    ("cached", "new", "what"),
    [
        ("Give the sum of nums", "Give the sum of sums", "word"),
        ("It takes hours to run", "It takes minutes to run", "unit"),
        ("It takes a second to run", "It takes a while to run", "number"),
        ("Sort a list", "Paint nine tall walls of brick", "number"),
        ("Sort that list", "Paint tall brick walls", "word"),
        ("Return 'yes' or 'no' to it", "Return 'Yes' or 'no' to it", "quote"),
        ("Return 'Yes' or 'no' to it", "Return 'Yes' or no to it", ""),
        ("Retrun teh lsit wiht 'yes' in it", "Return the list with 'yez' in it", ""),
        ("Retrun teh lsit wiht 3 in it", "Return the list with 4 in it", "number"),
        ("Retrun teh lsit wiht x in it", "Return the list with a in it", "word"),
        ("call pick_one on it", "call pick _ one on it", ""),
        ("call pick_one on it", "call take_some on it", "identifier"),
        ("call pick_one on it", "call pick _one on it", ""),
        ("Retrun teh lsit wiht Exampel_1 in it", "Return the list with Example_1 in it", ""),
        (
            "Sort tall brick walls quickly near green hill town lamps where cold birds sing loud old songs",
            "Sort warm bread rolls slowly beside deep lake boats whose tired crews tell long sad tales",
            "colour",
        ),
        ("", "Sort it", "word"),
        ("", "", ""),
    ],
)
def test_slips_are_told_from_other_words(cached: str, new: str, what: str) -> None:
    prose = docstring(new, ("pick_one",)).prose
    assert judged(cached, prose) == what


def test_a_docstring_knows_its_examples() -> None:
    plain = docstring("Sort it.", ("f",))
    assert (plain.doctests, plain.examples) == ((), False)
    tested = docstring("Sort it.\n>>> f(2)\n4\n\nMore.", ("f",))
    assert (tested.doctests, tested.prose, tested.examples) == ((">>> f(2)", "4"), "Sort it.\n\nMore.", True)
    assert docstring("f (2) = 4", ("f",)).examples
    assert docstring("For example, 2 gives 4.", ("f",)).examples
    assert not docstring("An example of good style.", ("f",)).examples
    assert docstring("x < = y = = z", ()).prose == "x <= y == z"


def test_spaces_may_go_astray_in_the_prose_but_not_only_in_a_literal() -> None:
    text = CALLS.replace("longest names", "longest names ('a b' is one)")
    assert gate(text, text.replace("'a b'", "'ab'")) != Same()
    assert gate(text, text.replace("'a b'", "'ab'").replace("the n longest", "the nlon gest")) == Same()


CARELESS = '''def keep(items, low):
    """
    Look through the numbers of the list and return those which should remain afterwards.
    If a number is not below the bound and has no equal before it, keep the number, else drop it.
    >>> keep([1, 2], 2)
    [2]
    """
'''
# Eight words mistyped past doubt, none of which changes what is asked.
_MISTYPED = {"Look": "Liok", "through": "thriugh", "numbers": "numvers", "which": "whuch", "remain": "remaim",
             "afterwards": "aftrewards", "before": "befpre", "should": "shpuld"}


def mistyped(text: str) -> str:
    for word, slip in _MISTYPED.items():
        text = text.replace(word, slip, 1)
    return text


@pytest.mark.parametrize("slip", ["now", "new", "nto", "jkt"])
def test_among_many_slips_a_word_that_is_none_negates_as_the_one_in_its_place(slip: str) -> None:
    blind = mistyped(CARELESS)
    unreadable = slip not in {"now", "new"}  # those are words
    assert bool(gate(CARELESS, blind.replace("is not below", f"is {slip} below"))) is unreadable
    assert bool(gate(blind.replace("is not below", f"is {slip} below"), CARELESS)) is unreadable


@pytest.mark.parametrize("change", [
    ("is not below", "is now below"), ("is not below", "is below"), ("not below the", "not above the"),
    ("is not below", "is low below"), ("and has", "or has"), ("and has", "orr has"), ("has no", "has an"),
    ("is not below", "is not not below"),
])
def test_among_many_slips_a_real_word_still_counts(change: tuple[str, str]) -> None:
    assert not gate(CARELESS, mistyped(CARELESS).replace(*change))
    assert not gate(mistyped(CARELESS).replace(*change), CARELESS)


def test_without_other_slips_a_mistyped_negation_is_a_difference() -> None:
    assert not gate(CARELESS, CARELESS.replace("is not below", "is jkt below"))
    assert not gate(CARELESS, CARELESS.replace("is not below", "is low below"))


def test_a_term_of_both_texts_is_known_there() -> None:
    cached = CARELESS.replace("the bound", "the Zorvath bound of Zorvath")
    slipped = mistyped(cached).replace("Zorvath bound", "oZrvath bound")
    assert gate(cached, slipped)
    assert not gate(cached, mistyped(cached).replace("Zorvath", "Meldrin"))


TORN = '''def total(a, b):
    """
    Take the two numbers and return the product of their last digits, whatever their signs are.
    Examples:
    total(148, 412) should return 16.
    total(2020, 1851) should return 0.
    """
'''


def test_where_many_words_are_torn_a_torn_number_is_too() -> None:
    torn = TORN.replace("numbers", "num bers").replace("return the", "ret urnthe").replace("product", "pro duct")
    torn = torn.replace("digits", "dig its").replace("signs", "si gns").replace("Examples", "Exam ples")
    assert gate(TORN, torn.replace("1851", "18 5 1"))
    assert not gate(TORN, TORN.replace("1851", "18 5 1"))
    assert not gate(TORN, torn.replace("1851", "18 6 1"))
    assert not gate(TORN, torn.replace("16", "61"))


@pytest.mark.parametrize(("was", "now", "same"), [
    ("their signs are.", "their signs are, e.g.-5.", False),
    ("    Examples:\n", "    Example case:\n", True),
    ("    Examples:\n", "    case:\n", True),
    ("    Examples:\n", "    For lower case:\n", False),
    ("product", "pro[uct", True),
    ("last digits", "last digits[first]", False),
])
def test_labels_and_keys_struck_by_the_way(was: str, now: str, same: bool) -> None:
    assert bool(gate(TORN, TORN.replace(was, now))) is same
    assert bool(gate(TORN.replace(was, now), TORN)) is same


def test_a_sign_may_lose_the_blank_before_it_but_not_itself() -> None:
    signed = TORN.replace("signs are.", "signs are, e.g. -123 has the digits -1, 2 and 3.")
    assert gate(signed, signed.replace("e.g. -123", "e.g.-123").replace("digits -1", "digits-1"))
    assert not gate(signed, signed.replace("-123", "123"))
    assert not gate(signed, signed.replace("digits -1", "digits 1"))


@pytest.mark.parametrize(("was", "now"), [
    ("low)", "jkt)"),  # the parameter's own name
    ("is not below", "is 'not' below"),
])
def test_among_many_slips_a_name_or_a_quoted_word_is_no_mistyped_word(was: str, now: str) -> None:
    cached = CARELESS.replace(was, now)
    slipped = mistyped(cached).replace("not", "jkt")
    assert not gate(cached, slipped)
    assert not gate(slipped, cached)


@pytest.mark.parametrize(("was", "now"), [("not", "nto"), ("and", "adn"), ("all", "lal")])
@pytest.mark.parametrize("among", [str, mistyped])
def test_a_quoted_word_that_steers_a_sentence_is_no_slip_of_another_text(was: str, now: str, among) -> None:
    cached = CARELESS.replace("is not below", f"is '{was}' below")
    changed = among(cached).replace(f"'{was}'", f"'{now}'")
    assert bool(gate(cached, among(cached)))
    assert not gate(cached, changed)
    assert not gate(changed, cached)


@pytest.mark.parametrize("among", [str, mistyped])
def test_a_parameter_called_like_a_slip_is_no_slip(among) -> None:
    cached = CARELESS.replace("low)", "nto)")
    changed = among(cached).replace("is not below", "is nto below")
    assert not gate(cached, changed)
    assert not gate(changed, cached)


ASKS = ["Complete this function.\n\n{}", "Explain what this function does:\n\n{}", "{}\nWrite three tests for it.\n"]
PINNED = '''def keep(items, low):
    """Return the sum of the items above the low bound; negative items are kept.
    >>> keep([1, 2], 2)
    0
    """
'''
PLAIN_CHANGES = [
    ("sum of", "product of"), ("are kept", "are dropped"), ("negative items", "odd items"), ("sum of", "mean of"),
    ("the items above", "the larger items above"),
]  # fmt: skip


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(("was", "now"), PLAIN_CHANGES)
def test_where_more_is_asked_than_the_function_its_examples_pin_nothing_down(ask: str, was: str, now: str) -> None:
    assert PINNED.count(was) == 1
    changed = PINNED.replace(was, now)
    assert not gate(ask.format(PINNED), ask.format(changed))
    assert not gate(ask.format(changed), ask.format(PINNED))
    assert gate(ask.format(PINNED), ask.format(PINNED.replace("negative", "negatvie").replace("bound; ", "bound;  ")))


@pytest.mark.parametrize(("was", "now"), PLAIN_CHANGES)
def test_a_docstring_is_worded_freely_only_for_whoever_weighs_its_words(was: str, now: str) -> None:
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(plain_text(),))
    cache.record(PINNED, "    return 1\n")
    assert cache.complete(PINNED.replace(was, now), lambda prompt, purpose: "    return 2\n").source == "model"


@pytest.mark.parametrize(("was", "now"), [
    ("the longest word", "the longer word"), ("the index of", "the indices of"), ("Return", "Returning"),
])
def test_without_examples_another_form_of_a_word_is_another_word(was: str, now: str) -> None:
    cached = 'def pick(words):\n    """Return the index of the longest word."""\n'
    assert was in cached
    assert not gate(cached, cached.replace(was, now))
