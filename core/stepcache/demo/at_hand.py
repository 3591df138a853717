"""The model at hand for examples and notebooks: a server, a model file, else a scripted stand-in that says so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stepcache._data import Completion
from stepcache.demo.serve import Endpoint, serve
from stepcache.protocols import Model
from stepcache.testing import ScriptedModel

__all__ = ["AtHand", "at_hand", "endpoint_at_hand"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtHand:
    """A model to call and the name it goes by; `endpoint` is None where it is scripted."""

    model: Model
    name: str
    endpoint: Endpoint | None = None

    def __str__(self) -> str:
        if self.endpoint is None:
            return "A scripted model stands in; set GGUF=path or BASE_URL=... MODEL=... for a real one."
        return f"A real model answers: {self.name}"


@contextmanager
def endpoint_at_hand() -> Iterator[Endpoint | None]:
    """The server that BASE_URL (with MODEL) names, or one for the model file that GGUF names, or None.

    Raises `ConfigurationError` when GGUF names no file and `StepCacheError` when llama.cpp can't serve it.
    """
    if base_url := os.environ.get("BASE_URL"):
        yield Endpoint(base_url=base_url, model=os.environ.get("MODEL", "default"),
                       api_key=os.environ.get("OPENAI_API_KEY") or "none")
    elif file := os.environ.get("GGUF"):
        with serve(Path(file)) as endpoint:
            yield endpoint
    else:
        yield None


@contextmanager
def at_hand(script: Callable[[str, str], Completion | str], *, max_tokens: int = 300) -> Iterator[AtHand]:
    """A model as StepCache takes it, at temperature 0; `script(prompt, purpose)` answers where no real one is at hand.

    max_tokens: the longest reply, in tokens. Raises as `endpoint_at_hand`.
    """
    with endpoint_at_hand() as endpoint:
        if endpoint is None:
            yield AtHand(model=ScriptedModel(script), name="scripted")
            return
        from openai import OpenAI

        name = endpoint.model
        with OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0, timeout=600.0) as client:

            def model(prompt: str, purpose: str) -> Completion:
                reply = client.chat.completions.create(
                    model=name, temperature=0.0, max_tokens=max_tokens, messages=[{"role": "user", "content": prompt}])
                usage = None if reply.usage is None else {
                    "prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens}
                choice = reply.choices[0]
                return Completion(choice.message.content or "", usage,  # type: ignore[arg-type]  # read by Usage.of
                                  choice.finish_reason)

            yield AtHand(model=model, name=name, endpoint=endpoint)
