"""Cutting a reply into ordered steps, losslessly (paper, method 1). Pure text work; no task is known here.

Where a step begins, in order of strength: a thinking block and what follows it, a heading, a list marker, a paragraph
after an empty line. What never begins one: the inside of a fence, table, LaTeX block or thinking block; a marker
indented below an open item; a line that merely continues a paragraph. All that stands between two consecutive numbers
of one series belongs to the first of them. A list written inside a line ("Here is how: 1. Mix. 2. Fry.") is one step.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice, pairwise

from stepcache._data import Step
from stepcache._marker import Mark, read_mark

__all__ = ["marker", "segment"]

# No reply that a person reads has more. What follows stays in the last step, so hostile text is cheap.
_MAX_STEPS = 5_000
_MAX_LINES = 20_000

_SPACE = r"[^\S\r\n]"
_BLANK = re.compile(rf"(?:{_SPACE}*+(?:\r\n|\r|\n))++")
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)?")
_LEAD = re.compile(rf"{_SPACE}*+")
_FENCE = re.compile(r"(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
_UNFENCE = re.compile(r"^[^\S\n]*+(`{3,}|~{3,})[^\S\n]*$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[^\S\r\n]*+(?:`{3,}|~{3,})[^\r\n]*", re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})(?=\s|\Z)")
_RULE = re.compile(rf"([-*_=])(?:{_SPACE}*+\1){{2,}}{_SPACE}*+(?=[\r\n]|\Z)")
_ROW = r"[^\r\n]*+(?:\r\n|\r|\n|\Z)"
_TABLE = re.compile(
    rf"(?:\|{_ROW}(?:{_SPACE}*+\|{_ROW})+"
    rf"|[^|\r\n]++\|{_ROW}{_SPACE}*+:?+-++:?+{_SPACE}*+\|[-:| \t]*+(?:\r\n|\r|\n|\Z)(?:[^|\r\n]++\|{_ROW})*)"
)
_THINK = re.compile(r"<(think|thinking|thought|reasoning|reflection|scratchpad)>", re.IGNORECASE)
_UNTHINK = re.compile(r"</(?:think|thinking|thought|reasoning|reflection|scratchpad)>\s*", re.IGNORECASE)
_DISPLAY = re.compile(r"(?<!\\)\\([\[\]])")
_BEGIN = re.compile(r"\\begin\{([A-Za-z]+\*?)\}")
_END = re.compile(r"\\end\{([A-Za-z]+\*?)\}")
_BOLD_ONLY = re.compile(r"\*\*[^*]+\*\*[:：]?|__[^_]+__[:：]?")
_ANNOUNCES = (":", "：", ":**", "：**")
_JSON_START = re.compile(rf"(?:^|[:：]){_SPACE}*([{{\[])", re.MULTILINE)
_JSON = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


def segment(text: str) -> tuple[Step, ...]:
    """Cut `text` into ordered, non-empty steps, each with the separator that follows it.

    `stitch(segment(text)) == text` for every string; the empty text has no step. A reply that is one JSON value,
    alone or with a sentence or a fence around it, is one step. The time is linear in the length of the text.
    """
    if not text:
        return ()
    if _is_json_reply(text):
        return (Step(text),)
    starts = [0, *_starts(text), len(text)]
    return tuple(Step(text[start:stop]) for start, stop in pairwise(starts))


def marker(step: Step) -> str | None:
    """The list marker a step begins with ("1.", "Step 2:", "-"), or None for a paragraph or a plain heading."""
    mark = read_mark(step.text, _first_line(step.text))
    return None if mark is None else mark.text


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch of text that begins a step: at its marker, its plain heading (`level`), or a paragraph."""

    start: int
    mark: Mark | None = None
    level: int = 0
    walled: bool = False  # thinking: no series of numbers reaches across it


def _first_line(text: str) -> int:
    """Where the first line that is not empty begins."""
    blank = _BLANK.match(text)
    return blank.end() if blank else 0


def _starts(text: str) -> list[int]:
    """The offsets at which the second and later steps begin, in order."""
    units = _Scan(text).units()
    inside: set[int] = set()
    series: dict[tuple[str, int], int] = {}  # the unit that holds the latest number of each series
    for place, unit in enumerate(units):
        if unit.walled or unit.level:  # a heading ends every series but those of the headings above it
            series = {key: held for key, held in series.items()
                      if not unit.walled and 0 < key[1] < unit.level + (unit.mark is not None)}
        if (mark := unit.mark) is None or mark.value is None:
            continue
        key = (mark.style, mark.level)
        before = series.get(key)
        if before is not None and (earlier := units[before].mark) is not None and earlier.value == mark.value - 1:
            inside.update(range(before + 1, place))
        series[key] = place
    return [unit.start for place, unit in enumerate(units) if place and place not in inside]


class _Scan:
    """One pass over the lines of a text, remembering what is open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = text.replace("\r", "\n")  # the same places, so that ^ and $ know every line
        self.found: list[_Unit] = []
        self.item: Mark | None = None  # the list item that is open
        self.nested: set[str] = set()  # the styles of the lists inside it
        self.titled = False  # the open step is a title so far: lists and one paragraph after an empty line are its body
        self.awaits = False  # ... and that paragraph is still to come
        self.blank = True  # an empty line (or the beginning of the text) lies before this line
        self.colon = False  # the last line announced something
        self.cut = False  # the next line begins a step whatever it is
        self.last: dict[str, int] = {}  # the latest number of each style
        self.closers = {"\\]": text.rfind("\\]"), "$$": text.rfind("$$")}  # the last place of each
        self.closers |= {found[0]: found.start() for found in _END.finditer(text)}

    def units(self) -> list[_Unit]:
        text, at = self.text, self._unopened_thinking()
        for _ in range(_MAX_LINES):
            if at >= len(text) or len(self.found) >= _MAX_STEPS:
                break
            if blank := _BLANK.match(text, at):
                self.blank, at = True, blank.end()
            else:
                at = self._line(at)
        return self.found

    def _line(self, at: int) -> int:
        """Take in the line (or the whole block) at `at`; returns where the next one begins."""
        text = self.text
        first = _end(_LEAD, text, at)
        if text.startswith("<", first) and _THINK.match(text, first):
            close = _UNTHINK.search(text, first)
            return self._wall(at, close.end() if close else len(text))
        if (stop := self._block_end(first)) is not None:
            self._block(at, first)
            self.blank = self.colon = False
            return stop
        stop = self._line_end(at)
        mark = read_mark(text, at)
        line = text[first:stop].rstrip()
        if (heading := _HEADING.match(text, first)) and not self._deeper(first - at):
            self.last.clear()
            self._open(_Unit(at, mark, len(heading[1])), titled=True)
        elif rule := _RULE.match(text, first):
            self._rule(at, rule[1])
        elif mark is None:
            self._paragraph(at, first - at)
        elif self._holds(mark):
            self.awaits = False
            self.nested.add(mark.style)
        elif self._continues(mark):
            self._paragraph(at, first - at)
        else:
            rest = text[mark.end:stop].strip()
            title = not rest.strip("*_") or line.endswith(_ANNOUNCES) or any(map(_BOLD_ONLY.fullmatch, (line, rest)))
            self._open(_Unit(at, mark), titled=title)
        self.colon = line.endswith(_ANNOUNCES)
        self.blank = False
        return stop

    def _open(self, unit: _Unit, *, titled: bool = False) -> None:
        self.found.append(unit)
        self.item, self.titled, self.awaits, self.cut = unit.mark, titled, titled, False
        self.nested.clear()
        if unit.mark is not None and unit.mark.value is not None:
            self.last[unit.mark.style] = unit.mark.value

    def _wall(self, start: int, stop: int) -> int:
        """A thinking block is a step of its own, and so is whatever follows it."""
        self._open(_Unit(start, walled=True))
        self.blank, self.colon, self.cut = True, False, True
        self.last.clear()
        return stop

    def _unopened_thinking(self) -> int:
        """Where the reply proper begins if only the end of its thinking is in it (a chat template holds the start)."""
        close = _UNTHINK.search(self.text)
        if close is None or _THINK.search(self.text, 0, close.start()):
            return 0
        if "\n" not in self.flat[close.start():close.end()]:  # the tag is spoken of, not used
            return 0
        return self._wall(0, close.end())

    def _rule(self, at: int, sign: str) -> None:
        """A line of dashes closes the step before it; `===` under a line makes that line a title."""
        if not self.found:
            self._open(_Unit(at))
        elif sign == "=" and not self.blank:
            self.titled = self.awaits = True
        else:
            self.cut = True

    def _paragraph(self, at: int, indent: int) -> None:
        if self.cut or not self.found:
            self._open(_Unit(at))
        elif not self.blank or self._deeper(indent):
            self.awaits = False
        elif self.awaits:
            self.titled = self.awaits = False
        else:
            self._open(_Unit(at))

    def _block(self, at: int, first: int) -> None:
        """A fence, table or display formula belongs to the item or the announcement before it."""
        belongs = not self.blank or self.item or self.colon or self.titled or self._deeper(first - at)
        if self.cut or not self.found or not belongs:
            self._open(_Unit(at))
        self.awaits = False

    def _deeper(self, indent: int) -> bool:
        """Whether a line this far to the right is the inside of what is open (for a paragraph, indented code)."""
        if not self.found or self.cut:
            return False
        return indent >= (4 if self.item is None else self.item.indent + 2)

    def _holds(self, mark: Mark) -> bool:
        """Whether the open item takes in a line that begins with `mark`."""
        item = self.item
        if item is None or self.cut:
            return False
        if mark.indent >= item.indent + 2:
            follows = mark.style == item.style and item.value is not None and mark.value == item.value + 1
            return not follows or mark.style in self.nested or mark.indent >= item.indent + 4
        return mark.rank < item.rank and (not self.blank or self.titled or item.rank > 1)

    def _continues(self, mark: Mark) -> bool:
        """Whether a line in the middle of a paragraph only happens to begin with a number ("42. So ...")."""
        if self.blank or self.cut or mark.value is None or mark.value <= 1:
            return False
        last = self.last.get(mark.style)
        return last is None or not -1 <= mark.value - last <= 3

    def _block_end(self, first: int) -> int | None:
        """Where the fence, table or display formula that begins at `first` ends; None if none begins there."""
        text = self.text
        if text.startswith(("```", "~~~"), first) and (fence := _FENCE.match(self.flat, first)):
            sign = fence[1]
            for close in _UNFENCE.finditer(self.flat, _end(_LINE, text, first)):
                if close[1].startswith(sign):
                    return _end(_LINE, text, close.end())
            return len(text)
        if text.startswith(("\\[", "$$", "\\begin{"), first):
            return self._line_end(first)
        table = _TABLE.match(text, first)
        return None if table is None else table.end()

    def _line_end(self, at: int) -> int:
        """Where the line at `at` ends, together with every display formula it opens."""
        stop = _end(_LINE, self.text, at)
        for _ in range(_MAX_LINES):
            if (after := self._formula_end(at, stop)) is None:
                break
            at, stop = after, _end(_LINE, self.text, after)
        return stop

    def _formula_end(self, at: int, stop: int) -> int | None:
        """Where the formula is closed that text[at:stop] leaves open; None if there is none or it never closes."""
        line = self.text[at:stop]
        close = None
        if "\\[" in line and _DISPLAY.findall(line)[-1:] == ["["]:
            close = "\\]"
        elif "$$" in line and line.count("$$") % 2 and (line.strip().startswith("$$") or line.strip().endswith("$$")):
            close = "$$"
        elif "\\begin{" in line:
            ended = {found[0]: found.start() for found in _END.finditer(line)}
            ends = ((found.start(), f"\\end{{{found[1]}}}") for found in _BEGIN.finditer(line))
            close = next((end for begin, end in ends
                          if ended.get(end, -1) < begin and self.closers.get(end, -1) >= stop), None)
        if close is None or self.closers[close] < stop:
            return None
        return self.text.index(close, stop) + len(close)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a pattern that always matches ends."""
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _is_json_reply(text: str) -> bool:
    """Whether the reply is one JSON object or array, with at most a sentence before and after it."""
    if "}" not in text and "]" not in text:
        return False
    begin = _UNTHINK.search(text) if "</" in text else None
    for start in islice(_JSON_START.finditer(text, begin.end() if begin else 0), 3):
        try:
            _, stop = _JSON.raw_decode(text, start.start(1))
        except (ValueError, RecursionError):
            continue
        if text[stop:_end(_LINE, text, stop)].strip():
            continue  # "[1] First source" only begins like a value
        return all(_is_prose(part) for part in (text[begin.end() if begin else 0:start.start(1)], text[stop:]))
    return False


def _is_prose(text: str) -> bool:
    """Whether a text is one paragraph at most, the edge of a fence aside."""
    units = _Scan(_FENCE_LINE.sub("", text)).units()
    return len(units) <= 1 and all(unit.mark is None and not unit.level and not unit.walled for unit in units)
