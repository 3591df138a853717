"""A retrieval app over a real embedder and a real model served by llama.cpp (STEPCACHE_GGUF=path pytest -m e2e)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.llms.openai_like import OpenAILike
from llamaindex_fakes import Embedding

from llamaindex_stepcache import LlamaIndexEmbedder, StepCacheLLM
from stepcache import StepCache
from stepcache.demo.serve import serve
from stepcache.embedders.sentence_transformers import SentenceTransformerEmbedder
from stepcache.stores.memory import MemoryStore

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

TEXTS = ["The ferry to Hvar leaves at seven from pier four.", "Bread in the village shop costs two euros.",
         "The museum is closed on Mondays."]
MINILM = Embedding(by=SentenceTransformerEmbedder())


@pytest.fixture(scope="module")
def endpoint():
    with serve(Path(os.environ["STEPCACHE_GGUF"])) as served:
        yield served


@pytest.fixture
def llm(endpoint) -> StepCacheLLM:
    wrapped = OpenAILike(model=endpoint.model, api_base=endpoint.base_url, api_key="none", is_chat_model=True,
                         temperature=0, max_tokens=60, timeout=300, max_retries=0, context_window=4096)
    return StepCacheLLM(llm=wrapped, cache=StepCache(MemoryStore(), LlamaIndexEmbedder(MINILM)))


def ask(texts: list[str], llm: StepCacheLLM, question: str, **options):
    index = VectorStoreIndex.from_documents([Document(text=text) for text in texts], embed_model=MINILM)
    return index.as_query_engine(llm=llm, similarity_top_k=2, **options).query(question)


def calls(llm: StepCacheLLM) -> int:
    return llm.step_cache.stats().calls


def test_asked_twice_reworded_and_with_a_changed_document(llm: StepCacheLLM):
    first = str(ask(TEXTS, llm, "When does the ferry to Hvar leave?"))
    assert calls(llm) == 1
    assert str(ask(TEXTS, llm, "When does the ferry to Hvar leave?")) == first
    assert calls(llm) == 1
    reworded = str(ask(TEXTS, llm, "when does the ferry to Hvar leave"))
    assert calls(llm) in {1, 2}
    if calls(llm) == 1:
        assert reworded == first
    before = calls(llm)
    ask(["The ferry to Hvar leaves at nine from pier four.", *TEXTS[1:]], llm, "When does the ferry to Hvar leave?")
    assert calls(llm) == before + 1
    streamed = ask(TEXTS, llm, "When does the ferry to Hvar leave?", streaming=True)
    assert "".join(streamed.response_gen) == first

    async def again() -> str:
        index = VectorStoreIndex.from_documents([Document(text=text) for text in TEXTS], embed_model=MINILM)
        engine = index.as_query_engine(llm=llm, similarity_top_k=2)
        return str(await engine.aquery("When does the ferry to Hvar leave?"))

    assert asyncio.run(again()) == first
    assert calls(llm) == before + 1
