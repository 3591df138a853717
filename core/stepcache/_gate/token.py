"""One canonical token of a text."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Token"]


class Token(NamedTuple):
    """What a piece of text stands for.

    `key` is what is compared, `what` the name under which a difference is reported, `text` the words as they stand,
    `start` whether a clause begins here, `quoted` whether it is literal, `after` the punctuation behind it.
    """

    key: str
    what: str
    text: str
    start: bool = False
    quoted: bool = False
    after: str = ""
