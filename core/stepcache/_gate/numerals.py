"""Numbers in digits and in words, as exact canonical text. Digits are never turned into machine integers at length."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Final

from stepcache._gate.tables import Language, language

__all__ = ["SIGNS", "digits", "is_ordinal", "quotient", "scaled", "spelled"]

SIGNS: Final = {"½": "0.5", "⅓": "1/3", "⅔": "2/3", "¼": "0.25", "¾": "0.75", "⅕": "1/5", "⅛": "1/8"}
_EVEN: Final = {"1/2": "0.5", "1/4": "0.25", "3/4": "0.75"}
_COMPOUND: Final = 80  # letters of a German number word
_LONGEST: Final = 18  # digits; longer numbers stand for themselves


def digits(text: str, comma_decimal: bool, money: bool) -> str:
    """The canonical form of a number in digits.

    1,000 is 1000 in English and 1.000 is 1000 where the comma marks decimals. Trailing zeros of a decimal and leading
    zeros stay (Python 3.10 is not 3.1, agent 007 is not 7), but 5.00 is 5 in an amount of money.
    """
    sign = "-" if text[0] == "-" else ""
    body = text.lstrip("+-")
    if body[0] == ".":
        body = "0" + body  # .5
    point, group = (",", ".") if comma_decimal else (".", ",")
    head, *rest = body.split(group)
    if rest:
        grouped = 1 <= len(head) <= 3 and head != "0" and all(part[:3].isdecimal() and len(part) >= 3 for part in rest)
        *inner, last = rest
        if not grouped or any(len(part) != 3 for part in inner) or (len(last) > 3 and last[3] != point):
            return sign + body
        body = head + "".join(rest)
    whole, *decimals = body.split(point)
    if len(decimals) > 1 or not decimals:
        return sign + body
    part = decimals[0]
    if money and part == "00":
        return sign + whole
    return f"{sign}{whole}.{part}"


@cache
def _below_hundred(name: str) -> dict[tuple[str, ...], int]:
    """Every number word from 0 to 99 (and the irregular hundreds) as a run of words."""
    tables = language(name)
    plain: dict[tuple[str, ...], int] = {(word,): value for word, value in tables.numbers.items()}
    tens = {word: value for word, value in tables.numbers.items() if value % 10 == 0 and 20 <= value <= 90}
    ones = {word: value for word, value in tables.numbers.items() if 1 <= value <= 9}
    if name == "en":
        return plain | {(t, o): tv + ov for t, tv in tens.items() for o, ov in ones.items()}
    if name == "es":
        ones |= {"un": 1, "una": 1}
        return plain | {(t, "y", o): tv + ov for t, tv in tens.items() for o, ov in ones.items()}
    if name == "de":
        ones["ein"] = 1
        return plain | {(o + "und" + t,): tv + ov for t, tv in tens.items() for o, ov in ones.items()}
    teens = {word: value for word, value in tables.numbers.items() if 10 <= value <= 16}
    teens_runs: dict[tuple[str, ...], int] = {(word,): value for word, value in teens.items()}
    teens_runs |= {("dix", o): 10 + v for o, v in ones.items() if v >= 7}
    found = plain | {("dix", o): 10 + v for o, v in ones.items() if v >= 7}
    for word, value in tens.items():
        found |= {(word, o): value + v for o, v in ones.items()}
        found[(word, "et", "un")] = found[(word, "et", "une")] = value + 1
    found |= {("soixante", *run): 60 + v for run, v in teens_runs.items()}
    found[("soixante", "et", "onze")] = 71
    for eighty in ("vingt", "vingts"):
        found[("quatre", eighty)] = 80
        found |= {("quatre", eighty, o): 80 + v for o, v in (ones | {"un": 1, "une": 1}).items()}
        found |= {("quatre", eighty, *run): 80 + v for run, v in teens_runs.items()}
    return found


@cache
def _german(word: str) -> int | None:
    """The value of one German number word, however long a compound."""
    small = _below_hundred("de")
    for scale, size in (("tausend", 1000), ("hundert", 100)):
        if scale in word:
            left, _, right = word.partition(scale)
            right = right.removeprefix("und") if right != "und" else "?"
            times = 1 if left in ("", "ein") else _german(left)
            extra = 0 if not right else _german(right)
            return None if times is None or extra is None or times >= 1000 else times * size + extra
    return small.get((word,))


def spelled(words: list[str], tables: Language) -> tuple[int, int] | None:
    """The number that the words begin with and how many words it takes, or None."""
    total = current = used = 0
    while used < len(words):
        joined = bool(used) and tables.name == "en" and words[used] == "and" and current % 100 == 0
        found = _small(words[used + joined :], tables.name)
        if found is not None:
            value, size = found
            if used and not (value and (current or total) and (current == 0 or (current % 100 == 0 and value < 100))):
                break
            current, used = current + value, used + joined + size
            continue
        scale = tables.scales.get(words[used], 0)
        if scale == 100 and current < 100:
            current = max(current, 1) * 100
        elif scale > 100 and (total == 0 or scale < _lowest(total)):
            total, current = total + max(current, 1) * scale, 0
        else:
            break
        used += 1
    return (total + current, used) if used else None


def _small(words: list[str], name: str) -> tuple[int, int] | None:
    """A number below a hundred (in German, of any size) at the beginning, and its length in words."""
    small = _below_hundred(name)
    for size in range(min(4, len(words)), 0, -1):
        value = small.get(tuple(words[:size]))
        if value is not None:
            return value, size
    if name == "de" and words and len(words[0]) <= _COMPOUND:
        value = _german(words[0])
        return None if value is None else (value, 1)
    return None


def _lowest(total: int) -> int:
    """The scale of the last group of a number built so far."""
    scale = 1
    while total % (scale * 1000) == 0:
        scale *= 1000
    return scale


_SUFFIXES: Final = {
    "en": ("st", "nd", "rd", "th"),
    "fr": ("e", "er", "ère", "ème", "eme", "re", "nd", "nde"),
    "es": ("º", "ª", "er", "o", "a"),
    "de": (),
}


def is_ordinal(number: str, follows: str, name: str) -> bool:
    """Whether digits and the letters glued to them are an ordinal (3rd, 3e, 3º)."""
    return number.isdecimal() and follows.lower() in _SUFFIXES[name]


def scaled(number: str, scale: int) -> str | None:
    """`1.5` with the scale a million as plain digits, or None where that is no exact whole number."""
    if len(number) > _LONGEST or not number.replace(".", "", 1).isdecimal():
        return None
    value = Fraction(number) * scale
    return str(value.numerator) if value.denominator == 1 else None


def quotient(top: str, bottom: str) -> str | None:
    """`a/b` where it stands in lowest terms, or None: 2/4 is a score or a date as often as a half."""
    if not (top.isdecimal() and bottom.isdecimal() and len(top) < _LONGEST and len(bottom) < _LONGEST and int(bottom)):
        return None
    value = Fraction(int(top), int(bottom))
    if value.denominator != int(bottom):
        return None
    return _EVEN.get(f"{top}/{bottom}", f"{top}/{bottom}")
