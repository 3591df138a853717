"""The checks that judge answers apart from the tasks: they must not let a wrong answer pass."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache.demo.checks import final_value, json_object, numbered_steps, same_values


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("x = 5", 5),
        ("2x = 10\nx = 10/2 = 5", 5),
        ("so \\(x = \\frac{10}{2}\\), that is\n\\boxed{5}", 5),
        ("$$\\boxed{x = 5}$$", 5),
        ("**x = 5.5**", Fraction(11, 2)),
        ("x = \\frac{-7}{2}", Fraction(-7, 2)),
        ("The value of x is -3.", -3),
        ("x = 3, so x = 4", 4),
        ("7", 7),
        ("x = −7", -7),
    ],
)
def test_the_final_value_is_the_last_one_assigned(reply, value):
    assert final_value(reply, "x") == value


@pytest.mark.parametrize(
    "reply", ["", "2x = 10", "3 + x = 5", "x = 13 - 3", "5x = 3", "y = 5", "x is a number", "x = 1/0"]
)
def test_what_assigns_no_value_has_no_final_value(reply):
    assert final_value(reply, "x") is None


@given(st.text(st.sampled_from("x=.1/{}[]$*`\\ \n-") | st.characters(codec="utf-8"), max_size=200))
@settings(max_examples=60, deadline=None)
def test_what_stands_at_the_end_of_any_text_is_judged(text):
    assert final_value(f"{text}\n\nx = 7", "x") == 7
    assert json_object(text.replace("{", "") + '{"a": 1}') == {"a": 1}
    assert numbered_steps(f"{text}\n7. more") == numbered_steps(text) + 1


def test_json_is_found_in_a_fence_and_in_prose():
    assert json_object('Here it is:\n```json\n{"a": 1}\n```') == {"a": 1}
    assert json_object('{not json} {"a": 2} tail') == {"a": 2}
    assert json_object("[1, 2]") is None


def test_values_must_be_equal_and_of_the_same_type():
    expected = {"name": "Ann", "age": 34, "home": {"city": "Graz"}}
    assert same_values(expected, {"name": "ANN ", "age": 34.0, "home": {"city": "graz"}, "more": 1})
    assert not same_values(expected, {"name": "Ann", "age": "34", "home": {"city": "Graz"}})
    assert not same_values(expected, {"name": "Bob", "age": 34, "home": {"city": "Graz"}})
    assert not same_values({"age": 1}, {"age": True})
    assert not same_values(expected, {"name": "Ann", "age": 34})
    assert not same_values(expected, None)


def test_numbered_steps_are_counted():
    assert numbered_steps("1. a\n2) b\nStep 3: c\n**4.** d\n- e\nin 2019. no") == 4
