"""Pieces of HTML that displays and reports are made of. Text in, HTML out; every text is escaped.

What a prompt or reply says never becomes markup: it is escaped, cut, and put into `bdi` or an isolating `pre`, so that
marks of writing direction end where the text ends. Kinds and outcomes differ in word, sign and line, not in colour
alone; the colours are from the Okabe-Ito palette, used for lines and tints only, so that text keeps the colour of the
page, light or dark. Styles are inline: notebooks drop style sheets when a page is not trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from html import escape

__all__ = [
    "OUTCOMES", "bars", "box", "changed", "muted", "pill", "said", "shown", "stacked", "step", "tiles", "titled",
]

_MAX_CHARS = 4_000  # of one text: a page is for people
_KINDS = {  # kind: (sign, colour, line at its side)
    "kept": ("=", "#009E73", "solid"),
    "rewritten": ("~", "#56B4E9", "dashed"),
    "patched": ("+", "#E69F00", "double"),
    "failing": ("✗", "#D55E00", "dotted"),
    "new": ("•", "#999999", "solid"),
    "": ("", "#999999", "solid"),
}
OUTCOMES = {"reuse": "#009E73", "patch": "#56B4E9", "skip": "#E69F00", "miss": "#999999"}
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_MAX_COMPARED = 60_000  # pairs of words: some milliseconds
_WRAP = "overflow-wrap:anywhere;min-width:0"
_BOX = (f"font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:980px;color:inherit;{_WRAP};"
        "text-align:left")
_LINE = "1px solid rgba(128,128,128,.4)"
_PRE = (f"margin:0;padding:0;border:0;white-space:pre-wrap;{_WRAP};unicode-bidi:isolate;background:transparent;"
        "color:inherit;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:12px")


def shown(text: str, limit: int = _MAX_CHARS) -> str:
    """The text escaped, and cut where it is longer than `limit` characters."""
    cut = text if len(text) <= limit else f"{text[:limit]} […{len(text) - limit:,} more characters]"
    return escape(cut.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd"))


def said(text: str, limit: int = 400) -> str:
    """Text that may quote a prompt, inside a sentence of ours."""
    return f"<bdi>{_isolated(shown(' '.join(text[: 4 * limit].split()), limit))}</bdi>"


def _isolated(text: str) -> str:
    """The text with its isolates of direction closed, and none of another's.

    A browser makes of `bdi` a pair of such marks around the text; one more or less inside would end or outlive it.
    """
    parts, depth = [], 0
    for char in text:
        if char in "\u2066\u2067\u2068":
            depth += 1
        elif char == "\u2069":
            if not depth:
                continue
            depth -= 1
        parts.append(char)
    return "".join(parts) + "\u2069" * depth


def muted(html: str) -> str:
    """A line of lesser weight."""
    return f"<div style='opacity:.8;font-size:12px;{_WRAP}'>{html}</div>"


def titled(title: str, html: str) -> str:
    """A part of a display, under its title."""
    return (f"<div style='margin-top:10px;{_WRAP}'><div style='font-weight:600;margin-bottom:2px'>{shown(title)}</div>"
            f"{html}</div>")


def pill(word: str, colour: str) -> str:
    """A word in a frame."""
    return (f"<span style='display:inline-block;padding:0 8px;margin-right:6px;border-radius:9px;font-weight:600;"
            f"border:2px solid {colour};background:{colour}22'>{shown(word)}</span>")


def box(html: str) -> str:
    """The outermost element of a display."""
    return f"<div class='stepcache' style='{_BOX}'>{html}</div>"


def changed(old: str, new: str) -> str:
    """The new text, with what the old one does not have underlined; plain where comparing would take long."""
    was, now = _WORD.findall(old), _WORD.findall(new)
    if len(was) * len(now) > _MAX_COMPARED:
        return shown(new)
    parts = []
    for what, _, _, start, stop in SequenceMatcher(a=was, b=now, autojunk=False).get_opcodes():
        text = shown("".join(now[start:stop]))
        parts.append(text if what == "equal" or not text.strip() else f"<u><b>{text}</b></u>")
    return "".join(parts)


def step(body: str, kind: str, note: str = "") -> str:
    """One step (as HTML) with its kind in sign and word at its side, and what was found about it below."""
    sign, colour, line = _KINDS[kind]
    below = f"<div style='font-size:11px;opacity:.85;{_WRAP}'>{note}</div>" if note else ""
    return (f"<div style='display:flex;gap:8px;margin:3px 0;padding:3px 8px;border-left:5px {line} {colour};"
            f"background:{colour}1f;{_WRAP}'><div style='flex:1 1 auto;{_WRAP}'><pre dir='auto' style='{_PRE}'>"
            f"{body}</pre>{below}</div><div style='flex:none;font-size:11px;opacity:.85;white-space:nowrap'>"
            f"{sign} {kind}</div></div>")


def tiles(facts: Iterable[tuple[str, str]]) -> str:
    """A row of figures with their names below."""
    cells = "".join(
        f"<div style='flex:1 1 90px;padding:4px 10px;border:{_LINE};border-radius:6px;{_WRAP}'>"
        f"<div style='font-size:18px;font-weight:600;font-variant-numeric:tabular-nums'>{shown(figure)}</div>"
        f"<div style='font-size:11px;opacity:.8'>{shown(name)}</div></div>" for name, figure in facts)
    return f"<div style='display:flex;flex-wrap:wrap;gap:8px;margin-top:6px'>{cells}</div>"


def stacked(counts: Sequence[tuple[str, int]]) -> str:
    """One bar cut by outcome, with a legend that names every part and its share."""
    whole = sum(count for _, count in counts) or 1
    parts = "".join(
        f"<div title='{shown(name)}: {count}' style='flex:{count} 0 0;min-width:0;background:{_hatched(name)}'></div>"
        for name, count in counts if count)
    legend = "".join(
        f"<span style='white-space:nowrap;margin-right:14px'><span style='display:inline-block;width:12px;height:12px;"
        f"vertical-align:-1px;background:{_hatched(name)}'></span> {shown(name)} {count:,} ({count / whole:.0%})</span>"
        for name, count in counts)
    return (f"<div style='display:flex;height:16px;border:{_LINE};border-radius:4px;overflow:hidden'>{parts}</div>"
            f"<div style='font-size:12px;margin-top:2px;{_WRAP}'>{legend}</div>")


def _hatched(outcome: str) -> str:
    """A colour with a pattern of its own, for those who don't see the colour."""
    colour = OUTCOMES.get(outcome, "#999999")
    angle, width = {"reuse": (0, 0), "patch": (45, 3), "skip": (135, 3)}.get(outcome, (90, 2))
    if not width:
        return colour
    return (f"repeating-linear-gradient({angle}deg,{colour} 0 {2 * width}px,{colour}77 {2 * width}px {3 * width}px)")


def bars(rows: Sequence[tuple[str, float, str]], colour: str = "#56B4E9") -> str:
    """A horizontal bar for each name, in proportion to its figure, with what the figure says beside it."""
    largest = max((figure for _, figure, _ in rows), default=0) or 1
    lines = "".join(
        f"<div style='display:flex;flex-wrap:wrap;gap:0 8px;align-items:center;margin:2px 0'>"
        f"<div style='flex:0 1 230px;{_WRAP}'>{said(name, 160)}</div>"
        f"<div style='flex:1 1 90px;min-width:0'><div style='width:{max(figure, 0) / largest:.1%};min-width:2px;"
        f"height:10px;background:{colour};border-radius:2px'></div></div>"
        f"<div style='flex:0 1 auto;font-size:12px;font-variant-numeric:tabular-nums;{_WRAP}'>{shown(label)}"
        "</div></div>"
        for name, figure, label in rows)
    return f"<div style='{_WRAP}'>{lines}</div>"
