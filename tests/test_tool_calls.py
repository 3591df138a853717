"""Tool calls are reused whole, for the same tools and the same request, or not at all."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import CacheControl, Request, Step, StepCache, Verdict
from stepcache.errors import ConfigurationError
from stepcache.stores.memory import MemoryStore
from stepcache.tasks.tool_calls import ToolCallsSpec, tool_calls
from stepcache.testing import HashEmbedder, ScriptedModel

BOOK = {
    "name": "book_table",
    "description": "Book a table in a restaurant.",
    "parameters": {
        "type": "object",
        "properties": {
            "restaurant": {"type": "string", "description": "Its name."},
            "guests": {"type": "integer", "minimum": 1},
            "area": {"type": "string", "enum": ["inside", "terrace", "bar"], "default": "inside"},
            "quiet": {"type": "boolean"},
            "dishes": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["restaurant", "guests"],
    },
}
TAXI = {
    "type": "function",
    "function": {
        "name": "order_taxi",
        "description": "Order a taxi.",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "booking": {"type": "string"}, "seats": {"type": "integer"}},
            "required": ["to"],
        },
    },
}
TOOLS: list[dict[str, Any]] = [BOOK, TAXI]
PROMPT = "Book a table for four at Casa Verde on the terrace, then order a taxi to Casa Verde."
CALLS: list[dict[str, Any]] = [
    {"name": "book_table", "arguments": {"restaurant": "Casa Verde", "guests": 4, "area": "terrace"}, "label": "b"},
    {"name": "order_taxi", "arguments": {"to": "Casa Verde", "booking": "$b.id$", "seats": 4}},
]


def spec_of(prompt: str = PROMPT, tools: list[dict[str, Any]] | None = None) -> ToolCallsSpec:
    spec = tool_calls(TOOLS if tools is None else tools)(Request(prompt))
    assert isinstance(spec, ToolCallsSpec)
    return spec


def check(calls: Any, prompt: str = PROMPT, tools: list[dict[str, Any]] | None = None) -> Verdict:
    return spec_of(prompt, tools).check(calls if isinstance(calls, str) else json.dumps(calls))


def changed(*path: Any, to: Any, of: Any = CALLS) -> Any:
    """A copy of the calls (or of anything) with one member set, or dropped where `to` is ..."""
    made = copy.deepcopy(of)
    at = made
    for key in path[:-1]:
        at = at[key]
    if to is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return made


# --- shapes of a reply ----------------------------------------------------------------------------------------------


def openai(call: dict[str, Any]) -> dict[str, Any]:
    inner = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    made = {"id": "call_1", "type": "function", "function": inner}
    return made | ({"label": call["label"]} if "label" in call else {})


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CALLS),
        json.dumps(CALLS, indent=2),
        f"```json\n{json.dumps(CALLS)}\n```",
        json.dumps({"tool_calls": CALLS}),
        json.dumps({"role": "assistant", "content": None, "tool_calls": [openai(call) for call in CALLS]}),
        json.dumps([openai(call) for call in CALLS]),
        json.dumps(CALLS[0]),
        json.dumps({"name": "book_table", "args": CALLS[0]["arguments"], "id": "x", "type": "tool_call"}),
    ],
)
def test_calls_are_read_in_every_usual_shape(text: str) -> None:
    assert check(text).ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I have booked a table.",
        "[]",
        "{}",
        "null",
        "3",
        '"book_table"',
        "[3]",
        json.dumps(CALLS) + " Done!",
        "Sure: " + json.dumps(CALLS),
        json.dumps(CALLS)[:-1],
        json.dumps({"content": "Done!", "tool_calls": CALLS}),
        json.dumps({"tool_calls": CALLS, "note": 1}),
        json.dumps({"tool_calls": []}),
        json.dumps(CALLS[0] | {"comment": "x"}),
        json.dumps(CALLS[0] | {"args": {}}),
        json.dumps({"name": "book_table"}),
        json.dumps({"arguments": {}}),
        json.dumps(CALLS[0] | {"arguments": []}),
        json.dumps(CALLS[0] | {"arguments": "{"}),
        json.dumps(CALLS[0] | {"arguments": "{} {}"}),
        json.dumps(CALLS[0] | {"name": 3}),
        json.dumps(CALLS[0] | {"label": 3}),
        json.dumps({"function": CALLS[0], "name": "order_taxi"}),
        '{"name": "book_table", "name": "order_taxi", "arguments": {}}',
        '[{"name": "book_table", "arguments": {"restaurant": "Casa Verde", "guests": NaN}}]',
        "[" * 100_000,
        "\0",
        "\ud800",
    ],
    ids=lambda text: f"{text[:30]!r} {len(text)}",
)
def test_anything_else_fails_with_a_reason(text: str) -> None:
    verdict = spec_of().check(text)
    assert not verdict.ok
    assert verdict.detail


@settings(deadline=None, max_examples=60)
@given(st.one_of(st.text(max_size=80), st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(
        st.sampled_from(["name", "arguments", "label", "tool_calls", "function", "x"]), inner, max_size=3)),
    max_leaves=8).map(json.dumps)))  # fmt: skip
def test_any_text_gets_a_verdict_and_one_step(text: str) -> None:
    spec = spec_of()
    assert spec.check(text).check == "tool_calls"
    assert "".join(step.text for step in spec.segment(text)) == text


# --- names, arguments, references -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        (changed(0, "name", to="cancel_table"), "no such tool"),
        (changed(0, "arguments", "guests", to=...), "guests"),
        (changed(0, "arguments", "guests", to="four"), "guests"),
        (changed(0, "arguments", "guests", to=0), "guests"),
        (changed(0, "arguments", "guests", to=4.5), "guests"),
        (changed(0, "arguments", "guests", to=True), "guests"),
        (changed(0, "arguments", "area", to="roof"), "area"),
        (changed(0, "arguments", "colour", to="terrace"), "colour"),
        (changed(0, "arguments", "Restaurant", to="Casa Verde"), "Restaurant"),
        (changed(0, "arguments", "guests", to=5), "guests"),
        (changed(0, "arguments", "restaurant", to="Casa Rossa"), "restaurant"),
        (changed(0, "arguments", "dishes", to=["Casa Verde", "soup"]), "dishes[1]"),
        (changed(1, "arguments", "booking", to="$c.id$"), "booking"),
        (changed(0, "arguments", "restaurant", to="$b.name$"), "restaurant"),
        (changed(1, "label", to="b"), "label"),
        (CALLS[::-1], "booking"),
        (CALLS[1:], "booking"),
    ],
)
def test_a_call_that_does_not_fit_names_what_is_wrong(calls: Any, told: str) -> None:
    verdict = check(calls)
    assert not verdict.ok
    assert told in verdict.detail
    assert "Casa" not in verdict.detail


@pytest.mark.parametrize(
    "calls",
    [
        changed(0, "arguments", "area", to=...),
        changed(0, "arguments", "quiet", to=True),
        changed(0, "arguments", "guests", to=4.0),
        changed(1, "arguments", "seats", to="$b.guests$"),
        changed(1, "arguments", "booking", to="$b$"),
        changed(1, "arguments", "booking", to="$b.tables[0].id$"),
        CALLS[:1],
    ],
)
def test_what_fits_passes(calls: Any) -> None:
    assert check(calls).ok


def test_another_member_of_a_list_of_choices_than_the_one_named_fails() -> None:
    assert not check(changed(0, "arguments", "area", to="bar")).ok
    assert check(changed(0, "arguments", "area", to="bar"), PROMPT.replace(" on the terrace", "")).ok


def test_declared_results_bound_what_may_be_referred_to() -> None:
    tools = [BOOK | {"output_parameters": {"id": {"type": "string"}}}, TAXI]
    assert check(CALLS, tools=tools).ok
    assert not check(changed(1, "arguments", "booking", to="$b.number$"), tools=tools).ok


def test_a_tool_without_parameters_takes_none() -> None:
    for parameters in (None, {}, {"type": "object"}, {"type": "object", "properties": {}}):
        bare = {"name": "ping", "parameters": parameters}
        assert check({"name": "ping", "arguments": {}}, tools=[bare]).ok
        assert not check({"name": "ping", "arguments": {"to": "taxi"}}, tools=[bare]).ok


def test_open_parameters_stay_open() -> None:
    tool = {"name": "log", "parameters": {"type": "object", "additionalProperties": {"type": "string"}}}
    assert check({"name": "log", "arguments": {"place": "Casa Verde"}}, tools=[tool]).ok
    assert not check({"name": "log", "arguments": {"place": "Casa Rossa"}}, tools=[tool]).ok


def test_dialects_of_parameter_schemas_are_read() -> None:
    properties = {"city": {"type": "String", "required": True}, "days": {"type": "float"}, "unit": {"type": "Enum"}}
    wanted = {"name": "forecast", "arguments": {"city": "Bergen", "days": 3}}
    prompt = "Weather in Bergen for three days"
    as_dict = {
        "type": "dict",
        "properties": {"city": {"type": "string"}, "days": {"type": "float"}},
        "required": ["city"],
    }
    for tool in (
        {"name": "forecast", "parameters": as_dict},
        {"name": "forecast", "input_schema": as_dict | {"type": "object"}},
        {"name": "forecast", "inputSchema": as_dict},
        {"name": "forecast", "query_parameters": properties},
        {"type": "function", "function": {"name": "forecast", "parameters": as_dict}},
    ):
        assert check(wanted, prompt, [tool]).ok
        assert not check({"name": "forecast", "arguments": {"days": 3}}, prompt, [tool]).ok
        assert not check({"name": "forecast", "arguments": {"city": "Bergen", "days": "three"}}, prompt, [tool]).ok


def test_nested_schemas_and_local_references_are_followed() -> None:
    schema = {
        "type": "object",
        "$defs": {
            "stop": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "by": {"enum": ["bus", "rail"]}},
                "required": ["city"],
            }
        },
        "properties": {"stops": {"type": "array", "items": {"$ref": "#/$defs/stop"}}},
    }
    tool = {"name": "route", "parameters": schema}
    prompt = "A route from Ghent to Bruges"
    good = {"name": "route", "arguments": {"stops": [{"city": "Ghent"}, {"city": "Bruges", "by": "rail"}]}}
    assert check(good, prompt, [tool]).ok
    assert not check(changed("arguments", "stops", 0, "city", to=..., of=good), prompt, [tool]).ok
    assert not check(changed("arguments", "stops", 0, "city", to="Gent", of=good), prompt, [tool]).ok
    assert not check(changed("arguments", "stops", 1, "by", to="ship", of=good), prompt, [tool]).ok


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"to": {"$ref": "https://example.org/x.json"}}},
        {"type": "object", "properties": {"to": {"$ref": "#/nowhere"}}},
        {"type": "object", "properties": {"to": {"type": "string", "pattern": "("}}},
        {"type": "object", "properties": {"to": {"minLength": "x"}}},
        {"$ref": "#"},
    ],
)
def test_a_schema_that_cannot_be_checked_accepts_nothing(schema: dict[str, Any]) -> None:
    verdict = check({"name": "go", "arguments": {"to": "taxi"}}, tools=[{"name": "go", "parameters": schema}])
    assert not verdict.ok


@pytest.mark.parametrize(
    "tools",
    [
        "book_table",
        {"name": "x"},
        [3],
        [None],
        [{}],
        [{"name": 3}],
        [{"name": ""}],
        [{"function": 3}],
        [{"name": "x", "parameters": 3}],
        [{"name": "x", "parameters": {"default": {1, 2}}}],
        [{"name": "x", "parameters": {"default": float("nan")}}],
        [{"name": "x", "parameters": {1: 2, "a": 3}}],
    ],
)
def test_what_is_no_list_of_tools_is_refused(tools: Any) -> None:
    with pytest.raises(ConfigurationError):
        tool_calls(tools)


def test_endless_tools_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"properties": {"a": deep}}
    round_about: dict[str, Any] = {}
    round_about["self"] = round_about
    for schema in (deep, round_about):
        with pytest.raises(ConfigurationError):
            tool_calls([{"name": "x", "parameters": schema}])


def test_without_tools_nothing_is_recognised() -> None:
    for prompt in (PROMPT, "Call book_table(restaurant='Casa Verde').", json.dumps(CALLS), json.dumps(TOOLS)):
        assert tool_calls()(Request(prompt)) is None
    assert tool_calls([])(Request(PROMPT)) is None


# --- which requests share calls -------------------------------------------------------------------------------------


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def test_the_order_of_keys_in_tools_is_no_difference() -> None:
    assert reordered(TOOLS) == TOOLS
    assert spec_of(tools=reordered(TOOLS)).identity == spec_of().identity


OTHER_TOOLS = {
    "a tool more": [*TOOLS, {"name": "cancel", "parameters": {}}],
    "a tool less": TOOLS[:1],
    "another order": TOOLS[::-1],
    "a description": changed(0, "description", to="Book a table in a bar.", of=TOOLS),
    "a parameter's description": changed(0, "parameters", "properties", "restaurant", "description", to="", of=TOOLS),
    "a renamed argument": changed(0, "parameters", "properties", "place", to={"type": "string"}, of=TOOLS),
    "a narrowed enum": changed(0, "parameters", "properties", "area", "enum", to=["inside", "terrace"], of=TOOLS),
    "an enum in another order": changed(0, "parameters", "properties", "area", "enum", 0, to="bar", of=TOOLS),
    "a new demand": changed(0, "parameters", "required", to=["restaurant", "guests", "area"], of=TOOLS),
    "a default": changed(0, "parameters", "properties", "area", "default", to="bar", of=TOOLS),
    "strictness": changed(1, "function", "strict", to=True, of=TOOLS),
}


def cache_with(prompt: str, calls: Any) -> StepCache:
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=())
    result = cache.complete(Request(prompt, spec=tool_calls(TOOLS)), ScriptedModel(json.dumps(calls)))
    assert result.recorded
    return cache


def source(cache: StepCache, prompt: str, tools: Any = TOOLS, reply: str = "none") -> str:
    request = Request(prompt, spec=tool_calls(tools), control=CacheControl(no_store=True))
    return cache.complete(request, ScriptedModel(reply)).source


@pytest.mark.parametrize("tools", OTHER_TOOLS.values(), ids=OTHER_TOOLS)
def test_other_tools_never_get_the_old_calls(tools: Any) -> None:
    assert spec_of(tools=tools).identity != spec_of().identity
    cache = cache_with(PROMPT, CALLS)
    assert source(cache, PROMPT, tools) not in {"cache", "rewrite", "patch"}
    assert source(cache, PROMPT.replace("Book", "Please book"), tools) not in {"cache", "rewrite", "patch"}
    assert source(cache, PROMPT) == "cache"


@pytest.mark.parametrize(
    "prompt",
    [
        PROMPT.replace("four", "five"),
        PROMPT.replace("Casa Verde", "Casa Rossa"),
        PROMPT.replace("the terrace", "the bar"),
        PROMPT.replace("then order a taxi", "then cancel the taxi"),
        PROMPT.replace(", then order a taxi to Casa Verde", ""),
        "Order a taxi to Casa Verde, then book a table for four at Casa Verde on the terrace.",
        "Don't book a table for four at Casa Verde on the terrace, just order a taxi to Casa Verde.",
    ],
)
def test_another_request_never_gets_the_old_calls(prompt: str) -> None:
    assert source(cache_with(PROMPT, CALLS), prompt) not in {"cache", "rewrite", "patch"}


def test_the_same_request_in_politer_words_gets_them_whole() -> None:
    cache = cache_with(PROMPT, CALLS)
    request = Request("Please " + PROMPT[0].lower() + PROMPT[1:], spec=tool_calls(TOOLS))
    result = cache.complete(request, ScriptedModel("none"))
    assert (result.source, result.calls) == ("cache", 0)
    assert json.loads(result.output) == CALLS


def test_calls_that_fail_are_not_recorded() -> None:
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=())
    request = Request(PROMPT, spec=tool_calls(TOOLS))
    invented = json.dumps(changed(0, "arguments", "guests", to=7))
    result = cache.complete(request, ScriptedModel(invented))
    assert not result.verified
    assert not result.recorded


def test_calls_are_never_patched_as_text() -> None:
    spec = spec_of()
    steps = spec.segment(json.dumps(CALLS))
    assert steps == (Step(json.dumps(CALLS)),)
    assert spec.plan_patch(PROMPT, steps, (Verdict(False),)) is None
    assert spec.fallback() is None


def test_tools_changed_after_the_task_was_made_do_not_count() -> None:
    tools = copy.deepcopy(TOOLS)
    task = tool_calls(tools)
    before = task(Request(PROMPT))
    tools.append({"name": "cancel"})
    after = task(Request(PROMPT))
    assert before is not None
    assert after is not None
    assert before.identity == after.identity == spec_of().identity


def one_parameter(schema: Any) -> list[dict[str, Any]]:
    return [{"name": "paint", "parameters": {"type": "object", "properties": {"coat": schema}, "required": ["coat"]}}]


@pytest.mark.parametrize(("schema", "passing", "failing"), [
    ({"type": ["string", "null"]}, ["red", None], [3]),
    ({"type": ["int", "float"]}, [3, 2.5], ["red"]),
    ({"type": "string", "allowed_values": ["red", "blue"]}, ["red"], ["green"]),
    ({"$ref": "#/$defs/coat", "$defs": {"coat": {"type": "string"}}}, [], [True]),
])
def test_the_words_that_tool_lists_use_for_types_and_choices_are_understood(schema, passing, failing) -> None:
    prompt = "Paint it red with 3 coats of 2.5 mm, not green, and true to life."
    for value in passing:
        assert check([{"name": "paint", "arguments": {"coat": value}}], prompt, one_parameter(schema)).ok, value
    for value in failing:
        assert not check([{"name": "paint", "arguments": {"coat": value}}], prompt, one_parameter(schema)).ok, value


def test_tools_are_json_values_of_any_mapping_and_of_a_depth_that_can_be_read() -> None:
    from types import MappingProxyType

    seen = tool_calls([MappingProxyType(BOOK)])(Request(PROMPT))  # type: ignore[list-item]
    assert seen is not None
    assert seen.identity == tool_calls([BOOK])(Request(PROMPT)).identity  # type: ignore[union-attr]
    with pytest.raises(ConfigurationError, match="JSON values only"):
        tool_calls([{"name": "paint", "parameters": {"default": object()}}])
    deep: Any = {}
    for _ in range(150):
        deep = {"properties": {"a": deep}}
    with pytest.raises(ConfigurationError, match="deep"):
        tool_calls([{"name": "paint", "parameters": deep}])


def test_an_endless_reply_holds_no_calls() -> None:
    verdict = spec_of().check(json.dumps(CALLS) + " " * 2_000_000)
    assert not verdict.ok
    assert "too long" in verdict.detail


@pytest.mark.parametrize("trace", ["", "{", "[]", "7", '{"tool": 1}', "[" * 5_000])
def test_a_record_that_does_not_tell_its_tools_is_none_of_these(trace: str) -> None:
    from dataclasses import replace

    cache = StepCache(MemoryStore(), None, tasks=(tool_calls(TOOLS),))
    assert cache.record(PROMPT, json.dumps(CALLS))
    entry, = (entry for entry, _ in cache.store.scan())
    spec = spec_of()
    assert all(spec.verify(entry.steps, entry))
    assert not any(spec.verify(entry.steps, replace(entry, trace=trace)))


@pytest.mark.parametrize(("prompt", "schema", "passing", "failing"), [
    ("Paint it matt b,5 or c.", {"type": "string"}, ["b"], ["d"]),
    ("Paint it red.", {"type": "string", "allowed_values": "red or blue"}, ["red"], []),  # no list says nothing
    ("Paint it red.", {"anyOf": [{"type": "string"}, {"type": "null"}]}, ["red", None], [3]),
    ("Paint it 3 times.", {"$ref": "colours.json"}, [], [3]),  # nothing is fetched
])
def test_values_stand_in_the_request_as_they_are(prompt, schema, passing, failing) -> None:
    for value in passing:
        assert check([{"name": "paint", "arguments": {"coat": value}}], prompt, one_parameter(schema)).ok, value
    for value in failing:
        assert not check([{"name": "paint", "arguments": {"coat": value}}], prompt, one_parameter(schema)).ok, value


def test_an_amount_beyond_all_reckoning_is_named_by_no_request() -> None:
    reply = '[{"name": "paint", "arguments": {"coat": 1e999999}}]'
    verdict = spec_of("Paint it 1e999999 times.", one_parameter({"type": "number"})).check(reply)
    assert not verdict.ok


def test_tools_may_hold_themselves() -> None:
    tools = [{"name": "paint", "parameters": {
        "type": "object", "properties": {"coat": {"type": "string"}, "under": {"$ref": "#"}}, "required": ["coat"]}}]
    reply = [{"name": "paint", "arguments": {"coat": "red", "under": {"coat": "white"}}}]
    assert check(reply, "Paint it red over white.", tools).ok
    assert not check(reply, "Paint it red over blue.", tools).ok
