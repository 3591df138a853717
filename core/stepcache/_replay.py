"""Cutting a reply that is already complete into the pieces a stream shows. Joined pieces are the reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from stepcache._data import Step

__all__ = ["pieces"]

_PIECE = re.compile(r"\s*+\S{1,32}\s*+|\s++")


def pieces(steps: Sequence[Step]) -> Iterator[str]:
    """Yield each step word by word, about as a model would say it; a very long word in parts."""
    for step in steps:
        for found in _PIECE.finditer(step.text):
            yield found.group()
