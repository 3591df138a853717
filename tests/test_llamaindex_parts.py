"""LlamaIndex's own parts that take an LLM: cold they give what they give unwrapped; again, they ask no model.

The parts and what is asked of them are those of llama-index-core's public tests; only the model's words are scripted.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    ContextRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    PairwiseComparisonEvaluator,
    RelevancyEvaluator,
)
from llama_index.core.extractors import (
    KeywordExtractor,
    QuestionsAnsweredExtractor,
    SummaryExtractor,
    TitleExtractor,
)
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.postprocessor import LLMRerank
from llama_index.core.program import FunctionCallingProgram, LLMTextCompletionProgram
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import CitationQueryEngine, RouterQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.response_synthesizers import Refine, TreeSummarize
from llama_index.core.schema import TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import FunctionTool, QueryEngineTool, ToolMetadata
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llamaindex_fakes import CallingLLM, Embedding, SayingLLM
from pydantic import BaseModel

from llamaindex_stepcache import StepCacheLLM
from stepcache import Policy, StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.testing import HashEmbedder

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

TEXTS = ["The ferry to Hvar leaves at seven from pier four.", "Bread in the village shop costs two euros.",
         "The museum is closed on Mondays."]
PATIENT = Policy(cache_timeout=60)  # on a machine under load, a lost second is no lost hit
HASHED = Embedding(by=HashEmbedder())


@cache
def index() -> VectorStoreIndex:
    return VectorStoreIndex.from_documents([Document(text=text) for text in TEXTS], embed_model=HASHED)


NODES = [TextNode(text=text) for text in TEXTS]


class Album(BaseModel):
    """An album."""

    title: str
    year: int


ALBUM = {"title": "Blue", "year": 1971}
JUDGED = "4.0\nYES. [[A]] is better.\n[RESULT] 3"


def words(prompt: str) -> str:
    """Other words for every other prompt, in the form that the prompt asks for."""
    if "sub_question" in prompt:
        return '```json\n{"items": [{"sub_question": "When does it leave?", "tool_name": "docs"}]}\n```'
    if "choice" in prompt:
        return '[{"choice": 1, "reason": "the only one"}]'
    if "Relevance" in prompt:
        return "Doc: 1, Relevance: 7\nDoc: 2, Relevance: 3"
    if "year" in prompt:
        return json.dumps(ALBUM)
    return f"answer {zlib.crc32(prompt.encode())}"


def saying(say: Callable[[str], str] = words) -> SayingLLM:
    return SayingLLM(say=say)


def calling(say: Callable[[str], str] = words) -> CallingLLM:
    def reply(text: str, tools: list[Any], messages: Any) -> Any:
        return [("Album", ALBUM)] if [tool["function"]["name"] for tool in tools] == ["Album"] else say(text)

    return CallingLLM(say=reply)


def judging() -> SayingLLM:
    return saying(lambda prompt: JUDGED)


def assert_alike(make: Callable[[], Any], run: Callable[[Any], Any]) -> None:
    """Unwrapped, wrapped and cold, wrapped again: three times the same, the last time without a call."""
    bare, wrapped = make(), StepCacheLLM(llm=make(), cache=StepCache(MemoryStore(), HashEmbedder(), policy=PATIENT))
    expected = run(bare)
    assert expected
    assert run(wrapped) == expected
    calls = len(wrapped.llm.log)
    assert 0 < calls <= len(bare.log)  # an unwrapped part may ask the very same twice
    assert run(wrapped) == expected
    assert len(wrapped.llm.log) == calls


def two_turns(engine: Any) -> list[str]:
    return [str(engine.chat("When does the ferry leave?")), str(engine.chat("And from where?"))]


def two_streamed_turns(engine: Any) -> list[str]:
    return ["".join(engine.stream_chat(text).response_gen)
            for text in ("When does the ferry leave?", "And from where?")]


async def _two_awaited_turns(engine: Any) -> list[str]:
    first = str(await engine.achat("When does the ferry leave?"))
    streamed = await engine.astream_chat("And from where?")
    return [first, "".join([piece async for piece in streamed.async_response_gen()])]


def two_awaited_turns(engine: Any) -> list[str]:
    return asyncio.run(_two_awaited_turns(engine))


ENGINES = {
    "simple": lambda llm: SimpleChatEngine.from_defaults(llm=llm),
    "context": lambda llm: ContextChatEngine.from_defaults(retriever=index().as_retriever(), llm=llm),
    "condense plus context": lambda llm: CondensePlusContextChatEngine.from_defaults(
        retriever=index().as_retriever(), llm=llm),
}


@pytest.mark.parametrize("turns", [two_turns, two_streamed_turns, two_awaited_turns])
@pytest.mark.parametrize("make", [saying, calling])
@pytest.mark.parametrize("engine", ENGINES)
def test_chat_engines(engine: str, make: Any, turns: Any) -> None:
    assert_alike(make, lambda llm: turns(ENGINES[engine](llm)))


@pytest.mark.parametrize("make", [saying, calling])
def test_a_chat_engine_that_asks_a_query_engine(make: Any) -> None:
    assert_alike(make, lambda llm: two_turns(CondenseQuestionChatEngine.from_defaults(
        query_engine=index().as_query_engine(llm=llm), llm=llm)))


MODES = ("refine", "compact", "tree_summarize", "simple_summarize", "accumulate", "compact_accumulate", "generation")


@pytest.mark.parametrize("make", [saying, calling])
@pytest.mark.parametrize("mode", MODES)
def test_response_modes(mode: str, make: Any) -> None:
    question = "When does the ferry leave?"
    assert_alike(make, lambda llm: str(index().as_query_engine(llm=llm, response_mode=mode).query(question)))
    assert_alike(make, lambda llm: str(
        asyncio.run(index().as_query_engine(llm=llm, response_mode=mode).aquery(question))))


def _questions(llm: Any) -> SubQuestionQueryEngine:
    docs = QueryEngineTool(query_engine=index().as_query_engine(llm=llm),
                           metadata=ToolMetadata(name="docs", description="all texts"))
    return SubQuestionQueryEngine.from_defaults(
        query_engine_tools=[docs], question_gen=LLMQuestionGenerator.from_defaults(llm=llm), llm=llm,
        use_async=False, verbose=False)


def _routed(llm: Any) -> RouterQueryEngine:
    tool = QueryEngineTool.from_defaults(index().as_query_engine(llm=llm), description="all texts")
    return RouterQueryEngine.from_defaults(
        selector=LLMSingleSelector.from_defaults(llm=llm), llm=llm, query_engine_tools=[tool])


def _ranked(llm: Any) -> list[float | None]:
    found = index().as_retriever(similarity_top_k=2).retrieve("ferry")
    return [node.score for node in LLMRerank(llm=llm, top_n=2).postprocess_nodes(found, query_str="ferry")]


PARTS: dict[str, Callable[[Any], Any]] = {
    "citations": lambda llm: str(CitationQueryEngine.from_args(index(), llm=llm).query("When does it leave?")),
    "sub-questions": lambda llm: str(_questions(llm).query("When does the ferry leave?")),
    "router": lambda llm: str(_routed(llm).query("When does the ferry leave?")),
    "tree": lambda llm: str(TreeSummarize(llm=llm).get_response("What is said?", TEXTS)),
    "tree of objects": lambda llm: TreeSummarize(llm=llm, output_cls=Album).get_response("Which album?", TEXTS),
    "refine": lambda llm: str(Refine(llm=llm).get_response("What is said?", TEXTS)),
    "rerank": _ranked,
    "hyde": lambda llm: HyDEQueryTransform(llm=llm).run("ferry").custom_embedding_strs,
    "titles": lambda llm: TitleExtractor(llm=llm, show_progress=False).extract(NODES),
    "keywords": lambda llm: KeywordExtractor(llm=llm, show_progress=False).extract(NODES),
    "questions": lambda llm: QuestionsAnsweredExtractor(llm=llm, show_progress=False).extract(NODES),
    "summaries": lambda llm: SummaryExtractor(llm=llm, show_progress=False).extract(NODES),
    "predict": lambda llm: llm.predict(PromptTemplate("Name a {thing}"), thing="tree"),
    "stream": lambda llm: "".join(llm.stream(PromptTemplate("Name a {thing}"), thing="tree")),
}


@pytest.mark.parametrize("make", [saying, calling])
@pytest.mark.parametrize("part", PARTS)
def test_query_engines_synthesizers_and_extractors(part: str, make: Any) -> None:
    assert_alike(make, PARTS[part])


EVALUATORS = {
    RelevancyEvaluator: {"query": "q", "response": "r", "contexts": TEXTS},
    FaithfulnessEvaluator: {"query": "q", "response": "r", "contexts": TEXTS},
    AnswerRelevancyEvaluator: {"query": "q", "response": "r"},
    ContextRelevancyEvaluator: {"query": "q", "contexts": TEXTS},
    CorrectnessEvaluator: {"query": "q", "response": "r", "reference": "s"},
    PairwiseComparisonEvaluator: {"query": "q", "response": "r", "second_response": "s", "reference": "t"},
}


@pytest.mark.parametrize("evaluator", EVALUATORS, ids=lambda kind: kind.__name__)
def test_evaluators(evaluator: Any) -> None:
    def judged(llm: Any) -> Any:
        result = evaluator(llm=llm).evaluate(**EVALUATORS[evaluator])
        return result.score, result.feedback, result.passing

    assert_alike(judging, judged)


PROMPT = PromptTemplate("Describe the album {name}.")


async def _awaited(llm: Any) -> Any:
    streamed = await llm.astream_structured_predict(Album, PROMPT, name="Blue")
    last = [part async for part in streamed][-1]
    return await llm.astructured_predict(Album, PROMPT, name="Blue"), last.model_dump()


STRUCTURED: dict[str, Callable[[Any], Any]] = {
    "predict": lambda llm: llm.structured_predict(Album, PROMPT, name="Blue"),
    "stream": lambda llm: list(llm.stream_structured_predict(Album, PROMPT, name="Blue"))[-1].model_dump(),
    "async": lambda llm: asyncio.run(_awaited(llm)),
    "as LLM, complete": lambda llm: llm.as_structured_llm(Album).complete("Describe the album Blue.").raw,
    "as LLM, chat": lambda llm: llm.as_structured_llm(Album).chat([
        ChatMessage(role=MessageRole.USER, content="Describe the album Blue.")]).raw,
    "as LLM, stream": lambda llm: list(llm.as_structured_llm(Album).stream_chat([
        ChatMessage(role=MessageRole.USER, content="Describe the album Blue.")]))[-1].raw.model_dump(),
    "text program": lambda llm: LLMTextCompletionProgram.from_defaults(
        output_cls=Album, prompt=PROMPT, llm=llm)(name="Blue"),
    "engine": lambda llm: index().as_query_engine(llm=llm.as_structured_llm(Album)).query("Which album?").response,
}


# llama-index-core streams objects of models with function calling only.
WAYS = [(way, make) for way in STRUCTURED for make in (saying, calling)
        if make is calling or way not in {"stream", "async", "as LLM, stream"}]


@pytest.mark.parametrize(("way", "make"), WAYS)
def test_structured_output(way: str, make: Any) -> None:
    assert_alike(make, STRUCTURED[way])


def test_a_function_calling_program() -> None:
    assert_alike(calling, lambda llm: FunctionCallingProgram.from_defaults(
        output_cls=Album, prompt=PROMPT, llm=llm)(name="Blue"))


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


TOOLS = [FunctionTool.from_defaults(add), FunctionTool.from_defaults(multiply)]


def adding() -> CallingLLM:
    return CallingLLM(say=lambda text, tools, messages: [("add", {"a": 3, "b": 5})] if tools else "8")


async def _calls(llm: Any) -> Any:
    awaited = await llm.achat_with_tools(TOOLS, user_msg="Add 3 and 5")
    streamed = [part async for part in await llm.astream_chat_with_tools(TOOLS, user_msg="Add 3 and 5")][-1]
    return [[(call.tool_name, call.tool_kwargs) for call in llm.get_tool_calls_from_response(each)]
            for each in (awaited, streamed)]


def test_function_calls() -> None:
    assert_alike(adding, lambda llm: str(llm.predict_and_call(TOOLS, user_msg="Add 3 and 5")))
    assert_alike(adding, lambda llm: str(asyncio.run(llm.apredict_and_call(TOOLS, user_msg="Add 3 and 5"))))
    assert_alike(adding, lambda llm: asyncio.run(_calls(llm)))


def results_in(messages: Any) -> list[str]:
    return [message.content or "" for message in messages if message.role == MessageRole.TOOL]


def in_steps() -> CallingLLM:
    def say(text: str, tools: list[Any], messages: Any) -> Any:
        done = results_in(messages)
        if not done:
            return [("add", {"a": 2, "b": 3})]
        return [("multiply", {"a": 5, "b": 4})] if len(done) == 1 else f"It is {done[-1]}."

    return CallingLLM(say=say)


def thinking() -> CallingLLM:
    def say(text: str, tools: list[Any], messages: Any) -> str:
        seen = sum("Observation:" in (message.content or "") for message in messages[1:])
        if seen == 0:
            return 'Thought: I need a tool.\nAction: add\nAction Input: {"a": 2, "b": 3}'
        if seen == 1:
            return 'Thought: And now times four.\nAction: multiply\nAction Input: {"a": 5, "b": 4}'
        return "Thought: I can answer without using any more tools.\nAnswer: It is 20."

    return CallingLLM(say=say)


def handing_over() -> CallingLLM:
    def say(text: str, tools: list[Any], messages: Any) -> Any:
        names, done = {tool["function"]["name"] for tool in tools}, results_in(messages)
        if "multiply" not in names:
            return [("handoff", {"to_agent": "multiplier", "reason": "it multiplies"})]
        return "It is 20." if any("20" in each for each in done) else [("multiply", {"a": 5, "b": 4})]

    return CallingLLM(say=say)


def trajectory(make_agent: Callable[[Any], Any]) -> Callable[[Any], Any]:
    async def run(llm: Any) -> Any:
        result = await make_agent(llm).run(user_msg="Add 2 and 3, then times 4.")
        return (str(result.response.content),
                [(call.tool_name, call.tool_kwargs, str(call.tool_output.content)) for call in result.tool_calls])

    return lambda llm: asyncio.run(run(llm))


def _pair(llm: Any) -> AgentWorkflow:
    first = FunctionAgent(name="adder", description="adds", tools=TOOLS[:1], llm=llm,
                          can_handoff_to=["multiplier"])
    second = FunctionAgent(name="multiplier", description="multiplies", tools=TOOLS[1:], llm=llm)
    return AgentWorkflow(agents=[first, second], root_agent="adder")


AGENTS = {
    "function": (in_steps, lambda llm: FunctionAgent(tools=TOOLS, llm=llm)),
    "function, not streamed": (in_steps, lambda llm: FunctionAgent(tools=TOOLS, llm=llm, streaming=False)),
    "react": (thinking, lambda llm: ReActAgent(tools=TOOLS, llm=llm)),
    "two agents": (handing_over, _pair),
}


@pytest.mark.parametrize("agent", AGENTS)
def test_agents(agent: str) -> None:
    make, make_agent = AGENTS[agent]
    assert_alike(make, trajectory(make_agent))


class Naming(Workflow):
    @step
    async def name(self, event: StartEvent) -> StopEvent:
        tree = await event.llm.acomplete("Name a tree")
        bush = [part async for part in await event.llm.astream_complete("Name a bush")][-1]
        return StopEvent(result=(tree.text, bush.text))


def test_workflows() -> None:
    async def run(llm: Any) -> Any:
        return await Naming().run(llm=llm)

    assert_alike(saying, lambda llm: asyncio.run(run(llm)))
