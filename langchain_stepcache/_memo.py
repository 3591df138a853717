"""From what LangChain hands over straight to the reply it got last time, for exact repetition.

What is kept is only how to ask and what was built from the answer: whether the entry is still there, unchanged and
fresh is asked of the core each time.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation

from stepcache import Request, Result, StepCache
from stepcache._control import ambient, disabled

__all__ = ["Built", "Known", "Memo", "new_id"]

_MOST, _MOST_CHARS = 1024, 8_000_000
Built = tuple[list[Generation], dict[str, Any] | None]  # the candidates, and what the model told beside them


def new_id() -> str:
    """An id for a message that no model has just sent."""
    return f"lc_run--{os.urandom(16).hex()}"


@dataclass(slots=True)
class Known:
    """A request that was answered by exact repetition, with its key and what was built from its result.

    `named` gives messages new ids, where LangChain doesn't: under an old id a graph would overwrite the old message.
    """

    request: Request
    key: str
    build: Callable[[Result], Built]
    named: bool
    made: tuple[Result, Built] | None = None

    def again(self, cache: StepCache) -> Built | None:
        """New objects for the same reply, if memory still holds it for this request; None says nothing."""
        if ambient() is not None or disabled():
            return None
        result = cache.repeat(self.request, self.key)
        if result is None:
            return None
        made = self.made
        if made is not None and made[0] is result:
            return _copies(made[1], self.named)
        built = self.build(result)
        if all(map(_plain, built[0])):
            self.made = result, _copies(built, self.named)
        return built


class Memo:
    """Known requests by their raw key, bounded in number and in characters; the oldest go first. Thread-safe."""

    def __init__(self, most: int = _MOST, chars: int = _MOST_CHARS) -> None:
        self._most, self._most_chars = most, chars
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Known, int]] = OrderedDict()
        self._chars = 0

    def __reduce__(self) -> tuple[type[Memo], tuple[int, int]]:
        """A pickled or deep copy of its owner starts without any."""
        return Memo, (self._most, self._most_chars)

    def get(self, raw: Hashable) -> Known | None:
        found = self._kept.get(raw)
        return None if found is None else found[0]

    def put(self, raw: Hashable, known: Known, chars: int) -> None:
        """`chars` is how many characters the raw key holds."""
        with self._lock:
            old = self._kept.pop(raw, None)
            self._chars += chars - (old[1] if old is not None else 0)
            self._kept[raw] = known, chars
            while len(self._kept) > self._most or self._chars > self._most_chars:
                self._chars -= self._kept.popitem(last=False)[1][1]


def _plain(generation: Generation) -> bool:
    """Whether copying its fields makes a new reply: calls of tools get new ids, which takes building it anew."""
    if not isinstance(generation, ChatGeneration):
        return type(generation) is Generation
    message = generation.message
    return (type(generation) is ChatGeneration and type(message) is AIMessage
            and not message.tool_calls and not message.invalid_tool_calls)


def _copies(built: Built, named: bool) -> Built:
    return [_copy(generation, new_id() if named else None) for generation in built[0]], _fresh(built[1])


def _copy(generation: Generation, id_: str | None) -> Generation:
    made = generation.model_copy()
    made.__dict__["generation_info"] = _fresh(generation.generation_info)
    if isinstance(made, ChatGeneration):
        message = made.message.model_copy()
        fields = _fresh(message.__dict__)
        fields["id"] = id_
        message.__dict__.update(fields)
        made.__dict__["message"] = message
    return made


def _fresh(value: Any) -> Any:
    """A copy of plain JSON values; whatever else is met is shared, as it was built for this reply."""
    kind = value.__class__
    if kind is dict:
        copied = value.copy()
        for key, item in copied.items():
            if item.__class__ is dict or item.__class__ is list:
                copied[key] = _fresh(item)
        return copied
    return [_fresh(item) for item in value] if kind is list else value
