"""Public names and docs stay together: each is documented, tells what it raises, and stands in docs/api.md.

`python tests/test_api.py` writes that page anew from the docstrings.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepcache import errors
from stepcache.protocols import Embedder, Store

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
MODULES = ("stepcache", "stepcache.tasks", "stepcache.stores", "stepcache.embedders", "stepcache.replay",
           "stepcache.testing", "langchain_stepcache", "llamaindex_stepcache")
ADAPTERS = ("langchain_stepcache", "llamaindex_stepcache")  # their methods are their framework's
OURS = {name for name in errors.__all__ if name.endswith("Error")}


def public() -> Iterator[tuple[str, str, Any]]:
    for module in MODULES:
        home = importlib.import_module(module)
        for name in home.__all__:
            yield module, name, getattr(home, name)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines itself."""
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod | staticmethod):
            yield name, member.__func__
        elif inspect.isfunction(member) or isinstance(member, property):
            yield name, member


NAMES = [(module, name, thing) for module, name, thing in public() if callable(thing)]
MEMBERS = [(f"{name}.{member}", thing, one) for module, name, thing in NAMES
           if inspect.isclass(thing) and module not in ADAPTERS and name != "StoreContract"
           for member, one in members(thing)]


@pytest.mark.parametrize(("module", "name", "thing"), NAMES, ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_name_says_what_it_is(module, name, thing):
    doc = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert doc, f"{module}.{name} has no docstring of its own"
    assert not doc.startswith(f"{name}("), "a dataclass's generated docstring says nothing"
    assert len(doc.split()) >= 5


@pytest.mark.parametrize(("name", "kind", "member"), MEMBERS, ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_method_says_what_it_does(name, kind, member):
    assert told(kind, member), f"{name} has no docstring"


def told(kind: type, member: Any) -> str:
    """A member's own docstring, else that of the protocol whose member it is."""
    doc = vars(member).get("__doc__") if isinstance(member, type) else member.__doc__
    if not doc:
        name = (member.fget if isinstance(member, property) else member).__name__
        doc = next((vars(one)[name].__doc__ for one in (Store, Embedder) if name in vars(one)), None)
    return inspect.cleandoc(doc or "")


def raised(thing: Any) -> set[str]:
    """The errors of ours that a function, or a class's construction, raises in its own body."""
    if inspect.isclass(thing):
        made = [vars(thing)[name] for name in ("__init__", "__post_init__") if name in vars(thing)]
        return set().union(*(raised(one) for one in made if inspect.isfunction(one)))
    if isinstance(thing, property):
        return raised(thing.fget)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError):  # made by dataclasses
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            found.add(node.exc.func.id)
    return found & OURS


def test_what_is_raised_is_told():
    """The error's name stands in the docstring of the function, or of the class whose method it is."""
    silent = [(name, error) for _, name, thing in NAMES for error in raised(thing)
              if error not in (thing.__doc__ or "")]
    silent += [(name, error) for name, kind, member in MEMBERS for error in raised(member)
               if error not in told(kind, member) + (kind.__doc__ or "")]
    assert silent == []


def test_the_reference_page_says_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python tests/test_api.py"


def page() -> str:
    parts = ["# API reference\n\nMade from the docstrings by `python tests/test_api.py`; a test holds both together.\n"]
    for module in MODULES:
        home = importlib.import_module(module)
        parts.append(f"## `{module}`\n\n{_text(inspect.getdoc(home) or '')}\n")
        for name in home.__all__:
            thing = getattr(home, name)
            if not callable(thing):
                parts.append(f"### `{name}`\n\n{_value(thing)}\n")
                continue
            doc = _text(inspect.getdoc(thing) or "")
            parts.append(f"### `{name}`\n\n```text\n{_signature(name, thing)}\n```\n\n{doc}\n")
            if inspect.isclass(thing) and module not in ADAPTERS and name != "StoreContract":
                lines = [_member(member, thing, one) for member, one in members(thing)]
                if lines:
                    parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _member(name: str, kind: type, member: Any) -> str:
    doc = " ".join(told(kind, member).split())
    if isinstance(member, property):
        return f"- `{name}`: {doc}"
    return f"- `{_signature(name, member)}`: {doc}"


def _signature(name: str, thing: Any) -> str:
    """Names, types and defaults; a pydantic model's are its fields, told in its docstring."""
    if inspect.isclass(thing) and hasattr(thing, "model_fields"):
        own = [field for field in thing.__annotations__ if not field.startswith("_")]
        return f"{name}({', '.join(f'{field}=...' for field in own)})"
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return f"{name}({', '.join(base.__name__ for base in thing.__bases__)})"
    shown = []
    starred = False
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in {"self", "cls"}:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        text = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + parameter.name
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        if parameter.default is not parameter.empty:
            text += f"={_default(parameter.default)}"
        shown.append(text)
    return f"{name}({', '.join(shown)})"


def _default(value: Any) -> str:
    if callable(value):
        return getattr(value, "__qualname__", "...").rsplit(".", 1)[-1].replace("<lambda>", "...")
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return text if len(text) <= 40 and "<" not in text else "..."


def _value(thing: Any) -> str:
    return "`" + ", ".join(map(repr, thing)) + "`" if isinstance(thing, tuple) else f"`{thing!r}`"


def _text(doc: str) -> str:
    """A docstring as Markdown: its paragraphs, and its `name: meaning` lines as a list."""
    return re.sub(r"^([a-z_]\w*): (?=\S)", r"- `\1`: ", doc, flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
