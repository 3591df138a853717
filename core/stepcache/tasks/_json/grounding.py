"""Whether the values of a reply are of the request.

`invented` is for recorded values: where a request carries the facts, a name or a number that it does not hold was made
up, and another request may not be answered with it. `fits` is for patched values, where all recorded values are copied
out of the request's text: beside such values stands no number that it does not hold, no text where it writes a number,
no name that has lost its capitals, and no object where all is flat. A summary or a category is written in words of its
own, which are not looked up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from stepcache.tasks._json.shape import child, plain
from stepcache.tasks._json.spans import Path

if TYPE_CHECKING:
    from stepcache.tasks._tools.ground import Grounds

__all__ = ["fits", "invented"]

_PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?")
_FEWEST = 2  # recorded values that show that the reply is copied from the request
_MOST = 200
_FACTS = 3  # names and numbers from which on a request is taken to carry what is to be said
_FACTS_WORDS = 8
_SHORT = 4  # words; longer texts are told in words of their own
_WORD = re.compile(r"\S+")
_SENTENCE_END = (".", ":", "!", "?")
_OF_ADDRESSES = frozenset("/\\@_")
_MOST_LEAVES = 2_000
_CODE = 3  # letters; a shorter word in capitals is a currency, a country, a unit
_NOTHING = frozenset({
    "n/a", "unknown", "none", "null", "not specified", "not given", "not available", "unspecified", "yes", "no", "true",
    "false", "unbekannt", "keine", "keiner", "ja", "nein", "desconocido", "ninguno", "sí", "inconnu", "aucun", "oui",
    "non",
})  # fmt: skip
# Words of a request that wants values found rather than copied.
_FINDING = re.compile(
    r"\b(?:invent|imagine|imaginary|fictional|fictitious|made-up|make up|mock|dummy|fake|suggest|recommend|"
    r"erfind\w*|erfunden\w*|fiktiv\w*|denke? dir|inventa|imagina|fictici[oa]s?|inventez?|imaginez|"
    r"fictifs?|fictives?)\b",
    re.IGNORECASE,
)
_EDGE = 500  # characters at either end of a request, where what is wanted is said
_PIECE = re.compile(r"\d+|[^\W\d_]+")
_DIGITS = 7  # from which on a number without letters is an id or a phone number, however it is spaced
_GERMAN = frozenset({"der", "die", "das", "und", "ein", "eine", "einen", "einer", "mit", "für", "im", "von", "ist"})


def invented(value: Any, schema: Any, about: str, schema_text: str = "") -> Path | None:
    """Where a reply first holds a name or a number that its request, carrying the facts `about`, doesn't hold.

    None: nowhere, or the request doesn't carry the facts, so that values are the model's to find. What the schema lists
    (`enum`, `const`) or its text says may stand as well. A name that the request holds once is said of one thing, so a
    second key with the same name is one made up.
    """
    from stepcache.tasks._tools.ground import MAX_PROMPT, grounds, normal, stands_in  # its tables are read on first use

    if len(about) > MAX_PROMPT or len(schema_text) > MAX_PROMPT or not _carries_facts(about):
        return None
    leaves = list(_places(value, schema, schema, ()))
    if len(leaves) > _MOST_LEAVES:
        return None
    said, known = normal(about), set()
    for path, leaf, part in leaves:
        if leaf in known or "enum" in part or "const" in part or not _factual(leaf) or _scaled(leaf, part):
            continue
        # Most stand there letter for letter.
        if not (
            stands_in(normal(str(leaf)), said)
            or _stands(leaf, grounds(about))
            or (isinstance(leaf, str) and _spelt(leaf, about))
            or (schema_text and _stands(leaf, grounds(schema_text)))
        ):
            return path
        known.add(leaf)
    return _repeated(value, said)


def _carries_facts(about: str) -> bool:
    """Whether a text tells something: several names and numbers in some words."""
    words = _WORD.findall(about)
    if len(words) < _FACTS_WORDS or _FINDING.search(f"{about[:_EDGE]} {about[-_EDGE:]}"):
        return False
    nouns = len(_GERMAN.intersection(words)) > 1  # a German noun begins with a capital, too: only numbers tell there
    facts, before, named = 0, ".", False
    for word in words:
        name = word[0].isupper() and not before.endswith(_SENTENCE_END) and not nouns
        facts += any(map(str.isdigit, word)) or (name and not named)  # names in a row are one
        before, named = word, name
        if facts >= _FACTS:
            return True
    return False


def _factual(leaf: Any) -> bool:
    """Whether a value is copied rather than found: a number, or a short text with a name, a number or an address."""
    if not isinstance(leaf, str):
        return leaf == 0 or not -1 < leaf < 1  # a probability, a score
    if leaf.strip().casefold() in _NOTHING or (leaf.isalpha() and leaf.isupper() and len(leaf) <= _CODE):
        return False
    named = any(char.isupper() or char.isdigit() or char in _OF_ADDRESSES for char in leaf)
    return named and len(leaf.split()) <= _SHORT


def _scaled(leaf: Any, part: Any) -> bool:
    """Whether a number is a mark on a scale that the schema gives."""
    return not isinstance(leaf, str) and "minimum" in part and "maximum" in part


def _pieces(text: str) -> list[str]:
    """A text's words and numbers, without accents and what stands between them."""
    letters = (char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return _PIECE.findall("".join(letters).casefold())


@lru_cache(maxsize=8)
def _joined(about: str) -> tuple[str, frozenset[int]]:
    """The pieces of a request in one, and where each begins or ends."""
    found = _pieces(about)
    return "".join(found), frozenset(accumulate(map(len, found), initial=0))


def _spelt(leaf: str, about: str) -> bool:
    """Whether a request says a text in other spelling: "60cm" for "60 cm", "Jose" for "José", a spaced number."""
    wanted, (text, bounds) = "".join(_pieces(leaf)), _joined(about)
    if not wanted or (wanted.isdigit() and len(wanted) < _DIGITS):
        return False
    at = text.find(wanted)
    while at >= 0:
        if at in bounds and at + len(wanted) in bounds:
            return True
        at = text.find(wanted, at + 1)
    return False


def _stands(leaf: Any, request: Grounds) -> bool:
    return request.has_text(leaf) if isinstance(leaf, str) else request.has_number(leaf)


def _repeated(value: Any, about: str) -> Path | None:
    """The key of an object whose name another key holds already, where the request says it once."""
    seen: set[str] = set()
    for key, part in value.items() if isinstance(value, dict) else ():
        if isinstance(part, str) and _factual(part) and not any(map(str.isdigit, part)):
            name = part.casefold()
            if name in seen and about.count(name) == 1:
                return (key,)
            seen.add(name)
    return None


def _places(value: Any, schema: Any, root: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """The texts and numbers of a JSON value, each with its path and what its schema says."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, child(schema, key, root), root, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, child(schema, index, root), root, (*path, index))
    elif value is not None and not isinstance(value, bool):
        yield path, value, plain(schema, root)


def fits(recorded: Any, value: Any, about: str, spelt_out: bool = False) -> bool:
    """Whether a new value of which no schema says anything may stand in a reply to a request with the facts `about`.

    `recorded` is the reply's value before the change: it shows how such replies are written. `spelt_out`: the request
    names the keys of its inner objects, so that what it names no keys of is none.
    """
    from stepcache.tasks._tools.ground import MAX_PROMPT, grounds  # its tables are read on first use

    if spelt_out and _nested(value):
        return False
    if len(about) > MAX_PROMPT:
        return True
    request = grounds(about)

    held = list(_leaves(recorded))
    if not _FEWEST <= len(held) <= _MOST or not all(_stands(leaf, request) for leaf in held):
        return True  # the reply is not made of the request's words alone
    if _nested(value) and not any(map(_nested, recorded.values() if isinstance(recorded, dict) else recorded)):
        return False
    bare = not any(isinstance(leaf, str) and _PLAIN.fullmatch(leaf) for leaf in held)
    for leaf in _leaves(value):
        if not isinstance(leaf, str):
            if not _stands(leaf, request):
                return False
        elif _lowered(leaf, about) or (bare and _numeral(leaf, request) and not _quoted(leaf, about)):
            return False
    return True


def _numeral(leaf: str, request: Grounds) -> bool:
    return _PLAIN.fullmatch(leaf) is not None and request.has_number(Decimal(leaf))


def _lowered(leaf: str, about: str) -> bool:
    """Whether the request says a text with capitals only that the text lacks: a name is copied as it is written."""
    places = [match.start() for match in re.finditer(re.escape(leaf), about, re.IGNORECASE)]
    return bool(places) and all(_lacks_capital(leaf, about, at) for at in places)


def _lacks_capital(leaf: str, about: str, at: int) -> bool:
    starts = about[:at].rstrip()[-1:] in {"", ".", ":", "!", "?"}  # the capital of a sentence is no name's
    return any(
        written.isupper() and char.islower()
        for char, written in islice(zip(leaf, about[at:], strict=False), int(starts), None)
    )


def _nested(value: Any) -> bool:
    """Whether a value is an object, or a list with one."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_nested, value)))


def _leaves(value: Any) -> Iterator[Any]:
    """The texts and numbers of a JSON value; what else there is can't be looked up."""
    return (leaf for _, leaf, _ in _places(value, {}, {}, ()))


def _quoted(numeral: str, text: str) -> bool:
    return re.search(rf"[\"'“„«`]{re.escape(numeral)}[\"'”“»`]", text) is not None
