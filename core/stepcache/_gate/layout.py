"""Tell code from prose in a prompt that holds both without marking it; see what white space says by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Layout", "arrangement", "lay_out"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The prose, the code lines (indentation and text) and the docstrings of a prompt; all three in order."""

    prose: str
    code: tuple[tuple[int, str], ...]
    docs: tuple[str, ...]
    functions: tuple[str, ...]

    @property
    def identifiers(self) -> frozenset[str]:
        """Every name that the code lines hold."""
        return frozenset(name for _, line in self.code for name in _NAME.findall(line))


_NAME: Final = re.compile(r"[^\W\d]\w*")
_DEFINITION: Final = re.compile(
    r"(?m)^[ \t]*(?:export[ \t]+)?(?:async[ \t]+)?(?:pub[ \t]+)?"
    r"(?:def|class|function|func|fn|interface|struct)[ \t]+(\w+)[ \t]*[(:{<]"
)
_FENCE: Final = "```"
# The closing marks may have been spaced out by a tokeniser.
_DOC: Final = re.compile(
    r""""{3}((?:[^"]|"(?!"")(?![ ]"[ ]"[ \t]*$))*)(?:"{3}|"[ ]"[ ]"|\Z)"""
    r"""|'{3}((?:[^']|'(?!'')(?![ ]'[ ]'[ \t]*$))*)(?:'{3}|'[ ]'[ ]'|\Z)""",
    re.MULTILINE,
)
_HOLE: Final = "\x00doc\x00"
_CODE_LINE: Final = re.compile(
    r"""[ \t]*(?:
        (?:async[ ]+)?def[ ]+\w+|class[ ]+\w+[(:{]|import[ ]+\w|from[ ]+[\w.]+[ ]+import\b|@\w+|return\b(?![^\n]*[.?!]$)
      | (?:if|elif|for|while|with|try|else|except|finally)\b[^\n]*:[ \t]*$
      | \w[\w.\[\]]*[ ]*(?:[-+*/]?=)[ ]*\S|\#|//|>>>|[})\]]+[;,)]*[ \t]*$|\x00doc\x00
      | [\w.]+\([^\n]*$
      | [^\n]*[;{}][ \t]*$
      | (?:public|private|protected|static|const|let|var|function|func|fn|export|package|using|\#include)\b
    )""",
    re.VERBOSE,
)


def lay_out(text: str) -> Layout | None:
    """The parts of a prompt that holds the definition of a function or class outside fences, else None."""
    if _FENCE in text:
        return None
    names = tuple(_DEFINITION.findall(text))
    if not names:
        return None
    docs = tuple(match.group(1) if match.group(1) is not None else match.group(2) for match in _DOC.finditer(text))
    holed = _DOC.sub(_HOLE, text).expandtabs(4)
    code: list[tuple[int, str]] = []
    prose: list[str] = []
    open_brackets = 0
    for line in holed.split("\n"):
        stripped = line.strip()
        if not stripped:
            continue
        indented = line[:1].isspace() and bool(code)
        if open_brackets > 0 or indented or _CODE_LINE.match(line):
            code.append((len(line) - len(line.lstrip()), stripped))
            open_brackets = max(
                0, open_brackets + sum(stripped.count(b) for b in "([{") - sum(map(stripped.count, ")]}"))
            )
        else:
            prose.append(line)
    return Layout("\n".join(prose), tuple(code), docs, names)


_BLOCK: Final = re.compile(r"^([ \t]*)\S[^\n]*[:{][ \t]*\n(?=\1[ \t])", re.MULTILINE)
_CELLS: Final = re.compile(r"\t[ ]*\t|^\t[^\t\n]+\t|\t[ ]*$", re.MULTILINE)


def arrangement(text: str) -> tuple[tuple[int, ...], tuple[tuple[bool, ...], ...]]:
    """What white space means in a text: how deep each line lies if it holds indented blocks, which cells are empty."""
    if "\n" not in text:
        return (), ()
    lines = [line for line in text.split("\n") if line.strip()]
    depths: list[int] = []
    if _BLOCK.search(text):
        open_at = [0]
        for line in lines:
            plain = line.expandtabs(4)
            indent = len(plain) - len(plain.lstrip())
            while open_at and open_at[-1] > indent:
                open_at.pop()
            if not open_at or open_at[-1] < indent:
                open_at.append(indent)
            depths.append(len(open_at))
    cells = [tuple(bool(cell.strip()) for cell in line.split("\t")) for line in lines] if _CELLS.search(text) else []
    return tuple(depths), tuple(cells)
