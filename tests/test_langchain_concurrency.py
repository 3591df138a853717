"""Many at once: one call per question, every answer right, nobody waits for ever, no event loop held up."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_fakes import Chat, marker, memory

from langchain_stepcache import StepCacheChatModel, with_stepcache
from stepcache import StepCache
from stepcache.stores.memory import MemoryStore


class Slow(BaseChatModel):
    """Takes a fifth of a second to repeat the question; counts its calls."""

    delay: float = 0.2
    asked: Any = None

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.asked = []

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _answer(self, messages: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(f"You asked: {messages[-1].text}"))])

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.asked.append(messages[-1].text)
        time.sleep(self.delay)
        return self._answer(messages)

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        self.asked.append(messages[-1].text)
        await asyncio.sleep(self.delay)
        return self._answer(messages)


TOPICS = ["rivers", "lakes", "seas", "hills", "woods", "roads", "bridges", "towers", "gardens", "markets", "clocks",
          "boats", "trains", "kites", "lamps", "books", "chairs", "doors", "bells", "mirrors"]
QUESTIONS = [f"Tell me about {topic}" for topic in TOPICS]


def ask(model: StepCacheChatModel, question: str) -> tuple[str, AIMessage]:
    return question, model.invoke(question)


def test_200_threads_and_200_tasks_ask_20_questions_with_20_calls() -> None:
    inner = Slow()
    model = StepCacheChatModel(model=inner, cache=memory(embedder=None))

    async def tasks() -> list[tuple[str, AIMessage]]:
        async def one(question: str) -> tuple[str, AIMessage]:
            return question, await model.ainvoke(question)

        return list(await asyncio.gather(*(one(question) for question in QUESTIONS * 10)))

    with ThreadPoolExecutor(201) as pool:
        from_tasks = pool.submit(asyncio.run, tasks())
        threads = [pool.submit(ask, model, question) for question in QUESTIONS * 10]
        answers = [future.result(60) for future in threads] + from_tasks.result(60)
    assert sorted(inner.asked) == sorted(QUESTIONS)
    assert len(answers) == 400
    assert all(message.text == f"You asked: {question}" for question, message in answers)
    assert len({id(message) for _, message in answers}) == 400
    assert len({message.id for _, message in answers}) == 400


def test_a_batch_of_equal_questions_is_one_call() -> None:
    inner = Slow()
    model = StepCacheChatModel(model=inner, cache=memory())
    assert [message.text for message in model.batch(["hi"] * 8)] == ["You asked: hi"] * 8
    assert asyncio.run(_abatch(model)) == ["You asked: ho"] * 8
    assert inner.asked == ["hi", "ho"]


async def _abatch(model: StepCacheChatModel) -> list[str]:
    return [message.text for message in await model.abatch(["ho"] * 8)]


def test_followers_are_billed_nothing_and_own_their_copy() -> None:
    model = StepCacheChatModel(model=Slow(), cache=memory())
    replies = model.batch(["hi"] * 4)
    assert sorted(marker(reply)["calls"] for reply in replies) == [0, 0, 0, 1]
    replies[0].content = "changed"
    assert [reply.content for reply in replies[1:]] == ["You asked: hi"] * 3


async def test_a_sync_tool_inside_an_async_agent_may_ask_the_same() -> None:
    inner = Chat(script=["never the same"])
    model = StepCacheChatModel(model=inner, cache=memory())

    @tool
    def ask_again(text: str) -> str:
        """Ask the model the very question that is being answered."""
        return str(model.invoke(text).text)

    async def answering(text: str) -> str:
        return str(ask_again.invoke({"text": text}))

    found = await asyncio.wait_for(asyncio.gather(model.ainvoke("hi"), answering("hi"), model.ainvoke("hi")), 20)
    assert found[1] == "never the same"


async def test_a_slow_store_does_not_hold_up_the_event_loop() -> None:
    class Sluggish(MemoryStore):
        def get(self, *args: Any) -> Any:
            time.sleep(0.2)
            return super().get(*args)

        def peek(self, *args: Any) -> None:
            return None

        def put(self, *args: Any) -> None:
            time.sleep(0.2)
            super().put(*args)

    model = StepCacheChatModel(model=Chat(script=["hello"]), cache=StepCache(Sluggish()))
    ticks: list[float] = []
    done = asyncio.Event()

    async def ticker() -> None:
        while not done.is_set():
            began = time.perf_counter()
            await asyncio.sleep(0.01)
            ticks.append(time.perf_counter() - began)

    ticking = asyncio.create_task(ticker())
    for text in ("hi", "ho", "hi"):
        assert (await model.ainvoke(text)).text == "hello"
        assert "".join([chunk.text async for chunk in model.astream(text)]) == "hello"
    done.set()
    await ticking
    late = [tick for tick in ticks if tick > 0.1]
    assert len(ticks) > 20
    assert len(late) <= 2, late  # a busy machine is late now and then; a blocked loop would be so at every request


def test_a_chain_shared_by_threads_keeps_answers_apart() -> None:
    inner = Slow(delay=0.01)
    chain = with_stepcache(inner, memory(embedder=None))
    failures: list[str] = []

    def worker(question: str) -> None:
        if chain.invoke(question).text != f"You asked: {question}":
            failures.append(question)

    threads = [threading.Thread(target=worker, args=(question,)) for question in QUESTIONS * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    assert len(inner.asked) == len(QUESTIONS)
