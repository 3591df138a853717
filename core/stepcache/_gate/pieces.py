"""Cut a text into pieces: words, numbers, identifiers, addresses, quoted words, signs. No language is known here."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stepcache._gate.tables import commands

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


# Repetitions inside one piece are bounded or can't overlap, so that a hostile text costs linear time. The gap before a
# piece takes a bullet with it.
_GAP: Final = r"""
    (?P<gap>(?:\s*\n|\A)[ \t]*[-*•][ \t]+(?=\S)|\s*)(?:
"""
_MAIL: Final = r"""
    (?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}) |
"""
_REST: Final = r"""
    (?P<address>(?:https?|ftp)://[^\s<>"'`]+|www\.[^\s<>"'`]+)
  | (?P<path>(?<![\w)\]}])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.\-]+){1,40}[/\\]?)
  | (?P<word>[^\W\d]\w*(?:['.]\w+)*(?:\(\)|(?:\+\+|\#)(?!\w))?)
  | (?P<date>\d{4}-\d{2}-\d{2}(?!\w)|\d{1,2}(?P<sign>[./-])\d{1,2}(?P=sign)(?:\d{4}|\d{2})(?!\w))
  | (?P<time>\d{1,2}:\d{2}(?::\d{2})?(?!\w))
  | (?P<number>(?<!\w)[-+]?(?:\d+(?:[.,]\d+)*|(?<![.\])}])\.\d+))
  | (?P<tail>\w+)
  | (?P<fence>```[^\n`]*\n(?:[^`]|`(?!``))*(?:```|\Z))
  | (?P<code>`[^`\n]{1,200}`)
  | (?P<operator>(?<!\S)(?:\.\.|[.-]{0,9}(?:\.-|-\.)[.-]{0,9})(?!\S)
    |==+|!=|<=|>=|->|=>|\*\*|&&|\|\||//|\+\+|--+|::|:=|<<|>>)
  | (?P<symbol>\S))
"""
_PIECE: Final = re.compile(_GAP + _REST, re.VERBOSE | re.DOTALL)
_PIECE_WITH_MAIL: Final = re.compile(_GAP + _MAIL + _REST, re.VERBOSE | re.DOTALL)
_KINDS: Final = {
    "path": "identifier", "operator": "symbol", "fence": "code", "mail": "address", "tail": "word",
}  # fmt: skip
_HARMLESS: Final = frozenset(".,;:!?\"'¿¡")
_DASHES: Final = frozenset({"-", "--"})
_CLAUSE: Final = frozenset(".!?:;")
_COMMAND_WORDS: Final = 6
_CALL_PIECES: Final = 60
_PARTS: Final = 100
_IDENTIFIER: Final = re.compile(r"_|\d|\.|\(\)|[+#]$|[a-z][A-Z]")
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
    if "." in text:
        text = _ABBREVIATION.sub(lambda match: match.group().replace(".", ""), text)
    ranges = quotations(text) if '"' in text or "'" in text else []
    found: list[Piece] = []
    fresh, glued, upcoming = True, False, 0
    for match in (_PIECE_WITH_MAIL if "@" in text else _PIECE).finditer(text):
        kind = match.lastgroup or "symbol"
        gap, word = match.group("gap", kind)
        if gap:
            glued = False
            if gap != " ":
                fresh = fresh or gap.count("\n") > 1 or not gap.isspace()
        if (
            kind == "symbol"
            and word in _HARMLESS
            and not _means_something(word, found, text[match.end() : match.end() + 1], glued)
        ):
            if found:
                lone = " " if word == "'" and not glued else ""  # a quote begins: titles 'A', not the titles' colour
                found[-1] = found[-1]._replace(after=found[-1].after + lone + word)
            fresh, glued = fresh or word in _CLAUSE, False
            continue
        quoted = False
        if ranges:
            start = match.start(kind)
            while upcoming < len(ranges) and ranges[upcoming][1] <= start:
                upcoming += 1
            quoted = upcoming < len(ranges) and ranges[upcoming][0] <= start
        if kind == "word":
            flag = glued and found and found[-1].text in _DASHES and not found[-1].glued  # ls -A is not ls -a
            if flag or (not (word.isalpha() and (word.islower() or word.istitle())) and _IDENTIFIER.search(word)):
                kind = "identifier"
        else:
            kind, word = _refine(kind, word)
        if kind == "number" and word[0] in "+-" and found and found[-1].kind == "number" and not found[-1].after:
            found.append(Piece("symbol", word[0], fresh, quoted, glued))  # 3 -2 is 3 - 2, no list of two numbers
            word, fresh, glued = word[1:], False, True
        if kind == "number" and "," in word and found and found[-1].text == "[" and word.count(",") < _PARTS:
            *parts, word = word.split(",")  # [3,1,2] is [3, 1, 2]
            for part in parts:
                found.append(Piece(kind, part, fresh, quoted, glued, ","))
                fresh, glued = False, False
        found.append(Piece(kind, word, fresh, quoted, glued))
        fresh, glued = False, True
    return found


def _refine(kind: str, word: str) -> tuple[str, str]:
    """The kind and the trimmed text of a piece that is no plain word."""
    if kind in {"code", "fence"}:
        word = _trim_code(word)
    elif kind in {"address", "mail", "path"}:
        word = word.rstrip(".,;:!?)") or word
    return _KINDS.get(kind, kind), word


def _means_something(sign: str, found: list[Piece], follows: str, glued: bool) -> bool:
    """Whether a sign that is mostly punctuation says something here: 5!, (n - 1)!, 3:2, a[1:], 5', .NET, git add ."""
    if not glued and sign in ".!":
        return follows.isalpha() or (sign == "." and not follows.strip() and _is_command(found))
    if not found or not glued:
        return False
    last, before = found[-1], found[-2] if len(found) > 1 else None
    number = last.kind == "number"
    if sign in ":;" and (follows == "\n" if sign == ";" else last.text == ")" and _is_call(found)):
        return True  # of code: int x = f();  for i in range(3):
    if sign in ":;" and follows.isalnum() and last.text[-1:].isalnum():
        return True  # a;b  key:value
    if sign == ":":
        opened = "[" in (last.text, before.text if before else "")
        return (number and follows.isdigit()) or (opened and not follows.isspace() and follows != "")
    if sign == "!":
        bracketed = last.text == ")" and before is not None and (before.kind == "number" or len(before.text) == 1)
        letter = len(last.text) == 1 and last.text.islower() and last.text not in "ai"
        return number or last.text == "!" or bracketed or letter
    prime = number or (len(last.text) == 1 and last.text.isalpha() and not follows.isalpha())
    return prime and sign in "\"'" and not last.quoted


def _is_call(found: list[Piece]) -> bool:
    """Whether the bracket that closes here stood right behind a name."""
    depth = 0
    for piece in found[: -_CALL_PIECES - 1 : -1]:
        depth += (piece.text == ")") - (piece.text == "(")
        if depth == 0:
            return piece.glued
    return False


def _is_command(found: list[Piece]) -> bool:
    """Whether the last few pieces are words of a command line, where a lone point is an argument."""
    return any(piece.text in commands() for piece in found[-_COMMAND_WORDS:])


def _trim_code(text: str) -> str:
    """The content of a code span or fence, its marks and trailing blanks removed, its indentation kept."""
    lines = text.strip("`").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n") if len(lines) > 1 else lines[0].strip()
