"""A LlamaIndex call as a request of the core."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms import LLM

from stepcache import CacheControl
from stepcache._asked import CONTROL, Asked, Conversation, asked_of, says_who_only
from stepcache._demand import demand_of
from stepcache._identity import Identity, identity_of_options
from stepcache._stable import Unstable, canonical_json, stable

__all__ = ["chat_request", "completion_request", "with_last_user_text"]

# Fields of an LLM that say how its replies travel, or who pays: none changes what is asked for.
_NOT_IDENTITY = frozenset({
    "callback_manager", "rate_limiter", "system_prompt", "messages_to_prompt", "completion_to_prompt", "output_parser",
    "pydantic_program_mode", "query_wrapper_prompt", "reuse_client", "default_headers", "headers", "tokenizer",
    "is_chat_model", "is_function_calling_model", "context_window",
})
_MEDIA = ("image", "audio", "video", "data", "document")
_SYSTEM = {MessageRole.SYSTEM, MessageRole.DEVELOPER}
_RESULTS = {MessageRole.TOOL, MessageRole.FUNCTION}


def chat_request(
    llm: LLM, messages: Sequence[ChatMessage], options: Mapping[str, Any], control: CacheControl, *,
    forced: bool = False, asking: str = "",
) -> Asked:
    """What a list of messages asks: the last user text is the prompt, all around it the context.

    `forced` tells that exactly one call of the one tool is waited for; `asking` is what a structured program added to
    the prompt to ask for its schema, for which the control's own spec stands.
    """
    named = {**options, "tool_choice": "required"} if forced else options
    demand, rest = demand_of(named, structured=forced or None, as_mapping=_tool)
    return asked_of(_conversation(messages, asking), _identity(llm, rest, "chat"), demand, control,
                    vouched=bool(asking))


def completion_request(
    llm: LLM, prompt: str, options: Mapping[str, Any], control: CacheControl, *, asking: str = ""
) -> Asked:
    """What a text asks; completions and chats of one model are kept apart."""
    demand, rest = demand_of(options, as_mapping=_tool)
    return asked_of(Conversation(prompt=_without(prompt, asking)), _identity(llm, rest, "completion"), demand, control,
                    vouched=bool(asking))


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


def _conversation(messages: Sequence[ChatMessage], asking: str = "") -> Conversation:
    """Messages without their ids, usage and our own marker; tool-call ids are renumbered: calls and results pair up."""
    try:
        return _read(messages, asking)
    except (Unstable, OSError, RecursionError) as error:
        return Conversation(doubts=(f"a message holds a value without a stable text form ({error})",))


def _read(messages: Sequence[ChatMessage], asking: str) -> Conversation:
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
        extra = {key: stable(value) for key, value in message.additional_kwargs.items() if key != CONTROL}
        turns.append(_renumbered({"role": str(message.role.value), "blocks": blocks, "extra": extra}, numbers))
    lone = len(turns) == 1 and asked == 0 and not turns[0]["blocks"] and not turns[0]["extra"]
    return Conversation(
        prompt=prompt,
        context="" if lone else canonical_json(turns),
        multi_turn=any(i != asked and message.role not in _SYSTEM for i, message in enumerate(messages)),
        whole=asked < 0 or media or any(message.role in _RESULTS for message in messages),
        instructed=any(i != asked and not (message.role in _SYSTEM and says_who_only(message.content or ""))
                       for i, message in enumerate(messages)),
    )


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
    return {key: stable(value) for key, value in told.items()}


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
