"""`with_stepcache`, completion models and embeddings: the rest of what a LangChain app is made of."""

from __future__ import annotations

import logging
import pickle
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_fakes import Chat, StreamingChat, StreamingText, Text, marker, memory

from langchain_stepcache import LangChainEmbedder, StepCacheChatModel, StepCacheTextLLM, with_stepcache
from stepcache import CacheControl, Policy, StepCache
from stepcache.errors import ConfigurationError
from stepcache.stores.memory import MemoryStore

SOLVED = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n"
          "3. Divide both sides by 2: x = 5\n\nx = 5")
PATCH = "2. Subtract 3 from both sides: 2x = 12\n3. Divide both sides by 2: x = 6\n\nx = 6"
PROMPT = ChatPromptTemplate.from_messages([("system", "You are a tutor."), ("human", "{ask}")])


# -- chains -------------------------------------------------------------------------------------------------------

def test_a_model_is_wrapped_as_a_model() -> None:
    assert isinstance(with_stepcache(Chat(script=["x"]), memory()), StepCacheChatModel)
    assert isinstance(with_stepcache(Text(script=["x"]), memory()), StepCacheTextLLM)
    already = with_stepcache(Chat(script=["x"]), memory())
    assert with_stepcache(already, memory()) is already


def test_a_model_in_a_chain_is_wrapped_where_it_stands() -> None:
    inner = Chat(script=[SOLVED])
    chain = with_stepcache(PROMPT | inner | StrOutputParser(), memory())
    assert chain.invoke({"ask": "Solve 2x + 3 = 13 for x."}) == SOLVED
    assert chain.invoke({"ask": "Solve 2x + 3 = 15 for x."}).endswith("x = 6")
    assert inner.count == 1
    assert chain.get_input_jsonschema()["required"] == ["ask"]


def test_a_parser_gives_its_object_from_the_cached_text() -> None:
    inner = Chat(script=['{"name": "Ann"}'])
    chain = with_stepcache(PROMPT | inner | JsonOutputParser(), memory())
    made = [chain.invoke({"ask": "Who?"}) for _ in range(2)]
    assert made == [{"name": "Ann"}] * 2
    assert inner.count == 1


def test_models_are_found_in_bindings_maps_assignments_and_fallbacks() -> None:
    two, three = Chat(script=["two"]), Chat(script=[ConnectionError("down")])
    once = Chat(script=[ConnectionError("once"), "fine"]).with_retry(wait_exponential_jitter=False)
    for runnable, asked, told in (
        (Chat(script=["x"]).bind(stop=["x"]), "hi", lambda reply: reply),
        (once, "hi", lambda reply: reply),
        (RunnableParallel(said=PROMPT | two), {"ask": "hi"}, lambda reply: reply["said"]),
        (RunnablePassthrough.assign(said=PROMPT | two), {"ask": "hi"}, lambda reply: reply["said"]),
        (PROMPT | three.with_fallbacks([two]), {"ask": "hi"}, lambda reply: reply),
    ):
        chain = with_stepcache(runnable, memory())
        assert [marker(told(chain.invoke(asked)))["outcome"] for _ in range(2)] == ["miss", "reuse"]


def test_a_chain_streams_and_runs_async_as_before() -> None:
    inner = StreamingChat(script=["Rain on the roof, a drum."])
    chain = with_stepcache(PROMPT | inner | StrOutputParser(), memory())
    for _ in range(2):
        pieces = list(chain.stream({"ask": "A line"}))
        assert len(pieces) > 2
        assert "".join(pieces) == "Rain on the roof, a drum."
    assert chain.batch([{"ask": "A line"}] * 2) == ["Rain on the roof, a drum."] * 2
    assert inner.count == 1


async def test_a_chain_is_traced_as_before() -> None:
    inner = Chat(script=["fine"])
    plain, cached = RunCollectorCallbackHandler(), RunCollectorCallbackHandler()
    await (PROMPT | inner | StrOutputParser()).ainvoke({"ask": "hi"}, config={"callbacks": [plain]})
    chain = with_stepcache(PROMPT | inner | StrOutputParser(), memory())
    for _ in range(2):
        await chain.ainvoke({"ask": "hi"}, config={"callbacks": [cached]})

    def shape(run: Any) -> Any:
        return run.run_type, [shape(child) for child in run.child_runs]

    assert [shape(run) for run in cached.traced_runs] == [shape(plain.traced_runs[0])] * 2


# -- Runnables without a visible model ----------------------------------------------------------------------------

class Function:
    """A function that counts its calls and remembers what it was given."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.given = answers, []

    def __call__(self, given: Any) -> Any:
        self.given.append(given)
        return self.answers[min(len(self.given), len(self.answers)) - 1]


def test_a_function_that_gives_text_is_cached_rewritten_and_patched() -> None:
    function = Function(SOLVED, PATCH)
    chain = with_stepcache(RunnableLambda(function), memory(Policy(rewrite=False)))
    asked = [chain.invoke(f"Solve 2x + 3 = {n} for x.") for n in (13, 13, 15, 15)]
    assert [text[-5:] for text in asked] == ["x = 5", "x = 5", "x = 6", "x = 6"]
    assert len(function.given) == 2
    assert "2x + 3 = 15" in function.given[1]


def test_a_function_that_gives_a_message_gives_one_with_a_marker() -> None:
    function = Function(AIMessage("hello", id="m-1", additional_kwargs={"a": 1}))
    chain = with_stepcache(RunnableLambda(function), memory())
    fresh, hit = chain.invoke([HumanMessage("hi")]), chain.invoke([HumanMessage("hi")])
    assert (fresh.content, hit.content, hit.additional_kwargs) == ("hello", "hello", {"a": 1})
    assert (marker(fresh)["outcome"], marker(hit)["exact"]) == ("miss", True)
    assert hit.id != "m-1"
    assert len(function.given) == 1


def test_an_input_of_fields_is_asked_about_its_text_or_repeated_whole() -> None:
    function = Function(SOLVED, PATCH, SOLVED)
    chain = with_stepcache(RunnableLambda(function), memory(Policy(rewrite=False)))
    chain.invoke({"ask": "Solve 2x + 3 = 13 for x.", "level": 1})
    assert chain.invoke({"level": 1, "ask": "Solve 2x + 3 = 15 for x."}).endswith("x = 6")
    assert function.given[1]["level"] == 1
    assert chain.invoke({"level": 1, "ask": "Solve 2x + 3 = 13 for x."}) == SOLVED
    assert len(function.given) == 2
    chain.invoke({"ask": "Solve 2x + 3 = 13 for x.", "level": 2})
    assert len(function.given) == 3


def test_other_outputs_pass_through_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    function = Function({"rows": [1, 2]})
    chain = with_stepcache(RunnableLambda(function, name="rows of this test"), memory())
    with caplog.at_level(logging.WARNING, "stepcache"):
        assert [chain.invoke("hi") for _ in range(3)] == [{"rows": [1, 2]}] * 3
        assert list(chain.stream("hi")) == [{"rows": [1, 2]}]
    assert len(function.given) == 4
    assert sum("rows of this test" in record.getMessage() for record in caplog.records) == 1


async def test_async_and_streamed_they_are_the_same() -> None:
    async def words(given: Any) -> Any:
        for word in ("Rain ", "on the ", "roof"):
            yield word

    chain = with_stepcache(RunnableLambda(lambda text: "never").with_types(), memory(), name="n")
    assert await chain.ainvoke("hi") == "never"
    streaming = with_stepcache(RunnableGenerator(words), memory())
    for _ in range(2):
        assert "".join([piece async for piece in streaming.astream("hi")]) == "Rain on the roof"
    assert await streaming.ainvoke("hi") == "Rain on the roof"


def test_streams_of_messages_end_with_the_marker() -> None:
    made = []

    def chunks(given: Any) -> Any:
        made.append(1)
        yield AIMessageChunk(content="Rain ")
        yield AIMessageChunk(content="on the roof")

    chain = with_stepcache(RunnableGenerator(chunks), memory())
    for expected in ("miss", "reuse"):
        shown = list(chain.stream("hi"))
        assert "".join(chunk.text for chunk in shown) == "Rain on the roof"
        assert marker(shown[-1])["outcome"] == expected
    assert made == [1]


def test_two_callables_of_one_class_share_nothing_unless_named() -> None:
    cache = memory()
    one, two = (with_stepcache(RunnableLambda(Function(text)), cache) for text in ("one", "two"))
    assert [one.invoke("hi"), two.invoke("hi"), one.invoke("hi")] == ["one", "two", "one"]
    named = [with_stepcache(RunnableLambda(Function(text)), cache, name="same") for text in ("three", "four")]
    assert [each.invoke("hi") for each in named] == ["three", "three"]


def test_configuration_and_options_count_and_per_call_wishes_hold() -> None:
    def configured(text: str, config: Any) -> str:
        return f"{text} {config['configurable'].get('user', 'nobody')}"

    chain = with_stepcache(RunnableLambda(configured), memory())
    assert chain.invoke("hi", config={"configurable": {"user": "a"}}) == "hi a"
    assert chain.invoke("hi", config={"configurable": {"user": "b"}}) == "hi b"
    function = Function("one", "two")
    counted = with_stepcache(RunnableLambda(function), memory())
    assert counted.invoke("hi", stepcache=CacheControl(no_store=True)) == "one"
    assert counted.invoke("hi") == "two"


def test_errors_pass_and_nothing_else_is_taken() -> None:
    def fails(given: Any) -> Any:
        raise LookupError("no")

    with pytest.raises(LookupError):
        with_stepcache(RunnableLambda(fails), memory()).invoke("hi")
    with pytest.raises(ConfigurationError, match="Runnable"):
        with_stepcache(fails, memory())  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="cache"):
        with_stepcache(RunnableLambda(fails), 3)  # type: ignore[arg-type]


# -- completion models --------------------------------------------------------------------------------------------

def text_llm(inner: Text, policy: Policy | None = None) -> StepCacheTextLLM:
    return StepCacheTextLLM(llm=inner, cache=memory(policy))


def test_options_of_one_call_count_for_completion_models_too() -> None:
    inner = Text(script=["short", "long", "hot"])
    model = text_llm(inner)
    assert [model.invoke("Name a tree", max_tokens=2), model.invoke("Name a tree", max_tokens=200),
            model.invoke("Name a tree", temperature=0.9), model.invoke("Name a tree", max_tokens=2)] == [
                "short", "long", "hot", "short"]
    inner.temperature = 0.7
    model.invoke("Name a tree", max_tokens=2)
    assert inner.count == 4


def test_completions_are_repeated_rewritten_patched_and_told() -> None:
    inner = Text(script=[SOLVED, PATCH])
    model = text_llm(inner, Policy(rewrite=False))
    generated = [model.generate([f"Solve 2x + 3 = {n} for x."]).generations[0][0] for n in (13, 13, 15)]
    assert [one.generation_info["stepcache"]["source"] for one in generated] == ["model", "cache", "patch"]
    assert generated[2].text.endswith("x = 6")
    assert inner.count == 2
    assert generated[1].generation_info["finish_reason"] == "stop"


def test_completions_stream_batch_and_run_async() -> None:
    import asyncio

    inner = StreamingText(script=["Rain on the roof, a drum."])
    model = text_llm(inner)
    for _ in range(2):
        assert "".join(model.stream("A line")) == "Rain on the roof, a drum."
    assert model.batch(["A line", "A line"]) == ["Rain on the roof, a drum."] * 2
    assert asyncio.run(model.ainvoke("A line")) == "Rain on the roof, a drum."

    async def streamed() -> str:
        return "".join([piece async for piece in model.astream("A line")])

    assert asyncio.run(streamed()) == "Rain on the roof, a drum."
    assert inner.count == 1


def test_equal_prompts_of_one_batch_are_asked_once_and_candidates_stay_together() -> None:
    inner = Text(script=["a", "b"])
    model = text_llm(inner)
    assert model.batch(["x", "x", "y"]) == ["a", "a", "b"]
    several = Text(script=["c", "d", "e"])
    two = text_llm(several)
    fresh, hit = two.generate(["x"], n=2).generations[0], two.generate(["x"], n=2).generations[0]
    assert [one.text for one in hit] == [one.text for one in fresh] == ["c", "d"]


def test_a_completion_models_error_passes_and_bad_arguments_are_said() -> None:
    with pytest.raises(ConnectionError):
        text_llm(Text(script=[ConnectionError("down")])).invoke("hi")
    for arguments in ({}, {"llm": Text(script=["x"])}, {"llm": Chat(script=["x"]), "cache": ":memory:"}):
        with pytest.raises(ValueError, match=r"cache|model"):
            StepCacheTextLLM(**arguments)


def test_a_prompt_template_over_a_completion_model_is_wrapped_in_place() -> None:
    inner = Text(script=["fine"])
    chain = with_stepcache(PromptTemplate.from_template("Say {what}") | inner, memory())
    assert [chain.invoke({"what": "hi"}) for _ in range(2)] == ["fine", "fine"]
    assert inner.count == 1


# -- embeddings ---------------------------------------------------------------------------------------------------

class Scaled(Embeddings):
    model = "toy-1"

    def __init__(self, scale: float = 3.0) -> None:
        self.scale = scale

    def embed_query(self, text: str) -> list[float]:
        return [self.scale * len(text), self.scale * text.count("e"), self.scale]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def test_any_embeddings_become_an_embedder_of_unit_vectors() -> None:
    embedder = LangChainEmbedder(Scaled())
    assert sum(value * value for value in embedder.embed("tree")) == pytest.approx(1)
    assert embedder.embed_many(["tree", "trees"])[1] == embedder.embed("trees")
    assert embedder.embed("  ") == (1.0, 0.0, 0.0)  # a store takes no vector without a direction
    assert embedder.fingerprint == LangChainEmbedder(Scaled(5.0)).fingerprint
    assert "toy-1" in embedder.fingerprint
    assert embedder.fingerprint != LangChainEmbedder(Scaled(), name="other").fingerprint
    assert embedder.fingerprint != LangChainEmbedder(DeterministicFakeEmbedding(size=3)).fingerprint
    with pytest.raises(ConfigurationError):
        LangChainEmbedder(object())  # type: ignore[arg-type]


def test_a_cache_finds_similar_requests_by_them() -> None:
    inner = Chat(script=["Oak, ash, elm."])
    cache = StepCache(MemoryStore(), embedder=LangChainEmbedder(_Bag()))
    model = StepCacheChatModel(model=inner, cache=cache)
    model.invoke("Name three trees of Europe.")
    assert marker(model.invoke("Please name three trees of Europe."))["outcome"] == "reuse"
    assert inner.count == 1


class _Bag(Scaled):
    def embed_query(self, text: str) -> list[float]:
        return [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]


def test_langchains_own_fakes_are_wrapped_pickled_and_served() -> None:
    model = StepCacheChatModel(model=FakeListChatModel(responses=["one", "two"]), cache=memory())
    assert [model.invoke("hi").text for _ in range(2)] == ["one", "one"]
    assert pickle.loads(pickle.dumps(model)).invoke("hi").text  # noqa: S301 - our own bytes
