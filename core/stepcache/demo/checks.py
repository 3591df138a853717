"""Is an answer right? Judged apart from the tasks, so that the cache does not mark its own work."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

__all__ = ["final_value", "json_object", "numbered_steps", "same_values"]

_NUMBER = r"[-−+]?\s*\d+(?:[.,]\d+)?(?:\s*/\s*\d+)?"
_FRACTION = re.compile(r"([-−]?)\s*\\d?frac\s*\{\s*([-−]?\d+)\s*\}\s*\{\s*(\d+)\s*\}")
_MARKUP = re.compile(r"\\[(\[\])]|\$|\*\*|`|\\(?:left|right|,|;|!|quad)|\\text\s*\{[^{}]*\}")
_NUMBERED = re.compile(r"^\s*(?:#+ *|\*\*)?(?:step +)?\d+[.):]", re.MULTILINE | re.IGNORECASE)


def final_value(reply: str, variable: str) -> Fraction | None:
    """The last value that a reply assigns to the variable, in plain text or LaTeX; None if it assigns none."""
    text = _FRACTION.sub(lambda found: f"{found[1]}{found[2]}/{found[3]}", reply)
    text = re.sub(rf"\\boxed\s*\{{\s*(?:{variable}\s*=\s*)?({_NUMBER})\s*\}}", rf"{variable} = \1 ", text)
    text = _MARKUP.sub(" ", text)
    claims = re.findall(
        rf"(?<![\w.*/+−-])(?<![+−*/-] )\(?{variable}\)?\s*(?:=|is(?: equal to)?|equals)\s*(?:[^=\n]*=\s*)?({_NUMBER})"
        rf"(?=\s*(?:[.,;:!)]|$|\n|\s[a-z]))",
        text,
        re.MULTILINE,
    )
    if not claims and (bare := re.fullmatch(rf"\s*({_NUMBER})\s*\.?\s*", text)):
        claims = [bare[1]]  # only the value was asked for
    return _fraction(claims[-1]) if claims else None


def json_object(reply: str) -> dict[str, Any] | None:
    """The first JSON object of a reply, alone or in a fence, with prose around it or not."""
    decoder = json.JSONDecoder()
    start = reply.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(reply, start)
        except ValueError:
            start = reply.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def same_values(expected: Any, found: Any) -> bool:
    """Every expected key with its value; text in any case. A number is a number: "34" is not 34."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            key in found and same_values(value, found[key]) for key, value in expected.items()
        )
    if isinstance(expected, str):
        return isinstance(found, str) and found.strip().casefold() == expected.casefold()
    return isinstance(found, int | float) and not isinstance(found, bool) and found == expected


def numbered_steps(reply: str) -> int:
    """How many numbered steps a reply has."""
    return len(_NUMBERED.findall(reply))


def _fraction(text: str) -> Fraction | None:
    plain = re.sub(r"\s", "", text).replace("−", "-").replace(",", ".").lstrip("+")
    try:
        return Fraction(plain)
    except (ValueError, ZeroDivisionError):
        return None
