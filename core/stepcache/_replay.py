"""Cutting a reply that is already complete into the pieces a stream shows. Joined pieces are the reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stepcache._data import Step

__all__ = ["pieces"]

_PIECE = re.compile(r".{1,48}(?:\s+|\Z)|.{1,48}", re.DOTALL)


def pieces(steps: Sequence[Step]) -> Iterator[str]:
    """Yield each step in pieces of about 50 characters, cut after white space where there is some."""
    for step in steps:
        for found in _PIECE.finditer(step.text):
            yield found.group()
