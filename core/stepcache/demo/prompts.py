"""What the demo asks: about a dozen requests of the kinds that a cache meets, each with its check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stepcache.demo.checks import final_value, json_object, numbered_steps, same_values

__all__ = ["DEMO", "DemoRequest"]

_ANNA = "Anna Berger is 34 years old, lives in Graz and works as a nurse."
_BRUNO = "Bruno Haas is 51 years old, lives in Linz and works as a baker."
_PERSON = "Return only a JSON object with the keys {keys} for this person: {facts}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRequest:
    """One request: what kind of variation it is, the prompt, and whether an answer is right for it."""

    kind: str
    prompt: str
    passes: Callable[[str], bool]


def _equation(kind: str, prompt: str, variable: str, value: int) -> DemoRequest:
    return DemoRequest(kind=kind, prompt=prompt, passes=lambda reply: final_value(reply, variable) == value)


def _record(kind: str, keys: str, facts: str, values: dict[str, Any]) -> DemoRequest:
    return DemoRequest(
        kind=kind,
        prompt=_PERSON.format(keys=keys, facts=facts),
        passes=lambda reply: same_values(values, json_object(reply)),
    )


def _how_to(kind: str, prompt: str, never: str | None = None, instead: str = "") -> DemoRequest:
    """A small model's advice is not judged, but the list must be there that was asked for, and not what was not.

    `never` is what must not be in it, where it is no part of `instead`, which must.
    """

    def passes(reply: str) -> bool:
        said = reply.casefold()
        kept_out = never is None or never not in said.replace(instead, "")
        return numbered_steps(reply) >= 2 and instead in said and kept_out

    return DemoRequest(kind=kind, prompt=prompt, passes=passes)


DEMO: tuple[DemoRequest, ...] = (
    _equation("equation", "Solve 2x + 3 = 13 for x. Show the steps as a numbered list.", "x", 5),
    _equation("exact repeat", "Solve 2x + 3 = 13 for x. Show the steps as a numbered list.", "x", 5),
    _equation(
        "rewording", "Please solve the equation 2x + 3 = 13 for x and show the steps as a numbered list.", "x", 5
    ),
    _equation("renamed variable", "Solve 2y + 3 = 13 for y. Show the steps as a numbered list.", "y", 5),
    _equation("changed constant", "Solve 2x + 3 = 47 for x. Show the steps as a numbered list.", "x", 22),
    _record("JSON record", "name and age", _ANNA, {"name": "Anna Berger", "age": 34}),
    _record("key order", "age and name", _ANNA, {"name": "Anna Berger", "age": 34}),
    _record("added key", "name, age and city", _ANNA, {"name": "Anna Berger", "age": 34, "city": "Graz"}),
    _record("removed key", "name", _ANNA, {"name": "Anna Berger"}),
    _record("another person", "name and age", _BRUNO, {"name": "Bruno Haas", "age": 51}),
    _how_to("how-to", "How do I enable two-factor authentication on a GitHub account? Give four short numbered steps."),
    _how_to(
        "rewording",
        "Please tell me how to enable two-factor authentication on a GitHub account. Give four short numbered steps.",
    ),
    _how_to(
        "opposite", "How do I disable two-factor authentication on a GitHub account? Give four short numbered steps."
    ),
    _how_to("recipe", "How do I make pancakes? Answer in eight numbered steps of one sentence each."),
    _how_to(
        "Y instead of X",
        "How do I make pancakes with oat milk instead of milk? Answer in eight numbered steps of one sentence each.",
        never="milk", instead="oat milk",
    ),
)
