"""Demands on numbers: words, sentences, paragraphs, bullets, keywords, letters and the like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from stepcache.errors import ConfigurationError
from stepcache.tasks.demands._base import Counted

__all__ = [
    "Bullets", "CapitalWords", "Highlights", "Keyword", "Letter", "Lines", "Paragraphs", "Placeholders", "Sections",
    "Sentences", "Words", "paragraphs", "sentences",
]

# Scripts written without spaces: each sign counts as a word.
_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]+(?:['’-][^\W_{_IDEOGRAPH}]+|[.,](?<=\d[.,])\d+)*")
_STOP = re.compile(r"(?:[.!?…。！？।؟۔]+)[\"'”’»)\]*_]*(?=\s|\Z|[\u3040-\u9fff])")
_ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        "mr mrs ms dr prof sr jr st vs etc eg e.g ie i.e no vol fig approx inc ltd co gen rep sen hr fr bzw ca usw z.b "
        "d.h u.a nr str abb evtl ggf inkl max min art sra dra av ej p.ej m mme mlle cf env p.s p.p.s u.s u.k a.m p.m "
        "ph.d",
    )
)
_LIST_MARK = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|\#{1,6})\s+")
_RUN_BREAK = re.compile(r"\n(?=[^\S\n]*+(?:[-*+•]|\d{1,3}[.)]|\#{1,6})\s)")
_SAYS = re.compile(r"[^\W_]")
_BULLET = re.compile(r"^[^\S\n]*(?:[-+•‣◦▪·]|\*(?!\*))[^\S\n]*(?=\S)(?![-*+_= \t]*$)", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*\*[^\s*][^\n*]*\*\*|(?<!\*)\*[^\s*][^\n*]*\*(?!\*)")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]+\]")
_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def paragraphs(text: str, separator: str = "") -> list[str]:
    """The paragraphs of a text: between empty lines, or between lines of a given separator such as `***`."""
    parts = text.split(separator) if separator else re.split(r"\n[^\S\n]*\n", text.replace("\r\n", "\n"))
    return [part.strip() for part in parts if part.strip()]


def sentences(text: str) -> list[str]:
    """The sentences of a text. A list item or heading is one even without a full stop; "Dr." or "2.5" ends none."""
    found: list[str] = []
    for block in paragraphs(text):
        for run in _RUN_BREAK.split(block):
            if _SAYS.search(run) is not None:
                mark = _LIST_MARK.match(run)
                head, _, body = run.partition("\n") if run.lstrip().startswith("#") else ("", "", run)
                found += _cut(head.lstrip("# ")) + _cut(body[mark.end():] if mark and not head else body)
    return found


def _cut(line: str) -> list[str]:
    parts, start = [], 0
    for stop in _STOP.finditer(line):
        before = line[max(start, stop.start() - 12):stop.start()].rsplit(None, 1)
        last = before[-1].casefold().strip("(\"'“„«") if before else ""
        if stop.group().startswith(".") and not stop.group().startswith("..") and stop.end() < len(line) and (
            last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i")
        ):
            continue
        parts.append(line[start:stop.end()])
        start = stop.end()
    parts.append(line[start:])
    return [part.strip() for part in parts if _SAYS.search(part)]


@dataclass(frozen=True, repr=False, kw_only=True)
class Words(Counted):
    """How many words; each sign of a script written without spaces counts as one."""

    unit: ClassVar[str] = "words"

    def count(self, text: str) -> int:
        return sum(1 for _ in _WORD.finditer(text))


@dataclass(frozen=True, repr=False, kw_only=True)
class Sentences(Counted):
    unit: ClassVar[str] = "sentences"

    def count(self, text: str) -> int:
        return len(sentences(text))


@dataclass(frozen=True, repr=False, kw_only=True)
class Paragraphs(Counted):
    """How many paragraphs, between empty lines or between the given separator."""

    separator: str = ""
    unit: ClassVar[str] = "paragraphs"

    @property
    def noun(self) -> str:
        return f"paragraphs separated by {self.separator}" if self.separator else self.unit

    def count(self, text: str) -> int:
        return len(paragraphs(text, self.separator))


@dataclass(frozen=True, repr=False, kw_only=True)
class Lines(Counted):
    """How many lines that are not empty."""

    unit: ClassVar[str] = "lines"

    def count(self, text: str) -> int:
        return sum(1 for line in text.splitlines() if line.strip())


@dataclass(frozen=True, repr=False, kw_only=True)
class Bullets(Counted):
    unit: ClassVar[str] = "bullet points"

    def count(self, text: str) -> int:
        return len(_BULLET.findall(text))


@dataclass(frozen=True, repr=False, kw_only=True)
class Highlights(Counted):
    unit: ClassVar[str] = "parts highlighted *like this*"

    def count(self, text: str) -> int:
        return len(_HIGHLIGHT.findall(text))


@dataclass(frozen=True, repr=False, kw_only=True)
class Placeholders(Counted):
    unit: ClassVar[str] = "placeholders in square brackets, such as [name]"

    def count(self, text: str) -> int:
        return len(_PLACEHOLDER.findall(text))


@dataclass(frozen=True, repr=False, kw_only=True)
class Sections(Counted):
    """How many sections headed by the splitter and a number ("Section 1")."""

    splitter: str = "Section"

    @property
    def noun(self) -> str:
        return f"sections headed {self.splitter} 1, {self.splitter} 2 and so on"

    def count(self, text: str) -> int:
        return len(re.findall(rf"(?<![^\W_]){re.escape(self.splitter.strip())}[ \t]?\d+", text))


@dataclass(frozen=True, repr=False, kw_only=True)
class Keyword(Counted):
    """How often a keyword occurs, in any case, also inside longer words."""

    keyword: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.keyword.strip():
            raise ConfigurationError("Keyword takes a keyword that is not empty")

    @property
    def noun(self) -> str:
        return f"times the word {self.keyword!r}"

    def count(self, text: str) -> int:
        return text.casefold().count(self.keyword.casefold().strip())


@dataclass(frozen=True, repr=False, kw_only=True)
class Letter(Counted):
    """How often one letter or sign occurs, in either case."""

    letter: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.letter) != 1:
            raise ConfigurationError(f"Letter takes one letter or sign, not {self.letter!r}")

    @property
    def noun(self) -> str:
        return f"times the letter {self.letter!r}"

    def count(self, text: str) -> int:
        return text.lower().count(self.letter.lower())


@dataclass(frozen=True, repr=False, kw_only=True)
class CapitalWords(Counted):
    unit: ClassVar[str] = "words in all capitals"

    def count(self, text: str) -> int:
        return sum(1 for word in _LETTERS.finditer(text) if word.group().isupper())
