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
            right: bool = final_value(reply, prompt.variable) == Fraction(str(prompt.expected))
            return right
        case "json":
            return same_values(prompt.expected, json_object(reply))
        case "how-to":
            return numbered_steps(reply) == prompt.expected
        case "text":
            return str(prompt.expected) in reply and json_object(reply) is None
        case other:
            raise ValueError(f"no check for task {other!r}")
