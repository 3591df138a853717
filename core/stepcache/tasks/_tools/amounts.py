"""The numbers, dates and times of day that a request speaks of, in digits or words, as exact values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from fractions import Fraction

__all__ = ["dates_in", "months", "number_of", "numbers_in", "times_in"]

_MAX_DIGITS = 60
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>[-+\u2212]?)(?<![\w)\]][-+\u2212])[$€£¥]?(?P<sign2>-?)(?P<body>\d[\d.,]*)"
    r"(?:[ \t]*(?:/|÷)[ \t]*(?P<under>\d+)(?![\d/.]))?"
    r"(?P<percent>[ \t]*(?:%|percent\b|per cent\b|Prozent\b|por ciento\b|pour cent\b))?"
    r"(?:[ \t]?(?P<scale>k|thousand|m|million|mn|mio|millionen|millones|millions|bn?|billion|hundred|dozen)\b)?",
    re.IGNORECASE,
)
_MINUS = re.compile(r"[-\u2212][ \t]+(\d[\d.,]*)")  # "2x - 4" holds the term -4
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_FURTHER = re.compile(r"(?<=\d)[-\u2212:x×](\d[\d.,]*)")  # 3-5, 16:9, 4x6
_SCALES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "mn": 10**6, "mio": 10**6, "millionen": 10**6,
    "millones": 10**6, "millions": 10**6, "b": 10**9, "bn": 10**9, "billion": 10**9, "hundred": 100, "dozen": 12,
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_ORDINAL = re.compile(r"(?<!\w)(\d{1,9})(?:st|nd|rd|th|º|ª|er|e|\.)(?!\w)")
_PLAIN = re.compile(r"[-+]?\d{1,60}(?:\.\d{1,60})?")
_PARTS = {"half": Fraction(1, 2), "quarter": Fraction(1, 4), "dozen": Fraction(12), "zero": Fraction(0)}

_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_SHORT = re.compile(r"(?<!\d)(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)")
_DAY_MONTH = re.compile(
    r"(?<!\w)(\d{1,2})(?:st|nd|rd|th|\.|er)?[ \t]+(?:of[ \t]+|de[ \t]+)?([^\W\d_]{3,10})"
    r"\.?,?[ \t]*(?:de[ \t]+|of[ \t]+)?(\d{4})?"
)
_MONTH_DAY = re.compile(
    r"(?<!\w)([^\W\d_]{3,10})(?:\.[ \t]*|[ \t]+)(?:the[ \t]+)?"
    r"(\d{1,2})(?:st|nd|rd|th)?(?!\d)(?:,?[ \t]+(?:of[ \t]+)?(\d{4}))?"
)
_TIME = re.compile(
    r"(?<![\d:.])(\d{1,2})(?::(\d{2}))?(?::\d{2})?[ \t]*([ap])\.?m\b|(?<![\d:])(\d{1,2}):(\d{2})(?!\d)", re.IGNORECASE
)


def number_of(text: str) -> Fraction | None:
    """The value of a plain number, or None."""
    return Fraction(text) if _PLAIN.fullmatch(text) else None


def numbers_in(text: str) -> frozenset[Fraction]:
    """Every value the text may mean by its digits and number words; 5 % is 5 and also 0.05."""
    found: set[Fraction] = set()
    for match in _NUMBER.finditer(text):
        sign = -1 if (match["sign"] or match["sign2"]) in {"-", "\u2212"} else 1
        in_brackets = text[match.start() - 1 : match.start()] in {"[", "(", "{"}
        for value in _readings(match["body"].rstrip(".,"), in_brackets):
            found.add(sign * value)
            if match["under"] and int(match["under"][:_MAX_DIGITS]):
                found.add(sign * value / int(match["under"][:_MAX_DIGITS]))
                found.add(Fraction(int(match["under"][:_MAX_DIGITS])))
            if match["percent"]:
                found.add(sign * value / 100)
            if match["scale"]:
                found.add(sign * value * _SCALES[match["scale"].lower()])
    for match in _FURTHER.finditer(text):
        found.update(_readings(match[1].rstrip(".,")))
    for match in _MINUS.finditer(text):
        found.update(-value for value in _readings(match[1].rstrip(".,")))
    found.update(Fraction(int(match[1])) for match in _ORDINAL.finditer(text))
    found.update(_in_words(text))
    return frozenset(found)


def _readings(body: str, is_list: bool = False) -> Iterator[Fraction]:
    """The values a run of digits, dots and commas can have: a decimal, groups of thousands, or else a list."""
    if len(body) > 4 * _MAX_DIGITS:
        return
    for point, group in ((".", ","), (",", ".")):
        whole, *decimals = body.split(point)
        groups = whole.split(group)
        if len(decimals) <= 1 and all(part.isdigit() for part in (*groups, *decimals)):
            in_groups = len(groups) == 1 or (len(groups[0]) <= 3 and all(len(part) == 3 for part in groups[1:]))
            value = number_of(".".join(["".join(groups), *decimals])) if in_groups else None
            if value is not None:
                yield value
    if "," in body and (is_list or not _GROUPED.fullmatch(body)):
        for part in body.split(","):
            if (value := number_of(part)) is not None:
                yield value


def _in_words(text: str) -> Iterator[Fraction]:
    from stepcache._gate.languages import guess  # the gate's word tables are read on first use
    from stepcache._gate.numerals import spelled
    from stepcache._gate.tables import LANGUAGES, language

    guessed = guess(text)
    names = {"en", guessed} & set(LANGUAGES)
    words = [word.lower() for word in _WORD.findall(text)]
    for name in names:
        tables = language(name)
        at = 0
        while at < len(words):
            made = spelled(words[at : at + 12], tables)
            if made is None:
                if words[at] in tables.ordinals:
                    yield Fraction(tables.ordinals[words[at]])
                at += 1
                continue
            value, used = made
            yield Fraction(value)
            at += max(used, 1)
    yield from (value for word, value in _PARTS.items() if word in words)


def dates_in(text: str) -> frozenset[tuple[int | None, int, int]]:
    """Every date the text may mean, as (year or None, month, day); 03/04/2024 is read both ways."""
    found: set[tuple[int | None, int, int]] = set()
    for year, month, day in _ISO.findall(text):
        found.add((int(year), int(month), int(day)))
    for first, second, year in _SHORT.findall(text):
        found |= {(int(year), int(first), int(second)), (int(year), int(second), int(first))}
    names = months()
    for day, name, year in _DAY_MONTH.findall(text):
        if name.lower() in names:
            found.add((int(year) if year else None, names[name.lower()], int(day)))
    for name, day, year in _MONTH_DAY.findall(text):
        if name.lower() in names:
            found.add((int(year) if year else None, names[name.lower()], int(day)))
    return frozenset(one for one in found if _exists(one))


def _exists(one: tuple[int | None, int, int]) -> bool:
    year, month, day = one
    try:
        date(year or 2000, month, day)
    except ValueError:
        return False
    return True


def months() -> dict[str, int]:
    """The names of the months in all languages known."""
    from stepcache._gate.tables import LANGUAGES, language

    return {word: number for name in LANGUAGES for word, number in language(name).months.items()}


def times_in(text: str) -> frozenset[tuple[int, int]]:
    """Every time of day the text states, as (hour, minute)."""
    found: set[tuple[int, int]] = set()
    for hour12, minute12, half, hour, minute in _TIME.findall(text):
        if half:
            found.add((int(hour12) % 12 + (12 if half.lower() == "p" else 0), int(minute12 or 0)))
        else:
            found.add((int(hour), int(minute)))
    return frozenset(found)
