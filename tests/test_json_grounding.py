"""No other request is answered with a value that was made up, and a patch adds none."""

from __future__ import annotations

import json

import pytest

from stepcache import StepCache
from stepcache.tasks._json.grounding import fits, invented
from stepcache.testing import HashEmbedder, ScriptedModel

FACTS = "Paper Moon was directed by Peter Bogdanovich in 1973, is rated 8 by four critics and stars Tatum Neal."
KEPT = {"title": "Paper Moon", "year": 1973}


@pytest.mark.parametrize("value", [8, "Tatum Neal", 4, "a drama", None, True, ["Tatum Neal", 8], "TATUM NEAL",
                                   "Critics", "paper Moon"])
def test_what_the_request_holds_or_words_of_ones_own_fit(value: object) -> None:
    assert fits(KEPT, value, FACTS)


@pytest.mark.parametrize("value", [1, 8.5, -8, "8", "1973", [8, 9], {"score": 7}, {"score": "8"},
                                   {"score": 8}, [{"score": 8}], "tatum Neal", "Tatum neal", ["peter bogdanovich"]])
def test_numbers_from_nowhere_numbers_as_texts_and_names_without_capitals_do_not_fit(value: object) -> None:
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
    # The request names the keys of its objects; nearly nothing of the record is kept to show more.
    ("title and film (an object with the keys director and year)",
     {"film": {"director": {"last": "Bogdanovich"}, "year": 1973}},
     {"film": {"director": "Peter Bogdanovich", "year": 1973}}),
])
def test_a_patch_is_written_like_the_rest(asked: str, wrong: dict[str, object], right: dict[str, object]) -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    base = {"title": "Paper Moon", "director": "Peter Bogdanovich", "year": 1973}
    prompt = f"Return a JSON object with the keys title, director and year. {FACTS}"
    cache.complete(prompt, ScriptedModel(json.dumps(base)))
    kept = {key: base[key] for key in (("title",) if "film" in right else ("title", "director"))}
    model = ScriptedModel([json.dumps(wrong), json.dumps({**kept, **right})])
    result = cache.complete(prompt.replace("title, director and year", asked), model)
    assert json.loads(result.output) == {**kept, **right}
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


PLANT = "The peace lily comes from Colombia, grows 60 centimetres tall, has 12 leaves and was named by Ines Mora."


@pytest.mark.parametrize("value", [
    {"plant": "Peace lilies", "height": 60, "origin": "Colombia", "namer": "Ines Mora"},
    {"height": "60 centimetres", "leaves": "12", "twelve": 12},
    {"kind": "houseplant", "likely": 0.95, "toxic": True, "buyer": None},  # found, not copied
    {"summary": "A Lily of South America that reaches 2 feet at most"},  # told in words of its own
    {"named": {"by": ["Ines", "Mora"]}, "counts": [60, 12]},
    {"height": "60centimetres", "namer": "Inès-Mora"},
    {"price": "EUR", "sold": "N/A", "edible": "Unknown", "in stock": "Yes", "score": -0.5},
])
def test_what_the_request_says_or_what_is_told_in_other_words_is_not_invented(value: object) -> None:
    assert invented(value, {}, PLANT) is None


@pytest.mark.parametrize(("value", "path"), [
    ({"plant": "peace lily", "origin": "Cuba"}, ("origin",)),
    ({"height": 61}, ("height",)),
    ({"height": "h_60"}, ("height",)),
    ({"page": "plants/lily"}, ("page",)),
    ({"named": {"by": ["Ines", "Mara"]}}, ("named", "by", 1)),
    ([{"leaves": 12}, {"leaves": 13}], (1, "leaves")),
    ({"plant": "Colombia", "origin": "Colombia"}, ("origin",)),  # said once, of one thing
    ({"namer": "Ines Moran"}, ("namer",)),
    ({"namer": "nes Mora"}, ("namer",)),
    ({"code": "6012"}, ("code",)),
    ({"score": 0}, ("score",)),
])
def test_names_and_numbers_from_nowhere_are(value: object, path: tuple[str | int, ...]) -> None:
    assert invented(value, {}, PLANT) == path


@pytest.mark.parametrize("about", [
    "Make up a wizard named Merlin Ambrosius from the Black Forest, as odd as can be.",
    "Three facts about Cuba",
    "Imagine Ida Berg at 30 in Graz, then 40 in Linz and 50 in Wels, and describe her.",
    "Denke dir eine Person aus einer Stadt im Norden aus, mit einem Beruf und einer Katze.",
])
def test_where_the_request_tells_little_values_are_the_models_to_find(about: str) -> None:
    assert invented({"name": "Oda Krull", "age": 61, "town": "Kiel"}, {}, about) is None


def test_german_nouns_are_no_names_but_numbers_count() -> None:
    told = "Die Rechnung mit der Nummer 77 vom 3. Mai über 120 Euro ging an Frau Berger und ein Bote trug sie aus."
    assert invented({"betrag": 120, "nummer": 77}, {}, told) is None
    assert invented({"betrag": 130}, {}, told) == ("betrag",)


def test_what_the_schema_lists_or_says_may_stand() -> None:
    scale = {"type": "object", "properties": {"stars": {"minimum": 1, "maximum": 5}}}
    assert invented({"stars": 4}, scale, PLANT) is None
    listed = {"type": "object", "properties": {"light": {"enum": ["Sun", "Shade"]}, "zone": {"const": 11}}}
    assert invented({"light": "Shade", "zone": 11}, listed, PLANT) is None
    described = {"type": "object", "properties": {"size": {"description": "Small, Medium or Large"}}}
    assert invented({"size": "Large"}, described, PLANT, json.dumps(described)) is None
    assert invented({"size": "Huge"}, described, PLANT, json.dumps(described)) == ("size",)


def test_texts_too_long_to_be_looked_through_are_no_measure() -> None:
    assert invented({"height": 61}, {}, PLANT + " " * 60_000) is None
    assert invented({"height": 61}, {}, PLANT, " " * 60_001) is None
    assert invented({"heights": [61] * 2_001}, {}, PLANT) is None


def _plant(keys: str, prefix: str = "") -> str:
    return f"{prefix}Return only a JSON object with the keys {keys}. {PLANT}"


def test_a_reply_with_a_made_up_value_answers_only_the_very_same_request() -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    wrong, right = '{"origin": "Cuba", "height": 60}', '{"origin": "Colombia", "height": 60}'
    assert cache.complete(_plant("origin and height"), ScriptedModel(wrong)).recorded
    again = cache.complete(_plant("origin and height"), ScriptedModel("not called"))
    assert (again.source, again.output) == ("cache", wrong)
    model = ScriptedModel(right)
    other = cache.complete(_plant("origin and height", "Please: "), model)
    assert (other.source, other.output, len(model.calls)) == ("model", right, 1)
    assert other.decision.outcome == "skip"
    assert "/origin" in other.decision.reason
    assert "Cuba" not in other.decision.reason
    # The right one serves from now on.
    third = cache.complete(_plant("height and origin"), ScriptedModel("not called"))
    assert json.loads(third.output) == json.loads(right)


def test_a_made_up_value_that_is_not_wanted_any_more_is_dropped() -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    cache.complete(_plant("origin and height"), ScriptedModel('{"origin": "Cuba", "height": 60}'))
    result = cache.complete(_plant("height"), ScriptedModel("not called"))
    assert (result.source, json.loads(result.output)) == ("rewrite", {"height": 60})


def test_a_patch_with_a_made_up_name_is_not_spliced() -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    cache.complete(_plant("origin and height"), ScriptedModel('{"origin": "Colombia", "height": 60}'))
    whole = '{"origin": "Colombia", "height": 60, "namer": "Ines Mora"}'
    model = ScriptedModel(['{"namer": "Bo Diaz"}', whole])
    assert cache.complete(_plant("origin, height and namer"), model).output == whole
    assert [purpose for _, purpose in model.calls] == ["patch", "repair"]
