"""Whether argument values stand in the request: nothing that the user didn't say may be passed to a tool.

A value that can't be traced to the request's own words fails, however plausible: it may come from another request, or
from nowhere. Derived values (a country's code, a sum) fail as well; only spelling, number words, dates and times of
day are seen through.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from stepcache.tasks._python.names import same_word
from stepcache.tasks._tools.amounts import dates_in, months, number_of, numbers_in, times_in

__all__ = ["MAX_PROMPT", "REFERENCE", "Grounds", "grounds", "normal", "stands_in", "ungrounded"]

MAX_PROMPT = 60_000

# $label$ or $label.field[0].other$: the result of an earlier call
REFERENCE = re.compile(r"\$([A-Za-z_]\w*)((?:\.[\w-]+|\[[^\]\s$]{0,40}\])*)\$")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2212": "-"})
_TOKEN = re.compile(r"[^\W_]+(?:[-.@_][^\W_]+)*(?:\+\+|#)?")
_OPERATOR = re.compile(r" ?([-+*/^=<>|&%!~()]) ?")
# what a written date or time consists of beside the names of months
_MOMENT = re.compile(r"(?<=\d)(?: ?[ap]\.?m\b\.?|[tz](?=\d|$)|(?:st|nd|rd|th)\b)|[\d:,./+-]")
_INSIDE = re.compile(r"[-_]")
_PHONE = re.compile(r"[+(]?\d[\d\s().\-]{5,24}\d")
_MIN_PHONE = 7
_SIGNS = re.compile(r"[+*/^=<>|&%!~#@\\{}$]")  # signs that change what a value is; punctuation of prose does not
_LINK_WORDS = "a an the of in on at for to and with by from s is der die das des und von el la los las de del le les du"
_LINKS = frozenset(_LINK_WORDS.split())
_MAX_GAP = 3  # linking words between two words of one value
_MIN_FORM = 4  # letters from which on a word may differ by its ending
_MIN_NAMED = 3  # letters; shorter members of an enum ("in", "C") stand in a text by chance
_FAR_EXPONENT = 400  # nobody writes such a number, and an exact fraction of it is huge
_MAX_PLACES = 1_000
_MAX_OPENED = 200  # parts of one schema looked into for one value
_FAR_EAST = "\u2e80"  # from here on, words are not separated by spaces


@dataclass(frozen=True, slots=True, eq=False)
class Grounds:
    """The words of one request, prepared for looking values up."""

    text: str
    squeezed: str
    tokens: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]
    numbers: frozenset[Fraction]
    dates: frozenset[tuple[int | None, int, int]]
    times: frozenset[tuple[int, int]]
    phones: frozenset[str]

    def has_number(self, value: int | Decimal | Fraction) -> bool:
        """Whether the request names this amount."""
        if isinstance(value, Decimal) and abs(value.adjusted()) > _FAR_EXPONENT:
            return False
        exact = Fraction(value)
        parts = {part for one in self.dates for part in one if part is not None}
        return exact in self.numbers or exact in parts or any(exact in moment for moment in self.times)

    def has_text(self, value: str) -> bool:
        """Whether the request says this, letter for letter or in other spelling."""
        wanted = normal(value)
        if not wanted or stands_in(wanted, self.text):
            return True
        number = number_of(wanted.lstrip("$€£¥").replace(",", ""))
        if number is not None:
            return number in self.numbers
        digits = re.sub(r"\D", "", wanted)
        if len(digits) >= _MIN_PHONE and _PHONE.fullmatch(wanted) and digits in self.phones:
            return True
        return self._has_moment(wanted) or self._has_formula(wanted) or self._has_words(wanted)

    def _has_moment(self, wanted: str) -> bool:
        days, times = dates_in(wanted), times_in(wanted)
        if not days and not times:
            return False
        known = months()
        rest = " ".join(word for word in _MOMENT.sub(" ", wanted).split() if word not in known)
        if rest and not self._has_words(rest):
            return False
        # a date without a year in the request leaves the year open
        if not all(day in self.dates or (None, *day[1:]) in self.dates for day in days):
            return False
        return all(time in self.times or time == (0, 0) for time in times)

    def _has_formula(self, wanted: str) -> bool:
        formula = _squeezed(wanted)
        return len(formula) >= _MIN_NAMED and bool(_SIGNS.search(formula)) and stands_in(formula, self.squeezed)

    def _has_words(self, wanted: str) -> bool:
        if _SIGNS.search(wanted):
            return False
        whole = _TOKEN.findall(wanted)
        split = [part for token in whole for part in _INSIDE.split(token)]
        return any(words and self._in_a_row(words) for words in ([whole] if whole == split else [whole, split]))

    def _in_a_row(self, words: Sequence[str]) -> bool:
        first = self.places.get(words[0][:_MIN_FORM], ())
        return any(
            same_word(words[0], self.tokens[place]) and self._follow(words, place) for place in first[:_MAX_PLACES]
        )

    def _follow(self, words: Sequence[str], place: int) -> bool:
        for word in words[1:]:
            for step in range(1, _MAX_GAP + 2):
                if place + step >= len(self.tokens):
                    return False
                if same_word(word, self.tokens[place + step]):
                    place += step
                    break
                if self.tokens[place + step] not in _LINKS:
                    return False
            else:
                return False
        return True


@lru_cache(maxsize=32)
def grounds(prompt: str) -> Grounds:
    """Prepare a request's words. The prompt must not be longer than `MAX_PROMPT`."""
    text = normal(prompt)
    tokens = tuple(_TOKEN.findall(text))
    places: dict[str, list[int]] = {}
    for index, token in enumerate(tokens):
        places.setdefault(token[:_MIN_FORM], []).append(index)
    phones = (re.sub(r"\D", "", match.group()) for match in _PHONE.finditer(text))
    return Grounds(
        text=text,
        squeezed=_squeezed(text),
        tokens=tokens,
        places={token: tuple(found) for token, found in places.items()},
        numbers=numbers_in(prompt),
        dates=dates_in(prompt),
        times=times_in(prompt),
        phones=frozenset(phones),
    )


def normal(text: str) -> str:
    """The spelling in which texts are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES).split())


def _squeezed(text: str) -> str:
    return _OPERATOR.sub(r"\1", text.replace("**", "^"))


def stands_in(wanted: str, text: str) -> bool:
    """Whether a normal text stands in another, in no larger word, number or address."""
    at = text.find(wanted)
    while at >= 0:
        if _starts_whole(text, at) and _ends_whole(text, at + len(wanted)):
            return True
        at = text.find(wanted, at + 1)
    return False


def _starts_whole(text: str, at: int) -> bool:
    """Whether nothing before `at` belongs to the same word, number or address."""
    if at == 0 or text[at] >= _FAR_EAST:
        return True
    before, earlier = text[at - 1], text[at - 2] if at > 1 else " "
    if not text[at].isalnum():
        return True
    if before.isalnum() or before in "_@":
        return False
    if before == "-":  # "non-smoking" is not smoking, -5 is not 5; a range 3-5 holds both
        return text[at].isdigit() and earlier.isdigit()
    return not (before in ".," and text[at].isdigit() and earlier.isdigit())


def _ends_whole(text: str, end: int) -> bool:
    if end == len(text) or text[end] >= _FAR_EAST or not text[end - 1].isalnum():
        return True
    after, later = text[end], text[end + 1] if end + 1 < len(text) else " "
    if after.isalnum() or after in "_@":
        return False
    if after in "-.":
        return not later.isalnum() or (after == "-" and text[end - 1].isdigit() and later.isdigit())
    if after == "," and later.isdigit():
        return not text[end - 1].isdigit()
    return not (after == "#" or (after == later == "+"))


def ungrounded(
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any],
    request: Grounds,
    labels: Mapping[str, frozenset[str] | None],
) -> str:
    """Where the first value stands that nothing in the request accounts for; empty when all are grounded.

    `labels` are those of the earlier calls, each with the fields of its result (None: unknown).
    """
    for place, value, parts in _leaves(arguments, [schema], schema, ""):
        if isinstance(value, str):
            ok = _text_is_grounded(value, parts, request, labels)
        elif value is None or isinstance(value, bool):
            ok = True
        else:
            ok = request.has_number(value) or any(_plain(value) == _plain(one) for one in _given_by(parts))
        if not ok:
            return place
    return ""


def _text_is_grounded(
    value: str, parts: list[Mapping[str, Any]], request: Grounds, labels: Mapping[str, frozenset[str] | None]
) -> bool:
    members = [one for part in parts for one in part.get("enum", ()) if isinstance(one, str)]
    if value in members:
        named = [one for one in members if len(one) >= _MIN_NAMED and request.has_text(one)]
        return value in named or not named  # the request names another member of the list
    if any(value == one for one in _given_by(parts)):
        return True
    rest, end = [], 0
    for match in REFERENCE.finditer(value):
        label, path = match.groups()
        if label not in labels or not _field_exists(path, labels[label]):
            return False
        rest.append(value[end : match.start()])
        end = match.end()
    rest.append(value[end:])
    return all(request.has_text(piece) for piece in rest)


def _field_exists(path: str, fields: frozenset[str] | None) -> bool:
    first = re.match(r"\.([\w-]+)", path)
    return fields is None or first is None or first[1] in fields


def _given_by(parts: list[Mapping[str, Any]]) -> Iterator[Any]:
    """The values that the tool itself names: defaults, constants, members of an enum."""
    for part in parts:
        yield from (part[key] for key in ("default", "const") if key in part)
        yield from part.get("enum", ())


def _plain(value: Any) -> Any:
    return Fraction(str(value)) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else value


def _leaves(
    value: Any, parts: list[Mapping[str, Any]], root: Mapping[str, Any], place: str
) -> Iterator[tuple[str, Any, list[Mapping[str, Any]]]]:
    """Every leaf of the arguments with the parts of the schema that speak of it."""
    parts = list(_opened(parts, root))
    if isinstance(value, dict):
        for key, inner in value.items():
            named = [part["properties"][key] for part in parts if key in part.get("properties", {})]
            where = f"{place}.{key}" if place else key
            if not named:
                named = [part["additionalProperties"] for part in parts if "additionalProperties" in part]
            yield from _leaves(inner, named, root, where)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            named = []
            for part in parts:
                prefix = part.get("prefixItems", ())
                named.append(prefix[index] if index < len(prefix) else part.get("items", {}))
            yield from _leaves(inner, named, root, f"{place}[{index}]")
    else:
        yield place, value, parts


def _opened(parts: list[Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas with those they refer to or combine."""
    todo, seen = list(parts), 0
    while todo and seen < _MAX_OPENED:
        part = todo.pop()
        seen += 1
        if not isinstance(part, Mapping):
            continue
        yield part
        for key in ("anyOf", "oneOf", "allOf"):
            todo += part.get(key, ())
        todo += [part[key] for key in ("then", "else", "if") if key in part]
        if isinstance(part.get("$ref"), str) and (found := _pointed(root, part["$ref"])) is not None:
            todo.append(found)


def _pointed(root: Mapping[str, Any], reference: str) -> Mapping[str, Any] | None:
    if not reference.startswith("#/"):
        return root if reference == "#" else None
    at: Any = root
    for key in reference[2:].split("/"):
        at = at.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(at, Mapping) else None
    return at if isinstance(at, Mapping) else None
