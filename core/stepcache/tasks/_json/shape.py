"""Reading a JSON Schema as a person would: which keys it declares, what each of them means, what a part of it asks.

Only the plain structure is followed (`properties`, `items`, `prefixItems`, local `$ref`, `allOf`, the one branch of
`anyOf`/`oneOf` that is not null). What this doesn't see is still checked by `schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepcache._data import digest
from stepcache.tasks._json.spans import Path

__all__ = [
    "asked_schema",
    "child",
    "core_of",
    "declared",
    "formats",
    "main_keys",
    "meanings",
    "ordered_keys",
    "part_of",
    "pattern_of",
    "plain",
    "remarks",
    "required",
]

_MAX_REFS = 32
_MAX_NODES = 4_000
_MAX_LEVELS = 12
_MAX_REMARKS = 400  # of one place
ITEM = "*"


def _resolve(reference: str, root: Any) -> Any:
    if not reference.startswith("#"):
        return None
    found = root
    for part in reference[1:].lstrip("/").split("/") if reference != "#" else ():
        part = part.replace("~1", "/").replace("~0", "~")
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def plain(schema: Any, root: Any) -> Mapping[str, Any]:
    """Return the schema with its `$ref`, `allOf` and nullable alternatives folded in; what is outside wins."""
    return _folded(schema, root, _MAX_REFS)


def _folded(schema: Any, root: Any, left: int) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping) or left <= 0:
        return {}
    inner: list[Any] = []
    if isinstance(schema.get("$ref"), str):
        inner.append(_resolve(schema["$ref"], root))
    if isinstance(schema.get("allOf"), list):
        inner += schema["allOf"]
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            real = [b for b in branches if not (isinstance(b, Mapping) and b.get("type") == "null")]
            if len(real) == 1 and len(branches) > 1:
                inner += real
    if not inner:
        return schema
    merged: dict[str, Any] = {}
    for one in inner:
        for key, value in _folded(one, root, left - 1 - len(inner)).items():
            if key == "properties" and isinstance(merged.get(key), Mapping) and isinstance(value, Mapping):
                merged[key] = {**merged[key], **value}
            elif key == "required" and isinstance(merged.get(key), list) and isinstance(value, list):
                merged[key] = merged[key] + value
            else:
                merged[key] = value
    for key, value in schema.items():
        if key == "properties" and isinstance(merged.get(key), Mapping) and isinstance(value, Mapping):
            merged[key] = {**merged[key], **value}
        elif key == "required" and isinstance(merged.get(key), list) and isinstance(value, list):
            merged[key] = merged[key] + value
        else:
            merged[key] = value
    return merged


def declared(schema: Any, root: Any) -> Mapping[str, Any]:
    """The properties an object schema declares, in its order."""
    found = plain(schema, root).get("properties")
    return found if isinstance(found, Mapping) else {}


def required(schema: Any, root: Any) -> tuple[str, ...]:
    """The keys that must be there."""
    found = plain(schema, root).get("required")
    if not isinstance(found, list):
        return ()
    return tuple(dict.fromkeys(key for key in found if isinstance(key, str)))


def ordered_keys(schema: Any, root: Any) -> tuple[str, ...]:
    """Declared keys in their order, then keys that are only required."""
    return tuple(dict.fromkeys((*declared(schema, root), *required(schema, root))))


def child(schema: Any, key: str | int, root: Any) -> Any:
    """The part of the schema that speaks about one member or item; {} where it says nothing of it."""
    whole = plain(schema, root)
    if isinstance(key, str):
        found = declared(schema, root).get(key)
        if found is None:
            found = whole.get("additionalProperties")
        return found if isinstance(found, Mapping) else {}
    first = whole.get("prefixItems", whole.get("items") if isinstance(whole.get("items"), list) else None)
    if isinstance(first, list) and key < len(first):
        return first[key]
    rest = whole.get("items") if isinstance(whole.get("items"), Mapping) else whole.get("additionalItems")
    return rest if isinstance(rest, Mapping) else {}


def part_of(schema: Any, path: Path, root: Any) -> Any:
    """The part of the schema that speaks about the value at `path`."""
    for key in path:
        schema = child(schema, key, root)
    return schema


def pattern_of(path: Path) -> str:
    """Name the place of a path in a schema: items of one array share a name."""
    return "/".join(ITEM if isinstance(key, int) else key.replace("~", "~0").replace("/", "~1") for key in path)


def _places(schema: Any) -> Iterator[tuple[Path, Mapping[str, Any], Any]]:
    """Every place below the top that the plain structure reaches: its path, its folded schema and the one written."""
    stack: list[tuple[Path, Any]] = [((), schema)]
    seen = 0
    while stack and seen < _MAX_NODES:
        path, part = stack.pop()
        seen += 1
        whole = plain(part, schema)
        yield path, whole, part
        if len(path) >= _MAX_LEVELS:
            continue
        properties = whole.get("properties")
        if isinstance(properties, Mapping):
            stack.extend(((*path, key), sub) for key, sub in properties.items() if isinstance(sub, Mapping))
        if isinstance(whole.get("items"), Mapping):
            stack.append(((*path, 0), whole["items"]))


def _words(text: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return " ".join(re.findall(r"\w+", spaced.replace("_", " ").casefold()))


def meanings(schema: Any) -> dict[str, str]:
    """What each place below the top is described as, by `pattern_of` its path.

    Where there is no description, the title of a plain value counts if it says more than the key does; titles of
    objects and of what a `$ref` leads to are names of types. Where only one value is allowed there is nothing to mean.
    """
    found: dict[str, str] = {}
    for path, whole, part in _places(schema):
        if not path or "const" in whole:
            continue
        says, title, key = whole.get("description"), part.get("title"), path[-1]
        if not isinstance(says, str) and isinstance(title, str) and "properties" not in whole:
            says = "" if isinstance(key, str) and _words(title) == _words(key) else title
        if isinstance(says, str) and says.strip():
            found[pattern_of(path)] = " ".join(says.split())
    return found


_UNFOLLOWED = (
    "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames", "dependentSchemas",
    "dependencies", "if", "then", "else", "not", "anyOf", "oneOf", "prefixItems", "items", "additionalItems",
    "unevaluatedItems", "contains",
)  # fmt: skip


def remarks(schema: Any) -> dict[str, dict[str, str]]:
    """The descriptions that stand where the plain structure does not lead: by place, then by their path in the schema.

    A branch of alternatives, a pattern of keys, a condition: which values they speak of is not followed, so they count
    for all that lies at their place. A single value may be named by its title.
    """
    found: dict[str, dict[str, str]] = {}
    for path, whole, _ in _places(schema):
        stack = [
            (keyword, whole[keyword])
            for keyword in _UNFOLLOWED
            if keyword in whole and not _followed(keyword, whole[keyword])
        ]
        here: dict[str, str] = {}
        while stack and len(here) < _MAX_REMARKS:
            name, part = stack.pop()
            if isinstance(part, Mapping):
                says = part.get("description", part.get("title") if "const" in part else None)
                if isinstance(says, str) and says.strip():
                    here[name] = " ".join(says.split())
                stack += [(f"{name}/{key}", sub) for key, sub in part.items() if isinstance(sub, Mapping | list)]
            elif isinstance(part, list):
                stack += [(f"{name}/{i}", sub) for i, sub in enumerate(part) if isinstance(sub, Mapping | list)]
        if here:
            found[pattern_of(path)] = here
    return found


def _followed(keyword: str, part: Any) -> bool:
    """Whether `_places` leads into what a keyword holds."""
    if keyword == "items":
        return isinstance(part, Mapping)
    if keyword in {"anyOf", "oneOf"} and isinstance(part, list):
        real = [b for b in part if not (isinstance(b, Mapping) and b.get("type") == "null")]
        return len(real) == 1 and len(part) > 1
    return False


def formats(schema: Any) -> dict[str, str]:
    """The `format` of each place, by `pattern_of` its path."""
    return {
        pattern_of(path): whole["format"] for path, whole, _ in _places(schema) if isinstance(whole.get("format"), str)
    }


def main_keys(schema: Any) -> list[str]:
    """The keys a schema is about: those of its object, or of the objects in its array."""
    return list(declared(schema, schema) or declared(child(schema, 0, schema), schema))


_NOTES = frozenset({"title", "description", "$id", "id", "$schema", "$comment", "examples", "example", "default"})


def core_of(schema: Any) -> str:
    """A digest of the schema without what only names or explains it at its top."""
    rest = {k: v for k, v in schema.items() if k not in _NOTES} if isinstance(schema, Mapping) else schema
    return digest(json.dumps(rest, sort_keys=True, default=str))


def asked_schema(schema: Any, paths: Sequence[Path]) -> dict[str, Any]:
    """A JSON Schema of an object that holds just the values at `paths`, in the nesting of the whole.

    An array stands as an object whose keys are the indexes, so that single items can be asked for.
    """
    made: dict[str, Any] = _object()
    for path in paths:
        level = made
        for depth, key in enumerate(path):
            name = str(key)
            last = depth == len(path) - 1
            if last:
                level["properties"][name] = _own_refs_only(part_of(schema, path, schema))
            else:
                level["properties"].setdefault(name, _object())
            if name not in level["required"]:
                level["required"].append(name)
            if not last:
                level = level["properties"][name]
    for keyword in ("$defs", "definitions"):
        if isinstance(schema, Mapping) and keyword in schema and f'"#/{keyword}/' in repr(made).replace("'", '"'):
            made[keyword] = schema[keyword]
    return made


def _object() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def _own_refs_only(part: Any) -> Any:
    """Drop what points at places the asked schema doesn't have."""
    if isinstance(part, Mapping):
        reference = part.get("$ref")
        if isinstance(reference, str) and not reference.startswith(("#/$defs/", "#/definitions/")):
            return {key: value for key, value in part.items() if key != "$ref"}
        return {key: _own_refs_only(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_own_refs_only(item) for item in part]
    return part
