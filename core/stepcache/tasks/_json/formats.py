"""The formats of JSON Schema, checked only where asked for."""

from __future__ import annotations

__all__ = ["conforms"]


def conforms(name: str, text: str) -> bool | None:
    """Whether the text has the named format; None for a format that is not known."""
    return None
