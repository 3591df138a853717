"""The content gate: do two prompts ask for the same thing? Pure, explained, without a model."""

from stepcache._gate.gate import canonical, gate
from stepcache._gate.rules import RULES
from stepcache._gate.verdict import Differs, Same

__all__ = ["RULES", "Differs", "Same", "canonical", "gate"]
