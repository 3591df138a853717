"""Prompts that work on words as words: there the very letters are what is asked about.

"Translate: please sit down" and "Translate: sit down" ask for the same thing of two texts, "How do you spell gray" and
"grey" of two words. What is harmless wording elsewhere (politeness, contractions, spelling, "the", case, commas) is
the matter itself here, so the text worked on must be the same to the letter.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["worded_alike"]

# Words that make the wording the matter, in the four languages; they are looked for in every text.
_MATTER: Final = re.compile(
    r"""(?<![^\W_])(?:
      translat\w+|rewrit\w+|rewrote|rephras\w+|paraphras\w+|reword\w*|proof-?read\w*|(?:mis)?spell\w*|spelt|typos?
    | gramma\w+|punctuat\w+|commas?|apostrophes?|capitali[sz]\w+|(?:upper|lower|title|capital)[ -]?(?:case\w*|letters?)
    | syllables?|vowels?|consonants?|synonyms?|antonyms?|homophones?|rhymes?[ ]with|etymolog\w+|pronounc\w+
    | pronunciation|acronyms?|abbreviat\w+|stands?[ ]for|contractions|anagrams?|palindromes?|part[ ]of[ ]speech
    | (?:de|en)crypt\w*|(?:de|en)code[sd]?|morse|rot-?13|base-?64|polite\w*|in[ ](?:words|digits|numerals|figures)
    | as[ ](?:an?[ ])?(?:words?|digits?|numerals?)|to[ ](?:an?[ ])?(?:words?|digits?|numerals?)|the[ ]words?
    | (?:how[ ]many|count|number[ ]of|first|last|capital|missing|reverse|remove|replace)\b[^.:?!\n]{0,40}
      \b(?:letters?|characters?|words?)
    | (?:british|american)[ ](?:spelling|english)|how\b[^.:?!\n]{0,30}\bsay\b|which[ ]is[ ]correct
    | british[ ]or[ ]american|full[ ]stops?|(?:question|exclamation)[ ]marks?|sentiments?|entit(?:y|ies)
    | (?:is|does|sounds?|how)\b[^.:?!\n]{0,30}\b(?:formal|informal|rude|friendly|sarcastic)|(?:tone|mood|register)[ ]of
    | (?:this|that|it|text|sentence|following)[ ](?:is[ ])?an?[ ](?:question|statement|greeting|request|command)
    | (?:missing|definite|indefinite)[ ](?:articles?|spaces?)|spaces?[ ]missing
    | übersetz\w*|übertrag\w*|umformulier\w*|umschreib\w*|korrigier\w*|rechtschreib\w*|grammati\w*|buchstab\w*
    | geschrieben|schreibt[ ]man|schreibweise|silben?|synonyme?n?|reimt|satzzeichen|kommas?|kommata
    | (?:groß|klein)buchst\w*|abkürzung|steht[ ]für|aussprache|ausgesprochen|höflich\w*|in[ ]worten|etymologie
    | wie[ ]viele[ ](?:wörter|zeichen)
    | traduc\w*|tradúc\w*|tradúzc\w*|reescrib\w*|reformul\w*|parafrase\w*|corrig\w*|corríg\w*|correg\w*|ortogr\w*
    | gramátic\w*|puntuaci\w*|deletre\w*|se[ ]escribe|letras|sílabas?|sinónimos?|antónimos?|rima[ ]con|comas
    | mayúscul\w*|minúscul\w*
    | abreviatur\w*|cuántas[ ]palabras|pronunci\w*|en[ ]palabras|etimolog\w*|cortés
    | tradui\w*|réécri\w*|orthogr\w*|grammair\w*|ponctuation|épel\w*|s'écrit|syllabes?|synonymes?|antonymes?|rime[ ]avec
    | virgules?|majuscul\w*|minuscul\w*|abréviation|prononc\w*|combien[ ]de[ ](?:mots|lettres)|en[ ]lettres|étymologie
    )(?![^\W_])""",
    re.IGNORECASE | re.VERBOSE,
)
# Verbs that work on the text which follows a colon or a line end.
_ON_TEXT: Final = re.compile(
    r"""(?<![^\W_])(?:
      (?:extract|classify|detect|label|tag|correct|fix|edit|improve|polish|shorten|simplify|expand|repeat|echo|verbesser\w*|kürz\w*|vereinfach\w*|mejor\w*
      | acort\w*|simplific\w*|repite|amélior\w*|raccourci\w*|simplifi\w*|répèt\w*)\b[^.:?!\n]{0,80}
    | (?:say|write|print|type|reply|respond)(?:[ ](?:with|exactly|only|just|this))*[ ]?
    )(?=[:\n])""",
    re.IGNORECASE | re.VERBOSE,
)
_CASE: Final = re.compile(
    r"capital|upper|lower|title.?case|\bcases?\b|buchst|groß|mayús|minús|majus|minus", re.IGNORECASE
)
_SIGNS: Final = re.compile(
    r"punctuat|full.?stop|marks?\b|question|statement|comma|apostroph|satzzeichen|puntuac|coma|ponctuation|virgule|kommas?",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"""\A(?:(?:please|kindly|can|could|would|will|you|hi|hello|hey|there|help|me|us|i|need|want|to|the|bitte|kannst|könntest
    | können|könnten|würdest|würden|du|sie|mir|hallo|por|favor|puedes|podrías|puede|podría|hola|peux|pourrais|pouvez
    | pourriez|tu|vous|bonjour|s'il|te|plaît|plait)\b[\s,.!-]*)+""",
    re.IGNORECASE | re.VERBOSE,
)
_BEHIND: Final = re.compile(
    r"""[\s,.!?-]*
    (?:(?:please|thank[ ]you|thanks|bitte|danke|por[ ]favor|gracias|s'il[ ](?:te|vous)[ ]pla[iî]t|merci)
    [\s,.!?]*)*\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_DEMANDED: Final = re.compile(
    r"\b(?:in|all|no|any|only|with|without|use|using|entirely|avoid|be|alles|nur|en|todo|tout)\s+\Z", re.IGNORECASE
)
_HEAD: Final = 2_000  # characters in which the instruction is looked for
_EDGE: Final = 100  # characters in which politeness at either end is looked for


def worded_alike(cached: str, new: str, quoted: bool) -> tuple[str, str] | None:
    """None if the words that either prompt works on are the same to the letter, else what differs.

    `quoted`: both quote the same texts. A sentence that works on a quoted word is judged by the other rules.
    """
    ours, theirs = _matter(cached, quoted), _matter(new, quoted)
    return None if ours == theirs else (ours or cached, theirs or new)


def _matter(text: str, quoted: bool) -> str:
    """What a prompt works on, as far as its form counts; empty where the wording is not the matter."""
    head = text[:_HEAD]
    found = [match for match in _MATTER.finditer(head) if not _of_the_reply(head, match)]
    other = found[0] if found else _ON_TEXT.search(head)
    if other is None:
        return ""
    at = min((place for sign in (":", "\n") if (place := text.find(sign, other.end())) >= 0), default=-1)
    asked = " ".join(match.group() for match in found if at < 0 or match.start() < at)
    case, signs = bool(_CASE.search(asked)), bool(_SIGNS.search(asked))
    if at >= 0 and text[at + 1 :].strip():
        return _form(text[at + 1 :], case, signs, whole=True)
    if not found or quoted:
        return ""
    return _form(_without_politeness(text.strip(), signs), case, signs, whole=False)


def _of_the_reply(text: str, match: re.Match[str]) -> bool:
    """Whether case or commas are a demand on the reply ("in all capital letters"), not what the prompt works on."""
    demanded = _DEMANDED.search(text[max(0, match.start() - 20) : match.start()])
    return demanded is not None and bool(_CASE.search(match.group()) or _SIGNS.search(match.group()))


def _without_politeness(text: str, signs: bool) -> str:
    """The text without politeness at either end; behind it only where the signs at its end don't count."""
    text = _BEFORE.sub("", text[:_EDGE]) + text[_EDGE:]
    return text if signs else text[:-_EDGE] + _BEHIND.sub("", text[-_EDGE:])


def _form(text: str, case: bool, signs: bool, whole: bool) -> str:
    """The text as its letters count: case in a text worked on, not in a question on words; the first letter's only
    where case itself is the matter."""
    text = " ".join(text.split())
    if not signs:
        text = text.rstrip(" .")
    if whole and case:
        return text
    return text[:1].casefold() + text[1:] if whole or case else text.casefold()
