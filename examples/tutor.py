"""A tutor that explains linear equations: the same exercise in other numbers, letters and words.

What the steps say is kept, the numbers are computed and proved, a wrong reply is caught before a pupil sees it, and
a request for a hint is no request for a solution. With a real model: GGUF=path or BASE_URL=... MODEL=...
"""

from __future__ import annotations

from collections.abc import Iterator

from stepcache import Result, StepCache
from stepcache.demo.at_hand import at_hand
from stepcache.protocols import Model

LESSON = (
    "Solve 2x + 3 = 13 for x.",
    "Solve 2x + 3 = 13 for x.",                       # a second pupil, the same exercise
    "Solve 2x + 3 = 21 for x.",                       # another constant
    "Solve 2y + 3 = 21 for y.",                       # another letter
    "Please solve 2x + 3 = 8 for x!",                 # other words, and a fraction
    "Solve 5x - 4 = 3x + 8 for x.",                   # another kind of equation; the stand-in gets it wrong
    "Solve 5x - 4 = 3x + 10 for x.",
    "Give me a hint for 2x + 3 = 13, not the answer.",
    "Is x = 4 a solution of 2x + 3 = 13?",
)
WRITTEN = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n3. Divide both sides by 2: x = 5\n\n"
           "x = 5")


def script(prompt: str, purpose: str) -> str:
    """A stand-in that knows one exercise by heart, errs at another, and is more careful when asked again."""
    if "hint" in prompt:
        return "What could you take away from both sides?"
    if "Is x = 4" in prompt:
        return "Put 4 in the place of x: 2 * 4 + 3 is 11, not 13. So no."
    if "5x - 4" in prompt:
        right = ("1. Subtract 3x from both sides: 2x - 4 = 8\n2. Add 4 to both sides: 2x = 12\n"
                 "3. Divide both sides by 2: x = 6\n\nx = 6")
        return right if purpose == "repair" else right.replace("12", "4").replace("6", "2")
    return WRITTEN


def run(model: Model) -> Iterator[tuple[str, Result]]:
    """The lesson's requests in order, each with what came of it."""
    with StepCache.open(":memory:", embedder=None) as cache:
        for prompt in LESSON:
            yield prompt, cache.complete(prompt, model)


def main() -> None:
    calls = saved = 0
    with at_hand(script) as model:
        print(model)
        for prompt, result in run(model.model):
            last = result.output.strip().splitlines()[-1] if result.output.strip() else ""
            print(f"\n{prompt}\n  {last}\n  {result.outcome}, from {result.source}, {result.calls} calls: "
                  f"{result.decision.reason}", flush=True)
            calls, saved = calls + result.calls, saved + (result.saved or 0)
    print(f"\n{len(LESSON)} requests, {calls} model calls, {saved} tokens saved")


if __name__ == "__main__":
    main()
