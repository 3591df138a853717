"""What form of reply a LangChain call asks for, read out of its options by the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool

from stepcache import _demand
from stepcache._demand import Demand

__all__ = ["STRUCTURED", "demand_of"]

# The option by which `with_structured_output` tells a later call which schema its parser wants.
STRUCTURED = "stepcache_structured"


def demand_of(options: Mapping[str, Any]) -> tuple[Demand, dict[str, Any]]:
    """Split a call's options into the form of reply they ask for and the rest."""
    plain = {name: value for name, value in options.items() if name != STRUCTURED}
    return _demand.demand_of(plain, options.get(STRUCTURED), convert_to_openai_tool)
