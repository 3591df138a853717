"""What an exact hit costs, and what hooks add to it: `python -m benchmarks.exact_hits`.

Processor time of this thread, in microseconds for each hit: the variants take turns in short blocks, so that whatever
else the machine does meets all of them, and the median over all blocks of the ratio to the turn's first is shown.
"""

from __future__ import annotations

import time
from statistics import median

from stepcache import Request, Result, StepCache
from stepcache.stores.memory import MemoryStore

PROMPT = "Solve 2x + 3 = 13 for x."
REPLY = "1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5"
TURNS, BLOCK = 400, 100
seen: dict[str, int] = {}


def model(prompt: str, purpose: str) -> str:
    return REPLY


def counting_hook(request: Request, result: Result) -> None:
    """As small as a useful hook is: a count by outcome."""
    seen[result.outcome] = seen.get(result.outcome, 0) + 1


def main() -> None:
    variants = {
        "no hook": StepCache(MemoryStore()),
        "no hook, again": StepCache(MemoryStore()),
        "a counting hook": StepCache(MemoryStore(), hooks=[counting_hook]),
        "three of them": StepCache(MemoryStore(), hooks=[counting_hook] * 3),
    }
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for cache in variants.values():
        for _ in range(BLOCK):
            cache.complete(PROMPT, model)
    for turn in range(TURNS):
        names = list(variants)
        for name in names[turn % len(names):] + names[: turn % len(names)]:
            complete = variants[name].complete
            start = time.thread_time()
            for _ in range(BLOCK):
                complete(PROMPT, model)
            taken[name].append((time.thread_time() - start) / BLOCK * 1e6)
    base = taken["no hook"]
    for name, values in taken.items():
        ratio = median(value / other for value, other in zip(values, base, strict=True))
        print(f"{name:18} median {median(values):6.1f} µs   least {min(values):6.1f} µs   "
              f"against no hook {ratio - 1:+.1%}")


if __name__ == "__main__":
    main()
