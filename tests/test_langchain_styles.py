"""Every call style gives the same decision, the same text, the right type and the right metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.prompts import ChatPromptTemplate
from langchain_fakes import USAGE, Chat, StreamingChat, StreamingText, Text, joined, memory

from langchain_stepcache import LangChainStepCache, StepCacheChatModel, StepCacheTextLLM, with_stepcache
from stepcache import Policy, StepCache

SOLVED = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n"
          "3. Divide both sides by 2: x = 5\n\nx = 5")
SIX = SOLVED.replace("2x = 10", "2x = 12").replace("x = 5", "x = 6")
PATCH = "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"
RECIPE = "Mix flour, milk and eggs. Fry."
ZERO = dict.fromkeys(USAGE, 0)


@dataclass(frozen=True)
class Case:
    """Requests before, the request that counts, and what must come of it."""

    name: str
    before: tuple[str, ...]
    asked: str
    script: tuple[str, ...]
    text: str
    outcome: str
    source: str
    calls: int
    policy: Policy | None = None


CASES = (
    Case("miss", (), "Name a tree", ("Oak",), "Oak", "miss", "model", 1),
    Case("exact", ("Name a tree",), "Name a tree", ("Oak",), "Oak", "reuse", "cache", 0),
    Case("reuse", ("Solve 2x + 3 = 13 for x.",), "Please solve 2x + 3 = 13 for x.", (SOLVED,), SOLVED, "reuse", "cache",
         0),
    Case("rewrite", ("Solve 2x + 3 = 13 for x.",), "Solve 2x + 3 = 15 for x.", (SOLVED,), SIX, "patch", "rewrite", 0),
    Case("patch", ("Solve 2x + 3 = 13 for x.",), "Solve 2x + 3 = 15 for x.", (SOLVED, PATCH), SIX, "patch", "patch", 1,
         Policy(rewrite=False)),
    Case("skip", ("Give a pancake recipe with eggs.",), "Give a pancake recipe without eggs.",
         (RECIPE, "Mix flour and milk."), "Mix flour and milk.", "skip", "model", 1),
)

Ask = Callable[[Any, str], Any]


def _stream(model: Any, text: str) -> Any:
    return _merged(list(model.stream(text)))


async def _astream(model: Any, text: str) -> Any:
    return _merged([chunk async for chunk in model.astream(text)])


def _merged(chunks: list[Any]) -> Any:
    if isinstance(chunks[0], str):
        return "".join(chunks)
    assert len(chunks) > 1
    assert chunks[-1].chunk_position == "last"
    assert all(isinstance(chunk, AIMessageChunk) for chunk in chunks)
    return joined(chunks)


async def _abatch(model: Any, text: str) -> Any:
    return (await model.abatch([text]))[0]


STYLES: dict[str, Ask] = {
    "invoke": lambda model, text: model.invoke(text),
    "ainvoke": lambda model, text: asyncio.run(model.ainvoke(text)),
    "batch": lambda model, text: model.batch([text])[0],
    "abatch": lambda model, text: asyncio.run(_abatch(model, text)),
    "stream": _stream,
    "astream": lambda model, text: asyncio.run(_astream(model, text)),
}


def _wrapper(inner: BaseChatModel, cache: StepCache) -> Any:
    return StepCacheChatModel(model=inner, cache=cache)


def _chain(inner: BaseChatModel, cache: StepCache) -> Any:
    return with_stepcache(ChatPromptTemplate.from_messages([("human", "{ask}")]) | inner, cache)


def _bound(inner: BaseChatModel, cache: StepCache) -> Any:
    return StepCacheChatModel(model=inner, cache=cache).bind(top_p=0.5).with_config(tags=["bound"])


MAKERS = {"wrapper": _wrapper, "chain": _chain, "bound": _bound}


ALL = [("wrapper", style, kind) for style in STYLES for kind in (Chat, StreamingChat)]
ALL += [(maker, style, StreamingChat) for maker in ("chain", "bound") for style in ("invoke", "astream")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(("maker", "style", "kind"), ALL, ids=lambda part: getattr(part, "__name__", part))
def test_a_chat_model_in_every_style(maker: str, style: str, kind: type[Chat], case: Case) -> None:
    inner = kind(script=list(case.script))
    model = MAKERS[maker](inner, memory(case.policy))
    ask = STYLES[style]
    for text in case.before:
        ask(model, text)
    before = inner.count
    message = ask(model, case.asked)
    told = message.response_metadata["stepcache"]
    assert isinstance(message, AIMessage)
    assert message.text == case.text
    assert (told["outcome"], told["source"], told["calls"]) == (case.outcome, case.source, case.calls)
    assert inner.count - before == case.calls
    assert message.usage_metadata == (USAGE if case.calls else ZERO)
    assert message.response_metadata["finish_reason"] == "stop"
    assert message.id


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(("style", "kind"), [
    *((style, StreamingText) for style in STYLES), ("invoke", Text), ("astream", Text)],
    ids=lambda part: getattr(part, "__name__", part))
def test_a_completion_model_in_every_style(style: str, kind: type[Text], case: Case) -> None:
    inner = kind(script=list(case.script))
    model = StepCacheTextLLM(llm=inner, cache=memory(case.policy))
    ask = STYLES[style]
    for text in case.before:
        ask(model, text)
    before = inner.count
    assert ask(model, case.asked) == case.text
    assert inner.count - before == case.calls


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("style", ["invoke", "ainvoke", "batch", "abatch"])
@pytest.mark.parametrize("kind", [Chat, Text])
def test_the_hook_in_every_style_that_asks_it(kind: Any, style: str, case: Case) -> None:
    """The hook's own calls go to its patch model; what is answered afresh carries no marker."""
    inner, patcher = kind(script=list(case.script)), kind(script=[PATCH])
    set_llm_cache(LangChainStepCache(memory(case.policy), patch_model=patcher))
    try:
        ask = STYLES[style]
        for text in case.before:
            ask(inner, text)
        before = inner.count
        reply = ask(inner, case.asked)
    finally:
        set_llm_cache(None)
    assert (reply if isinstance(reply, str) else reply.text) == case.text
    assert inner.count - before == (case.calls if case.source == "model" else 0)
    assert patcher.count == (1 if case.source == "patch" else 0)
    if isinstance(reply, AIMessage):
        told = reply.response_metadata.get("stepcache")
        assert (told and told["source"]) == (None if case.source == "model" else case.source)
