"""What one request demands of a JSON reply, as a spec: check, compare, trim, patch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from stepcache._data import Entry, PatchPlan, Step, Verdict, digest
from stepcache.tasks._json import shape
from stepcache.tasks._json.decode import canonical, decode
from stepcache.tasks._json.demand import (
    JsonVerdict,
    failing_share,
    meaning_failures,
    named,
    paths_to_ask,
    recorded,
    trace_of,
    unrelated,
)
from stepcache.tasks._json.extract import Found, Refused, extract
from stepcache.tasks._json.failures import Failure
from stepcache.tasks._json.grounding import fits, invented
from stepcache.tasks._json.spans import Path, pieces, pointer, span_at
from stepcache.tasks._json.splice import drop_members, put_member, replace_span
from stepcache.tasks._spec import Spec

__all__ = ["JsonSpec", "Many"]

Many = Literal["one", "list", "either"]


@dataclass(frozen=True)
class JsonSpec(Spec):
    """What one request demands of a JSON reply.

    `about` is the residue: the prompt without the key list or schema. `schema_text` is the demand as a JSON Schema,
    its keys in the order wanted. `draft` is used where the schema names none; `format_check` makes `format` binding.
    `many` says whether the schema speaks of the reply ("one"), of each item of a list ("list"), or of whichever of the
    two the reply is ("either": "three rivers as JSON with keys ..." leaves it open). With `repair`, a reply that is
    almost JSON passes if what it is mended to does; its verdict says so. `bare` is for "only JSON": a recorded reply
    with text around its JSON is then trimmed to it.
    """

    about: str
    schema_text: str
    draft: str | None = None
    format_check: bool = False
    many: Many = "one"
    repair: bool = False
    bare: bool = False

    kind: ClassVar[str] = "json"

    @property
    def identity(self) -> str:
        options = f"{self.draft} {self.format_check} {self.many} {self.repair} {self.bare}"
        return digest("json", _sorted_text(self.schema_text), options)

    @property
    def residue(self) -> str:
        return self.about

    @cached_property
    def schema(self) -> Any:
        """The demand as a decoded JSON Schema; of one item, where there may be many."""
        return decode(self.schema_text)[0]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that are declared or required, in order."""
        return shape.ordered_keys(self.schema, self.schema)

    def schema_of(self, value: Any) -> Any:
        """The schema that a whole reply with this value has to satisfy."""
        return decode(self._text_of(value))[0] if self.many != "one" else self.schema

    def _text_of(self, value: Any) -> str:
        if self.many == "list" or (self.many == "either" and isinstance(value, list)):
            least = ', "minItems": 1' if self.many == "either" else ""
            return f'{{"type": "array"{least}, "items": {self.schema_text}}}'
        return self.schema_text

    def failures(self, value: Any) -> tuple[Failure, ...]:
        """Every fault of a decoded reply."""
        from stepcache.tasks._json.schema import compile_schema  # the schema library takes time to load

        return compile_schema(self._text_of(value), self.draft, self.format_check).failures(value)

    def segment(self, text: str) -> tuple[Step, ...]:
        """A JSON reply is one step, with whatever stands around its object (paper, method 1)."""
        return (Step(text),) if text else ()

    def check(self, text: str) -> Verdict:
        return self._judge(text, None)

    def verify(self, steps: Sequence[Step], cached: Entry | None = None) -> tuple[Verdict, ...]:
        """One verdict for the reply, naming the keys at fault; with `cached`, also keys whose meaning has changed."""
        return (self._judge("".join(step.text for step in steps), cached),) * len(steps)

    def key_verdicts(self, text: str) -> dict[str, Verdict]:
        """A verdict per top-level key that is demanded or at fault, its detail with JSON pointers.

        Items of a top-level array go by their index. The empty key stands for the reply as a whole, where that fails.
        """
        found = extract(text)
        if isinstance(found, Refused):
            return {"": Verdict(False, "json", found.reason)}
        failing: dict[str, list[Failure]] = {}
        for failure in self.failures(found.value):
            failing.setdefault(str(failure.path[0]) if failure.path else "", []).append(failure)
        if isinstance(found.value, list):
            names = [str(index) for index in range(len(found.value))]
        else:
            present = found.value if isinstance(found.value, dict) else {}
            needed = shape.required(self.schema, self.schema)
            names = [key for key in self.keys if key in needed or key in present]
        return {
            name: Verdict(name not in failing, f"key:{name}" if name else "json", named(failing.get(name, ())))
            for name in dict.fromkeys((*names, *failing))
        }

    def _judge(self, text: str, cached: Entry | None) -> JsonVerdict:
        found = extract(text, repair=self.repair)
        if isinstance(found, Refused):
            return JsonVerdict(False, "json", found.reason)
        failures = list(self.failures(found.value))
        if cached is not None:
            failures += self._changed(found.value, cached, failures)
            if self.bare and found.json != text.strip():
                failures.append(Failure((), "extra", "has text around its JSON"))
        return JsonVerdict(not failures, "json", named(failures) or self._remark(found), tuple(failures))

    def _remark(self, found: Found) -> str:
        """What there is to say of a reply that passes."""
        said = ["almost JSON, read after mending"] if found.repaired else []
        if (path := self._invented(found.value)) is not None:
            said.append(f"only for the very same request: {_MADE_UP} {pointer(path)}")
        return "; ".join(said)

    def mend(self, text: str) -> str | None:
        """Make a fresh failing reply right by computation: mend it where allowed, drop forbidden keys; else None."""
        found = extract(text, repair=self.repair)
        if isinstance(found, Refused):
            return None
        mended = self._without_extras(found)
        return mended if mended != text and self.check(mended).ok else None

    def _changed(self, value: Any, cached: Entry, known: Sequence[Failure]) -> list[Failure]:
        from stepcache.tasks._json.formats import conforms
        from stepcache.tasks._json.wording import same_meaning

        before = recorded(cached.trace)
        schema = self.schema_of(value)
        if unrelated(value, schema, before, alone=not self.about):
            return [Failure((), "wrong", "belongs to a schema with other keys")]
        if (path := self._invented(value)) is not None:
            return [Failure((), "wrong", f"{_MADE_UP} {pointer(path)}")]
        gone = {failure.path for failure in known}
        changed = meaning_failures(value, schema, before, same_meaning, conforms)
        return [Failure(path, "wrong", why) for path, why in changed if path not in gone]

    def _invented(self, value: Any) -> Path | None:
        return invented(value, self.schema_of(value), self.about, self.schema_text)

    def failing_share(self, steps: Sequence[Step], verdicts: Sequence[Verdict]) -> float:
        """The share of demanded keys that are missing or fail; 1 where no part of the reply can be kept."""
        found = extract("".join(step.text for step in steps))
        if isinstance(found, Refused):
            return 1.0
        return failing_share(found.value, self.schema_of(found.value), _failures_in(verdicts))

    def region(self, verdicts: Sequence[Verdict]) -> tuple[int, int]:
        return (0, len(verdicts)) if any(not verdict.ok for verdict in verdicts) else (len(verdicts), len(verdicts))

    def trace(self, text: str) -> str:
        """The keys, descriptions and formats of this schema, which a later request's are compared with."""
        found = extract(text)
        return trace_of(self.schema_of(found.value if isinstance(found, Found) else None))

    def rewrite(self, steps: tuple[Step, ...], cached: Entry) -> tuple[Step, ...] | None:
        """Drop what the request forbids: keys, text around "only JSON". All other bytes stay. None: nothing to drop."""
        text = "".join(step.text for step in steps)
        trimmed = self._trimmed(text)
        return None if trimmed == text else (Step(trimmed),)

    def _trimmed(self, text: str) -> str:
        """A recorded reply without forbidden keys, mended where allowed, and bare where only JSON is wanted."""
        found = extract(text, repair=self.repair)
        if isinstance(found, Refused):
            return text
        bare = Found(found.value, 0, len(found.json), found.json)
        return self._without_extras(bare if self.bare else found)

    def _without_extras(self, found: Found) -> str:
        text = found.text
        extras: dict[Path, set[str | int]] = {}
        for failure in self.failures(found.value):
            if failure.problem == "extra":
                extras.setdefault(failure.path[:-1], set()).add(failure.path[-1])
        for holder, names in sorted(extras.items(), key=lambda item: len(item[0]), reverse=True):
            span = span_at(text, found.start, holder)
            assert span is not None  # the fault was found there, and what lies deeper goes first
            text = drop_members(text, span[0], names)
        return text

    def plan_patch(
        self, prompt: str, steps: tuple[Step, ...], verdicts: Sequence[Verdict], cached: Entry | None = None
    ) -> PatchPlan | None:
        """Ask for the missing and failing keys only, showing the object that is kept."""
        text = self._trimmed("".join(step.text for step in steps))
        found = extract(text)
        failures = _failures_in(verdicts)
        paths = paths_to_ask(failures)
        if isinstance(found, Refused) or not isinstance(found.value, dict | list) or paths is None:
            return None
        wanted = shape.asked_schema(self.schema_of(found.value), paths)
        kept = found.json
        for path in sorted(paths, key=len, reverse=True):
            span = span_at(kept, 0, path[:-1])
            if span is not None and isinstance(path[-1], str):
                kept = drop_members(kept, span[0], (path[-1],))
        asked = tuple(_name_of(path) for path in paths)
        lines = [
            prompt.rstrip(),
            "",
            # On one line: fewer tokens to read, and the model answers on one.
            f"This part of the answer is right and stays as it is: {canonical(decode(kept)[0])}",
            f"Still to be written: {named([f for f in failures if f.problem != 'extra'])}.",
        ]
        if _says_nothing(wanted):  # a weak model copies an empty schema as the value
            several = len(asked) > 1
            keys = ", ".join(json.dumps(name, ensure_ascii=False) for name in asked)
            lines.append(f"Reply with one JSON object that holds only the key{'s' if several else ''} {keys} with "
                         f"{'their values' if several else 'its value'} from the request. "
                         "Write valid JSON and nothing else.")
        else:
            lines += [f"Reply with one JSON object that holds only {', '.join(asked)}, matching this JSON Schema:",
                      canonical(wanted),
                      "Write valid JSON and nothing else: no kept keys, no comment."]
        return PatchPlan(prompt="\n".join(lines), region=(0, len(steps)), schema=_floats(wanted), asked=asked)

    def apply_patch(self, steps: tuple[Step, ...], plan: PatchPlan, reply: str) -> tuple[Step, ...] | None:
        """Splice the values asked for out of the model's reply into the kept text; keys not asked for are ignored.

        None when the reply has no one JSON object, or lacks a value that was asked for.
        """
        whole = "".join(step.text for step in steps)
        text = self._trimmed(whole)
        kept, given, before = extract(text), extract(reply), extract(whole, repair=self.repair)
        if isinstance(kept, Refused) or isinstance(given, Refused) or isinstance(before, Refused):
            return None
        schema = self.schema_of(kept.value)
        spelt_out = any(shape.declared(shape.child(schema, key, schema), schema) for key in self.keys)
        for name in plan.asked:
            path = _path_of(name, kept.value)
            value = _value_text(given, path)
            if value is None or (value in _EMPTY and plan.schema is not None and _says_nothing(plan.schema)):
                return None  # nothing said what the value is like, and nothing was said
            free = _free(_at(given.value, path), shape.part_of(schema, path, schema), schema)
            if not all(fits(before.value, part, self.about, spelt_out) for part in free):
                return None
            text = self._spliced(text, kept, path, value)
        patched = extract(text)
        if isinstance(patched, Refused) or self._invented(patched.value) is not None:
            return None
        return (Step(text),)

    def _spliced(self, text: str, kept: Found, path: Path, value: str) -> str:
        holder = span_at(text, kept.start, path[:-1])
        assert holder is not None  # the path was read off this very text
        key = path[-1]
        if isinstance(key, int):
            item = pieces(text, holder[0])[0][key]
            return replace_span(text, (item.value_start, item.value_end), value)
        schema = self.schema_of(kept.value)
        order = shape.ordered_keys(shape.part_of(schema, path[:-1], schema), schema)
        return put_member(text, holder[0], key, value, order)

    def repair_prompt(self, prompt: str, reply: str, verdict: Verdict) -> str:
        """Ask strictly for the whole, once more (the paper's one-shot repair)."""
        shown = reply if len(reply) <= _MAX_QUOTED else reply[:_MAX_QUOTED] + " [...]"
        return "\n".join([
            prompt.rstrip(),
            "",
            "A first answer was:",
            shown,
            "",
            f"It can't be used: {verdict.detail}.",
            f"Reply with valid JSON only, no text around it, {_FORM[self.many]} this JSON Schema:",
            self.schema_text,
        ])


_MAX_QUOTED = 4_000
_MADE_UP = "has a value that is not from the request, at"
_EMPTY = frozenset({"{}", "[]", '""'})
_FORM: dict[Many, str] = {
    "one": "matching",
    "list": "an array whose items each match",
    "either": "one object, or an array of objects, each matching",
}


def _failures_in(verdicts: Sequence[Verdict]) -> tuple[Failure, ...]:
    return next((v.failures for v in verdicts if isinstance(v, JsonVerdict) and not v.ok), ())


def _says_nothing(wanted: Any) -> bool:
    """Whether a schema of asked keys (of an object, at its top) says nothing about their values."""
    parts = wanted.get("properties") if isinstance(wanted, dict) else None
    return isinstance(parts, dict) and bool(parts) and all(part in ({}, True) for part in parts.values())


def _free(value: Any, schema: Any, root: Any) -> Iterator[Any]:
    """The parts of a value of which its schema says nothing."""
    if schema in ({}, True):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _free(part, shape.child(schema, key, root), root)
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _free(part, shape.child(schema, place, root), root)


def _name_of(path: Path) -> str:
    """A top-level key goes by itself, what lies deeper by its JSON pointer."""
    plain = len(path) == 1 and isinstance(path[0], str) and not path[0].startswith("/")
    return str(path[0]) if plain else pointer(path)


def _path_of(name: str, value: Any) -> Path:
    if not name.startswith("/"):
        return (name,)
    path: list[str | int] = []
    for part in name[1:].split("/"):
        key: str | int = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            key = int(key)
        path.append(key)
        value = _member(value, key)
    return tuple(path)


def _member(value: Any, key: str | int) -> Any:
    if isinstance(value, list):
        return value[key] if isinstance(key, int) and key < len(value) else None
    return value.get(key) if isinstance(value, dict) else None


def _at(value: Any, path: Path) -> Any:
    """The value at `path` in a patch reply, where `_value_text` found its text."""
    for key in path:
        value = _member(value, key if isinstance(value, list) else str(key))
    return value


def _value_text(given: Found, path: Path) -> str | None:
    """The JSON text of the value at `path` in a patch reply; arrays may come whole or keyed by index."""
    value, start, text = given.value, given.start, given.text
    for key in path:
        if isinstance(value, list) and isinstance(key, int) and key < len(value):
            step: str | int = key
        elif isinstance(value, dict) and str(key) in value:
            step = str(key)
        else:
            return None
        span = span_at(text, start, (step,))
        assert span is not None  # the value was just found there
        value, start = _member(value, step), span[0]
        end = span[1]
    return text[start:end]


def _sorted_text(text: str) -> str:
    def ordered(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: ordered(value[key]) for key in sorted(value)}
        return [ordered(item) for item in value] if isinstance(value, list) else value

    return canonical(ordered(decode(text)[0]))


def _floats(value: Any) -> Any:
    """Decoded JSON as plain Python values, for frameworks that know no `Decimal`."""
    return json.loads(canonical(value))
