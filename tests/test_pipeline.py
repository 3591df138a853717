"""The whole pipeline with the built-in tasks: equations, JSON, text; what is served, and what never is."""

from __future__ import annotations

import json

import pytest

from stepcache import Policy, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import json_keys, json_schema
from stepcache.testing import HashEmbedder, ScriptedModel

REPLY = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n"
         "3. Divide both sides by 2: x = 5\n\nx = 5")


def open_cache(**policy) -> StepCache:
    return StepCache(MemoryStore(), HashEmbedder(), policy=Policy(**policy))


def with_reply(**policy) -> StepCache:
    cache = open_cache(**policy)
    assert cache.record("Solve 2x + 3 = 13 for x.", REPLY)
    return cache


def test_a_changed_constant_is_rewritten_without_a_model():
    model = ScriptedModel("nonsense")
    result = with_reply().complete("Solve 2x + 3 = 15 for x.", model)
    assert result.output == REPLY.replace("10", "12").replace("x = 5", "x = 6")
    assert (result.outcome, result.source, result.calls, model.calls) == ("patch", "rewrite", 0, [])


def test_with_rewriting_off_one_patch_call_gets_the_kept_step_and_the_state():
    model = ScriptedModel("2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6")
    result = with_reply(rewrite=False).complete("Solve 2x + 3 = 15 for x.", model)
    assert (result.outcome, result.source, result.calls) == ("patch", "patch", 1)
    assert result.output.startswith("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 12")
    (prompt, purpose), = model.calls
    assert purpose == "patch"
    assert "1. Isolate the term with x." in prompt
    assert "x = 6" in prompt


@pytest.mark.parametrize(("prompt", "last"), [
    ("Solve 2y + 3 = 13 for y.", "y = 5"),
    ("Solve 3x + 3 = 15 for x.", "x = 4"),
    ("Solve 2x + 3 = 13.5 for x.", "x = 21/4"),
    ("Solve 7x - 5 = 16 for x.", "x = 3"),
    ("Solve 0.1x + 0.2 = 0.3", "x = 1"),
    ("Solve 5x - 4 = 2x + 8", "x = 4"),
])
def test_a_model_that_only_talks_nonsense_still_yields_the_solution(prompt, last):
    result = with_reply().complete(prompt, ScriptedModel("banana"))
    assert result.output.splitlines()[-1].replace(" ", "") == last.replace(" ", "")
    assert result.verified
    assert result.source in {"rewrite", "fallback"}
    if result.source == "fallback":
        assert not result.recorded


def test_a_renamed_variable_is_renamed_everywhere():
    result = with_reply().complete("Solve 2y + 3 = 13 for y.", ScriptedModel("banana"))
    assert result.output == REPLY.replace("x", "y")
    assert result.source == "rewrite"


@pytest.mark.parametrize("prompt", [
    "Give me a hint for 2x + 3 = 13, not the answer",
    "Is x = 4 a solution of 2x + 3 = 13?",
    "Write a story about 2x + 3 = 13",
    "Find the student's mistake in 2x + 3 = 13, so 2x = 16",
    "Explain how JSON with keys name, age is parsed",
    "Think aloud, then give JSON with keys name and age",
])
def test_other_requests_around_an_equation_or_json_get_the_models_own_words(prompt):
    cache = with_reply()
    result = cache.complete(prompt, ScriptedModel("Once upon a time."))
    assert (result.output, result.source, result.calls) == ("Once upon a time.", "model", 1)


BOB = '{\n  "name": "Bob Lee",\n  "age": 30\n}'
PROMPT = "Return a JSON object with keys {} for the person Bob Lee, aged 30."


def bob_model(prompt: str, purpose: str) -> str:
    return '{"email": "bob@lee.org", "age": 99, "chatter": true}' if purpose == "patch" else BOB


def test_one_more_key_costs_one_small_call_and_every_other_byte_stays():
    cache, model = open_cache(), ScriptedModel(bob_model)
    cache.complete(PROMPT.format("name and age"), model)
    result = cache.complete(PROMPT.format("name, age and email"), model)
    assert result.output == '{\n  "name": "Bob Lee",\n  "age": 30,\n  "email": "bob@lee.org"\n}'
    assert model.purposes == ["answer", "patch"]
    assert '"name": "Bob Lee"' in model.calls[-1][0]


def test_one_key_less_costs_nothing():
    cache, model = open_cache(), ScriptedModel(bob_model)
    cache.complete(PROMPT.format("name and age"), model)
    result = cache.complete(PROMPT.format("name"), model)
    assert (json.loads(result.output), result.source, len(model.calls)) == ({"name": "Bob Lee"}, "rewrite", 1)


def test_a_schema_that_forbids_more_drops_without_a_model():
    def strict(*names):
        return json_schema({"type": "object", "properties": {n: {} for n in names}, "required": list(names),
                            "additionalProperties": False})

    cache, model = open_cache(), ScriptedModel(bob_model)
    cache.complete("Describe Bob Lee, aged 30.", model, spec=strict("name", "age"))
    result = cache.complete("Describe Bob Lee, aged 30.", model, spec=strict("name"))
    assert (json.loads(result.output), result.source) == ({"name": "Bob Lee"}, "rewrite")


def test_a_fresh_reply_with_one_key_too_many_is_trimmed_without_asking_again():
    cache = open_cache()
    model = ScriptedModel('{"name": "Bob Lee", "age": 30, "mood": "fine"}')
    result = cache.complete(PROMPT.format("name and age"), model)
    assert (json.loads(result.output), result.source, len(model.calls)) == (
        {"name": "Bob Lee", "age": 30}, "rewrite", 1)
    assert (cache.stats().served, cache.stats().mended) == (0, 1)  # the model was called
    assert cache.complete(PROMPT.format("name and age"), model).exact
    assert (cache.stats().served, cache.stats().mended) == (1, 1)


def test_alice_never_gets_bobs_record():
    cache, model = open_cache(), ScriptedModel(bob_model)
    cache.complete(PROMPT.format("name and age"), model)
    for other in ("Alice Lee", "Bob Leeds", "Rob Lee"):
        result = cache.complete(PROMPT.format("name and age").replace("Bob Lee", other), model)
        assert (result.outcome, result.source) == ("skip", "model")
    explicit = cache.complete("Describe Bob Lee", model, spec=json_keys(["name", "age"]))
    assert explicit.source == "model"
    assert cache.complete("Describe Alice Lee", model, spec=json_keys(["name", "age"])).source == "model"


@pytest.mark.parametrize(("cached", "new"), [
    ("Give a pancake recipe with eggs", "Give a pancake recipe without eggs"),
    ("What is 18 + 7?", "What is 18 + 8?"),
    ("Write a memo that says Ana reports to Ben", "Write a memo that says Ben reports to Ana"),
    ("How do I enable 2FA?", "How do I disable 2FA?"),
    ("Convert 5 euros to dollars", "Convert 5 dollars to euros"),
    ("Describe the old town of Graz", "Describe the old town of Linz"),
    ("List three rivers in Peru", "List four rivers in Peru"),
    ("Translate good morning into French", "Translate good morning into German"),
    ("Is the museum open on Mondays?", "Is the museum closed on Mondays?"),
    ("Solve 2x + 3 = 13", "Resuelve 2x + 3 = 13"),
])
def test_a_change_of_meaning_never_gets_the_old_answer(cached, new):
    cache = open_cache()
    model = ScriptedModel(lambda prompt, purpose: REPLY if prompt == cached and "2x" in prompt else "re: " + prompt)
    old = cache.complete(cached, model)
    result = cache.complete(new, model)
    assert result.output != old.output
    assert result.source != "cache"
    assert result.decision.reason


@pytest.mark.parametrize("policy", [{}, {"rewrite": False}, {"rewrite": False, "patch": False}])
@pytest.mark.parametrize("nonsense", ["", "x = 5", REPLY, "x = 999", '{"x": 6}', "x = 6\n" * 20_000, "\ud800\x00"])
def test_whatever_the_model_says_the_solution_is_right_and_only_right_replies_are_kept(policy, nonsense):
    cache, model = with_reply(**policy), ScriptedModel(nonsense)
    result = cache.complete("Solve 2x + 3 = 15 for x.", model)
    assert result.verified
    assert "x = 6" in result.output
    assert "= 10" not in result.output
    cache.flush()
    for entry, _ in cache.store.scan():
        assert "x = 6" in entry.reply or entry.reply == REPLY


HOSTILE = ["a" * 1_000_000, "[" * 100_000, "{" * 100_000, '{"a":' * 50_000, "\ud800 lone", "nul \x00 byte",
           "(" * 50_000, "9**9**9**9 * x = 1", "Solve " + "9" * 100_000 + "x = 1",
           "Solve " + "(" * 20_000 + "x" + ")" * 20_000 + " = 1",
           "1. " * 200_000, "```" * 100_000, "\\frac{" * 50_000, "\u202e\u200b" * 100_000, "not " * 200_000]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: f"{text[:8]!a}-{len(text)}")
def test_hostile_prompts_and_replies_get_an_answer(text):
    cache = open_cache()
    assert cache.complete(text, ScriptedModel("fine")).output
    assert cache.complete(text + " again", ScriptedModel("fine")).output
    for prompt in ("Tell me more", "Solve 2x + 3 = 13 for x.", PROMPT.format("name and age")):
        result = cache.complete(prompt, ScriptedModel(text))
        assert result.output
        assert not result.verified or result.source in {"fallback", "model"}


def test_an_empty_value_for_a_key_that_only_has_a_name_is_no_value():
    cache = open_cache()
    replies = {"answer": BOB, "patch": '{"email": {}}',
               "repair": '{"name": "Bob Lee", "age": 30, "email": "bob@lee.org"}'}
    model = ScriptedModel(lambda prompt, purpose: replies[purpose])
    cache.complete(PROMPT.format("name and age"), model)
    result = cache.complete(PROMPT.format("name, age and email"), model)
    assert (result.source, json.loads(result.output)["email"]) == ("repair", "bob@lee.org")
    patch_prompt = next(prompt for prompt, purpose in model.calls if purpose == "patch")
    assert '"email"' in patch_prompt
    assert "{}" not in patch_prompt
