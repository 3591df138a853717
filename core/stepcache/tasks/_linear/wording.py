"""What the tables of harmless wording are made of, and how wording and demands appear in the residue.

A prompt is written as a skeleton: lower case, the equation as E, its variable as V, an answer form such as
"x = <value>" as A. What these tables do not know is not harmless, and such a prompt makes no spec.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["CANONICAL", "DEMAND_WORDS", "Wording", "wording"]


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language asks: `cores` hold the equation, `fillers` mean nothing, `demands` are named."""

    cores: tuple[re.Pattern[str], ...]
    fillers: re.Pattern[str]
    demands: tuple[tuple[str, re.Pattern[str]], ...]
    decimal_comma: bool | None


def wording(
    parts: dict[str, str], cores: tuple[str, ...], fillers: str, demands: dict[str, str], decimal_comma: bool | None
) -> Wording:
    def fill(pattern: str) -> str:
        for _ in range(3):
            for name, part in parts.items():
                pattern = pattern.replace(f"<{name}>", f"(?:{part})")
        return pattern

    edge_start, edge_stop = r"(?<!\w)", r"(?!\w)"
    return Wording(
        tuple(re.compile(edge_start + fill(core) + edge_stop) for core in cores),
        re.compile(rf"[ .,:;!?\n]+|{edge_start}(?:{fill(fillers)}){edge_stop}"),
        tuple((name, re.compile(edge_start + f"(?:{fill(demand)})" + edge_stop)) for name, demand in demands.items()),
        decimal_comma,
    )


# What the residue says in place of the harmless wording, so that two ways of asking the same leave the same residue.
CANONICAL: Final[dict[str, str]] = {
    "": "«equation»",
    "en": "Solve «equation» for «variable».",
    "de": "Löse «equation» nach «variable» auf.",
    "es": "Resuelve «equation» para «variable».",
    "fr": "Résous «equation» pour «variable».",
    "zh": "求解«equation»，求«variable»。",
    "ar": "حل المعادلة «equation» لإيجاد «variable».",
}

# How a demand reads in the residue. The demands a spec can't check stay visible there for the gate to compare.
DEMAND_WORDS: Final[dict[str, str]] = {
    "numbered": "Use numbered steps.",
    "steps": "Show the steps.",
    "explain": "Explain.",
    "brief": "Be brief.",
    "no_words": "Without explanation.",
    "value_only": "Give only the value.",
    "answer_only": "Give only the answer.",
    "end_form": "End with the assignment.",
    "in_latex": "Use LaTeX.",
    "in_english": "Answer in English.",
    "in_french": "Answer in French.",
    "in_german": "Answer in German.",
    "in_spanish": "Answer in Spanish.",
    "in_chinese": "Answer in Chinese.",
    "in_arabic": "Answer in Arabic.",
    "with_check": "Check the result.",
}
