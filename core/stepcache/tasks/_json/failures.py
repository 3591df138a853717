"""One fault of a JSON value: where, what kind, why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stepcache.tasks._json.spans import Path

__all__ = ["Failure", "Problem"]

Problem = Literal["missing", "wrong", "extra"]


@dataclass(frozen=True, slots=True)
class Failure:
    """`path` leads to the member concerned; the empty path means the value as a whole.

    "missing" members have to be added, "wrong" ones replaced, "extra" ones dropped. The message quotes nothing of
    the value, so it may be logged.
    """

    path: Path
    problem: Problem
    message: str
