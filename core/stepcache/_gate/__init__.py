"""The content gate: do two prompts ask for the same thing? Pure, explained, without a model.

Its tables are read and its patterns built when the first prompts are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepcache._gate.verdict import Differs, Same

if TYPE_CHECKING:
    from stepcache._gate.rules import RULES

__all__ = ["RULES", "Differs", "Same", "canonical", "gate", "template_form"]


def gate(cached: str, new: str, *, freely: bool = True) -> Same | Differs:
    """Say whether two prompts ask for the same thing: `Same`, or `Differs(what, cached, new)` naming what differs.

    Any two texts of any length are taken; in doubt they differ. The rules are described in docs/how-it-decides.md.
    `freely`: plain words of a docstring whose examples are equal may differ, where nothing stands around the function.
    """
    from stepcache._gate.compare import gate as compare

    return compare(cached, new, freely)


def canonical(text: str) -> str:
    """The normal form of a text: equal for texts that say the same with other politeness, inflection and layout."""
    from stepcache._gate.compare import canonical as form

    return form(text)


def template_form(text: str) -> str:
    """The form of a prompt for template keys: what shares it is compared by the gate without any embedding."""
    from stepcache._gate.compare import template_form as form

    return form(text)


def __getattr__(name: str) -> Any:
    if name == "RULES":
        from stepcache._gate.rules import RULES

        return RULES
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
