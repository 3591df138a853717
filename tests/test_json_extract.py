"""The one JSON value of a reply is found strictly, wherever it stands; what is doubtful is refused with a reason."""

from __future__ import annotations

import json
import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache.tasks._json.decode import MAX_DEPTH, NotJson, canonical, compact, decode
from stepcache.tasks._json.extract import MAX_CHARS, Found, Refused, extract
from stepcache.tasks._json.lenient import mended_at

OBJECT = '{"town": "Linz", "river": "Danube"}'

leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)


def found(reply: str) -> str:
    result = extract(reply)
    assert isinstance(result, Found), result
    return result.json


def reason(reply: str) -> str:
    result = extract(reply)
    assert isinstance(result, Refused), result
    return result.reason


@pytest.mark.parametrize("tag", ["json", "JSON", "Json", "json5", "jsonc", "application/json", "", 'json title="x"'])
@pytest.mark.parametrize("mark", ["```", "~~~", "````", "~~~~~"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_fence_of_any_make_is_opened(tag: str, mark: str, newline: str) -> None:
    reply = newline.join(["Here you are!", f"{mark}{tag}", OBJECT, mark, "Anything more?"])
    assert found(reply) == OBJECT


@pytest.mark.parametrize("reply", [
    f"  ```json\n  {OBJECT}\n  ```",
    f"```json\n{OBJECT}",
    f"```json\n{OBJECT}```",
    f"```json {OBJECT} ```",
    f"Inline: `{OBJECT}` is it.",
    f"Result: {OBJECT}. Done.",
    f"\ufeff{OBJECT}",
    f"Of `grep`: {OBJECT}",
    f"As said in [1] and [2, 3], it is {OBJECT}",
    f"Fill {{town}} in: {OBJECT}",
    f"- [ ] {OBJECT}",
    f"See [the docs](x): {OBJECT}",
    f"Point [1 below]: {OBJECT}",
    f"{OBJECT}\n\nAgain: {OBJECT}",
    f"{OBJECT}\n```",
])
def test_an_object_is_found_in_prose_and_half_made_fences(reply: str) -> None:
    assert found(reply) == OBJECT


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "````json\n{}\n````", "So:\n```\n{}\n```\n"])
@pytest.mark.parametrize("inner", [
    {"md": "run ```py\nprint(1)\n``` now", "n": 1},
    {"t": 'a } b "c" { d \\'},
    {"json": '{"x": [1, 2}'},
    {"html": "<think>not really</think>"},
    {"fence": "~~~"},
])
def test_what_stands_in_a_string_is_no_structure(wrap: str, inner: dict[str, object]) -> None:
    text = json.dumps(inner)
    assert json.loads(found(wrap.replace("{}", text, 1))) == inner


def test_a_fence_in_another_language_is_passed_over() -> None:
    shell = '```bash\necho {"town": "Graz"}\n```\n'
    assert found(shell + f"```json\n{OBJECT}\n```") == OBJECT
    assert found(shell + OBJECT) == OBJECT
    assert reason(shell) == "there is no JSON in the reply"


@pytest.mark.parametrize("thinking", [
    '<think>perhaps {"a": 0}?</think>\n', '<THINKING>{"a": 0}</THINKING>', "<think>a</think><think>b</think>",
    'perhaps {"a": 0}?</think>\n', "\n<reasoning>{</reasoning> ",
])
def test_thinking_text_is_no_answer(thinking: str) -> None:
    assert found(thinking + OBJECT) == OBJECT


def test_thinking_that_never_ends_has_no_answer() -> None:
    assert "never ends" in reason('<think>I would say {"a": 5}')


@pytest.mark.parametrize(("reply", "why"), [
    ("", "empty"),
    (" \n\t", "empty"),
    ("No idea.", "no JSON"),
    ('{"name": "Ana", "items": ["x", "y', "cut off"),
    ('{"name": "Ana", ', "cut off"),
    ('{"a": 1} {"a": 2}', "several"),
    ('```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', "several"),
    ('{"a": 1}\n[{"b": 2}]', "several"),
    ('```json\n{"a": 1}\n{"a": 2}\n```', "more than one"),
    ('{"a": 1, "a": 1}', "twice"),
    ('{"b": {"a": 1, "a": 2}}', "twice"),
    ('{"score": NaN}', "NaN"),
    ('{"score": -Infinity}', "Infinity"),
    ('{"half": "\\ud83d"}', "surrogate"),
    ('{"half\\udc00": 1}', "surrogate"),
    ('{"raw": "\ud800"}', "surrogate"),
    ('{"a": 1,}', "not valid JSON"),
    ("{'a': 1}", "not valid JSON"),
    ('{"a": 01}', "not valid JSON"),
    ('{"a": "line\nbreak"}', "not valid JSON"),
    ('```json\n{"a": }\n```', "not valid JSON"),
    ('{"a": {"b": 1}}}', "bracket too many"),
    ('{"a": 1}, "b": 2}', "bracket too many"),
    ('{"a": 1e99999999999999999999}', "too large"),
])
def test_what_is_doubtful_is_refused_with_its_reason(reply: str, why: str) -> None:
    assert why in reason(reply)


@pytest.mark.parametrize("reply", ["null", "true", '"text"', "{}", "[]", "0", '[{"a": 1}, {"a": 2}]', "-1.5e3"])
def test_any_json_value_is_a_reply_of_its_own(reply: str) -> None:
    assert found(reply) == reply
    assert found(f"```json\n{reply}\n```") == reply


def test_valid_surrogate_pairs_and_real_characters_are_read() -> None:
    result = extract('{"e": "\\ud83d\\ude00", "p": "C:\\\\tmp\\\\n"}')
    assert isinstance(result, Found)
    assert result.value == {"e": "😀", "p": "C:\\tmp\\n"}


def test_numbers_keep_their_digits() -> None:
    text = '{"id": 12345678901234567890123, "price": 0.10, "v": 1.0, "x": 1E400}'
    result = extract(text)
    assert isinstance(result, Found)
    assert result.json == text
    assert result.value["id"] == 12345678901234567890123
    assert result.value["price"] == Decimal("0.10")
    assert canonical(result.value) == '{"id": 12345678901234567890123, "price": 0.10, "v": 1.0, "x": 1E+400}'
    assert canonical(decode("9" * 5_000)[0]) == "9" * 5_000


@settings(max_examples=150, deadline=None)
@given(values, st.sampled_from([None, 0, 2, "\t"]), st.sampled_from(["{}", "```json\n{}\n```", "<think>x</think>{}"]))
def test_every_value_comes_back_whole(value: object, indent: int | str | None, around: str) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    result = extract(around.replace("{}", text, 1))
    assert isinstance(result, Found)
    assert result.json == text
    assert json.loads(canonical(result.value)) == value
    assert json.loads(compact(result.json)) == value


PIECES = [*'{}[]",:\\`~ \n1ae<>/', "null", "\ud800", "think", "```json\n"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_is_answered_or_refused(reply: str) -> None:
    result = extract(reply)
    if isinstance(result, Found):
        assert decode(result.json)[0] == result.value
    else:
        assert result.reason


@pytest.mark.parametrize("reply", [
    "[" * 100_000, "{" * 100_000, '{"a":' * 5_000, "[1," * 200_000, '{"a":"' + "\\" * 999_999, '"' * 1_000_000,
    "```json\n" * 100_000, "```\n" * 200_000, "~~~\n```\n" * 100_000, "<think>" * 100_000, "</think>" * 100_000,
    '{"a":1} ' * 100_000, "{x} " * 200_000, "\0" * 1_000_000, '{"a":"' + "x" * 10_000_000 + '"}', "[0" + ",0" * 400_000,
])
def test_hostile_replies_are_refused_quickly(reply: str) -> None:
    started = time.process_time()
    assert reason(reply)
    assert time.process_time() - started < 2


def test_depth_and_length_have_a_limit() -> None:
    assert found("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert "deeply" in reason("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert "too long" in reason(" " * (MAX_CHARS + 1))
    with pytest.raises(NotJson):
        decode("x")


@pytest.mark.parametrize(("reply", "mended"), [
    ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
    ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}),
    ('{"a": 1 /* x */, // y\n "b": 2 # z\n}', {"a": 1, "b": 2}),
    ("{“a”: “b”, „c“: ‘d’}", {"a": "b", "c": "d"}),
    ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}),
    ('{"a": "two\nlines\tand\x01"}', {"a": "two\nlines\tand\x01"}),
    ("Sure:\n```json\n{'a': 'None', 'b': ['None', None]}\n```", {"a": "None", "b": ["None", None]}),
    ('{"a": "http://x/*y*/"}', {"a": "http://x/*y*/"}),
])
def test_what_is_almost_json_is_mended_only_where_allowed(reply: str, mended: object) -> None:
    result = extract(reply, repair=True)
    assert isinstance(result, Found)
    assert result.value == mended
    strict = extract(reply)
    assert result.repaired is isinstance(strict, Refused)


@pytest.mark.parametrize("reply", [
    '{"a": NaN,}', "{'a': 'it's'}", "{'a': 1", "{'a': 1, 'a': 2}", "{'a' 1}", "nothing", "{'a': '", '{"a": 1}} {',
    "[" * 50_000, "{'a': \\x}",
])
def test_what_cannot_be_mended_stays_refused(reply: str) -> None:
    assert isinstance(extract(reply, repair=True), Refused)


def test_mending_ends_where_the_value_ends() -> None:
    assert mended_at("x {'a': 1,} y", 2) == ('{"a": 1}', 11)
    assert mended_at("{'a': 1", 0) is None
