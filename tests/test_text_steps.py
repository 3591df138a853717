"""A list that is longer or shorter than its prompt asked for answers no other prompt."""

from __future__ import annotations

import time

import pytest

from stepcache import StepCache
from stepcache.tasks._count import asked_steps, numbered_steps
from stepcache.testing import HashEmbedder, ScriptedModel


@pytest.mark.parametrize(("prompt", "count"), [
    ("Explain in four short numbered steps how to repot a houseplant.", 4),
    ("How do I reset Windows 11 in 12 simple steps?", 12),
    ("Explain it with 3 clear, short steps", 3),
    ("Erkläre in drei kurzen Schritten, wie man Tee kocht.", 3),
    ("Explica en cinco pasos cómo hacer té.", 5),
    ("Explique en six étapes comment faire du thé.", 6),
    ("Answer in exactly 3 steps. Use 3 steps, no more.", 3),
])
def test_a_plain_count_of_steps_is_read(prompt: str, count: int) -> None:
    assert asked_steps(prompt) == count


@pytest.mark.parametrize("prompt", [
    "How do I repot a houseplant?",
    "Explain it in steps.",
    "Explain it in a few short steps.",
    "How do I make 2 cups of tea in easy steps?",
    "How do I reset Windows 11 in simple steps?",
    "Solve x^2 = 4 in clear steps",
    "List 3 tools and the steps",
    "What comes after the first three steps of the visa process?",
    "What are the 12 steps of Alcoholics Anonymous?",
    "Explain it in 4 steps or fewer",
    "Explain it in 4 steps at most",
    "Explain it in 4 steps (max)",
    "Erkläre es in vier Schritten oder weniger",
    "en quatre étapes maximum",
    "en cuatro pasos como máximo",
    "in 2 plans of 4 steps each",
    "in 4 steps each with two parts",
    "in 4.5 steps",
    "in thirty one steps",
    "Use at most five steps.",
    "Use at least 3 short steps.",
    "Use up to 5 steps",
    "In 3 to 5 steps, please.",
    "In 3-5 steps, please.",
    "three or four steps",
    "höchstens vier Schritte",
    "Fix step 4 of these.",
    "Tell me in 4 steps, then in 5 steps.",
    "99 steps",
    "half steps",
])
def test_an_open_or_missing_count_is_none(prompt: str) -> None:
    assert asked_steps(prompt) is None


@pytest.mark.parametrize("text", [
    "a" * 100_000, "a-" * 50_000, "steps " * 16_000, "in 4 short " * 9_000, "1." * 50_000, "1.\n" * 30_000])
def test_long_texts_take_no_time(text: str) -> None:
    started = time.process_time()
    assert (asked_steps(text), numbered_steps(text)) == (None, None)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(("reply", "count"), [
    ("1. a\n2. b\n3. c", 3),
    ("Sure:\n\n1) **A**: x\n   - y\n2) b\n\nDone.", 2),
    ("### 1. A\n\n### 2. B", 2),
    ("Step 1: a\nStep 2: b", 2),
    ("**Step 1:** a\n**Step 2:** b", 2),
    ("1. a", None),
    ("no list", None),
    ("1. a\n2. b\n\n1. c\n2. d", None),
    ("2. a\n3. b", None),
    ("1.5 litres\n2.5 litres", None),
])
def test_the_steps_of_one_list_are_counted(reply: str, count: int | None) -> None:
    assert numbered_steps(reply) == count


BASE = "Explain in three short numbered steps how to repot a houseplant."
OTHER = "Please explain in three short numbered steps how to repot a houseplant."


def test_a_list_of_another_length_answers_only_its_own_request() -> None:
    cache = StepCache.open(":memory:", embedder=HashEmbedder())
    long, right = "1. Dig.\n2. Lift.\n3. Shake.\n4. Plant.", "1. Dig.\n2. Lift.\n3. Plant."
    cache.complete(BASE, ScriptedModel(long))
    assert cache.complete(BASE, ScriptedModel("not called")).output == long
    result = cache.complete(OTHER, ScriptedModel(right))
    assert (result.outcome, result.source, result.output) == ("skip", "model", right)
    assert "4 steps where 3" in result.decision.reason


def test_a_list_of_the_right_length_or_no_list_serves_as_before() -> None:
    for reply in ("1. Dig.\n2. Lift.\n3. Plant.", "Dig, lift and plant."):
        cache = StepCache.open(":memory:", embedder=HashEmbedder())
        cache.complete(BASE, ScriptedModel(reply))
        assert cache.complete(OTHER, ScriptedModel("not called")).output == reply
