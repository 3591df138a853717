"""Child runs for real model calls: seen by tracers, by nothing that shows tokens to a user or counts them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult, LLMResult
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from langchain_core.tracers.base import BaseTracer

__all__ = ["ambient_callbacks", "child_run"]

_TAGS = ["nostream", "stepcache"]


def ambient_callbacks() -> Any:
    """The callbacks of the Runnable around this call, for code that is handed none."""
    config = var_child_runnable_config.get()
    return None if config is None else config.get("callbacks")


@contextmanager
def child_run(
    name: str, messages: Sequence[BaseMessage], callbacks: Any, parent: UUID | None = None
) -> Iterator[list[ChatResult]]:
    """Report one model call to the tracers among `callbacks` as a run of its own.

    Put the reply into the list. Its usage isn't reported: the run around it does, and no token counts twice.
    """
    manager = CallbackManager.configure(callbacks)
    tracers: list[BaseCallbackHandler] = [
        handler for handler in manager.handlers
        if isinstance(handler, BaseTracer) and not isinstance(handler, _StreamingCallbackHandler)
    ]
    reply: list[ChatResult] = []
    if not tracers:
        yield reply
        return
    own = CallbackManager(handlers=tracers, parent_run_id=parent or manager.parent_run_id)
    own.add_tags(_TAGS, inherit=False)
    (run,) = own.on_chat_model_start({"name": name}, [list(messages)], run_id=uuid4(), name=name)
    try:
        yield reply
    except BaseException as error:
        run.on_llm_error(error)
        raise
    run.on_llm_end(LLMResult(generations=[[_uncounted(g) for g in made.generations] for made in reply]))


def _uncounted(generation: Any) -> Any:
    message = generation.message.model_copy(update={"usage_metadata": None})
    return generation.model_copy(update={"message": message})
