"""The model all systems talk to, with its replies recorded so that a run can be resumed and replayed."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

__all__ = ["Backend", "Reply", "Spent"]

_MAX_TOKENS = 512
_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model said, what it cost and how long it took when it was really asked."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    seconds: float


@dataclass(slots=True)
class Spent:
    """What one request has cost so far. `replayed` seconds did not pass: they are to be added to the clock's."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    replayed: float = 0.0
    replayed_calls: int = 0


class Backend:
    """An OpenAI-compatible endpoint at temperature 0, behind a recording.

    A prompt that was already asked in the same take is answered from the recording, with the seconds it took then:
    at temperature 0 the same prompt gets the same reply. The server's own prompt cache is off, so that no system
    profits from what another has just sent.
    """

    def __init__(
        self, base_url: str, model: str, recording: Path, api_key: str = "none", max_tokens: int = _MAX_TOKENS
    ) -> None:
        self.model, self.max_tokens = model, max_tokens
        self.take = 0
        self.spent = Spent()
        self._recording = recording
        self._replies: dict[str, Reply] = {}
        self._client = httpx.Client(
            base_url=base_url, timeout=_TIMEOUT, headers={"Authorization": f"Bearer {api_key}"}, trust_env=False
        )
        if recording.exists():
            for line in recording.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                key = row.pop("key")
                row.pop("prompt")
                self._replies[key] = Reply(**row)

    def knows(self, prompt: str) -> bool:
        """Whether this prompt would be answered from the recording."""
        return self._key(prompt) in self._replies

    def ask(self, prompt: str) -> Reply:
        """Answer a prompt and add what it costs to `spent`."""
        key = self._key(prompt)
        reply = self._replies.get(key)
        if reply is None:
            reply = self._generate(prompt)
            self._replies[key] = reply
            self._write({"key": key, "prompt": prompt, **asdict(reply)})
        else:
            self.spent.replayed += reply.seconds
            self.spent.replayed_calls += 1
        self.spent.calls += 1
        self.spent.prompt_tokens += reply.prompt_tokens
        self.spent.completion_tokens += reply.completion_tokens
        return reply

    def start(self) -> Spent:
        """Begin to count for a new request."""
        self.spent = Spent()
        return self.spent

    def close(self) -> None:
        self._client.close()

    def _key(self, prompt: str) -> str:
        return hashlib.sha256(f"{self.model}\0{self.take}\0{self.max_tokens}\0{prompt}".encode()).hexdigest()[:32]

    def _write(self, row: dict[str, object]) -> None:
        self._recording.parent.mkdir(parents=True, exist_ok=True)
        with self._recording.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _generate(self, prompt: str) -> Reply:
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "cache_prompt": False,  # llama.cpp's; other servers ignore it
        }
        started = time.perf_counter()
        answer = self._client.post("/chat/completions", json=body)
        seconds = time.perf_counter() - started
        answer.raise_for_status()
        data = answer.json()
        choice, usage = data["choices"][0], data["usage"]
        return Reply(
            text=choice["message"]["content"] or "",
            prompt_tokens=usage["prompt_tokens"],
            completion_tokens=usage["completion_tokens"],
            finish_reason=choice["finish_reason"] or "",
            seconds=seconds,
        )
