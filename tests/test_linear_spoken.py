"""What a reply says in words can make a right last line wrong: denials, questions, suffixes, sums in words."""

from __future__ import annotations

import pytest

from stepcache import Request
from stepcache.tasks import linear_equation

SPEC = linear_equation()(Request("Solve 2x + 3 = 13 for x."))

WRONG = [
    "x = 5²", "x = 5%", "x = 5e1", "x = 5₇", "x = 5i", "x = 5\u200b6", "2x = 10\nx = 5³",
    "x = 5 is not the solution.", "The solution isn't x = 5.", "x = 5 ist nicht die Lösung.",
    "Is x = 5? No.", "There are infinitely many solutions, e.g. x = 5",
    "2x = 10\nx = 5\n#### 8", "x = 5\n\n**8**",
    "13 minus 3 is 9. x = 5", "10 divided by 2 is 6. x = 5", "x = 5 because 2 times 5 is 12", "So 2x is 16. x = 5",
]
RIGHT = [
    "2x = 10\nx = 5", "x = 5.", "x = 5, so 5 is the answer.", "2x = 10\nx = 5\n#### 5", "x = 5\n\n**5**",
    "13 minus 3 is 10. 10 divided by 2 is 5. x = 5", "So 2x is 10. x = 5", "The coefficient of x is 2. x = 5",
    "2 times x is 10. x = 5",
    "We do not need more steps: x = 5", "What is x? Subtract 3 from both sides: 2x = 10. x = 5",
    "The solution is x = 5, not 6 as one may think.", "所以 x = 5所以",
]


@pytest.mark.parametrize("reply", WRONG)
def test_a_reply_that_takes_its_answer_back_or_says_something_false_fails(reply: str) -> None:
    assert SPEC is not None
    assert not SPEC.check(reply).ok


@pytest.mark.parametrize("reply", RIGHT)
def test_a_right_reply_passes_in_whatever_words(reply: str) -> None:
    assert SPEC is not None
    assert SPEC.check(reply).ok
