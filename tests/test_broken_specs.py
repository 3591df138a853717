"""A spec or task that fails anywhere costs a warning, never the caller's answer; and the rarer turns of the flow."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest
from counting import Counting, counted, counting

from stepcache import CacheControl, Completion, Policy, Request, Result, Spec, Step, StepCache, Verdict
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder, ScriptedModel


@dataclass(frozen=True)
class Failing(Counting):
    """Counts, but one of its methods raises, from the moment that is named in `broken`."""

    broken: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> Any:
        if name in type(self).broken:
            raise ZeroDivisionError(name)
        return super().__getattribute__(name)


def failing(request: Request) -> Spec | None:
    made = counting()(request)
    return None if made is None else Failing(made.first, made.last, made.rest)


@pytest.fixture(autouse=True)
def _whole():
    yield
    Failing.broken.clear()


def open_cache(task: Any = failing, **policy: Any) -> StepCache:
    return StepCache(MemoryStore(), HashEmbedder(), tasks=(task, plain_text()), policy=Policy(**policy))


@pytest.mark.parametrize("method", [
    "residue", "shape", "enforced", "verify", "check", "segment", "trace", "plan_patch", "apply_patch", "mend", "slow",
    "failing_share", "rewrite", "repair_prompt", "fallback", "check_repair",
])
def test_whatever_a_spec_does_the_model_answers_and_a_warning_says_what_failed(method: str, caplog):
    cache = open_cache()
    cache.complete("Count from 1 to 3.", ScriptedModel(counted))
    Failing.broken.add(method)
    late = method in {"repair_prompt", "fallback", "check_repair"}
    replies = {"answer": "1\n2\n3\n4\n5", "patch": "7" if late else "4\n5", "repair": "eight"}
    with caplog.at_level(logging.WARNING, "stepcache"):
        result = cache.complete("Count from 1 to 5.", ScriptedModel(lambda prompt, purpose: replies[purpose]))
    assert result.output == "1\n2\n3\n4\n5"
    assert result.calls <= 3
    assert "ZeroDivisionError" in caplog.text or method in {"mend", "enforced"}  # those are not needed for a patch


@pytest.mark.parametrize("method", ["segment", "trace"])
def test_what_cannot_be_taken_apart_is_not_recorded(method: str, caplog):
    Failing.broken.add(method)
    cache = open_cache()
    with caplog.at_level(logging.WARNING, "stepcache"):
        result = cache.complete("Count from 1 to 3.", ScriptedModel(counted))
    assert (result.output, result.recorded, cache.stats().entries) == ("1\n2\n3", False, 0)
    assert "nothing is recorded" in caplog.text


def test_a_spec_that_does_not_know_whether_it_is_enforced_is_not(caplog):
    Failing.broken.add("enforced")
    with caplog.at_level(logging.WARNING, "stepcache"):
        result = open_cache().complete("Count from 1 to 3.", ScriptedModel("nonsense"))
    assert (result.output, result.calls, result.recorded) == ("nonsense", 1, False)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("method", ["residue", "shape"])
def test_a_reply_made_elsewhere_is_not_recorded_where_the_spec_fails(method: str, caplog):
    Failing.broken.add(method)
    with caplog.at_level(logging.WARNING, "stepcache"):
        assert not open_cache().record("Count from 1 to 3.", "1\n2\n3")
    assert "ZeroDivisionError" in caplog.text
    with pytest.raises(ZeroDivisionError):
        open_cache(strict=True).record("Count from 1 to 3.", "1\n2\n3")


def test_a_fresh_reply_that_was_cut_off_is_not_mended_but_asked_for_again():
    def model(prompt: str, purpose: str) -> Completion:
        return Completion("1\n2\n3", finish_reason="length" if purpose == "answer" else "stop")

    assert open_cache().complete("Count from 1 to 3.", model).source == "repair"


@pytest.mark.parametrize("method", ["repair_prompt", "fallback"])
def test_a_spec_that_cannot_put_a_fresh_reply_right_leaves_it_as_the_model_wrote_it(method: str, caplog):
    Failing.broken.add(method)
    with caplog.at_level(logging.WARNING, "stepcache"):
        result = open_cache().complete("Count from 1 to 3.", ScriptedModel("nonsense"))
    assert (result.output, result.verified, result.recorded) == ("nonsense", False, False)
    assert "ZeroDivisionError" in caplog.text


def test_a_spec_that_cannot_mend_is_asked_for_a_repair(caplog):
    Failing.broken.add("mend")
    replies = {"answer": "1\n2", "repair": "1\n2\n3"}
    with caplog.at_level(logging.WARNING, "stepcache"):
        result = open_cache().complete("Count from 1 to 3.", ScriptedModel(lambda prompt, purpose: replies[purpose]))
    assert (result.output, result.source) == ("1\n2\n3", "repair")
    assert "while mending (ZeroDivisionError)" in caplog.text


@pytest.mark.parametrize("method", ["residue", "check", "verify"])
def test_strict_raises_what_a_spec_raised(method: str):
    cache = open_cache(strict=True)
    cache.complete("Count from 1 to 3.", ScriptedModel(counted))
    Failing.broken.add(method)
    with pytest.raises(ZeroDivisionError):
        cache.complete("Count from 1 to 5.", ScriptedModel(counted))


def test_strict_raises_what_should_store_raised():
    def refuse(request: Request, completion: Completion) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        open_cache(should_store=refuse, strict=True).complete("Count from 1 to 3.", ScriptedModel(counted))


def test_a_task_given_with_the_request_that_raises_costs_a_warning(caplog):
    def broken(request: Request) -> Spec | None:
        raise ZeroDivisionError

    cache = open_cache()
    with caplog.at_level(logging.WARNING, "stepcache"):
        result = cache.complete("Count from 1 to 3.", ScriptedModel(counted), spec=broken)
    assert (result.output, result.recorded) == ("1\n2\n3", False)
    assert "ZeroDivisionError" in caplog.text
    with pytest.raises(ZeroDivisionError):
        open_cache(strict=True).complete("Count from 1 to 3.", ScriptedModel(counted), spec=broken)


def test_a_spec_given_as_such_is_the_one_that_checks():
    cache = open_cache(plain_text())
    given = Counting(1, 3, "count")
    result = cache.complete("Anything at all", ScriptedModel(["four", "1\n2\n3"]), spec=given)
    assert (result.output, result.source) == ("1\n2\n3", "repair")


def test_a_task_given_with_the_request_that_does_not_apply_leaves_it_to_the_others():
    cache = open_cache()
    result = cache.complete("Count from 1 to 3.", ScriptedModel(["4", "1\n2\n3"]), spec=lambda request: None)
    assert (result.output, result.source) == ("1\n2\n3", "repair")


def test_a_request_nobody_recognises_and_one_too_long_are_not_recorded():
    cache = StepCache(MemoryStore(), None, tasks=(counting(),), policy=Policy(max_chars=40))
    assert not cache.record("Name a tree", "elm")
    assert not cache.record("Count from 1 to 3." + " " * 40, "1\n2\n3")
    assert cache.record("Count from 1 to 3.", "1\n2\n3")


def test_an_endless_reply_is_no_answer_to_what_is_checked():
    cache = open_cache(max_chars=40)
    result = cache.complete("Count from 1 to 3.", ScriptedModel(["1\n" * 40, "1\n2\n3"]))
    assert (result.output, result.source) == ("1\n2\n3", "repair")
    cache.complete("Count from 1 to 3.", ScriptedModel(counted))
    patched = cache.complete("Count from 1 to 4.", ScriptedModel(
        lambda prompt, purpose: "4\n" * 40 if purpose == "patch" else "1\n2\n3\n4"))
    assert (patched.output, patched.source) == ("1\n2\n3\n4", "repair")


def test_a_patch_that_was_cut_off_is_no_patch():
    cache = open_cache()
    cache.complete("Count from 1 to 3.", ScriptedModel(counted))

    def model(prompt: str, purpose: str) -> Completion:
        return Completion(counted(prompt, purpose), finish_reason="length" if purpose == "patch" else "stop")

    assert cache.complete("Count from 1 to 4.", model).source == "repair"


def test_what_is_made_of_an_old_reply_lives_no_longer_than_it():
    now = [1000.0]
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(counting(),), clock=lambda: now[0])
    cache.complete("Count from 1 to 3.", ScriptedModel(counted), control=CacheControl(ttl=60))
    cache.complete("Count from 1 to 4.", ScriptedModel(counted), control=CacheControl(ttl=600))
    cache.complete("Count from 1 to 5.", ScriptedModel(counted))
    now[0] += 60
    for last in (3, 4, 5):
        assert not cache.complete(f"Count from 1 to {last}.", ScriptedModel(counted)).exact


@dataclass(frozen=True)
class Bounded(Counting):
    """Counts with a rule of its own for whole replies, which a reply recorded before it was made may not meet."""

    longest: ClassVar[int] = 100

    def check(self, text: str) -> Verdict:
        return Verdict(len(text) <= self.longest, "length", "too long")


def test_what_was_recorded_under_other_rules_is_not_served_even_for_the_same_request(monkeypatch):
    store = MemoryStore()

    def task(request: Request) -> Spec | None:
        made = counting()(request)
        return None if made is None else Bounded(made.first, made.last, made.rest)

    StepCache(store, None, tasks=(task,)).complete("Count from 1 to 9.", ScriptedModel(counted))
    monkeypatch.setattr(Bounded, "longest", 5)
    result = StepCache(store, None, tasks=(task,)).complete("Count from 1 to 9.", ScriptedModel("1..9"))
    assert (result.output, result.exact) == ("1..9", False)


@dataclass(frozen=True)
class Glancing(Counting):
    """Counts; tells at a glance that a reply ends in another number, and can cut an end off."""

    kind = "glancing"

    def refutes(self, cached: Any) -> bool:
        return cached.reply.split()[-1:] != self.numbers[-1:]

    def rewrite(self, steps: tuple[Step, ...], cached: Any) -> tuple[Step, ...] | None:
        return steps[:len(self.numbers)] if len(steps) > len(self.numbers) else None


def glancing(request: Request) -> Spec | None:
    made = counting()(request)
    return None if made is None else Glancing(made.first, made.last, made.rest)


@pytest.mark.parametrize(("recorded", "asked", "source"), [
    # The first match fails and can't be rewritten; those refuted at a glance are looked at after all.
    ((3, 9), 5, "rewrite"), ((9, 3), 5, "rewrite"), ((2, 3), 5, "patch"), ((7, 9), 5, "rewrite"),
    ((2, 4, 3), 5, "patch"),
])
def test_of_many_matches_a_free_way_is_found_whatever_came_first(recorded, asked, source):
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(glancing,), policy=Policy(min_similarity=-1.0))
    for last in recorded:
        cache.record(f"Count from 1 to {last}.", counted(f"Count from 1 to {last}."))
    result = cache.complete(f"Count from 1 to {asked}.", ScriptedModel(counted))
    assert (result.output.split(), result.source) == (counted(f"Count from 1 to {asked}.").split(), source)


def test_a_match_refuted_at_a_glance_that_asks_for_something_else_is_no_match_either():
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(glancing,), policy=Policy(min_similarity=-1.0))
    cache.record("Count from 1 to 9 in Rome.", counted("Count from 1 to 9."))
    cache.record("Count from 1 to 3.", counted("Count from 1 to 3."))
    result = cache.complete("Count from 2 to 5.", ScriptedModel(counted))
    assert (result.output, result.source, result.outcome) == ("2\n3\n4\n5", "model", "skip")


@dataclass(frozen=True)
class Trimming(Glancing):
    """Cuts a first line off, which may not be enough."""

    kind = "trimming"

    def rewrite(self, steps: tuple[Step, ...], cached: Any) -> tuple[Step, ...] | None:
        return steps[1:] if steps[0].text == "0\n" else None


def test_what_computation_made_better_but_not_right_is_patched_from_there():
    def task(request: Request) -> Spec | None:
        made = counting()(request)
        return None if made is None else Trimming(made.first, made.last, made.rest)

    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(task,))
    cache.record("Count from 0 to 3.", "0\n1\n2\n3")
    result = cache.complete("Count from 1 to 4.", ScriptedModel(lambda prompt, purpose: "4"))
    assert (result.output, result.source, result.calls) == ("1\n2\n3\n4", "patch", 1)


@dataclass(frozen=True)
class Either(Counting):
    """Counts up or down; what a glance refutes may still serve as it stands, for a glance may err."""

    kind = "either"

    def refutes(self, cached: Any) -> bool:
        return True


def test_a_glance_that_erred_costs_no_reuse():
    def task(request: Request) -> Spec | None:
        made = counting()(replace(request, prompt=request.prompt.replace("please ", "")))
        return None if made is None else Either(made.first, made.last, "count")

    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(task,), policy=Policy(min_similarity=-1.0))
    cache.record("Count from 1 to 4.", "1\n2\n3\n4")
    cache.record("please Count from 1 to 3.", "1\n2\n3")
    for last in (3, 4):
        result = cache.complete(f"please  Count from 1 to {last}.".replace("  ", " ", last == 4),
                                ScriptedModel(counted))
        assert (result.outcome, result.calls) == ("reuse", 0)


def test_a_reply_of_which_nothing_can_be_kept_is_skipped():
    cache = open_cache(max_failing_share=1.0)
    cache.complete("Count from 1 to 3.", ScriptedModel(counted))
    result = cache.complete("Count from 7 to 9.", ScriptedModel(counted))
    assert (result.outcome, result.output) == ("skip", "7\n8\n9")
    assert "nothing of the recorded reply can be kept" in result.decision.reason


def test_a_judge_is_asked_about_the_next_match_when_it_refused_the_nearest():
    said = []

    def judge(cached: str, new: str) -> bool:
        said.append(cached)
        return "big" in cached

    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(plain_text(),),
                      policy=Policy(judge=judge, min_similarity=-1.0))
    for word in ("big", "tall"):
        cache.record(f"Name one {word} tree near the old bridge", word)
    result = cache.complete("Name one slim tree near the old bridge", ScriptedModel("thin"))
    assert (result.output, result.source) == ("big", "cache")
    assert any("tall" in prompt for prompt in said) == (said[0].split()[2] == "tall")


def test_a_judge_that_refuses_all_matches_is_named_in_the_reason_once():
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(plain_text(),),
                      policy=Policy(judge=lambda cached, new: False, min_similarity=-1.0))
    for word in ("big", "tall"):
        cache.record(f"Name one {word} tree near the old bridge", word)
    result = cache.complete("Name one slim tree near the old bridge", ScriptedModel("thin"))
    assert (result.output, result.outcome) == ("thin", "skip")
    assert result.decision.reason.count("second opinion") == 1


def test_a_judges_yes_does_not_make_a_reply_pass_its_checks():
    """Both ask for the same thing, and still nothing of the recorded reply can be kept."""
    def task(request: Request) -> Spec | None:
        made = counting()(request)
        return made

    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(task,),
                      policy=Policy(judge=lambda cached, new: True, min_similarity=-1.0))
    cache.complete("Tall: count from 1 to 3.", ScriptedModel(counted))
    result = cache.complete("Slim: count from 7 to 9.", ScriptedModel(counted))
    assert (result.outcome, result.output) == ("skip", "7\n8\n9")


def test_a_lookup_patches_and_repairs_only_where_it_is_given_a_model():
    cache = open_cache()
    cache.complete("Count from 1 to 3.", ScriptedModel(counted))
    assert cache.lookup("Count from 1 to 4.") is None
    repaired = cache.lookup("Count from 1 to 4.", model=ScriptedModel(
        lambda prompt, purpose: "nonsense" if purpose == "patch" else counted(prompt)))
    assert repaired is not None
    assert (repaired.output, repaired.source) == ("1\n2\n3\n4", "repair")


def test_shadow_tells_a_right_reply_in_other_words_and_a_patch_that_would_be_needed():
    cache, model = open_cache(shadow=True), ScriptedModel(counted)
    cache.complete("Count from 1 to 3.", model)
    other = cache.complete("Count from 1 to 3.", ScriptedModel("one by one"))
    assert (other.shadow.ok, other.shadow.detail) == (True, "other words, and the reply passes the same check")
    patched = cache.complete("Count from 1 to 4.", model)
    assert (patched.outcome, patched.shadow.ok) == ("patch", True)
    assert "without the model" in patched.shadow.detail


def test_shadow_tells_another_answer_by_the_words_where_nothing_can_be_checked():
    cache = StepCache(MemoryStore(), None, tasks=(plain_text(),), policy=Policy(shadow=True))
    cache.complete("Name a tree", ScriptedModel("elm"))
    assert not cache.complete("Name a tree", ScriptedModel("oak")).shadow.ok


def test_a_reply_of_other_blocks_than_text_is_an_answer():
    cache = open_cache()
    reply = Completion("", payload={"blocks": ["image"]})
    assert cache.complete("Draw a tree", lambda prompt, purpose: reply).recorded
    assert cache.complete("Draw a tree", ScriptedModel("never")).payload == {"blocks": ["image"]}


def test_shadow_tells_what_a_rewrite_would_have_given():
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(glancing,), policy=Policy(shadow=True, min_similarity=-1.0))
    cache.record("Count from 1 to 9.", counted("Count from 1 to 9."))
    result = cache.complete("Count from 1 to 5.", ScriptedModel(counted))
    assert (result.outcome, result.source, result.shadow.ok) == ("patch", "model", True)


class Pieces:
    """An iterator without `close`, as any object of a user's may be."""

    def __init__(self, *pieces: Any) -> None:
        self.left = list(pieces)

    def __iter__(self):
        return self

    def __next__(self) -> Any:
        if not self.left:
            raise StopIteration
        return self.left.pop(0)

    def __aiter__(self):
        return self

    async def __anext__(self) -> Any:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


def streamed(cache: StepCache, *pieces: Any) -> list[Any]:
    return list(cache.run_stream(Request("Name a tree"), lambda effect: Pieces(*pieces)))


async def astreamed(cache: StepCache, *pieces: Any) -> list[Any]:
    return [item async for item in cache.arun_stream(Request("Name a tree"), lambda effect: Pieces(*pieces))]


@pytest.mark.parametrize("ask", [streamed, lambda *given: asyncio.run(astreamed(*given))], ids=["sync", "async"])
def test_any_iterator_will_do_as_a_stream_but_it_must_end_with_what_it_said(ask):
    *shown, result = ask(open_cache(), "el", "m", Completion("elm"))
    assert shown == ["el", "m"]
    assert isinstance(result, Result)
    assert result.output == "elm"
    cache = open_cache()
    with pytest.raises(TypeError, match="must end with one Completion"):
        ask(cache, "el", "m")
    assert cache.stats().entries == 0
