"""Finding the one JSON value in a model's reply: bare, fenced, in prose, after thinking text.

Strict by default: what is malformed, cut off or ambiguous is refused with the reason, never guessed. Every way
through is linear in the length of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from stepcache.tasks._json.decode import NotJson, compact, decode, skip_space
from stepcache.tasks._json.lenient import mended_at

__all__ = ["MAX_CHARS", "Found", "Refused", "extract"]

MAX_CHARS = 2_000_000  # a JSON reply longer than this is not looked at

_MAX_PIECES = 200

_THINK_OPEN = re.compile(r"\s*<(think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
_THINK_ANYWHERE = re.compile(r"<(?:think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</(?:think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([^\n`]*)$", re.MULTILINE)
_BRACKET = re.compile(r"[{\[]")
_LOOKS_LIKE_OBJECT = re.compile(r'\{\s*["}\'“”‘’]|\{\s*\Z')
_LOOKS_LIKE_ARRAY = re.compile(r'\[\s*(?:["{\[\]\-\d]|true\b|false\b|null\b|NaN\b|Infinity\b|\Z)')
_STRAY = re.compile(r'\s*(?:[}\]:]|,\s*"(?:[^"\\]|\\.)*+"\s*:)')
_CITATION = re.compile(r"\[\s*(?:\d+\s*(?:,\s*\d+\s*)*)?\]\Z")
_JSON_TAG = re.compile(r"[.{]*(?:application/)?(?:\w*json\w*)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """The value and where it stands: `text[start:end]` is its JSON, all the rest is around it.

    `repaired` says that the reply was not strict JSON and `text` is what it was mended to (else the reply itself).
    """

    value: Any
    start: int
    end: int
    text: str
    repaired: bool = False

    @property
    def json(self) -> str:
        return self.text[self.start:self.end]


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no one JSON value here, for this reason."""

    reason: str


def extract(text: str, *, repair: bool = False) -> Found | Refused:
    """Find the one JSON value of a reply, strictly; with `repair`, what is almost JSON is mended and read again.

    In this order: the whole reply; a fence tagged as JSON; an untagged fence; an object or array in the prose.
    Fences of other languages are passed over, and so is thinking text at the start of the reply. The same value
    twice is one value; two different ones are refused.
    """
    if len(text) > MAX_CHARS:
        return Refused(f"a reply of {len(text):,} characters is too long to look for JSON in")
    start = _after_thinking(text, 1 if text.startswith("\ufeff") else 0)
    if start is None:
        return Refused("the thinking text never ends, so there is no answer yet")
    start = skip_space(text, start)
    if start == len(text):
        return Refused("the reply is empty")
    try:
        value, end = decode(text, start)
        if skip_space(text, end) == len(text):
            return Found(value, start, end, text)
    except NotJson:
        pass  # the search below meets the same fault and says so, unless a fence or prose explains it
    try:
        return _search(text, start)
    except NotJson as error:
        return (_mended(text, start) if repair else None) or Refused(error.reason)


def _mended(text: str, start: int) -> Found | None:
    fence = next((fence for fence in _fences(text, start) if _JSON_TAG.match(fence.tag)), None)
    begin = _BRACKET.search(text, fence.inside if fence else start)
    mended = mended_at(text, begin.start()) if begin else None
    if begin is None or mended is None:
        return None
    found = extract(text[:begin.start()] + mended[0] + text[mended[1]:])
    return replace(found, repaired=True) if isinstance(found, Found) else None


def _after_thinking(text: str, start: int) -> int | None:
    opened = _THINK_OPEN.match(text, start)
    while opened:
        closed = _THINK_CLOSE.search(text, opened.end())
        if closed is None:
            return None
        start = closed.end()
        opened = _THINK_OPEN.match(text, start)
    if text[skip_space(text, start):][:1] in ("{", "[", '"', "`"):
        return start
    for closed in _THINK_CLOSE.finditer(text, start):  # chat templates often swallow the opening tag
        if _THINK_ANYWHERE.search(text, start, closed.start()):
            break  # not swallowed: both tags are part of the answer
        start = closed.end()
    return start


@dataclass(frozen=True, slots=True)
class _Fence:
    start: int  # of the opening line
    inside: int
    close: int
    end: int
    tag: str


def _fences(text: str, position: int) -> Iterator[_Fence]:
    while opened := _FENCE.search(text, position):
        mark, tag = opened.group(1), opened.group(2).strip()
        closing = re.compile(rf"^[ \t>]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*\r?$", re.MULTILINE)
        closed = closing.search(text, min(opened.end() + 1, len(text)))
        close, end = (closed.start(), closed.end()) if closed else (len(text), len(text))
        yield _Fence(opened.start(), min(opened.end() + 1, len(text)), close, end, tag)
        position = end
        if closed is None:
            return


def _search(text: str, start: int) -> Found:
    fences = tuple(islice(_fences(text, start), _MAX_PIECES + 1))
    if len(fences) > _MAX_PIECES:
        raise NotJson("there are too many code blocks to look through", start)
    tagged = [fence for fence in fences if _JSON_TAG.match(fence.tag)]
    for wanted in (tagged, [fence for fence in fences if not fence.tag]):
        found = [_fenced(text, fence) for fence in wanted if _holds_json(text, fence)]
        if found:
            return _only(found)
    return _only(list(islice(_in_prose(text, start, fences), _MAX_PIECES + 1)))


def _holds_json(text: str, fence: _Fence) -> bool:
    first = skip_space(text, fence.inside)
    return first < fence.close and (bool(_JSON_TAG.match(fence.tag)) or text[first] in "{[")


def _fenced(text: str, fence: _Fence) -> Found:
    start = skip_space(text, fence.inside)
    value, end = decode(text, start)
    rest = text[end:fence.close].strip()
    if rest.strip("`~"):
        raise NotJson("there is more than one JSON value in the fence", end)
    return Found(value, start, end, text)


def _in_prose(text: str, position: int, fences: tuple[_Fence, ...]) -> Iterator[Found]:
    blanked = iter(f for f in fences if f.tag and not _JSON_TAG.match(f.tag))
    fence = next(blanked, None)
    while bracket := _BRACKET.search(text, position):
        position = bracket.start()
        while fence is not None and fence.end <= position:
            fence = next(blanked, None)
        if fence is not None and fence.start <= position:
            position = fence.end
            continue
        is_object = bracket.group() == "{"
        if not (_LOOKS_LIKE_OBJECT if is_object else _LOOKS_LIKE_ARRAY).match(text, position):
            position += 1
            continue
        try:
            value, end = decode(text, position)
        except NotJson as error:
            if is_object or error.fatal:
                raise
            position = error.position  # "[1 above]" is prose
            continue
        if _STRAY.match(text, end):
            raise NotJson("not valid JSON: a bracket too many", end)
        yield Found(value, position, end, text)
        position = end


def _only(found: list[Found]) -> Found:
    if any(isinstance(one.value, dict) for one in found):
        found = [one for one in found if not _CITATION.match(one.json)]
    if len(found) > _MAX_PIECES:
        raise NotJson("there are too many JSON values in the reply", 0)
    if not found:
        raise NotJson("there is no JSON in the reply", 0)
    if len({compact(one.json) for one in found}) > 1:
        raise NotJson("there are several different JSON values in the reply", 0)
    return found[0]
