"""A LlamaIndex call as a request of the core."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms import LLM

from stepcache import CacheControl, Request
from stepcache._control import with_control
from stepcache._demand import Demand, demand_of
from stepcache._identity import Identity, identity_of_options, warn_once
from stepcache._stable import Unstable, canonical_json, stable
from stepcache.errors import ConfigurationError
from stepcache.tasks import json_schema, plain_text
from stepcache.tasks.free_tools import free_tool_calls

__all__ = ["CONTROL", "Asked", "chat_request", "completion_request", "control_of", "with_last_user_text"]

CONTROL = "stepcache"  # the call option that carries a CacheControl

# Fields of an LLM that say how its replies travel, or who pays: none changes what is asked for.
_NOT_IDENTITY = frozenset({
    "callback_manager", "rate_limiter", "system_prompt", "messages_to_prompt", "completion_to_prompt", "output_parser",
    "pydantic_program_mode", "query_wrapper_prompt", "reuse_client", "default_headers", "headers", "tokenizer",
    "is_chat_model", "is_function_calling_model", "context_window",
})
_MEDIA = ("image", "audio", "video", "data", "document")
_SYSTEM = {MessageRole.SYSTEM, MessageRole.DEVELOPER}


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
    llm: LLM, messages: Sequence[ChatMessage], options: Mapping[str, Any], control: CacheControl, *,
    forced: bool = False, asking: str = "",
) -> Asked:
    """What a list of messages asks: the last user text is the prompt, all around it the context.

    A response schema or a forced tool is the spec and stays out of both, so that a request for one more field finds
    its neighbour; tools of free choice are context, and their calls are reused whole or not at all. `forced` tells
    that exactly one call of the one tool is waited for; `asking` is what a structured program added to the prompt to
    ask for its schema, which the spec stands for.
    """
    named = {**options, "tool_choice": "required"} if forced else options
    demand, rest = demand_of(named, structured=forced or None, as_mapping=_tool)
    identity = _identity(llm, rest, "chat")
    reasons = [f"the option {name!r} has no stable text form" for name in identity.unstable]
    control = with_control(Request("", control=control)).control
    spec = None if control.spec is not None else _spec(demand)
    # A system message or an earlier turn may ask for another kind of reply than the prompt's own words.
    instructed = len(messages) > 1
    checked = spec is not None or control.spec is not None or (demand.schema is None and demand.form != "tools")
    prompt, context, whole, turns = "", "", True, False
    try:
        prompt, around, whole, turns = _conversation(messages, asking)
        offered: Any = {"tools": list(demand.tools), "choice": demand.choice} if demand.form == "tools" else None
        if not checked:
            offered = {"schema": demand.schema, "tool": demand.tool}
        if around or demand.way or offered:
            context = canonical_json({"messages": around, "reply": demand.way, "offered": offered})
    except (Unstable, OSError, RecursionError) as error:
        reasons.append(f"a message holds a value without a stable text form ({error})")
    if (whole or not checked) and spec is None and control.spec is None:
        spec = plain_text()
    request = Request(prompt, context=context, model=identity.model, spec=spec, control=control,
                      temperature=identity.temperature, multi_turn=turns, exact_only=whole or not checked,
                      enforce=spec is not None or not instructed)
    return Asked(request=_untraced(request, reasons), demand=demand)


def completion_request(
    llm: LLM, prompt: str, options: Mapping[str, Any], control: CacheControl, *, asking: str = ""
) -> Asked:
    """What a text asks; completions and chats of one model are kept apart."""
    demand, rest = demand_of(options)
    identity = _identity(llm, rest, "completion")
    reasons = [f"the option {name!r} has no stable text form" for name in identity.unstable]
    control = with_control(Request("", control=control)).control
    spec = None if control.spec is not None or demand.form != "json" else _spec(demand)
    request = Request(_without(prompt, asking), context=demand.way, model=identity.model, spec=spec, control=control,
                      temperature=identity.temperature)
    return Asked(request=_untraced(request, reasons), demand=demand)


def with_last_user_text(messages: Sequence[ChatMessage], text: str) -> list[ChatMessage]:
    """The same messages with the last user turn's text replaced; its other blocks stay."""
    changed = list(messages)
    at = max((i for i, message in enumerate(changed) if message.role == MessageRole.USER), default=None)
    if at is None:
        return [*changed, ChatMessage(role=MessageRole.USER, content=text)]
    kept = [block for block in changed[at].blocks if not isinstance(block, TextBlock)]
    changed[at] = changed[at].model_copy(update={"blocks": [*kept, TextBlock(text=text)]})
    return changed


def _tool(tool: Any) -> Mapping[str, Any]:
    """A LlamaIndex tool in its OpenAI form."""
    written: Mapping[str, Any] = tool.metadata.to_openai_tool()
    return written


def _identity(llm: LLM, options: Mapping[str, Any], way: str) -> Identity:
    """The model as it is now with the options of one call; read from current fields each time."""
    fields = {name: value for name in type(llm).model_fields
              if name not in _NOT_IDENTITY and not type(llm).model_fields[name].exclude
              and (value := getattr(llm, name, None)) is not None}
    named = {"_class": f"{type(llm).__module__}.{type(llm).__qualname__}", "_way": way,
             "model": llm.metadata.model_name, **fields}
    identity = identity_of_options({**_known(named), **{k: v for k, v in options.items() if v is not None}})
    # LlamaIndex calls a model by another name than LangChain does; the framework is named so that they never mix.
    return replace(identity, model=f"llama_index:{identity.model}")


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a model that have a text form; its clients, functions and the like are no options."""
    known = {}
    for name, value in fields.items():
        try:
            known[name] = stable(value)
        except (Unstable, RecursionError):
            continue
    return known


def _without(text: str, asking: str) -> str:
    return text.replace(asking, "") if asking else text


def _conversation(messages: Sequence[ChatMessage], asking: str = "") -> tuple[str, list[Any], bool, bool]:
    """Prompt, canonical turns around it, whether only an exact repetition may answer, whether there are other turns.

    Ids, usage and our own marker don't count; tool-call ids are renumbered so that calls and results still pair up.
    """
    asked = max((i for i, message in enumerate(messages) if message.role == MessageRole.USER), default=-1)
    numbers: dict[str, str] = {}
    turns: list[Any] = []
    prompt, media = "", False
    for i, message in enumerate(messages):
        blocks: list[Any] = []
        for block in message.blocks:
            if isinstance(block, TextBlock):
                blocks.append({"text": _without(block.text, asking)})
            else:
                media = media or (not isinstance(block, ToolCallBlock) and block.block_type != "thinking")
                blocks.append(_block(block))
        if i == asked:
            prompt = "\n".join(block["text"] for block in blocks if block.keys() == {"text"})
            blocks = [block for block in blocks if block.keys() != {"text"}]
        extra = {key: _plain(value) for key, value in message.additional_kwargs.items() if key != CONTROL}
        turns.append(_renumbered({"role": str(message.role.value), "blocks": blocks, "extra": extra}, numbers))
    whole = asked < 0 or media or any(message.role in {MessageRole.TOOL, MessageRole.FUNCTION} for message in messages)
    others = any(i != asked and message.role not in _SYSTEM for i, message in enumerate(messages))
    lone = len(turns) == 1 and asked == 0 and not turns[0]["blocks"] and not turns[0]["extra"]
    return prompt, [] if lone else turns, whole, others


def _block(block: Any) -> dict[str, Any]:
    """A block by its content: media by the digest of their bytes. Raises `Unstable` for what lies behind a URL."""
    told = block.model_dump(mode="python", exclude_none=True)
    for name in _MEDIA:
        value = told.get(name)
        if isinstance(value, bytes):
            told[name] = {"$bytes": hashlib.sha256(value).hexdigest()}
    if (path := told.pop("path", None)) is not None:
        told["path"] = {"$bytes": hashlib.sha256(Path(str(path)).read_bytes()).hexdigest()}
    if (url := told.get("url")) is not None:
        if not str(url).startswith("data:"):
            raise Unstable("an image or document is given by its URL, so its content is unknown")
        told["url"] = str(url)
    return {key: _plain(value) for key, value in told.items()}


def _plain(value: Any) -> Any:
    return stable(value)


def _renumbered(turn: Any, numbers: dict[str, str]) -> Any:
    """Replace tool-call ids by their order of appearance, the same id by the same number."""

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            return {name: walk(item, name) for name, item in value.items() if name != "usage"}
        if isinstance(value, list):
            return [walk(item) for item in value]
        if isinstance(value, str) and key in {"tool_call_id", "id", "call_id"}:
            return numbers.setdefault(value, f"call {len(numbers) + 1}")
        return value

    return walk(turn)


def _spec(demand: Demand) -> Any:
    """What the form of reply demands; None where nothing checkable is demanded."""
    try:
        if demand.form == "tools":
            return free_tool_calls(demand.tools) if demand.tools else None
        return None if demand.schema is None else json_schema(demand.schema)
    except (ConfigurationError, TypeError, ValueError) as error:
        warn_once("a reply's form can't be checked (%s); such replies are repeated exactly or not at all", error)
        return None


def _untraced(request: Request, reasons: Sequence[str]) -> Request:
    for reason in reasons:
        warn_once("a request is not cached: %s", reason)
    if not reasons:
        return request
    return replace(request, control=replace(request.control, no_cache=True, no_store=True))
