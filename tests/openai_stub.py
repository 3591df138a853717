"""ChatOpenAI without a network: its HTTP transport is a function that plays the server and counts what it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
from langchain_openai import ChatOpenAI

WORDS = "z 你好 こんにちは 日"


def value_for(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """Some value that satisfies a simple schema: whole numbers are 3, strings a fixed text."""
    root = schema if root is None else root
    if "$ref" in schema:
        return value_for(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return value_for(schema["anyOf"][0], root)
    match schema.get("type", "object"):
        case "integer" | "number":
            return 3
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            return [value_for(schema.get("items", {"type": "string"}), root)]
        case "string":
            return WORDS
        case _:
            return {key: value_for(part, root) for key, part in schema.get("properties", {}).items()}


def by_schema(body: dict[str, Any]) -> dict[str, Any]:
    """The message a compliant server would answer: a tool call, JSON by the schema asked for, or words."""
    tools, choice = body.get("tools"), body.get("tool_choice")
    turns = body["messages"]
    told = turns[-1]["role"] == "tool"
    if tools and choice != "none" and not (told and choice in (None, "auto")):
        named = choice["function"]["name"] if isinstance(choice, dict) else None
        chosen = next((t for t in tools if t["function"]["name"] == named), tools[0])["function"]
        return calls((chosen["name"], value_for(chosen.get("parameters", {}))))
    form = body.get("response_format")
    if form and form["type"] == "json_schema":
        return says(json.dumps(value_for(form["json_schema"]["schema"]), ensure_ascii=False))
    if form:
        return says(json.dumps({"setup": WORDS, "punchline": WORDS}, ensure_ascii=False))
    return says("All is well. Nothing is missing, and nothing is left to do.")


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*made: tuple[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": f"call_{name}_{i}", "type": "function",
         "function": {"name": name, "arguments": json.dumps(args, ensure_ascii=False)}}
        for i, (name, args) in enumerate(made)]}


class Server:
    """Answers chat completions by `answer(body)`; `bodies` are the requests that reached it."""

    def __init__(self, answer: Callable[[dict[str, Any]], dict[str, Any]] = by_schema) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        return len(self.bodies)

    def model(self, **options: Any) -> ChatOpenAI:
        transport = httpx.MockTransport(self._respond)
        chosen = {"model": "stub-1", "api_key": "test", "base_url": "http://stub/v1", "max_retries": 0,
                  "stream_usage": True, "temperature": 0, **options}
        if chosen["api_key"] is None:  # left out, every version of the package looks into the environment
            del chosen["api_key"]
        return ChatOpenAI(http_client=httpx.Client(transport=transport),
                          http_async_client=httpx.AsyncClient(transport=transport), **chosen)

    def _respond(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        with self._lock:
            self.bodies.append(body)
            number = len(self.bodies)
        message = self.answer(body)
        stop = body.get("stop")
        if isinstance(message.get("content"), str):
            for word in [stop] if isinstance(stop, str) else stop or ():
                message = {**message, "content": message["content"].split(word)[0]}
        finish = message.pop("finish", "tool_calls" if message.get("tool_calls") else "stop")
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        about = {"id": f"chatcmpl-{number}", "created": number, "model": body["model"]}
        if body.get("stream"):
            lines = (f"data: {line}\n\n" for line in self._chunks(message, finish, usage, about, body))
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, content="".join(lines).encode())
        return httpx.Response(200, json={
            **about, "object": "chat.completion", "usage": usage,
            "choices": [{"index": i, "finish_reason": finish, "message": message} for i in range(body.get("n") or 1)]})

    def _chunks(self, message: dict[str, Any], finish: str, usage: dict[str, int], about: dict[str, Any],
                body: dict[str, Any]) -> Iterator[str]:
        def line(delta: dict[str, Any], reason: str | None = None) -> str:
            return json.dumps({**about, "object": "chat.completion.chunk",
                               "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

        yield line({"role": "assistant", "content": ""})
        text = message.get("content") or ""
        for at in range(0, len(text), 6):
            yield line({"content": text[at:at + 6]})
        for i, call in enumerate(message.get("tool_calls") or ()):
            yield line({"tool_calls": [{"index": i, **call}]})
        yield line({}, finish)
        if (body.get("stream_options") or {}).get("include_usage"):
            yield json.dumps({**about, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        yield "[DONE]"
