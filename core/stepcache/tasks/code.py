"""The code task: a Python function asked for by its signature and docstring, or by an explicit spec.

What the function must do is checked by the user's own checks and tests, where given; without them the content gate
decides on docstring, examples and constants. The function's own name is accounted for: a request that only calls it
otherwise gets the recorded code renamed by its syntax tree.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar
from uuid import uuid4

from stepcache._data import Entry, PatchPlan, Request, Step, Verdict, digest, stitch
from stepcache.errors import ConfigurationError
from stepcache.protocols import Task
from stepcache.tasks import _sandbox
from stepcache.tasks._python.docstring import disagreement
from stepcache.tasks._python.mention import put_loosely
from stepcache.tasks._python.names import promise_the_same
from stepcache.tasks._python.parse import Head, functions, names_in, parse, stub
from stepcache.tasks._python.parse import signature as read_signature
from stepcache.tasks._python.rename import renamed
from stepcache.tasks._python.reply import Program, blocks, read, read_any
from stepcache.tasks._spec import Spec

__all__ = ["CodeSpec", "code"]

Check = Callable[[str], "bool | Verdict"]

_ONE_FENCE = 2  # spans: the whole text and the one fence in it
_MARK = "requested_function"  # stands for the function's own name in the residue; an identifier, as the name was
_NO_CODE_WANTED = re.compile(
    r"\b(?:explain|review|describe|critique|summari[sz]e|translate|rate|grade|complexity|docstrings?|unit tests?|"
    r"test cases?|find (?:the )?bugs?|what does|erklär\w*|explica\w*|expli(?:que|quer|cation)\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Adapted(Step):
    """A step that a rewrite has gone through for the function's old name; there may have been nothing to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSpec(Spec):
    """Code for one request: it parses, defines the function asked for with its signature, and passes the checks."""

    kind: ClassVar[str] = "code"
    weighs_docstrings: ClassVar[bool] = True

    prompt: str
    language: str = "python"
    head: Head | None = None
    completes: bool = False
    signature: str = ""
    tests: str = ""
    accepts: Check | None = field(default=None, repr=False)
    accepts_id: str = ""

    @property
    def identity(self) -> str:
        """Equal for equal demands. A check is told from others by its code, or for good where that can't be told."""
        return digest(self.kind, self.language, self.signature, self.tests, self.accepts_id)

    @property
    def residue(self) -> str:
        """The whole prompt (and a signature given beside it), with a mark for the function's own name."""
        return _marked(self.prompt, self.signature, self.head.name if self.head else "")

    @property
    def shape(self) -> str:
        return self.language

    @property
    def slow(self) -> bool:
        """With tests, a process is started; what a given check does nobody knows."""
        return bool(self.tests) or self.accepts is not None

    def segment(self, text: str) -> tuple[Step, ...]:
        """Code is one step: no part of a function is right by itself."""
        return (Step(text),) if text else ()

    def check(self, text: str) -> Verdict:
        """The code is there, alone, complete, of the signature asked for, and passes the checks and tests given."""
        if self.language != "python":
            spans = list(blocks(text))
            start, end = spans[1] if len(spans) == _ONE_FENCE else spans[0]
            return self._judge(text[start:end], "") if text[start:end].strip() else _fail("the reply is empty")
        if self.head is None:
            program = read_any(text)
        else:
            program = read(text, self.head, self.prompt if self.completes else "")
        if isinstance(program, str):
            return _fail(program)
        return self._judge(text[program.start : program.end], self._module(program))

    def _module(self, program: Program) -> str:
        """The source to run: a whole function given for a completion prompt still needs what stands before it there."""
        if program.lead == 0 and self.completes and self.head is not None:
            return f"{_before(self.prompt, self.head.name)}\n{program.source}"
        return program.source

    def _judge(self, code: str, module: str) -> Verdict:
        if self.accepts is not None and not (verdict := _ask(self.accepts, code)).ok:
            return verdict
        if not self.tests:
            return Verdict(True, "code")
        try:
            return _passed(module, _called(self.tests, self.head))
        except _Failed as failed:
            return failed.verdict

    def trace(self, text: str) -> str:
        """The language and the name the function was recorded under."""
        return json.dumps({"language": self.language, "name": self.head.name if self.head else ""})

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        """All steps pass or none. Code recorded under another name of the function must be adapted to the new one."""
        verdict = self._verify(steps, cached)
        return (verdict,) * len(steps)

    def _verify(self, steps: Sequence[Step], cached: Entry | None) -> Verdict:
        if cached is not None:
            language, name = _traced(cached)
            if language != self.language:
                return Verdict(False, "language", f"the recorded code is {language or 'of an unknown language'}")
            own = self.head.name if self.head else ""
            if name != own:
                if not (name and own and promise_the_same(name, own, self.head.docstring if self.head else "")):
                    return Verdict(False, "name", f"the function {own} may be meant to do something else than {name}")
                if not all(isinstance(step, _Adapted) for step in steps):
                    return Verdict(False, "name", f"the function is called {own} now, not {name}")
            if reason := disagreement(cached.residue, self.residue):
                return Verdict(False, "docstring", reason)
        return self.check(stitch(list(steps)))

    def rewrite(self, steps: tuple[Step, ...], cached: Entry) -> tuple[Step, ...] | None:
        """Rename the function in the recorded code, where the request differs in its name alone."""
        language, old = _traced(cached)
        head = self.head
        if language != "python" or head is None or not old or old == head.name:
            return None
        if not promise_the_same(old, head.name, head.docstring):
            return None
        asked = stub(cached.request.prompt)
        former, before = (asked.head, asked.source) if asked else (head, "")
        if former.name != old:
            former, before = replace(head, name=old), ""
        text = stitch(steps)
        program = read(text, former, before)
        changed = None if isinstance(program, str) else renamed(text, program, old, head.name, former.docstring)
        return None if changed is None else (_Adapted(changed),)

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        """None: code that fails is written afresh."""
        return None


def code(
    language: str = "python", signature: str | None = None, check: Check | None = None, tests: str | None = None
) -> Task:
    """Make the code task.

    Given explicitly (`spec=code(...)`), it takes any prompt. Among a cache's tasks it takes only a prompt that is
    Python ending in a signature and a docstring, as completion models are asked. `signature` names the function
    wanted ("def area(r: float) -> float"); `check` judges the code's text in this process, without running it;
    `tests` is Python that runs after the code, in a sandboxed process with the standard library only, and fails by
    raising (a `check(candidate)` function that nothing calls is called with the function). Where processes can't be
    limited (Windows), nothing runs and the tests count as failed.

    Raises `ConfigurationError` for what can't work: tests or a signature for another language than Python.
    """
    known = language.strip().lower()
    head = None
    if known in {"", "py", "python3"}:
        known = "python"
    if signature is not None:
        head = read_signature(signature) if known == "python" else None
        if head is None:
            raise ConfigurationError(f"code(signature=...) takes a Python one, like 'def f(a, b)', not {signature!r}")
    if tests is not None and known != "python":
        raise ConfigurationError(f"code(tests=...) runs Python only, not {language!r}; give check= instead")
    if tests is not None and parse(tests) is None:
        raise ConfigurationError("code(tests=...) takes Python source; what was given does not parse")
    if check is not None and not callable(check):
        raise ConfigurationError(f"code(check=...) takes a callable on the code's text, not {check!r}")
    accepts_id = "" if check is None else _told_apart(check)

    def task(request: Request) -> CodeSpec | None:
        explicit = request.spec is task or request.control.spec is task
        asked = stub(request.prompt) if known == "python" else None
        if not explicit and (asked is None or _wants_something_else(request, asked.head, head)):
            return None
        if asked is not None and head is not None and head.differs_from(asked.head):
            asked = None
        fits = asked is not None
        return CodeSpec(
            prompt=request.prompt if asked is None else asked.source,
            language=known,
            head=head if asked is None else asked.head,
            completes=fits,
            signature="" if fits or signature is None else signature.strip(),
            tests=tests or "",
            accepts=check,
            accepts_id=accepts_id,
        )

    return task


def _wants_something_else(request: Request, asked: Head, wanted: Head | None) -> bool:
    """Whether more than the function is asked for: by the context's words, or as another function than the task's."""
    if wanted is not None and wanted.differs_from(asked):
        return True
    if _MARK in request.prompt:
        return True
    return _NO_CODE_WANTED.search(request.context) is not None


@lru_cache(maxsize=64)
def _marked(prompt: str, signature: str, name: str) -> str:
    text = f"{prompt}\n\n{signature}" if signature else prompt
    return put_loosely(text, name, _MARK, names_in(prompt) - {name}) if name else text


def _fail(reason: str) -> Verdict:
    return Verdict(False, "code", reason)


def _traced(entry: Entry) -> tuple[str, str]:
    try:
        known = json.loads(entry.trace)
        return str(known["language"]), str(known["name"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", ""


def _before(prompt: str, name: str) -> str:
    """What a completion prompt holds above the function: imports, constants, other functions."""
    tree = parse(prompt)
    nodes = functions(tree, name) if tree else []
    if not nodes:
        return ""
    first = min([nodes[-1].lineno, *(decorator.lineno for decorator in nodes[-1].decorator_list)])
    return "\n".join(re.split(r"\r\n|\n|\r", prompt)[: first - 1])


def _ask(check: Check, code: str) -> Verdict:
    try:
        answer = check(code)
    except Exception as error:  # a user's check that stumbles over a reply has not accepted it
        return Verdict(False, "check", f"the check raised {type(error).__name__}")
    if isinstance(answer, Verdict):
        return answer
    return Verdict(bool(answer), "check", "" if answer else "the given check refuses the code")


class _Failed(Exception):
    """Carries a failing verdict past the memory of passes: a failure may be a busy machine's, a pass is a pass."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.detail)
        self.verdict = verdict


@lru_cache(maxsize=64)  # deciding and checking ask for the same run within one request
def _passed(module: str, tests: str) -> Verdict:
    verdict = _sandbox.run(module, tests)
    if not verdict.ok:
        raise _Failed(verdict)
    return verdict


def _called(tests: str, head: Head | None) -> str:
    """The tests, with a call of their `check(candidate)` where nothing calls it: tests that don't run prove nothing."""
    tree = parse(tests)
    if head is None or tree is None or not functions(tree, "check"):
        return tests
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    if any(isinstance(called, ast.Name) and called.id == "check" for called in calls):
        return tests
    return f"{tests}\ncheck({head.name})\n"


def _told_apart(check: Check) -> str:
    """A text equal for the same plain function only; whatever holds a state of its own is equal to nothing else."""
    made = getattr(check, "__code__", None)
    if made is None or getattr(check, "__closure__", None) or getattr(check, "__defaults__", None):
        return uuid4().hex
    parts: list[Any] = [getattr(check, "__module__", ""), getattr(check, "__qualname__", ""), made.co_names]
    constants = [constant for constant in made.co_consts if not hasattr(constant, "co_code")]
    if len(constants) != len(made.co_consts):
        return uuid4().hex
    return digest(*map(repr, parts), repr(constants), made.co_code.hex())
