"""The wordings by which people ask for JSON, in English, German, Spanish and French. Tables only, for `recognise`."""

from __future__ import annotations

import re

__all__ = [
    "ABOUT",
    "AND_PRODUCING_HEAD",
    "AS_HEAD",
    "BARE",
    "BARE_OF_KEYS",
    "CONVERTING_HEAD",
    "COUNT",
    "DEICTIC",
    "FINITE",
    "FORM_ONLY",
    "JSON",
    "KEYS",
    "KEYS_BEHIND",
    "LANGUAGES",
    "NOT_WANTED",
    "NO_KEYS",
    "ONE_OBJECT",
    "ONLY_JSON",
    "OTHER_DEMAND",
    "OTHER_TASK",
    "PREPARE",
    "PRODUCING_HEAD",
    "QUOTED_KEYS",
    "SCHEMA",
    "STYLES",
    "THING",
    "TIE",
    "WORK",
]

_FLAGS = re.IGNORECASE | re.VERBOSE

# The thing asked for. Group "array" is set where many are wanted.
JSON = re.compile(
    r"""(?<![\w-])
    (?:nothing\s+(?:else\s+than|but)\s+)?
    (?:(?:an?|one|the|ein(?:en|em|es|e|er)?|das|dem|une?|un|el|le|l['’])\s+)?
    (?:(?:single|valid|flat|compact|minified|strict|well-formed|plain|raw|simple|pure|proper|
          einzeln\w*|gültig\w*|reine\w*)[\s,]+){0,6}
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

# What a schema may be said to be of, where JSON is named by the schema alone.
THING = re.compile(
    r"\s*(?:(?:an?|the|your|one)\s+)?(?:valid\s+)?"
    r"(?:object|instance|answer|response|reply|output|document|record|data|value)\s*\Z",
    re.IGNORECASE,
)

# The small word that ties the thing asked for to its sentence.
TIE = re.compile(
    r"(?:,\s*)?\b(?:as|in|into|als|im|como|en|au|comme|in\s+the\s+form\s+of)\s+\Z", re.IGNORECASE
)

# Words among these that a reply has to be written by; they stay in the residue.
STYLES = re.compile(r"\b(?:flat|compact|minified|strict|simple)\b", re.IGNORECASE)

COUNT = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "deux": 2, "trois": 3,
    "quatre": 4, "cinq": 5,
}  # fmt: skip

# What introduces the list of keys.
KEYS = re.compile(
    r"""(?<![\w-])
    (?:,\s*)?
    (?:(?:an?|one)\s+(?:single\s+)?object\s+(?=with\b|having\b|containing\b|including\b|that\b|whose\b))?
    (?:(?:it|they|(?:the|your)\s+(?:object|json|response|reply|answer|output)|
          each(?:\s+(?:object|item|element|entry|record|one))?|es|das\s+objekt|el\s+objeto|l['’]objet|il)\s+
          (?:must|should|shall|has\s+to|have\s+to|needs?\s+to|will|can|soll|muss|debe|doit)\s+(?:only\s+|just\s+)?
          (?:have|contain|include|use|tener|contener|avoir|contenir)\s+|
       (?:that|which)\s+(?:has|have|contains?|includes?)\s+|whose\s+|
       (?:with|having|containing|including|using|use|contain|has|mit|con|avec|que\s+(?:tenga|contenga)|
          contenant|verwende|usa|utilise)\s+)?
    (?:(?P<least>at\s+least|mindestens|al\s+menos|au\s+moins)\s+)?
    (?:(?:exactly|only|just|precisely|genau|nur|exakt|ausschließlich|exactamente|solo|sólo|solamente|únicamente|
          exactement|uniquement|seulement)\s+)?
    (?:(?:the|these|this|its|following|required|top-level|mandatory|string|den|die|diesen|folgenden|las?|los|estas|
          estos|siguientes|les?|ces|suivante?s|(?P<count>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|zwei|
          drei|vier|fünf|dos|tres|cuatro|cinco|deux|trois|quatre|cinq))\s+){0,6}
    (?:json\s+)?
    (?:keys?|fields?|propert(?:y|ies)|attributes?|schlüsseln?|feldern?|felder|eigenschaften|attributen?|claves?|campos?|
       propiedad(?:es)?|atributos?|llaves|clés?|clefs?|champs?|propriétés?|attributs?)
    (?:\s+(?:siguientes|suivante?s|exactly|only|named|called|genau|namens|are|sind|son|sont)(?=[\s:\[])|
       \s+names(?=\s*[:=\[]))*
    \s*(?:[:=]|,(?=\s*["'`“„«]))?(?=[\s\["'`“„«{(*])""",
    _FLAGS,
)

# The list before its noun: "with name, age and email fields". Group "list" holds it.
_ITEM = r"""["'`“]?[^\W\d][\w-]*["'`”]?"""
KEYS_BEHIND = re.compile(
    rf"""(?<![\w-])(?:with|containing|having|including|mit|con|avec)\s+(?:(?:the|its|den|los|las|les)\s+)?
    (?P<list>(?:{_ITEM}(?:\s*,\s*(?:(?:and|und|y|et)\s+)?|\s+(?:and|und|y|et|&)\s+)){{0,40}}{_ITEM})\s+
    (?:keys|fields|properties|attributes|feldern|schlüsseln|campos|claves|champs|clés)(?![\w-])(?!\s*[:=\["'`“(])""",
    _FLAGS,
)
NO_KEYS = frozenset(
    {"the", "a", "an", "these", "this", "its", "following", "required", "mandatory", "exactly", "only", "just", "all"}
    | {"any", "no", "some", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "extra", "other"}
    | {"additional", "more", "same", "new", "optional", "nested", "several", "many", "different", "string"}
    | {"den", "die", "der", "diesen", "folgenden", "los", "las", "estos", "estas", "siguientes", "les", "ces"}
)

# Quoted keys need no noun, right behind the thing asked for: JSON with "name" and "age".
QUOTED_KEYS = re.compile(r"\s+(?:with|containing|having|including|mit|con|avec)\s+(?=[\"'`“„«])", re.IGNORECASE)

SCHEMA = re.compile(
    r"""(?<![\w-])
    (?:(?:that|which|das|que|qui)\s+)?
    (?:(?:strictly|exactly|must|should)\s+){0,3}
    (?:match(?:es|ing)?|conform(?:s|ing)?\s+to|satisf(?:y|ies|ying)|follow(?:s|ing)?|adher(?:es?|ing)\s+to|
       (?:is\s+)?valid\s+(?:against|under|for|according\s+to)|according\s+to|in\s+accordance\s+with|using|use|with|
       based\s+on|fit(?:s|ting)?|compl(?:y|ies|ying)\s+with|obey(?:s|ing)?|for|of|per|
       (?:zu\s+)?(?:passt|entspricht)|gemäß|nach|laut|zum?|mit|cumpla?(?:\s+con)?|según|conforme\s+a(?:l)?|con|
       siga|respect(?:e|ant)|conforme\s+(?:à|au)|selon|suivant|avec)\s+
    (?:(?:the|this|following|given|provided|below|above|a|json|dem|diesem|das|dieses|folgende[mns]?|el|este|siguiente|
          le|ce|au|suivant)[\s-]+){0,6}
    (?:json[\s-]?)?(?:schema|schemas|esquema|schéma)(?:\s+json)?
    (?:\s+(?:below|above|here|given|provided|unten|siguiente|suivant|ci-dessous|abajo))*
    \s*[:.]?""",
    _FLAGS,
)

_PRODUCE = (
    r"(?:return|give|provide|output|produce|generate|create|make|respond|reply|answer|write|print|emit|send|build|"
    r"compose|fill\s+in|present|supply|show|need|want|deliver|extract|derive|"
    r"gib|liefere|erstelle|erzeuge|generiere|antworte|schreibe?|gebe|ausgeben|brauche|"
    r"devuelve|devuélveme|da|dame|genera|crea|responde|escribe|proporciona|retorna|entrega|necesito|"
    r"renvoie|retourne|donne|génère|crée|réponds|produis|fournis|écris|renvoyez|donnez|générez|répondez)"
)
_POLITE = (
    r"(?:(?:please|kindly|bitte|por\s+favor|s['’]il\s+(?:te|vous)\s+plaît|now|just|only|"
    r"(?:can|could|would|will)\s+you|you\s+(?:need\s+to|must|should|have\s+to|are\s+to|will|shall)|"
    r"your\s+(?:task|job|goal)\s+is\s+to|i\s+(?:want|need|would\s+like)\s+you\s+to|i['’]d\s+like\s+you\s+to|"
    r"i|we|kannst\s+du|könntest\s+du|ich|puedes|podrías|peux-tu|pourrais-tu|you)[\s,]+){0,8}"
)
_TO_WHOM = (
    r"(?:-(?:moi|nous|me))?(?:\s+(?:me|us|back|mir|uns|only|just|nur|with|in|as|nous|moi|using|mit|con|avec|en|au|als|"
    r"como))*"
)
PRODUCING_HEAD = re.compile(rf"\s*{_POLITE}{_PRODUCE}{_TO_WHOM}\s*\Z", re.IGNORECASE)
AND_PRODUCING_HEAD = re.compile(rf"(.+?)(?:,?\s+(?:and|und|y|et)|[,:;])\s+{_POLITE}{_PRODUCE}{_TO_WHOM}\s*\Z",
                                 re.IGNORECASE | re.DOTALL)
AS_HEAD = re.compile(
    r"(.*?)(?:^|[\s,(])(?:as|in(?:\s+the\s+form\s+of)?|into|to|formatted\s+as|als|im|in|zu|como|en|comme|au|"
    r"sous\s+forme\s+d['’]|en\s+forma\s+de)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)

# Verbs that say no more than that the text at hand is to become JSON: two of them ask for the same.
CONVERTING_HEAD = re.compile(
    rf"\s*(?:{_POLITE}(?:extract|convert|turn|transform|parse|put|format|structure|represent|encode|express|"
    r"extrahiere|konvertiere|wandle|überführe|extrae|convierte|transforma|extrais|convertis|transforme)(?!\w)|"
    rf"{_POLITE}(?={_PRODUCE}\b))",
    re.IGNORECASE,
)
# Words that point at the text at hand, in the sentence that asks for the JSON.
DEICTIC = re.compile(
    r"\b(?:this|these|it|(?:the\s+)?following|dies|diese[mnrs]?|(?:das\s+|den\s+|die\s+|der\s+)?folgende[mnrs]?|"
    r"esto|est[ea]|estos|estas|(?:lo\s+|el\s+|la\s+)?siguientes?|ceci|ce|cet|cette|ces|suivante?s?)\b",
    re.IGNORECASE,
)

# What a sentence may ask for first that only leads to the JSON: "Read the text and return ..."
PREPARE = re.compile(
    rf"\s*{_POLITE}(?:read|look|consider|analy[sz]e|use|take|review|examine|extract|identify|find|determine|detect|classify|"
    r"answer|check\s+out|lies|analysiere|extrahiere|beantworte|lee|analiza|extrae|lis|analyse|extrais|consulte)(?!\w)",
    re.IGNORECASE,
)

# The noun in the plural: of one key that a colon follows more may be said before the next.
PLURAL = re.compile(
    r"(?:keys|fields|properties|attributes|schlüsseln|feldern|felder|eigenschaften|attributen|claves|campos|propiedades|"
    r"atributos|clés|clefs|champs|propriétés|attributs)\W*\Z",
    re.IGNORECASE,
)
# A sentence that takes a key back: "don't include email".
TAKES_BACK = (
    r"(?:\b(?:not|never|without|omit|exclude|excluding|except|skip|drop|leave\s+out|no|nicht|ohne|kein\w*|außer|sin|nunca|"
    r"omite|excepto|sans|pas|jamais|sauf|omets)|n['’]t)\b[^.!?\n]{0,40}?(?<![\w-])(?:%s)(?![\w-])"
)

# What makes a list of keys one of keys not wanted, or of keys of something else.
NOT_WANTED = re.compile(
    r"(?:\b(?:not|never|without|except|excluding|but|no|of|in|ohne|außer|sin|excepto|sans|sauf|kein\w*)|n['’]t)\s*\Z",
    re.IGNORECASE,
)

# What a sentence may say first of what the JSON is about: "For this person, return ..."
ABOUT = re.compile(
    r"\s*(?:for|about|regarding|concerning|given|from|based\s+on|using|für|über|aus|anhand|para|sobre|según|a\s+partir|"
    r"pour|sur|à\s+partir|d['’]après)\b[^.!?]*\Z",
    re.IGNORECASE,
)

# The work a JSON reply may be the form of: the sentence that ends "... as JSON" starts with one of these, or asks.
WORK = re.compile(
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
OTHER_DEMAND = re.compile(
    r"""(?: (?:^|[.!?;:,\n][ \t]*+|\b(?:and|but|or|then)\s++)(?:first|then|next|finally|afterwards?|after\s+that|lastly|
            zuerst|dann|danach|anschließend|primero|luego|después|d['’]abord|ensuite|puis|enfin)\b(?!\s+name)
          | \b(?:also|additionally|in\s+addition|moreover|furthermore|followed\s+by|as\s+well\s+as\s+an?\s|außerdem|
               zusätzlich|además|también|aussi|de\s+plus|en\s+outre)\b
          | \b(?:step[\s-]by[\s-]step|aloud|out\s+loud|think(?:ing)?|reason(?:ing)?\s+(?:about|through|before|first)|
               show\s+your\s+(?:work|reasoning|steps)|schritt\s+für\s+schritt|denke?|laut|paso\s+a\s+paso|piensa|
               étape\s+par\s+étape|réfléchis)\b
          | (?<!no\s)(?<!not\s)(?<!without\s)(?<!any\s)(?<!or\s)\b(?:explain|explanations?|justif(?:y|ication)|
               comment\s+on|erkläre?|erklärung|explica|explicación|explique)\b
          | \b(?:function|script|program|method|class|parser|regex|endpoint|snippet|query|unit\s+tests?)\s+
               (?:that|which|to|for|returning|in|using|with)\b
          | \b(?:python|javascript|typescript|java|golang|rust|c\+\+|c\#|bash|php|ruby|sql)\b
          | \b(?:yaml|xml|csv|toml|markdown\s+table|html)\b
          | \b(?:error|mistake|bug|typo|problem|fehler|error(?:es)?|erreur)s?\s+(?:in|with|im|en|dans)\s+
               (?:this|the|my|a|diesem|este|ce)\b
          | \b(?:otherwise|or\s+else|sonst(?!\s+nichts)|andernfalls|de\s+lo\s+contrario|sinon|both\s+as|
               or\s+(?:in\s+|as\s+)?(?:plain\s+text|prose|words|text|a\s+sentence))\b
          | \bhow\s+(?:to|do|does|is|are|can|could|should|would)\b
          | \b(?:why|warum|wieso|pourquoi)\b | \bpor\s+qué\b
          | \b(?:poem|essay|story|haiku|joke|song|gedicht|geschichte|poema|poème)\b(?=[^.!?]*[.!?]\s+\S)
          | \b(?:two|several|multiple|many|both|different|either)\s+(?:versions|variants|alternatives|answers|replies)\b
          | \b(?:and|und|y|et)\s+(?:save|send|store|post|upload|write|translate|explain|summari[sz]e|describe|list|tell|
               show|draw|plot|email|e-mail|run|execute|speichere|schreibe?|sende|übersetze|guarda|envía|escribe|traduce|
               enregistre|envoie|écris|traduis)\b
          | \b(?:and|plus|und|y|et)\s+(?:an?|one|ein\w*|une?|una)\s+(?:\w+\s+)?(?:summary|table|poem|essay|sentence|
               paragraph|list|translation|chart|story|note|zusammenfassung|tabelle|gedicht|resumen|tabla|poema|résumé|
               tableau|poème)\b
          | \bin\s+(?:one|two|three|\d{1,3}|a\s+few|a\s+single)\s+(?:sentences?|words?|paragraphs?|lines?)\b
          | \binstead\s+of\s+json\b | \bnot?\s+(?:in\s+|as\s+|use\s+|return\s+)?json\b | \bwithout\s+(?:any\s+)?json\b
        )""",
    _FLAGS,
)
OTHER_TASK = re.compile(
    rf"""\s*{_POLITE}(?:write|compose|draft|explain|translate|solve|compare|convert|implement|debug|fix|think|reason|
    prove|discuss|argue|validate|check|verify|correct|rewrite|refactor|edit|parse|plan|
    schreibe?|erkläre|übersetze|löse|vergleiche|prüfe|korrigiere|
    escribe|explica|traduce|resuelve|compara|corrige|
    écris|explique|traduis|résous|compare|corrige)(?!\w)""",
    _FLAGS,
)
FINITE = re.compile(
    r"\s*(?:is|are|was|were|can|could|should|would|will|means?|has|have|does|do|gets?|ist|sind|wird|es|son|est|sont)\b",
    re.IGNORECASE,
)
# What shows which language these wordings are in, where it isn't English.
LANGUAGES = {
    "de": re.compile(
        r"\b(?:mit|schlüsseln?|feld(?:er|ern)?|eigenschaften|attributen|gib|liefere|erstelle|erzeuge|generiere|"
        r"antworte|schreibe?|bitte|gemäß|entspricht|folgende\w*|als)\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"\b(?:con|claves?|campos?|propiedad(?:es)?|atributos?|llaves|devuelve|dame|genera|crea|responde|escribe|según|"
        r"siguientes?|como|formato|objeto)\b",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\b(?:avec|clés?|clefs?|champs?|propriétés?|attributs?|renvoie|retourne|donne|génère|crée|réponds|selon|"
        r"suivante?s?|objet)\b",
        re.IGNORECASE,
    ),
}
# Of such wording, what lets nothing but the JSON itself stand in the reply.
BARE = re.compile(
    r"""\b(?:only|just|nothing|no|not|don['’]t|without|alone|itself|nur|solo|uniquement)\b""", re.IGNORECASE)
ONLY_JSON = re.compile(
    r"\b(?:only|just|nur|nothing\s+(?:else\s+than|but))\s+(?:(?:an?|the|valid|raw|ein|"
    r"das)\s+){0,3}json\b", re.IGNORECASE
)
BARE_OF_KEYS = re.compile(
    r"""(?:other|extra|additional)\s+(?:keys|fields)[\s.!;]*\Z""", re.IGNORECASE)

# Wording about the form alone, which a strict check of the reply answers for.
FORM_ONLY = re.compile(
    r"""(?:^|(?<=[.!?\n:;]))[ \t]*+(?:please\s+|bitte\s+)?(?:
        (?:(?:only|just)\s+)?(?:return|output|reply|respond|answer|give|write|print|use|produce|emit)(?:\s+with)?
           (?:\s+(?:only|just|nothing\s+but)){0,3}(?:\s+(?:the|a|valid|raw|pure|plain)){0,4}\s+json(?:\s+object)?
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
      )[ \t]*+(?=[.!?\n\r;]|\Z)[.!;]*""",
    _FLAGS,
)
ONE_OBJECT = re.compile(r"\b(?:object|objekt|objeto|objet|record|dictionary|dict|map|document|dokument|documento|"
                         r"registro|datensatz)\Z|\ban?\s", re.IGNORECASE)
