"""Mending what is almost JSON: trailing commas, comments, single and curly quotes, Python's words, raw line breaks.

Used only where a task is told to (`repair=True`); the result is read again strictly. What is cut off, ambiguous or not
a value (NaN) is never mended, and nothing is added but quotes and escapes.
"""

from __future__ import annotations

import json
import re

__all__ = ["mended_at"]

_CLOSING = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "”": "”"}
_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+)
      | (?P<comment>/\*[\s\S]*?\*/ | //[^\n]* | \#[^\n]*)
      | (?P<mark>[{}\[\]:,])
      | (?P<quote>["'“„‘”])
      | (?P<word>[^\s{}\[\]:,"'“„‘”/#]+)""",
    re.VERBOSE,
)
_STOP = {quote: re.compile(rf"[\\{closing}\x00-\x1f]") for quote, closing in _CLOSING.items()}
_WORDS = {"True": "true", "False": "false", "None": "null"}
_CONTROL = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def mended_at(text: str, position: int) -> tuple[str, int] | None:
    """Mend the object or array that begins at `position`; return its JSON text and where it ended, or None.

    Linear in its length. Layout and the text of numbers stay.
    """
    out: list[str] = []
    depth = 0
    comma = -1  # where in `out` a comma stands that nothing has followed yet
    while (token := _TOKEN.match(text, position)) is not None:
        position = token.end()
        part = token.group()
        if token.lastgroup == "comment":
            continue
        if token.lastgroup == "space":
            out.append(part)
            continue
        if token.lastgroup == "quote":
            read = _string(text, token.start())
            if read is None:
                return None
            part, position = read
        elif token.lastgroup == "word":
            part = _WORDS.get(part, part)
        elif part in "}]" and comma >= 0:
            out[comma] = ""
        comma = -1
        out.append(part)
        if part == ",":
            comma = len(out) - 1
        elif part in ("{", "["):
            depth += 1
        elif part in ("}", "]"):
            depth -= 1
            if depth == 0:
                return "".join(out), position
    return None


def _string(text: str, start: int) -> tuple[str, int] | None:
    stop, closing = _STOP[text[start]], _CLOSING[text[start]]
    out = ['"']
    position = start + 1
    while (found := stop.search(text, position)) is not None:
        out.append(text[position:found.start()].replace('"', '\\"'))
        mark, position = found.group(), found.end()
        if mark == closing:
            out.append('"')
            return "".join(out), position
        if mark == "\\":
            escaped = text[position:position + 1]
            out.append(escaped if escaped in ("'", "‘", "’", "“", "”") else "\\" + escaped)
            position += 1
        else:
            out.append(_CONTROL.get(mark) or json.dumps(mark)[1:-1])
    return None
