"""Reading a how-to request as a base plus changes: "without X", "with Y instead of X", "for N people"; English, German.

What can't be read with certainty is left in the base, where the content gate compares it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Change", "Modifiers", "read_modifiers"]

_MAX_PROMPT = 600  # a longer request is more than a how-to question with a change


@dataclass(frozen=True, order=True)
class Change:
    """Something to leave out (`without`) and perhaps what takes its place (`instead`), in the words of the request."""

    without: str
    instead: str = ""
    language: str = "en"

    def __str__(self) -> str:
        if self.language == "de":
            return f"mit {self.instead} statt {self.without}" if self.instead else f"ohne {self.without}"
        return f"with {self.instead} instead of {self.without}" if self.instead else f"without {self.without}"


@dataclass(frozen=True)
class Modifiers:
    """The changes a request asks for, and the base request that is left when they are cut out."""

    base: str
    changes: tuple[Change, ...] = ()
    people: int | None = None

    def __bool__(self) -> bool:
        return bool(self.changes) or self.people is not None


_W = r"[^\W\d_](?:[^\W_]|['’-](?=[^\W_]))*"
_STOP = {
    "en": "for|with|without|in|on|at|to|from|by|using|instead|and|or|but|if|when|while|because|as|than|of|that|which|"
          "who|is|are|please|so|since|into|per|via|within|during|before|after|about|like|it|them|this|these|those|me|you|"
          "having|being|i|we|him|her|us|you|how|what|where|do|does|can|could|should|would|tell|give|explain|show|not|no|only|just|either|too|near|over|under|between",
    "de": "für|mit|ohne|in|im|auf|an|am|zu|zum|zur|von|vom|bei|aus|nach|statt|anstatt|anstelle|und|oder|aber|wenn|weil|"
          "da|als|wie|die|der|das|dass|ist|sind|bitte|es|sie|ihn|ich|wir|man|du|nicht|kein|keine|nur|sondern|während|vor|"
          "zwischen|über|unter|um|pro|per|dabei|auch|mir|uns|ihr|was|kann|könnte|soll|gib|zeig|erkläre",
}
_ARTICLE = {
    "en": r"(?:(?:any|the|a|an|all|my|your|some)\s+){0,2}",
    "de": r"(?:(?:die|der|das|den|dem|des|eine?[nmrs]?|jegliche[nmrs]?|alle|meine[nmrs]?|viel)\s+)?",
}
_COMMA = r"\s*,\s*"
_AND = {
    "en": rf"(?:{_COMMA}|\s+)(?:and|or|nor)\s+(?:(?:no|without)\s+)?",
    "de": rf"(?:{_COMMA}|\s+)(?:und|oder)\s+(?:ohne\s+)?",
}


def _phrase(language: str) -> str:
    """Up to four words that are no connecting words: what a noun phrase looks like from outside."""
    word = rf"(?!(?:{_STOP[language]})\b){_W}"
    return rf"{word}(?:\s+{word}){{0,3}}"


def _things(language: str, name: str) -> str:
    """A list of noun phrases: "peanuts", "milk, eggs or butter". Commas alone make none ("without eggs, bake ...")."""
    one = rf"{_ARTICLE[language]}{_phrase(language)}"
    return rf"(?P<{name}>{one}(?:(?:{_COMMA}{one}){{0,4}}{_AND[language]}{one}){{0,3}})"


_LEAD = r"(?:^|(?<=[\s(,;:]))(?:(?:and|but|und|aber)\s+)?"
_TAIL = r"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:{stop})\b)"
_X, _Y = ({language: _things(language, name) for language in ("en", "de")} for name in ("x", "y"))


def _one(language: str, name: str) -> str:
    return rf"{_ARTICLE[language]}(?P<{name}>{_phrase(language)})"


def _pattern(language: str, body: str) -> re.Pattern[str]:
    return re.compile(_LEAD + body + _TAIL.format(stop=_STOP[language]), re.IGNORECASE)


_INSTEAD_OF = r"(?:instead\s+of|rather\s+than|in\s+place\s+of|as\s+a\s+(?:substitute|replacement)\s+for)"
_STATT = r"(?:anstatt|statt|anstelle\s+von|an\s+Stelle\s+von)"
_EN_X, _EN_Y, _DE_X, _DE_Y = (_one(language, name) for language in ("en", "de") for name in ("x", "y"))
_REPLACED = (
    ("en", _pattern("en", rf"(?:with|using|use)\s+{_EN_Y},?\s+{_INSTEAD_OF}\s+{_EN_X}")),
    ("en", _pattern("en", rf"(?:replacing|replace|swapping|swap)\s+{_EN_X}\s+(?:with|by|for)\s+{_EN_Y}")),
    ("en", _pattern("en", rf"(?:substituting|substitute)\s+{_EN_Y}\s+for\s+{_EN_X}")),
    ("de", _pattern("de", rf"mit\s+{_DE_Y},?\s+{_STATT}\s+{_DE_X}")),
    ("de", _pattern("de", rf"{_STATT}\s+{_DE_X}\s+mit\s+{_DE_Y}")),
)
_WITHOUT = (
    ("en", _pattern(
        "en", rf"(?:without(?:\s+using)?|with\s+no|excluding|omitting|leaving\s+out|free\s+of)\s+{_X['en']}")),
    ("en", re.compile(  # a bare "no" demands something only where a clause begins with it
        rf"(?:(?<=[,;:]\s)|(?<=\()|(?<=\s)(?:and|but)\s+)no\s+{_X['en']}" + _TAIL.format(stop=_STOP["en"]),
        re.IGNORECASE)),
    ("de", _pattern(
        "de", rf"(?:(?:zwar|jedoch)\s+)?ohne\s+(?:zu\s+)?{_X['de']}")),
)
_FREE = (
    ("en", re.compile(rf"{_LEAD}(?P<x>{_W}?)-free(?=\s)", re.IGNORECASE)),
    ("de", re.compile(rf"{_LEAD}(?P<x>[^\W\d_]{{3,}}?)-?freie?[nmrs]?(?=\s)", re.IGNORECASE)),
)
_SMALL = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "fifteen": 15, "twenty": 20, "eine": 1, "einen": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5,
    "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12, "fünfzehn": 15, "zwanzig": 20,
}
_COUNT = rf"(?:\d{{1,4}}|{'|'.join(_SMALL)})"
_WHO = {
    "en": "people|persons?|adults?|guests?|servings?|portions?|kids|children|players?|participants?|diners|friends|"
          "travell?ers|students|employees",
    "de": "Personen|Person|Leute|Menschen|Gäste|Erwachsene|Kinder|Portionen|Spieler|Teilnehmer|Freunde|Reisende|"
          "Mitarbeiter|Schüler",
}
_PEOPLE = re.compile(
    rf"{_LEAD}(?:(?:for|serving|to\s+serve|feeding)\s+(?:(?:an?\s+)?(?:family|group|party|class|team|crowd)\s+of\s+"
    rf"(?P<a>{_COUNT})|(?P<b>{_COUNT})\s+(?:{_WHO['en']}))"
    rf"|für\s+(?:(?:eine\s+)?(?:Familie|Gruppe)\s+(?:von|mit)\s+(?P<c>{_COUNT})(?:\s+(?:Personen|Leuten?))?"
    rf"|(?P<d>{_COUNT})\s+(?:{_WHO['de']})))"
    rf"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:{_STOP['en']}|{_STOP['de']})\b)",
    re.IGNORECASE,
)
_UNSURE = re.compile(  # the words stand there, but not as a plain demand
    r"\b(?:with\s+(?:or|and)\s+without|(?:or|vs\.?|versus|than|not|never)\s+without|mit\s+(?:oder|und)\s+ohne|"
    r"(?:oder|nicht|nie)\s+ohne|whether|ob)\b|[\"“„«`].*?(?:without|ohne|instead|statt).*?[\"”“»`]",
    re.IGNORECASE | re.DOTALL,
)
_EDGES = re.compile(r"\s*\(\s*\)|\s+(?=[.,;:!?)])|\s{2,}")


def read_modifiers(prompt: str) -> Modifiers:
    """Cut the changes out of a request. The base of a request without any is the request itself, byte for byte."""
    if len(prompt) > _MAX_PROMPT or _UNSURE.search(prompt):
        return Modifiers(prompt)
    changes: list[Change] = []
    base, people = prompt, None
    for language, pattern in _REPLACED:
        while (found := pattern.search(base)) is not None:
            changes.append(Change(_bare(found["x"]), _bare(found["y"]), language))
            base = _cut(base, found)
    for language, pattern in (*_WITHOUT, *_FREE):
        start = 0
        while (found := pattern.search(base, start)) is not None:
            things = [_bare(thing) for thing in re.split(rf"{_AND[language]}|{_COMMA}", found["x"]) if thing.strip()]
            if not all(_is_thing(thing, language) for thing in things):
                start = found.end()
                continue
            changes += [Change(thing, language=language) for thing in things]
            base = _cut(base, found)
    counts = list(_PEOPLE.finditer(base))
    if len(counts) == 1:
        written = next(value for value in counts[0].groupdict().values() if value is not None)
        people = int(written) if written.isdecimal() else _SMALL[written.casefold()]
        base = _cut(base, counts[0])
    if not changes and people is None:
        return Modifiers(prompt)
    return Modifiers(base, tuple(sorted(set(changes))), people)


_NO_THING = frozenset({  # idioms and comparisons: "without further ado", "no other words", "without change"
    "zu", "doing", "question", "fail", "doubt", "doubts", "worries", "problems", "stress", "delay", "other", "others",
    "more", "less", "fewer", "further", "additional", "longer", "change", "changes", "exception", "exceptions", "limit",
    "limits", "warning", "details", "being", "making", "losing", "knowing", "weitere", "weiteres", "zweifel",
    "ausnahme", "probleme", "ende", "mehr", "andere", "anderes",
})


def _bare(phrase: str) -> str:
    """A noun phrase without its article, in one spacing."""
    for article in _ARTICLE.values():
        phrase = re.sub(rf"^{article}", "", phrase.strip(), flags=re.IGNORECASE)
    return " ".join(phrase.split())


def _is_thing(thing: str, language: str) -> bool:
    """Whether a phrase names a thing or a bare activity; "leaving home" or a lone pronoun is neither."""
    words = thing.casefold().split()
    if not words or words[0] in _NO_THING:
        return False
    return not (language == "en" and words[0].endswith("ing") and len(words) > 1)


def _cut(text: str, found: re.Match[str]) -> str:
    """The text without a modifier, and without the comma or space that joined it."""
    before, after = text[:found.start()].rstrip(), text[found.end():]
    if before.endswith((",", ";")):
        before = before[:-1]
    if not before:
        after = after.lstrip(" ,;:")
        return after[:1].upper() + after[1:]
    joined = before + ("" if after[:1] in ".,;:!?)\n" or not after else " ") + after.lstrip(" ")
    return _EDGES.sub(lambda match: " " if match.group().strip() == "" and "\n" not in match.group()
                      and match.end() < len(joined) and joined[match.end()] not in ".,;:!?)" else
                      ("\n" if "\n" in match.group() else ""), joined)
