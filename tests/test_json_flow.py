"""JSON through the whole cache: what is asked of the model, what is served, and what never is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import Policy, Request, Result, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks.json_ import json_keys, json_schema
from stepcache.testing import HashEmbedder


class Model:
    """Answers from a list and remembers what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, str]] = []

    def __call__(self, prompt: str, purpose: str) -> str:
        self.asked.append((purpose, prompt))
        return self.replies.pop(0)


def opened(policy: Policy | None = None) -> StepCache:
    tasks = (json_schema(), json_keys())
    return StepCache(MemoryStore(), embedder=HashEmbedder(), tasks=tasks, policy=policy or Policy())


IDA = "Return a JSON object with keys name, age for Ida, 30."
REPLY = '{\n  "name": "Ida",\n  "age": 30\n}'


def taught(*pairs: tuple[str | Request, str]) -> StepCache:
    cache = opened()
    for request, reply in pairs or ((IDA, REPLY),):
        assert cache.complete(request, Model(reply)).recorded
    return cache


def ask(cache: StepCache, request: str | Request, *replies: str) -> tuple[Result, Model]:
    model = Model(*replies)
    return cache.complete(request, model), model


def test_an_added_key_costs_one_call_for_that_key_and_keeps_every_other_byte() -> None:
    result, model = ask(taught(), IDA.replace("age", "age and email"), '{"email": "i@da", "name": "Eve"}')
    assert (result.outcome, result.source, result.verified) == ("patch", "patch", True)
    assert result.output == REPLY.replace("30\n", '30,\n  "email": "i@da"\n')
    assert [purpose for purpose, _ in model.asked] == ["patch"]
    assert '"email"' in model.asked[0][1]
    assert '"name": "Ida"' in model.asked[0][1]


def test_a_removed_key_costs_no_call() -> None:
    result, _ = ask(taught(), IDA.replace(", age", ""))
    assert (result.outcome, result.source, result.calls) == ("patch", "rewrite", 0)
    assert result.output == '{\n  "name": "Ida"\n}'


@pytest.mark.parametrize("wording", [
    "Please give me a JSON object with the keys name and age for Ida, 30!",
    "Create JSON with keys age, name for Ida, 30",
    'Generate a JSON record with exactly the keys ["name", "age"] for Ida, 30.',
])
def test_a_rewording_costs_no_call(wording: str) -> None:
    result, _ = ask(taught(), wording)
    assert (result.source, result.output) == ("cache", REPLY)


@pytest.mark.parametrize("other", [
    IDA.replace("Ida", "Eva"), IDA.replace("30", "31"), IDA.replace("for", "without"), IDA + " Answer in French.",
    IDA.replace("for Ida", "for the sister of Ida"),
])
def test_another_subject_never_gets_the_record(other: str) -> None:
    result, _ = ask(taught(), other, '{"name": "other", "age": 1}')
    assert (result.outcome in ("skip", "miss"), result.source) == (True, "model")


def test_another_utterance_is_another_request() -> None:
    words = 'Extract the fields of the request as a JSON object with exactly the keys ["what", "when"]. Request: "{}"'
    cache = taught((words.replace("{}", "wake me up at six"), '{"what": "wake", "when": "six"}'))
    result, _ = ask(cache, words.replace("{}", "wake me up at seven"), '{"what": "wake", "when": "seven"}')
    assert (result.outcome, result.source) == ("skip", "model")
    again, _ = ask(cache, words.replace("{}", "wake me up at six").replace('"when"', '"when", "who"'), '{"who": "me"}')
    assert json.loads(again.output) == {"what": "wake", "when": "six", "who": "me"}


def test_a_fresh_reply_is_held_to_the_demand() -> None:
    result, model = ask(opened(), IDA, '{"name": "Ida"}', REPLY)
    assert (result.source, result.verified, result.recorded) == ("repair", True, True)
    assert [purpose for purpose, _ in model.asked] == ["answer", "repair"]
    assert "/age is missing" in model.asked[1][1]
    failing, _ = ask(opened(), IDA, '{"name": "Ida"', '{"name": NaN, "age": 1}')
    assert (failing.verified, failing.recorded) == (False, False)
    assert failing.output == '{"name": "Ida"'


def test_a_schema_given_with_the_request_decides_and_the_prompt_is_what_it_is_about() -> None:
    def about(prompt: str, *keys: str, closed: bool = False) -> Request:
        schema = {"type": "object", "properties": {k: {} for k in keys}, "required": list(keys),
                  "additionalProperties": not closed}
        return Request(prompt=prompt, spec=json_schema(schema))

    cache = taught((about("Describe Ida", "name", "age"), REPLY))
    more, _ = ask(cache, about("Describe Ida", "name", "age", "town"), '{"town": "Ulm"}')
    assert (more.source, json.loads(more.output)["town"]) == ("patch", "Ulm")
    less, _ = ask(cache, about("Describe Ida", "age", closed=True))
    assert (less.source, less.output) == ("rewrite", '{\n  "age": 30\n}')
    open_ended, _ = ask(cache, about("Describe Ida", "age"))
    assert open_ended.calls == 0
    other, _ = ask(cache, about("Describe Eva", "name", "age"), '{"name": "Eva", "age": 1}')
    assert other.source == "model"


def test_a_schema_in_the_prompt_drifts() -> None:
    def asking(**properties: dict[str, object]) -> str:
        schema = {"properties": properties, "required": list(properties), "additionalProperties": False}
        return f"You need to generate a JSON object that matches the schema below.\n\n{json.dumps(schema)}"

    name, rooms = {"type": "string"}, {"type": "integer", "description": "Number of rooms"}
    cache = taught((asking(name=name, rooms=rooms), '{"name": "Inn", "rooms": 4}'))
    same, _ = ask(cache, asking(rooms=rooms, name={"type": ["string", "null"]}))
    assert (same.source, same.output) == ("cache", '{"name": "Inn", "rooms": 4}')
    renamed, _ = ask(cache, asking(name=name, rooms={**rooms, "description": "Number of beds"}), '{"rooms": 9}')
    assert (renamed.source, renamed.output) == ("patch", '{"name": "Inn", "rooms": 9}')
    typed, _ = ask(cache, asking(name=name, rooms={"type": "string"}), '{"rooms": "four"}')
    assert (typed.source, typed.output) == ("patch", '{"name": "Inn", "rooms": "four"}')


@pytest.mark.parametrize("prompt", [
    "Explain how JSON with keys name, age is parsed", "Write a function returning JSON with keys name, age",
    "Think aloud, then give JSON with keys name, age for Ida, 30.",
])
def test_what_is_no_json_task_gets_the_models_words_unchanged(prompt: str) -> None:
    result, model = ask(taught(), prompt, "Well ...")
    assert result.output == "Well ..."
    assert [purpose for purpose, _ in model.asked] == ["answer"]


hostile = st.one_of(
    st.text(max_size=30),
    st.dictionaries(st.sampled_from(["name", "age", "email"]), st.sampled_from(["so", 5, None, [1]])).map(json.dumps),
    st.sampled_from(["{" * 50, '{"email": NaN}', '{"email": 1} {"email": 2}', 'Sure!\n```json\n{"email": 1}\n```']),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(hostile, min_size=5, max_size=5), st.booleans())
def test_no_model_gets_a_wrong_reply_verified_or_recorded(replies: list[str], patch: bool) -> None:
    cache = opened(policy=Policy(patch=patch))
    cache.complete(IDA, Model(REPLY))
    prompt = IDA.replace("age", "age and email")
    result, model = ask(cache, prompt, *replies)
    if result.verified:
        value = json.loads(result.output[result.output.index("{"):result.output.rindex("}") + 1])
        assert set(value) == {"name", "age", "email"}
        if result.source == "patch":
            assert (value["name"], value["age"]) == ("Ida", 30)
    else:
        assert not result.recorded
        assert result.output in replies
    assert len(model.asked) <= 4
    kept, _ = ask(cache, IDA)
    assert kept.output == REPLY


def test_decisions_explain_themselves() -> None:
    cache = taught()
    assert "/email is missing" in str(cache.explain(IDA.replace("age", "age and email")))
    assert "Ida / Eva" in str(cache.explain(IDA.replace("Ida", "Eva")))
