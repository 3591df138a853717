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
    "x = 5 (mod 7)", "x = 5 mod 7", "x = 5 apples", "The answer is 5 kg.", "$x = 5$ dollars", "x = 5 \\text{ cm}",
    "x = 5 squared", "x = 5 hundred", "x = 5 and a half", "x = 5 percent", "x = 5 with remainder 2", "x = 5 in base 7",
    "x = 5 or 6", "x = 5, 6", "x = 5 and 6", "x = 5 to 6", "x = 5:6", "x = 5..6", "x = 5 ± 1", "x = 5 plus 1",
    "x = 5 or more", "x = 5 or six", "x = 5! = 120", "half of x = 5", "x = 5 + C", "x = 5 Äpfel",
    "The solution is six. x = 5", "2x = 10\nSo x is ten, hence x = 5", "x = 5\nThe answer: seven", "x = six\nx = 5",
    "x is negative five. x = 5", "x = 5. Therefore the answer is minus five.",
    "13 minus three is nine. x = 5", "Subtract four from both sides: 2x = 10. x = 5",
    "13 minus 3 is 9. x = 5", "10 divided by 2 is 6. x = 5", "x = 5 because 2 times 5 is 12", "So 2x is 16. x = 5",
]
RIGHT = [
    "2x = 10\nx = 5", "x = 5.", "x = 5, so 5 is the answer.", "2x = 10\nx = 5\n#### 5", "x = 5\n\n**5**",
    "13 minus 3 is 10. 10 divided by 2 is 5. x = 5", "So 2x is 10. x = 5", "The coefficient of x is 2. x = 5",
    "2 times x is 10. x = 5",
    "We do not need more steps: x = 5", "What is x? Subtract 3 from both sides: 2x = 10. x = 5",
    "x = 5 is the solution.", "So x = 5 satisfies the given equation.", "The value of x = 5", "x = 5 since 10/2 = 5",
    "x = 5 as required", "x = 5 (the only solution)", "Subtract three from both sides: 2x = 10. x = 5",
    "The answer is five: x = 5", "13 minus three is ten. x = 5", "x = 5 ist die Lösung.", "x = 5 es la solución",
    "One solution exists: x = 5", "x = 5, which makes both sides equal: 2(5) + 3 = 13", "x = 5 when 2x = 10",
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


@pytest.mark.parametrize(
    ("prompt", "right", "wrong"),
    [
        ("Löse 2x + 3 = 13 nach x auf.", "x = 5\nDie Antwort ist fünf.", "x = 5\nDie Antwort ist sechs."),
        ("Resuelve 2x + 3 = 13 para x.", "x = 5\nLa respuesta es cinco.", "x = 5\nLa respuesta es seis."),
        ("Résous 2x + 3 = 13 pour x.", "x = 5\nLa réponse est cinq.", "x = 5\nLa réponse est sept."),
        ("求解 2x + 3 = 13", "x = 5", "x = 5 或 6"),
    ],
)
def test_number_words_of_the_language_of_the_request_count(prompt: str, right: str, wrong: str) -> None:
    spec = linear_equation()(Request(prompt))
    assert spec is not None
    assert spec.check(right).ok
    assert not spec.check(wrong).ok
