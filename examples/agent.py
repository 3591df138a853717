"""A LangChain agent with two tools, asked twice: the second run looks the same and calls no model.

With a real model that can call tools: GGUF=path or BASE_URL=... MODEL=... before the command.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_stepcache import StepCacheChatModel
from stepcache import StepCache
from stepcache.demo.at_hand import AtHand, at_hand

QUESTION = "How warm is it in Graz, in degrees Fahrenheit?"


@tool
def weather(city: str) -> str:
    """Tell the temperature of a city in degrees Celsius."""
    return f"{city}: 21 degrees Celsius"


@tool
def fahrenheit(celsius: float) -> str:
    """Turn degrees Celsius into degrees Fahrenheit."""
    return f"{celsius * 9 / 5 + 32:g} degrees Fahrenheit"


class Scripted(BaseChatModel):
    """A stand-in that looks the weather up, converts it, and answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools], **kwargs)

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None,
                  **kwargs: Any) -> ChatResult:
        done = [message.text for message in messages if isinstance(message, ToolMessage)]
        steps = (("weather", {"city": "Graz"}), ("fahrenheit", {"celsius": 21}))
        if len(done) < len(steps):
            name, given = steps[len(done)]
            calls = [{"name": name, "args": given, "id": f"call-{os.urandom(4).hex()}", "type": "tool_call"}]
            message = AIMessage("", tool_calls=calls)
        else:
            message = AIMessage(f"It is {done[-1]} in Graz.")
        message.usage_metadata = {"input_tokens": 60, "output_tokens": 20, "total_tokens": 80}
        return ChatResult(generations=[ChatGeneration(message=message)])


def chat_model(model: AtHand) -> BaseChatModel:
    """LangChain's view of the model at hand."""
    if model.endpoint is None:
        return Scripted()
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    return ChatOpenAI(model=model.name, base_url=model.endpoint.base_url, temperature=0.0,
                      api_key=SecretStr(model.endpoint.api_key))


def run(model: BaseChatModel, cache: StepCache) -> list[BaseMessage]:
    """The agent's messages; the wrapper is all that is new to it."""
    agent: Any = create_agent(StepCacheChatModel(model=model, cache=cache), tools=[weather, fahrenheit])
    messages: list[BaseMessage] = agent.invoke({"messages": [("human", QUESTION)]})["messages"]
    return messages


def main() -> None:
    warnings.filterwarnings("ignore", module="langgraph")
    with at_hand(lambda prompt, purpose: "") as model, StepCache.open(":memory:", embedder=None) as cache:
        print(model)
        for number in ("first", "second"):
            before = cache.stats()
            messages = run(chat_model(model), cache)
            print(f"\nThe {number} run:")
            for message in messages:
                calls = ", ".join(f"{call['name']}({call['args']})" for call in getattr(message, "tool_calls", ()))
                told = message.response_metadata.get("stepcache", {})
                print(f"  {message.type:6} {calls or message.text}" + (f"   [{told['outcome']}]" if told else ""))
            after = cache.stats()
            print(f"  {after.calls - before.calls} model calls, {after.saved - before.saved} tokens saved")


if __name__ == "__main__":
    main()
