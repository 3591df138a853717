"""Sizes, ages and long texts as a person reads them."""

from __future__ import annotations

import time

__all__ = ["age", "counted", "lifetime", "shortened", "size", "when"]

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def size(count: int) -> str:
    """Bytes with a unit."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def counted(number: int, one: str, many: str) -> str:
    """A number and its noun."""
    return f"{number} {one if number == 1 else many}"


def age(seconds: float) -> str:
    """A span of time in its largest fitting unit."""
    for unit, length in _UNITS:
        if abs(seconds) >= length:
            return f"{seconds / length:.0f} {unit}"
    return "0 s"


def lifetime(expires_at: float | None, now: float) -> str:
    """How long an entry has still to live."""
    if expires_at is None:
        return "never"
    return "expired" if expires_at <= now else f"in {age(expires_at - now)}"


def when(timestamp: float) -> str:
    """A point in time, in local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(timestamp))


def shortened(text: str, width: int) -> str:
    """The text in one line of at most `width` characters; control characters never reach a terminal."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= width else line[: width - 1] + "…"
