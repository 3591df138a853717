"""Changing one member of JSON text and leaving every other byte as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stepcache.tasks._json.spans import Piece, pieces, tokens

__all__ = ["drop_members", "put_member", "replace_span"]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How an object is written: `colon` and `comma` with the white space around them, and its indentation."""

    colon: str
    comma: str
    newline: str  # "" when all stands on one line, else the line break
    margin: str  # indentation of the members
    unit: str  # what one level adds


def replace_span(text: str, span: tuple[int, int], new: str) -> str:
    """Put `new` in the place of a value, laid out as its surroundings are."""
    start, end = span
    line_start = text.rfind("\n", 0, start) + 1
    margin = re.match(r"[ \t]*", text[line_start:start])
    multiline = bool(re.match(r'[ \t]*(?:"|\S*\Z)', text[line_start:start])) and line_start > 0
    unit = _unit_near(text, start)
    indent = margin.group() if margin else ""
    newline = ("\r\n" if "\r\n" in text else "\n") if multiline else ""
    return text[:start] + _laid_out(new, newline, indent, unit, _colon_near(text)) + text[end:]


def drop_members(text: str, start: int, keys: Collection[str | int]) -> str:
    """Remove members of the object at `start`, each with one comma and the white space that set it apart."""
    members, end = pieces(text, start)
    kept = [i for i, member in enumerate(members) if member.key not in keys]
    if len(kept) == len(members):
        return text
    if not kept:
        return text[:start + 1] + text[end - 1:]
    cuts = [(members[0].start, members[kept[0]].start)] if kept[0] > 0 else []
    cuts += [
        (members[i - 1].value_end, members[i].value_end)
        for i in range(kept[0] + 1, len(members))
        if members[i].key in keys
    ]
    out, position = [], 0
    for cut_start, cut_end in cuts:
        out.append(text[position:cut_start])
        position = cut_end
    return "".join(out) + text[position:]


def put_member(text: str, start: int, key: str, value: str, order: Sequence[str]) -> str:
    """Set a member of the object at `start` to the JSON text `value`.

    A member that is there keeps its place. A new one stands after the nearest present key that comes before it in
    `order` (before the first that comes after it, else last) and is laid out like its neighbours.
    """
    members, end = pieces(text, start)
    there = next((member for member in members if member.key == key), None)
    if there is not None:
        return replace_span(text, (there.value_start, there.value_end), value)
    layout = _layout(text, start, members, end)
    written = json.dumps(key, ensure_ascii=False) + layout.colon
    written += _laid_out(value, layout.newline, layout.margin, layout.unit, layout.colon)
    if not members:
        return text[:start + 1] + written + text[end - 1:]
    at = _place(key, members, order)
    if at == 0:
        return text[:members[0].start] + written + layout.comma + text[members[0].start:]
    behind = members[at - 1].value_end
    return text[:behind] + layout.comma + written + text[behind:]


def _place(key: str, members: Sequence[Piece], order: Sequence[str]) -> int:
    rank = {name: i for i, name in enumerate(order)}
    if key not in rank:
        return len(members)
    before = [(rank[m.key], i) for i, m in enumerate(members) if m.key in rank and rank[m.key] < rank[key]]
    if before:
        return max(before)[1] + 1
    after = [(rank[m.key], i) for i, m in enumerate(members) if m.key in rank]
    return min(after)[1] if after else len(members)


def _layout(text: str, start: int, members: Sequence[Piece], end: int) -> _Layout:
    if not members:
        return _Layout(": ", ", ", "", "", "")
    first = members[0]
    key_end = first.start + len(_token_at(text, first.start))
    colon = text[key_end:first.value_start]
    lead = text[start + 1:first.start]
    if len(members) > 1:
        comma = text[first.value_end:members[1].start]
    elif "\n" in lead:
        comma = "," + lead
    else:
        comma = ", " if colon.endswith(" ") else ","
    newline = "" if "\n" not in comma else "\r\n" if "\r\n" in comma else "\n"
    margin = comma.rpartition("\n")[2] if newline else ""
    outer = re.search(r"[ \t]*\Z", text[:end - 1])
    unit = margin[len(outer.group()):] if newline and outer else ""
    return _Layout(colon, comma, newline, margin, unit or "  ")


def _token_at(text: str, start: int) -> str:
    return next(tokens(text, start)).group()


def _unit_near(text: str, start: int) -> str:
    found = re.search(r"[{\[]\r?\n([ \t]+)", text)
    return found.group(1) if found else "  "


def _colon_near(text: str) -> str:
    found = re.search(r'"[ \t]*:[ \t]*', text)
    return found.group()[1:] if found else ": "


def _laid_out(value: str, newline: str, margin: str, unit: str, colon: str) -> str:
    """Write JSON text in the given layout; the tokens themselves (digits, escapes) stay as they are."""
    if value[:1] not in "{[":
        return value
    found = [token.group() for token in tokens(value)]
    out: list[str] = []
    depth = 0
    comma = "," if colon == ":" and not newline else ", "
    for i, token in enumerate(found):
        if token in "{[":
            depth += 1
            out.append(token)
            if newline and found[i + 1] not in "}]":
                out.append(newline + margin + unit * depth)
        elif token in "}]":
            depth -= 1
            if newline and found[i - 1] not in "{[":
                out.append(newline + margin + unit * depth)
            out.append(token)
        elif token == ",":
            out.append("," + newline + margin + unit * depth if newline else comma)
        else:
            out.append(colon if token == ":" else token)
    return "".join(out)
