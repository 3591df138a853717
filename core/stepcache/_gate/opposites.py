"""Which words are opposites: a table, and prefixes and endings that negate."""

from __future__ import annotations

from typing import Final

from stepcache._gate.spelling import stems
from stepcache._gate.tables import opposites

__all__ = ["opposed"]

_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de", "anti", "des", "dés", "mal")


def opposed(one: str, other: str) -> bool:
    """Whether two words, in whatever inflection, are opposites."""
    if _negated(one, other):
        return True
    table = opposites()
    return any(frozenset((a, b)) in table or _negated(a, b) for a in stems(one) for b in stems(other))


def _negated(one: str, other: str) -> bool:
    """safe and unsafe, useful and useless."""
    short, long = sorted((one, other), key=len)
    if len(short) < 3:
        return False
    return any(long == prefix + short for prefix in _PREFIXES) or (
        short[:-3] == long[:-4] != "" and short.endswith("ful") and long.endswith("less")
    )
