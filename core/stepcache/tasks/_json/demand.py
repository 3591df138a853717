"""What a JSON reply lacks for a new request: the failures that decide, their share, and what to ask a model for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepcache._data import Verdict
from stepcache.tasks._json.failures import Failure
from stepcache.tasks._json.shape import (
    child,
    core_of,
    declared,
    formats,
    main_keys,
    meanings,
    pattern_of,
    remarks,
    required,
)
from stepcache.tasks._json.spans import Path, pointer

__all__ = ["JsonVerdict", "Recorded", "failing_share", "named", "paths_to_ask", "recorded", "trace_of"]

_TRACE_VERSION = 2
_MOST = 0.6
_FAIR = 0.3


@dataclass(frozen=True, slots=True)
class JsonVerdict(Verdict):
    """A verdict on a JSON reply that knows each fault; `failures` is empty where there is no JSON to speak of."""

    failures: tuple[Failure, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recorded reply's own schema said: its keys, a digest; descriptions, formats and remarks by place."""

    keys: tuple[str, ...] = ()
    core: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def trace_of(schema: Any) -> str:
    """What to remember of a schema beside a reply, as JSON text."""
    return json.dumps(
        {
            "version": _TRACE_VERSION,
            "keys": main_keys(schema),
            "core": core_of(schema),
            "meanings": meanings(schema),
            "formats": formats(schema),
            "remarks": remarks(schema),
        },
        ensure_ascii=False,
    )


def recorded(trace: str) -> Recorded:
    """Read a trace; one that can't be read says nothing."""
    try:
        data = json.loads(trace)
        if data["version"] != _TRACE_VERSION:
            return Recorded()
        told = {place: dict(says) for place, says in dict(data["remarks"]).items()}
        return Recorded(tuple(data["keys"]), str(data["core"]), dict(data["meanings"]), dict(data["formats"]), told)
    except (ValueError, TypeError, KeyError, RecursionError):
        return Recorded()


def named(failures: Sequence[Failure], limit: int = 5) -> str:
    """Say in words what fails, naming the keys."""
    said = [f"{pointer(f.path) or 'the reply'} {f.message}" for f in failures[:limit]]
    if len(failures) > limit:
        said.append(f"and {len(failures) - limit} more")
    return "; ".join(said)


def meaning_failures(
    value: Any,
    schema: Any,
    before: Recorded,
    same: Callable[[str, str, str], bool],
    fits: Callable[[str, str], bool | None],
) -> list[tuple[Path, str]]:
    """Where the new schema gives a key another meaning than the one its recorded value was written for.

    `same` compares two descriptions of a key, `fits` tells whether a text has a format. The schema's own title and
    description, its `$id` and `$schema` and unknown keywords don't decide.
    """
    now, now_formats, now_remarks = meanings(schema), formats(schema), remarks(schema)
    if not now and not now_formats and not now_remarks:
        return []
    reworded = {place for place in now_remarks if _reworded(before.remarks.get(place, {}), now_remarks[place], same)}
    found: list[tuple[Path, str]] = []
    stack: list[tuple[Path, Any]] = [((), value)]
    judged: dict[str, bool] = {}
    while stack:
        path, item = stack.pop()
        place = pattern_of(path)
        if path and place in now:
            if place not in judged:
                judged[place] = same(_key_of(path), before.meanings.get(place, ""), now[place])
            if not judged[place]:
                found.append((path, "is described in another way now"))
                continue
        if place in reworded:
            found.append((path, "is described in another way now"))
            continue
        wanted = now_formats.get(place)
        if wanted and isinstance(item, str) and before.formats.get(place) != wanted and fits(wanted, item) is not True:
            found.append((path, f"may not have the format {wanted}"))
            continue
        if isinstance(item, dict):
            stack.extend(((*path, key), sub) for key, sub in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend(((*path, index), sub) for index, sub in reversed(tuple(enumerate(item))))
    return found


def _reworded(before: Mapping[str, str], now: Mapping[str, str], same: Callable[[str, str, str], bool]) -> bool:
    """Whether a condition, a pattern or an alternative is described in another way, or described for the first time."""
    return not all(same("", before.get(where, ""), says) for where, says in now.items())


def _key_of(path: Path) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), "")


def unrelated(value: Any, schema: Any, before: Recorded, *, alone: bool) -> bool:
    """Whether a recorded reply was written for a schema that has too little in common with this one.

    An open schema lets any object pass; that alone does not make it an answer. One common key is enough where both
    prompts say what they are about. Where the schema stands `alone`, it is all that says so: then most of the smaller
    one's keys must be common and a fair part of the larger one's, and a schema without keys must be the very same.
    """
    keys = set(main_keys(schema))
    items = value if isinstance(value, list) else [value]
    held = {key for item in items if isinstance(item, dict) for key in item}
    if not keys:
        return alone and before.core != core_of(schema)
    old = set(before.keys) or held
    common = len(keys & old)
    if not alone:
        return common == 0 and keys.isdisjoint(held) and bool(held or old)
    return common < max(_MOST * min(len(keys), len(old)), _FAIR * max(len(keys), len(old)))


def failing_share(value: Any, schema: Any, failures: Sequence[Failure]) -> float:
    """The share of the demanded keys that a model would have to write; a key that fails in part counts in part."""
    return _share(value, schema, schema, [(f.path, f.problem) for f in failures if f.problem != "extra"])


def _share(value: Any, schema: Any, root: Any, failing: Sequence[tuple[Path, str]]) -> float:
    if not failing:
        return 0.0
    if any(not path for path, _ in failing):
        return 1.0
    groups: dict[str | int, list[tuple[Path, str]]] = {}
    for path, problem in failing:
        groups.setdefault(path[0], []).append((path[1:], problem))
    if isinstance(value, dict):
        keys: set[Any] = {*required(schema, root), *(k for k in declared(schema, root) if k in value), *groups}
    elif isinstance(value, list):
        keys = {*range(len(value)), *groups}
    else:
        return 1.0
    total = 0.0
    for key, inner in groups.items():
        here = value.get(key) if isinstance(value, dict) else value[key] if isinstance(key, int) else None
        total += _share(here, child(schema, key, root), root, inner)
    return total / len(keys)


def paths_to_ask(failures: Sequence[Failure]) -> tuple[Path, ...] | None:
    """The values a model has to write, outermost only; None when the reply as a whole is at fault."""
    paths = [f.path for f in failures if f.problem != "extra"]
    if not paths or any(not path for path in paths):
        return None
    asked: list[Path] = []
    for path in sorted(paths, key=len):
        if not any(path[:len(outer)] == outer for outer in asked):
            asked.append(path)
    order = {path: i for i, path in reversed(list(enumerate(paths)))}
    return tuple(sorted(asked, key=lambda path: order[path]))
