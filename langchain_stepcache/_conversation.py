"""A list of messages as a request needs it: the last human text, and everything around it in one canonical form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from stepcache._asked import Conversation, says_who_only
from stepcache._stable import Unstable, canonical_json

__all__ = ["conversation_of", "with_last_human_text"]

_HUMAN, _SYSTEM = "human", frozenset({"system", "developer"})
_FIELDS = ("content", "additional_kwargs", "name", "tool_calls", "invalid_tool_calls", "tool_call_id", "status", "role")
# What a provider or we tell beside a message: it differs from run to run and says nothing.
_NOISE = frozenset({"parsed", "stepcache", "tool_calls", "__openai_function_call_ids__", "usage"})
_CALL_IDS = ("id", "tool_call_id", "tool_use_id", "call_id")
_REMOTE = ("http://", "https://", "gs://", "s3://")


def conversation_of(messages: Sequence[BaseMessage | Mapping[str, Any]]) -> Conversation:
    """Read messages, or their fields as LangChain writes them to JSON.

    Ids, response and usage metadata and our own marker don't count; tool-call ids are renumbered so that calls and
    results still pair up. Order, roles, names, contents and the call a result belongs to count.
    """
    try:
        return _read(messages)
    except (Unstable, RecursionError) as error:
        return Conversation(doubts=(f"a message holds a value without a stable text form ({error})",))


def _read(messages: Sequence[BaseMessage | Mapping[str, Any]]) -> Conversation:
    turns = [_turn(_fields(message)) for message in messages]
    numbers = _numbering(turns)
    turns = [_renumbered(turn, numbers) for turn in turns]
    roles = [turn["type"] for turn in turns]
    asked = max((i for i, role in enumerate(roles) if role == _HUMAN), default=len(turns) - 1)
    prompt = _text(turns[asked]["content"]) if turns else ""
    media = [block for turn in turns for block in _blocks(turn["content"]) if not _is_words(block)]
    if turns:
        turns[asked] = {**turns[asked], "content": _without_text(turns[asked]["content"])}
    lone = len(turns) == 1 and turns[0] == {"type": _HUMAN, "content": None}
    return Conversation(
        prompt=prompt,
        context="" if lone else canonical_json(turns),
        multi_turn=any(i != asked and role not in _SYSTEM for i, role in enumerate(roles)),
        whole=bool(media) or (bool(roles) and asked != len(roles) - 1),
        instructed=any(i != asked and not (role in _SYSTEM and says_who_only(_text(turn["content"])))
                       for i, (role, turn) in enumerate(zip(roles, turns, strict=True))),
        doubts=("an image or document is given by its URL, so its content is unknown",)
        if any(_lies_elsewhere(block) for block in media) else (),
    )


def with_last_human_text(messages: Sequence[BaseMessage], text: str) -> list[BaseMessage]:
    """The same messages with the text of the last human turn replaced; what else that turn holds stays."""
    changed = list(messages)
    at = max((i for i, message in enumerate(changed) if message.type == _HUMAN), default=None)
    if at is None:
        return [*changed, HumanMessage(text)]
    content = changed[at].content
    if isinstance(content, str):
        replaced: Any = text
    else:
        replaced = [block for block in content if not _is_text(block)]
        replaced = [*replaced, {"type": "text", "text": text}] if replaced else text
    changed[at] = changed[at].model_copy(update={"content": replaced})
    return changed


def _fields(message: BaseMessage | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(message, Mapping):
        return message
    return {"type": message.type, **{name: getattr(message, name, None) for name in _FIELDS}}


def _turn(fields: Mapping[str, Any]) -> dict[str, Any]:
    turn: dict[str, Any] = {"type": _role(str(fields.get("type", "")))}
    for name in _FIELDS:
        value = fields.get(name)
        if name == "additional_kwargs" and isinstance(value, Mapping):
            value = {key: item for key, item in value.items() if key not in _NOISE and item is not None}
        if name == "status" and value == "success":
            value = None
        if name == "content":
            turn[name] = _content(value)
        elif value not in (None, [], {}, ""):
            turn[name] = value
    return turn


def _role(kind: str) -> str:
    """`AIMessageChunk` and the like stand for the role they are chunks of."""
    if kind.endswith("MessageChunk"):
        return kind.removesuffix("MessageChunk").lower()
    return kind


def _content(value: Any) -> Any:
    """Text alone is a string, however it was cut into blocks; other blocks lose their running numbers and ids."""
    if not isinstance(value, list):
        return "" if value is None else value
    if value and all(_is_text(block) for block in value) and sum(map(len, map(_block_text, value))):
        plain = [block if isinstance(block, str) else block["text"] for block in value]
        if len(plain) == 1:
            return plain[0]
    return [_block(block) for block in value]


def _block(block: Any) -> Any:
    if not isinstance(block, Mapping):
        return block
    dropped = {"index", "annotations"} if block.get("type") == "text" else {"index"}
    known = str(block.get("id", ""))
    if known.startswith("lc_") or (_is_words(block) and not _is_call(block, "id")):
        dropped.add("id")  # made up for this run; a document's id says which document
    return {key: item for key, item in block.items() if key not in dropped}


def _blocks(content: Any) -> Iterable[Any]:
    return content if isinstance(content, list) else ()


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (
        isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str))


def _block_text(block: Any) -> str:
    return block if isinstance(block, str) else str(block["text"])


def _is_words(block: Any) -> bool:
    """Text, reasoning and tool traffic; anything else is an image, a sound or a document."""
    return _is_text(block) or (isinstance(block, Mapping) and str(block.get("type", "")) in {
        "reasoning", "thinking", "redacted_thinking", "tool_use", "tool_call", "tool_call_chunk", "tool_result",
        "function_call", "invalid_tool_call", "refusal", "non_standard", "server_tool_call", "server_tool_result",
    })


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(_block_text(block) for block in _blocks(content) if _is_text(block))


def _without_text(content: Any) -> Any:
    """What a turn holds beside its text: None for text alone, else its blocks with the text left out."""
    if isinstance(content, str):
        return None
    return [{**({} if isinstance(block, str) else block), "type": "text", "text": ""} if _is_text(block) else block
            for block in _blocks(content)]


def _lies_elsewhere(block: Any) -> bool:
    """Whether a block names its content by an address only; inline data URLs carry it."""
    if isinstance(block, str):
        return block.startswith(_REMOTE)
    if isinstance(block, Mapping):
        return any(_lies_elsewhere(item) for item in block.values())
    return isinstance(block, list) and any(_lies_elsewhere(item) for item in block)


def _numbering(turns: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Number the tool calls in the order they were made, whatever ids a provider gave them."""
    numbers: dict[str, str] = {}
    for turn in turns:
        named = [*turn.get("tool_calls", ()), *turn.get("invalid_tool_calls", ())]
        named += [block for block in _blocks(turn["content"]) if isinstance(block, Mapping)]
        for part in [*({"type": "tool_call", **call} for call in named), turn]:
            for key in _CALL_IDS:
                if isinstance(found := part.get(key), str) and _is_call(part, key):
                    numbers.setdefault(found, f"call {len(numbers) + 1}")
    return numbers


def _is_call(part: Mapping[str, Any], key: str) -> bool:
    return key != "id" or str(part.get("type", "")) in {
        "tool_call", "tool_use", "invalid_tool_call", "function_call", "server_tool_call", "tool_call_chunk"}


def _renumbered(value: Any, numbers: Mapping[str, str]) -> Any:
    """Replace tool-call ids by their numbers."""
    if isinstance(value, list):
        return [_renumbered(item, numbers) for item in value]
    if not isinstance(value, Mapping):
        return value
    renumbered: dict[str, Any] = {}
    for key, item in value.items():
        if key in _CALL_IDS and isinstance(item, str):
            renumbered[key] = numbers.get(item, item)
        elif key in {"args", "input", "arguments"}:  # what a tool is called with may hold an `id` of its own
            renumbered[key] = item
        else:
            renumbered[key] = _renumbered(item, numbers)
    return renumbered
