"""Whole LlamaIndex apps over the wrapper: retrieval, chat engines, agents. Only the model's words are scripted."""

from __future__ import annotations

import asyncio
import json

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.evaluation import FaithfulnessEvaluator
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.tools import FunctionTool
from llamaindex_fakes import CallingLLM, Embedding, SayingLLM

from llamaindex_stepcache import LlamaIndexEmbedder, StepCacheLLM
from stepcache import StepCache
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
from stepcache.stores.memory import MemoryStore
from stepcache.testing import HashEmbedder

# LlamaIndex's workflows look at every member of a Pydantic model, deprecated ones too, and leave their loop's sockets
# to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

TEXTS = ["The ferry to Hvar leaves at seven from pier four.", "Bread in the village shop costs two euros.",
         "The museum is closed on Mondays."]


MINILM = Embedding(by=SentenceTransformerEmbedder())


def answer(prompt: str) -> str:
    parts = prompt.split("---------------------")
    context = parts[1] if len(parts) > 1 else prompt
    return "From the context: " + " ".join(context.split())[:80]


def engine_over(texts: list[str], llm: StepCacheLLM, **options):
    index = VectorStoreIndex.from_documents([Document(text=text) for text in texts], embed_model=MINILM)
    return index.as_query_engine(llm=llm, similarity_top_k=2, **options)


def test_retrieval_is_cached_while_the_context_stands_and_never_after():
    llm = StepCacheLLM(llm=SayingLLM(say=answer), cache=StepCache(MemoryStore(), LlamaIndexEmbedder(MINILM)))
    first = engine_over(TEXTS, llm).query("When does the ferry leave?")
    again = engine_over(TEXTS, llm).query("When does the ferry leave?")
    assert str(first) == str(again)
    assert len(llm.llm.log) == 1
    changed = engine_over(["The ferry to Hvar leaves at nine from pier four.", *TEXTS[1:]], llm)
    assert "nine" in str(changed.query("When does the ferry leave?"))
    assert len(llm.llm.log) == 2
    other = str(engine_over(TEXTS, llm).query("How much is bread in the shop?"))
    assert len(llm.llm.log) == 3
    assert other != str(first)


def test_retrieval_async_and_streamed_share_the_record():
    llm = StepCacheLLM(llm=SayingLLM(say=answer), cache=StepCache(MemoryStore(), HashEmbedder()))
    first = str(engine_over(TEXTS, llm).query("When does the ferry leave?"))
    assert str(asyncio.run(engine_over(TEXTS, llm).aquery("When does the ferry leave?"))) == first
    streamed = engine_over(TEXTS, llm, streaming=True).query("When does the ferry leave?")
    assert "".join(streamed.response_gen) == first
    assert len(llm.llm.log) == 1


def test_every_response_mode_repeats_without_a_call():
    for mode in (ResponseMode.COMPACT, ResponseMode.REFINE, ResponseMode.TREE_SUMMARIZE, ResponseMode.SIMPLE_SUMMARIZE,
                 ResponseMode.ACCUMULATE):
        llm = StepCacheLLM(llm=SayingLLM(say=answer), cache=StepCache(MemoryStore()))
        first = str(engine_over(TEXTS, llm, response_mode=mode).query("When does the ferry leave?"))
        calls = len(llm.llm.log)
        assert calls
        assert str(engine_over(TEXTS, llm, response_mode=mode).query("When does the ferry leave?")) == first
        assert len(llm.llm.log) == calls


def test_a_chat_engine_repeats_a_whole_conversation():
    llm = StepCacheLLM(llm=CallingLLM(say=lambda text, tools, messages: f"{len(messages)}: {text}"),
                       cache=StepCache(MemoryStore()))
    said = []
    for _ in range(2):
        engine = SimpleChatEngine.from_defaults(llm=llm)
        said.append([str(engine.chat("Who wrote Emma?")), str(engine.chat("When was she born?"))])
    assert said[0] == said[1]
    assert len(llm.llm.log) == 2


def test_an_evaluator_repeats():
    llm = StepCacheLLM(llm=SayingLLM(say=lambda prompt: "YES"), cache=StepCache(MemoryStore()))
    for _ in range(2):
        result = FaithfulnessEvaluator(llm=llm).evaluate(response="It leaves at seven.", contexts=TEXTS)
        assert result.passing
    assert len(llm.llm.log) == len(set(llm.llm.log))


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


TOOLS = [FunctionTool.from_defaults(add), FunctionTool.from_defaults(multiply)]


def step_by_step(text, tools, messages):
    done = [m for m in messages if m.role == MessageRole.TOOL]
    if len(done) == 0:
        return [("add", {"a": 2, "b": 3})]
    if len(done) == 1:
        return [("multiply", {"a": 5, "b": 4})]
    return "It is 20."


def test_a_function_agent_runs_twice_on_one_set_of_calls():
    llm = StepCacheLLM(llm=CallingLLM(say=step_by_step), cache=StepCache(MemoryStore()))

    async def run():
        result = await FunctionAgent(tools=TOOLS, llm=llm).run(user_msg="Add 2 and 3, then times 4.")
        return str(result.response.content), [(call.tool_name, call.tool_kwargs) for call in result.tool_calls]

    first = asyncio.run(run())
    calls = len(llm.llm.log)
    assert first == ("It is 20.", [("add", {"a": 2, "b": 3}), ("multiply", {"a": 5, "b": 4})])
    assert asyncio.run(run()) == first
    assert len(llm.llm.log) == calls == 3


def reasoning(text, tools, messages):
    seen = sum("Observation" in (m.content or "") for m in messages)
    if not seen:
        return f"Thought: I need a tool.\nAction: add\nAction Input: {json.dumps({'a': 2, 'b': 3})}"
    return "Thought: I can answer without using any more tools.\nAnswer: It is 5."


def test_a_react_agent_runs_twice_on_one_set_of_calls():
    llm = StepCacheLLM(llm=CallingLLM(say=reasoning), cache=StepCache(MemoryStore()))

    async def run():
        return str((await ReActAgent(tools=TOOLS, llm=llm).run(user_msg="Add 2 and 3.")).response.content)

    first = asyncio.run(run())
    calls = len(llm.llm.log)
    assert first == "It is 5."
    assert asyncio.run(run()) == first
    assert len(llm.llm.log) == calls
