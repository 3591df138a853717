"""Whether a prompt asks for just a JSON reply with certain keys or a certain schema, in its own words.

In doubt it does not: then the model's words come back unchanged. English, German, Spanish and French.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from stepcache.tasks._json.decode import NotJson, decode
from stepcache.tasks._json.keylist import KeyList, read_key_list
from stepcache.tasks._json.wordings import (
    ABOUT,
    AND_PRODUCING_HEAD,
    AS_HEAD,
    BARE,
    BARE_OF_KEYS,
    CONVERTING_HEAD,
    COUNT,
    DEICTIC,
    FINITE,
    FORM_ONLY,
    JSON,
    KEYS,
    KEYS_BEHIND,
    LANGUAGES,
    NO_KEYS,
    NOT_WANTED,
    ONE_OBJECT,
    ONLY_JSON,
    OTHER_DEMAND,
    OTHER_TASK,
    PLURAL,
    PREPARE,
    PRODUCING_HEAD,
    QUOTED_KEYS,
    SCHEMA,
    STYLES,
    TAKES_BACK,
    THING,
    TIE,
    WORK,
)

__all__ = ["Demand", "cut_keys", "cut_schema", "demanded_keys", "demanded_schema"]

_MAX_PROMPT = 30_000
_MAX_SENTENCE = 600
_MAX_MENTIONS = 20
_BLANK = "\x1a"


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand read from a prompt: a JSON Schema, and the prompt without it.

    `many` says whether the schema speaks of the reply, of its items, or of either; `bare` that nothing may stand
    around the JSON.
    """

    schema: Any
    residue: str
    many: Literal["one", "list", "either"] = "one"
    bare: bool = False


@dataclass(frozen=True, slots=True)
class _Listed:
    """A list of keys and where it stands, with the words that introduce it. `least` lets other keys in."""

    start: int
    end: int
    keys: KeyList
    least: bool = False

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


_OPENERS = {'"': '"', "“": "”", "«": "»", "„": "“"}


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with some spans turned into a sign that is no part of any wording, so that positions stay."""
    out, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            out.append(text[position:start])
            out.append(_BLANK * (end - start))
            position = end
    return "".join(out) + text[position:]


def _json_spans(text: str) -> list[tuple[int, int, Any]]:
    """Every JSON object or array that stands in the prompt."""
    found: list[tuple[int, int, Any]] = []
    position = 0
    while (match := re.compile(r"\{\s*[\"}]|\[\s*[\"{\[\]\d-]").search(text, position)) is not None:
        try:
            value, end = decode(text, match.start())
        except NotJson as error:
            if error.fatal:
                break
            position = max(error.position, match.start() + 1)
            continue
        found.append((match.start(), end, value))
        position = end
    return found


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    """Quoted stretches of more than one word, and fenced blocks: what they say is not asked for."""
    found = [match.span() for match in re.finditer(r"```.*?(?:```|\Z)|\"\"\".*?(?:\"\"\"|\Z)", text, re.DOTALL)]
    covered = _blanked(text, found)
    for opening, closing in _OPENERS.items():
        for match in re.finditer(rf"{opening}[^{opening}{closing}\n]*{closing}", covered):
            if " " in match.group():
                found.append(match.span())
    return found


def _sentence(text: str, position: int) -> int:
    """Where the sentence around `position` starts."""
    window = max(0, position - _MAX_SENTENCE)
    ends = [match.end() for match in re.finditer(r"[.!?](?=\s)|\n|:\s", text[window:position])]
    return window + (ends[-1] if ends else 0)


def _sentences(text: str) -> Iterator[str]:
    return (part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip())


def _asks_for(head: str, mention: str) -> bool:
    """Whether what stands before a mention of JSON in its sentence makes it the thing to be produced."""
    head = head.lstrip(f" ,-*#>\t{_BLANK}")
    if not head:
        return True
    if PRODUCING_HEAD.match(head):
        return True
    for pattern in (AND_PRODUCING_HEAD, AS_HEAD):
        found = pattern.match(head)
        before = found.group(1) if found else None
        if before is None:
            continue
        if pattern is AND_PRODUCING_HEAD:
            fits = bool(PREPARE.match(before) or ABOUT.match(before))
        else:
            known = mention.split(" ")[0].casefold() in ("the", "das", "dem", "el", "le")  # "in the JSON": it is there
            fits = not known and (not before.strip() or bool(WORK.match(before)))
        if fits:
            return True
    return False


def _asked_json(words: str, marks: list[re.Match[str]]) -> re.Match[str] | None:
    """The mention of JSON that is asked for, if each mention is a demand of the same."""
    asked: re.Match[str] | None = None
    for mark in marks if len(marks) <= _MAX_MENTIONS else ():
        head = words[_sentence(words, mark.start()):mark.start()]
        if not _asks_for(head, mark.group()) or FINITE.match(words, mark.end()):
            return None
        asked = asked or mark
    return asked


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without some spans, mended where it was cut and nowhere else: a payload keeps every character."""
    out, position = "", 0
    for start, end in sorted(spans):
        out = _joined(out, text[position:max(start, position)]) if position else text[:start]
        position = max(position, end)
    return _joined(out, text[position:]).strip() if position else text


def _joined(left: str, right: str) -> str:
    left, right = left.rstrip(" \t,;:"), re.sub(r"\A[ \t]*(?:[,;:]+[ \t]*)?", "", right)
    if not left or left[-1] in ".!?\n":
        right = re.sub(r"\A[.!?]+[ \t]*", "", right)
    return left + ("" if not left or not right or right[0] in ".,;!?\n" or left[-1] == "\n" else " ") + right


def _clean_demand(words: str, cut: list[tuple[int, int]]) -> bool:
    """Whether nothing but the JSON demand, its topic and wording about form is left."""
    rest = FORM_ONLY.sub(" ", _blanked(words, cut))
    if OTHER_DEMAND.search(rest):
        return False
    parts = list(_sentences(rest))
    return not any(OTHER_TASK.match(part) for part in parts if "json" not in part.casefold())


def _form_spans(words: str) -> list[tuple[int, int]]:
    return [match.span() for match in FORM_ONLY.finditer(words)]


def _mention_span(words: str, mark: re.Match[str]) -> tuple[int, int]:
    """The mention of JSON with what asks for it ("Please return ...") or ties it to its sentence ("... as ...")."""
    styled = list(STYLES.finditer(mark.group()))
    if styled:
        return mark.start() + styled[-1].end(), mark.end()
    sentence = _sentence(words, mark.start())
    head = words[sentence:mark.start()]
    sentence += len(head) - len(head.lstrip(f" ,\t{_BLANK}"))
    head = words[sentence:mark.start()]
    if PRODUCING_HEAD.match(head):
        return sentence, mark.end()
    if (joined := AND_PRODUCING_HEAD.match(head)) is not None:
        return sentence + joined.end(1), mark.end()
    tie = TIE.search(head)
    return mark.start() - (len(tie.group()) if tie else 0), mark.end()


def _scaffold(words: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What else in the asking sentences says nothing but that the text at hand is meant: "Convert this to ..."."""
    rest = _blanked(words, spans)
    found = []
    for start in {_sentence(words, start) for start, _ in spans}:
        end = re.compile(r"[.!?:\n]|\Z").search(rest, start).start()  # type: ignore[union-attr]  # \Z matches
        said = rest[start:end]
        head = CONVERTING_HEAD.match(said)
        if head and head.group().strip():
            found.append((start, start + head.end()))
            found += [(start + m.start(), start + m.end()) for m in re.finditer(rf"\b(?:in)?to\s+(?={_BLANK})", said)]
        found += [(start + m.start(), start + m.end()) for m in DEICTIC.finditer(said, head.end() if head else 0)]
    return found


def _cut(prompt: str, words: str, spans: list[tuple[int, int]]) -> str:
    """The residue, with a sign of the language that the cut words were in, lest that be lost with them."""
    said = " ".join(words[start:end] for start, end in spans)
    language = next((f" [{name}]" for name, sign in LANGUAGES.items() if sign.search(said)), "")
    return _without(prompt, spans).rstrip(".! ") + language


# --- key lists ------------------------------------------------------------------------------------------------------


def _key_lists(prompt: str, words: str) -> list[_Listed]:
    found: list[_Listed] = []
    position = 0
    unread: int | None = None
    while (mark := KEYS.search(words, position)) is not None:
        if prompt[mark.start() - 1:mark.start()] == prompt[mark.end():mark.end() + 1] == '"':
            position = mark.end()  # a word in quotes ("properties": ...) is spoken of; no list begins behind it
            continue
        if unread is not None and words.count("(", unread, mark.start()) > words.count(")", unread, mark.start()):
            return []  # a list within one that could not be read is not what is asked for
        read = read_key_list(prompt, mark.end())
        if read is None:
            unread = mark.end()
        unwanted = NOT_WANTED.search(words[max(0, mark.start() - 30):mark.start()])
        alone = read is not None and len(read.properties) == 1 and PLURAL.search(mark.group())
        if read is not None and alone and prompt[read.end : read.end + 3].lstrip()[:1] in {":", "="}:
            read = None  # "keys name: first only, age" goes on behind the first one
        if read is not None and unwanted is None and _counts(mark.group("count"), read):
            found.append(_Listed(mark.start(), read.end, read, bool(mark.group("least"))))
            position = read.end
        else:
            position = mark.end()
    if found:
        return found
    for mark in KEYS_BEHIND.finditer(words):
        read = read_key_list(mark.group("list"), 0)
        if read is not None and read.end == len(mark.group("list")) and NO_KEYS.isdisjoint(read.properties):
            found.append(_Listed(mark.start(), mark.end(), read))
    if found:
        return found
    for mention in JSON.finditer(words):
        quoted = QUOTED_KEYS.match(words, mention.end())
        read = read_key_list(prompt, quoted.end()) if quoted else None
        if quoted and read is not None and read.quoted:
            found.append(_Listed(quoted.start(), read.end, read))
    return found


def _counts(said: str | None, keys: KeyList) -> bool:
    if said is None:
        return True
    return (int(said) if said.isdigit() else COUNT[said.casefold()]) == len(keys.properties)


def _found_keys(prompt: str) -> tuple[_Listed, str] | None:
    if len(prompt) > _MAX_PROMPT or "json" not in prompt.casefold():
        return None
    quoted = _quoted_spans(prompt)
    words = _blanked(prompt, [span for span in quoted if not _is_list(prompt, span)])
    lists = _key_lists(prompt, words)
    return (lists[0], words) if len(lists) == 1 else None


def _is_list(prompt: str, span: tuple[int, int]) -> bool:
    return bool(re.search(r"[\[,(]\s*\Z", prompt[max(0, span[0] - 2):span[0]]))


def demanded_keys(prompt: str) -> Demand | None:
    """The keys of the JSON reply that the prompt asks for and asks for alone, or None."""
    found = _found_keys(prompt)
    if found is None:
        return None
    listed, words = found
    if SCHEMA.search(words):
        return None  # a schema is asked for as well
    forms = _form_spans(words)
    if len(forms) > _MAX_MENTIONS:
        return None
    outside = _blanked(words, [listed.span, *forms])
    mentions = list(JSON.finditer(outside))
    asked = _asked_json(outside, mentions) or (None if mentions else _json_in(words, forms))
    if asked is None or not _clean_demand(words, [listed.span]) or FINITE.match(prompt, listed.end):
        return None
    if re.search(TAKES_BACK % "|".join(map(re.escape, listed.keys.properties)), _blanked(words, [listed.span]), re.I):
        return None
    many: Literal["list", "either", "one"] = "either"
    if asked.group("array") or asked.group("array2"):
        many = "list"
    elif ONE_OBJECT.search(asked.group()):
        many = "one"
    spans = [listed.span, *(_mention_span(outside, mention) for mention in mentions), *forms]
    residue = _cut(prompt, words, [*spans, *_scaffold(words, spans)])
    return Demand(listed.keys.schema(extras=listed.least), residue, many, _bare(words, forms, spans))


def _json_in(words: str, forms: list[tuple[int, int]]) -> re.Match[str] | None:
    """The mention of JSON in wording about form: "JSON only. Keys: ..." asks for it as well."""
    found = (JSON.search(words, start, end) for start, end in forms)
    return next((mention for mention in found if mention), None)


def _bare(words: str, forms: list[tuple[int, int]], spans: list[tuple[int, int]]) -> bool:
    """Whether the prompt wants nothing around the JSON: "only JSON", "return just a JSON object", "no markdown"."""
    said = [words[start:end] for start, end in forms]
    heads = [words[start:end] for start, end in spans if JSON.search(words, start, end)]
    return any(BARE.search(one) and not BARE_OF_KEYS.search(one) for one in said) or any(map(ONLY_JSON.search, heads))


def cut_keys(prompt: str, keys: frozenset[str]) -> str:
    """The prompt without its list of just these keys; unchanged where it has no such list."""
    found = _found_keys(prompt)
    if found is None or set(found[0].keys.properties) != keys:
        return prompt
    demand = demanded_keys(prompt)
    return demand.residue if demand else _without(prompt, [found[0].span])


# --- schemas --------------------------------------------------------------------------------------------------------

_SCHEMA_WORDS = frozenset({
    "$schema", "properties", "$ref", "anyOf", "oneOf", "allOf", "items", "required", "enum", "$defs", "definitions",
    "patternProperties", "additionalProperties", "const", "$id",
})
_KINDS = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})


def _is_schema(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return bool(_SCHEMA_WORDS & value.keys()) or all(isinstance(k, str) and k in _KINDS for k in kinds)


def demanded_schema(prompt: str) -> Demand | None:
    """The JSON Schema that the prompt asks a reply to match, where it asks for that alone, or None."""
    folded = prompt.casefold() if len(prompt) <= _MAX_PROMPT else ""
    if not any(word in folded for word in ("schema", "esquema", "schéma")):
        return None
    objects = _json_spans(prompt)
    schemas = [(start, end, value) for start, end, value in objects if _is_schema(value)]
    if len(schemas) != 1:
        return None
    start, end, schema = schemas[0]
    words = _blanked(prompt, [(a, b) for a, b, _ in objects])
    words = _blanked(words, _quoted_spans(words))
    lists = _key_lists(prompt, words)
    phrases = list(SCHEMA.finditer(words))
    if len(phrases) != 1 or lists:
        return None
    phrase = phrases[0].span()
    forms = _form_spans(words)
    if len(forms) > _MAX_MENTIONS:
        return None
    outside = _blanked(words, [phrase, *forms])
    mentions = list(JSON.finditer(outside))
    if mentions:
        if _asked_json(outside, mentions) is None:
            return None
    elif "json" not in words[slice(*phrase)].casefold() or not _produces_something(words, phrase[0]):
        return None
    if not _clean_demand(words, [phrase, (start, end)]):
        return None
    cut = _fence_around(prompt, start, end)
    spans = [phrase, cut, *(_mention_span(outside, mention) for mention in mentions), *forms]
    if "type" not in schema and any("object" in m.group().casefold() for m in mentions) and (
        "properties" in schema or "required" in schema
    ):
        schema = {"type": "object", **schema}
    return Demand(schema, _cut(prompt, words, spans), bare=_bare(words, forms, spans))


def _produces_something(words: str, position: int) -> bool:
    head = words[_sentence(words, position):position]
    return bool(PRODUCING_HEAD.match(THING.sub("", head).strip(" ,")))


def _fence_around(prompt: str, start: int, end: int) -> tuple[int, int]:
    before = re.search(r"(?:```|~~~)[^\n`]*\n\s*\Z", prompt[max(0, start - 40):start])
    after = re.match(r"\s*(?:```|~~~)", prompt[end:end + 20])
    if before and after:
        return start - len(before.group()), end + after.end()
    return start, end


def cut_schema(prompt: str, schema: Any) -> str:
    """The prompt without this very schema; unchanged where it doesn't hold it."""
    demand = demanded_schema(prompt)
    typed = {"type": "object", **schema} if isinstance(schema, dict) else schema
    if demand is not None and demand.schema in (schema, typed):
        return demand.residue
    for start, end, value in _json_spans(prompt):
        if value == schema:
            return _without(prompt, [_fence_around(prompt, start, end)])
    return prompt
