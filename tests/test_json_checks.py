"""A value is checked against a JSON Schema exactly, within bounds, and each fault says where it is and of what kind."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from stepcache.tasks._json.decode import decode
from stepcache.tasks._json.failures import Failure
from stepcache.tasks._json.schema import CompiledSchema, SchemaRefused, compile_schema


def compiled(schema: Any, draft: str | None = None, format_check: bool = False) -> CompiledSchema:
    return compile_schema(json.dumps(schema), draft, format_check)


def faults(schema: Any, value: str, **options: Any) -> list[tuple[tuple[str | int, ...], str]]:
    return [(f.path, f.problem) for f in compiled(schema, **options).failures(decode(value)[0])]


def test_a_fault_says_where_it_is_and_of_what_kind() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "home": {"type": "object", "properties": {"zip": {"type": "integer"}}, "required": ["zip", "town"]},
            "tags": {"type": "array", "items": {"type": "object", "required": ["n"], "additionalProperties": False,
                                                "properties": {"n": {"minimum": 1}}}},
            "never": False,
        },
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    value = '{"name": 1, "home": {"zip": "x"}, "tags": [{"n": 0}, {"m": 1}], "more": 1, "never": 2}'
    assert faults(schema, value) == [
        (("name",), "wrong"), (("home", "zip"), "wrong"), (("home", "town"), "missing"), (("tags", 0, "n"), "wrong"),
        (("tags", 1, "n"), "missing"), (("tags", 1, "m"), "extra"), (("never",), "extra"), (("age",), "missing"),
        (("more",), "extra"),
    ]


@pytest.mark.parametrize(("schema", "value", "expected"), [
    ({"propertyNames": {"maxLength": 2}}, '{"ab": 1, "abc": 2}', [(("abc",), "extra")]),
    ({"dependentRequired": {"a": ["b", "c"]}}, '{"a": 1, "b": 2}', [(("c",), "missing")]),
    ({"dependentRequired": {"a": ["b"]}}, "{}", []),
    ({"dependentRequired": {"a": ["b"]}}, "[]", []),
    ({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}, "type": "object"}, '{"a": 1, "c": 1}',
     [(("b",), "missing"), (("d",), "missing")]),
    ({"properties": {"a": True}, "unevaluatedProperties": False}, '{"a": 1, "b": 2}', [(("b",), "extra")]),
    ({"properties": {"a": {"type": "string"}}, "unevaluatedProperties": False}, '{"a": 1}', [(("a",), "wrong")]),
    ({"properties": {"a": True}, "unevaluatedProperties": {"type": "string"}}, '{"a": 1, "b": 2}', [((), "wrong")]),
    ({"allOf": [{"properties": {"a": True}, "required": ["a"]}], "unevaluatedProperties": False}, '{"a": 1}', []),
    ({"additionalProperties": {"type": "string"}}, '{"a": 1, "b": "x"}', [(("a",), "wrong")]),
    ({"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False}, '{"x1": "a", "y": 1}',
     [(("y",), "extra")]),
    ({"patternProperties": {"^x": {"type": "string"}}}, '{"x1": 5}', [(("x1",), "wrong")]),
    ({"patternProperties": {"^x": False}}, '{"x1": 5}', [(("x1",), "extra")]),
    ({"minProperties": 1}, "{}", [((), "wrong")]),
    ({"not": {"type": "object"}}, "{}", [((), "wrong")]),
    (False, "{}", [((), "wrong")]),
    (True, "{}", []),
    ({"items": False}, "[1]", [((), "wrong")]),
    ({"uniqueItems": True}, '[1, true, "1", {"a": [1.0]}]', []),
    ({"uniqueItems": True}, '[{"a": [1.0]}, {"a": [1]}]', [((), "wrong")]),
    ({"enum": [1, "a", [False]]}, "[0]", [((), "wrong")]),
    ({"enum": [1, "a", [False]]}, "[false]", []),
    ({"const": 1}, "1.0", []),
    ({"const": True}, "1", [((), "wrong")]),
    ({"type": ["string", "null"]}, "1", [((), "wrong")]),
    ({"type": "integer"}, "1.0", []),
    ({"type": "integer"}, "1e2", []),
    ({"type": "integer"}, "1.5", [((), "wrong")]),
    ({"type": "integer"}, "true", [((), "wrong")]),
    ({"type": "number"}, "12345678901234567890123.5", []),
    ({"multipleOf": 0.01}, "19.99", []),
    ({"multipleOf": 0.01}, "19.999", [((), "wrong")]),
    ({"multipleOf": 3}, '"x"', []),
    ({"multipleOf": 3}, "true", []),
    ({"exclusiveMaximum": 10}, "9.99999999999999999999999999", []),
    ({"maximum": 10}, "10.00000000000000000000000001", [((), "wrong")]),
    ({"minLength": 2.0}, '"a"', [((), "wrong")]),
    ({"pattern": "^a+$"}, '"aab"', [((), "wrong")]),
    ({"pattern": "^a+$"}, "1", []),
    ({"required": ["a"]}, "[]", []),
])
def test_each_keyword_holds_as_the_standard_says(
    schema: Any, value: str, expected: list[tuple[tuple[str | int, ...], str]]
) -> None:
    assert faults(schema, value) == expected


@pytest.mark.parametrize(("value", "expected"), [
    ('{"b": 1}', []),
    ('{"c": 1}', [(("a",), "missing")]),
    ('{"c": 1, "d": 1}', [(("a",), "missing")]),
])
def test_of_alternatives_the_nearest_is_the_one_to_meet(value: str, expected: list[Any]) -> None:
    assert faults({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, value) == expected
    assert faults({"oneOf": [{"required": ["x", "y"]}, {"required": ["a"]}, {"required": ["b"]}]}, value) == expected


def test_alternatives_that_can_be_met_by_no_addition_fail_as_a_whole() -> None:
    assert faults({"anyOf": [{"type": "array"}, {"type": "string"}]}, "{}") == [((), "wrong")]
    assert faults({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, '{"a": 1, "b": 2}') == [((), "wrong")]
    nullable = {"properties": {"n": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    assert faults(nullable, '{"n": null}') == []
    assert faults(nullable, '{"n": 5}') == [(("n",), "wrong")]


@pytest.mark.parametrize("schema", [
    {"$defs": {"P": {"type": "object", "required": ["n"]}}, "type": "array", "items": {"$ref": "#/$defs/P"}},
    {"definitions": {"a/b": {"required": ["n"]}}, "items": {"$ref": "#/definitions/a~1b"}},
    {"$defs": {"a%b": {"required": ["n"]}}, "items": {"$ref": "#/$defs/a%25b"}},
    {"$defs": {"P": {"$anchor": "here", "required": ["n"]}}, "items": {"$ref": "#here"}},
    {"$id": "http://example.com/root", "$defs": {"P": {"$id": "part", "required": ["n"]}}, "items": {"$ref": "part"}},
])
def test_references_inside_the_schema_are_followed(schema: Any) -> None:
    assert faults(schema, '[{"n": 1}, {}]') == [((1, "n"), "missing")]


@pytest.mark.parametrize("schema", [
    {"$ref": "http://example.com/elsewhere.json"},
    {"properties": {"a": {"$ref": "other.json#/x"}}},
    {"properties": {"a": {"$ref": "#/nowhere"}}},
    {"$dynamicRef": "http://example.com/x#y"},
])
def test_a_reference_to_the_outside_refuses_the_schema_and_fetches_nothing(schema: Any) -> None:
    with pytest.raises(SchemaRefused, match="outside itself"):
        compiled(schema)


@pytest.mark.parametrize("schema", [
    {"type": "nonsense"}, {"required": "a"}, {"properties": []}, {"pattern": "("}, {"patternProperties": {"[": {}}},
    "text", 5, [1],
    {"patternProperties": {"(a*)*b": True}, "unevaluatedProperties": False},
    {"$ref": "#"},
    {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
])
def test_what_is_no_usable_schema_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaRefused):
        compiled(schema)
    with pytest.raises(SchemaRefused, match="unknown draft"):
        compiled({}, draft="draft1")


def test_the_draft_is_named_or_seen_in_the_keywords() -> None:
    assert compiled({}).draft == "draft2020-12"
    assert compiled({}, draft="draft7").draft == "draft7"
    assert compiled({"$schema": "http://json-schema.org/draft-04/schema#"}, draft="draft7").draft == "draft4"
    assert compiled({"$schema": "https://json-schema.org/draft-07/schema#"}).draft == "draft7"
    assert compiled({"$schema": "http://example.com/own"}).draft == "draft2020-12"
    assert compiled({"minimum": 1, "exclusiveMinimum": True}).draft == "draft4"
    assert compiled({"id": "http://example.com/x"}).draft == "draft4"
    assert compiled({"items": [{}]}).draft == "draft7"
    assert compiled({"type": "object", "dependencies": {"a": ["b"]}}).draft == "draft7"
    assert compiled({"definitions": {}}).draft == "draft7"
    assert compiled({"$defs": {"a": {"$id": "#a"}}, "items": [{}]}).draft == "draft7"
    assert faults({"type": "integer"}, "1.0", draft="draft4") == [((), "wrong")]


def test_formats_count_only_where_asked_for() -> None:
    schema = {"format": "date"}
    assert faults(schema, '"yesterday"') == []
    assert faults(schema, '"yesterday"', format_check=True) == [((), "wrong")]
    assert faults(schema, '"2024-02-29"', format_check=True) == []
    assert faults({"format": "unheard-of"}, '"x"', format_check=True) == []
    assert faults(schema, "5", format_check=True) == []


def test_a_check_is_bounded_whatever_the_schema() -> None:
    doubling: dict[str, Any] = {"$defs": {"n0": {"type": "object"}}, "allOf": [{"required": ["a"]}]}
    for i in range(1, 40):
        ref = {"$ref": f"#/$defs/n{i - 1}"}
        doubling["$defs"][f"n{i}"] = {"properties": {"a": {"allOf": [ref, ref]}}}
    deep = {"$defs": {"t": {"properties": {"a": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"}
    doubling["properties"] = {"a": {"$ref": "#/$defs/n39"}}
    started = time.process_time()
    whole = '{"a": ' * 40 + "{}" + "}" * 40
    assert [f.path for f in compiled(doubling).failures(decode(whole)[0])] == [()]
    assert all(not f.path for f in compiled(deep).failures(decode('{"a":' * 120 + "{}" + "}" * 120)[0]))
    assert [f.path for f in compiled({"multipleOf": 3}).failures(decode("1e999999999")[0])] == [()]
    hard = compiled({"items": {"pattern": "(?=.*a)(?=.*b)x{5,}y"}})
    assert [f.path for f in hard.failures(["x" * 3_000] * 50)] == [()]
    many = compiled({"items": {"type": "string"}}).failures([1] * 50_000)
    assert 0 < len(many) <= 1_001
    assert time.process_time() - started < 8


def test_messages_quote_the_schema_and_never_the_value() -> None:
    schema = {"properties": {
        "a": {"type": ["string", "null"]}, "b": {"minimum": 5}, "c": {"maximum": 5}, "d": {"minLength": 3},
        "e": {"maxItems": 1}, "f": {"enum": ["x" * 200]}, "g": {"const": "k"}, "h": {"not": {}}, "i": {"pattern": "^q"},
        "j": {"oneOf": [{}, {}]}, "k": {"anyOf": [{"type": "null"}]}, "l": {"multipleOf": 7},
    }}
    value = {"a": 77, "b": 1, "c": 9, "d": "zz", "e": [77, 77], "f": "zz", "g": "zz", "h": "zz", "i": "zz", "j": "zz",
             "k": "zz", "l": 1}
    said: tuple[Failure, ...] = compiled(schema).failures(value)
    assert len(said) == len(value)
    assert all(f.message and "zz" not in f.message and "77" not in f.message for f in said)
    assert said[0].message == "is not of type string or null"
    assert len(said[5].message) < 200


def test_an_unevaluated_key_is_named_only_where_dropping_it_would_do() -> None:
    schema = {
        "anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}}],
        "unevaluatedProperties": False,
    }
    assert faults(schema, '{"b": 2, "c": 3}') == [(("c",), "extra")]
    # "a" fits no branch that would evaluate it, so the object as a whole is at fault
    assert faults(schema, '{"a": 1, "b": 2, "c": 3}') == [((), "wrong")]


def test_a_reference_that_only_another_one_leads_to_is_not_fetched_and_lets_nothing_pass() -> None:
    schema = {"$ref": "#/x/a", "x": {"a": {"properties": {"k": {"$ref": "http://elsewhere.invalid/s"}}}}}
    assert faults(schema, '{"k": 1}') == [((), "wrong")]
    assert "outside itself" in compiled(schema).failures({"k": 1})[0].message


def test_a_schema_as_deep_as_json_may_be_is_refused() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(125):
        deep = {"not": deep}
    with pytest.raises(SchemaRefused, match="nested too deeply"):
        compiled(deep)


def test_an_id_that_is_an_anchor_tells_an_older_draft() -> None:
    schema = {
        "properties": {"a": {"allOf": [{"$ref": "#word"}]}},
        "patternProperties": {"^w": {"$id": "#word", "type": "string"}},
    }
    assert compiled(schema).draft == "draft7"
    assert faults(schema, '{"a": 1}') == [(("a",), "wrong")]
    assert faults(schema, '{"a": "x"}') == []
