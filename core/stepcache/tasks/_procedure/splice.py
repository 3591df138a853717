"""Putting a model's new steps under the old markers. Bytes outside the steps' words stay."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stepcache._data import Step
from stepcache._marker import Mark, read_mark
from stepcache.segment import segment

__all__ = ["cut", "placed"]


def placed(old: Sequence[Step], written: Sequence[Step]) -> tuple[Step, ...] | None:
    """One new step for each old one, with the old marker and separator; None if the reply has not all of them.

    The reply may have more than was asked for (steps between or after those asked, a line before or after): only the
    steps asked for are taken. Numbers decide; a list of as many steps that is numbered otherwise is taken in its order,
    and so are bare lines.
    """
    marks = [_mark(step) for step in old]
    bodies = _bodies(marks, written)
    if bodies is None:
        return None
    return tuple(_step(step, mark, body) for step, mark, body in zip(old, marks, bodies, strict=True))


def cut(reply: str) -> tuple[Step, ...]:
    """Cut a reply at its numbered lines, whatever the numbers: a few steps asked for may be the first and the fifth."""
    lines = reply.splitlines(keepends=True)
    marks = [read_mark(line, 0) for line in lines]
    numbered = [mark for mark in marks if mark is not None and mark.value is not None]
    if not numbered:
        return segment(reply)
    depth = min(mark.indent for mark in numbered)
    pieces: list[str] = [""]
    blank = False
    for line, mark in zip(lines, marks, strict=True):
        opens = mark is not None and mark.value is not None and mark.indent == depth
        if opens or (blank and mark is None and not line[:1].isspace()):  # a paragraph after the list is none of it
            pieces.append(line)
        else:
            pieces[-1] += line
        blank = not line.strip()
    return tuple(Step(piece) for piece in pieces if piece)


def _bodies(marks: Sequence[Mark | None], written: Sequence[Step]) -> list[str] | None:
    """The words of the new steps, in the order of the old ones."""
    read = [(_mark(step), step.text.strip()) for step in written if step.text.strip()]
    items = [(mark, text) for mark, text in read if mark is not None]
    if not items:
        return _bare(marks, [text for _, text in read])
    wanted = [mark for mark in marks if mark is not None]
    if all(mark.value is None for mark in wanted):
        chosen = items if len(items) == len(wanted) else None
    else:
        numbers = [mark.value for mark in wanted]
        by_number = _by_number(items, numbers)
        if by_number is not None and not (numbers[0] == 1 and _may_be_whole(items, numbers)):
            chosen = by_number
        elif len(items) == len(wanted) and _counts_up(items):
            chosen = items
        else:
            chosen = None
    if chosen is None:
        return None
    prose = iter([text for mark, text in read if mark is None])
    bodies: list[str] = []
    taken = iter(chosen)
    for mark in marks:
        if mark is None:
            if (text := next(prose, None)) is None:
                return None
            bodies.append(text)
        else:
            new, text = next(taken)
            bodies.append(_after(new, text))
    return bodies


def _by_number(
    items: Sequence[tuple[Mark, str]], wanted: Sequence[int | None]
) -> list[tuple[Mark, str]] | None:
    """The items with the numbers wanted, where the first one wanted comes first and each is there once, in order."""
    if items[0][0].value != wanted[0]:
        return None
    chosen = [item for item in items if item[0].value in wanted]
    return chosen if [mark.value for mark, _ in chosen] == list(wanted) else None


def _may_be_whole(items: Sequence[tuple[Mark, str]], wanted: Sequence[int | None]) -> bool:
    """Whether the items may be a whole other answer, which begins with 1 too: more than a few steps between."""
    between = len(items) - len(wanted)
    return between > 0 and (between >= len(wanted) or items[-1][0].value != wanted[-1])


def _counts_up(items: Sequence[tuple[Mark, str]]) -> bool:
    values = [mark.value or 0 for mark, _ in items]
    return values == list(range(values[0], values[0] + len(values)))


def _bare(marks: Sequence[Mark | None], texts: Sequence[str]) -> list[str] | None:
    """Lines without markers, as many as were asked for."""
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    if len(marks) == 1 and len(texts) == 1:
        return [texts[0]]
    return lines if len(lines) == len(marks) else None


def _mark(step: Step) -> Mark | None:
    return read_mark(step.text, len(step.text) - len(step.text.lstrip("\r\n")))


def _after(mark: Mark, text: str) -> str:
    """The words after a marker; emphasis that opened before it or around it goes with it."""
    at = text.find(mark.text)
    before, body = text[:at], text[at + len(mark.text):]
    opened = re.search(r"[*_]{1,3}$", before)
    if opened is not None:
        sign = opened.group()
        closed = body.lstrip().startswith(sign)
        body = body.lstrip()[len(sign):] if closed else body.replace(sign, "", 1)
    return body.strip()


def _step(old: Step, mark: Mark | None, body: str) -> Step:
    """The new words between the old marker and the old separator."""
    trail = old.text[len(old.text.rstrip()):]
    if mark is None:
        return Step(body + trail)
    head, rest = old.text[:mark.end], old.text[mark.end:]
    opened = re.search(r"[*_]{1,3}$", old.text[:mark.start])
    if opened is not None:
        sign = opened.group()
        if rest.lstrip().startswith(sign):  # "**Step 1:** words": the emphasis is the marker's own
            head = old.text[:mark.end] + sign
        else:  # "**1. Title** words": the new words come without it
            head = old.text[:opened.start()] + old.text[mark.start:mark.end]
        rest = rest.lstrip().removeprefix(sign)
    gap = re.match(r"[^\S\r\n]*", rest)
    return Step(head + ((gap.group() if gap else "") or " ") + body + trail)
