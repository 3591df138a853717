"""Beside values copied out of the request, a patch adds none that the request does not hold."""

from __future__ import annotations

import json

import pytest

from stepcache import StepCache
from stepcache.tasks._json.grounding import fits
from stepcache.testing import HashEmbedder, ScriptedModel

FACTS = "Paper Moon was directed by Peter Bogdanovich in 1973, is rated 8 by four critics and stars Tatum Neal."
KEPT = {"title": "Paper Moon", "year": 1973}


@pytest.mark.parametrize("value", [8, "Tatum Neal", 4, "a drama", None, True, ["Tatum Neal", 8]])
def test_what_the_request_holds_or_words_of_ones_own_fit(value: object) -> None:
    assert fits(KEPT, value, FACTS)


@pytest.mark.parametrize("value", [1, 8.5, -8, "8", "1973", [8, 9], {"score": 7}, {"score": "8"},
                                   {"score": 8}, [{"score": 8}]])
def test_numbers_from_nowhere_and_numbers_as_texts_do_not_fit(value: object) -> None:
    assert not fits(KEPT, value, FACTS)


def test_a_reply_made_of_more_than_the_requests_words_is_no_measure() -> None:
    assert fits({"title": "Paper Moon", "genre": "comedy"}, 1, FACTS)
    assert fits({"title": "Paper Moon"}, 1, FACTS)
    assert fits({"title": "Paper Moon", "year": "1973"}, "8", FACTS)
    assert fits({"name": "Bo", "age": 30}, "10115", 'Bo, 30, post code "10115".')


def test_objects_and_numbers_as_texts_fit_where_the_reply_has_the_like() -> None:
    assert fits({**KEPT, "star": {"name": "Tatum Neal"}}, {"score": 8}, FACTS)
    assert fits([{"star": {"name": "Tatum Neal", "year": 1973}}], [{"score": 8}], FACTS)
    assert not fits({"title": "Paper Moon", "star": "Tatum Neal"}, "8", FACTS)


@pytest.mark.parametrize(("asked", "wrong", "right"), [
    # What the reply held before the change shows how its numbers are written, also where nothing of it is kept.
    ("title, director and published", {"published": "1973"}, {"published": 1973}),
    ("title, director and cast (an object with the keys lead and critics)",
     {"cast": {"lead": {"first": "Tatum"}, "critics": 4}}, {"cast": {"lead": "Tatum Neal", "critics": 4}}),
])
def test_a_patch_is_written_like_the_rest(asked: str, wrong: dict[str, object], right: dict[str, object]) -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    base = {"title": "Paper Moon", "director": "Peter Bogdanovich", "year": 1973}
    prompt = f"Return a JSON object with the keys title, director and year. {FACTS}"
    cache.complete(prompt, ScriptedModel(json.dumps(base)))
    del base["year"]
    model = ScriptedModel([json.dumps(wrong), json.dumps({**base, **right})])
    result = cache.complete(prompt.replace("title, director and year", asked), model)
    assert json.loads(result.output) == {**base, **right}
    assert [purpose for _, purpose in model.calls] == ["patch", "repair"]


@pytest.mark.parametrize("invented", ['{"rating": 9}', '{"rating": "8"}'])
def test_a_patch_with_such_a_value_is_not_spliced(invented: str) -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    prompt = f"Return a JSON object with the keys title and year. {FACTS}"
    cache.complete(prompt, ScriptedModel(json.dumps(KEPT)))
    whole = json.dumps({**KEPT, "rating": 8})
    model = ScriptedModel([invented, whole])
    result = cache.complete(prompt.replace("title and year", "title, year and rating"), model)
    assert json.loads(result.output) == {**KEPT, "rating": 8}
    assert [purpose for _, purpose in model.calls] == ["patch", "repair"]


def test_the_items_of_a_list_are_looked_up_as_well() -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    prompt = f"Return a JSON object with the keys title and year. {FACTS}"
    cache.complete(prompt, ScriptedModel(json.dumps(KEPT)))
    right = json.dumps({**KEPT, "facts": [8, 4]})
    asked = prompt.replace("title and year", "title, year and facts (a list)")
    model = ScriptedModel(['{"facts": [8, 999]}', right])
    assert cache.complete(asked, model).output == right
    assert [purpose for _, purpose in model.calls] == ["patch", "repair"]
    other = StepCache.open(":memory:", embedder=HashEmbedder())
    other.complete(prompt, ScriptedModel(json.dumps(KEPT)))
    grounded = ScriptedModel('{"facts": [8, 4]}')
    assert json.loads(other.complete(asked, grounded).output) == json.loads(right)
    assert [purpose for _, purpose in grounded.calls] == ["patch"]


def test_a_request_too_long_to_be_looked_through_is_no_measure() -> None:
    assert not fits(KEPT, 9, FACTS)
    assert fits(KEPT, 9, FACTS + " " * 60_000)
