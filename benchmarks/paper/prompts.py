"""The prompts of the benchmark and which of them a seed sends, in which order. They live in `prompts.json`."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Prompt", "Prompts", "load"]

_FILE = Path(__file__).with_name("prompts.json")
_K = 3  # variants of one base prompt per perturbation, as in the paper


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request with what a right answer says: the value of `variable`, the JSON object, or the number of steps."""

    id: str
    task: str
    prompt: str
    expected: Any
    base: str = ""
    perturbation: str = ""
    variable: str = ""
    apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """All prompts: bases warm the cache, variants are sent afterwards; those apart go beyond the paper."""

    bases: tuple[Prompt, ...]
    variants: tuple[Prompt, ...]
    apart_bases: tuple[Prompt, ...]
    apart: tuple[Prompt, ...]
    per_seed: dict[str, dict[str, int]]

    def everything(self) -> tuple[Prompt, ...]:
        """Every prompt once, each base before its variants."""
        return self.bases + self.variants + self.apart_bases + self.apart

    def of_seed(self, seed: int) -> tuple[Prompt, ...]:
        """The variants that a seed sends, in its order; where fewer than all are sent, whole bases are chosen."""
        chance = random.Random(seed)
        chosen: list[Prompt] = []
        for task, kinds in self.per_seed.items():
            for perturbation, count in kinds.items():
                pool = [row for row in self.variants if (row.task, row.perturbation) == (task, perturbation)]
                names = sorted({row.base for row in pool})
                bases = set(chance.sample(names, count // _K))
                chosen += [row for row in pool if row.base in bases]
        chance.shuffle(chosen)
        return tuple(chosen)


def load(path: Path = _FILE) -> Prompts:
    """Read the data file."""
    data = json.loads(path.read_text(encoding="utf-8"))

    def rows(name: str) -> tuple[Prompt, ...]:
        return tuple(Prompt(**row) for row in data[name])

    return Prompts(
        bases=rows("bases"),
        variants=rows("variants"),
        apart_bases=rows("apart_bases"),
        apart=rows("apart"),
        per_seed=data["per_seed"],
    )


def bases_of(prompts: Iterable[Prompt], bases: Iterable[Prompt]) -> tuple[Prompt, ...]:
    """The bases that the given prompts vary."""
    wanted = {prompt.base for prompt in prompts}
    return tuple(base for base in bases if base.id in wanted)
