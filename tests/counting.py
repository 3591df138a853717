"""A small task of one's own, as a user would write it: "Count from 2 to 5." answered by one number a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stepcache import Request, Spec, Step, Verdict
from stepcache._data import Entry


@dataclass(frozen=True)
class Counting(Spec):
    first: int
    last: int
    rest: str
    computed: bool = False
    kind = "counting"

    @property
    def residue(self) -> str:
        return self.rest

    @property
    def numbers(self) -> list[str]:
        return [str(n) for n in range(self.first, self.last + 1)]

    def segment(self, text: str) -> tuple[Step, ...]:
        return tuple(Step(line) for line in text.splitlines(keepends=True))

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        wanted = self.numbers
        return tuple(
            Verdict(i < len(wanted) and step.text.strip() == wanted[i], "number",
                    f"line {i + 1} should be {wanted[i] if i < len(wanted) else 'absent'}")
            for i, step in enumerate(steps)
        )

    def check(self, text: str) -> Verdict:
        ok = text.split() == self.numbers
        return Verdict(ok, "counting", "" if ok else f"expected {' '.join(self.numbers)}")

    def fallback(self) -> str | None:
        return "\n".join(self.numbers) if self.computed else None


def counting(computed: bool = False):
    def task(request: Request) -> Spec | None:
        found = re.fullmatch(r"(.*)[Cc]ount from (\d+) to (\d+)(.*)", request.prompt)
        if found is None:
            return None
        before, first, last, after = found.groups()
        return Counting(int(first), int(last), f"{before}count{after}", computed)

    return task


def counted(prompt: str, purpose: str = "answer") -> str:
    """What a right model answers; for a patch, only the rest."""
    found = re.search(r"[Cc]ount from (\d+) to (\d+)", prompt)
    assert found is not None
    first, last = map(int, found.groups())
    if purpose == "patch":
        kept = re.search(r"stays as it is:\n((?:\d+\n)+)", prompt)
        if kept is not None:
            first += len(kept.group(1).split())
    return "\n".join(str(n) for n in range(first, last + 1))
