"""Is a reply right for its prompt? Judged apart from StepCache's tasks, so that no system marks its own work."""

from __future__ import annotations

from fractions import Fraction

from benchmarks.paper.prompts import Prompt
from stepcache.demo.checks import final_value, json_object, numbered_steps, same_values

__all__ = ["correct"]


def correct(prompt: Prompt, reply: str) -> bool:
    """Whether the reply says what this prompt's right answer says."""
    match prompt.task:
        case "math":
            return bool(final_value(reply, prompt.variable) == _exactly(prompt.expected))
        case "json" | "tool":
            return same_values(prompt.expected, json_object(reply))
        case "how-to":
            return numbered_steps(reply) == int(prompt.expected)
        case "text":
            return str(prompt.expected) in reply and json_object(reply) is None
        case other:
            raise ValueError(f"no check for task {other!r}")


def _exactly(number: float) -> Fraction:
    """A number of the data file as it is written there: 2.2 is eleven fifths."""
    return Fraction(str(number))
