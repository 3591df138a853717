"""The knobs of a cache, validated on construction. No behaviour lives here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from stepcache._data import Completion, Request
from stepcache.errors import ConfigurationError

__all__ = ["Policy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the cache may do.

    min_similarity: cosine in [-1, 1] below which an entry is not even looked at; similarity only nominates.
    candidates: how many of the nearest entries are verified.
    max_failing_share: share of steps (for JSON, of keys) above which patching gives way to a fresh answer.
    rewrite, patch, enforce, record, record_fallback: switch these parts off or on.
    max_repairs: how often a failing reply is asked for again.
    max_temperature: similar reuse only up to this sampling temperature; exact repetition always.
    multi_turn: allow similar reuse inside a conversation whose earlier turns are equal.
    stream_unverified: stream a recognised task's fresh words before they are checked.
    shadow: decide and log, but always call the model.
    judge: second opinion `(cached_prompt, new_prompt) -> bool` on texts the gate can't explain.
    should_store: `(request, completion) -> bool`; False keeps a reply out of the cache.
    flight_timeout, cache_timeout: seconds to wait for another caller's same request, and for store or embedder.
    max_chars: prompts or replies longer than this are not looked at by the cache.
    strict: raise store and embedder errors instead of failing open.

    Raises `ConfigurationError` for a value out of range.
    """

    min_similarity: float = 0.55
    candidates: int = 5
    max_failing_share: float = 0.8
    rewrite: bool = True
    patch: bool = True
    enforce: bool = True
    max_repairs: int = 1
    record: bool = True
    record_fallback: bool = False
    max_temperature: float = 1.0
    multi_turn: bool = False
    stream_unverified: bool = False
    shadow: bool = False
    judge: Callable[[str, str], bool] | None = None
    should_store: Callable[[Request, Completion], bool] | None = None
    flight_timeout: float = 60.0
    cache_timeout: float = 2.0
    max_chars: int = 1_000_000
    strict: bool = False

    def __post_init__(self) -> None:
        def need(name: str, holds: bool, wanted: str) -> None:
            if not holds:
                raise ConfigurationError(f"Policy.{name} takes {wanted}, not {getattr(self, name)!r}")

        for spec in fields(self):
            value = getattr(self, spec.name)
            if spec.type == "bool":
                need(spec.name, isinstance(value, bool), "True or False")
            elif spec.type in {"float", "int"}:
                number = isinstance(value, int | float) and not isinstance(value, bool)
                need(spec.name, number and (spec.type == "float" or isinstance(value, int)),
                     "a whole number" if spec.type == "int" else "a number")
        need("min_similarity", -1 <= self.min_similarity <= 1, "a cosine between -1 and 1")
        need("candidates", self.candidates >= 1, "a whole number >= 1")
        need("max_failing_share", 0 <= self.max_failing_share <= 1, "a share between 0 and 1")
        need("max_repairs", self.max_repairs >= 0, "a whole number >= 0")
        need("max_temperature", self.max_temperature >= 0, "a temperature >= 0")
        need("flight_timeout", self.flight_timeout > 0, "seconds > 0")
        need("cache_timeout", self.cache_timeout > 0, "seconds > 0")
        need("max_chars", self.max_chars >= 1, "a whole number >= 1")
        for name in ("judge", "should_store"):
            need(name, getattr(self, name) is None or callable(getattr(self, name)), "a callable or None")
