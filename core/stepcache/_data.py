"""The values that travel through StepCache. Only data lives here: no decision, no input or output."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from stepcache.errors import ConfigurationError

if TYPE_CHECKING:
    from stepcache.protocols import Task
    from stepcache.tasks._spec import Spec

__all__ = [
    "CacheControl",
    "Completion",
    "Decision",
    "Entry",
    "Match",
    "Miss",
    "Outcome",
    "Patch",
    "PatchPlan",
    "Request",
    "Result",
    "Reuse",
    "Skip",
    "Source",
    "Step",
    "Usage",
    "Verdict",
    "digest",
    "stitch",
]

Outcome = Literal["reuse", "patch", "skip", "miss"]
Source = Literal["cache", "rewrite", "patch", "repair", "fallback", "model"]


def digest(*parts: str) -> str:
    """Return the SHA-256 (64 hex digits) of the parts, each preceded by its length so that no two lists collide.

    Lone surrogates are allowed: they are encoded as they stand.
    """
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hasher.update(b"%d:" % len(data))
        hasher.update(data)
    return hasher.hexdigest()


@dataclass(frozen=True, slots=True)
class Step:
    """One ordered, verifiable piece of a reply, with its trailing separator."""

    text: str


def stitch(steps: tuple[Step, ...] | list[Step]) -> str:
    """Join steps into the reply they were cut from: `stitch(segment(text)) == text` (design law 2)."""
    return "".join(step.text for step in steps)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Pass or fail of one check, with the reason.

    `check` names the check ("equation", "key:age"); `detail` is the reason in words, empty on a plain pass.
    """

    ok: bool
    check: str = ""
    detail: str = ""

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. An unknown count is None, never 0."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def total(self) -> int | None:
        """Prompt and completion tokens together, or None if either is unknown."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        def plus(a: int | None, b: int | None) -> int | None:
            return None if a is None or b is None else a + b

        return Usage(
            plus(self.prompt_tokens, other.prompt_tokens),
            plus(self.completion_tokens, other.completion_tokens),
        )

    @classmethod
    def of(cls, value: Usage | Mapping[str, Any] | None) -> Usage | None:
        """Read token counts under the names OpenAI or LangChain use; None when there are none."""
        if value is None or isinstance(value, Usage):
            return value
        prompt = value.get("prompt_tokens", value.get("input_tokens"))
        completion = value.get("completion_tokens", value.get("output_tokens"))
        if prompt is None and completion is None:
            return None
        return cls(
            None if prompt is None else int(prompt),
            None if completion is None else int(completion),
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said: its text, token usage and finish reason.

    `usage` may be given as a mapping (`prompt_tokens`/`completion_tokens` or `input_tokens`/`output_tokens`).
    `payload` is the framework's own serialised reply (JSON values only), kept so that an exact repetition comes
    back whole. `cacheable=False` marks a reply that must not be recorded (a refusal, invalid tool calls).
    """

    text: str
    usage: Usage | None = None
    finish_reason: str | None = None
    payload: Any = None
    cacheable: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "usage", Usage.of(self.usage))

    @classmethod
    def of(cls, value: Completion | str) -> Completion:
        """Accept a bare string where a model has nothing more to tell. Raises `TypeError` for anything else."""
        if isinstance(value, Completion):
            return value
        given: object = value
        if not isinstance(given, str):
            raise TypeError(f"a model returns a string or a Completion, not {type(given).__name__}")
        return cls(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheControl:
    """What one caller wants of the cache for one request (after HTTP's Cache-Control, RFC 9111).

    `ttl` and `max_age` are seconds: how long a recorded reply lives, and how old a served one may be. `no_cache`
    doesn't read, `no_store` doesn't write, `refresh` doesn't read but overwrites. `spec` takes a spec or a task.
    Raises `ConfigurationError` for a negative time.
    """

    namespace: str | None = None
    ttl: float | None = None
    max_age: float | None = None
    no_cache: bool = False
    no_store: bool = False
    refresh: bool = False
    tags: tuple[str, ...] = ()
    spec: Spec | Task | None = None

    def __post_init__(self) -> None:
        for name in ("ttl", "max_age"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ConfigurationError(f"CacheControl.{name} takes seconds >= 0 or None, not {value!r}")
        tags: Any = self.tags
        if isinstance(tags, str):
            raise ConfigurationError(f"CacheControl.tags takes a tuple of strings; write tags=({tags!r},)")
        object.__setattr__(self, "tags", tuple(tags))


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks.

    `prompt` is the part that is embedded (the last human turn); `context` everything around it (system message,
    earlier turns, bound tools), compared exactly and never embedded; `namespace` the wall it stays behind; `model`
    the model identity with its sampling parameters. `spec` states what the answer must satisfy: a spec, or a task
    that makes one. `temperature` (None: unstated) and `multi_turn` feed the policy; `exact_only` allows exact
    repetition only (images, several candidates). `enforce` False: the context may ask for another kind of reply than
    the prompt's words do, so a fresh reply that fails a check inferred from them stays as the model wrote it and is
    kept as plain words.
    """

    prompt: str
    context: str = ""
    namespace: str = "default"
    model: str = ""
    spec: Spec | Task | None = None
    control: CacheControl = field(default_factory=CacheControl)
    temperature: float | None = None
    multi_turn: bool = False
    exact_only: bool = False
    enforce: bool = True

    @property
    def wall(self) -> str:
        """The namespace in force: the control's, else the request's own."""
        return self.namespace if self.control.namespace is None else self.control.namespace

    @property
    def partition(self) -> str:
        """What may match what inside a namespace: a digest of model identity and context."""
        return digest(self.model, self.context)

    @property
    def key(self) -> str:
        """The exact identity of this request: namespace, partition, prompt and explicitly given spec."""
        spec = self.spec if self.spec is not None else self.control.spec
        if spec is None:
            identity = ""
        elif (known := getattr(spec, "identity", None)) is not None:
            identity = str(known)
        else:  # a task: what it demands of this very prompt is what counts
            made = spec(self)  # type: ignore[operator]
            identity = "" if made is None else made.identity
        return digest(self.wall, self.partition, self.prompt, identity)

    def __repr__(self) -> str:
        prompt = self.prompt if len(self.prompt) <= 60 else self.prompt[:57] + "..."
        return f"Request({prompt!r}, namespace={self.wall!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A recorded request with its steps. Its request carries no context: the partition's digest stands for it.

    `task` is the kind of the spec the reply was verified by, `residue` and `shape` what that spec left over and the
    form it saw, `trace` what the spec wants to remember for later rewrites (JSON text), `template` the template key
    (empty: not reachable by template). `judged` is the key of the entry whose reply a second opinion
    (`Policy(judge=...)`) gave to this request too; empty where none was asked. Times are seconds since the epoch;
    `expires_at` None means never.
    """

    key: str
    request: Request
    partition: str
    task: str
    steps: tuple[Step, ...]
    residue: str = ""
    shape: str = ""
    template: str = ""
    trace: str = ""
    judged: str = ""
    payload: Any = None
    usage: Usage | None = None
    finish_reason: str | None = None
    created_at: float = 0.0
    expires_at: float | None = None
    fingerprint: str = ""
    tags: tuple[str, ...] = ()

    @property
    def reply(self) -> str:
        """The recorded reply, byte for byte."""
        return stitch(self.steps)

    @property
    def namespace(self) -> str:
        return self.request.wall

    def fresh(self, now: float, max_age: float | None = None) -> bool:
        """Whether the entry may still be served at `now`: at exactly its expiry it is expired.

        A clock that has run backwards past the entry's creation does not make it immortal: such an entry is
        stale as soon as it has any time limit.
        """
        if max_age is None and self.expires_at is None:
            return True
        age = now - self.created_at
        limits = [limit for limit in (max_age, None if self.expires_at is None else self.expires_at - self.created_at)
                  if limit is not None]
        return all(0 <= age < limit for limit in limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An entry with its similarity (cosine, 1.0 is nearest) to the request; `exact` for the very same request."""

    entry: Entry
    similarity: float | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchPlan:
    """How a failing region is to be regenerated.

    `region` is the half-open range of step indexes replaced; `prompt` is what the model is asked; `schema` a JSON
    Schema its reply must satisfy, for adapters whose model can be bound to one; `asked` names what is asked for.
    """

    prompt: str
    region: tuple[int, int]
    schema: Mapping[str, Any] | None = None
    asked: tuple[str, ...] = ()

    @property
    def rewritten(self) -> int:
        """How many steps of the region the model writes anew; the others in it stay."""
        return self.region[1] - self.region[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """Every step of the match serves the request as it stands."""

    match: Match
    reason: str
    verdicts: tuple[Verdict, ...] = ()
    outcome: ClassVar[Outcome] = "reuse"

    def __str__(self) -> str:
        return _sentence("Reuse", self.reason, self.match)

    def _repr_html_(self) -> str:
        from stepcache._display import decision_html

        return decision_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Some steps fail: `steps` (after any rewrite) are kept outside `plan.region`; without a plan, all is rewritten."""

    match: Match
    reason: str
    steps: tuple[Step, ...]
    verdicts: tuple[Verdict, ...] = ()
    plan: PatchPlan | None = None
    outcome: ClassVar[Outcome] = "patch"

    def __str__(self) -> str:
        how = "rewritten without a model" if self.plan is None else "the failing region goes to the model"
        return _sentence("Patch", f"{self.reason} ({how})", self.match)

    def _repr_html_(self) -> str:
        from stepcache._display import decision_html

        return decision_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A match exists but reuse is refused; the model answers afresh. `code` is the reason in one word, safe to log."""

    match: Match
    reason: str
    verdicts: tuple[Verdict, ...] = ()
    code: str = "failing"
    outcome: ClassVar[Outcome] = "skip"

    def __str__(self) -> str:
        return _sentence("Skip", self.reason, self.match)

    def _repr_html_(self) -> str:
        from stepcache._display import decision_html

        return decision_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """There is no usable match."""

    reason: str
    match: ClassVar[None] = None
    verdicts: ClassVar[tuple[Verdict, ...]] = ()
    outcome: ClassVar[Outcome] = "miss"

    def __str__(self) -> str:
        return f"Miss: {self.reason}."

    def _repr_html_(self) -> str:
        from stepcache._display import decision_html

        return decision_html(self)


Decision = Reuse | Patch | Skip | Miss


def _sentence(word: str, reason: str, match: Match) -> str:
    how = "the same request" if match.exact else (
        "found by template" if match.similarity is None else f"similarity {match.similarity:.2f}")
    return f"{word}: {reason}; matched entry {match.entry.key[:8]}, {how}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The reply and how it came about (design law 9).

    `decision` is what was planned, `source` what in fact answered. `verified` tells whether the reply passes the
    spec's check. `calls` counts model calls, `usage` their tokens, `saved` the tokens that were not spent because
    of the cache (None when unknown). `kept` and `regenerated` count steps. `payload` is the framework's own reply
    where it was stored whole. `key` is this request's key,
    `shadow` the verdict of `Policy(shadow=True)` on what would have been served, and
    `shared` that the same request was under way and this is a copy of its reply. `seconds` tells how long each stage
    took (see `Stats`); it is no part of what makes two results equal.
    """

    output: str
    steps: tuple[Step, ...]
    decision: Decision
    source: Source
    verified: bool
    payload: Any = None
    calls: int = 0
    saved: int | None = None
    usage: Usage | None = None
    kept: int = 0
    regenerated: int = 0
    key: str = ""
    verdict: Verdict = field(default_factory=lambda: Verdict(True))
    finish_reason: str | None = None
    recorded: bool = False
    namespace: str = "default"
    shadow: Verdict | None = None
    shared: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def outcome(self) -> Outcome:
        """What was decided: "reuse", "patch", "skip" or "miss"."""
        return self.decision.outcome

    @property
    def similarity(self) -> float | None:
        """The cosine to the matched request; None where there is none or it was found without an embedding."""
        return None if self.decision.match is None else self.decision.match.similarity

    @property
    def exact(self) -> bool:
        """Whether the matched request is this very one."""
        return self.decision.match is not None and self.decision.match.exact

    @property
    def matched(self) -> str | None:
        """The key of the matched entry, if any."""
        return None if self.decision.match is None else self.decision.match.entry.key

    def marker(self) -> dict[str, Any]:
        """The same facts as JSON values, as adapters put them into their framework's metadata."""
        return {
            "outcome": self.outcome,
            "source": self.source,
            "reason": self.decision.reason,
            "similarity": self.similarity,
            "exact": self.exact,
            "key": self.key,
            "matched": self.matched,
            "kept": self.kept,
            "regenerated": self.regenerated,
            "calls": self.calls,
            "saved": self.saved,
            "verified": self.verified,
        }

    def __repr__(self) -> str:
        output = self.output if len(self.output) <= 60 else self.output[:57] + "..."
        return (f"Result({output!r}, outcome={self.outcome!r}, source={self.source!r}, "
                f"reason={self.decision.reason!r}, verified={self.verified}, calls={self.calls}, saved={self.saved}, "
                f"kept={self.kept}, regenerated={self.regenerated})")

    def __str__(self) -> str:
        return f"{self.output}\n[{self.outcome} from {self.source}: {self.decision.reason}]"

    def _repr_html_(self) -> str:
        from stepcache._display import result_html

        return result_html(self)


def without_context(request: Request) -> Request:
    """Return the request as an entry keeps it: no context, no spec, no control but its namespace."""
    return replace(request, context="", spec=None, control=CacheControl(), namespace=request.wall, enforce=True)
