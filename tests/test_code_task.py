"""The code task: what it recognises, what it accepts as a reply, what it demands of tests and checks."""

from __future__ import annotations

import ast
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import Request, Step, Verdict
from stepcache.errors import ConfigurationError
from stepcache.tasks.code import CodeSpec, code

STUB = '''from typing import List


def running_max(values: List[int], start: int = 0) -> List[int]:
    """Return for each position the largest value seen so far.

    >>> running_max([1, 3, 2])
    [1, 3, 3]
    """
'''
BODY = """    best, seen = start, []
    for value in values:
        best = max(best, value)
        seen.append(best)
    return seen
"""


def spec_of(prompt: str, **options: object) -> CodeSpec:
    """The spec of a prompt, explicit when options are given."""
    task = code(**options)  # type: ignore[arg-type]
    spec = task(Request(prompt, spec=task if options else None))
    assert isinstance(spec, CodeSpec)
    return spec


# --- recognising ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    [
        STUB,
        "def f(x):\n  '''Double x.'''",
        'async def fetch_all(urls, *, limit=3):\n    """Fetch the pages."""\n',
        '\n\nimport math\n\nPI = 3\n\ndef helper(a):\n    return a\n\ndef area(r):\n\t"""Area of a circle."""\n',
        'class Box:\n    pass\n\n@staticmethod\ndef make(b: Box) -> Box:\n    "Make a box."\n',
        'def g(x):\r\n    """Halve x."""\r\n',
    ],
)
def test_a_signature_with_a_docstring_is_recognised(prompt: str) -> None:
    spec = code()(Request(prompt))
    assert isinstance(spec, CodeSpec)
    assert spec.completes


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "Write a function that doubles a number.",
        "def f(x):",
        "def f(x): pass",
        'def f(x):\n    """Double x."""\n    return 2 * x\n',
        "What does this do?\n\ndef f(x):\n    '''Double x.'''\n",
        'def f(x):\n    """Double x."""\nprint(f(2))\n',
        'def f(x):\n    """Double',
        'def f(x):\n    """>>> """\n',
        'def f(x):\n    """Double x."""\n\ndef f(y):\n    """Treble y."""\n',
        'class A:\n    def f(self):\n        """Double."""\n',
        'function f(x) { /* """def f(x)""" */ }',
        'f"""def f(x): {1}"""',
        "def f(x):\n    f'''Double {x}.'''\n",
        "def f(x):\n    b'Double x.'\n",
    ],
)
def test_anything_else_is_not(prompt: str) -> None:
    assert code()(Request(prompt)) is None


@pytest.mark.parametrize("context", ["Explain the code that is sent.", "system: review code, list bugs", "Rate this."])
def test_a_context_that_asks_for_something_else_is_left_alone(context: str) -> None:
    assert code()(Request(STUB, context=context)) is None
    assert code()(Request(STUB, context="You complete Python functions.")) is not None


def test_closing_quotes_that_were_mangled_are_understood() -> None:
    spec = spec_of('def half(x):\n    """Return half of x. \n     " " "\n')
    assert spec.check("    return x / 2\n").ok
    assert spec_of('def half(x):\n    """Return half of x.\n    """\n').check("    return x / 2\n").ok


def test_a_task_with_a_signature_takes_only_prompts_for_that_function() -> None:
    for signature, applies in (("running_max(values, start=0)", True), ("running_max(values)", False), ("f(x)", False)):
        assert (code(signature=signature)(Request(STUB)) is not None) is applies


def test_an_explicit_signature_counts_more_than_the_prompt() -> None:
    spec = spec_of(STUB, signature="def highest(values)")
    assert spec.check("def highest(values):\n    return max(values)\n").ok
    assert not spec.check(BODY).ok
    assert spec.residue != spec_of(STUB, signature="def highest(items)").residue


def test_a_prompt_that_holds_the_mark_itself_is_left_alone() -> None:
    assert code()(Request(STUB.replace("Return for", "Use requested_function and return for"))) is None


@pytest.mark.parametrize("language", ["Python", "py", "python3", ""])
def test_python_has_several_names(language: str) -> None:
    assert spec_of(ASKED, language=language, signature="is_leap(year)").check(LEAP).ok


# --- replies --------------------------------------------------------------------------------------------------------

WHOLE = f"{STUB}{BODY}"


@pytest.mark.parametrize(
    "reply",
    [
        BODY,
        WHOLE,
        f"```python\n{WHOLE}```",
        f"```\n{WHOLE}\n```\n",
        f"~~~py\n{BODY}~~~",
        f"Here is the function:\n\n```python\n{WHOLE}```\n\nIt keeps the largest value.",
        f"First a look at the input:\n```bash\nls\n```\nthen\n```python\n{WHOLE}```",
        BODY + "\n\ndef test():\n    assert running_max([]) == []\n",
        "def running_max(values, start=0):\n    return [max([start, *values[: i + 1]]) for i in range(len(values))]",
        BODY.replace("\n", "\r\n"),
        WHOLE.replace('"""Return for', 'r"""Return for'),
    ],
)
def test_the_function_asked_for_passes_in_any_wrapping(reply: str) -> None:
    assert spec_of(STUB).check(reply).ok


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "I can't help with that.",
        "yes",
        "    pass\n",
        "    ...\n",
        "    raise NotImplementedError('later')\n",
        "    return seen[\n",
        "return values",
        STUB,
        WHOLE.replace("running_max(values", "running_maximum(values"),
        WHOLE.replace("values: List[int]", "items: List[int]"),
        WHOLE.replace("start: int = 0", "start: int = 1"),
        WHOLE.replace("values: List[int], start: int = 0", "start: int = 0, values: List[int] = ()"),
        WHOLE.replace("values: List[int], start", "values: List[int], *, start"),
        WHOLE.replace("values: List[int]", "values: List[str]"),
        WHOLE.replace("def running", "async def running"),
        WHOLE + "\n\ndef running_max(values, start=0):\n    return values\n",
        f"```python\n{WHOLE}```\nor\n```python\n{WHOLE}```",
        f"```python\n{WHOLE}",
        f"```javascript\n{WHOLE}```",
        "class A:\n    def running_max(values, start=0):\n        return values\n",
    ],
)
def test_what_is_missing_other_or_twice_fails(reply: str) -> None:
    verdict = spec_of(STUB).check(reply)
    assert not verdict.ok
    assert verdict.detail


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_any_text_gets_a_verdict(text: str) -> None:
    spec = spec_of(STUB)
    assert spec.check(text).check == "code"
    assert "".join(step.text for step in spec.segment(text)) == text
    assert code()(Request(text)) is None or isinstance(code()(Request(text)), CodeSpec)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "-" * 90_000 + "1",
        "not " * 20_000 + "x",
        "a" + ".b" * 40_000,
        "lambda:" * 10_000 + "1",
        "9**9**9**9",
        "x\0y",
        "\ud800",
        "def f():\n" * 120_000,
        "a" * 1_000_000,
        "```\n" * 50_000,
        "\n" * 1_000_000,
        '"""' * 30_000,
    ],
    ids=lambda text: f"{text[:6]!r} {len(text)}",
)
def test_hostile_texts_get_an_answer(text: str) -> None:
    assert not spec_of(STUB).check(text).ok
    assert code()(Request(text)) is None
    assert not spec_of(text, tests="assert True").check(text).ok or text == "9**9**9**9"


# --- explicit demands -----------------------------------------------------------------------------------------------

ASKED = "Write a Python function that tells whether a year is a leap year."
LEAP = "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n"


def test_any_prompt_is_taken_when_the_spec_is_explicit() -> None:
    spec = spec_of(ASKED, signature="is_leap(year)")
    assert spec.check(LEAP).ok
    assert spec.check(f"Sure:\n```python\n{LEAP}```").ok
    assert not spec.check(LEAP.replace("is_leap", "leap")).ok
    assert not spec.check(LEAP.replace("year", "y")).ok
    assert not spec.check("A year is a leap year if it divides by 4.").ok


@pytest.mark.parametrize("form", ["def is_leap(year)", "is_leap(year)", "def is_leap(year):", "def is_leap(year): ..."])
def test_a_signature_may_be_written_in_any_usual_form(form: str) -> None:
    assert spec_of(ASKED, signature=form).check(LEAP).ok


def test_without_a_signature_any_one_piece_of_python_passes() -> None:
    spec = spec_of(ASKED, check=lambda text: True)
    assert spec.check(LEAP).ok
    assert not spec.check(f"```python\n{LEAP}```\n```python\n{LEAP}```").ok
    assert not spec.check("No").ok


def test_tests_decide_where_they_are_given() -> None:
    spec = spec_of(ASKED, signature="is_leap(year)", tests="assert is_leap(2000) and not is_leap(1900)")
    assert spec.check(LEAP).ok
    wrong = "def is_leap(year):\n    return year % 4 == 0\n"
    assert spec.check(wrong).check == "tests"
    assert not spec.check(wrong).ok


def test_tests_see_what_stands_before_the_function_in_the_prompt() -> None:
    prompt = 'import math\n\nSCALE = 2\n\ndef up(x):\n    """Round x up and scale it."""\n'
    tests = "assert up(1.2) == 4"
    assert spec_of(prompt, tests=tests).check("    return math.ceil(x) * SCALE\n").ok
    assert spec_of(prompt, tests=tests).check("def up(x):\n    return math.ceil(x) * SCALE\n").ok


def test_a_check_function_that_nothing_calls_is_called() -> None:
    tests = "def check(candidate):\n    assert candidate(2004) is True\n"
    spec = spec_of(ASKED, signature="is_leap(year)", tests=tests)
    assert spec.check(LEAP).ok
    assert not spec.check("def is_leap(year):\n    return False\n").ok


def test_a_check_judges_the_code_without_the_words_around_it() -> None:
    seen: list[str] = []

    def is_short(text: str) -> Verdict:
        seen.append(text)
        return Verdict(len(text) < 200, "short", "" if len(text) < 200 else "too long")

    spec = spec_of(ASKED, signature="is_leap(year)", check=is_short)
    assert spec.check(f"Of course!\n```python\n{LEAP}```").ok
    assert seen == [LEAP]
    assert spec.check(LEAP + "#" * 300).detail == "too long"


def test_a_check_that_stumbles_has_not_accepted() -> None:
    def stumbles(text: str) -> bool:
        raise KeyError(text)

    verdict = spec_of(ASKED, check=stumbles).check(LEAP)
    assert not verdict.ok
    assert "KeyError" in verdict.detail


def test_other_languages_are_judged_by_the_given_check_alone() -> None:
    spec = spec_of("Write it in Rust.", language="rust", check=lambda text: text.startswith("fn "))
    assert spec.check("fn main() {}").ok
    assert not spec.check("").ok
    assert not spec.check("def f(): pass").ok


@pytest.mark.parametrize(
    "options",
    [
        {"signature": "not a signature"},
        {"signature": ""},
        {"signature": "def f(:"},
        {"signature": "def f(): return 1\nimport os"},
        {"language": "rust", "tests": "assert True"},
        {"language": "go", "signature": "f(x)"},
        {"tests": "assert ("},
        {"check": "return True"},
    ],
)
def test_demands_that_cannot_work_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        code(**options)  # type: ignore[arg-type]


def test_equal_demands_have_one_identity_and_others_another() -> None:
    def strict(text: str) -> bool:
        return len(text) > 3

    same = {"signature": "f(x)", "tests": "assert f(1)", "check": strict}
    assert spec_of(ASKED, **same).identity == spec_of(ASKED, **same).identity
    others = [same | {"signature": "f(y)"}, same | {"tests": "assert f(2)"}, same | {"check": lambda t: True}]
    assert len({spec_of(ASKED, **options).identity for options in (same, *others)}) == 4


def test_checks_that_hold_a_state_are_never_taken_for_each_other() -> None:
    def at_least(count: int) -> object:
        return lambda text: len(text) >= count

    assert spec_of(ASKED, check=at_least(1)).identity != spec_of(ASKED, check=at_least(2)).identity
    task = code(check=at_least(1))  # type: ignore[arg-type]
    one, two = (task(Request(ASKED, spec=task)) for _ in range(2))
    assert one is not None
    assert two is not None
    assert one.identity == two.identity


def test_odd_escapes_are_no_fault_even_where_warnings_are_errors() -> None:
    body = "    import re\n    return re.findall('\\d+', str(values))\n"
    with pytest.warns(DeprecationWarning if sys.version_info < (3, 12) else SyntaxWarning):
        ast.parse("'\\d'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert spec_of(STUB).check(body).ok
        assert not spec_of(STUB).check(body + "    return '\\d\n").ok


def test_code_is_one_step_and_never_patched() -> None:
    spec = spec_of(STUB)
    steps = spec.segment(WHOLE)
    assert steps == (Step(WHOLE),)
    assert spec.plan_patch(STUB, steps, (Verdict(False),)) is None
    assert spec.segment("") == ()
