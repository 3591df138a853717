"""What becomes of a request: the laws of the flow, with a task of one's own and a scripted model."""

from __future__ import annotations

import logging

import pytest
from counting import counted, counting

from stepcache import CacheControl, Completion, Policy, Request, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder, ScriptedModel


def open_cache(*, computed: bool = False, embedder: bool = True, now: list[float] | None = None, **policy) -> StepCache:
    clock = (lambda: now[0]) if now is not None else (lambda: 1000.0)
    return StepCache(MemoryStore(), HashEmbedder() if embedder else None, tasks=(counting(computed), plain_text()),
                     policy=Policy(**policy), clock=clock)


def test_the_first_request_is_a_miss_and_its_repetition_costs_nothing():
    cache, model = open_cache(), ScriptedModel(counted)
    first = cache.complete("Count from 1 to 3.", model)
    again = cache.complete("Count from 1 to 3.", model)
    assert (first.outcome, first.source, first.calls, first.verified, first.recorded) == (
        "miss", "model", 1, True, True)
    assert (again.outcome, again.source, again.calls, again.exact, again.output) == (
        "reuse", "cache", 0, True, first.output)
    assert again.saved == first.usage.total
    assert len(model.calls) == 1


def test_what_is_missing_is_asked_for_and_what_stands_is_kept():
    cache, model = open_cache(), ScriptedModel(counted)
    cache.complete("Count from 1 to 4.", model)
    longer = cache.complete("Count from 1 to 6.", model)
    assert (longer.outcome, longer.source, longer.output) == ("patch", "patch", "1\n2\n3\n4\n5\n6")
    assert (longer.kept, longer.regenerated, longer.recorded) == (4, 2, True)
    prompt, purpose = model.calls[-1]
    assert purpose == "patch"
    assert "1\n2\n3\n4" in prompt


def test_patching_off_or_too_much_to_write_again_skips():
    for policy in ({"patch": False}, {"max_failing_share": 0.1}):
        cache, model = open_cache(**policy), ScriptedModel(counted)
        cache.complete("Count from 1 to 5.", model)
        result = cache.complete("Count from 1 to 2.", model)
        assert (result.outcome, result.source, result.output) == ("skip", "model", "1\n2")


def test_a_wrong_reply_is_never_recorded():
    cache = open_cache()
    assert not cache.record("Count from 1 to 4.", "1\n2\n3\n9\n")
    assert cache.stats().entries == 0
    assert cache.record("Count from 1 to 4.", "1\n2\n3\n4\n")


def test_a_patch_that_fails_its_check_is_repaired_then_computed():
    replies = {"answer": "1\n2\n3\n4", "patch": "7", "repair": "still wrong"}
    cache, model = open_cache(computed=True), ScriptedModel(lambda prompt, purpose: replies[purpose])
    cache.complete("Count from 1 to 4.", model)
    result = cache.complete("Count from 1 to 5.", model)
    assert (result.outcome, result.source, result.output, result.recorded) == (
        "patch", "fallback", "1\n2\n3\n4\n5", False)
    assert model.purposes == ["answer", "patch", "repair"]


def test_a_change_of_meaning_skips_and_says_why():
    cache, model = open_cache(), ScriptedModel(counted)
    cache.complete("Please count from 1 to 3 in Rome.", model)
    result = cache.complete("Please count from 1 to 3 in Oslo.", model)
    assert (result.outcome, result.source) == ("skip", "model")
    assert "Rome" in result.decision.reason
    assert "Oslo" in result.decision.reason


def test_a_failing_reply_is_asked_for_again_and_then_computed():
    nonsense = ScriptedModel("nonsense")
    result = open_cache(computed=True).complete("Count from 1 to 3.", nonsense)
    assert (result.source, result.output, result.verified, result.recorded) == ("fallback", "1\n2\n3", True, False)
    assert nonsense.purposes == ["answer", "repair"]


def test_without_a_fallback_the_failing_reply_comes_back_flagged_and_unrecorded():
    cache, model = open_cache(), ScriptedModel("nonsense")
    result = cache.complete("Count from 1 to 3.", model)
    assert (result.source, result.output, result.verified, result.recorded) == ("model", "nonsense", False, False)
    cache.complete("Count from 1 to 3.", model)
    assert len(model.calls) == 4


def test_a_repair_that_passes_is_recorded():
    cache, model = open_cache(), ScriptedModel(["wrong", "1\n2\n3"])
    result = cache.complete("Count from 1 to 3.", model)
    assert (result.source, result.verified, result.calls, result.recorded) == ("repair", True, 2, True)
    assert cache.complete("Count from 1 to 3.", model).source == "cache"


def test_enforcement_off_leaves_the_models_words():
    cache = open_cache(computed=True, enforce=False)
    result = cache.complete("Count from 1 to 3.", ScriptedModel("nonsense"))
    assert (result.output, result.source, result.verified, result.recorded) == ("nonsense", "model", False, False)


@pytest.mark.parametrize("reason", [
    "length", "max_tokens", "MAX_TOKENS", "content_filter", "FinishReason.SAFETY", "model_context_window_exceeded",
    "guardrail_intervened", "content_filtered", "pause_turn", "ERROR_LIMIT", "timeout", "IMAGE_SAFETY", "OTHER",
])
def test_a_reply_that_was_cut_off_is_returned_but_not_recorded(reason: str):
    cache = open_cache()
    result = cache.complete("Tell me about Graz", ScriptedModel(Completion("Graz is", finish_reason=reason)))
    assert (result.output, result.recorded) == ("Graz is", False)
    assert cache.stats().entries == 0


@pytest.mark.parametrize("reason", [
    None, "stop", "STOP", "end_turn", "eos_token", "stop_sequence", "COMPLETE", "tool_use", "FinishReason.STOP",
])
def test_a_reply_that_ended_by_itself_is_recorded(reason: str | None):
    reply = Completion("Hilly.", finish_reason=reason)
    assert open_cache().complete("Tell me about Graz", ScriptedModel(reply)).recorded


@pytest.mark.parametrize("reply", ["", "   ", "\n"])
def test_an_empty_reply_is_not_recorded(reply: str):
    cache = open_cache()
    assert not cache.complete("Tell me about Graz", ScriptedModel(reply)).recorded


def test_a_models_error_reaches_the_caller_also_where_a_fallback_exists():
    cache = open_cache(computed=True)
    with pytest.raises(RuntimeError, match="down"):
        cache.complete("Count from 1 to 3.", ScriptedModel(RuntimeError("down")))
    assert cache.stats().entries == 0


def test_a_models_stop_iteration_is_an_error_like_any_other():
    cache = open_cache()
    with pytest.raises(StopIteration):
        cache.complete("Count from 1 to 3.", ScriptedModel(StopIteration("end of script")))


def test_control_decides_what_is_read_and_written():
    cache, model = open_cache(), ScriptedModel(["a b", "c d", "e f", "g h"])
    cache.complete("Name a tree", model, control=CacheControl(no_store=True))
    assert cache.stats().entries == 0
    cache.complete("Name a tree", model)
    assert cache.complete("Name a tree", model, control=CacheControl(no_cache=True)).output == "e f"
    assert cache.complete("Name a tree", model, control=CacheControl(refresh=True)).output == "g h"
    assert cache.complete("Name a tree", model).output == "g h"


def test_time_to_live_ends_at_its_very_second_and_does_not_slide():
    now = [0.0]
    cache, model = open_cache(now=now), ScriptedModel("elm")
    cache.complete("Name a tree", model, control=CacheControl(ttl=10))
    now[0] = 5.0
    assert cache.complete("Name a tree", model).source == "cache"
    now[0] = 10.0
    assert cache.complete("Name a tree", model).source == "model"


def test_a_clock_that_runs_backwards_makes_nothing_immortal():
    now = [1000.0]
    cache, model = open_cache(now=now), ScriptedModel("elm")
    cache.complete("Name a tree", model, control=CacheControl(ttl=10))
    now[0] = 500.0
    assert cache.complete("Name a tree", model).source == "model"


def test_max_age_is_the_readers_limit():
    now = [0.0]
    cache, model = open_cache(now=now), ScriptedModel("elm")
    cache.complete("Name a tree", model)
    now[0] = 60.0
    assert cache.complete("Name a tree", model, control=CacheControl(max_age=61)).source == "cache"
    assert cache.complete("Name a tree", model, control=CacheControl(max_age=60)).source == "model"


def test_namespaces_are_walls():
    cache, model = open_cache(), ScriptedModel(["ACME secret", "other"])
    cache.complete("Summarise our plan", model, namespace="acme")
    result = cache.complete("Summarise our plan", model, namespace="birch")
    assert (result.outcome, result.output) == ("miss", "other")
    assert cache.stats("acme").requests == cache.stats("birch").requests == 1
    assert cache.stats("acme").entries == 1


def test_context_and_model_are_part_of_what_is_asked():
    cache, model = open_cache(), ScriptedModel(["a", "b", "c"])
    cache.complete(Request("Name a tree", context="in French"), model)
    assert cache.complete(Request("Name a tree", context="in German"), model).outcome == "miss"
    assert cache.complete(Request("Name a tree", context="in German", model="large"), model).outcome == "miss"


def test_forget_removes_what_served_and_blocks_the_pair():
    cache, model = open_cache(), ScriptedModel(["elm", "oak", "ash"])
    cache.complete("Name a tree", model)
    hit = cache.complete("Please name a tree", model)
    assert hit.outcome == "reuse"
    assert cache.forget(hit) == 1
    assert cache.complete("Name a tree", model).output == "oak"
    assert cache.complete("Please name a tree", model).output == "ash"


def test_sampling_above_the_limit_is_exact_only():
    cache, model = open_cache(), ScriptedModel(["elm", "oak"])
    cache.complete(Request("Name a tree", temperature=1.3), model)
    assert cache.complete(Request("Please name a tree", temperature=1.3), model).output == "oak"
    assert cache.complete(Request("Name a tree", temperature=1.3), model).output == "elm"


def test_earlier_turns_are_exact_only_unless_allowed():
    for allowed, outcome in ((False, "miss"), (True, "reuse")):
        cache, model = open_cache(multi_turn=allowed), ScriptedModel(["elm", "oak"])
        cache.complete(Request("Name a tree", context="turns", multi_turn=True), model)
        asked = Request("Please name a tree", context="turns", multi_turn=True)
        assert cache.complete(asked, model).outcome == outcome


def test_works_without_an_embedder_by_exact_and_template():
    cache, model = open_cache(embedder=False), ScriptedModel("elm")
    cache.complete("Name a tree", model)
    assert cache.complete("Name a tree", model).exact
    assert cache.complete("please name a tree!", model).outcome == "reuse"


def test_shadow_always_calls_the_model_and_counts_what_would_have_been_wrong():
    cache, model = open_cache(shadow=True), ScriptedModel(["elm", "elm", "oak"])
    cache.complete("Name a tree", model)
    same = cache.complete("Name a tree", model)
    assert (same.outcome, same.source, same.shadow.ok) == ("reuse", "model", True)
    assert not cache.complete("Name a tree", model).shadow.ok
    assert cache.stats().shadow_wrong == 1
    assert len(model.calls) == 3


def test_a_judge_may_overrule_words_but_not_numbers():
    asked = []

    def judge(cached: str, new: str) -> bool:
        asked.append((cached, new))
        return True

    cache, model = open_cache(judge=judge), ScriptedModel(["elm", "ten"])
    cache.complete("Name one tall tree near the old bridge", model)
    assert cache.complete("Name one big tree near the old bridge", model).outcome == "reuse"
    assert cache.complete("Name 12 tall trees near the old bridge", model).outcome in {"skip", "miss"}
    assert len(asked) == 1


def judging(answers):
    """A judge with these answers by the new prompt's third word, and what it was asked."""
    asked = []

    def judge(cached: str, new: str) -> bool:
        asked.append((cached, new))
        return answers[new.split()[2]]

    return judge, asked


TALL, BIG, LARGE, SLIM = (f"Name one {word} tree near the old bridge" for word in ("tall", "big", "large", "slim"))


def test_a_second_opinion_is_recorded_with_the_entry_it_allowed():
    judge, asked = judging({"big": True})
    cache, model = open_cache(judge=judge), ScriptedModel(["elm"])
    first = cache.complete(TALL, model)
    judged = cache.complete(BIG, model)
    assert (judged.output, judged.recorded) == ("elm", True)
    again = cache.complete(BIG, model)
    assert (again.exact, again.output, len(asked), len(model.calls)) == (True, "elm", 1, 1)
    assert first.key[:8] in again.decision.reason
    entry, = (entry for entry, _ in cache.store.scan() if entry.key == judged.key)
    assert entry.judged == first.key


def test_a_no_is_in_the_reason_and_asked_once():
    judge, asked = judging({"slim": False})
    cache, model = open_cache(judge=judge), ScriptedModel(["elm", "fir"])
    cache.complete(TALL, model)
    assert cache.explain(SLIM).outcome == "skip"
    assert asked == []
    refused = cache.complete(SLIM, model, control=CacheControl(no_store=True))
    assert (refused.outcome, refused.output) == ("skip", "fir")
    assert "second opinion" in refused.decision.reason
    cache.complete(SLIM, ScriptedModel("fir"))
    assert len(asked) == 1


def test_what_rests_on_a_second_opinion_is_not_judged_again():
    judge, asked = judging({"big": True, "large": True})
    cache, model = open_cache(judge=judge), ScriptedModel(["elm"])
    cache.complete(TALL, model)
    cache.complete(BIG, model)
    cache.complete(LARGE, model)
    assert {cached for cached, _ in asked} == {TALL}


def test_what_a_second_opinion_joined_is_kept_apart_after_forget():
    judge, asked = judging({"big": True})
    cache, model = open_cache(judge=judge), ScriptedModel(["elm", "oak"])
    cache.complete(TALL, model)
    cache.complete(BIG, model)
    wrong = cache.complete(BIG, model)
    assert wrong.exact
    cache.forget(wrong)
    assert cache.complete(BIG, model).output == "oak"
    assert len(asked) == 1


def test_no_store_keeps_a_second_opinion_out_of_the_store():
    judge, _ = judging({"big": True})
    cache, model = open_cache(judge=judge), ScriptedModel(["elm"])
    cache.complete(TALL, model)
    assert not cache.complete(BIG, model, control=CacheControl(no_store=True)).recorded
    assert len(list(cache.store.scan())) == 1


def test_should_store_has_the_last_word_and_its_fault_costs_nothing():
    cache = open_cache(should_store=lambda request, completion: "sorry" not in completion.text)
    assert not cache.complete("Name a tree", ScriptedModel("sorry, no")).recorded
    broken = open_cache(should_store=lambda request, completion: 1 / 0)
    assert broken.complete("Name a tree", ScriptedModel("elm")).output == "elm"


def test_a_broken_task_costs_a_warning_and_a_model_call(caplog):
    def broken(request: Request):
        raise ZeroDivisionError("oops")

    cache = StepCache(MemoryStore(), tasks=(broken, plain_text()))
    with caplog.at_level(logging.WARNING, "stepcache"):
        result = cache.complete("Name a tree", ScriptedModel("elm"))
    assert (result.output, result.recorded) == ("elm", False)
    assert "ZeroDivisionError" in caplog.text


def test_a_prompt_over_the_limit_passes_by_the_cache():
    cache = open_cache(max_chars=100)
    result = cache.complete("x" * 101, ScriptedModel("fine"))
    assert (result.output, result.outcome, result.recorded) == ("fine", "miss", False)


def test_explain_reads_like_a_sentence_and_calls_nothing():
    cache, model = open_cache(), ScriptedModel("elm")
    assert str(cache.explain("Name a tree")).startswith("Miss: ")
    cache.complete("Name a tree", model)
    assert str(cache.explain("Name a tree")).startswith("Reuse: the very same request")
    assert len(model.calls) == 1


def test_skips_are_logged_without_prompt_text(caplog):
    cache, model = open_cache(), ScriptedModel("elm")
    cache.complete("Name a tree in Graz", model)
    with caplog.at_level(logging.INFO, "stepcache"):
        cache.complete("Name a tree in Linz", model)
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]
    assert len(lines) == 1
    assert "skip" in lines[0]
    assert "Graz" not in lines[0]


def test_disabled_by_the_environment_every_call_is_plain(monkeypatch):
    monkeypatch.setenv("STEPCACHE_DISABLED", "1")
    cache, model = open_cache(), ScriptedModel("elm")
    for _ in range(2):
        assert cache.complete("Name a tree", model).source == "model"
    assert (len(model.calls), cache.stats().entries) == (2, 0)
