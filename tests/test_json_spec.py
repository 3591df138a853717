"""What a JSON spec says of a recorded reply: which keys stay, which are dropped, which a model has to write."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from typing_extensions import TypedDict

from stepcache._data import Entry, PatchPlan, Request, Step, stitch
from stepcache.errors import ConfigurationError
from stepcache.tasks._json.demand import recorded
from stepcache.tasks._json.shape import asked_schema, main_keys, meanings, ordered_keys, part_of, remarks
from stepcache.tasks._json.wording import same_meaning
from stepcache.tasks.json_ import JsonSpec, json_keys, json_schema


def given_schema(schema: Any, prompt: str = "About Bo", **options: Any) -> JsonSpec:
    spec = json_schema(schema, **options)(Request(prompt=prompt))
    assert spec is not None
    return spec


def given_keys(*keys: str, prompt: str = "About Bo", **options: Any) -> JsonSpec:
    spec = json_keys(keys, **options)(Request(prompt=prompt))
    assert spec is not None
    return spec


def entry(reply: str, spec: JsonSpec | None = None) -> Entry:
    trace = spec.trace(reply) if spec else ""
    return Entry(key="k", request=Request(prompt="p"), partition="", task="json", steps=(Step(reply),), trace=trace)


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def plan(spec: JsonSpec, cached: Entry) -> PatchPlan | None:
    return spec.plan_patch("Ask.", cached.steps, spec.verify(cached.steps, cached), cached)


def patched(spec: JsonSpec, cached: Entry, reply: str) -> str | None:
    made = plan(spec, cached)
    assert made is not None
    steps = spec.apply_patch(cached.steps, made, reply)
    return None if steps is None else stitch(steps)


def test_a_reply_is_one_step_and_each_key_has_its_verdict() -> None:
    spec = given_schema(props(name={"type": "string"}, home=props(zip={"type": "integer"})))
    reply = 'Here: {"name": 5, "home": {"zip": "x"}, "more": 1}'
    assert spec.segment(reply) == (Step(reply),)
    assert spec.segment("") == ()
    verdicts = spec.key_verdicts(reply)
    assert [(key, v.ok, v.check) for key, v in verdicts.items()] == [
        ("name", False, "key:name"), ("home", False, "key:home"), ("more", False, "key:more"),
    ]
    assert verdicts["home"].detail == "/home/zip is not of type integer"
    assert spec.check(reply).detail.startswith("/name is not of type string; /home/zip")
    assert all(spec.key_verdicts('{"name": "a", "home": {"zip": 1}}').values())
    assert list(spec.key_verdicts("nothing")) == [""]
    items = given_keys("a", array=True)
    assert [v.ok for v in items.key_verdicts('[{"a": 1}, {}]').values()] == [True, False]
    assert items.check('[{"a": 1}, {}]').detail == "/1/a is missing"
    assert not items.check('{"a": 1}').ok
    assert items.check("[]").ok
    assert list(given_keys("a").key_verdicts("[]")) == [""]
    assert given_keys(*"abcdefg").check("{}").detail.endswith("/e is missing; and 2 more")


def test_a_missing_key_is_asked_for_alone_and_spliced_in() -> None:
    spec = given_keys("name", "age", "email")
    cached = entry('```json\n{\n    "name": "Bo",\n    "email": "b@o"\n}\n```\nDone!', given_keys("name", "email"))
    made = plan(spec, cached)
    assert made is not None
    assert made.asked == ("age",)
    assert made.region == (0, 1)
    assert made.schema == props(age={})
    assert made.prompt.startswith("Ask.")
    assert '"name": "Bo"' in made.prompt
    assert "/age is missing" in made.prompt
    new = patched(spec, cached, 'Sure: {"age": 30.50, "name": "Someone else"}')
    assert new == '```json\n{\n    "name": "Bo",\n    "age": 30.50,\n    "email": "b@o"\n}\n```\nDone!'
    assert spec.failing_share(cached.steps, spec.verify(cached.steps, cached)) == pytest.approx(1 / 3)


@pytest.mark.parametrize("reply", [
    "", "no idea", '{"name": "x"}', '{"age": 1', '{"age": NaN}', "[1]", '"age"', '{"age": 1} or {"age": 2}',
    '{"type": "object", "properties": {"age": {}}}',
])
def test_a_patch_reply_without_the_value_is_unusable(reply: str) -> None:
    spec = given_keys("name", "age")
    assert patched(spec, entry('{"name": "Bo"}', given_keys("name")), reply) is None


def test_forbidden_keys_are_dropped_without_a_model_and_nothing_else_changes() -> None:
    wide = given_keys("name", "age", "email")
    cached = entry('{"name":  "Bo", "age": 3 ,\n "email": "b"}', wide)
    narrow = given_keys("name", "email", extra=False)
    steps = narrow.rewrite(cached.steps, cached)
    assert steps is not None
    assert stitch(steps) == '{"name":  "Bo" ,\n "email": "b"}'
    assert all(narrow.verify(steps, cached))
    assert narrow.failing_share(cached.steps, narrow.verify(cached.steps, cached)) == 0
    assert given_keys("name").rewrite(cached.steps, cached) is None
    assert narrow.rewrite((Step("none"),), cached) is None
    deep = given_schema(props(p=props(a={}), q={"type": "array", "items": props(b={})}))
    reply = '{"p": {"a": 1, "x": 2}, "q": [{"b": 1}, {"y": 1, "b": 2}]}'
    trimmed = deep.rewrite((Step(reply),), entry(reply, deep))
    assert trimmed == (Step('{"p": {"a": 1}, "q": [{"b": 1}, {"b": 2}]}'),)


def test_a_renamed_key_is_written_anew_and_the_old_one_dropped() -> None:
    spec = given_keys("full_name", "age", extra=False)
    cached = entry('{"name": "Bo", "age": 3}', given_keys("name", "age"))
    assert patched(spec, cached, '{"full_name": "Bo Li"}') == '{"full_name": "Bo Li", "age": 3}'


def test_a_narrowed_enum_patches_that_field_only() -> None:
    old = given_schema(props(size={"enum": ["S", "M"]}, name={"type": "string"}))
    cached = entry('{"size": "S", "name": "shirt"}', old)
    assert all(given_schema(props(size={"enum": ["S"]}, name={"type": "string"})).verify(cached.steps, cached))
    spec = given_schema(props(size={"enum": ["M", "L"]}, name={"type": "string"}))
    made = plan(spec, cached)
    assert made is not None
    assert made.asked == ("size",)
    assert patched(spec, cached, '{"size": "M"}') == '{"size": "M", "name": "shirt"}'


def test_values_are_patched_at_any_depth() -> None:
    inner = props(street={"type": "string"}, zip={"type": "integer"})
    spec = given_schema(props(name={}, home=inner, pets={"type": "array", "items": props(n={"type": "integer"})}))
    cached = entry('{"name": "Bo", "home": {"street": "A"}, "pets": [{"n": 1}, {"n": "x"}, {"n": 3}]}', spec)
    made = plan(spec, cached)
    assert made is not None
    assert made.asked == ("/home/zip", "/pets/1/n")
    assert made.schema is not None
    assert made.schema["properties"]["pets"]["properties"]["1"]["properties"]["n"] == {"type": "integer"}
    expected = '{"name": "Bo", "home": {"street": "A", "zip": 8}, "pets": [{"n": 1}, {"n": 2}, {"n": 3}]}'
    assert patched(spec, cached, '{"home": {"zip": 8}, "pets": {"1": {"n": 2}}}') == expected
    whole = '{"home": {"street": "B", "zip": 8}, "pets": [{"n": 9}, {"n": 2}, {"n": 9}]}'
    assert patched(spec, cached, whole) == expected
    assert patched(spec, cached, '{"home": {"zip": 8}, "pets": []}') is None
    assert patched(spec, cached, '{"home": 5, "pets": {}}') is None
    assert spec.failing_share(cached.steps, spec.verify(cached.steps, cached)) == pytest.approx((1 / 2 + 1 / 3) / 3)
    listed = given_schema({"type": "array", "items": {"type": "integer"}})
    assert patched(listed, entry('[1, "x", 3]', listed), '{"1": 2}') == "[1, 2, 3]"


def test_keys_that_look_like_pointers_are_no_pointers() -> None:
    spec = given_keys("/a", "b~c")
    cached = entry('{"b~c": 1}', given_keys("b~c"))
    assert patched(spec, cached, '{"/a": 5}') == '{"/a": 5, "b~c": 1}'


def test_where_the_whole_is_at_fault_nothing_can_be_patched() -> None:
    spec = given_schema({"type": "array", "minItems": 1})
    for reply in ("{}", "[]", "none", "5"):
        cached = entry(reply, spec)
        assert plan(spec, cached) is None
        assert spec.failing_share(cached.steps, spec.verify(cached.steps, cached)) == 1
    fine = entry("[1]", spec)
    assert plan(spec, fine) is None
    assert spec.region(spec.verify(fine.steps, fine)) == (1, 1)
    assert spec.failing_share((Step("5"),), given_keys("a").verify((Step("{}"),))) == 1
    assert spec.apply_patch((Step("none"),), PatchPlan(prompt="", region=(0, 1), asked=("a",)), '{"a": 1}') is None


def test_nothing_is_ever_computed_in_place_of_a_value() -> None:
    spec = given_schema(props(a={"default": 1, "const": 1}))
    assert spec.fallback() is None
    assert spec.rewrite((Step("{}"),), entry("{}")) is None
    asked = spec.repair_prompt("Ask.", "x" * 9_000, spec.check("{}"))
    assert "/a is missing" in asked
    assert spec.schema_text in asked
    assert len(asked) < 5_000
    assert "items" in given_keys("a", array=True).repair_prompt("", "", spec.check("{}"))


# --- meaning --------------------------------------------------------------------------------------------------------


def described(**descriptions: str) -> JsonSpec:
    return given_schema(props(**{key: {"type": "number", "description": text} for key, text in descriptions.items()}))


def test_a_key_whose_description_changes_in_meaning_fails() -> None:
    cached = entry('{"weight": 70, "height": 2}', described(weight="The weight in kilograms", height="The height"))
    same = described(weight="the weight  in kilograms.", height="The height")
    assert all(same.verify(cached.steps, cached))
    other = described(weight="The weight in pounds", height="The height")
    verdict = other.verify(cached.steps, cached)[0]
    assert verdict.detail == "/weight is described in another way now"
    assert patched(other, cached, '{"weight": 154}') == '{"weight": 154, "height": 2}'
    assert other.check(cached.reply).ok
    assert other.verify(cached.steps)[0].ok
    assert not other.verify(cached.steps, entry(cached.reply))[0].ok
    plain = given_schema(props(weight={"type": "number"}, height={"type": "number"}))
    assert all(plain.verify(cached.steps, cached))


def test_meaning_is_compared_at_every_depth_and_once_per_array() -> None:
    def spec(text: str) -> JsonSpec:
        return given_schema(props(team={"type": "array", "items": props(age={"type": "integer", "description": text})}))

    cached = entry('{"team": [{"age": 3}, {"age": 4}]}', spec("age in years"))
    assert all(spec("Age in years").verify(cached.steps, cached))
    assert spec("age in months").verify(cached.steps, cached)[0].detail == (
        "/team/0/age is described in another way now; /team/1/age is described in another way now"
    )


def test_notes_on_the_schema_itself_and_unknown_keywords_do_not_decide() -> None:
    base = props(a={"type": "integer", "x-order": 1, "default": 5})
    cached = entry('{"a": 1}', given_schema({**base, "title": "One", "description": "First", "x-note": 1}))
    new = {**props(a={"type": "integer", "examples": [2]}), "title": "Two", "description": "Second", "$id": "http://x/y",
           "$comment": "z"}
    assert all(given_schema(new).verify(cached.steps, cached))
    pinned = given_schema(props(a={"const": 1, "description": "always one"}))
    assert all(pinned.verify(cached.steps, cached))


def test_a_title_that_names_a_single_value_says_what_the_value_means() -> None:
    def states(one: str, two: str) -> JsonSpec:
        return given_schema(props(s={"oneOf": [{"const": 1, "title": one}, {"const": 2, "title": two}]}))

    cached = entry('{"s": 1}', states("open", "closed"))
    assert all(states("Open", "closed").verify(cached.steps, cached))
    assert not all(states("closed", "open").verify(cached.steps, cached))


def test_a_new_format_is_held_against_the_recorded_value() -> None:
    cached = entry('{"a": "2024-01-01", "b": "x"}', given_schema(props(a={"type": "string"}, b={"type": "string"})))
    fits = given_schema(props(a={"type": "string", "format": "date"}, b={"type": "string"}))
    assert all(fits.verify(cached.steps, cached))
    breaks = given_schema(props(a={"type": "string", "format": "date-time"}, b={"type": "string", "format": "odd"}))
    said = breaks.verify(cached.steps, cached)[0].detail
    assert said == "/a may not have the format date-time; /b may not have the format odd"


def test_an_open_schema_does_not_take_a_reply_written_for_another() -> None:
    person = given_schema({"properties": {"name": {}, "age": {}}}, prompt="")
    cached = entry('{"name": "Bo", "age": 3}', person)
    city = given_schema({"properties": {"name": {}, "population": {}, "river": {}}}, prompt="")
    assert "other keys" in city.verify(cached.steps, cached)[0].detail
    wider = given_schema({"properties": {"name": {}, "age": {}, "email": {}}}, prompt="")
    assert all(wider.verify(cached.steps, cached))
    about = given_schema({"properties": {"name": {}, "population": {}}}, prompt="Bo")
    assert all(about.verify(cached.steps, cached))
    assert not all(given_schema({"properties": {"x": {}}}, prompt="Bo").verify(cached.steps, cached))
    anything = given_schema({"type": "object", "minProperties": 1}, prompt="")
    assert not all(anything.verify(cached.steps, cached))
    assert all(anything.verify(cached.steps, entry(cached.reply, given_schema({"type": "object", "minProperties": 1,
                                                                               "title": "T"}, prompt=""))))
    rows = given_schema({"type": "array", "items": {"properties": {"x": {}, "y": {}}}}, prompt="")
    other = entry('[{"a": 1}]', given_schema({"type": "array", "items": {"properties": {"a": {}}}}, prompt=""))
    assert not all(rows.verify(other.steps, other))


@pytest.mark.parametrize(("key", "cached", "new", "same"), [
    ("age", "", "The age.", True),
    ("birthDate", "", "the birth date", True),
    ("age", "", "The age in months", False),
    ("a", "Whether to include digits", "Include digits", True),
    ("a", "The shape to compute the area for", "The shape for which to compute the area", True),
    ("a", "The base (if the shape is a triangle)", "The base", True),
    ("a", "The base (optional)", "Required. The base", True),
    ("a", "The size. Defaults to 5.", "The size.", True),
    ("a", "The date in YYYY-MM-DD format", "The date in the format YYYY-MM-DD", True),
    ("a", "The date in YYYY-MM-DD format", "The date", True),
    ("a", "The date", "The date in YYYY-MM-DD format", False),
    ("a", "The date in YYYY-MM-DD format", "The date in DD.MM.YYYY format", False),
    ("a", "The width in inches", "The width in centimetres", False),
    ("a", "Name of the sender", "Name of the receiver", False),
    ("a", "With tax", "Without tax", False),
    ("a", "The start time", "The end time", False),
])
def test_descriptions_are_compared_by_what_they_mean(key: str, cached: str, new: str, same: bool) -> None:
    assert same_meaning(key, cached, new) is same


def test_a_trace_that_cannot_be_read_says_nothing() -> None:
    for text in ("", "{", "[]", "{}", '{"version": 99}', '{"version": 1, "keys": 5}'):
        assert recorded(text).keys == ()


def test_meanings_leave_out_the_names_of_types() -> None:
    schema = {
        "title": "Top", "description": "top",
        "$defs": {"Colour": {"title": "Colour", "enum": ["red"]},
                  "Home": {"title": "Home", "properties": {"zip": {"title": "Zip"}}}},
        "properties": {
            "paint": {"$ref": "#/$defs/Colour"}, "home": {"$ref": "#/$defs/Home"}, "homeTown": {"title": "Home Town"},
            "n": {"title": "Number of rooms"}, "list": {"type": "array", "items": {"description": " one\nroom "}},
            "maybe": {"anyOf": [{"type": "string", "description": "inner"}, {"type": "null"}]},
            "all": {"allOf": [{"properties": {"x": {"description": "ex"}}, "required": ["x"]},
                              {"properties": {"y": {"description": "why"}}, "required": ["y"]}], "required": ["z"],
                    "properties": {"z": {}}},
            "far": {"$ref": "other.json"}, "odd": True,
        },
    }
    assert meanings(schema) == {
        "n": "Number of rooms", "list/*": "one room", "maybe": "inner", "all/x": "ex", "all/y": "why",
    }
    assert ordered_keys(part_of(schema, ("all",), schema), schema) == ("x", "y", "z")
    assert main_keys({"type": "array", "items": {"properties": {"a": {}}}}) == ["a"]


def test_an_asked_schema_holds_only_what_is_asked_for() -> None:
    schema = {
        "$defs": {"P": {"type": "object"}}, "definitions": {"Q": {}},
        "properties": {"p": {"$ref": "#/$defs/P"}, "self": {"$ref": "#", "title": "t"},
                       "l": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
                       "t": {"items": [{"const": 1}], "additionalItems": {"const": 2}}},
        "additionalProperties": {"type": "boolean"},
    }
    made = asked_schema(schema, [("p",), ("self",), ("l", 0), ("l", 1), ("t", 0), ("t", 1), ("new",)])
    assert made["properties"]["p"] == {"$ref": "#/$defs/P"}
    assert made["properties"]["self"] == {"title": "t"}
    assert made["properties"]["l"]["properties"] == {"0": {"type": "string"}, "1": {"type": "integer"}}
    assert made["properties"]["t"]["properties"] == {"0": {"const": 1}, "1": {"const": 2}}
    assert made["properties"]["new"] == {"type": "boolean"}
    assert made["$defs"] == schema["$defs"]
    assert "definitions" not in made


# --- what may be given ------------------------------------------------------------------------------------------------


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Home(BaseModel):
    street: str
    zip: int | None = None


class Person(BaseModel):
    name: str
    colour: Colour
    kind: Literal["a", "b"]
    home: Home


class Pair(TypedDict):
    left: int
    right: int


@dataclass
class Point:
    x: int


def test_classes_of_pydantic_and_typing_are_schemas() -> None:
    spec = given_schema(Person)
    assert spec.check('{"name": "Bo", "colour": "red", "kind": "b", "home": {"street": "A", "zip": null}}').ok
    said = spec.check('{"name": 1, "colour": "green", "kind": "c", "home": {"zip": "x"}}').detail
    assert all(part in said for part in ("/name", "/colour", "/kind", "/home/street", "/home/zip"))
    assert given_schema(Pair).keys == ("left", "right")
    assert given_schema(Point).keys == ("x",)


def test_response_formats_and_json_text_are_schemas() -> None:
    schema = props(a={})
    wrapped = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}}
    assert given_schema(wrapped).schema == given_schema(json.dumps(schema)).schema == given_schema(schema).schema
    assert given_schema({"type": "json_object"}).check("{}").ok
    assert not given_schema({"type": "json_object"}).check("[]").ok
    assert given_schema(True).check("5").ok
    assert not given_schema(False).check("5").ok
    assert not given_schema({"format": "date"}, format_check=True).check('"x"').ok
    assert not given_schema({"items": [{"type": "string"}]}, draft="draft7").check("[1]").ok


class Odd:
    def __init__(self, x: int) -> None:
        self.x = x


@pytest.mark.parametrize(("schema", "why"), [
    ({"type": "nonsense"}, "not a valid JSON Schema"),
    ({"$ref": "http://example.com/x"}, "outside itself"),
    ({"pattern": r"(a)\1"}, "pattern"),
    ("{", "can't be read"),
    ({"a": {1, 2}}, "is not JSON"),
    ({"const": float("nan")}, "can't be read"),
    (5, "not 5"),
    (Odd, "can't read a schema off"),
])
def test_a_schema_that_cannot_be_used_says_why(schema: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        json_schema(schema)


@pytest.mark.parametrize("keys", ["name", [], [1], ["\ud800"]])
def test_keys_that_cannot_be_used_are_refused(keys: Any) -> None:
    with pytest.raises(ConfigurationError):
        json_keys(keys)


def test_equal_demands_have_equal_identities() -> None:
    one = given_schema({"type": "object", "properties": {"a": {}, "b": {"enum": [1, 2]}}})
    two = given_schema({"properties": {"b": {"enum": [1, 2]}, "a": {}}, "type": "object"})
    three = given_schema({"properties": {"b": {"enum": [2, 1]}, "a": {}}, "type": "object"})
    assert one.identity == two.identity != three.identity
    assert one.identity != given_schema(json.loads(one.schema_text), format_check=True).identity
    assert given_keys("a").identity == given_keys("a", "a").identity
    assert json_keys(["a"]) == json_keys(["a"])


def test_one_or_many_is_as_the_reply_has_it_where_the_words_leave_it_open() -> None:
    spec = json_keys()(Request(prompt="List three rivers as JSON with keys name, length"))
    assert spec is not None
    assert spec.check('{"name": 1, "length": 2}').ok
    assert spec.check('[{"name": 1, "length": 2}]').ok
    assert not spec.check("[]").ok
    more = json_keys()(Request(prompt="List three rivers as JSON with keys name, length, mouth"))
    assert more is not None
    cached = entry('[{"name": "A", "length": 2}, {"name": "B", "length": 3}]', spec)
    assert patched(more, cached, '[{"mouth": "x"}, {"mouth": "y"}]') == (
        '[{"name": "A", "length": 2, "mouth": "x"}, {"name": "B", "length": 3, "mouth": "y"}]'
    )


def test_only_json_trims_a_recorded_reply_to_it() -> None:
    spec = json_keys()(Request(prompt="Only JSON. Return JSON with keys a for Bo."))
    assert spec is not None
    cached = entry('Sure!\n```json\n{"a": 1, "b": 2}\n```', given_keys("a", "b"))
    assert not all(spec.verify(cached.steps, cached))
    assert spec.failing_share(cached.steps, spec.verify(cached.steps, cached)) == 0
    assert spec.rewrite(cached.steps, cached) == (Step('{"a": 1}'),)
    assert spec.check('Sure! {"a": 1}').ok
    more = json_keys()(Request(prompt="Only JSON. Return JSON with keys a, b, c for Bo."))
    assert more is not None
    assert patched(more, cached, '{"c": 3}') == '{"a": 1, "b": 2, "c": 3}'


def test_almost_json_passes_only_where_repair_is_allowed() -> None:
    reply = "{'a': None, 'b': [1,],}"
    assert not given_keys("a", "b").check(reply).ok
    spec = given_keys("a", "b", repair=True)
    assert spec.check(reply).ok
    assert "mending" in spec.check(reply).detail
    assert not given_keys("a", "c", repair=True).check(reply).ok
    assert spec.mend(reply) == '{"a": null, "b": [1]}'
    assert spec.mend("none") is None
    assert spec.mend('{"a": 1, "b": 2}') is None
    assert given_keys("a", extra=False).mend('{"a": 1, "b": 2}') == '{"a": 1}'
    assert spec.rewrite((Step(reply),), entry(reply, spec)) == (Step('{"a": null, "b": [1]}'),)
    assert json_keys(repair=True)(Request(prompt="JSON with keys a")).repair  # type: ignore[union-attr]


json_values = st.one_of(st.none(), st.integers(), st.text(st.characters(codec="utf-8"), max_size=5),
                        st.lists(st.integers(), max_size=3))
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(names, json_values, min_size=2, max_size=5), st.data(), st.sampled_from([None, 2]),
       st.text(max_size=20))
def test_a_patch_changes_the_asked_key_alone_whatever_the_model_says(
    value: dict[str, Any], data: st.DataObject, indent: int | None, chatter: str
) -> None:
    key = data.draw(st.sampled_from(list(value)))
    kept = {name: item for name, item in value.items() if name != key}
    spec = given_keys(*value, extra=False)
    cached = entry(json.dumps(kept, indent=indent, ensure_ascii=False), given_keys(*kept))
    said = "".join(char for char in chatter if char not in "{[<~`")
    new = patched(spec, cached, said + "\n" + json.dumps({key: value[key], **dict.fromkeys(kept, "hostile")}))
    if new is not None:
        assert json.loads(new) == value
        assert list(json.loads(new)) == list(value)
        assert spec.check(new).ok


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_no_reply_makes_a_spec_fail(reply: str, answer: str) -> None:
    spec = given_keys("a", "b", extra=False)
    steps = spec.segment(reply)
    verdicts = spec.verify(steps, entry(reply))
    assert 0 <= spec.failing_share(steps, verdicts) <= 1
    made = spec.plan_patch("p", steps, verdicts, entry(reply))
    if made is not None:
        spec.apply_patch(steps, made, answer)
    spec.rewrite(steps, entry(reply))
    assert recorded(spec.trace(reply)).keys == ("a", "b")


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
APART = {
    "a pattern of keys": lambda says: {"patternProperties": {"^w_": {**NUMBER, "description": says}}},
    "other keys": lambda says: {"additionalProperties": {**NUMBER, "description": says}},
    "a condition": lambda says: {"if": {"required": ["w_a"]}, "then": {"description": says}},
    "alternatives": lambda says: {"anyOf": [{**NUMBER, "description": says}, TEXT, {"type": "object"}]},
    "a part of a condition": lambda says: {"if": {"minProperties": 9}, "else": {"contains": {"description": says}}},
    "first items": lambda says: {"properties": {"w_a": {"prefixItems": [{"description": says}]}}},
}


@pytest.mark.parametrize("make", APART.values(), ids=APART.keys())
def test_a_description_outside_the_plain_structure_counts_too(make: Any) -> None:
    kept = given_schema({"type": "object", **make("in kilograms")})
    cached = entry('{"w_a": 7}', kept)
    for says, stays in (("in kilograms", True), ("In kilograms.", True), ("in pounds", False)):
        spec = given_schema({"type": "object", **make(says)})
        assert all(v.ok for v in spec.verify(cached.steps, cached)) is stays, says
    assert not all(v.ok for v in kept.verify(cached.steps, entry("{}", given_schema({"type": "object"}))))


def test_what_the_plain_structure_reaches_is_not_told_twice() -> None:
    nullable = {"anyOf": [{"type": "null"}, {**NUMBER, "description": "in kilograms"}]}
    schema = {"properties": {"a": nullable, "b": {"items": {"description": "of one"}}, "c": {"$ref": "#/$defs/c"}},
              "$defs": {"c": {"description": "a part"}}}  # fmt: skip
    assert remarks(schema) == {}
    assert meanings(schema) == {"a": "in kilograms", "b/*": "of one", "c": "a part"}


def test_a_value_stays_while_it_satisfies_the_new_schema_and_its_key_means_the_same() -> None:
    """More choices, wider bounds, a longer pattern: the recorded value is one of them and was right for this prompt."""
    cached = entry('{"size": "M", "n": 3}', given_schema(props(size={"enum": ["S", "M"]}, n={"maximum": 5})))
    wider = props(size={"enum": ["S", "M", "L"]}, n={"maximum": 50})
    assert all(v.ok for v in given_schema(wider).verify(cached.steps, cached))
    described = props(size={"enum": ["S", "M", "L"], "description": "the largest that fits"}, n={"maximum": 50})
    made = plan(given_schema(described), cached)
    assert made is not None
    assert made.asked == ("size",)
    narrower = plan(given_schema(props(size={"enum": ["S", "L"]}, n={"maximum": 50})), cached)
    assert narrower is not None
    assert narrower.asked == ("size",)


def test_of_a_failing_value_and_its_failing_parts_only_the_outermost_is_asked_for() -> None:
    home = {"type": "object", "required": ["zip", "town"], "minProperties": 2}
    spec = given_schema({"type": "object", "properties": {"home": home, "n": {}}, "required": ["home", "n"]})
    cached = entry('{"home": {}, "n": 1}')
    made = plan(spec, cached)
    assert made is not None
    assert made.asked == ("home",)
    new = patched(spec, cached, '{"home": {"zip": 1, "town": "Graz"}}')
    assert new == '{"home": {"zip": 1, "town": "Graz"}, "n": 1}'


def test_below_the_depth_that_is_read_a_description_is_not_compared() -> None:
    def nested(levels: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "description": "A name"}
        for _ in range(levels):
            schema = {"type": "object", "properties": {"k": schema}}
        return schema

    assert meanings(nested(12)) == {"/".join(["k"] * 12): "A name"}
    assert meanings(nested(13)) == {}


def test_forbidden_keys_go_from_an_outer_and_an_inner_object_at_once() -> None:
    spec = given_schema(props(home=props(zip={"type": "integer"})))
    cached = entry('See: {"home": {"zip": 1, "more": {"x": 2}}, "rest": 3}')
    steps = spec.rewrite(cached.steps, cached)
    assert steps is not None
    assert stitch(steps) == 'See: {"home": {"zip": 1}}'


@pytest.mark.parametrize("trace", ["", "[]", "{", "[" * 100_000, '{"version": 2, "keys": 1}'])
def test_a_damaged_trace_says_nothing(trace: str) -> None:
    assert recorded(trace) == recorded("{}")


def test_without_pydantic_a_class_has_no_schema_and_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)  # as where it is not installed

    @dataclass
    class Person:
        name: str

    with pytest.raises(ConfigurationError, match="needs pydantic"):
        json_schema(Person)
    assert given_schema({"required": ["name"]}).check('{"name": "Bo"}').ok


def test_of_an_object_that_need_have_no_key_the_share_counts_what_is_there() -> None:
    home = {"properties": {"zip": {"type": "integer"}, "town": {}, "street": {}}}
    spec = given_schema({"type": "object", "properties": {"home": home}})
    steps = (Step('{"home": {"zip": "x", "town": "Graz"}}'),)
    assert spec.failing_share(steps, spec.verify(steps)) == 0.5


def test_what_a_schema_says_nothing_of_is_all_that_is_looked_up() -> None:
    facts = "Bo is 30 and lives in Graz."
    spec = given_schema(props(name={"type": "string"}, age={}, more={"properties": {"x": {"type": "integer"}}}), facts)
    cached = entry('{"name": "Bo", "age": 30}')
    assert patched(spec, cached, '{"more": {"x": 99}}') == '{"name": "Bo", "age": 30, "more": {"x": 99}}'
    assert patched(spec, cached, '{"more": {"y": 99}}') is None
