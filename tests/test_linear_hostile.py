"""Hostile prompts and replies are answered or refused, and what they cost grows with their length alone."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_support import entry_of, spec_of

from stepcache import Request, Step
from stepcache.tasks.linear import linear_equation

recognise = linear_equation()
PROMPTS: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "(" * n + "x" + ")" * n + " = 1",
    "open brackets": lambda n: "(" * n,
    "braces": lambda n: "\\frac{" * n,
    "powers": lambda n: "9" + "**9" * n + " * x = 1",
    "digits": lambda n: "Solve " + "9" * n + "x = 1",
    "terms": lambda n: "Solve " + "x + " * n + "x = 1",
    "products": lambda n: "Solve " + "2*" * n + "x = 1",
    "minus signs": lambda n: "Solve " + "-" * n + "x = 1",
    "equals signs": lambda n: "x" + "=" * n + "1",
    "words": lambda n: "please " * n + "solve 2x = 4",
    "one word": lambda n: "solve" * n + " 2x = 4",
    "articles": lambda n: "solve " + "the " * n + "equation 2x = 4",
    "spaces": lambda n: "Solve" + " " * n + "2x = 4",
    "newlines": lambda n: "\n" * n + "2x = 4",
    "answer forms": lambda n: "Solve 2x = 4 " + "x = ? " * n,
    "underscores": lambda n: "x = " + "_" * n,
    "stars": lambda n: "*" * n + "2x = 4" + "*" * n,
    "NUL": lambda n: "Solve 2x = 4" + "\0" * n,
    "lone surrogates": lambda n: "Solve 2x = 4" + "\ud800" * n,
    "combining marks": lambda n: "x" + "\u0301" * n + " = 4",
    "Chinese": lambda n: "求解" * n + "2x=4",
    "Arabic marks": lambda n: "حل" + "\u0651" * n + " 2x = 4",
    "steps": lambda n: "Solve 2x = 4 " + "step by step " * n,
    "commas": lambda n: "Solve 2x = 1" + ",000" * n,
}
REPLIES: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "(" * n + "x" + ")" * n + " = 5",
    "closing brackets": lambda n: ")" * n,
    "equations": lambda n: "2x = 10\n" * n + "x = 5",
    "equal sides": lambda n: "x = 5" + " = 5" * n,
    "operations": lambda n: "Subtract 3 from both sides. " * n + "x = 5",
    "verbs": lambda n: "subtract " * n + "3",
    "fillers": lambda n: "subtract " + "the " * n + "3 from both sides",
    "verbs without operands": lambda n: "divide the x, " * n + "x = 5",
    "compared sides": lambda n: ("2x = 10" + "=10" * 100 + "\n") * min(n // 100, 40) + "x = 5",
    "scaled equations": lambda n: "".join(f"{2 * i}x = {10 * i}\n" for i in range(1, n + 1)),
    "scalings": lambda n: "Multiply both sides by 2. " * n + "x = 5",
    "sums": lambda n: "2x = " + "1 + " * n + "0\nx = 5",
    "threes": lambda n: "2x" + " + 3 - 3" * n + " = 10\nx = 5",
    "text commands": lambda n: "\\text{" * n + "x = 5" + "}" * n,
    "boxes": lambda n: "\\boxed{" * n + "5" + "}" * n,
    "fractions": lambda n: "\\frac{1}{" * n + "5",
    "environments": lambda n: "\\begin{" * n,
    "dollars": lambda n: "$" * n + "x = 5",
    "markers": lambda n: "1. " * n + "x = 5",
    "numbers": lambda n: "5 " * n,
    "digits": lambda n: "x = " + "5" * n,
    "decimals": lambda n: "x ≈ 5." + "0" * n,
    "Chinese": lambda n: "得到得" * n + "x = 5",
    "mentions": lambda n: "x " * n + "= 5",
    "words": lambda n: "so " * n + "x = 5",
    "surrogates": lambda n: "\udfff" * n + "x = 5",
    "no solution": lambda n: "has no " * n,
}


def work(action: Callable[[], object]) -> int:
    """How many calls an action makes, in place of a clock."""
    count = 0

    def profile(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("make", PROMPTS.values(), ids=PROMPTS.keys())
def test_the_work_for_a_prompt_is_bounded(make: Callable[[int], str]) -> None:
    for size in (3, 40, 400, 1_000_000):
        prompt = make(size)
        assert work(lambda prompt=prompt: recognise(Request(prompt))) < 120_000  # type: ignore[misc]


@pytest.mark.parametrize("make", REPLIES.values(), ids=REPLIES.keys())
def test_the_work_for_a_reply_is_bounded(make: Callable[[int], str]) -> None:
    spec = spec_of("Solve 2x + 3 = 13 for x.")
    for size in (3, 40, 1_500, 100_000):
        reply = make(size)
        assert work(lambda reply=reply: spec.check(reply)) < 900_000  # type: ignore[misc]
        assert work(lambda reply=reply: spec.verify((Step(reply),))) < 2_500_000  # type: ignore[misc]
        assert work(lambda reply=reply: spec.trace(reply)) < 2_500_000  # type: ignore[misc]


def test_an_endless_reply_fails() -> None:
    spec = spec_of("Solve 2x + 3 = 13 for x.")
    assert not spec.check("x = 5 " * 200_000).ok
    assert not any(v.ok for v in spec.verify((Step("x = 5 " * 200_000),)))


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=200))
def test_no_text_breaks_the_reading_of_prompts(text: str) -> None:
    for prompt in (text, f"Solve 2x + 3 = 13 {text}", f"{text} = 3x"):
        spec = recognise(Request(prompt))
        assert spec is None or spec.check(spec.fallback() or "").ok


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="0123456789x=+-*/(){}[]\\fracboxed$ \n.,:subtracthd3&~≈^|", max_size=120))
def test_no_text_breaks_the_reading_of_replies(text: str) -> None:
    spec = spec_of("Solve 2x + 3 = 13 for x.")
    for reply in (text, f"2x = 10\n{text}\nx = 5"):
        verdict = spec.check(reply)
        assert len(spec.verify((Step(reply),))) == 1
        spec.trace(reply)
        new = spec_of("Solve 2x + 3 = 15 for x.").rewrite((Step(reply),), entry_of("Solve 2x + 3 = 13 for x.", reply))
        assert new is None or (
            verdict.ok and spec_of("Solve 2x + 3 = 15 for x.").check("".join(s.text for s in new)).ok
        )
