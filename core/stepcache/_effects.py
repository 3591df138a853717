"""What the flow asks of the world. Each effect is a value; a driver performs it and sends the answer back.

`stage` is the name under which the time an effect takes is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from stepcache._data import Entry, PatchPlan, Request
from stepcache.protocols import Purpose

__all__ = ["Block", "Compute", "Effect", "Embed", "Fetch", "FetchTemplate", "Generate", "Judge", "Save", "Search"]


@dataclass(frozen=True, slots=True)
class Fetch:
    """Answer: `Entry | None`."""

    stage: ClassVar[str] = "fetch"
    namespace: str
    key: str


@dataclass(frozen=True, slots=True)
class FetchTemplate:
    """Answer: `tuple[Entry, ...]`, newest first, without those blocked for the request with key `asker`."""

    stage: ClassVar[str] = "template"
    namespace: str
    template: str
    limit: int
    asker: str


@dataclass(frozen=True, slots=True)
class Embed:
    """Answer: a vector, or None when there is no embedder, it failed, or nothing in the partition could match."""

    stage: ClassVar[str] = "embed"
    namespace: str
    partition: str
    text: str


@dataclass(frozen=True, slots=True)
class Search:
    """Answer: `tuple[Match, ...]`, nearest first, without those blocked for the request with key `asker`."""

    stage: ClassVar[str] = "search"
    namespace: str
    partition: str
    vector: tuple[float, ...]
    limit: int
    asker: str


@dataclass(frozen=True, slots=True)
class Generate:
    """Answer: `Completion`. `streams` says that its words are the answer and may be passed on as they come."""

    prompt: str
    purpose: Purpose
    request: Request
    streams: bool = False
    plan: PatchPlan | None = None

    @property
    def stage(self) -> str:
        return self.purpose


@dataclass(frozen=True, slots=True)
class Save:
    """Answer: whether the entry was taken. Without a vector it is embedded behind the caller's back."""

    stage: ClassVar[str] = "save"
    entry: Entry
    vector: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class Judge:
    """Answer: whether the policy's judge finds both prompts to ask for the same thing (False if it fails)."""

    stage: ClassVar[str] = "judge"
    cached_prompt: str
    new_prompt: str


@dataclass(frozen=True, slots=True)
class Block:
    """Answer: None. The entry `key` will never again match the request with key `asker`."""

    stage: ClassVar[str] = "block"
    namespace: str
    key: str
    asker: str


@dataclass(frozen=True, slots=True)
class Compute:
    """Answer: what `work()` returns. It is pure but may take seconds, so no event loop may wait for it."""

    stage: ClassVar[str] = "check"
    work: Callable[[], Any]


Effect = Fetch | FetchTemplate | Embed | Search | Generate | Save | Judge | Block | Compute
