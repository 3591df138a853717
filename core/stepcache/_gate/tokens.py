"""Cut a text into pieces: words, numbers, identifiers, addresses, quoted words, signs. No language is known here."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["Piece", "pieces", "quotations"]


class Piece(NamedTuple):
    """One piece of a text as it stands.

    `kind` is word, number, identifier, code, address, date, time or symbol; `start` says that a clause begins here,
    `quoted` that it stands between quotation marks, `glued` that no space separates it from the piece before;
    `after` is the harmless punctuation that follows.
    """

    kind: str
    text: str
    start: bool = False
    quoted: bool = False
    glued: bool = False
    after: str = ""


# Repetitions inside one piece are bounded or can't overlap, so that a hostile text costs linear time.
_PIECE: Final = re.compile(
    r"""
    (?P<fence>```[^\n`]*\n(?:[^`]|`(?!``))*(?:```|\Z))
  | (?P<code>`[^`\n]{1,200}`)
  | (?P<address>(?:https?|ftp)://[^\s<>"'`]+|www\.[^\s<>"'`]+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})
  | (?P<date>\d{4}-\d{2}-\d{2}(?!\w)|\d{1,2}(?P<sign>[./-])\d{1,2}(?P=sign)(?:\d{4}|\d{2})(?!\w))
  | (?P<time>\d{1,2}:\d{2}(?::\d{2})?(?!\w))
  | (?P<path>(?<![\w)\]}])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.\-]+){1,40}[/\\]?)
  | (?P<number>(?<!\w)[-+]?\d+(?:[.,]\d+)*)
  | (?P<word>\w+(?:['.]\w+)*(?:\(\)|(?:\+\+|\#)(?!\w))?)
  | (?P<space>\s+)
  | (?P<operator>==+|!=|<=|>=|->|=>|\*\*|&&|\|\||//|\+\+|--+|::|:=|<<|>>)
  | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS: Final = {"path": "identifier", "operator": "symbol", "fence": "code"}
_HARMLESS: Final = frozenset(".,;:!?\"'¿¡")
_CLAUSE: Final = frozenset(".!?:;")
_IDENTIFIER: Final = re.compile(r"_|\d|\.|\(\)|[+#]$|[a-z][A-Z]")
_BULLET: Final = re.compile(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(?=\S)")
_ABBREVIATION: Final = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,}(?!\w)")
_DOUBLE: Final = re.compile(r'(?<!\d)"([^"]{1,8000})"')
_SINGLE: Final = re.compile(r"(?<![\w'])'(?![\s'])([^'\n]{0,200}[^'\s])'(?!\w)")


def quotations(text: str) -> list[tuple[int, int]]:
    """The ranges between matching quotation marks, in order, none inside another."""
    found = [match.span(1) for match in _DOUBLE.finditer(text)]
    outside = _DOUBLE.sub(lambda match: " " * len(match.group()), text)
    return sorted(found + [match.span(1) for match in _SINGLE.finditer(outside)])


def pieces(text: str) -> list[Piece]:
    """The pieces of a unified text in order; harmless punctuation only leaves its mark on its neighbours."""
    text = _ABBREVIATION.sub(lambda match: match.group().replace(".", ""), text)
    ranges = quotations(text)
    bullets = {match.start(): match.end() for match in _BULLET.finditer(text)}
    found: list[Piece] = []
    at, fresh, glued, upcoming = 0, True, False, 0
    while at < len(text):
        while upcoming < len(ranges) and ranges[upcoming][1] <= at:
            upcoming += 1
        if at in bullets:
            at, fresh, glued = bullets[at], True, False
            continue
        match = _PIECE.match(text, at)
        assert match is not None and match.lastgroup is not None  # the last alternative takes any character
        kind, word, here = _KINDS.get(match.lastgroup, match.lastgroup), match.group(), at
        at = match.end()
        if kind == "space":
            fresh, glued = fresh or "\n" in word, False
            continue
        if word in _HARMLESS and not _means_something(word, found, text[at : at + 1], glued):
            if found:
                found[-1] = found[-1]._replace(after=found[-1].after + word)
            fresh, glued = fresh or word in _CLAUSE, False
            continue
        quoted = upcoming < len(ranges) and ranges[upcoming][0] <= here
        if kind == "word" and _IDENTIFIER.search(word):
            kind = "identifier"
        elif kind == "code":
            word = _trim_code(word)
        elif kind == "address":
            word = word.rstrip(".,;:!?)")
        found.append(Piece(kind, word, fresh, quoted, glued))
        fresh, glued = False, True
    return found


def _means_something(sign: str, found: list[Piece], follows: str, glued: bool) -> bool:
    """Whether a sign that is mostly punctuation says something here: 5!, 3:2, 5'."""
    if not found or not glued or found[-1].kind != "number":
        return False
    if sign == ":":
        return follows.isdigit()
    return sign == "!" or (sign in "\"'" and not found[-1].quoted)


def _trim_code(text: str) -> str:
    """The content of a code span or fence, its marks and trailing blanks removed, its indentation kept."""
    lines = text.strip("`").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n") if len(lines) > 1 else lines[0].strip()
