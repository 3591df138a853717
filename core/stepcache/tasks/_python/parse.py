"""Reading Python source safely: bounded, never raising, never executing. No reply format is known here: see `reply`."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock

__all__ = [
    "MAX_CHARS",
    "Function",
    "Head",
    "Parameter",
    "Positions",
    "Stub",
    "functions",
    "head_of",
    "names_in",
    "parse",
    "signature",
    "stub",
]

MAX_CHARS = 100_000
_MAX_BRACKETS = 100  # CPython's own parser gives up at 200; nobody writes as many
_BRACKET = re.compile(r"[()\[\]{}]")
_LINE_END = re.compile(r"\r\n|\n|\r")
_DEF = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]", re.MULTILINE)
_MANGLED_END = re.compile(r"""(?<=\s)(?:["'][ \t]*){2,3}\s*\Z""")
_BEFORE = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign,
)  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: what kind it is, its name, and its default and annotation as dumped syntax (empty: none)."""

    kind: str
    name: str
    default: str
    annotation: str


@dataclass(frozen=True, slots=True)
class Head:
    """What a function looks like from outside: name, parameters, return annotation, whether it is async."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    is_async: bool
    docstring: str = ""

    def differs_from(self, other: Head) -> str:
        """The first difference in name or signature, empty if none. An annotation that one side leaves out is none."""
        if self.name != other.name:
            return f"the function is called {other.name}, not {self.name}"
        if self.is_async != other.is_async:
            return "one function is async, the other is not"
        mine = [(p.kind, p.name, p.default) for p in self.parameters]
        if mine != [(p.kind, p.name, p.default) for p in other.parameters]:
            return f"the parameters of {self.name} differ from those asked for"
        pairs = [(self.returns, other.returns)]
        pairs += [(a.annotation, b.annotation) for a, b in zip(self.parameters, other.parameters, strict=True)]
        if any(a and b and a != b for a, b in pairs):
            return f"the annotations of {self.name} differ from those asked for"
        return ""


def parse(source: str) -> ast.Module | None:
    """The syntax tree, or None for what is no Python, too long, or nested too deeply to be read safely."""
    if len(source) > MAX_CHARS or _too_deep(source):
        return None
    try:
        return ast.parse(source)
    except SyntaxError as error:
        # A warning that the app has turned into an error: the source is odd ("\\d" in a plain string), not wrong.
        return _parse_unwarned(source) if "escape sequence" in str(error.msg) else None
    except (ValueError, RecursionError, MemoryError):
        return None


_quiet = Lock()  # the filters of warnings are the whole process's


def _parse_unwarned(source: str) -> ast.Module | None:
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _too_deep(source: str) -> bool:
    # Brackets in strings count as well: that may refuse an odd text, but never lets a deep one through.
    depth = 0
    for found in _BRACKET.finditer(source):
        depth += 1 if found.group() in "([{" else -1
        depth = max(depth, 0)
        if depth > _MAX_BRACKETS:
            return True
    return False


def functions(tree: ast.Module, name: str) -> list[Function]:
    """The functions of this name at the top level of a module."""
    return [node for node in tree.body if isinstance(node, Function) and node.name == name]


def head_of(node: Function) -> Head | None:
    """What the function looks like from outside; None when its defaults are nested too deeply to compare."""
    try:
        return Head(
            node.name,
            tuple(_parameters(node.args)),
            ast.dump(node.returns) if node.returns else "",
            isinstance(node, ast.AsyncFunctionDef),
            ast.get_docstring(node, clean=True) or "",
        )
    except RecursionError:
        return None


def _parameters(args: ast.arguments) -> list[Parameter]:
    def made(kind: str, arg: ast.arg, default: ast.expr | None) -> Parameter:
        return Parameter(
            kind, arg.arg, ast.dump(default) if default else "", ast.dump(arg.annotation) if arg.annotation else ""
        )

    positional = [("positional only", arg) for arg in args.posonlyargs] + [("plain", arg) for arg in args.args]
    missing = len(positional) - len(args.defaults)
    defaults: list[ast.expr | None] = [None] * missing + list(args.defaults)
    found = [made(kind, arg, default) for (kind, arg), default in zip(positional, defaults, strict=True)]
    if args.vararg:
        found.append(made("*", args.vararg, None))
    found += [made("keyword", arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        found.append(made("**", args.kwarg, None))
    return found


def signature(text: str) -> Head | None:
    """Read a signature as people write it: `def f(a, b=1) -> int:`, with or without `def`, colon and body."""
    source = text.strip()
    if not re.match(r"(?:async\s+)?def\s", source):
        source = f"def {source}"
    for tail in ("", " ...", ": ..."):
        tree = parse(source + tail)
        if tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], Function):
            return head_of(tree.body[0])
    return None


@dataclass(frozen=True, slots=True)
class Stub:
    """A function asked for by its beginning: what it looks like, and the source that a body would continue."""

    head: Head
    source: str


def stub(prompt: str) -> Stub | None:
    """The function a completion prompt asks for: the prompt is Python that ends in a signature and a docstring.

    Closing quotes that were mangled on the way (`" " "`) are taken for what they were.
    """
    if len(prompt) > MAX_CHARS or _DEF.search(prompt) is None:
        return None
    source = prompt
    tree = parse(prompt)
    if tree is None and (mangled := _MANGLED_END.search(prompt)):
        opening = max(('"""', "'''"), key=prompt.rfind)
        source = prompt[: mangled.start()] + f"\n    {opening}\n"
        tree = parse(source)
    if tree is None or not tree.body:
        return None
    *before, last = tree.body
    if not isinstance(last, Function) or len(last.body) != 1 or functions(tree, last.name) != [last]:
        return None
    head = head_of(last)
    if head is None or not any(letter.isalpha() for letter in head.docstring):
        return None
    return Stub(head, source) if all(isinstance(node, _BEFORE) or _is_text(node) for node in before) else None


def names_in(source: str) -> frozenset[str]:
    """Every name that the code itself (not its strings) uses or defines."""
    tree = parse(source)
    found: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name)
            case _:
                pass
    return frozenset(found)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


class Positions:
    """Turns the line and byte column of a syntax tree into character offsets of its source."""

    def __init__(self, source: str) -> None:
        ends = [match.end() for match in _LINE_END.finditer(source)]
        self._starts = [0, *ends]
        self._source = source
        self._is_ascii = source.isascii()

    def offset(self, line: int, column: int) -> int:
        """The character at which the byte `column` (from 0) of `line` (from 1) stands."""
        start = self._starts[line - 1]
        if self._is_ascii:
            return start + column
        stop = self._starts[line] if line < len(self._starts) else len(self._source)
        widths = accumulate((len(letter.encode()) for letter in self._source[start:stop]), initial=0)
        return start + bisect_right(list(widths), column) - 1
