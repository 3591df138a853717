"""The parts the gate is made of: characters, pieces, numbers, spelling, languages, phrases."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache._gate import Differs, Same, canonical, gate
from stepcache._gate.languages import guess, plausible
from stepcache._gate.numerals import digits, is_ordinal, quotient, scaled, spelled
from stepcache._gate.parse import parse
from stepcache._gate.pieces import pieces
from stepcache._gate.rules import pair
from stepcache._gate.spelling import distance, inflection_of, known, singular, slip, stems
from stepcache._gate.tables import language, opposites
from stepcache._gate.unify import plain, squash
from stepcache._gate.verdict import excerpt

# --- characters -----------------------------------------------------------------------------------------------------


def test_plain_keeps_what_bears_meaning() -> None:
    assert plain("“a” – ‘b’…") == "\"a\" - 'b'..."
    assert plain("ｆｕｌｌ ﬁne") == "full fine"
    assert plain("x² ½ Ⅳ ①") == "x² ½ Ⅳ ①"
    assert plain("1\u202f000 \u200bzero\u00adwidth") == "1000 zerowidth"
    assert plain("e\u0301") == "é"


def test_long_runs_of_marks_are_left_alone() -> None:
    text = "e" + "\u0301\u0316" * 20
    assert plain(text) == text


def test_squash_leaves_one_line_without_end_marks() -> None:
    assert squash("  a\n b \t c ?! ") == "a b c"


def test_an_excerpt_is_one_short_line() -> None:
    assert excerpt("a\n b") == "a b"
    assert len(excerpt("word " * 100)) == 60
    assert len(excerpt("x" * 10_000)) == 60


# --- pieces ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("mail ann@example.org now", ["word", "address", "word"]),
        ("see www.example.org.", ["word", "address"]),
        ("on 2024-05-01 or 5/6/2024", ["word", "date", "word", "date"]),
        ("at 10:30 in ./a/b.txt", ["word", "time", "word", "identifier"]),
        ("5kg of H2O", ["number", "word", "word", "identifier"]),
        ("a == b", ["word", "symbol", "word"]),
        ("the `x` and\n```\nx\n```", ["word", "code", "word", "code"]),
        ("U.S. law", ["word", "word"]),
        ("- one\n- two", ["word", "word"]),
        ("5! and 3:2 and 6' tall", ["number", "symbol", "word", "number", "symbol", "number", "word", "number"]),
    ],
)
def test_pieces_know_their_kind(text: str, kinds: list[str]) -> None:
    assert [piece.kind for piece in pieces(text)][: len(kinds)] == kinds


def test_harmless_punctuation_stays_with_the_piece_before_it() -> None:
    first, second = pieces("yes, no")
    assert (first.after, second.start) == (",", False)
    assert [piece.start for piece in pieces("Go. Stop; wait")] == [True, True, True]
    assert [piece.quoted for piece in pieces("the 'blue note' of it")] == [False, True, True, False, False]
    assert pieces("...") == []


# --- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "comma", "money", "value"),
    [
        ("1,000", False, False, "1000"),
        ("1,000.5", False, False, "1000.5"),
        ("1.000", True, False, "1000"),
        ("1.000,5", True, False, "1000.5"),
        ("1,5", True, False, "1.5"),
        ("1,5", False, False, "1,5"),
        ("1,00", False, False, "1,00"),
        ("0,123", False, False, "0,123"),
        ("1,000,00", False, False, "1,000,00"),
        ("3.10", False, False, "3.10"),
        ("3.10", False, True, "3.10"),
        ("3.000", False, True, "3.000"),
        ("3.00", False, True, "3"),
        ("1.2.3", False, False, "1.2.3"),
        ("007", False, False, "007"),
        ("-5", False, False, "-5"),
        ("+5", False, False, "5"),
    ],
)
def test_digits_have_one_form(text: str, comma: bool, money: bool, value: str) -> None:
    assert digits(text, comma, money) == value


@pytest.mark.parametrize(
    ("name", "words", "value"),
    [
        ("en", "zero", 0),
        ("en", "forty two", 42),
        ("en", "two hundred and five", 205),
        ("en", "three thousand four hundred", 3400),
        ("en", "one million two thousand and one", 1002001),
        ("en", "hundred", 100),
        ("de", "eins", 1),
        ("de", "neunundneunzig", 99),
        ("de", "zweitausenddreihundertvier", 2304),
        ("de", "hundertundeins", 101),
        ("de", "drei millionen", 3_000_000),
        ("es", "treinta y uno", 31),
        ("es", "ciento cinco", 105),
        ("es", "dos mil trescientos cuarenta", 2340),
        ("fr", "soixante et onze", 71),
        ("fr", "quatre vingt dix neuf", 99),
        ("fr", "deux cent trois", 203),
        ("fr", "vingt et un", 21),
        ("fr", "mille neuf cent", 1900),
    ],
)
def test_number_words_are_read(name: str, words: str, value: int) -> None:
    assert spelled(words.split(), language(name)) == (value, len(words.split()))


@pytest.mark.parametrize(
    ("name", "words", "value", "used"),
    [
        ("en", "three two", 3, 1),
        ("en", "one and two", 1, 1),
        ("en", "zero and five", 0, 1),
        ("en", "two hundred hundred", 200, 2),
        ("en", "two thousand million", 2000, 2),
        ("en", "two hundred and some", 200, 2),
        ("de", "drei vier", 3, 1),
    ],
)
def test_a_number_ends_where_the_next_begins(name: str, words: str, value: int, used: int) -> None:
    assert spelled(words.split(), language(name)) == (value, used)


def test_other_words_are_no_numbers() -> None:
    assert spelled(["dog"], language("en")) is None
    assert spelled([], language("de")) is None
    assert spelled(["hundertund"], language("de")) is None
    assert spelled(["tausendtausend" * 9], language("de")) is None
    assert spelled(["Hunde"], language("de")) is None


def test_scales_fractions_and_ordinals_are_exact() -> None:
    assert scaled("1.5", 10**6) == "1500000"
    assert scaled("1.2345", 1000) is None
    assert scaled("1,5", 1000) is None
    assert quotient("1", "2") == "0.5"
    assert quotient("1", "3") == "1/3"
    assert quotient("2", "4") is None
    assert quotient("1", "0") is None
    assert quotient("1", "²") is None
    assert is_ordinal("3", "rd", "en")
    assert is_ordinal("3", "e", "fr")
    assert not is_ordinal("3", "rd", "de")
    assert not is_ordinal("3.5", "th", "en")


@settings(max_examples=40, deadline=None)
@given(st.fractions(min_value=0, max_value=10**6, max_denominator=100))
def test_a_quotient_keeps_its_value(value: Fraction) -> None:
    text = quotient(str(value.numerator), str(value.denominator))
    assert text is not None
    assert Fraction(text) == value


# --- spelling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("recieve", "receive", True),
        ("goverment", "government", True),
        ("accomodate", "accommodate", True),
        ("form", "from", False),
        ("test", "text", False),
        ("cython", "python", False),
        ("preact", "react", False),
        ("djagno", "djagon", False),
        ("recevie", "relative", False),
        ("wrold", "world", True),
        ("receive", "receive", False),
        ("brideg", "bridges", False),
        ("affect", "effect", False),
        ("bxidge", "bridge", False),
        ("bxydge", "bridge", False),
        ("birxde", "bridge", False),
    ],
)
def test_only_common_slips_of_unknown_words_are_slips(one: str, other: str, expected: bool) -> None:
    assert slip(one, other) is expected
    assert slip(other, one) is expected


def test_words_know_their_forms() -> None:
    assert inflection_of("takes", "took")
    assert inflection_of("running", "run")
    assert inflection_of("happiest", "happy")
    assert not inflection_of("dog", "cat")
    assert not inflection_of("string", "str")
    assert singular("stories") == "story"
    assert singular("boxes") == "box"
    assert singular("glass") == "glass"
    assert singular("xyzzys") == "xyzzys"
    assert known("the")
    assert known("tuple")
    assert known("he")
    assert not known("qz")
    assert not known("x" * 40)
    assert stems("y" * 40) == {"y" * 40}


def test_a_distance_counts_swaps_once_and_stops_at_its_limit() -> None:
    assert distance("teh", "the", 2) == 1
    assert distance("kitten", "sitting", 5) == 3
    assert distance("kitten", "sitting", 2) == 3
    assert distance("a", "abcdef", 2) == 3
    assert distance("same", "same", 0) == 0


# --- languages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What is the capital of Peru?", "en"),
        ("gold price chart", "en"),
        ("Wie heißt die Hauptstadt von Peru?", "de"),
        ("¿Cuál es la capital de Perú?", "es"),
        ("Quelle est la capitale du Pérou ?", "fr"),
        ("Qual è la capitale del Perù e dove si trova?", "?"),
        ("Qual é a capital do Peru e como se chama?", "?"),
        ("Wat is de hoofdstad van Peru?", "?"),
        ("Какая столица Перу?", "?"),
        ("秘鲁的首都是什么", "?"),
        ("12 + 7", ""),
        ("", ""),
    ],
)
def test_a_language_is_told_or_left_open(text: str, name: str) -> None:
    assert guess(text) == name


def test_a_text_may_be_plausible_without_being_sure() -> None:
    assert plausible("12 + 7", "de")
    assert not plausible("What is the capital?", "de")
    assert not plausible("столица", "en")


def test_quoted_words_do_not_tell_the_language() -> None:
    assert guess('What does "Wie heißt die Hauptstadt von Peru und was ist das" mean in it?') == "en"


def test_tables_hold_together() -> None:
    for name in ("en", "de", "es", "fr"):
        tables = language(name)
        assert len(tables.common) > 150
        assert len(tables.months) >= 12
        assert set(tables.numbers.values()) >= set(range(2, 10))
        assert all(key == key.strip() for key in tables.classes)
    assert frozenset(("enable", "disable")) in opposites()
    assert all(len(words) == 2 for words in opposites())


# --- words in context -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cached", "new"),
    [
        ("It costs 5 million euros", "It costs 5000000 euros"),
        ("It is 20 °C in the hall", "It is 20 Celsius in the hall"),
        ("It drove 50 km/h on the road", "It drove 50 kmh on the road"),
        ("Is R & D the same?", "Is R and D the same?"),
        ("the dog's bowl is in it", "the dog bowl is in it"),
        ("it costs 5 € in the shop", "it costs 5 euros in the shop"),
        ("a ReAlly odd seNtence of mine", "a really odd sentence of mine"),
        ("explain tHE sYstem's rules to me", "explain the system rules to me"),
        ("write me a poem about it", "write a poem about it"),
        ("students who pass the test", "students that pass the test"),
        ("it is 3 in long and it is 2 in", "it is 3 in long and it is 2 inches"),
        ("please", "Please!"),
        ("the red house - the old one", "the red house, the old one"),
        ("It costs 5 $ in it", "It costs $5 in it"),
        ("1.23456789 million people in it", "1.23456789 million people in it!"),
        ("Help me write a letter to him", "help me write a letter to him, thanks"),
        ("Kannst du das machen", "kannst du das machen?"),
        ("Ich suche das Wort danke im Text", "ich suche das Wort danke im Text"),
    ],
)
def test_small_print_that_is_harmless(cached: str, new: str) -> None:
    assert gate(cached, new) == Same()


@pytest.mark.parametrize(
    ("cached", "new"),
    [
        ("It is 20 °C in the hall", "It is 20 °F in the hall"),
        ("It is 20 ° in the hall", "It is 20 in the hall"),
        ("It drove 50 km/h on the road", "It drove 50 mph on the road"),
        ("I am 5 m from it", "I am 5 M from it"),
        ("What is 5! in it?", "What is 5 in it?"),
        ("a ratio of 3:2 in it", "a ratio of 3 2 in it"),
        ("max(1,200) in it", "max(1200) in it"),
        ("Hello World in Python", "World in Python"),
        ("How do I say thank you", "How do I say"),
        ("Who was in The Who", "Who was in Who"),
        ("No, prices are fixed", "No prices are fixed"),
        ("treat them kindly", "treat them"),
        ("How many of the dogs that bark", "How many of the dogs bark"),
        ("Before lunch, Ana eats", "Ana eats before lunch"),
        ("help me translate it", "translate it"),
        ("1.2345 million people in it", "1234500 million people in it"),
        ("the May 45 2024 plan in it", "the 2024-05-45 plan in it"),
        ("die Pläne von Mai 5 2024 in Wien", "die Pläne von 2024-05-05 in Wien"),
        ("1.23456789 million people in it", "1.2345678 million people in it"),
        ("It drove 50 m/x on the road", "It drove 50 m on the road"),
        ("the band Please is good", "the band is good"),
        ("explain to Ana the law", "explain the law"),
        ("Kannst du gut schwimmen?", "Schwimmen gut"),
        ("it is here - or there", "it is here or there - no"),
        ("score of 2/4 in it", "score of 0.5 in it"),
        ("Est-ce vrai, peut-être ?", "Est-ce vrai, peut ?"),
        ("a man-eating shark in it", "a man shark in it"),
        ("x - y in it", "x y in it"),
    ],
)
def test_small_print_that_counts(cached: str, new: str) -> None:
    assert not gate(cached, new)
    assert not gate(new, cached)


def test_slips_are_mended_only_in_words() -> None:
    assert gate("the `recieve` key of it", "the `receive` key of it") != Same()
    assert gate("ask Recieve about it", "ask Receive about it") != Same()
    many = "recieve goverment enviroment diffrence seperate in it"
    assert isinstance(gate(many, "receive government environment difference separate in it"), Differs)
    found = pair(parse("I recieve it", "en"), parse("I receive it", "en"))
    assert found.only_cached == found.only_new == ()


def test_canonical_forms_are_equal_for_what_needs_no_embedding() -> None:
    assert canonical("Could you please list 12 rivers?") == canonical("show me twelve rivers")
    assert canonical("What is 2 + 2?") != canonical("What is 2 + 3?")
    assert canonical("ImageFolder") != canonical("imagefolder")
    assert canonical("столица Франции") == canonical("Столица  Франции.")


def test_a_hostile_mark_is_no_docstring() -> None:
    assert not gate("def f():\n    \x00doc\x00\n", 'def f():\n    """a"""\n')
