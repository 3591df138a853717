"""An argument's value must stand in the request: in other spelling, in words, as a date or time, but never guessed."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import Request
from stepcache.tasks._tools.amounts import dates_in, numbers_in, times_in
from stepcache.tasks._tools.ground import MAX_PROMPT, grounds
from stepcache.tasks.tool_calls import tool_calls

ANY = [{"name": "do", "parameters": {"type": "object", "additionalProperties": True}}]


def stands(value: Any, prompt: str) -> bool:
    spec = tool_calls(ANY)(Request(prompt))
    assert spec is not None
    return spec.check(json.dumps({"name": "do", "arguments": {"value": value}})).ok


@pytest.mark.parametrize(
    ("value", "prompt"),
    [
        ("Casa Verde", "book casa verde please"),
        ("casa verde", "Book “Casa  Verde”!"),
        ("O'Neill", "call O’Neill"),
        ("São Tomé", "flights to SÃO TOMÉ"),
        ("new_orleans", "weather in New Orleans"),
        ("Lyon, France", "trains to Lyon in France"),
        ("red wine", "two bottles of red wines"),
        ("C++", "jobs with C++"),
        ("bob@example.org", "write to bob@example.org."),
        ("https://example.org/a?b=1", "open https://example.org/a?b=1 now"),
        ("x**2 + 3*x", "derive x^2 + 3*x"),
        ("555-0199 123", "ring (555) 0199 123"),
        ("北京", "明天北京天气"),
        ("7", "seven of them"),
        ("$40", "it costs $40"),
        ("2031-03-04", "on March 4th, 2031"),
        ("2031-03-04", "am 4. März 2031"),
        ("2031-03-04", "le 4 mars 2031"),
        ("2031-03-04", "on 4 March"),
        ("2031-03-04", "on 04/03/2031"),
        ("19:30", "at 7:30 pm"),
        ("7 PM", "at 7pm"),
        ("2031-03-04T19:30:00", "March 4, 2031 at 7:30 p.m."),
        ("", "anything"),
        ("A-17", "seat A-17"),
        ("3-5", "pages 3-5"),
    ],
)
def test_texts_the_request_says_stand(value: str, prompt: str) -> None:
    assert stands(value, prompt)


@pytest.mark.parametrize(
    ("value", "prompt"),
    [
        ("Casa Rossa", "book Casa Verde"),
        ("Verde Casa", "book Casa Verde"),
        ("Ana Bell", "Ana Ruiz met Tom Bell"),
        ("cat", "concatenate the files"),
        ("smoking", "a non-smoking room"),
        ("C", "jobs with C++"),
        ("C", "jobs with C#"),
        ("C#", "jobs with C++"),
        ("5", "version 1.5"),
        ("5", "at -5 degrees"),
        ("500", "1,500 metres"),
        ("user", "call get_user"),
        ("bob", "write to bob@example.org"),
        ("example", "open example.org"),
        ("US", "in the United States"),
        ("Paris, TX", "fly to Paris"),
        ("2031-03-05", "on March 4th, 2031"),
        ("2032-03-04", "on March 4th, 2031"),
        ("2031-04-03", "on March 4th, 2031"),
        ("tomorrow", "today"),
        ("07:30", "at 7:30 pm"),
        ("x**3", "derive x^2"),
        ("anything", ""),
        ("a", "b" * 100),
    ],
)
def test_texts_it_does_not_say_do_not(value: str, prompt: str) -> None:
    assert not stands(value, prompt)


@pytest.mark.parametrize(
    ("value", "prompt"),
    [
        (3, "three days"), (3, "3 days"), (25, "twenty-five guests"), (1200, "1,200 km"), (1.5, "1.5 hours"),
        (1.5, "1,5 Stunden"), (0.05, "a rate of 5%"), (5, "a rate of 5%"), (0.5, "1/2 cup"), (0.5, "half a cup"),
        (3, "the third row"), (22, "the 22nd"), (2000000, "2 million"), (40000, "a 40k budget"), (-4, "2x - 4"),
        (-4, "-4 degrees"), (5, "5kg"), (3, "pages 3-5"), (5, "pages 3-5"), (12, "a dozen eggs"), (2031, "in 2031"),
        (3, "drei Tage in Köln, bitte"), (19, "at 7 pm"), (4, "on the 4th of March"), (3, "on 4 March 2031"),
        (300, "three hundred and one nights, or 300"), (10, "[10,20,30]"), (30, "[10,20,30]"), (1e2, "100 m"),
    ],
)  # fmt: skip
def test_amounts_the_request_names_stand(value: float, prompt: str) -> None:
    assert stands(value, prompt)


@pytest.mark.parametrize(
    ("value", "prompt"),
    [
        (4, "three days"), (3, "13 days"), (3, "1.3 days"), (5, "-5 degrees"), (-5, "5 degrees"), (20, "twenty-five"),
        (0.5, "a rate of 5%"), (15, "pages 3-5"), (2, "2 million"[1:]), (8, "five plus three"), (7, "v1.7"),
        (1234567, "A1234567B"), (0, "no guests"), (1, "a table"), (1e300, "1"), (5.0001, "5"),
    ],
)  # fmt: skip
def test_amounts_it_does_not_name_do_not(value: float, prompt: str) -> None:
    assert not stands(value, prompt)


def test_truth_values_and_null_need_no_words() -> None:
    for value in (True, False, None, [], {}, [True, None]):
        assert stands(value, "hi")


def test_every_leaf_counts() -> None:
    prompt = "Send Ana 3 red roses"
    assert stands({"to": "Ana", "items": [{"what": "red roses", "count": 3}]}, prompt)
    assert not stands({"to": "Ana", "items": [{"what": "red roses", "count": 4}]}, prompt)
    assert not stands({"to": "Ana", "items": [{"what": "roses", "count": 3}, "lilies"]}, prompt)


def test_values_the_tool_itself_names_stand() -> None:
    properties = {
        "unit": {"type": "string", "default": "km"},
        "mode": {"anyOf": [{"const": "fast"}, {"enum": ["slow", "idle"]}]},
        "level": {"type": "integer", "default": 9},
        "tags": {"type": "array", "items": {"enum": ["x-ray", "y-ray"]}},
    }
    spec = tool_calls([{"name": "go", "parameters": {"type": "object", "properties": properties}}])(Request("go"))
    assert spec is not None

    def passes(**arguments: Any) -> bool:
        return spec.check(json.dumps({"name": "go", "arguments": arguments})).ok

    assert passes(unit="km", mode="fast", level=9, tags=["x-ray"])
    assert passes(mode="idle")
    assert not passes(unit="mi")
    assert not passes(level=8)


@settings(deadline=None, max_examples=80)
@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_a_number_in_digits_is_found_and_its_neighbours_are_not(number: int) -> None:
    found = numbers_in(f"Take {number} of them")
    assert Fraction(number) in found
    assert Fraction(number + 1) not in found


@settings(deadline=None, max_examples=60)
@given(st.decimals(min_value=-10**6, max_value=10**6, places=3, allow_nan=False))
def test_a_decimal_is_found_exactly(number: Decimal) -> None:
    assert Fraction(number) in numbers_in(f"about {number} m")


@settings(deadline=None, max_examples=60)
@given(st.dates())
def test_a_date_is_found_however_it_is_written(day: Any) -> None:
    want = (day.year, day.month, day.day)
    month = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
             "November", "December"][day.month - 1]  # fmt: skip
    year = f"{day.year:04}"
    numeric = f"{day.day:02}/{day.month:02}/{year}"
    for text in (day.isoformat(), f"{month} {day.day}, {year}", f"{day.day} {month} {year}", numeric):
        assert want in dates_in(f"on {text}.")


@settings(deadline=None, max_examples=40)
@given(st.times())
def test_a_time_is_found_on_either_clock(moment: Any) -> None:
    want = (moment.hour, moment.minute)
    assert want in times_in(f"at {moment.hour:02}:{moment.minute:02} sharp")
    half = "am" if moment.hour < 12 else "pm"
    assert want in times_in(f"at {(moment.hour % 12) or 12}:{moment.minute:02} {half}")


def test_dates_that_do_not_exist_are_none() -> None:
    assert dates_in("2031-02-30, 31 June 2031, May 45, 99/99/2031") == frozenset()


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=120), st.text(max_size=40))
def test_any_words_get_an_answer(prompt: str, value: str) -> None:
    assert grounds(prompt).has_text(value) in {True, False}


@pytest.mark.parametrize(
    "text",
    ["1," * 30_000, "1-" * 30_000, "seven hundred " * 4_000, "may 1 " * 10_000, "(1) " * 15_000, "$a.b" * 15_000,
     "a_" * 30_000, "1" * 60_000, "\0" * 1_000, "é" * 60_000, '"' * 60_000, "the of " * 8_000],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_long_texts_are_looked_through_in_bounded_time(text: str) -> None:
    held = grounds(text[:MAX_PROMPT])
    assert isinstance(held.has_text(text[:5_000] + " z"), bool)


def test_a_request_too_long_to_look_through_grounds_nothing() -> None:
    assert not stands("Casa Verde", "Casa Verde " * 10_000)
