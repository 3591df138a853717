"""Whether patched values are of the request, where all recorded values are copied out of its text.

Beside such values stands no number that the request does not hold, no text where it writes a number, and no object
where all is flat. Texts as such are not looked up: a summary or a category is written in words of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

__all__ = ["fits"]

_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?")
_FEWEST = 2  # recorded values that show that the reply is copied from the request
_MOST = 200


def fits(recorded: Any, value: Any, about: str) -> bool:
    """Whether a new value of which no schema says anything may stand in a reply to a request with the facts `about`.

    `recorded` is the reply's value before the change, with whatever of it is not kept: it shows how such replies are
    written.
    """
    from stepcache.tasks._tools.ground import MAX_PROMPT, Grounds, grounds  # its tables are read on first use

    if len(about) > MAX_PROMPT:
        return True
    request = grounds(about)

    def stands(leaf: Any, request: Grounds = request) -> bool:
        return request.has_text(leaf) if isinstance(leaf, str) else request.has_number(leaf)

    held = list(_leaves(recorded))
    if not _FEWEST <= len(held) <= _MOST or not all(map(stands, held)):
        return True  # the reply is not made of the request's words alone
    if _nested(value) and not any(map(_nested, recorded.values() if isinstance(recorded, dict) else recorded)):
        return False
    bare = not any(isinstance(leaf, str) and _PLAIN.fullmatch(leaf) for leaf in held)
    for leaf in _leaves(value):
        if not isinstance(leaf, str):
            if not stands(leaf):
                return False
        elif bare and _PLAIN.fullmatch(leaf) and request.has_number(Decimal(leaf)) and not _quoted(leaf, about):
            return False
    return True


def _nested(value: Any) -> bool:
    """Whether a value is an object, or a list with one."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_nested, value)))


def _leaves(value: Any) -> Iterator[Any]:
    """The texts and numbers of a JSON value; what else there is can't be looked up."""
    if isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def _quoted(numeral: str, text: str) -> bool:
    return re.search(rf"[\"'“„«`]{re.escape(numeral)}[\"'”“»`]", text) is not None
