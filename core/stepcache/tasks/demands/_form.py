"""Demands on the form of a whole reply: a list, a table, JSON, one word, capitals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from stepcache._data import Verdict
from stepcache._marker import read_mark
from stepcache.tasks.demands._base import Demand
from stepcache.tasks.demands._counts import Lines, Paragraphs, Sentences

__all__ = [
    "FORMATS", "BulletList", "Code", "Json", "Lowercase", "Number", "NumberedList", "OneWord", "Quoted", "Table",
    "Title", "TwoResponses", "Uppercase", "YesNo",
]

_FENCE = re.compile(r"`{3,}|~{3,}")
_DELIMITER = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*\|?\s*+")
_NUMBER = re.compile(r"[-+−]?[$€£]?\s?\d[\d.,\u00a0 ]*(?:[eE][-+]?\d+)?(?:/\d+)?\s?(?:[%°€$£]|[^\W\d_]{1,3})?\.?")
_YES_NO = frozenset({"yes", "no", "ja", "nein", "sí", "si", "oui", "non"})
_MAX_ITEMS = 20_000  # nobody reads a longer list, and hostile text is cheap this way
_EDGE = " \t\r\n.!?,;:\"'“”„*_`"
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=lambda sign: _refuse(sign))


def _refuse(sign: str) -> None:
    raise ValueError(f"{sign} is no JSON")


def _fenced(text: str) -> str | None:
    """What stands in the one fence that is the whole text, or None."""
    lines = text.strip().splitlines()
    opened = _FENCE.match(lines[0]) if len(lines) > 1 else None
    if opened is None or lines[-1].strip() != opened.group():
        return None
    body = lines[1:-1]
    return None if any(line.strip() == opened.group() for line in body) else "\n".join(body)


@dataclass(frozen=True, repr=False)
class _List(Demand):
    """Every line is an item or the inside of one; one line before the first that ends in a colon introduces them."""

    def _items(self, text: str) -> list[int | None] | None:
        values: list[int | None] = []
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > _MAX_ITEMS:
            return None
        for place, line in enumerate(lines):
            mark = read_mark(line)
            if mark is not None and mark.indent < 2:
                values.append(mark.value)
            elif not values and place == 0 and line.rstrip(" *_").endswith((":", "：")):
                continue
            elif not values or not line[:1].isspace():
                return None
        return values


@dataclass(frozen=True, repr=False)
class BulletList(_List):
    """The reply is a bullet list, with one introducing line at most."""

    @property
    def says(self) -> str:
        return "to be a bullet list and nothing else"

    def check(self, text: str) -> Verdict:
        values = self._items(text)
        return self._verdict(bool(values) and all(value is None for value in values or ()))


@dataclass(frozen=True, repr=False)
class NumberedList(_List):
    """The reply is a list numbered 1, 2, 3 and so on, with one introducing line at most."""

    @property
    def says(self) -> str:
        return "to be a numbered list and nothing else"

    def check(self, text: str) -> Verdict:
        values = self._items(text)
        return self._verdict(bool(values) and values == list(range(1, len(values or ()) + 1)))


@dataclass(frozen=True, repr=False)
class Table(Demand):
    """The reply has a Markdown table: a header, a line of dashes, and rows of as many cells."""

    @property
    def says(self) -> str:
        return "a Markdown table"

    def check(self, text: str) -> Verdict:
        lines = text.splitlines()
        for head, dashes, row in zip(lines, lines[1:], lines[2:], strict=False):
            if "|" in head and "|" in row and "-" in dashes and _DELIMITER.fullmatch(dashes):
                cells = {line.strip().strip("|").count("|") for line in (head, dashes, row)}
                if len(cells) == 1:
                    return self._verdict(True)
        return self._verdict(False)


@dataclass(frozen=True, repr=False)
class Json(Demand):
    """The whole reply is one JSON value, in a fence or not."""

    @property
    def says(self) -> str:
        return "to be JSON and nothing else"

    def check(self, text: str) -> Verdict:
        fenced = _fenced(text)
        body = (text if fenced is None else fenced).strip()
        try:
            _, stop = _DECODER.raw_decode(body)
        except (ValueError, RecursionError):
            return self._verdict(False, "it can't be read as JSON")
        return self._verdict(stop == len(body), "more stands after the value")


@dataclass(frozen=True, repr=False)
class Code(Demand):
    """The whole reply is one fenced block."""

    @property
    def says(self) -> str:
        return "to be one fenced code block and nothing else"

    def check(self, text: str) -> Verdict:
        return self._verdict(bool((_fenced(text) or "").strip()))


@dataclass(frozen=True, repr=False)
class OneWord(Demand):
    """One word, whatever punctuation is around it."""

    @property
    def says(self) -> str:
        return "to be one word"

    def check(self, text: str) -> Verdict:
        bare = text.strip(_EDGE)
        return self._verdict(bool(bare) and len(bare.split()) == 1)


@dataclass(frozen=True, repr=False)
class YesNo(Demand):
    """Just yes or no (also in German, Spanish or French)."""

    @property
    def says(self) -> str:
        return "to be just yes or no"

    def check(self, text: str) -> Verdict:
        return self._verdict(text.strip(_EDGE).casefold() in _YES_NO)


@dataclass(frozen=True, repr=False)
class Number(Demand):
    """Just a number, perhaps with its unit or currency."""

    @property
    def says(self) -> str:
        return "to be just a number"

    def check(self, text: str) -> Verdict:
        bare = text.strip(" \t\r\n*`$")
        return self._verdict(len(bare) <= 400 and _NUMBER.fullmatch(bare) is not None)


@dataclass(frozen=True, repr=False)
class Uppercase(Demand):
    @property
    def says(self) -> str:
        return "capital letters only"

    def check(self, text: str) -> Verdict:
        return self._verdict(text.isupper())


@dataclass(frozen=True, repr=False)
class Lowercase(Demand):
    @property
    def says(self) -> str:
        return "lower-case letters only"

    def check(self, text: str) -> Verdict:
        return self._verdict(text.islower())


@dataclass(frozen=True, repr=False)
class Title(Demand):
    """The reply has a title in double angular brackets: <<like this>>."""

    @property
    def says(self) -> str:
        return "a title <<in double angular brackets>>"

    def check(self, text: str) -> Verdict:
        return self._verdict(any(title.strip() for title in re.findall(r"<<([^\n<>]*+)>>", text)))


@dataclass(frozen=True, repr=False)
class TwoResponses(Demand):
    """Two different replies with a line of six asterisks between them."""

    @property
    def says(self) -> str:
        return "two different answers separated by ******"

    def check(self, text: str) -> Verdict:
        parts = [part.strip() for part in text.strip().strip("*").split("******") if part.strip()]
        return self._verdict(len(parts) == 2 and parts[0] != parts[1], f"it has {len(parts)}")


@dataclass(frozen=True, repr=False)
class Quoted(Demand):
    """The whole reply stands in double quotation marks."""

    @property
    def says(self) -> str:
        return "to stand in double quotation marks"

    def check(self, text: str) -> Verdict:
        bare = text.strip()
        return self._verdict(len(bare) > 2 and bare[0] in "\"“„«" and bare[-1] in "\"”“»")


FORMATS: Mapping[str, Callable[[], Demand]] = MappingProxyType({
    "bullets": BulletList,
    "code": Code,
    "json": Json,
    "lowercase": Lowercase,
    "number": Number,
    "numbered": NumberedList,
    "one_line": lambda: Lines(at_least=1, at_most=1),
    "one_paragraph": lambda: Paragraphs(at_least=1, at_most=1),
    "one_sentence": lambda: Sentences(at_least=1, at_most=1),
    "one_word": OneWord,
    "quoted": Quoted,
    "table": Table,
    "uppercase": Uppercase,
    "yes_no": YesNo,
})
