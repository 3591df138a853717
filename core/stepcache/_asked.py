"""What an adapter asks the core: a request, and the form of reply its framework waits for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stepcache._control import with_control
from stepcache._data import CacheControl, Request
from stepcache._demand import Demand
from stepcache._identity import Identity, warn_once
from stepcache._stable import Unstable, canonical_json
from stepcache.errors import ConfigurationError
from stepcache.tasks import json_schema, plain_text
from stepcache.tasks.free_tools import free_tool_calls

__all__ = ["CONTROL", "Asked", "Conversation", "asked_of", "control_of", "says_who_only"]

CONTROL = "stepcache"  # the call option that carries a CacheControl

_WHO = re.compile(
    r"\s*(?:(?:you are|you're|act as)\s+(?:an?\s+|the\s+)?(?:(?:very|helpful|friendly|kind|honest|careful|expert|good|"
    r"great|skilled|patient|math|maths|algebra|mathematics|language|ai|general|smart|reliable|knowledgeable)"
    r"[\s,]+(?:and\s+)?)*"
    r"(?:assistant|tutor|teacher|expert|mathematician|ai|chatbot|bot|model|professor|student)[.!]?\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request with the form of reply it is to be answered in."""

    request: Request
    demand: Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A list of messages, as far as a request needs it.

    `prompt` is the text of the last human turn, `context` the canonical form of all around it (empty for a lone human
    text). `multi_turn` tells of turns before it; `whole` that only an exact repetition may answer (media, or a last
    turn that is not the human's); `instructed` that a system message or an earlier turn may ask for another kind of
    reply than the prompt's words do. `doubts` say why the request names no stable content.
    """

    prompt: str = ""
    context: str = ""
    multi_turn: bool = False
    whole: bool = False
    instructed: bool = False
    doubts: tuple[str, ...] = ()


def control_of(value: Any) -> CacheControl:
    """The `stepcache=` option of a call. Raises `ConfigurationError` for anything but a `CacheControl`."""
    if value is None:
        return CacheControl()
    if not isinstance(value, CacheControl):
        raise ConfigurationError(f"stepcache= takes a CacheControl, such as CacheControl(no_store=True), not {value!r}")
    return value


def says_who_only(text: str) -> bool:
    """Whether a system message says who answers, and nothing about how."""
    return len(text) < 200 and _WHO.fullmatch(text) is not None


def asked_of(
    conversation: Conversation, identity: Identity, demand: Demand, control: CacheControl, *, vouched: bool = False
) -> Asked:
    """What a conversation, or a lone text, asks a model.

    A schema or a forced tool is the spec and stays out of prompt and context, so that a request for one more field
    still finds its neighbour; tools of free choice are context. A form of reply that no spec checks is context, and
    its replies are repeated exactly or not at all. `vouched` tells that the control's own spec stands for the schema.
    What names no stable content is answered by the model and leaves no trace.
    """
    control = with_control(Request(prompt="", control=control)).control
    spec = None if control.spec is not None else _spec(demand)
    # A caller's own spec judges JSON as well as ours does, but knows nothing of words among calls of free tools.
    unchecked = spec is None and (demand.form == "tools" or (demand.schema is not None and control.spec is None))
    whole = conversation.whole or identity.candidates > 1 or unchecked
    if spec is None and control.spec is None and whole:
        spec = plain_text()
    doubts = [f"the option {name!r} has no stable text form" for name in identity.unstable]
    doubts += conversation.doubts
    context = ""
    try:
        context = _context(conversation, demand, unchecked=unchecked or (control.spec is not None and not vouched))
    except (Unstable, RecursionError) as error:
        doubts.append(f"the form of its reply has no stable text form ({error})")
    request = Request(
        prompt=conversation.prompt,
        context=context,
        model=identity.model,
        spec=spec,
        control=control,
        temperature=identity.temperature,
        multi_turn=conversation.multi_turn,
        exact_only=whole,
        enforce=spec is not None or not conversation.instructed,
    )
    return Asked(request=_untraced(request, doubts), demand=demand)


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


def _untraced(request: Request, doubts: Sequence[str]) -> Request:
    """The request as it is, or, for any doubt, as one that neither reads the cache nor writes to it."""
    for doubt in doubts:
        warn_once("a request is not cached: %s", doubt)
    if not doubts:
        return request
    return replace(request, control=replace(request.control, no_cache=True, no_store=True))
