"""A LangChain call as a request of the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_stepcache._conversation import Conversation, conversation_of
from langchain_stepcache._demand import Demand
from langchain_stepcache._identity import Identity, warn_once
from langchain_stepcache._stable import Unstable, canonical_json
from stepcache import CacheControl, Request, StepCache
from stepcache._control import with_control
from stepcache.errors import ConfigurationError
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import json_schema, plain_text

__all__ = ["CONTROL", "Asked", "address_of", "chat_request", "control_of", "text_request"]

CONTROL = "stepcache"  # the call option that carries a CacheControl


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request with the form of reply it is to be answered in."""

    request: Request
    demand: Demand


def control_of(value: Any) -> CacheControl:
    """The `stepcache=` option of a call. Raises `ConfigurationError` for anything but a `CacheControl`."""
    if value is None:
        return CacheControl()
    if not isinstance(value, CacheControl):
        raise ConfigurationError(f"stepcache= takes a CacheControl, such as CacheControl(no_store=True), not {value!r}")
    return value


def address_of(cache: Any) -> Any:
    """What a pickled wrapper keeps of its cache: the folder, or ":memory:"; another store is kept as it is."""
    if not isinstance(cache, StepCache):
        return cache
    if isinstance(cache.store, MemoryStore):
        return ":memory:"
    path = getattr(cache.store, "path", None)
    return cache if path is None else str(path)


def chat_request(
    messages: Sequence[BaseMessage | Mapping[str, Any]],
    identity: Identity,
    demand: Demand,
    control: CacheControl,
) -> Asked:
    """What a list of messages asks a chat model.

    The last human text is the prompt; all around it, with the tools offered, is the context. A schema or a forced
    tool is the spec and stays out of both, so that a request for one more field still finds its neighbour. What
    names no stable content (an option without a text form, an image behind a URL) is answered by the model and
    leaves no trace.
    """
    untraceable = [f"the option {name!r} has no stable text form" for name in identity.unstable]
    try:
        conversation = conversation_of(messages)
        context = _context(conversation, demand)
    except (Unstable, RecursionError) as error:
        untraceable.append(f"a message holds a value without a stable text form ({error})")
        conversation, context = Conversation(prompt=""), ""
    if conversation.remote:
        untraceable.append("an image or document is given by its URL, so its content is unknown")
    whole = identity.candidates > 1 or conversation.multimodal or conversation.answers_tool or demand.form == "tools"
    request = with_control(Request(
        prompt=conversation.prompt,
        context=context,
        model=identity.model,
        control=control,
        temperature=identity.temperature,
        multi_turn=conversation.multi_turn,
        exact_only=whole,
    ))
    if request.control.spec is None:
        request = replace(request, spec=plain_text() if whole else _schema_spec(demand))
    return Asked(request=_untraced(request, untraceable), demand=demand)


def text_request(prompt: str, identity: Identity, control: CacheControl) -> Asked:
    """What a text asks a completion model."""
    untraceable = [f"the option {name!r} has no stable text form" for name in identity.unstable]
    several = identity.candidates > 1
    request = with_control(Request(
        prompt=prompt, model=identity.model, control=control, temperature=identity.temperature, exact_only=several))
    if several and request.control.spec is None:
        request = replace(request, spec=plain_text())
    return Asked(request=_untraced(request, untraceable), demand=Demand())


def _context(conversation: Conversation, demand: Demand) -> str:
    tools = {"tools": list(demand.tools), "choice": demand.choice} if demand.form == "tools" else None
    if not conversation.context and not demand.way and tools is None:
        return ""
    return canonical_json({"messages": conversation.context, "reply": demand.way, "offered": tools})


def _schema_spec(demand: Demand) -> Any:
    if demand.schema is None:
        return None
    try:
        return json_schema(demand.schema)
    except (ConfigurationError, TypeError, ValueError) as error:
        warn_once("a response schema can't be checked (%s); such replies are repeated exactly or not at all", error)
        return plain_text()


def _untraced(request: Request, reasons: Sequence[str]) -> Request:
    if not reasons:
        return request
    for reason in reasons:
        warn_once("a request is not cached: %s", reason)
    return replace(request, control=replace(request.control, no_cache=True, no_store=True))
