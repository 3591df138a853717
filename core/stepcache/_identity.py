"""Which model with which options answers: the text that keeps the replies of different models apart."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepcache._data import digest
from stepcache._stable import Unstable, canonical_json, stable

__all__ = ["TRANSPORT", "Identity", "identity_of_options", "warn_once"]

_log = logging.getLogger("stepcache")

# How a reply travels, who pays and how often it is tried again: none of it changes what is asked for.
TRANSPORT = frozenset({
    "stream", "streaming", "stream_usage", "stream_options", "stream_chunk_timeout", "disable_streaming", "timeout",
    "request_timeout", "default_request_timeout", "max_retries", "callbacks", "tags", "metadata", "verbose", "cache",
    "name", "rate_limiter", "profile", "http_client", "http_async_client", "http_socket_options", "client",
    "async_client", "root_client", "root_async_client", "custom_get_token_ids", "api_key", "openai_api_key",
    "anthropic_api_key", "google_api_key", "ls_structured_output_format", "structured_output_format",
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


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

