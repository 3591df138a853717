"""Each demand agrees with replies written by hand; combinations behave as logic does; nothing takes long."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache.errors import ConfigurationError
from stepcache.tasks.demands import (
    FORMATS,
    IFEVAL_KINDS,
    Bullets,
    Demand,
    EndsWith,
    Keyword,
    Lacks,
    Language,
    Letter,
    Lines,
    Matches,
    Mentions,
    NthParagraphStarts,
    OneOf,
    Paragraphs,
    Postscript,
    Sentences,
    StartsWith,
    Words,
    and_,
    any_,
    demand_from,
    detect_language,
    not_,
)

# kind, arguments, replies that pass, replies that fail
IFEVAL = [
    ("change_case:capital_word_frequency", {"capital_relation": "at least", "capital_frequency": 2},
     ["NASA and ESA fly together."], ["NASA flies alone."]),
    ("change_case:capital_word_frequency", {"capital_relation": "less than", "capital_frequency": 2},
     ["NASA flies alone."], ["NASA and ESA fly together."]),
    ("change_case:english_capital", {}, ["THE CAT SAT ON THE MAT.", "OK"],
     ["The cat sat.", "DIE KATZE IST NICHT DA UND DER HUND IST AUCH NICHT DA"]),
    ("change_case:english_lowercase", {}, ["the cat sat on the mat."], ["The cat sat.", "123"]),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Name a fruit."},
     ["Name a fruit. An apple.", "name a fruit.\n\nA pear"], ["An apple. Name a fruit.", "Sure! Name a fruit."]),
    ("combination:two_responses", {}, ["First idea\n******\nSecond idea"],
     ["Only one", "Same\n******\nSame", "a\n******\nb\n******\nc"]),
    ("detectable_content:number_placeholders", {"num_placeholders": 2},
     ["Dear [name], meet me at [place]."], ["Dear [name], hello.", "no brackets"]),
    ("detectable_content:postscript", {"postscript_marker": "P.S."},
     ["Bye.\n\nP.S. Bring cake.", "Bye. P. S. Bring cake."],
     ["Bye.", "The ps command lists processes", "Bye.\n\nP.S."]),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"},
     ["Bye.\n\nP.P.S Bring cake.", "Bye.\nP.P.S. More."], ["Bye.\n\nP.S. Bring cake."]),
    ("detectable_format:constrained_response", {}, ["My answer is maybe."], ["Maybe.", "My answer is perhaps.", ""]),
    ("detectable_format:json_format", {}, ['{"a": 1}', '```json\n{"a": [1, 2]}\n```'],
     ['Here: {"a": 1}', "{'a': 1}", '{"a": NaN}', '{"a": 1} done']),
    ("detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2},
     ["Section 1\nfoo\nSection 2\nbar"], ["Section 1\nfoo", "section one, section two"]),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2},
     ["* one\n* two", "- one\n- two\n"], ["* one", "* one\n* two\n* three", "**bold**\n**bold**"]),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2},
     ["*one* and *two*", "**one** and *two*"], ["*one* only", "* one\n* two"]),
    ("detectable_format:title", {}, ["<<The Sea>>\nWaves."], ["The Sea", "<< >>", "<The Sea>"]),
    ("keywords:existence", {"keywords": ["river", "stone"]}, ["A stone in the River."], ["A stone in the lake."]),
    ("keywords:forbidden_words", {"forbidden_words": ["free", "cheap"]},
     ["Freedom has a price."], ["It is Free.", "cheap and good"]),
    ("keywords:frequency", {"keyword": "bee", "relation": "at least", "frequency": 2},
     ["A bee meets a Bee."], ["One bee."]),
    ("keywords:frequency", {"keyword": "bee", "relation": "less than", "frequency": 2},
     ["One bee.", "None."], ["A bee meets a bee."]),
    ("keywords:letter_frequency", {"letter": "z", "let_relation": "at least", "let_frequency": 3},
     ["Zig zag zoo"], ["Zig zag"]),
    ("keywords:letter_frequency", {"letter": "#", "let_relation": "less than", "let_frequency": 1},
     ["none"], ["# one"]),
    ("language:response_language", {"language": "hi"},
     ["यह एक अच्छा दिन है और हम बाहर जाते हैं।"],
     ["It is a good day and we go out.", "आज दिवस छान आहे आणि आम्ही बाहेर जाणार आहेत"]),
    ("language:response_language", {"language": "kn"}, ["ಇದು ಒಳ್ಳೆಯ ದಿನ"], ["இது நல்ல நாள்"]),
    ("language:response_language", {"language": "bg"},
     ["Това е хубав ден и ние ще отидем на разходка със семейството."],
     ["Это хороший день, и мы пойдём гулять вместе с семьёй, потому что тепло."]),
    ("language:response_language", {"language": "ur"}, ["یہ ایک اچھا دن ہے اور ہم باہر جائیں گے"], ["هذا يوم جميل"]),
    ("language:response_language", {"language": "it"},
     ["Questa è una bella giornata e non vediamo l'ora di andare al mare con gli amici."],
     ["Este es un buen día y vamos a la playa con los amigos."]),
    ("language:response_language", {"language": "vi"},
     ["Hôm nay là một ngày đẹp trời và chúng tôi sẽ đi chơi."], ["Hi"]),
    ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"},
     ["One.\n\nThen two.", "One.\n\n\"Then\" two."], ["One.\n\nNow two.", "One.\n\nThen two.\n\nThree."]),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, ["a\n\n***\n\nb"], ["a\n\nb", "a***b***c"]),
    ("length_constraints:number_sentences", {"relation": "at least", "num_sentences": 3},
     ["One. Two! Three?"], ["Dr. Smith paid 2.5 dollars. He left."]),
    ("length_constraints:number_sentences", {"relation": "less than", "num_sentences": 3},
     ["Mr. Lee met Mrs. Kim at 3.30 p.m. today. Fine."], ["One. Two! Three?"]),
    ("length_constraints:number_words", {"relation": "at least", "num_words": 5}, ["one two three four five"],
     ["one two three four"]),
    ("length_constraints:number_words", {"relation": "less than", "num_words": 5}, ["one two three four"],
     ["one two three four five"]),
    ("punctuation:no_comma", {}, ["No commas here; none."], ["Well, one."]),
    ("startend:end_checker", {"end_phrase": "That is all."}, ["Done. That is all.", "\"Done. that is ALL.\""],
     ["That is all. Bye.", "Done"]),
    ("startend:quotation", {}, ['"Hello there"'], ['Hello "there"', '"', '""']),
]


@pytest.mark.parametrize(("kind", "arguments", "passing", "failing"), IFEVAL)
def test_every_ifeval_kind_agrees_with_replies_written_by_hand(kind, arguments, passing, failing):
    demand = demand_from(kind, arguments)
    assert [reply for reply in passing if not demand.check(reply).ok] == []
    assert [reply for reply in failing if demand.check(reply).ok] == []
    assert all(demand.check(reply).detail for reply in failing)


def test_all_twenty_five_ifeval_kinds_are_known_and_tried_above():
    assert len(IFEVAL_KINDS) == 25
    assert {kind for kind, *_ in IFEVAL} == set(IFEVAL_KINDS)


@pytest.mark.parametrize(("kind", "arguments", "word"), [
    ("no:such_kind", {}, "no kind"),
    ("keywords:frequency", {"keyword": "a"}, "frequency"),
    ("length_constraints:number_words", {"relation": "about", "num_words": 3}, "about"),
    ("length_constraints:number_words", {"relation": "at least", "num_words": "many"}, "many"),
    ("language:response_language", {"language": "tlh"}, "tlh"),
    ("keywords:existence", {"keywords": []}, "at least one"),
])
def test_a_record_that_makes_no_demand_says_why(kind, arguments, word):
    with pytest.raises(ConfigurationError, match=word):
        demand_from(kind, arguments)


FORM = {
    "bullets": (["- a\n- b", "Three tips:\n\n* a\n  more of a\n* b", "• a"],
                ["a\nb", "1. a", "- a\n\nThat is all.", ""]),
    "code": (["```py\nx = 1\n```"], ["x = 1", "```\n```", "Here:\n```\nx\n```", "```\na\n```\nb\n```\nc\n```"]),
    "json": (["[1]", '"text"', "12345678901234567890123"], ["[1", "text", "", "[" * 100_000]),
    "lowercase": (["abc ß"], ["Abc", "123"]),
    "number": (["42", "-3.5", "$1,200.50", "12 km", "3/4", "**7**", "5 %"], ["about 42", "forty", "", "4 2 x y z"]),
    "numbered": (["1. a\n2. b", "Steps:\n1) a\n   - x\n2) b"], ["1. a\n3. b", "2. b\n3. c", "- a", "1. a\nDone."]),
    "one_line": (["a b c"], ["a\nb", ""]),
    "one_paragraph": (["a\nb"], ["a\n\nb", ""]),
    "one_sentence": (["It is 2.5 km to St. Pauli."], ["One. Two.", ""]),
    "one_word": (["Paris.", "**Paris**", "non-stop"], ["in Paris", "", "..."]),
    "quoted": (['"a b"', "„a b“"], ["a b", '"a" b']),
    "table": (["| a | b |\n|---|---|\n| 1 | 2 |", "Here:\n\na | b\n--|--\n1 | 2"],
              ["| a | b |", "a | b\n1 | 2\n3 | 4", "| a | b |\n|---|\n| 1 | 2 |"]),
    "uppercase": (["ABC!"], ["ABc", "123"]),
    "yes_no": (["Yes.", "no", "Ja", "**Sí**", "Non !"], ["Yes, because", "maybe", ""]),
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_agrees_with_replies_written_by_hand(name):
    demand, (passing, failing) = FORMATS[name](), FORM[name]
    assert [reply for reply in passing if not demand.check(reply).ok] == []
    assert [reply for reply in failing if demand.check(reply).ok] == []


@pytest.mark.parametrize(("demand", "passing", "failing"), [
    (Mentions("C++"), "C++ is fast", "C is fast"),
    (Mentions(("New York", "art")), "The art of\nNew  York", "The start of New York"),
    (Mentions("猫"), "黒猫がいる", "犬がいる"),
    (Lacks("peanut"), "walnuts only", "chopped Peanuts"),
    (Lacks("art"), "a fresh start", "modern art"),
    (StartsWith("Dear"), "dear all", "Oh dear"),
    (EndsWith("bye"), "Good Bye", "bye now"),
    (OneOf(("left", "right")), "left", "left or right"),
    (Lines(at_most=2), "a\n\nb\n", "a\nb\nc"),
    (Paragraphs(at_least=2), "a\n \nb", "a\nb"),
    (Words(at_most=3), "don't stop 1,000", "one two three four"),
    (Words(at_least=4, at_most=4), "今日はい", "今日は"),
    (Sentences(at_most=2), "- first item\n- second item", "# Title\nOne. Two."),
    (Bullets(at_least=1), "  - x", "---"),
    (Matches(r"\b\d{4}\b"), "in 1999", "in 99"),
    (Matches(re.compile("^b$", re.IGNORECASE | re.MULTILINE)), "a\nB", "ab"),
    (Postscript("P.S."), "Bye\n\n**P.S.** More", "Bye p.s"),
    (NthParagraphStarts(paragraphs=1, nth=1, word="So"), "So, yes", "Yes, so"),
])
def test_other_demands_agree_with_replies_written_by_hand(demand: Demand, passing: str, failing: str):
    assert demand.check(passing).ok
    assert not demand.check(failing).ok
    assert demand.check(failing).detail


@pytest.mark.parametrize(("text", "language"), [
    ("The cat is on the mat and it will not move for the dog.", "en"),
    ("Die Katze ist auf der Matte und sie wird sich nicht bewegen.", "de"),
    ("El gato está en la alfombra y no se mueve por el perro.", "es"),
    ("Le chat est sur le tapis et il ne bouge pas pour le chien.", "fr"),
    ("今日はとても良い天気ですね", "ja"),
    ("今天天气很好", "zh"),
    ("오늘은 날씨가 좋습니다", "ko"),
    ("هذا يوم جميل في المدينة", "ar"),
    ("42", None),
    ("", None),
    ("Tokyo Berlin Madrid", None),
    ("\ud800\x00", None),
])
def test_a_language_is_told_or_unknown_but_not_guessed(text, language):
    assert detect_language(text) == language


@pytest.mark.parametrize("make", [
    lambda: Words(), lambda: Words(at_least=3, at_most=2), lambda: Words(at_most=-1), lambda: Words(at_most=True),
    lambda: Mentions(""), lambda: Mentions(()), lambda: Lacks((3,)), lambda: Matches("("), lambda: Matches(3),
    lambda: Matches("a", seconds=0), lambda: Letter(letter="ab", at_most=1), lambda: Keyword(keyword=" ", at_least=1),
    lambda: Language("xx"), lambda: and_(), lambda: any_("word", "other"), lambda: not_("word"),
    lambda: Postscript("1"),
])
def test_a_demand_that_can_not_hold_is_refused_when_it_is_made(make):
    with pytest.raises(ConfigurationError):
        make()


demands = st.recursive(
    st.one_of(
        st.builds(lambda n: Words(at_most=n), st.integers(0, 5)),
        st.builds(lambda n: Lines(at_least=n), st.integers(0, 3)),
        st.builds(lambda c: Letter(letter=c, at_least=1), st.sampled_from("ab,")),
    ),
    lambda inner: st.one_of(
        st.builds(not_, inner),
        st.builds(lambda ds: and_(*ds), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda ds: any_(*ds), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)


@settings(max_examples=80, deadline=None)
@given(demands, demands, st.text("ab,. \n", max_size=20))
def test_combinations_follow_logic(first, second, text):
    a, b = first.check(text).ok, second.check(text).ok
    assert and_(first, second).check(text).ok == (a and b)
    assert any_(first, second).check(text).ok == (a or b)
    assert not_(first).check(text).ok == (not a)
    assert not_(not_(first)).check(text).ok == a
    assert not_(and_(first, second)).check(text).ok == any_(not_(first), not_(second)).check(text).ok


def test_a_failing_conjunction_names_everything_that_failed():
    verdict = and_(Words(at_most=2), Mentions("sea"), Lines(at_least=1)).check("three long words")
    assert "at most 2 words" in verdict.detail
    assert "'sea'" in verdict.detail
    assert "lines" not in verdict.detail


def test_reprs_are_the_calls_that_make_the_values():
    demand = and_(Words(at_most=50), not_(any_(Mentions(("a b",)), Keyword(keyword="x", at_least=2))))
    text = "and_(Words(at_most=50), not_(any_(Mentions(phrases=('a b',)), Keyword(at_least=2, keyword='x'))))"
    assert repr(demand) == text


@pytest.mark.parametrize("text", [
    " " * 1_000_000, "\n" * 1_000_000, "a" * 1_000_000, "*" * 1_000_000, "[" * 1_000_000, "<<" * 500_000,
    "- " * 500_000, "-\n" * 500_000, "|" * 1_000_000, "P.S." * 250_000, "```\n" + " " * 999_000, "9" * 1_000_000,
    "a. " * 333_000,
    " " * 500_000 + "-x", "\ud800" * 100_000, "x\n" * 500_000,
], ids=lambda text: ascii(text[:6]))
def test_no_demand_takes_long_on_hostile_text(text):
    made = list({kind: demand_from(kind, arguments) for kind, arguments, *_ in IFEVAL}.values())
    made += [make() for make in FORMATS.values()]
    made += [Lacks("peanut"), Mentions("a b"), Matches(r"(a|aa)+$", seconds=0.2)]
    slowest = 0.0
    for demand in made:
        start = time.thread_time()
        demand.check(text)
        slowest = max(slowest, time.thread_time() - start)
    assert slowest < 2.0


def test_a_catastrophic_pattern_is_stopped_and_counts_as_failed():
    start = time.thread_time()
    verdict = Matches(r"(x+x+)+y", seconds=0.1).check("x" * 5_000)
    assert not verdict.ok
    assert "longer than" in verdict.detail
    assert time.thread_time() - start < 2
