"""How many numbered steps a prompt asks for, and how many a reply has; both may be unknown."""

from __future__ import annotations

import re

__all__ = ["asked_steps", "numbered_steps"]

_STEPS = re.compile(r"((?:[\w-]+[^\S\n]+){1,6})(?:steps|Schritten?|pasos|étapes)\b", re.IGNORECASE)
# Words before a number that leave the count open.
_OPEN = frozenset({
    "least", "most", "to", "than", "about", "around", "roughly", "approximately", "or", "and", "maximum", "minimum",
    "mindestens", "höchstens", "maximal", "etwa", "ungefähr", "circa", "ca", "bis", "oder", "und", "als",
    "menos", "más", "máximo", "mínimo", "unos", "o", "y", "a", "que",
    "moins", "plus", "environ", "ou", "et", "à",
})  # fmt: skip
_LOOK_BACK = 2
_MOST = 50
_NUMBERED = re.compile(
    r"^[#>*_ ]{0,8}(?:(?:step|schritt|paso|étape) )?(\d{1,3})(?:[.):]|\*\*)(?=[\s*_]|$)", re.MULTILINE | re.IGNORECASE
)


def asked_steps(prompt: str) -> int | None:
    """The one exact number of steps that a prompt speaks of ("in four short steps"), or None."""
    found = {count for match in _STEPS.finditer(prompt) if (count := _exact(match[1].casefold().split())) is not None}
    return found.pop() if len(found) == 1 else None


def _exact(words: list[str]) -> int | None:
    from stepcache.tasks._tools.amounts import numbers_in  # its tables are read on first use

    for place in range(len(words) - 1, -1, -1):
        values = numbers_in(words[place])
        if len(values) == 1 and (value := min(values)).denominator == 1 and 0 < value <= _MOST:
            return None if _OPEN.intersection(words[max(0, place - _LOOK_BACK) : place]) else int(value)
    return None


def numbered_steps(reply: str) -> int | None:
    """How many steps one list numbered from 1 has; None where a reply holds no such list, or more than one."""
    numbers = [int(number) for number in _NUMBERED.findall(reply)]
    return len(numbers) if len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1)) else None
