"""A check that takes long is made off the event loop: other tasks go on, and decisions are those of the sync caller."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from stepcache import Completion, Policy, Request, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import _sandbox, all_of, code, plain_text
from stepcache.testing import ScriptedModel

PROMPT = 'def double(x):\n    """Return twice x.\n\n    >>> double(2)\n    4\n    """\n'
BODY = "    return 2 * x\n"
RENAMED = PROMPT.replace("double", "twice")


class Loop:
    """A check that passes only while the event loop goes on: it asks a task there for a sign and waits for it."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.checks = 0

    def __call__(self, text: str) -> bool:
        self.checks += 1
        sign = threading.Event()
        assert self.loop is not None
        self.loop.call_soon_threadsafe(sign.set)
        return sign.wait(5)


def opened(task, **policy) -> StepCache:
    return StepCache(MemoryStore(), None, tasks=(task,), policy=Policy(**policy))


async def served(cache: StepCache, check: Loop, prompt: str, reply: str = BODY):
    check.loop = asyncio.get_running_loop()

    async def model(prompt: str, purpose: str) -> str:
        return reply

    return await cache.acomplete(prompt, model)


@pytest.mark.parametrize("wrap", [lambda task: task, lambda task: all_of(task, plain_text(min_words=1))])
def test_the_loop_goes_on_while_a_fresh_reply_a_candidate_and_a_repetition_are_checked(wrap):
    check = Loop()
    store = MemoryStore()

    async def run() -> list[tuple[str, bool]]:
        told = []
        for prompt in (PROMPT, RENAMED, PROMPT):
            # a new cache over the same store trusts nothing, so that the exact repetition is checked again
            cache = StepCache(store, None, tasks=(wrap(code(check=check)),))
            result = await served(cache, check, prompt)
            told.append((result.source, result.verified))
        return told

    told = asyncio.run(run())
    assert told[0] == ("model", True)
    assert told[2] == ("cache", True)
    assert all(verified for _, verified in told)
    assert check.checks >= 4


def test_the_loop_goes_on_while_a_repair_a_shadow_and_a_record_are_checked():
    check = Loop()

    async def run() -> None:
        cache = opened(code(check=check))
        replies = iter(["no code", BODY])

        async def model(prompt: str, purpose: str) -> str:
            return next(replies)

        check.loop = asyncio.get_running_loop()
        repaired = await cache.acomplete(PROMPT, model)
        assert (repaired.source, repaired.verified) == ("repair", True)
        assert await cache.arecord(RENAMED, BODY)
        shadowing = StepCache(cache.store, None, tasks=cache.tasks, policy=Policy(shadow=True))
        shadowed = await served(shadowing, check, RENAMED, "    return x + x\n")
        assert shadowed.shadow is not None
        assert shadowed.shadow.ok

    asyncio.run(run())


def test_the_loop_goes_on_while_a_stream_is_checked():
    check = Loop()

    async def run() -> str:
        cache = opened(code(check=check))
        check.loop = asyncio.get_running_loop()

        async def model(prompt: str, purpose: str):
            for piece in ("    return ", "2 * x\n"):
                yield piece

        *pieces, result = [piece async for piece in cache.astream(PROMPT, model)]
        assert result.verified
        return "".join(pieces)

    assert asyncio.run(run()) == BODY


def test_tests_run_away_from_the_loops_thread(monkeypatch):
    ran_on = []
    real = _sandbox.run

    def run(program: str, tests: str):
        ran_on.append(threading.get_ident())
        return real(program, tests)

    monkeypatch.setattr(_sandbox, "run", run)

    async def ask() -> bool:
        async def model(prompt: str, purpose: str) -> str:
            return BODY

        result = await opened(code(tests="assert double(3) == 6")).acomplete(PROMPT, model)
        return result.verified

    assert asyncio.run(ask())
    assert ran_on
    assert threading.get_ident() not in ran_on


def test_a_slow_check_sees_the_callers_context_variables():
    tenant = contextvars.ContextVar("tenant", default="")
    seen = []

    def check(text: str) -> bool:
        seen.append(tenant.get())
        return True

    async def run() -> None:
        tenant.set("acme")

        async def model(prompt: str, purpose: str) -> str:
            return BODY

        await opened(code(check=check)).acomplete(PROMPT, model)

    asyncio.run(run())
    assert set(seen) == {"acme"}


def test_a_slow_check_that_raises_costs_a_warning_unless_strict(caplog):
    class Broken(type(code()(Request(PROMPT)))):  # a spec whose own check is at fault, not the user's callable
        @property
        def slow(self) -> bool:
            return True

        def check(self, text: str):
            raise RuntimeError("boom")

    def task(request: Request):
        return Broken(prompt=request.prompt)

    async def run(strict: bool):
        async def model(prompt: str, purpose: str) -> Completion:
            return Completion(BODY)

        return await opened(task, strict=strict, enforce=False).acomplete(PROMPT, model)

    result = asyncio.run(run(strict=False))
    assert (result.output, result.verified, result.recorded) == (BODY, False, False)
    assert "RuntimeError" in caplog.text  # by its type: a message may quote the prompt
    with pytest.raises(RuntimeError, match="boom"):
        asyncio.run(run(strict=True))


def test_the_decisions_are_those_of_a_sync_caller():
    task = code(tests="assert (double if 'double' in globals() else twice)(3) == 6")
    sync, other = opened(task), opened(task)
    mine = [sync.complete(prompt, ScriptedModel([BODY] * 3)) for prompt in (PROMPT, RENAMED, PROMPT)]

    async def run():
        async def model(prompt: str, purpose: str) -> str:
            return BODY

        return [await other.acomplete(prompt, model) for prompt in (PROMPT, RENAMED, PROMPT)]

    theirs = asyncio.run(run())
    assert [(r.source, r.output, r.verified, r.outcome) for r in mine] == [
        (r.source, r.output, r.verified, r.outcome) for r in theirs]
