"""Putting the caching model in the place of the model it wraps, inside whatever a partner package built around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import (
    Runnable,
    RunnableBinding,
    RunnableBranch,
    RunnableParallel,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableEach
from langchain_core.runnables.passthrough import RunnableAssign

__all__ = ["graft"]

Replace = Callable[[Runnable[Any, Any]], Runnable[Any, Any] | None]


def graft(runnable: Any, replace: Replace) -> Any:
    """Return the runnable with every part for which `replace` gives another one exchanged; the very same if none is.

    Looks through bindings (retry and config included), sequences, maps, branches and fallbacks.
    """
    if not isinstance(runnable, Runnable):
        return runnable
    if (other := replace(runnable)) is not None:
        return other
    if isinstance(runnable, RunnableBinding | RunnableEach):
        return _with(runnable, bound=graft(runnable.bound, replace))
    if isinstance(runnable, RunnableSequence):
        steps = [graft(step, replace) for step in runnable.steps]
        if all(new is old for new, old in zip(steps, runnable.steps, strict=True)):
            return runnable
        return RunnableSequence(*steps, name=runnable.name)
    if isinstance(runnable, RunnableParallel):
        named = {key: graft(step, replace) for key, step in runnable.steps__.items()}
        if all(named[key] is step for key, step in runnable.steps__.items()):
            return runnable
        return _with(runnable, steps__=named)
    if isinstance(runnable, RunnableWithFallbacks):
        return _with(runnable, runnable=graft(runnable.runnable, replace),
                     fallbacks=[graft(each, replace) for each in runnable.fallbacks])
    if isinstance(runnable, RunnableAssign):
        return _with(runnable, mapper=graft(runnable.mapper, replace))
    if isinstance(runnable, RunnableBranch):
        return _with(runnable, default=graft(runnable.default, replace),
                     branches=[(when, graft(then, replace)) for when, then in runnable.branches])
    return runnable


def _with(runnable: Any, /, **parts: Any) -> Any:
    if all(_same(getattr(runnable, name), part) for name, part in parts.items()):
        return runnable
    return runnable.model_copy(update=parts)


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, list):
        return len(old) == len(new) and all(_same(a, b) for a, b in zip(old, new, strict=True))
    if isinstance(old, tuple):
        return all(_same(a, b) for a, b in zip(old, new, strict=True))
    return old is new
