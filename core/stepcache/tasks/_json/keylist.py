"""Reading a list of keys as people write it: brackets, commas and "and", bullets, quotes, types, nested keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = ["KeyList", "read_key_list"]

_MAX_KEYS = 200

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "«": "»", "‘": "’", "**": "**"}
_BARE = re.compile(r"[^\W\d][\w$@-]*(?:\.[\w$-]+)*", re.UNICODE)
_GAP = re.compile(r"[ \t]*")
_BREAK = re.compile(r"\s*")
_WORD_SEP = r"(?:and|und|sowie|y|e|et|ainsi\ que|as\ well\ as|plus|&)"
_SEP = re.compile(rf"\s*+[,;/]\s*+|\s++{_WORD_SEP}\s++", re.IGNORECASE)
_AND = re.compile(rf"{_WORD_SEP}\s+", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*(?:[-*•–+]|\d{1,2}[.)])[ \t]+")
_LINE_END = re.compile(r"[ \t]*(?:[,;][ \t]*)?(?:\r?\n|\Z)")
_TERMINATOR = re.compile(
    r"""[ \t]*+(?: \Z | [.!?:)\]\n\r] | [,;]\s*+(?![,;])
      | \b(?:for|about|of|from|describing|on|based|that|which|where|extracted|given|using|to|in|as|only|with|without|at|
           each|per|taken|zurück|zurückgeben|ausgeben|representing|by|whose|regarding|concerning|
           für|über|von|aus|zu|zum|zur|auf|basierend|der|die|das|wobei|bei|mit|ohne|im|
           para|sobre|de|del|a\ partir|según|que|con|sin|en|
           pour|sur|à|à\ partir|selon|du|des|d['’]|avec|sans|dans|décrivant)(?!\w))""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_MORE = re.compile(
    r"""\s*+(?:[,;]\s*+)?(?:(?:and|und|y|et)\s+)?
        (?: nothing\s+(?:else|more)
          | no\s+(?:other|additional|extra|more)\s*(?:keys?|fields?|propert(?:y|ies)|attributes?)?
          | none\s+other | only | sonst\s+nichts | keine\s+(?:weiteren|anderen)\s*(?:schlüssel|felder|eigenschaften)?
          | nada\s+más | ning(?:ún|una)\s+otr[oa](?:\s+(?:clave|campo))? | rien\s+d['’]autre
          | aucun(?:e)?\s+autre(?:\s+(?:clé|champ))? )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
# Brackets within brackets and no further: this bounds the nesting of keys.
_ANNOTATION = re.compile(r"[ \t]*\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)")
_INLINE_TYPE = re.compile(
    r"[ \t]*:[ \t]*((?:list|array)\ of\ \w+|\w+(?:\[\])?)(?=\s*(?:[,;)\]}\n.]|\Z|and\b|und\b|y\b|et\b))", re.IGNORECASE
)
_AS_TYPE = re.compile(
    r"[ \t]+(?:as|als|como|comme)\s+(?:an?\s+|eine?\s+|una?\s+|une?\s+)?(string|integer|number|boolean|text|"
    r"(?:list|array)\ of\ \w+|array|list|object)(?!\w)",
    re.IGNORECASE,
)

_TYPES = {
    "string": "string", "str": "string", "text": "string", "texto": "string", "cadena": "string", "chaîne": "string",
    "zeichenkette": "string", "integer": "integer", "int": "integer", "entero": "integer", "entier": "integer",
    "ganzzahl": "integer", "whole number": "integer", "number": "number", "float": "number", "double": "number",
    "decimal": "number", "número": "number", "nombre": "number", "zahl": "number", "numeric": "number",
    "boolean": "boolean", "bool": "boolean", "booleano": "boolean", "booléen": "boolean", "wahrheitswert": "boolean",
    "true/false": "boolean", "true or false": "boolean", "array": "array", "list": "array", "lista": "array",
    "liste": "array", "object": "object", "dict": "object", "objeto": "object", "objet": "object", "objekt": "object",
}  # fmt: skip
_LIST_OF = re.compile(r"(?:an?\s+)?(?:list|array|lista|liste)\s+(?:of|de|von)\s+(\w+?)s?\Z", re.IGNORECASE)
_OBJECT_WITH = re.compile(
    r"(?:an?\s+)?(?:(list|array)\s+of\s+)?(?:nested\s+)?(?:object|dict|objekt|objeto|objet)s?\s+"
    r"(?:with|mit|con|avec)\s+(?:the\s+)?(?:keys?|fields?|schlüsseln?|feldern?|claves|campos|clés|champs)?\s*:?\s*",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(r"\b(?:optional|opcional|optionnel(?:le)?)\b[\s,;]*", re.IGNORECASE)
_REQUIRED = re.compile(r"\b(?:required|mandatory|erforderlich|obligatorio|obligatoire)\b[\s,;]*", re.IGNORECASE)


# Bare words that say how the JSON is to look or that the list goes on; as keys they would have to be in quotes.
_NO_KEY_WORDS = """
    minified minify pretty prettified pretty-printed pretty-print indented indent compact sorted ordered nested
    flattened formatted unformatted escaped etc etcetera etcétera usw so others more else
    string integer boolean float int bool str
"""
_NO_KEY = frozenset(_NO_KEY_WORDS.split())
# "weight in kg, age": whether the list goes on behind such words can't be told.
_MAY_GO_ON = re.compile(
    rf"[ \t]*(?:in|as|with|als|en|como|comme|mit|con|avec)\s[^.!?:;,\n]{{1,40}}?"
    rf"(?:,\s*(?:{_WORD_SEP}\s+)?|\s{_WORD_SEP}\s+)"
    r"(?!\w+ing\b)(?P<key>[^\W\d][\w-]*)\s*(?=[,.!?\n]|\Z)",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class KeyList:
    """The keys as properties of an object schema, and where the list ends in its text. `quoted`: each is in quotes."""

    properties: dict[str, Any]
    optional: frozenset[str]
    end: int
    quoted: bool = False

    def schema(self, extras: bool) -> dict[str, Any]:
        made: dict[str, Any] = {
            "type": "object",
            "properties": self.properties,
            "required": [key for key in self.properties if key not in self.optional],
        }
        if not extras:
            made["additionalProperties"] = False
        return made


@dataclass(frozen=True, slots=True)
class _Item:
    key: str
    schema: dict[str, Any]
    optional: bool
    end: int
    quoted: bool


def read_key_list(text: str, position: int) -> KeyList | None:
    """Read the list of keys that starts at `position`; None where it isn't plainly one."""
    position = _match_end(_BREAK, text, position)
    opening = text[position:position + 1]
    if opening in ("[", "{", "("):
        return _bracketed(text, position, {"[": "]", "{": "}", "(": ")"}[opening])
    if _BULLET.match(text, text.rfind("\n", 0, position) + 1) and "\n" in text[:position]:
        return _bulleted(text, text.rfind("\n", 0, position) + 1)
    return _inline(text, position)


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _item(text: str, position: int) -> _Item | None:
    for opening, closing in _QUOTES.items():
        if text.startswith(opening, position):
            inside = position + len(opening)
            end = text.find(closing, inside, inside + 200)
            key = text[inside:end]
            if end < 0 or not key.strip() or "\n" in key or key != key.strip():
                return None
            key = key.strip('"`') if opening == "**" else key
            return _annotated(text, key, end + len(closing), quoted=True)
    bare = _BARE.match(text, position)
    return _annotated(text, bare.group(), bare.end(), quoted=False) if bare else None


def _annotated(text: str, key: str, end: int, *, quoted: bool) -> _Item | None:
    schema: dict[str, Any] = {}
    optional = False
    if found := _ANNOTATION.match(text, end):
        read = _annotation(found.group(1))
        if read is None:
            return None
        (schema, optional), end = read, found.end()
    elif (found := _AS_TYPE.match(text, end)) or (found := _INLINE_TYPE.match(text, end)):
        known = _typed(found.group(1))
        if known is not None:
            schema, end = known, found.end()
    return _Item(key, schema, optional, end, quoted)


def _typed(words: str) -> dict[str, Any] | None:
    words = " ".join(words.split()).casefold().removeprefix("a ").removeprefix("an ")
    if words.endswith("[]"):
        inner = _typed(words[:-2])
        return None if inner is None else {"type": "array", "items": inner}
    if listed := _LIST_OF.match(words):
        item = _TYPES.get(listed.group(1))
        return {"type": "array", "items": {"type": item}} if item else {"type": "array"}
    known = _TYPES.get(words)
    return {"type": known} if known else None


def _annotation(words: str) -> tuple[dict[str, Any], bool] | None:
    """Read what stands behind a key: a type, nested keys, "optional", a description."""
    optional = bool(_OPTIONAL.search(words))
    words = _REQUIRED.sub("", _OPTIONAL.sub("", words)).strip(" ,;:-–")
    if nested := _OBJECT_WITH.match(words):
        inner = read_key_list(words, nested.end())
        if inner is None or words[inner.end:].strip(" ."):
            return None
        made = inner.schema(extras=False)
        return ({"type": "array", "items": made} if nested.group(1) else made), optional
    head, _, rest = words.partition(",")
    known = _typed(words)
    if known is not None:
        return known, optional
    known = _typed(head)
    if known is not None and rest.strip():
        return {**known, "description": " ".join(rest.split())}, optional
    return ({"description": " ".join(words.split())} if words else {}), optional


def _collected(items: list[_Item], end: int) -> KeyList | None:
    keys = [item.key for item in items]
    if not items or len(set(keys)) != len(keys) or len(keys) > _MAX_KEYS:
        return None
    return KeyList(
        {item.key: item.schema for item in items},
        frozenset(item.key for item in items if item.optional),
        end,
        all(item.quoted for item in items),
    )


def _bracketed(text: str, position: int, closing: str) -> KeyList | None:
    items: list[_Item] = []
    position = _match_end(_BREAK, text, position + 1)
    while len(items) <= _MAX_KEYS:
        item = _item(text, position)
        if item is None:
            return None
        items.append(item)
        position = _match_end(_BREAK, text, item.end)
        if text.startswith(closing, position):
            return _collected(items, position + 1)
        separator = _SEP.match(text, item.end)
        if separator is None:
            return None
        position = _past_and(text, separator.end())
    return None


def _past_and(text: str, position: int) -> int:
    """Step over an "and" behind a comma, unless it is itself a key: "x, y" in English, "x, y z" in Spanish."""
    found = _AND.match(text, position)
    if found is None:
        return position
    bare = _BARE.match(text, position)
    is_key = bare and (_SEP.match(text, bare.end()) or _TERMINATOR.match(text, bare.end()))
    follows = _BARE.match(text, found.end()) or text.startswith(tuple(_QUOTES), found.end())
    return position if is_key or not follows else found.end()


def _bulleted(text: str, position: int) -> KeyList | None:
    items: list[_Item] = []
    while (bullet := _BULLET.match(text, position)) and len(items) <= _MAX_KEYS:
        item = _item(text, bullet.end())
        if item is None:
            return None
        line_end = text.find("\n", item.end)
        line_end = len(text) if line_end < 0 else line_end
        rest = text[item.end:line_end].strip().rstrip(",;")
        if rest:
            said = re.match(r"(?::|-|–|—|=)\s*(.*)\Z", rest)
            read = _annotation(said.group(1)) if said else None
            if read is None:
                return None
            item = _Item(item.key, {**item.schema, **read[0]}, item.optional or read[1], line_end, item.quoted)
        items.append(item)
        position = min(line_end + 1, len(text))
        if line_end == len(text):
            break
    return _collected(items, position)


def _inline(text: str, position: int) -> KeyList | None:
    items: list[_Item] = []
    end = position
    ending = joined = False  # whether an "and" led to the item at hand, and to the last one read
    while len(items) <= _MAX_KEYS:
        item = _item(text, position)
        if item is None:
            break
        separator = _SEP.match(text, item.end)
        closing = _NO_MORE.match(text, item.end)
        stops = bool(_TERMINATOR.match(text, item.end))
        if closing is not None:
            items.append(item)
            return _collected(items, closing.end())
        if separator is None and not stops and not item.quoted:
            break
        if not item.quoted and item.key.casefold() in _NO_KEY:
            return None
        items.append(item)
        end, joined = item.end, ending
        if separator is None:
            return None if _MAY_GO_ON.match(text, end) else _collected(items, end)
        position = _past_and(text, separator.end())
        ending = position > separator.end() or separator.group().strip(" \t,;/") != ""
    else:
        return None
    # what follows the last separator is no key: fine after a comma where it is a phrase of its own ("name, age, in
    # French"), not after "and", nor where a key may have been written in two words
    between = text[end:position]
    word = _BARE.match(text, position)
    if not items or re.search(r"\w", between) or (word and not joined and not _TERMINATOR.match(text, position)):
        return None
    return _collected(items, end)
