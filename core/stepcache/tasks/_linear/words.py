"""Word lists as plain text: easier to read and to extend than quoted lists."""

from __future__ import annotations

__all__ = ["words"]


def words(text: str) -> list[str]:
    """The words of a list, in order."""
    return text.split()
