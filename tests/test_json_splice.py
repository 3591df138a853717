"""Changing a member of JSON text leaves every other byte as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache.tasks._json.spans import pieces, pointer, span_at
from stepcache.tasks._json.splice import drop_members, put_member, replace_span

keys = st.text(st.characters(codec="utf-8"), min_size=0, max_size=6)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(codec="utf-8"), max_size=6))
flat = st.one_of(scalars, st.lists(scalars, max_size=3), st.dictionaries(keys, scalars, max_size=3))
objects = st.dictionaries(keys, flat, min_size=1, max_size=5)
layouts = st.sampled_from(
    [(None, (", ", ": ")), (None, (",", ":")), (2, (",", ": ")), (4, (",", " : ")), ("\t", (",", ": "))]
)


def written(value: object, layout: tuple[object, tuple[str, str]]) -> str:
    return json.dumps(value, indent=layout[0], separators=layout[1], ensure_ascii=False)  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None)
@given(objects, keys, flat, layouts)
def test_a_new_member_is_added_and_nothing_else_changes(
    old: dict[str, object], key: str, value: object, layout: tuple[object, tuple[str, str]]
) -> None:
    old.pop(key, None)
    text = written(old, layout)
    new = put_member(text, 0, key, json.dumps(value), [*old, key])
    assert json.loads(new) == {**old, key: value}
    assert list(json.loads(new)) == [*old, key]
    assert drop_members(new, 0, {key}) == text or not old


@settings(max_examples=150, deadline=None)
@given(objects, flat, layouts, st.data())
def test_a_replaced_value_leaves_the_bytes_around_it(
    old: dict[str, object], value: object, layout: tuple[object, tuple[str, str]], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(list(old)))
    text = written(old, layout)
    start, end = span_at(text, 0, (key,)) or (0, 0)
    new = put_member(text, 0, key, json.dumps(value), list(old))
    assert new.startswith(text[:start])
    assert new.endswith(text[end:])
    assert json.loads(new) == {**old, key: value}


@settings(max_examples=150, deadline=None)
@given(objects, layouts, st.data())
def test_dropped_members_go_with_one_comma_each(
    old: dict[str, object], layout: tuple[object, tuple[str, str]], data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.sampled_from(list(old))))
    text = written(old, layout)
    new = drop_members(text, 0, gone)
    kept = {key: value for key, value in old.items() if key not in gone}
    assert json.loads(new) == kept
    if kept:
        assert new == written(kept, layout)
    for piece in pieces(text, 0)[0]:
        if piece.key not in gone:
            assert text[piece.start:piece.value_end] in new


@pytest.mark.parametrize(("text", "key", "order", "new"), [
    ('{"a":1,"c":3}', "b", "abc", '{"a":1,"b":9,"c":3}'),
    ('{"b": 2}', "a", "ab", '{"a": 9, "b": 2}'),
    ('{"b":2}', "a", "ab", '{"a":9,"b":2}'),
    ('{\n  "b": 2\n}', "a", "ab", '{\n  "a": 9,\n  "b": 2\n}'),
    ('{\r\n\t"a": 1\r\n}', "b", "ab", '{\r\n\t"a": 1,\r\n\t"b": 9\r\n}'),
    ("{}", "a", "a", '{"a": 9}'),
    ("{ }", "a", "a", '{"a": 9}'),
    ('{"x": 1}', "a", "", '{"x": 1, "a": 9}'),
    ('{"x": 1}', "a", "a", '{"x": 1, "a": 9}'),
    ('{ "a" : 1 , "b" : 2 }', "c", "abc", '{ "a" : 1 , "b" : 2 , "c" : 9 }'),
])
def test_a_new_member_stands_in_its_place_and_style(text: str, key: str, order: str, new: str) -> None:
    assert put_member(text, 0, key, "9", list(order)) == new


def test_a_nested_value_is_laid_out_like_its_surroundings() -> None:
    text = '{\n    "a": 1\n}'
    new = put_member(text, 0, "b", '{"x":[1.0,{}],"y":[]}', ["a", "b"])
    assert new == (
        '{\n    "a": 1,\n    "b": {\n'
        '        "x": [\n            1.0,\n            {}\n        ],\n        "y": []\n    }\n}'
    )
    assert put_member('{"a":1}', 0, "b", '{ "x" : [1, 2] }', []) == '{"a":1,"b":{"x":[1,2]}}'
    assert replace_span('{"a": 1}', (6, 7), '[ 1,2 ]') == '{"a": [1, 2]}'
    assert replace_span('{\n "a": 1\n}', (8, 9), "[1]") == '{\n "a": [\n  1\n ]\n}'


def test_places_are_found_by_path() -> None:
    text = '{"a": [10, {"b/c~": "x"}], "e": []}'
    start, end = span_at(text, 0, ("a", 1, "b/c~")) or (0, 0)
    assert text[start:end] == '"x"'
    assert pointer(("a", 1, "b/c~")) == "/a/1/b~1c~0"
    assert span_at(text, 0, ()) == (0, len(text))
    assert span_at(text, 0, ("a", "b")) is None
    assert span_at(text, 0, ("a", 5)) is None
    assert span_at("1", 0, ()) is None
    assert pieces(text, text.index("[]"))[0] == ()
    assert drop_members(text, 0, {"nope"}) == text
