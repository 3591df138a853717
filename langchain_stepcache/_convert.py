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
from stepcache import CacheControl, Request
from stepcache._control import with_control
from stepcache.errors import ConfigurationError
from stepcache.tasks import json_schema, plain_text
from stepcache.tasks.free_tools import free_tool_calls

__all__ = ["CONTROL", "Asked", "chat_request", "control_of", "text_request"]

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
    control = with_control(Request(prompt="", control=control)).control
    spec = None if control.spec is not None else _spec(demand)
    try:
        conversation = conversation_of(messages)
        context = _context(conversation, demand, unchecked=spec is None)
    except (Unstable, RecursionError) as error:
        untraceable.append(f"a message holds a value without a stable text form ({error})")
        conversation, context = Conversation(prompt=""), ""
    if conversation.remote:
        untraceable.append("an image or document is given by its URL, so its content is unknown")
    whole = identity.candidates > 1 or conversation.multimodal or conversation.continues
    unchecked = spec is None and (demand.form == "tools" or demand.schema is not None)
    if spec is None and control.spec is None and (whole or unchecked):
        spec = plain_text()
    request = Request(
        prompt=conversation.prompt,
        context=context,
        model=identity.model,
        spec=spec,
        control=control,
        temperature=identity.temperature,
        multi_turn=conversation.multi_turn,
        exact_only=whole or unchecked,
        enforce=spec is not None or not conversation.instructed,
    )
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


def _context(conversation: Conversation, demand: Demand, *, unchecked: bool) -> str:
    """All that must be equal: what stands around the prompt, the way of replying, and a schema no spec checks."""
    offered: Any = {"tools": list(demand.tools), "choice": demand.choice} if demand.form == "tools" else None
    if unchecked and demand.schema is not None:
        offered = {"schema": demand.schema, "tool": demand.tool}
    if not conversation.context and not demand.way and offered is None:
        return ""
    return canonical_json({"messages": conversation.context, "reply": demand.way, "offered": offered})


def _spec(demand: Demand) -> Any:
    """What the form of reply demands, as a spec or task; None where nothing or nothing checkable is demanded."""
    try:
        if demand.form == "tools":
            return free_tool_calls(demand.tools) if demand.tools else None
        return None if demand.schema is None else json_schema(demand.schema)
    except (ConfigurationError, TypeError, ValueError) as error:
        warn_once("a reply's form can't be checked (%s); such replies are repeated exactly or not at all", error)
        return None


def _untraced(request: Request, reasons: Sequence[str]) -> Request:
    if not reasons:
        return request
    for reason in reasons:
        warn_once("a request is not cached: %s", reason)
    return replace(request, control=replace(request.control, no_cache=True, no_store=True))
