"""A hostile model never gets a wrong reply served as verified or recorded, however it is asked.

The referees here know the right answer from how the request was made and share no code with the specs.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from stepcache import CacheControl, Policy, Request, Result, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import json_schema
from stepcache.testing import ScriptedModel

Way = Callable[[StepCache, Request, ScriptedModel], Result]


def invoked(cache: StepCache, request: Request, model: ScriptedModel) -> Result:
    return cache.complete(request, model)


def awaited(cache: StepCache, request: Request, model: ScriptedModel) -> Result:
    return asyncio.run(cache.acomplete(request, model.acall))


def streamed(cache: StepCache, request: Request, model: ScriptedModel) -> Result:
    *pieces, result = cache.stream(request, model.stream)
    assert isinstance(result, Result)
    assert "".join(map(str, pieces)) == result.output  # nothing is shown that is not the answer
    return result


def streamed_async(cache: StepCache, request: Request, model: ScriptedModel) -> Result:
    async def main() -> Result:
        *pieces, result = [piece async for piece in cache.astream(request, model.astream)]
        assert isinstance(result, Result)
        assert "".join(map(str, pieces)) == result.output
        return result

    return asyncio.run(main())


WAYS: Sequence[Way] = (invoked, awaited, streamed, streamed_async)
ways = pytest.mark.parametrize("way", WAYS, ids=[way.__name__ for way in WAYS])
often = settings(max_examples=40, deadline=None)
policies = st.sampled_from([{}, {"rewrite": False}, {"rewrite": False, "patch": False}, {"max_repairs": 0}])


# Equations. A problem is (a, b, x): a x + b = c with the solution x.

Problem = tuple[int, int, int]
problems = st.tuples(st.integers(2, 9), st.integers(1, 9), st.integers(2, 30))


def prompt_of(problem: Problem) -> str:
    a, b, x = problem
    return f"Solve {a}x + {b} = {a * x + b} for x."


def worked(problem: Problem, answer: int | None = None) -> list[str]:
    a, b, x = problem
    return [
        f"Subtract {b} from both sides: {a}x = {a * x}",
        f"Divide both sides by {a}: x = {x if answer is None else answer}",
        f"x = {x if answer is None else answer}",
    ]


def bad_equation_replies(problem: Problem, other: Problem) -> dict[str, str]:
    """A reply of each hostile kind; some hold the right answer among what is wrong."""
    a, b, x = problem
    lines = worked(problem)
    return {
        "wrong constants": "\n".join(worked(other)),
        "an invented answer": "\n".join(worked(problem, x + 1)),
        "an invented step": "\n".join([f"Subtract {b + 1} from both sides: {a}x = {a * x}", *lines[1:]]),
        "arithmetic made up": "\n".join([f"{a * x + b} - {b} = {a * x + 1}", *lines]),
        "chatter": "Sure, I'd love to!\n" + lines[-1] + f"\nAnother way gives x = {x + 2}. Hope it helps!",
        "another answer in words": "\n".join(lines) + "\nSo the answer is zero.",
        "a unit": lines[-1] + " kg",
        "a denial": lines[-1] + " is not the solution.",
        "no answer": lines[0],
        "nothing": "",
        "JSON": json.dumps({"x": x + 1}),
        "endless": (lines[0] + "\n") * 3_000,
        "endless and right": "\n".join(lines * 3_000),
        "cut": "\n".join(lines[:2])[: -len(str(x))],
        "right": "\n".join(lines),
        "right, with prose": "Let us see.\n" + "\n".join(lines),
    }


def last_value(reply: str) -> Fraction | None:
    found = re.findall(r"x = (-?\d+(?:/\d+)?)", reply)
    return Fraction(found[-1]) if found else None


def solves(prompt: str, reply: str) -> bool:
    """Whether a reply ends in the solution and holds no equation in x with another one; by arithmetic alone."""
    asked = re.fullmatch(r"Solve (\d+)x \+ (\d+) = (\d+) for x\.", prompt)
    assert asked is not None
    a, b, c = map(int, asked.groups())
    solution = Fraction(c - b, a)
    stated = re.findall(r"(?<![\d+\-] )(?<![\w])(\d*)x(?: \+ (\d+))? = (-?\d+)(?![\d/])", reply)
    return last_value(reply) == solution and all(
        Fraction(int(right) - int(plus or 0), int(left or 1)) == solution for left, plus, right in stated
    )


@ways
@often
@given(problems, problems, st.lists(st.integers(0, 15), min_size=4, max_size=4), policies)
def test_whatever_a_model_says_of_an_equation_only_the_solution_is_verified_and_recorded(
    way: Way, base: Problem, asked: Problem, picks: list[int], options: dict[str, Any]
) -> None:
    cache = StepCache(MemoryStore(), policy=Policy(**options))
    assert cache.complete(prompt_of(base), ScriptedModel("\n".join(worked(base)))).recorded
    kinds = list(bad_equation_replies(asked, base).values())
    model = ScriptedModel([kinds[pick] for pick in picks])
    result = way(cache, Request(prompt_of(asked)), model)
    assert result.verified  # the fallback at the latest
    assert solves(prompt_of(asked), result.output)
    assert len(model.calls) <= 3
    for entry, _ in cache.store.scan():
        assert solves(entry.request.prompt, entry.reply)
    assert cache.complete(prompt_of(base), ScriptedModel("x = 0")).source == "cache"


@pytest.mark.parametrize("kind", [kind for kind in bad_equation_replies((2, 3, 5), (3, 4, 6)) if "right" not in kind])
@ways
def test_each_hostile_kind_is_told_for_an_equation_and_nothing_of_it_is_kept(way: Way, kind: str) -> None:
    asked = (2, 3, 5)
    reply = bad_equation_replies(asked, (3, 4, 6))[kind]
    cache = StepCache(MemoryStore())
    result = way(cache, Request(prompt_of(asked)), ScriptedModel(reply))
    assert result.source == "fallback"
    assert solves(prompt_of(asked), result.output)
    assert [entry for entry, _ in cache.store.scan()] == []


# JSON. The recorded object has name and age; the next request wants an address as well.

NAME, AGE = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 0, "maximum": 130}
ROLE = {"enum": ["user", "admin"]}
HOME = {"type": "object", "properties": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}}, "required": ["zip"]}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


BEFORE, NOW = schema(name=NAME, age=AGE), schema(name=NAME, age=AGE, role=ROLE, home=HOME)
RECORDED = '{"name": "Ida", "age": 30}'
PATCH = {"role": "admin", "home": {"zip": "89073"}}
WHOLE = {"name": "Ida", "age": 30, **PATCH}
ABOUT = "Ida is 30, an admin, and lives at 89073 Ulm."
BAD_JSON = {
    "an invented value": json.dumps({**PATCH, "role": "owner"}),
    "an invented value deep inside": json.dumps({**PATCH, "home": {"zip": "Ulm"}}),
    "a value of another type": json.dumps({**PATCH, "home": "89073"}),
    "null for all": json.dumps(dict.fromkeys(PATCH)),
    "a key dropped": json.dumps({"role": "admin"}),
    "all keys dropped": "{}",
    "other keys": json.dumps({"Role": "admin", "address": "89073"}),
    "nothing": "",
    "chatter": "Sure! The role is admin and the zip is 89073. Anything else?",
    "two objects": json.dumps(PATCH) + "\n" + json.dumps({**PATCH, "role": "user"}),
    "a doubled key": '{"role": "admin", "role": "user", "home": {"zip": "89073"}}',
    "NaN": '{"role": "admin", "home": {"zip": NaN}}',
    "cut": json.dumps(WHOLE)[:-3],
    "endless": '{"role": "admin", ' * 20_000,
    "endless list": "[" + json.dumps(PATCH) * 3_000,
}
GOOD_JSON = {
    "asked for": json.dumps(PATCH),
    "whole": json.dumps(WHOLE),
    "kept keys changed": json.dumps({**PATCH, "name": "Bob", "age": 31}),
    "chatter around": f"Sure, here you are:\n```json\n{json.dumps(PATCH)}\n```\nHope it helps!",
    "more keys": json.dumps({**PATCH, "email": "ida@example.org"}),
}


def opened(options: dict[str, Any]) -> StepCache:
    cache = StepCache(MemoryStore(), policy=Policy(**options))
    control = CacheControl(spec=json_schema(BEFORE))
    assert cache.complete(Request(ABOUT, control=control), ScriptedModel(RECORDED)).recorded
    return cache


def asked_now() -> Request:
    return Request(ABOUT, control=CacheControl(spec=json_schema(NOW)))


def valid(reply: str, demanded: dict[str, Any]) -> bool:
    """Whether the one object of a reply is valid; found by its outermost braces."""
    try:
        value = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
    except ValueError:
        return False
    return bool(Draft202012Validator(demanded).is_valid(value))


@ways
@often
@given(st.lists(st.sampled_from([*BAD_JSON.values(), *GOOD_JSON.values()]), min_size=4, max_size=4), policies)
def test_whatever_a_model_says_as_json_only_what_the_schema_demands_is_verified_and_recorded(
    way: Way, replies: list[str], options: dict[str, Any]
) -> None:
    cache, model = opened(options), ScriptedModel(replies)
    result = way(cache, asked_now(), model)
    assert len(model.calls) <= 4
    if result.verified:
        assert valid(result.output, NOW)
    else:
        assert not result.recorded
        assert result.output in replies  # the model's own words, flagged
    if result.source == "patch":
        assert json.loads(result.output)["name"] == "Ida"
        assert json.loads(result.output)["age"] == 30
    for entry, _ in cache.store.scan():
        assert valid(entry.reply, BEFORE if entry.reply == RECORDED else NOW)


@pytest.mark.parametrize("kind", BAD_JSON)
@ways
def test_each_hostile_kind_is_told_as_json_and_nothing_of_it_is_kept(way: Way, kind: str) -> None:
    cache = opened({})
    result = way(cache, asked_now(), ScriptedModel(BAD_JSON[kind]))
    assert (result.verified, result.recorded) == (False, False)
    assert [entry.reply for entry, _ in cache.store.scan()] == [RECORDED]


@pytest.mark.parametrize("kind", GOOD_JSON)
@ways
def test_a_patch_takes_only_what_was_asked_for_whatever_comes_with_it(way: Way, kind: str) -> None:
    result = way(opened({}), asked_now(), ScriptedModel(GOOD_JSON[kind]))
    assert (result.source, result.verified) == ("patch", True)
    assert json.loads(result.output) == WHOLE
