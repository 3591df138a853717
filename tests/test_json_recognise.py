"""A JSON demand is read from a prompt's own words only where the prompt asks for just that."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import gate
from stepcache._data import Request
from stepcache.tasks._json.keylist import read_key_list
from stepcache.tasks._json.recognise import cut_keys, cut_schema, demanded_keys, demanded_schema
from stepcache.tasks.json_ import JsonSpec, json_keys, json_schema


def spec_of(prompt: str) -> JsonSpec | None:
    request = Request(prompt=prompt)
    return json_keys()(request) or json_schema()(request)


def residue(prompt: str) -> str:
    spec = spec_of(prompt)
    assert spec is not None, prompt
    return spec.residue


@pytest.mark.parametrize(("prompt", "keys", "about"), [
    ("Return a JSON object with keys title, pages and isbn for Emma.", "title pages isbn", "for Emma"),
    ("Give me a JSON with the fields title, pages for Emma.", "title pages", "for Emma"),
    ("Produce JSON for Graz with keys name, country.", "name country", "for Graz"),
    ("Create a JSON record for Bo. Required keys: name, age.", "name age", "for Bo"),
    ("Write a JSON object containing exactly these keys: a, b, c. Topic: tea.", "a b c", "Topic: tea"),
    ("Return a JSON object for Bo with name, age, and email fields.", "name age email", "for Bo"),
    ("Return JSON with `name` and `age` for Bo", "name age", "for Bo"),
    ('Return a JSON object with two keys, "name" and "age", for Bo.', "name age", "for Bo"),
    ("Make a JSON object for Bo. It must have the keys name and age.", "name age", "for Bo"),
    ("JSON object with keys name, age. Bo is 30.", "name age", "Bo is 30"),
    ("Describe Bo as a JSON object whose keys are name and age.", "name age", "Describe Bo"),
    ("I need a JSON object for Bo with the keys name, age.", "name age", "for Bo"),
    ("You need to generate a JSON object with keys from, to and date for: Graz to Linz", "from to date",
     "for: Graz to Linz"),
    ("Who wrote Emma? Answer as JSON with keys author, year.", "author year", "Who wrote Emma?"),
    ("For this person, return only a JSON object with the keys name, age: Bo, 30.", "name age",
     "For person Bo, 30"),
    ("Turn this note into nothing but JSON with the keys name, age: Bo is 30.", "name age", "note Bo is 30"),
    ("As a JSON object with exactly the keys a, b and c, describe this tree: an elm.", "a b c",
     "describe tree: an elm"),
    ("Gib ein JSON-Objekt mit den Schlüsseln a, b zurück.", "a b", "zurück [de]"),
    ("Output JSON only. Keys: name, age. Person: Bo, 30.", "name age", "Person: Bo, 30"),
    ("Respond with JSON using the keys name and age. Bo is 3.", "name age", "Bo is 3"),
    ("Read the text and return a JSON object with keys name, age, nothing else. Text: Bo is 3.", "name age",
     "Read the text. Text: Bo is 3"),
    ("Generate a JSON object with the keys [\"name\", 'age'] for Bo.", "name age", "for Bo"),
    ("Generate a JSON object with the keys {name: string, age: int} for Bo.", "name age", "for Bo"),
    ("Return JSON with keys x, y for the origin", "x y", "for the origin"),
    ("Gib mir ein JSON-Objekt mit den Feldern „name“ und „alter“ für Bo.", "name alter", "für Bo [de]"),
    ("Erstelle ein JSON mit genau den Schlüsseln titel, autor für das Buch Emma.", "titel autor",
     "für das Buch Emma [de]"),
    ("Genera un JSON con los campos nombre, edad y correo para Bo.", "nombre edad correo", "para Bo [es]"),
    ("Devuelve un objeto JSON con las claves nombre, y edad para Bo.", "nombre edad", "para Bo [es]"),
    ("Donne-moi un objet JSON avec les champs titre et année pour Emma.", "titre année", "pour Emma [fr]"),
    ("Génère un JSON avec exactement les clés nom, âge pour Bo.", "nom âge", "pour Bo [fr]"),
])
def test_a_list_of_keys_is_read_and_the_rest_is_what_it_is_about(prompt: str, keys: str, about: str) -> None:
    spec = spec_of(prompt)
    assert spec is not None
    assert spec.keys == tuple(keys.split())
    assert spec.residue == about
    assert spec.shape == ""
    assert spec.kind == "json"


@pytest.mark.parametrize("prompt", [
    "Explain how JSON with keys title, pages is parsed",
    "Explain how a JSON object with keys title, pages is parsed by a server.",
    "Think aloud, then give JSON with keys title and pages.",
    "First reason about it. Return JSON with keys a, b.",
    "Write a function returning JSON with keys a, b.",
    "Write a program that prints a JSON object with keys a and b.",
    'Convert this JSON to YAML: {"name": 1, "keys": "a, b"}',
    "Convert the JSON object with keys a, b to TOML.",
    'Find the error in this JSON object with keys a and b: {"a": 1,}',
    "What is a JSON object with keys a, b?",
    "Give me an example of a JSON object with keys a, b and explain it.",
    "Return a JSON object with keys a, b and a short poem about Bo.",
    "Give JSON with keys a, b. Then translate it into Welsh.",
    "Give JSON with keys a, b. Translate it into Welsh.",
    "Give JSON with keys a, b and also a table.",
    "Return JSON with keys a, b. Do not return JSON.",
    "Return a JSON object with keys a, b. The JSON must only have the key c.",
    'Is this a JSON object with keys a, b? {"a": 1}',
    "Generate a JSON schema with keys a, b.",
    "Describe a JSON object with keys a, b.",
    "Sort the JSON object with keys a, b.",
    "Return a JSON object with keys a, b and another JSON object with keys c, d.",
    "Return JSON with keys a and b, or plain text if unknown.",
    "If you know Bo return JSON with keys a, b, otherwise apologise.",
    "How do I return a JSON object with keys a, b in Flask?",
    "Why does JSON with keys a, b fail?",
    "Don't return a JSON object with keys a, b.",
    "The service returns JSON with keys a, b. What is REST?",
    "Return a JSON object with three keys: a, b.",
    "Return a JSON object with keys a, a.",
    "Return a JSON object with keys name and email address for Bo.",
    "Return a JSON object with keys name and describe Bo.",
    "Return JSON with indentation and comments for Bo.",
    "Return an object with keys a, b.",
    "Erkläre, wie ein JSON-Objekt mit den Schlüsseln a, b geparst wird.",
    "Explica cómo se analiza un JSON con las claves a, b.",
    "Explique comment un JSON avec les clés a, b est analysé.",
    'Rename the keys of this JSON to match the schema below. {"type": "object"} {"a": 1}',
    'Explain this JSON schema: {"type": "object", "properties": {}}',
    'Check that the data is JSON that matches this schema: {"type": "object"}',
    'Return JSON that matches this schema: {"type": "object"} and this schema: {"type": "array"}',
    'Return JSON that matches this schema: {"name": "Bo"}',
    'Return JSON with keys a, b that matches this schema: {"type": "object"}',
    'Return JSON that matches this schema: {"$ref": "http://example.com/x"}',
    "Return JSON that matches the schema.",
    'Give me the value of the key a in the JSON {"a": 1}',
    "Write a letter to Bo and return JSON with keys a, b.",
    "Extract JSON with keys a, b from this page and save it to a file.",
    "Answer in one sentence. Return JSON with keys a, b.",
    'Return a JSON object with keys a, b, if unknown return "unknown".',
    "Give JSON, but do not use keys a, b.",
    "Return a JSON object without the keys a, b for Bo.",
    "Return JSON with keys a, b and a summary in prose.",
    "Return a JSON object with keys name, birth date for Bo.",
    "Schreibe ein Gedicht und gib JSON mit den Schlüsseln a, b zurück.",
    "Tell me a joke.",
    "",
    'Describe Blue.\nHere\'s a JSON schema to follow:\n{{"properties": {{"title": {{"type": "string"}}}}}}\n'
    "Output a valid JSON object but do not repeat the schema.",  # as LlamaIndex writes one: no JSON, and no key list
])
def test_what_asks_for_something_else_or_more_is_left_alone(prompt: str) -> None:
    assert spec_of(prompt) is None


SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


@pytest.mark.parametrize(("prompt", "about"), [
    ("You need to generate a JSON object that matches the schema below.\n\n{}", ""),
    ("Return JSON matching this schema: {} for the book Emma.", "for the book Emma"),
    ("Describe Emma as JSON according to this schema:\n```json\n{}\n```", "Describe Emma"),
    ("Respond with a JSON object that conforms to the following JSON schema: {}\nBook: Emma", "Book: Emma"),
    ("Give me an object that satisfies this JSON schema: {}", "Give me an object"),
    ("Gib ein JSON-Objekt gemäß diesem Schema: {}", "[de]"),
    ("Responde con un JSON según el siguiente esquema: {}", "[es]"),
    ("Réponds en JSON selon le schéma suivant : {}", "[fr]"),
])
def test_a_schema_in_the_prompt_is_the_demand(prompt: str, about: str) -> None:
    spec = spec_of(prompt.replace("{}", json.dumps(SCHEMA)))
    assert spec is not None
    assert spec.schema == SCHEMA
    assert spec.residue.strip() == about


def test_broken_json_beside_the_schema_is_words_and_endless_wording_is_refused() -> None:
    schema = json.dumps(SCHEMA)
    assert spec_of(f'Return JSON that matches this schema: {schema} Note: [1 x]') is not None
    assert spec_of(f'Return JSON that matches this schema: {{"a": 1, "a": 2}} {schema}') is None
    assert spec_of("Return JSON with keys a, b for Bo. " + "No markdown. " * 30) is None
    assert spec_of(f"Return JSON that matches this schema: {schema} " + "No markdown. " * 30) is None
    assert spec_of(f"Return JSON that matches this schema: {schema}. Then write a poem.") is None
    assert spec_of("x" * 700 + " Return JSON with keys a, b") is None
    assert spec_of(f"Explain how JSON that matches this schema is made: {schema}") is None


def test_an_object_asked_for_in_words_has_to_be_one() -> None:
    spec = spec_of('Return a JSON object that matches this schema: {"required": ["a"]}')
    assert spec is not None
    assert not spec.check("[]").ok
    assert spec_of('Return JSON that matches this schema: {"required": ["a"]}').check("[]").ok  # type: ignore[union-attr]


def test_adding_a_key_leaves_the_residue_equal_and_another_subject_does_not() -> None:
    one = "Return a JSON object with keys name, age for Ida, who said: \"a,  b;; c\"."
    assert residue(one) == residue(one.replace("name, age", "name, age, email"))
    assert residue(one) == residue(one.replace("name, age", '"name" and "age" (in years)'))
    assert residue(one) != residue(one.replace("Ida", "Eva"))
    assert residue(one) != residue(one.replace("a,  b;; c", "a, b; c"))
    assert "a,  b;; c" in residue(one)
    asked = 'Extract the fields as a JSON object with exactly the keys ["what", "when"]. Request: "wake me at 6"'
    assert residue(asked) != residue(asked.replace("6", "7"))
    assert residue(asked) == residue(asked.replace('"when"', '"when", "who"'))


def test_the_form_of_the_reply_is_read_from_the_words() -> None:
    def spec(words: str) -> JsonSpec:
        made = spec_of(words)
        assert made is not None, words
        return made

    assert spec("Return a JSON object with keys a, b for Bo.").many == "one"
    assert spec("Return a JSON array of objects with keys a, b for Bo.").many == "list"
    assert spec("List three rivers as JSON with keys a, b.").many == "either"
    assert not spec("Return JSON with keys a, b for Bo.").bare
    assert spec("Return JSON with keys a, b for Bo. No markdown, no explanation.").bare
    assert spec("Return only a JSON object with keys a, b for Bo.").bare
    assert not spec("Return JSON with keys a, b for Bo. Do not add other keys.").bare
    assert spec("Return JSON with keys a, b for Bo. No markdown.").residue == "for Bo"
    assert "minified" in spec("Return a minified JSON object with keys a, b for Bo.").residue
    assert spec("Return JSON with at least the keys a, b.").check('{"a": 1, "b": 2, "c": 3}').ok
    assert not spec("Return JSON with the keys a, b.").check('{"a": 1, "b": 2, "c": 3}').ok


@pytest.mark.parametrize(("text", "properties", "rest"), [
    ("a, b and c for x", {"a": {}, "b": {}, "c": {}}, " for x"),
    ("a (integer), b (list of strings) for x",
     {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "string"}}}, " for x"),
    ("name as a string, age as integer for x", {"name": {"type": "string"}, "age": {"type": "integer"}}, " for x"),
    ("name: string, n: int[]", {"name": {"type": "string"}, "n": {"type": "array", "items": {"type": "integer"}}}, ""),
    ("a (the size, in cm), b", {"a": {"description": "the size, in cm"}, "b": {}}, ""),
    ("a (number, in cm)", {"a": {"type": "number", "description": "in cm"}}, ""),
    ("a (list of things)", {"a": {"type": "array"}}, ""),
    ("user.name, zip-code, größe", {"user.name": {}, "zip-code": {}, "größe": {}}, ""),
    ("**a**, `b`, «c»", {"a": {}, "b": {}, "c": {}}, ""),
    ("[a, 'b c']. Rest", {"a": {}, "b c": {}}, ". Rest"),
    ("a y b para x", {"a": {}, "b": {}}, " para x"),
    ("a, e", {"a": {}, "e": {}}, ""),
    ("a, b and no other keys. Rest", {"a": {}, "b": {}}, ". Rest"),
    ("a, b, in French", {"a": {}, "b": {}}, ", in French"),
    ("\n- a: the first\n* b (int) - a count\n1. `c`\nRest", {
        "a": {"description": "the first"}, "b": {"type": "integer", "description": "a count"}, "c": {}}, "Rest"),
    ("\n- a", {"a": {}}, ""),
])
def test_key_lists_are_read_as_people_write_them(text: str, properties: dict[str, Any], rest: str) -> None:
    read = read_key_list(text, 0)
    assert read is not None
    assert read.properties == properties
    assert text[read.end:] == rest


def test_nested_and_optional_keys_are_read() -> None:
    read = read_key_list("a (object with b (int) and c), d (optional, string), e (list of objects with f)", 0)
    assert read is not None
    assert read.schema(extras=True)["required"] == ["a", "e"]
    assert read.properties["a"]["required"] == ["b", "c"]
    assert read.properties["a"]["additionalProperties"] is False
    assert read.properties["e"]["items"]["required"] == ["f"]
    assert read.properties["d"] == {"type": "string"}


@pytest.mark.parametrize("text", [
    "", "1, 2", "a b", "a, a", "[a", "[a b]", "[]", "(1)", "'a", "' a'", "a (object with 1)",
    "a (object with b, and c d)",
    "a (object with b (object with c (object with d (object with e (object with f)))))", "\n- a what is this", "\n- 1",
    ", ".join(f"k{i}" for i in range(300)), "[" + ", ".join(f"k{i}" for i in range(300)) + "]", "a and describe x",
    '"a\nb"',
])
def test_what_is_no_plain_list_is_not_read(text: str) -> None:
    assert read_key_list(text, 0) is None


def test_a_given_demand_is_cut_from_the_prompt_that_repeats_it() -> None:
    prompt = "Return a JSON object with keys name, age for Bo."
    assert cut_keys(prompt, frozenset({"name", "age"})) == "for Bo"
    assert cut_keys(prompt, frozenset({"name"})) == prompt
    assert cut_keys("Tell me about Bo.", frozenset({"name"})) == "Tell me about Bo."
    odd = "Tell me about JSON and Bo with keys name, age."
    assert cut_keys(odd, frozenset({"name", "age"})) == "Tell me about JSON and Bo."
    asked = f"Return a JSON object that matches this schema: {json.dumps(SCHEMA)} for Bo"
    assert cut_schema(asked, SCHEMA) == "for Bo"
    assert cut_schema(f"Bo. {json.dumps(SCHEMA)} Explain!", SCHEMA) == "Bo. Explain!"
    assert cut_schema("Bo.", SCHEMA) == "Bo."
    assert cut_schema("Bo.", True) == "Bo."
    assert json_schema(SCHEMA)(Request(prompt=asked)).residue == "for Bo"  # type: ignore[union-attr]
    assert json_keys(["age", "name"])(Request(prompt=prompt)).residue == "for Bo"  # type: ignore[union-attr]


WORDS = ["JSON", "with", "keys", "a", ",", "and", "{", "}", "\"", "return", "schema", "\n", "- ", ":", "as", "the",
         "only",
         ".", '{"type":"object"}', "(", ")", "explain", "\ud800", "mit"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_no_prompt_makes_recognition_fail(prompt: str) -> None:
    for demand in (demanded_keys(prompt), demanded_schema(prompt)):
        assert demand is None or (demand.schema and "\x1a" not in demand.residue)


@pytest.mark.parametrize("filler", [
    "[", "{", "JSON ", "with keys a JSON ", '"a b ', "please ", "with the following ", "- a: b\n", "a, ", "\n", " ",
    "Return JSON. ", "Describe x as JSON. ", "match the json ", "with a, ", "\0", '{"type": "object"} schema ', "(a ",
    "no markdown, ", "a and ", ", ,", "**a", "the ",
])
def test_recognition_takes_linear_time(filler: str) -> None:
    filler *= 28_000 // len(filler)
    started = time.process_time()
    asks = " Return JSON with keys a, b "
    for prompt in (filler + asks, asks + filler, filler + ' schema {"type": "object"}'):
        demanded_keys(prompt)
        demanded_schema(prompt)
    assert time.process_time() - started < 4
    assert spec_of("x" * 1_000_000 + " Return JSON with keys a, b") is None


@pytest.mark.parametrize("prompt", [
    "Return JSON with keys name, age, minified",
    "Return JSON with keys name, age, pretty-printed",
    "Return JSON with keys name, age, etc.",
    "Return JSON with keys name, age and so on",
    "Return JSON with keys name: first only, age",
    "Return JSON with keys weight in kg, age",
    "Return JSON with keys name, weight in kg and age",
    "Gib JSON mit den Schlüsseln name, gewicht in kg, alter",
    "Return JSON with keys name, age as string, integer",
    "Return JSON with keys name, age, email for Bob. Don't include email.",
])
def test_a_list_whose_end_or_keys_are_in_doubt_is_left_to_the_model(prompt: str) -> None:
    assert json_keys()(Request(prompt)) is None


@pytest.mark.parametrize(("prompt", "keys"), [
    ("Return JSON with keys name, age for Bob and Al", ("name", "age")),
    ("Return JSON with keys name, age: Bob is 5", ("name", "age")),
    ("Return JSON with keys name, age, in French", ("name", "age")),
    ('Return JSON with keys "sorted", "more"', ("sorted", "more")),
    ("Return JSON with the key summary: The cat sat.", ("summary",)),
])
def test_what_follows_a_list_plainly_is_no_part_of_it(prompt: str, keys: tuple[str, ...]) -> None:
    spec = json_keys()(Request(prompt))
    assert spec is not None
    assert spec.keys == keys


PAYLOAD = "Bo Dahl is 30, lives in Graz and rows."
SAME = (
    f"Extract the keys name and age as a JSON object: {PAYLOAD}",
    f"Extract a JSON object with the keys name and age: {PAYLOAD}",
    f"Could you extract the keys name and age as a JSON object? {PAYLOAD}",
    f"Convert to a JSON object with the keys name and age: {PAYLOAD}",
    f"Please convert this to a JSON object with the keys name and age: {PAYLOAD}",
    f"Turn the following into a JSON object with the keys name and age: {PAYLOAD}",
    f"Reply with JSON only: an object with the keys name and age. {PAYLOAD}",
)


@pytest.mark.parametrize("prompt", SAME[1:])
def test_sentences_that_only_point_at_the_text_at_hand_ask_for_the_same(prompt: str) -> None:
    assert gate(residue(SAME[0]), residue(prompt)) == gate("a", "a")


@pytest.mark.parametrize("prompt", [
    f"Translate to French as a JSON object with the keys name and age: {PAYLOAD}",
    f"Anonymise this as a JSON object with the keys name and age: {PAYLOAD}",
    f"Convert the first of these to a JSON object with the keys name and age: {PAYLOAD}",
    f"Convert everything but this to a JSON object with the keys name and age: {PAYLOAD}",
    f"Invent the opposite of this as a JSON object with the keys name and age: {PAYLOAD}",
    f"Please convert this to a JSON object with the keys name and age: {PAYLOAD.replace('30', '31')}",
    f"Please convert this to a JSON object with the keys name and age: {PAYLOAD} This is Al.",
    f"Please convert this to a JSON object with the keys name and age: This is not {PAYLOAD}",
])
def test_sentences_that_ask_for_more_do_not(prompt: str) -> None:
    spec = spec_of(prompt)
    assert spec is None or gate(residue(SAME[0]), spec.residue) != gate("a", "a")


def test_keys_nested_deeper_than_people_write_are_no_key_list() -> None:
    def nested(levels: int) -> str:
        return "a" + "".join(f" (an object with the keys k{i}" for i in range(levels)) + ")" * levels

    demand = demanded_keys(f"Return a JSON object with the keys {nested(2)}.")
    assert demand is not None
    assert demand.schema["properties"]["a"]["properties"]["k0"]["required"] == ["k1"]
    for levels in (3, 4, 5, 9):  # and none of the inner lists is taken for the demand
        assert demanded_keys(f"Return a JSON object with the keys {nested(levels)}.") is None
    assert demanded_keys("Return a JSON object with the keys a (an object with the keys b c d), e.") is None
    assert demanded_keys("Return JSON (an object with keys name, age) for Bo.") is not None


def test_quotes_within_quotes_stay_in_the_request_and_demand_nothing() -> None:
    demand = demanded_keys('Return a JSON object with keys name, age for “he said "old man, keys a, b" to me”.')
    assert demand is not None
    assert list(demand.schema["properties"]) == ["name", "age"]
    assert demand.residue == 'for “he said "old man, keys a, b" to me”'


def test_a_list_beside_the_schema_is_no_schema() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    demand = demanded_schema(f"Return JSON that matches this JSON schema: {json.dumps(schema)}\nThe tags are [1, 2].")
    assert demand is not None
    assert demand.schema == schema
    assert demand.residue == "The tags are [1, 2]"


def test_only_the_given_schema_is_cut_from_among_other_json() -> None:
    schema = {"type": "object", "required": ["name"]}
    prompt = f'Facts: {{"a": 1}}. Fill in {json.dumps(schema)} please.'
    assert cut_schema(prompt, schema) == 'Facts: {"a": 1}. Fill in please.'
    assert cut_schema('Facts: {"a": 1}.', schema) == 'Facts: {"a": 1}.'
