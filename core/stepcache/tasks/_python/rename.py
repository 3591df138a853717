"""Renaming a function in a reply by its syntax tree: only the characters of the name change, and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from stepcache.tasks._python.mention import mentions
from stepcache.tasks._python.parse import Function, Positions
from stepcache.tasks._python.reply import Program

__all__ = ["renamed"]

_BY_TEXT = frozenset({"globals", "locals", "vars", "getattr", "setattr", "eval", "exec", "__import__", "compile"})
_Scope = Function | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def renamed(text: str, program: Program, old: str, new: str, docstring: str) -> str | None:
    """The reply with the top-level function `old` called `new`; None when that can't be done for certain.

    Variables, parameters, attributes, keyword arguments, strings and comments of the same name stay. Only the
    function's own docstring follows, where it repeats `docstring` (the one of the request). Refused when the new
    name is taken, the old one is bound to something else as well, or the reply speaks of it outside the code.
    """
    node = program.node
    if node is None or _token(text[: program.start], old) or _token(text[program.end :], old):
        return None
    try:
        if _is_taken(program.tree, new) or _is_ambiguous(program.tree, old, node):
            return None
        spots = _spots(program, node, old, docstring)
    except RecursionError:
        return None
    if spots is None:
        return None
    shift = program.start - program.lead
    for spot in sorted({spot for spot in spots if spot >= program.lead}, reverse=True):
        at = spot + shift
        text = text[:at] + new + text[at + len(old) :]
    return text


def _token(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _names(node: ast.AST) -> Iterator[str]:
    """Every name that this one node uses or binds."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            pass


def _is_taken(tree: ast.Module, new: str) -> bool:
    return any(new in _names(node) for node in ast.walk(tree))


def _is_ambiguous(tree: ast.Module, old: str, target: Function) -> bool:
    """Whether the module binds the name to anything else too, or looks names up by their text."""
    by_text = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _BY_TEXT:
            by_text = True
        if isinstance(node, ast.ClassDef | ast.alias | ast.Global | ast.Nonlocal) and old in _names(node):
            return True
    if old in _bound(tree.body, skip=target):
        return True
    return by_text and any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and old in node.value for node in ast.walk(tree)
    )


def _bound(body: Sequence[ast.AST], skip: ast.AST | None = None) -> set[str]:
    """The names bound in one scope: its own statements, not those of the functions and classes inside it."""
    found: set[str] = set()
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if node is skip:
            continue
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            continue
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            todo += [walrus.target for walrus in ast.walk(node) if isinstance(walrus, ast.NamedExpr)]
            continue
        if not isinstance(node, ast.Global | ast.Nonlocal):
            found.update(_names(node))
        todo += ast.iter_child_nodes(node)
    return found


def _spots(program: Program, target: Function, old: str, docstring: str) -> list[int] | None:
    """The offsets in the source at which `old` names the module's function; None if one can't be told for certain."""
    source, positions = program.source, Positions(program.source)
    found: list[int] = []

    start = positions.offset(target.lineno, target.col_offset)
    head = re.compile(r"(?:async\s+)?def\s+").match(source, start)
    if head is None or not source.startswith(old, head.end()):
        return None
    found.append(head.end())

    for node in _uses(program.tree, old, shadowed=False):
        if node is None:
            return None
        at = positions.offset(node.lineno, node.col_offset)
        if source[at : at + len(old)] != old:
            return None
        found.append(at)

    spoken = _spoken(program, target, old, docstring, positions)
    return None if spoken is None else found + spoken


def _uses(node: ast.AST, old: str, *, shadowed: bool) -> Iterator[ast.Name | None]:
    """Each use of the module's `old`; None for one inside an f-string, whose position the tree doesn't tell."""
    if isinstance(node, ast.Name):
        if node.id == old and not shadowed:
            yield node
        return
    if isinstance(node, ast.JoinedStr):
        if not shadowed and any(isinstance(part, ast.Name) and part.id == old for part in ast.walk(node)):
            yield None
        return
    if isinstance(node, ast.ClassDef):
        # names bound in a class body are seen there, but not in its methods
        bound = old in _bound(node.body)
        body = {id(child) for child in node.body}
        for child in ast.iter_child_nodes(node):
            inside = id(child) in body and not isinstance(child, Function)
            yield from _uses(child, old, shadowed=shadowed or (bound and inside))
        return
    if isinstance(node, _Scope):
        outer, inner, own = _parts(node)
        for child in outer:
            yield from _uses(child, old, shadowed=shadowed)
        for child in inner:
            yield from _uses(child, old, shadowed=shadowed or old in own)
        return
    for child in ast.iter_child_nodes(node):
        yield from _uses(child, old, shadowed=shadowed)


def _parts(node: _Scope) -> tuple[list[ast.AST], list[ast.AST], set[str]]:
    """What of a scope is evaluated outside it, what inside it, and the names it binds."""
    if isinstance(node, Function | ast.Lambda):
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        outer: list[ast.AST] = [*args.defaults, *(value for value in args.kw_defaults if value)]
        outer += [arg.annotation for arg in every if arg.annotation]
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        if not isinstance(node, ast.Lambda):
            outer += [*node.decorator_list, *([node.returns] if node.returns else [])]
        return outer, body, {arg.arg for arg in every} | _bound(body)
    first, *rest = node.generators
    elements: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    own: set[str] = set()
    for generator in node.generators:
        own |= _bound([generator.target])
    return [first.iter], [first.target, *first.ifs, *rest, *elements], own


def _spoken(
    program: Program, target: Function, old: str, docstring: str, positions: Positions
) -> list[int] | None:
    """The offsets in the function's own docstring that follow a rename; None if it is not the request's docstring."""
    own = ast.get_docstring(target)
    if own is None:
        return []
    first = target.body[0]
    assert isinstance(first, ast.Expr)
    value = first.value
    assert value.end_lineno is not None
    assert value.end_col_offset is not None
    start = positions.offset(value.lineno, value.col_offset)
    end = positions.offset(value.end_lineno, value.end_col_offset)
    if start < program.lead:
        return []  # the docstring is the prompt's
    found = [start + at for at in mentions(program.source[start:end], old)]
    if found and own.split() != docstring.split():
        return None
    return found
