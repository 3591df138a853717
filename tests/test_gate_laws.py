"""The laws of the gate: reflexive, symmetric, blind to harmless wording, alert to every harmful change, bounded."""

from __future__ import annotations

import dataclasses
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stepcache._gate import RULES, Differs, Same, canonical, gate, rules
from stepcache._gate.compare import MAX_CHARS

WORDS = [
    "teacher",
    "garden",
    "window",
    "river",
    "bottle",
    "planet",
    "candle",
    "bridge",
    "forest",
    "doctor",
    "engine",
    "pencil",
    "market",
    "island",
    "letter",
    "winter",
    "carries",
    "follows",
    "describes",
    "between",
    "under",
    "about",
    "with",
    "without",
    "every",
    "some",
    "three",
    "seven",
    "large",
    "bright",
    "quickly",
]
PLAIN = [word for word in WORDS if len(word) > 5]

sentences = st.lists(st.sampled_from(WORDS), min_size=3, max_size=14).map(
    lambda words: "How can the " + " ".join(words)
)
anything = st.one_of(st.text(max_size=80), sentences)
quick = settings(max_examples=30, deadline=None)


@quick
@given(anything)
def test_every_text_asks_for_the_same_thing_as_itself(text: str) -> None:
    assert gate(text, text) == Same()


@quick
@given(anything, anything)
def test_the_verdict_is_the_same_in_either_direction(one: str, other: str) -> None:
    assert type(gate(one, other)) is type(gate(other, one))


@quick
@given(
    sentences,
    st.sampled_from(
        [
            lambda text: text.upper(),
            lambda text: text[0].lower() + text[1:],
            lambda text: text + "?",
            lambda text: text + " ?!",
            lambda text: "  " + text.replace(" ", "  ") + "\n",
            lambda text: text.replace(" ", "\n", 1),
            lambda text: "Hello, " + text,
            lambda text: text + ". Thank you!",
            lambda text: text + ", please",
            lambda text: text.replace("three", "3").replace("seven", "7"),
        ]
    ),
)
def test_harmless_wording_changes_nothing(text: str, harmless) -> None:  # type: ignore[no-untyped-def]
    assert gate(text, harmless(text)) == Same()
    assert gate(harmless(text), text) == Same()
    assert canonical(text) == canonical(harmless(text))


@quick
@given(sentences, st.data())
def test_a_word_put_in_taken_out_or_exchanged_is_a_difference(text: str, data: st.DataObject) -> None:
    words = text.split()
    at = data.draw(st.integers(3, len(words) - 1))
    new = data.draw(st.sampled_from(PLAIN))
    assume(new != words[at])
    for changed in (
        [*words[:at], new, *words[at:]],
        [*words[:at], *words[at + 1 :]],
        [*words[:at], new, *words[at + 1 :]],
    ):
        assert not gate(text, " ".join(changed))


@quick
@given(st.lists(st.sampled_from(PLAIN), min_size=4, max_size=10, unique=True), st.data())
def test_two_words_exchanged_are_a_difference(words: list[str], data: st.DataObject) -> None:
    one, other = data.draw(st.lists(st.integers(0, len(words) - 1), min_size=2, max_size=2, unique=True))
    swapped = list(words)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    verdict = gate("Where is the " + " ".join(words), "Where is the " + " ".join(swapped))
    assert isinstance(verdict, Differs)
    assert verdict.what == "order"


@quick
@given(st.integers(0, 10**12), st.integers(0, 10**12), st.sampled_from(["What is {} plus x?", "Was ist {} mal zwei?"]))
def test_another_number_is_a_difference_and_grouping_is_not(one: int, other: int, frame: str) -> None:
    assert bool(gate(frame.format(one), frame.format(other))) is (one == other)
    grouped = f"{one:,}" if frame.startswith("What") else f"{one:,}".replace(",", ".")
    assert gate(frame.format(one), frame.format(grouped)) == Same()


@quick
@given(st.sampled_from(["get_id", "ImageFolder", "a.txt", "v1.2", "x1", "foo()", "https://example.org/a"]), st.data())
def test_one_letter_of_an_identifier_is_a_difference(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from("abcXYZ059_"))
    assume(name[at].isalnum() and name[at] != letter)
    other = name[:at] + letter + name[at + 1 :]
    assert not gate(f"What does {name} do in it?", f"What does {other} do in it?")


@pytest.mark.parametrize(
    ("cached", "new"),
    [
        ("What is a hash?", "Where is a hash?"),
        ("Solve it in the house", "Löse es in dem Haus"),
        ("中国的首都是什么", "日本的首都是什么"),
        ("столица Франции", "столица Италии"),
        ("Qual è la capitale della Francia?", "Qual è la capitale dell'Italia?"),
    ],
)
def test_a_difference_reads_like_a_sentence_with_short_excerpts(cached: str, new: str) -> None:
    verdict = gate(cached, new)
    assert isinstance(verdict, Differs)
    assert " / " in str(verdict)
    assert "differ" in str(verdict)
    assert max(len(verdict.cached), len(verdict.new)) <= 60
    assert not verdict


def test_verdicts_are_values() -> None:
    verdict = gate("two eggs in it", "three eggs in it")
    assert verdict == Differs("number", "two", "three")
    assert str(verdict) == "the numbers differ: two / three"
    assert str(Differs("number", "", "three")) == "the numbers differ: nothing / three"
    assert str(Differs("whim", "a", "b")) == "the texts differ: a / b"
    assert str(Same()) == "both ask for the same thing"
    assert bool(Same()) is True
    assert hash(verdict) == hash(Differs("number", "two", "three"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.what = "unit"  # type: ignore[misc, union-attr]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("中国的首都是什么？", "中国的首都是什么?"),
        ("столица  Франции", "Столица Франции."),
        ("عاصمة فرنسا؟", "عاصمة فرنسا"),
        ("Qual è la capitale?", "qual è la capitale"),
        ("", ""),
        ("  ", ""),
        ("?", ""),
        ("e\u0301cole 2000", "école 2000"),
    ],
)
def test_texts_of_other_languages_are_the_same_if_equal_after_normalisation(one: str, other: str) -> None:
    assert gate(one, other) == Same()
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x² + 1", "x2 + 1"),
        ("Per favore, qual è la capitale?", "Qual è la capitale?"),
        ("the a\u0301b and it", "the ab and it"),
        ("столица Франции", "capital of France"),
    ],
)
def test_what_normalisation_can_not_explain_is_a_difference(one: str, other: str) -> None:
    assert not gate(one, other)


def test_any_change_of_the_context_of_a_question_is_a_difference() -> None:
    context = "Context:\nThe bridge was built in 1932. It carries trains.\n\nQuestion: When was the bridge built?"
    for old, new in (("1932", "1933"), ("trains", "cars"), ("It carries", "It never carries"), ("built in", "lost in")):
        assert not gate(context, context.replace(old, new, 1))
    assert not gate(context, context.replace("It carries trains.", ""))


EACH_RULE = {
    "numbers": ("Name 3 rivers of it", "Name 4 rivers of it"),
    "units": ("It is 5 km to the lake", "It is 5 miles to the lake"),
    "dates": ("Is it open on Monday?", "Is it open on Sunday?"),
    "code": ("Is it good?\n```\na\nb\n```", "Is it good?\n```\na\nc\n```"),
    "identifiers": ("What does get_id do?", "What does get_ids do?"),
    "quotes": ('Is "the Sun" a star?', 'Is "The Sun" a star?'),
    "names": ("the weather in Oslo now", "the weather in Rome now"),
    "language_named": ("Say it in French", "Say it in German"),
    "negations": ("Why is it not red?", "Why is it red?"),
    "opposite": ("How can I enable it?", "How can I disable it?"),
    "quantifiers": ("Delete all of them", "Delete some of them"),
    "conjunctions": ("Is there tea or milk?", "Is there tea and milk?"),
    "questions": ("Where is the museum?", "When is the museum?"),
    "modality": ("Can I eat it?", "Should I eat it?"),
    "persons": ("Is it my tax?", "Is it her tax?"),
    "relations": ("the lamp on the table", "the lamp near the table"),
    "colours": ("Is the door red?", "Is the door blue?"),
    "demands": ("a poem about the rain", "a short poem about the rain"),
    "symbols": ("Is a > b or not?", "Is a < b or not?"),
    "words": ("Where is the dog?", "Where is the cat?"),
    "order": ("the dog bites the cat", "the cat bites the dog"),
    "marks": ("a man eating shark in it", "a man-eating shark in it"),
    "layout": ("What is it?\nif a:\n    b\n    c", "What is it?\nif a:\n    b\nc"),
    "wording": ("How do you spell gray?", "How do you spell grey?"),
}


def test_every_rule_has_a_name_and_a_case() -> None:
    assert [rule.__name__ for rule in RULES] == list(EACH_RULE)
    assert all(rule.__doc__ for rule in RULES)


@pytest.mark.parametrize("name", EACH_RULE)
def test_without_its_rule_a_difference_goes_unseen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cached, new = EACH_RULE[name]
    assert not gate(cached, new)
    kept = tuple(rule for rule in RULES if rule.__name__ != name)
    monkeypatch.setattr(rules, "RULES", kept)
    if name == "opposite":  # names what another rule would refuse anyway
        verdict = gate(cached, new)
        assert isinstance(verdict, Differs)
        assert verdict.what == "word"
    else:
        assert gate(cached, new) == Same()


HOSTILE = {
    "beyond words": "a " * 500_000,
    "beyond brackets": "(" * 100_000,
    "brackets": "([{" * 10_000,
    "quotes": "\"'" * 16_000,
    "ticks": "`" * 32_000,
    "fences": "```\n" * 8_000,
    "one word": "x" * 32_000,
    "dots": "a." * 16_000,
    "digits": "9" * 32_000,
    "commas": "1," * 16_000,
    "powers": "9**9**9**9 * x = 1 " * 1_000,
    "marks": "e" + "\u0301\u0316" * 16_000,
    "lone surrogates": "\ud800a" * 10_000,
    "nul": "\x00" * 32_000,
    "numbers in words": "one hundred thousand " * 1_500,
    "german number": "hundert" * 4_000 + " ist der die das",
    "newlines": "\n \n" * 10_000,
    "bullets": "\n- " * 10_000,
    "docstrings": 'def f(x):\n    """' + "a 'b' \"c " * 3_000,
    "definitions": "def f(x):\n" * 3_000,
    "at signs": "a@b.c" * 6_000,
    "slashes": "/a" * 16_000,
    "please": "please " * 4_000,
    "hyphens": "a-" * 16_000,
    "fractions": "1/2/" * 8_000,
    "superscripts": "5/² and " * 2_000,
    "thanks": "thank you so " * 2_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_judged_in_time(name: str) -> None:
    text = HOSTILE[name] if name.startswith("beyond") else HOSTILE[name][: MAX_CHARS - 9]
    started = time.process_time()
    assert not gate("x of " + text, text)
    canonical(text)
    assert time.process_time() - started < 4.0  # far below a second; a coverage run takes several times that


@pytest.mark.parametrize(
    "text", ["at least # of it", "# or more of it", "mindestens # der und die", "al menos # de los"]
)
def test_a_sign_that_the_tables_use_for_numbers_is_no_number(text: str) -> None:
    assert gate(text, text + "!") == Same()
    assert not gate(text, text.replace("#", "3"))


def test_beyond_its_reach_the_gate_sees_only_equality() -> None:
    text = "Where is the dog? " * 4_000
    assert gate(text, "  " + text.replace(" ", "\n")) == Same()
    verdict = gate(text, text.replace("dog", "cat", 1))
    assert isinstance(verdict, Differs)
    assert verdict.what == "size"
    assert canonical(text) == canonical(text + "\n")


def test_the_function_stays_reachable_after_its_module_was_imported() -> None:
    import stepcache._gate
    import stepcache._gate.compare

    assert stepcache._gate.gate("a", "a") == Same()
    assert stepcache._gate.RULES is RULES
    with pytest.raises(AttributeError):
        stepcache._gate.Rules  # noqa: B018
