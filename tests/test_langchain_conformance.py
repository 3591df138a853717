"""LangChain's own suites hold for the wrapper as they do for the model in it, on the first pass and when served."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests
from openai_stub import Server

from langchain_stepcache import StepCacheChatModel
from stepcache import StepCache
from stepcache.stores.memory import MemoryStore

# What the suites themselves provoke in LangChain and its OpenAI package.
pytestmark = [pytest.mark.filterwarnings(f"ignore:{text}") for text in (
    "Received a Pydantic BaseModel V1 schema", "Cannot use method='json_schema'", ".*stream_events.*", ".*is in beta.*",
    "OpenAI may require a filename", "LANGCHAIN_TESTS_USER_AGENT",
)]

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Erk"
                         "Jggg==")
SERVER = Server()
SHARED = StepCache(MemoryStore())


class Wrapped(StepCacheChatModel):
    """The wrapper with a constructor of the kind the suites call."""

    def __init__(self, **options: Any) -> None:
        if "llm" in options:
            super().__init__(**options)
            return
        wanted = {key: value for key, value in options.items() if key != "cache"}
        super().__init__(llm=SERVER.model(**wanted), cache=options.get("cache", SHARED))


class OfTheStub:
    """What the wrapped model can do: ChatOpenAI over a server that answers by the schema it is given."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return Wrapped

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def supports_model_override(self) -> bool:
        return True

    @property
    def model_override_value(self) -> str:
        return "stub-2"

    supports_image_inputs = supports_image_urls = supports_image_tool_message = True
    supports_pdf_inputs = supports_pdf_tool_message = supports_audio_inputs = supports_anthropic_inputs = True

    @pytest.fixture(autouse=True)
    def _files_at_hand(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The suite fetches pictures, sounds and documents from the net; what they show is all the same to the stub."""
        monkeypatch.setattr(httpx, "get", lambda url, **kwargs: httpx.Response(200, content=PIXEL))


class TestUnit(OfTheStub, ChatModelUnitTests):
    """The one skipped test asks for LangChain's own serialisation, which would drop the open cache."""

    @property
    def init_from_env_params(self) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
        key = "from the environment"
        return {"OPENAI_API_KEY": key}, {"api_key": None}, {"openai_api_key": key}


class TestFirstPass(OfTheStub, ChatModelIntegrationTests):
    pass


class TestSecondPass(OfTheStub, ChatModelIntegrationTests):
    """The same requests again: now they are served from what the first pass recorded."""


def test_the_second_pass_was_served() -> None:
    assert SHARED.stats().served > SHARED.stats().requests / 3
