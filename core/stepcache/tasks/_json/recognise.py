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

__all__ = ["Demand", "cut_keys", "cut_schema", "demanded_keys", "demanded_schema"]

_MAX_PROMPT = 200_000


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand read from a prompt: a JSON Schema, the prompt without it, and whether it speaks of one reply or of items."""

    schema: Any
    residue: str
    many: Literal["one", "list", "either"] = "one"


_FLAGS = re.IGNORECASE | re.VERBOSE

# The thing asked for. Group "array" is set where many are wanted.
_JSON = re.compile(
    r"""(?<![\w-])
    (?:(?:an?|one|the|ein(?:en|em|es|e|er)?|das|dem|une?|un|el|le|l['’])\s+)?
    (?:(?:single|valid|flat|compact|minified|strict|well-formed|plain|raw|simple|pure|proper|
          einzeln\w*|gültig\w*|reine\w*)[\s,]+)*
    (?: (?P<array>(?:array|list|liste|lista)\s+(?:of|de|von)\s+json[\s-]?(?:objects?|objekten?|objetos)?)
      | (?:(?:objeto|objet|documento|document|respuesta|réponse|formato|format|registro)\s+)?json
        (?: [\s-](?:(?P<array2>array|list|liste|lista|arreglo|tableau)
              (?:\s+(?:of|with|von|de|d['’])\s*(?:objects?|records?|objekten?|objetos|objets))?
            | objects?|record|document|dictionary|dict|map|response|reply|output|answer|format|structure|string|
              blob|payload|data|objekt|dokument|antwort|ausgabe|datensatz|struktur))?
        (?:\s+(?:válido|valide|válida|only|nur))?
    )(?![\w-])(?!\s+schemas?\b)""",
    _FLAGS,
)

_COUNT = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "deux": 2, "trois": 3,
    "quatre": 4, "cinq": 5,
}  # fmt: skip

# What introduces the list of keys.
_KEYS = re.compile(
    r"""(?<![\w-])
    (?:,\s*)?
    (?:(?:that|which)\s+(?:has|have|contains?|includes?)\s+|
       (?:with|having|containing|including|using|use|contain|has|mit|con|avec|que\s+(?:tenga|contenga)|
          contenant|verwende|usa|utilise)\s+)?
    (?:(?P<least>at\s+least|mindestens|al\s+menos|au\s+moins)\s+)?
    (?:(?:exactly|only|just|precisely|genau|nur|exakt|ausschließlich|exactamente|solo|sólo|solamente|únicamente|
          exactement|uniquement|seulement)\s+)?
    (?:(?:the|these|this|its|following|required|top-level|mandatory|string|den|die|diesen|folgenden|las?|los|estas|
          estos|siguientes|les?|ces|suivante?s|(?P<count>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|zwei|
          drei|vier|fünf|dos|tres|cuatro|cinco|deux|trois|quatre|cinq))\s+)*
    (?:json\s+)?
    (?:keys?|fields?|propert(?:y|ies)|attributes?|schlüsseln?|feldern?|felder|eigenschaften|attributen?|claves?|campos?|
       propiedad(?:es)?|atributos?|llaves|clés?|clefs?|champs?|propriétés?|attributs?)
    (?:\s+(?:siguientes|suivante?s|exactly|only|named|called|genau|namens|are|sind|son|sont)(?=[\s:\[])|\s+names?(?=\s*[:=\[]))*
    \s*[:=]?(?=[\s\["'`“„«{(*])""",
    _FLAGS,
)

_SCHEMA = re.compile(
    r"""(?<![\w-])
    (?:(?:that|which|das|que|qui)\s+)?
    (?:(?:strictly|exactly|must|should)\s+)*
    (?:match(?:es|ing)?|conform(?:s|ing)?\s+to|satisf(?:y|ies|ying)|follow(?:s|ing)?|adher(?:es?|ing)\s+to|
       (?:is\s+)?valid\s+(?:against|under|for|according\s+to)|according\s+to|in\s+accordance\s+with|using|use|with|
       based\s+on|fit(?:s|ting)?|compl(?:y|ies|ying)\s+with|obey(?:s|ing)?|for|of|per|
       (?:zu\s+)?(?:passt|entspricht)|gemäß|nach|laut|zum?|mit|cumpla?(?:\s+con)?|según|conforme\s+a(?:l)?|con|
       siga|respect(?:e|ant)|conforme\s+(?:à|au)|selon|suivant|avec)\s+
    (?:(?:the|this|following|given|provided|below|above|a|json|dem|diesem|das|dieses|folgende[mns]?|el|este|siguiente|
          le|ce|au|suivant)[\s-]+)*
    (?:json[\s-]?)?(?:schema|schemas|esquema|schéma)(?:\s+json)?
    (?:\s+(?:below|above|here|given|provided|unten|siguiente|suivant|ci-dessous|abajo))*
    \s*[:.]?""",
    _FLAGS,
)

_PRODUCE = (
    r"(?:return|give|provide|output|produce|generate|create|make|respond|reply|answer|write|print|emit|send|build|"
    r"compose|fill\s+in|present|supply|show|need|want|deliver|"
    r"gib|liefere|erstelle|erzeuge|generiere|antworte|schreibe?|gebe|ausgeben|brauche|"
    r"devuelve|devuélveme|da|dame|genera|crea|responde|escribe|proporciona|retorna|entrega|necesito|"
    r"renvoie|retourne|donne|génère|crée|réponds|produis|fournis|écris|renvoyez|donnez|générez|répondez)"
)
_POLITE = (
    r"(?:(?:please|kindly|bitte|por\s+favor|s['’]il\s+(?:te|vous)\s+plaît|now|just|only|"
    r"(?:can|could|would|will)\s+you|you\s+(?:need\s+to|must|should|have\s+to|are\s+to|will|shall)|"
    r"your\s+(?:task|job|goal)\s+is\s+to|i\s+(?:want|need|would\s+like)\s+you\s+to|i['’]d\s+like\s+you\s+to|"
    r"i|we|kannst\s+du|könntest\s+du|ich|puedes|podrías|peux-tu|pourrais-tu|you)[\s,]+)*"
)
_TO_WHOM = r"(?:\s+(?:me|us|back|mir|uns|only|just|nur|with|in|as|nous|moi|-moi|using|mit|con|avec|en|au|als|como))*"
_PRODUCING_HEAD = re.compile(rf"\s*{_POLITE}{_PRODUCE}{_TO_WHOM}\s*\Z", re.IGNORECASE)
_AND_PRODUCING_HEAD = re.compile(rf"(.+?)(?:,?\s+(?:and|und|y|et)|[,:;])\s+{_POLITE}{_PRODUCE}{_TO_WHOM}\s*\Z",
                                 re.IGNORECASE | re.DOTALL)
_AS_HEAD = re.compile(
    r"(.*?)(?:^|[\s,(])(?:as|in(?:\s+the\s+form\s+of)?|into|to|formatted\s+as|als|im|in|zu|como|en|comme|au|sous\s+forme\s+"
    r"d['’]|en\s+forma\s+de)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)

# The work a JSON reply may be the form of: the sentence that ends "... as JSON" starts with one of these, or asks.
_WORK = re.compile(
    rf"""\s*{_POLITE}(?:{_PRODUCE}|list|extract|describe|summari[sz]e|classify|identify|find|name|tell|show|represent|
    format|structure|encode|express|record|put|turn|annotate|label|tag|analy[sz]e|read|consider|use|take|look|review|
    examine|determine|detect|get|collect|report|rate|score|suggest|recommend|propose|invent|convert|transform|parse|
    what|which|who|when|where|how\s+(?:many|much|old|long|far|tall|big)|
    liste|nenne|extrahiere|beschreibe|fasse|klassifiziere|finde|analysiere|lies|stelle|zeige|
    welche\w*|wer|wann|wo|was|
    enumera|lista|extrae|describe|resume|clasifica|identifica|encuentra|analiza|lee|muestra|indica|
    qué|cuáles?|quién|cuándo|dónde|
    liste|énumère|extrais|décris|résume|classe|identifie|trouve|analyse|lis|montre|indique|
    quels?|quelles?|qui|quand|où|cite|nomme)(?!\w)""",
    _FLAGS,
)

# Signs that something else or something more is asked for, looked for outside quoted text.
_OTHER_DEMAND = re.compile(
    r"""(?: (?:^|[.!?;:,\n]\s*|\b(?:and|but|or|then)\s+)(?:first|then|next|finally|afterwards?|after\s+that|lastly|
            zuerst|dann|danach|anschließend|primero|luego|después|d['’]abord|ensuite|puis|enfin)\b(?!\s+name)
          | \b(?:also|additionally|in\s+addition|moreover|furthermore|followed\s+by|as\s+well\s+as\s+an?\s|außerdem|
               zusätzlich|además|también|aussi|de\s+plus|en\s+outre)\b
          | \b(?:step[\s-]by[\s-]step|aloud|out\s+loud|think(?:ing)?|reason(?:ing)?\s+(?:about|through|before|first)|
               show\s+your\s+(?:work|reasoning|steps)|schritt\s+für\s+schritt|denke?|laut|paso\s+a\s+paso|piensa|
               étape\s+par\s+étape|réfléchis)\b
          | (?<!no\s)(?<!not\s)(?<!without\s)(?<!any\s)(?<!or\s)\b(?:explain|explanations?|justif(?:y|ication)|comment\s+on|
               erkläre?|erklärung|explica|explicación|explique)\b
          | \b(?:function|script|program|method|class|parser|regex|endpoint|snippet|query|unit\s+tests?)\s+
               (?:that|which|to|for|returning|in|using|with)\b
          | \b(?:python|javascript|typescript|java|golang|rust|c\+\+|c\#|bash|php|ruby|sql)\b
          | \b(?:yaml|xml|csv|toml|markdown\s+table|html)\b
          | \b(?:error|mistake|bug|typo|problem|fehler|error(?:es)?|erreur)s?\s+(?:in|with|im|en|dans)\s+(?:this|the|my|a|
               diesem|este|ce)\b
          | \bhow\s+(?:to|do|does|is|are|can|could|should|would)\b
          | \b(?:why|warum|wieso|pourquoi)\b | \bpor\s+qué\b
          | \b(?:poem|essay|story|haiku|joke|song|gedicht|geschichte|poema|poème)\b(?=[^.!?]*[.!?]\s+\S)
          | \b(?:two|several|multiple|many|both|different|either)\s+(?:versions|variants|alternatives|answers|replies)\b
          | \binstead\s+of\s+json\b | \bnot?\s+(?:in\s+|as\s+|use\s+|return\s+)?json\b | \bwithout\s+(?:any\s+)?json\b
        )""",
    _FLAGS,
)
_OTHER_TASK = re.compile(
    rf"""\s*{_POLITE}(?:write|compose|draft|explain|translate|solve|compare|convert|implement|debug|fix|think|reason|prove|
    discuss|argue|validate|check|verify|correct|rewrite|refactor|edit|parse|plan|
    schreibe?|erkläre|übersetze|löse|vergleiche|prüfe|korrigiere|
    escribe|explica|traduce|resuelve|compara|corrige|
    écris|explique|traduis|résous|compare|corrige)(?!\w)""",
    _FLAGS,
)
_FINITE = re.compile(r"\s*(?:is|are|was|were|can|could|should|would|will|means?|has|have|does|do|gets?|ist|sind|wird|es|son|"
                     r"est|sont)\b", re.IGNORECASE)

# Wording about the form alone, which a strict check of the reply answers for.
_FORM_ONLY = re.compile(
    r"""(?:^|(?<=[.!?\n:;]))\s*(?:please\s+|bitte\s+)?(?:
        (?:(?:only|just)\s+)?(?:return|output|reply|respond|answer|give|write|print|use|produce|emit)(?:\s+with)?
           (?:\s+(?:only|just|nothing\s+but))*(?:\s+(?:the|a|valid|raw|pure|plain))*\s+json(?:\s+object)?
           (?:\s+(?:only|itself|alone|and\s+nothing\s+else|and\s+no\s+other\s+text|without\s+(?:any\s+)?
             (?:explanations?|comments?|other\s+text|prose|markdown|code\s+fences)))?
      | (?:return\s+|output\s+)?nothing\s+(?:else|but\s+(?:the\s+)?json)
      | json\s+only | only\s+(?:the\s+)?json
      | (?:do\s+not|don['’]t)\s+(?:add|include|write|use|output|give|wrap)\s+(?:\w+\s+){0,3}?(?:explanations?|comments?|
           markdown|code\s+fences?|fences|backticks|prose|extra\s+text|other\s+text|text|other\s+keys|extra\s+keys|
           additional\s+keys|other\s+fields|additional\s+fields)(?:\s+or\s+\w+)*
      | no\s+(?:explanations?|comments?|markdown|code\s+fences?|fences|backticks|prose|extra\s+text|other\s+text|
           other\s+keys|extra\s+keys|additional\s+keys)(?:[,\s]+(?:and\s+|or\s+)?(?:no\s+)?(?:explanations?|comments?|
           markdown|prose|text|fences))*
      | nur\s+(?:das\s+)?json | solo\s+(?:el\s+)?json | uniquement\s+(?:le\s+)?json
      )\s*(?=[.!?\n;]|\Z)[.!;]*""",
    _FLAGS,
)
_OPENERS = {'"': '"', "“": "”", "«": "»", "„": "“"}


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with some spans turned into underscores, so that positions stay."""
    out, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            out.append(text[position:start])
            out.append("_" * (end - start))
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
    start = 0
    for match in re.finditer(r"[.!?](?=\s)|\n|:\s", text[:position]):
        start = match.end()
    return start


def _sentences(text: str) -> Iterator[str]:
    return (part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip())


def _asks_for(head: str) -> bool:
    """Whether what stands before "JSON" in its sentence makes JSON the thing to be produced."""
    if not head.strip(" ,-*#>"):
        return True
    head = head.lstrip(" ,-*#>\t")
    if _PRODUCING_HEAD.match(head):
        return True
    for pattern in (_AND_PRODUCING_HEAD, _AS_HEAD):
        found = pattern.match(head)
        if found and (_WORK.match(found.group(1)) or (pattern is _AS_HEAD and not found.group(1).strip())):
            return True
    return False


def _asked_json(words: str, marks: list[re.Match[str]]) -> re.Match[str] | None:
    """The mention of JSON that is asked for, if each mention is a demand of the same."""
    asked: re.Match[str] | None = None
    for mark in marks:
        head = words[_sentence(words, mark.start()):mark.start()]
        if not _asks_for(head) or _FINITE.match(words, mark.end()):
            return None
        asked = asked or mark
    return asked


def _tidy(text: str) -> str:
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r" ?([,;])(?: ?[,;])+", r"\1", text)
    text = re.sub(r"(?:^|(?<=[.!?:\n]))[ ,;:]+(?=\S)", " ", text)
    text = re.sub(r"\s*[,;:]\s*(?=[.!?]|\Z)", "", text)
    text = re.sub(r" +(?=[.,;!?])", "", text)
    text = re.sub(r"([.!?])(?:\s*\.)+", r"\1", text)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip(" .,;:")).strip()


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    out, position = [], 0
    for start, end in sorted(spans):
        out.append(text[position:max(start, position)])
        position = max(position, end)
    return _tidy("".join(out) + text[position:])


def _clean_demand(words: str, cut: list[tuple[int, int]]) -> bool:
    """Whether nothing but the JSON demand, its topic and wording about form is left."""
    rest = _FORM_ONLY.sub(" ", _blanked(words, cut))
    if _OTHER_DEMAND.search(rest):
        return False
    parts = list(_sentences(rest))
    return not any(_OTHER_TASK.match(part) for part in parts if "json" not in part.casefold())


def _form_spans(words: str) -> list[tuple[int, int]]:
    return [match.span() for match in _FORM_ONLY.finditer(words)]


def _mention_span(words: str, mark: re.Match[str]) -> tuple[int, int]:
    """The mention of JSON with the small word that ties it to its sentence."""
    tie = re.search(r"(?:,\s*)?\b(?:as|in|into|als|im|como|en|au|comme|in\s+the\s+form\s+of)\s+\Z", words[:mark.start()],
                    re.IGNORECASE)
    return (tie.start() if tie else mark.start(), mark.end())


_ONE_OBJECT = re.compile(r"\b(?:object|objekt|objeto|objet|record|dictionary|dict|map|document|dokument|documento|"
                         r"registro|datensatz)\Z|\ban?\s", re.IGNORECASE)

# --- key lists ------------------------------------------------------------------------------------------------------


def _key_lists(prompt: str, words: str) -> list[tuple[re.Match[str], KeyList]]:
    found: list[tuple[re.Match[str], KeyList]] = []
    position = 0
    while (mark := _KEYS.search(words, position)) is not None:
        read = read_key_list(prompt, mark.end())
        if read is not None and _counts(mark, read):
            found.append((mark, read))
            position = read.end
        else:
            position = mark.end()
    return found


def _counts(mark: re.Match[str], keys: KeyList) -> bool:
    said = mark.group("count")
    if said is None:
        return True
    number = int(said) if said.isdigit() else _COUNT[said.casefold()]
    return number == len(keys.properties)


def _found_keys(prompt: str) -> tuple[re.Match[str], KeyList, str] | None:
    if len(prompt) > _MAX_PROMPT or "json" not in prompt.casefold():
        return None
    quoted = _quoted_spans(prompt)
    words = _blanked(prompt, [span for span in quoted if not _is_list(prompt, span)])
    lists = _key_lists(prompt, words)
    return (*lists[0], words) if len(lists) == 1 else None


def _is_list(prompt: str, span: tuple[int, int]) -> bool:
    return bool(re.search(r"[\[,(]\s*\Z|\A\s*[\],)]", prompt[max(0, span[0] - 2):span[0]]))


def demanded_keys(prompt: str) -> Demand | None:
    """The keys of the JSON reply that the prompt asks for and asks for alone, or None."""
    found = _found_keys(prompt)
    if found is None:
        return None
    mark, keys, words = found
    list_span = (mark.start(), keys.end)
    outside = _blanked(words, [list_span, *_form_spans(words)])
    mentions = list(_JSON.finditer(outside))
    asked = _asked_json(outside, mentions)
    if asked is None or not _clean_demand(words, [list_span]) or _FINITE.match(prompt, keys.end):
        return None
    one = keys.schema(extras=bool(mark.group("least")))
    many: Literal["list", "either", "one"] = "either"
    if asked.group("array") or asked.group("array2"):
        many = "list"
    elif _ONE_OBJECT.search(asked.group()):
        many = "one"
    spans = [list_span, *(_mention_span(outside, mention) for mention in mentions), *_form_spans(words)]
    return Demand(one, _without(prompt, spans), many)


def cut_keys(prompt: str, keys: frozenset[str]) -> str:
    """The prompt without its list of just these keys; unchanged where it has no such list."""
    found = _found_keys(prompt)
    if found is None or set(found[1].properties) != keys:
        return prompt
    demand = demanded_keys(prompt)
    return demand.residue if demand else _without(prompt, [(found[0].start(), found[1].end)])


# --- schemas --------------------------------------------------------------------------------------------------------

_SCHEMA_WORDS = frozenset({"$schema", "properties", "$ref", "anyOf", "oneOf", "allOf", "items", "required", "enum", "$defs",
                           "definitions", "patternProperties", "additionalProperties", "const", "$id"})
_KINDS = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})


def _is_schema(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return bool(_SCHEMA_WORDS & value.keys()) or all(isinstance(k, str) and k in _KINDS for k in kinds)


def demanded_schema(prompt: str) -> Demand | None:
    """The JSON Schema that the prompt asks a reply to match, where it asks for that alone, or None."""
    if len(prompt) > _MAX_PROMPT or "schema" not in prompt.casefold() and "esquema" not in prompt and "sch" not in prompt:
        return None
    objects = _json_spans(prompt)
    schemas = [(start, end, value) for start, end, value in objects if _is_schema(value)]
    if len(schemas) != 1:
        return None
    start, end, schema = schemas[0]
    words = _blanked(prompt, [(a, b) for a, b, _ in objects])
    words = _blanked(words, _quoted_spans(words))
    lists = _key_lists(prompt, words)
    phrases = list(_SCHEMA.finditer(words))
    if len(phrases) != 1 or lists:
        return None
    phrase = phrases[0].span()
    outside = _blanked(words, [phrase, *_form_spans(words)])
    mentions = list(_JSON.finditer(outside))
    if mentions:
        if _asked_json(outside, mentions) is None:
            return None
    elif "json" not in words[slice(*phrase)].casefold() or not _produces_something(words, phrase[0]):
        return None
    if not _clean_demand(words, [phrase, (start, end)]):
        return None
    cut = _fence_around(prompt, start, end)
    spans = [phrase, cut, *(_mention_span(outside, mention) for mention in mentions), *_form_spans(words)]
    if "type" not in schema and any("object" in m.group().casefold() for m in mentions) and (
        "properties" in schema or "required" in schema
    ):
        schema = {"type": "object", **schema}
    return Demand(schema, _without(prompt, spans))


def _produces_something(words: str, position: int) -> bool:
    head = words[_sentence(words, position):position]
    thing = re.sub(r"\s*(?:(?:an?|the|your|one)\s+)?(?:valid\s+)?(?:object|instance|answer|response|reply|output|document|"
                   r"record|data|value)\s*\Z", "", head, flags=re.IGNORECASE)
    return bool(_PRODUCING_HEAD.match(thing.strip(" ,")))


def _fence_around(prompt: str, start: int, end: int) -> tuple[int, int]:
    before = re.search(r"(?:```|~~~)[^\n`]*\n\s*\Z", prompt[max(0, start - 40):start])
    after = re.match(r"\s*(?:```|~~~)", prompt[end:end + 20])
    if before and after:
        return start - len(before.group()), end + after.end()
    return start, end


def cut_schema(prompt: str, schema: Any) -> str:
    """The prompt without this very schema; unchanged where it doesn't hold it."""
    demand = demanded_schema(prompt)
    if demand is not None and demand.schema in (schema, {"type": "object", **schema} if isinstance(schema, dict) else schema):
        return demand.residue
    for start, end, value in _json_spans(prompt):
        if value == schema:
            return _without(prompt, [_fence_around(prompt, start, end)])
    return prompt
