"""What may answer what, asked through LangChain with a real embedder: near texts that mean something else never do."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_fakes import Chat, marker, memory, wrapped

from langchain_stepcache import StepCacheChatModel
from stepcache import Policy, StepCache
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
from stepcache.stores.memory import MemoryStore


@pytest.fixture(scope="module")
def embedder() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder()


def numbered() -> Chat:
    count = itertools.count(1)
    return Chat(script=[lambda messages: f"answer {next(count)}"])


def over(inner: Chat, embedder: Any, policy: Policy | None = None) -> StepCacheChatModel:
    return StepCacheChatModel(model=inner, cache=StepCache(MemoryStore(), embedder=embedder, policy=policy))


@pytest.mark.parametrize(("recorded", "asked"), [
    ("What is 18 + 7?", "What is 18 + 8?"),
    ("How far do I get at 60 km/h in 2 hours?", "How far do I get at 90 km/h in 2 hours?"),
    ("List the top five films.", "List the top ten films."),
    ("Give a pancake recipe with eggs.", "Give a pancake recipe without eggs."),
    ("Is the museum open on Mondays?", "Is the museum closed on Mondays?"),
    ("How do I enable 2FA?", "How do I disable 2FA?"),
    ("Should I take it before meals?", "Should I take it after meals?"),
    ("What is yoghurt?", "How do I make yoghurt?"),
    ("Convert 5 euros to dollars.", "Convert 5 dollars to euros."),
    ("Ana reports to Ben. Who is the boss?", "Ben reports to Ana. Who is the boss?"),
    ("Name a hotel in Graz.", "Name a hotel in Linz."),
    ("Say good morning in French.", "Say good morning in German."),
    ("Describe Vienna.", "Describe Vienna in one sentence."),
], ids=lambda text: text[:24])
def test_a_near_request_that_asks_for_something_else_is_answered_afresh(
        recorded: str, asked: str, embedder: SentenceTransformerEmbedder) -> None:
    inner = numbered()
    model = over(inner, embedder)
    model.invoke(recorded)
    reply = model.invoke(asked)
    assert (reply.text, inner.count) == ("answer 2", 2)
    assert marker(reply)["outcome"] in {"skip", "miss"}
    assert marker(reply)["reason"]


@pytest.mark.parametrize(("recorded", "asked"), [
    ("Name three rivers of Austria.", "Could you please name three rivers of Austria?"),
    ("How do I reset my password?", "Hi! How do I reset my password? Thanks!"),
], ids=lambda text: text[:24])
def test_the_same_request_in_other_words_is_served(
        recorded: str, asked: str, embedder: SentenceTransformerEmbedder) -> None:
    inner = numbered()
    model = over(inner, embedder)
    model.invoke(recorded)
    reply = model.invoke(asked)
    assert (reply.text, inner.count) == ("answer 1", 1)
    assert marker(reply)["outcome"] == "reuse"
    assert marker(reply)["similarity"] is None or marker(reply)["similarity"] > 0.55


def test_the_prose_of_one_language_is_not_served_in_another(embedder: SentenceTransformerEmbedder) -> None:
    solved = ("1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5")
    inner = Chat(script=[solved, "x = 5"])
    model = over(inner, embedder)
    model.invoke("Solve 2x + 3 = 13 for x.")
    for asked in ("Resuelve 2x + 3 = 13 para x.", "Löse 2x + 3 = 13 nach x auf.",
                  "Solve 2x + 3 = 13. Answer in French."):
        assert "Subtract" not in model.invoke(asked).text


def test_a_follow_up_is_matched_with_its_whole_conversation(embedder: SentenceTransformerEmbedder) -> None:
    def conversation(book: str, author: str, question: str) -> list[Any]:
        return [HumanMessage(f"Who wrote {book}?"), AIMessage(author), HumanMessage(question)]

    inner = numbered()
    model = over(inner, embedder, Policy(multi_turn=True))
    model.invoke(conversation("Emma", "Jane Austen", "When was the author born?"))
    assert model.invoke(conversation("Dracula", "Bram Stoker", "When was the author born?")).text == "answer 2"
    assert model.invoke(conversation("Emma", "Jane Austen", "Please, when was the author born?")).text == "answer 1"
    strict = over(numbered(), embedder)
    strict.invoke(conversation("Emma", "Jane Austen", "When was the author born?"))
    assert strict.invoke(conversation("Emma", "Jane Austen", "Please, when was the author born?")).text == "answer 2"


def test_a_candidate_is_found_behind_another_wording_of_the_same_keys(embedder: SentenceTransformerEmbedder) -> None:
    rivers = [{"name": "Ucayali", "length": 1771}, {"name": "Marañón", "length": 1737},
              {"name": "Putumayo", "length": 1609}]
    inner = Chat(script=[json.dumps(rivers, ensure_ascii=False)])
    model = over(inner, embedder)
    model.invoke("List three rivers in Peru as JSON with keys name, length.")
    decision = marker(model.invoke("Give JSON, keys name and length, for three rivers in Peru."))
    assert decision["outcome"] in {"reuse", "patch", "skip"}
    assert decision["matched"]


def test_a_hit_marked_as_wrong_is_gone_for_good(embedder: SentenceTransformerEmbedder) -> None:
    inner = numbered()
    model = over(inner, embedder)
    model.invoke("Name three rivers of Austria.")
    wrong = model.invoke("Please name three rivers of Austria.")
    assert marker(wrong)["outcome"] == "reuse"
    assert model.step_cache.forget(marker(wrong)["matched"]) == 1
    assert model.invoke("Please name three rivers of Austria.").text == "answer 2"


def test_hot_sampling_is_repeated_exactly_or_not_at_all(embedder: SentenceTransformerEmbedder) -> None:
    inner = numbered()
    model = over(inner, embedder)
    for temperature, other in ((0.0, "answer 1"), (1.5, "answer 3")):
        hot = model.bind(temperature=temperature)
        first = hot.invoke("Name three rivers of Austria.").text
        assert hot.invoke("Name three rivers of Austria.").text == first
        assert hot.invoke("Please name three rivers of Austria.").text == other


def test_tenants_do_not_meet() -> None:
    from stepcache import control

    inner = numbered()
    model = wrapped(inner)
    for namespace, expected in (("acme", "answer 1"), ("birch", "answer 2"), ("acme", "answer 1"), ("a/b", "answer 3")):
        with control(namespace=namespace):
            assert model.invoke("Summarise our plan").text == expected
    assert memory().store.count() == 0
