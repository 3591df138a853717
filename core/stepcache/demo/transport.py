"""What really goes to the model's server: counted apart from the cache, so that its own account can be checked."""

from __future__ import annotations

import json
from dataclasses import dataclass

import httpx

__all__ = ["CountingTransport", "Traffic"]


@dataclass(frozen=True, slots=True)
class Traffic:
    """Calls that reached the server, and their tokens."""

    calls: int = 0
    tokens: int = 0


class CountingTransport(httpx.BaseTransport):
    """Sends every request to `server`, whatever address it names, and counts.

    The demo's server gets another free port in every run. The app knows it by one name all the time, since the cache
    rightly takes another address for another model.
    """

    def __init__(self, server: str) -> None:
        self.traffic = Traffic()
        self._server = httpx.URL(server)
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(scheme=self._server.scheme, host=self._server.host, port=self._server.port)
        request.headers["Host"] = self._server.netloc.decode("ascii")
        response = self._inner.handle_request(request)
        response.read()
        try:
            tokens = int(json.loads(response.content)["usage"]["total_tokens"])
        except (ValueError, KeyError, TypeError):  # an error message, or a server that does not count
            tokens = 0
        self.traffic = Traffic(self.traffic.calls + 1, self.traffic.tokens + tokens)
        return response

    def close(self) -> None:
        self._inner.close()
