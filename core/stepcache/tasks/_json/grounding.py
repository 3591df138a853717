"""Whether patched values are of the request, where all kept values are copied out of its text.

Beside such values stands no number that the request does not hold, and no text where it writes a number. Texts as such
are not looked up: a summary or a category is written in words of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

__all__ = ["fits"]

_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?")
_FEWEST = 2  # kept values that show that the reply is copied from the request
_MOST = 200


def fits(kept: Any, value: Any, about: str) -> bool:
    """Whether a new value may stand beside `kept` in a reply to a request whose facts are in `about`."""
    from stepcache.tasks._tools.ground import MAX_PROMPT, Grounds, grounds  # its tables are read on first use

    if len(about) > MAX_PROMPT:
        return True
    request = grounds(about)

    def stands(leaf: Any, request: Grounds = request) -> bool:
        return request.has_text(leaf) if isinstance(leaf, str) else request.has_number(leaf)

    held = list(_leaves(kept))
    if not _FEWEST <= len(held) <= _MOST or not all(map(stands, held)):
        return True  # the reply is not made of the request's words alone
    bare = any(not isinstance(leaf, str) for leaf in held)
    for leaf in _leaves(value):
        if not isinstance(leaf, str):
            if not stands(leaf):
                return False
        elif bare and _PLAIN.fullmatch(leaf) and request.has_number(Decimal(leaf)) and not _quoted(leaf, about):
            return False
    return True


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
