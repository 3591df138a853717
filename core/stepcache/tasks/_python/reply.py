"""Where the code stands in a reply: as it is or fenced, a whole function or the body that continues the prompt."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from stepcache.tasks._python.parse import MAX_CHARS, Function, Head, functions, head_of, parse

__all__ = ["Program", "blocks", "read", "read_any"]

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$", re.MULTILINE)
_PYTHON = re.compile(r"(?:(?:python3?|py3?)\b[^\n]*)?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Program:
    """Code found in a reply at `text[start:end]`.

    `source` is the module it makes: `lead` (what the prompt gives before it) and the code. `node` is the function
    asked for, None when no certain function is asked for.
    """

    source: str
    lead: int
    start: int
    end: int
    tree: ast.Module
    node: Function | None


def read(text: str, head: Head, prompt: str) -> Program | str:
    """Find the function `head` in the reply to a completion prompt (or to any prompt, with `prompt` empty).

    Returns the reason in words when it is not there, not alone, not complete, or has another signature.
    """
    if len(text) > MAX_CHARS:
        return f"a reply of {len(text):,} characters is too long to be read as code"
    found: list[Program] = []
    reason = ""
    for start, end in blocks(text):
        program = _whole(text, start, end, head) or _continued(text, start, end, head, prompt)
        if program is None:
            continue
        reason = _fault(program, head)
        if not reason:
            if start == 0 and end == len(text):
                return program
            found.append(program)
    if len(found) == 1:
        return found[0]
    if found:
        return f"there are {len(found)} blocks of code that define {head.name}"
    return reason or f"the reply is no Python code that defines {head.name}"


def read_any(text: str) -> Program | str:
    """Find the one block of Python in a reply where no certain function is asked for."""
    if len(text) > MAX_CHARS:
        return f"a reply of {len(text):,} characters is too long to be read as code"
    found: list[Program] = []
    for start, end in blocks(text):
        tree = parse(text[start:end])
        if tree is None or not _does_something(tree.body):
            continue
        program = Program(text[start:end], 0, start, end, tree, None)
        if start == 0 and end == len(text):
            return program
        found.append(program)
    if len(found) > 1:
        return f"there are {len(found)} blocks of code in the reply"
    return found[0] if found else "the reply is no Python code"


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where code may stand: the whole text, then the inside of each fence that is untagged or tagged as Python."""
    yield 0, len(text)
    position = 0
    while opened := _FENCE.search(text, position):
        mark, tag = opened.group(1), opened.group(2).strip()
        inside = min(opened.end() + 1, len(text))
        closing = re.compile(rf"^[ \t]{{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*\r?$", re.MULTILINE)
        closed = closing.search(text, inside)
        if closed is None:
            return  # a fence that never closes is a reply cut off
        if _PYTHON.match(tag):
            yield inside, closed.start()
        position = min(closed.end() + 1, len(text))


def _whole(text: str, start: int, end: int, head: Head) -> Program | None:
    tree = parse(text[start:end])
    if tree is None:
        return None
    nodes = functions(tree, head.name)
    return Program(text[start:end], 0, start, end, tree, nodes[-1]) if nodes else None


def _continued(text: str, start: int, end: int, head: Head, prompt: str) -> Program | None:
    if not prompt:
        return None
    for lead in (prompt, prompt + "\n"):
        source = lead + text[start:end]
        tree = parse(source)
        if tree is not None and (nodes := functions(tree, head.name)):
            return Program(source, len(lead), start, end, tree, nodes[-1])
    return None


def _fault(program: Program, head: Head) -> str:
    node = program.node
    assert node is not None
    if len(functions(program.tree, head.name)) > 1:
        return f"{head.name} is defined more than once"
    if not _does_something(node.body):
        return f"{head.name} has no body"
    own = head_of(node)
    return f"{head.name} is nested too deeply" if own is None else head.differs_from(own)


def _does_something(body: list[ast.stmt]) -> bool:
    return not all(_is_filler(node) for node in body)


def _is_filler(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Raise):
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    # a lone word or value: English such as "yes" parses as Python, too
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.Name | ast.Attribute | ast.Tuple)
