"""Entries as text: exact, bounded, and deaf to whatever else a record may hold."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache._codec import (
    MAX_DEPTH,
    MAX_RECORD_CHARS,
    copy_json,
    decode,
    decode_line,
    encode,
    encode_line,
    unpack_vector,
)
from stepcache._data import Entry, Request, Step, Usage
from stepcache.errors import StoreError
from stepcache.testing._store_contract import an_entry

texts = st.text(st.characters(), max_size=30)  # lone surrogates and NUL included
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
counts = st.none() | st.integers(0, 10**6)
times = st.floats(0, 1e10) | st.integers(0, 10**10)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    request = Request(
        draw(texts), namespace=draw(texts), model=draw(texts), temperature=draw(st.none() | st.floats(0, 2)),
        multi_turn=draw(st.booleans()), exact_only=draw(st.booleans()),
    )
    return Entry(
        key=request.key, request=request, partition=request.partition, task=draw(texts),
        steps=tuple(map(Step, draw(st.lists(texts, max_size=4)))), residue=draw(texts), shape=draw(texts),
        template=draw(texts), trace=draw(texts), payload=draw(json_values),
        usage=draw(st.none() | st.builds(Usage, counts, counts)), finish_reason=draw(st.none() | texts),
        created_at=draw(times), expires_at=draw(st.none() | times), fingerprint=draw(texts),
        tags=tuple(draw(st.lists(texts, max_size=3))),
    )


@given(entries())
@settings(max_examples=150, deadline=None)
def test_what_is_read_is_what_was_written(entry: Entry) -> None:
    text = encode(entry)
    text.encode()  # any file and any database takes it
    got = decode(text)
    assert got == entry
    assert repr(got) == repr(entry)  # 1.0 stays 1.0, True stays True, -0.0 keeps its sign


@given(entries(), st.none() | st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_line_keeps_entry_and_vector(entry: Entry, vector: list[float] | None, signed: bool) -> None:
    key = b"k" if signed else None
    line = encode_line(entry, vector, key)
    assert "\n" not in line
    assert decode_line(line, key) == (entry, None if vector is None else tuple(vector))
    assert decode_line(line) == (entry, None if vector is None else tuple(vector))


def test_two_lone_surrogates_do_not_become_one_character() -> None:
    entry = an_entry(payload={"a": "\ud83d" + "\ude00", "b": "\U0001f600"})
    got = decode(encode(entry))
    assert got is not None
    assert got.payload == entry.payload
    assert len(got.payload["a"]) == 2


def test_a_payload_that_is_not_json_is_refused_when_written() -> None:
    payloads: list[Any] = [{1: "a"}, {"a": {1, 2}}, b"bytes", float("nan"), [float("inf")], object(), [10**5000]]
    for payload in payloads:
        with pytest.raises(StoreError):
            encode(an_entry(payload=payload))


def test_subclasses_of_plain_values_are_kept_as_plain_values() -> None:
    class Word(str):
        pass

    class Count(int):
        pass

    copied = copy_json({Word("a"): Word("b"), "n": Count(3), "t": (1, 2)})
    assert copied == {"a": "b", "n": 3, "t": [1, 2]}
    assert [type(value) for value in (*copied, copied["a"], copied["n"])] == [str, str, str, str, int]


def test_depth_and_size_are_bounded() -> None:
    deep: Any = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    with pytest.raises(StoreError):
        encode(an_entry(payload=deep))
    with pytest.raises(StoreError):
        encode(an_entry(reply="x" * (MAX_RECORD_CHARS + 1)))
    assert decode(encode(an_entry(payload=deep[0]))) is not None


_no_records: list[Any] = [
    "", "null", "[]", "{}", "1", '"text"', "[" * 100_000, '{"v":' * 100_000, "{" + "\x00" * 10, '{"v":1}',
    '{"v":1,"surrogates":"!"}', '{"v":1,"surrogates":"e30="}', "9" * 10_000, b"bytes", None, 7,
    '{"lc":1,"type":"constructor","id":["os","system"],"kwargs":{"command":"true"}}',
    "\x80\x04\x95\x1d\x00cposix\nsystem\n", "x" * (2 * MAX_RECORD_CHARS + 1),
]


def test_what_is_no_record_is_nothing() -> None:
    for text in _no_records:
        assert decode(text) is None
        assert not isinstance(text, str) or decode_line(text) is None


_wrong: list[Any] = [None, 1, 1.5, True, "", "x", [], [1], {}, {"a": 1}, [None], "\ud800", 2**70, -1, [["a"]], "1e999"]


def test_a_record_with_a_wrong_field_is_nothing_or_well_formed() -> None:
    whole = json.loads(encode(an_entry(
        template="t", payload={"a": 1}, usage=Usage(1, 2), finish_reason="stop", expires_at=5.0, tags=("a",),
        residue="r", shape="s", trace="{}")))
    for name in whole:
        for value in _wrong:
            got = decode(json.dumps({**whole, name: value}))
            assert got is None or decode(encode(got)) == got
        assert decode(json.dumps({**whole, name + "x": 1})) is None
    for name in ("v", "key", "prompt", "namespace", "partition", "task", "steps"):
        assert decode(json.dumps({field: value for field, value in whole.items() if field != name})) is None
    assert decode(json.dumps({**whole, "v": 2})) is None
    assert decode(json.dumps({**whole, "created_at": float("nan")})) is None
    assert decode(json.dumps(whole).replace('"created_at": 1000.0', '"created_at": 1e999')) is None
    assert decode(json.dumps(whole).replace('{"a": 1}', '{"a": NaN}')) is None


def test_a_damaged_record_never_crashes() -> None:
    rng = random.Random(1)
    whole = encode(an_entry(payload={"a": [1, {"b": None}], "c": "é"}, usage=Usage(1, None), tags=("x",)))
    for _ in range(2000):
        text = list(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text))
            match rng.randrange(4):
                case 0:
                    del text[at]
                case 1:
                    text[at] = chr(rng.choice([0, 34, 44, 58, 91, 93, 123, 125, 0xD800, 0x1F600]))
                case 2:
                    text.insert(at, rng.choice('{}[]",:0\\u'))
                case _:
                    text = text[:at] or ["{"]
        got = decode("".join(text))
        assert got is None or isinstance(got, Entry)


def test_a_signature_covers_record_and_vector() -> None:
    entry = an_entry()
    line = json.loads(encode_line(entry, (1.0, 0.0), b"key"))
    other = json.loads(encode_line(replace(entry, steps=(Step("another"),)), (0.0, 1.0), b"key"))
    assert decode_line(json.dumps(line), b"key") is not None
    assert decode_line(json.dumps(line), b"other key") is None
    for name in ("record", "vector", "signature"):
        assert decode_line(json.dumps({**line, name: other[name]}), b"key") is None
    for signature in (None, "", 7, "é", "0" * 64):
        assert decode_line(json.dumps({**line, "signature": signature}), b"key") is None
    assert decode_line(encode_line(entry, None), b"key") is None


def test_a_damaged_vector_is_none() -> None:
    texts: list[Any] = ["", "!", "AAA", None, 5, "AAAA" * 200_000, "AADAfw==", "AACAfw=="]
    assert [unpack_vector(text) for text in texts] == [None] * len(texts)
