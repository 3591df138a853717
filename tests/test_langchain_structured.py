"""Structured output in all its ways: typed objects from fresh, repeated, trimmed and patched JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_fakes import Chat, marker, memory, wrapped
from openai_stub import Server, calls, says
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from langchain_stepcache import StepCacheChatModel
from stepcache import Policy, StepCache

KNOWN = {"name": "Ann", "age": 30, "email": "ann@example.org", "zip": "8010"}
ASKED = "Ann is 30 and reads ann@example.org in 8010 Graz. Extract the person."
PATIENT = Policy(cache_timeout=60)  # a machine under load opens a folder slowly
METHODS = ["json_schema", "function_calling", "json_mode"]


class Person(BaseModel):
    name: str
    age: int


class Reachable(Person):
    email: str


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str


class Aliased(BaseModel):
    name: str
    code: str = Field(alias="zip")


class Record(TypedDict):
    """A person."""

    name: str
    age: int


def knowing(body: dict[str, Any]) -> dict[str, Any]:
    """A server that fills whatever schema it is shown, and names and ages in JSON mode."""
    tools, form = body.get("tools"), body.get("response_format") or {}
    if tools:
        function = tools[0]["function"]
        return calls((function["name"], {key: KNOWN[key] for key in function["parameters"]["properties"]}))
    if form.get("type") == "json_schema":
        return says(json.dumps({key: KNOWN[key] for key in form["json_schema"]["schema"]["properties"]}))
    wanted = ["email"] if "only email" in body["messages"][-1]["content"] else ["name", "age"]
    return says(json.dumps({key: KNOWN[key] for key in wanted}))


def over(server: Server) -> StepCacheChatModel:
    return StepCacheChatModel(model=server.model(), cache=memory())


@pytest.mark.parametrize("method", METHODS)
def test_one_more_required_field_is_one_small_patch_call(method: str) -> None:
    server = Server(knowing)
    model = over(server)
    assert model.with_structured_output(Person, method=method).invoke(ASKED) == Person(name="Ann", age=30)
    grown = model.with_structured_output(Reachable, method=method, include_raw=True).invoke(ASKED)
    assert grown["parsed"] == Reachable(**KNOWN)
    assert grown["parsing_error"] is None
    assert (marker(grown["raw"])["outcome"], marker(grown["raw"])["source"]) == ("patch", "patch")
    assert server.count == 2
    patch = server.bodies[1]
    assert "tools" not in patch
    assert "only email" in patch["messages"][-1]["content"]
    if method != "json_mode":
        assert list(patch["response_format"]["json_schema"]["schema"]["properties"]) == ["email"]


@pytest.mark.parametrize("method", METHODS)
def test_repeated_it_is_the_same_object_without_a_call(method: str) -> None:
    server = Server(knowing)
    model = over(server)
    bound = model.with_structured_output(Person, method=method)
    made = [bound.invoke(ASKED), bound.invoke(ASKED), list(bound.stream(ASKED))[-1], *bound.batch([ASKED, ASKED])]
    assert made == [Person(name="Ann", age=30)] * 5
    assert server.count == 1


@pytest.mark.parametrize("method", METHODS)
async def test_async_and_streamed_it_is_the_same(method: str) -> None:
    server = Server(knowing)
    bound = over(server).with_structured_output(Person, method=method)
    made = [await bound.ainvoke(ASKED), [part async for part in bound.astream(ASKED)][-1], await bound.ainvoke(ASKED)]
    assert made == [Person(name="Ann", age=30)] * 3
    assert server.count == 1


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_key_that_is_now_forbidden_is_dropped_without_a_call(method: str) -> None:
    server = Server(knowing)
    model = over(server)
    model.with_structured_output(Person, method=method).invoke(ASKED)
    assert model.with_structured_output(Named, method=method).invoke(ASKED) == Named(name="Ann")
    assert server.count == 1


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_aliases_and_dictionaries_are_taken_as_the_model_in_it_takes_them(method: str) -> None:
    schema = {"title": "record", "description": "A person.", **Person.model_json_schema()}
    for kind, expected in ((Aliased, Aliased(name="Ann", zip="8010")), (Record, {"name": "Ann", "age": 30}),
                           (schema, {"name": "Ann", "age": 30})):
        server = Server(knowing)
        bound = over(server).with_structured_output(kind, method=method)
        assert [bound.invoke(ASKED) for _ in range(3)] == [expected] * 3
        assert server.count == 1


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_reused_tool_call_carries_the_name_its_parser_waits_for(method: str) -> None:
    class Citizen(BaseModel):
        name: str
        age: int

    server = Server(knowing)
    model = over(server)
    model.with_structured_output(Person, method=method).invoke(ASKED)
    assert model.with_structured_output(Citizen, method=method).invoke(ASKED) == Citizen(name="Ann", age=30)


def test_methods_are_kept_apart() -> None:
    server = Server(knowing)
    model = over(server)
    for method in METHODS:
        assert model.with_structured_output(Person, method=method).invoke(ASKED) == Person(name="Ann", age=30)
    assert server.count == 3


def test_another_person_is_not_served() -> None:
    server = Server(lambda body: says(json.dumps(
        {"name": "Bob" if "Bob" in body["messages"][-1]["content"] else "Ann", "age": 30})))
    bound = over(server).with_structured_output(Person)
    assert bound.invoke("Ann is 30. Extract the person.").name == "Ann"
    assert bound.invoke("Bob is 30. Extract the person.").name == "Bob"


def test_the_wrapped_models_own_default_way_works_for_any_model() -> None:
    def answer(messages: list[Any]) -> AIMessage:
        if "only email" in messages[-1].text:
            return AIMessage('{"email": "ann@example.org"}')
        return AIMessage("", tool_calls=[{"name": "Person", "args": {"name": "Ann", "age": 30}, "id": "1"}])

    inner = Chat(script=[answer])
    model = wrapped(inner)
    assert model.with_structured_output(Person).invoke(ASKED) == Person(name="Ann", age=30)
    assert model.with_structured_output(Reachable).invoke(ASKED) == Reachable(**KNOWN)
    assert inner.count == 2
    assert "tools" not in inner.options[1]


def test_a_schema_given_as_a_format_is_a_spec_too() -> None:
    def answer(messages: list[Any]) -> str:
        wanted = ["email"] if "only email" in messages[-1].text else ["name", "age"]
        return json.dumps({key: KNOWN[key] for key in wanted})

    inner = Chat(script=[answer])
    model = wrapped(inner)
    model.bind(format=Person.model_json_schema()).invoke(ASKED)
    grown = model.bind(format=Reachable.model_json_schema()).invoke(ASKED)
    assert json.loads(grown.text) == {key: KNOWN[key] for key in ("name", "age", "email")}
    assert marker(grown)["source"] == "patch"
    assert list(inner.options[1]["format"]["properties"]) == ["email"]


def test_json_mode_without_a_schema_gives_what_the_model_gives() -> None:
    server = Server(knowing)
    bound = over(server).with_structured_output(None, method="json_mode")
    assert [bound.invoke(ASKED) for _ in range(2)] == [{"name": "Ann", "age": 30}] * 2
    assert server.count == 1


def test_a_reply_that_fails_its_schema_is_asked_for_again_and_not_kept() -> None:
    inner = Chat(script=["no JSON at all"])
    model = wrapped(inner)
    reply = model.bind(response_format=Person).invoke(ASKED)
    assert reply.text == "no JSON at all"
    assert not marker(reply)["verified"]
    assert inner.count == 2
    assert model.step_cache.store.count() == 0


def test_a_forced_tool_answered_in_words_still_gives_the_object() -> None:
    inner = Chat(script=['Here it is: {"name": "Ann", "age": 30}'])
    assert wrapped(inner).with_structured_output(Person).invoke(ASKED) == Person(name="Ann", age=30)


def test_enforcement_can_be_switched_off() -> None:
    inner = Chat(script=["no JSON at all"])
    model = wrapped(inner, policy=Policy(enforce=False))
    assert model.bind(response_format=Person).invoke(ASKED).text == "no JSON at all"
    assert inner.count == 1


@pytest.mark.parametrize("method", METHODS)
def test_after_a_restart_it_is_the_same_typed_object(method: str, tmp_path: Path) -> None:
    server = Server(knowing)
    for _ in range(2):
        with StepCache.open(tmp_path, embedder=None, policy=PATIENT) as cache:
            model = StepCacheChatModel(model=server.model(), cache=cache)
            made = model.with_structured_output(Person, method=method).invoke(ASKED)
        assert type(made) is Person
        assert made == Person(name="Ann", age=30)
    assert server.count == 1


def test_a_fresh_process_gives_the_same_typed_object(tmp_path: Path) -> None:
    """The second process asks nothing of the model and knows the class from its own code alone."""
    program = (
        "import sys; from test_langchain_structured import *\n"
        "server = Server(knowing)\n"
        "with StepCache.open(sys.argv[1], embedder=None, policy=PATIENT) as cache:\n"
        "    model = StepCacheChatModel(model=server.model(), cache=cache)\n"
        "    made = model.with_structured_output(Person).invoke(ASKED)\n"
        "assert type(made) is Person, made\n"
        "sys.stdout.write(f'{made.name} {made.age} {server.count}')\n"
    )
    root = Path(__file__).parents[1]
    told = [subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "cache")], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": ":".join(str(root / part) for part in ("core", ".", "tests"))}, timeout=300).stdout
        for _ in range(2)]
    assert told == ["Ann 30 1", "Ann 30 0"]
