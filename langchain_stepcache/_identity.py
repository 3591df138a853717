"""Which model with which options answers: the text that keeps the replies of different models apart."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseLanguageModel

from langchain_stepcache._stable import Unstable, canonical_json, stable
from stepcache._data import digest

__all__ = ["TRANSPORT", "Identity", "identity_of", "identity_of_options", "warn_once"]

_log = logging.getLogger("stepcache")

# How a reply travels, who pays and how often it is tried again: none of it changes what is asked for.
TRANSPORT = frozenset({
    "stream", "streaming", "stream_usage", "stream_options", "stream_chunk_timeout", "disable_streaming", "timeout",
    "request_timeout", "default_request_timeout", "max_retries", "callbacks", "tags", "metadata", "verbose", "cache",
    "name", "rate_limiter", "profile", "http_client", "http_async_client", "http_socket_options", "client",
    "async_client", "root_client", "root_async_client", "custom_get_token_ids", "api_key", "openai_api_key",
    "anthropic_api_key", "google_api_key", "ls_structured_output_format", "structured_output_format",
})
# Among the fields a model doesn't declare as its parameters, a string or whole number is as often its own state (a
# counter, the last reply) as an option, so only these names are taken; a fraction is an option.
_OPTIONS = frozenset({
    "model", "model_name", "model_id", "deployment_name", "base_url", "api_base", "openai_api_base", "endpoint_url",
    "max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens", "num_predict", "top_k", "seed", "n",
    "best_of", "num_ctx", "n_ctx", "num_beams", "beam_width", "top_logprobs", "thinking_budget", "random_seed",
    "repeat_last_n", "mirostat", "candidate_count", "temperature", "top_p", "reasoning_effort", "thinking",
    "reasoning", "verbosity", "system_prompt", "system", "instructions", "output_version", "logprobs", "stop",
})

_warned: set[str] = set()
_warned_lock = threading.Lock()


def warn_once(message: str, *args: object) -> None:
    """Log a warning the first time its text is seen in this process."""
    text = message % args
    with _warned_lock:
        if text in _warned:
            return
        _warned.add(text)
    _log.warning(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A model with its options, as a request needs it.

    `model` is a readable name and a digest of all the rest. `unstable` names the options that have no stable text
    form: such a request is answered by the model and leaves no trace in the cache.
    """

    model: str
    temperature: float | None = None
    candidates: int = 1
    unstable: tuple[str, ...] = ()


def identity_of(model: BaseLanguageModel[Any], options: Mapping[str, Any]) -> Identity:
    """The identity of a model as it is now, with the options of one call; transport options don't count."""
    known = {"_class": f"{type(model).__module__}.{type(model).__qualname__}", **_configuration(model)}
    return identity_of_options({**known, **{key: value for key, value in options.items() if value is not None}})


def identity_of_options(options: Mapping[str, Any], doubtful: tuple[str, ...] = ()) -> Identity:
    """The identity that named options make; their order doesn't count. `doubtful` ones are known to be unstable."""
    kept: dict[str, Any] = {}
    unstable = [name for name in doubtful if name not in TRANSPORT]
    for name, value in options.items():
        if name in TRANSPORT:
            continue
        try:
            kept[name] = stable(value)
        except (Unstable, RecursionError):
            unstable.append(name)
    name = next((str(kept[key]) for key in ("model", "model_name", "model_id", "deployment_name") if kept.get(key)),
                str(kept.get("_class", kept.get("_type", "model"))))
    return Identity(
        model=f"{name}#{digest(canonical_json(kept))[:32]}",
        temperature=_number(kept.get("temperature")),
        candidates=next((count for key in ("n", "candidate_count", "best_of")
                         if isinstance(count := kept.get(key), int) and count > 1), 1),
        unstable=tuple(unstable),
    )


def _configuration(model: BaseLanguageModel[Any]) -> dict[str, Any]:
    """What a model says of itself, read from its current fields each time.

    LangChain keeps `_serialized` of the first call for good, so a field changed later would not count there.
    """
    known: dict[str, Any] = {}
    for name, field in type(model).model_fields.items():
        if field.exclude or name in TRANSPORT:
            continue
        value = getattr(model, name, None)
        if name in _OPTIONS or isinstance(value, float):
            known[name] = value
    if model.is_lc_serializable():
        try:
            written = model.to_json().get("kwargs")
        except Exception:  # a partner's serialisation must not cost the call; the other sources remain
            written = None
        if isinstance(written, Mapping):
            known |= {name: value for name, value in written.items() if name not in TRANSPORT}
    try:
        known |= {"_type": getattr(model, "_llm_type", ""), **model._identifying_params}
    except Exception:  # as above
        warn_once("%s can't name its parameters; its replies are told apart by its fields alone", type(model).__name__)
    return known


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

