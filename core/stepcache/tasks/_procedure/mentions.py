"""Whether a text speaks of a thing: its word in any inflection, its compounds, and what plainly belongs to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from stepcache.tasks._procedure.related import COVERED, INSTANCES

__all__ = ["mentions", "named", "names_with", "plain_mention", "referred", "shows"]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_FOLD = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss", "é": "e", "è": "e", "ê": "e", "á": "a", "ñ": "n"})

_SUBSTITUTE = re.compile(  # "oat milk" is no milk, "vegan butter" no butter
    r"\b(?:vegan|vegetarian|veggie|plant[- ]based|meatless|non[- ]dairy|"
    r"(?:dairy|lactose|gluten|sugar|alcohol|egg)[- ]free|oat|soy|almond|rice|cashew|coconut|hemp|"
    r"(?:vegane|pflanzliche|(?:gluten|laktose|zucker|alkohol)freie)[nmrs]?)\s+[^\W\d_]+"
    r"|\b(?:Hafer|Soja|Mandel|Reis|Kokos)(?:milch|sahne|drink|joghurt)\b|\bpeanut butter\b|\bcocoa butter\b",
    re.IGNORECASE,
)
_NEGATED = (
    r"\b(?:without|no|free\s+of|instead\s+of|rather\s+than|in\s+place\s+of|omit(?:ting)?|skip(?:ping)?|avoid(?:ing)?|"
    r"leav(?:e|ing)\s+out|replac(?:e|ing)|(?:not|never|don['’]t)\s+(?:use|add|include)|"
    r"ohne|keine?[nmrs]?|statt|anstelle\s+von|anstatt|vermeide[n]?|ersetze[n]?)"
    r"\s+(?:(?:any|the|using|all|die|das|den|der)\s+){{0,2}}{thing}|{thing}-free|{thing}-?freie?[nmrs]?\b"
)
_DEFINITE = re.compile(r"\b(?:the|these|those|your|die|das|den|der|dem)\s+(?:[^\W\d_]+\s+)?\Z", re.IGNORECASE)
_FREE_OF = re.compile(r"frei(?:e[nmrs]?)?$", re.IGNORECASE)
_GERMAN_ENDINGS = ("ern", "nen", "en", "er", "es", "se", "e", "n", "s", "")
_LINKS = frozenset({  # what stands beside such a word makes no name with it
    "a", "an", "the", "my", "your", "our", "some", "any", "more", "and", "or", "nor", "but", "with", "without", "of",
    "in", "on", "for", "to", "from", "by", "at", "as", "plus", "also", "into", "onto", "is", "are", "that", "which",
    "using", "use", "uses", "has", "have", "it", "its", "please", "other", "another", "no", "not", "only", "der",
    "die", "das", "den", "dem", "ein", "eine", "einen", "einem", "einer", "mein", "meine", "meinen", "und", "oder",
    "aber", "mit", "ohne", "von", "vom", "aus", "im", "auf", "fur", "zu", "zum", "zur", "bei", "als", "sowie", "auch",
    "ist", "sind", "man", "ich", "wir", "mehr", "kein", "keine", "keinen", "bitte",
})
_DOERS = frozenset({
    "i", "you", "we", "one", "to", "people", "they", "can", "could", "should", "would", "do", "does", "please", "man",
    "ich", "wir", "du", "sie", "zu",
})
_IRREGULAR = {
    "knives": "knife", "loaves": "loaf", "leaves": "leaf", "halves": "half", "shelves": "shelf", "mice": "mouse",
    "children": "child", "people": "person", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth",
    "eier": "ei", "eiern": "ei",
}


def _fold(word: str) -> str:
    return word.casefold().replace("’s", "").replace("'s", "").translate(_FOLD)


@lru_cache(maxsize=4096)
def _english(word: str) -> str:
    """The singular of an English noun, near enough to compare with."""
    word = _fold(word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=1024)
def _activity(word: str) -> str:
    """What is left of an English verb without its ending: drilling, drilled, drill are one."""
    word = _fold(word)
    for ending in ("ing", "ed", "er", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[:-len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.removesuffix("e")


@lru_cache(maxsize=1024)
def _german(word: str) -> str:
    """The stem of a German noun or infinitive, without umlaut and ending."""
    word = _fold(word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending in ("nen", "en", "e", "n", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[:-len(ending)]
    return word


def _speaks_german(word: str, stem: str) -> bool:
    """Whether a word is an inflection or a compound of a German stem."""
    word = _fold(word)
    if _IRREGULAR.get(word, word) == stem:
        return True
    if len(stem) < 3:
        return stem == "ol" and word.endswith("ol") and len(word) > 4
    if any(word == stem + ending for ending in _GERMAN_ENDINGS):
        return True
    if len(stem) < 4 or len(word) - len(stem) < 3:
        return False
    if word.startswith(stem):
        return True
    return any(word.endswith(stem + ending) for ending in _GERMAN_ENDINGS)


def _speaks_english(word: str, stem: str, activity: str) -> bool:
    singular = _english(word)
    if singular == stem or (activity and _activity(word) == activity):
        return True
    closed = len(stem) >= 5 and len(singular) - len(stem) >= 3  # written in one word: peanutbutter, strawberry
    return closed and (singular.startswith(stem) or singular.endswith(stem))


def _phrase(thing: str, language: str) -> tuple[str, ...]:
    stem = _german if language == "de" else _english
    return tuple(stem(word) for word in _WORD.findall(thing))


def _places(text: str, thing: str, language: str) -> Iterator[tuple[int, int]]:
    """Where the words of a thing stand next to each other in a text."""
    words = list(_WORD.finditer(text))
    stems = _phrase(thing, language)
    given = [found.group() for found in _WORD.finditer(thing)]
    activities = [_activity(word) if word.casefold().endswith("ing") and len(given) == 1 else "" for word in given]
    for start in range(len(words) - len(stems) + 1 if stems else 0):
        run = words[start:start + len(stems)]
        if all(
            _speaks_german(word.group(), stem) if language == "de" else _speaks_english(word.group(), stem, activity)
            for word, stem, activity in zip(run, stems, activities, strict=True)
        ):
            yield run[0].start(), run[-1].end()


def _masked(text: str, instead: str, language: str) -> str:
    """The text with every mention of what replaces the thing blanked, so that "almond milk" is no milk."""
    for place in list(_places(text, instead, language)) if instead else ():
        text = text[:place[0]] + " " * (place[1] - place[0]) + text[place[1]:]
    return text


def shows(text: str, thing: str, language: str) -> bool:
    """Whether the text speaks of this very thing, in any inflection."""
    return next(_places(text, thing, language), None) is not None


def named(text: str, thing: str, instead: str, language: str) -> bool:
    """Whether the text has the very word, were it only to say that it is left out."""
    return shows(_masked(text, instead, language), thing, language)


def names_with(base: str, thing: str, language: str) -> tuple[str, ...]:
    """The names in a request that only contain the word: "peanut butter cookies" without butter are still called so.

    A name is made with the noun beside it. "Garlic and mushrooms", "with mushrooms" and "make mushroom" are none.
    """
    words = list(_WORD.finditer(base))
    names = []
    for start, stop in _places(base, thing, language):
        before = [word for word in words if word.end() <= start]
        after = [word for word in words if word.start() >= stop]
        if len(before) > 1 and _beside(base, before[-1].end(), start) and not _is_verb(before):
            names.append(base[before[-1].start():stop])
        if after and _beside(base, stop, after[0].start()):
            names.append(base[start:after[0].end()])
    return tuple(name for name in names if _LINKS.isdisjoint(_fold(word) for word in _WORD.findall(name)))


def _beside(base: str, end: int, start: int) -> bool:
    """Whether nothing but a space or a hyphen stands between two words."""
    return base[end:start] in {" ", "-"}


def _is_verb(words: list[re.Match[str]]) -> bool:
    """Whether the last word is what is done, by whoever stands before it: "do I make", "how to cook"."""
    return _fold(words[-2].group()) in _DOERS


def plain_mention(text: str, thing: str, instead: str, language: str, names: tuple[str, ...] = ()) -> str:
    """The words in which a reply brings in a thing it should lack, or "".

    Naming it as left out brings it not in, and neither does a name of the request's own that contains the word.
    """
    for name in (instead, *names):
        text = _masked(text, name, language)
    for start, stop in _places(text, thing, language):
        said = re.escape(text[start:stop])
        around = text[max(0, start - 40):stop + 12]
        free = _FREE_OF.search(text[start:stop])  # "erdnussfrei" is one word
        if free is None and re.search(_NEGATED.format(thing=said), around, re.IGNORECASE) is None:
            return text[start:stop]
    for word in _covered(thing, language, strict=True):
        masked = _SUBSTITUTE.sub(lambda found: " " * len(found.group()), text)
        for start, stop in _places(masked, word, language):
            return masked[start:stop]
    return ""


def mentions(text: str, thing: str, instead: str, language: str) -> str:
    """The words in which a step touches a thing: it itself, its head noun, what it covers or comes with; or ""."""
    text = _masked(text, instead, language)
    head = _WORD.findall(thing)[-1:]
    for word in (thing, *head, *_covered(thing, language)):
        place = next(_places(text, word, language), None)
        if place is not None:
            return text[place[0]:place[1]]
    return ""


def _covered(thing: str, language: str, strict: bool = False) -> tuple[str, ...]:
    """The words a general word covers; `strict` only those that are instances of it, not tools or activities."""
    stem = (_phrase(thing, language) or ("",))[-1]
    return () if strict and stem not in INSTANCES else COVERED[language].get(stem, ())


def referred(text: str, thing: str, instead: str, language: str) -> str:
    """The words in which a step refers to a thing as what it is an instance of, or "".

    After "chop the peanuts", "the nuts" are these; "a nut" may be any.
    """
    text = _masked(text, instead, language)
    stem = (_phrase(thing, language) or ("",))[-1]
    for general, words in COVERED[language].items():
        for start, stop in _places(text, general, language) if general in INSTANCES and stem in words else ():
            if _DEFINITE.search(text[:start]):
                return text[start:stop]
    return ""
