"""An OpenAI-compatible server on loopback whose model is a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ScriptedServer:
    """`prompts` are the prompts that reached it, in order; every reply costs ten tokens and as many as it has words."""

    reply: Callable[[str], str]
    prompts: list[str] = field(default_factory=list)
    base_url: str = ""

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"]
        self.prompts.append(prompt)
        text = self.reply(prompt)
        words = len(text.split())
        return {
            "id": "reply",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": words, "total_tokens": 10 + words},
        }


@contextmanager
def scripted_server(reply: Callable[[str], str]) -> Iterator[ScriptedServer]:
    """Serve while the block runs."""
    server = ScriptedServer(reply)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send({"data": [{"id": "scripted"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(server.completion(body))

        def _send(self, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        server.base_url = f"http://127.0.0.1:{listening.server_address[1]}/v1"
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
