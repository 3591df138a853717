"""Demands on what a reply says: words it mentions or lacks, patterns, beginnings and endings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stepcache._data import Verdict
from stepcache.errors import ConfigurationError
from stepcache.tasks.demands._base import Demand
from stepcache.tasks.demands._counts import paragraphs

__all__ = [
    "EndsWith", "Lacks", "Matches", "Mentions", "NthParagraphStarts", "OneOf", "Postscript", "Repeats", "StartsWith",
]

_SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_QUOTES = "\"'“”„«»‘’"


def _phrase(words: str, ending: str = "") -> re.Pattern[str]:
    """The phrase as whole words, in any case, whatever the spacing between them."""
    body = r"\s+".join(map(re.escape, words.split()))
    first, last = words.strip()[:1], words.strip()[-1:]
    before = r"(?<![^\W_])" if first.isalnum() and not _SPACELESS.match(first) else ""
    after = rf"{ending}(?![^\W_])" if last.isalnum() and not _SPACELESS.match(last) else ""
    return re.compile(before + body + after, re.IGNORECASE)


def _phrases(given: object, where: str) -> tuple[str, ...]:
    phrases = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if not phrases:
        raise ConfigurationError(f"{where} takes at least one word")
    for phrase in phrases:
        if not isinstance(phrase, str) or not phrase.strip():
            raise ConfigurationError(f"{where} takes words that are not empty, not {phrase!r}")
    return phrases


def _listed(phrases: list[str] | tuple[str, ...]) -> str:
    return ", ".join(map(repr, phrases))


@dataclass(frozen=True, repr=False)
class Mentions(Demand):
    """Each of these words or phrases occurs, as whole words, in any case."""

    phrases: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "phrases", _phrases(self.phrases, "Mentions"))

    @property
    def says(self) -> str:
        return f"the words {_listed(self.phrases)}"

    def check(self, text: str) -> Verdict:
        missing = [phrase for phrase in self.phrases if not _phrase(phrase).search(text)]
        return self._verdict(not missing, f"it lacks {_listed(missing)}")


@dataclass(frozen=True, repr=False)
class Lacks(Demand):
    """None of these words or phrases occurs, as whole words or their regular plural, in any case."""

    phrases: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "phrases", _phrases(self.phrases, "Lacks"))

    @property
    def says(self) -> str:
        return f"to be without {_listed(self.phrases)}"

    def check(self, text: str) -> Verdict:
        there = [phrase for phrase in self.phrases if _phrase(phrase, "(?:['’]?s|es|n|en)?").search(text)]
        return self._verdict(not there, f"it mentions {_listed(there)}")


@dataclass(frozen=True, repr=False)
class Matches(Demand):
    """A regular expression occurs in the text; a search that takes longer than `seconds` counts as a failure."""

    pattern: str
    seconds: float = 0.5

    def __post_init__(self) -> None:
        import regex  # the only engine here that can be stopped; loaded when a demand needs it

        pattern: object = self.pattern
        if isinstance(pattern, re.Pattern):  # its flags are kept as they would be written inline
            flags = "".join(f"(?{sign})" for sign, flag in _FLAGS.items() if pattern.flags & flag)
            pattern = f"{flags}{pattern.pattern}"
            object.__setattr__(self, "pattern", pattern)
        if not isinstance(pattern, str):
            raise ConfigurationError(f"Matches takes a regular expression as text, not {pattern!r}")
        if not self.seconds > 0:
            raise ConfigurationError(f"Matches.seconds takes a number > 0, not {self.seconds!r}")
        try:
            regex.compile(pattern)
        except regex.error as error:
            raise ConfigurationError(f"{pattern!r} is no regular expression: {error}") from None

    @property
    def says(self) -> str:
        return f"a match for the regular expression {self.pattern}"

    def check(self, text: str) -> Verdict:
        import regex

        try:
            found = regex.search(self.pattern, text, timeout=self.seconds)
        except TimeoutError:
            return self._verdict(False, f"the search took longer than {self.seconds:g} s")
        return self._verdict(found is not None, "it has none")


@dataclass(frozen=True, repr=False)
class StartsWith(Demand):
    """The reply begins with this phrase, in any case."""

    phrase: str

    @property
    def says(self) -> str:
        return f"to begin with {self.phrase!r}"

    def check(self, text: str) -> Verdict:
        return self._verdict(text.strip().casefold().startswith(self.phrase.strip().casefold()))


@dataclass(frozen=True, repr=False)
class EndsWith(Demand):
    """The reply ends with this phrase and nothing after it, in any case; quotation marks around it don't count."""

    phrase: str

    @property
    def says(self) -> str:
        return f"to end with {self.phrase!r}"

    def check(self, text: str) -> Verdict:
        bare = text.strip().strip(_QUOTES).strip().casefold()
        return self._verdict(bare.endswith(self.phrase.strip().strip(_QUOTES).casefold()))


@dataclass(frozen=True, repr=False)
class Repeats(Demand):
    """The reply repeats a request word for word before anything else."""

    prompt: str

    @property
    def says(self) -> str:
        return "to repeat the request word for word first"

    def check(self, text: str) -> Verdict:
        return self._verdict(" ".join(text.split()).casefold().startswith(" ".join(self.prompt.split()).casefold()))


@dataclass(frozen=True, repr=False)
class OneOf(Demand):
    """The reply contains one of a few fixed answers."""

    options: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", _phrases(self.options, "OneOf"))

    @property
    def says(self) -> str:
        return f"one of the answers {_listed(self.options)}"

    def check(self, text: str) -> Verdict:
        found = [option for option in self.options if option.strip() in text]
        return self._verdict(len(found) == 1, "it has none" if not found else "it has several")


@dataclass(frozen=True, repr=False)
class Postscript(Demand):
    """The reply has a postscript after its text, begun with the marker ("P.S.")."""

    marker: str = "P.S."

    def __post_init__(self) -> None:
        if not any(character.isalpha() for character in self.marker):
            raise ConfigurationError(f"Postscript takes a marker such as 'P.S.', not {self.marker!r}")

    @property
    def says(self) -> str:
        return f"a postscript that begins with {self.marker}"

    def check(self, text: str) -> Verdict:
        between = r"\.\s?" if "." in self.marker else r"\s?"
        letters = between.join(re.escape(sign) for sign in self.marker if sign.isalpha())
        closing = r"\." if self.marker.rstrip().endswith(".") else r"[.:]?"
        found = re.search(rf"(?:^|[\s*_]){letters}{closing}[:*_]*\s+\S", text, re.IGNORECASE)
        return self._verdict(found is not None)


@dataclass(frozen=True, repr=False, kw_only=True)
class NthParagraphStarts(Demand):
    """There are so many paragraphs (between empty lines), and the nth begins with a given word."""

    paragraphs: int
    nth: int
    word: str

    @property
    def says(self) -> str:
        return f"{self.paragraphs} paragraphs of which number {self.nth} begins with {self.word!r}"

    def check(self, text: str) -> Verdict:
        parts = paragraphs(text)
        if len(parts) != self.paragraphs:
            return self._verdict(False, f"it has {len(parts)} paragraphs")
        if not 1 <= self.nth <= len(parts):
            return self._verdict(False)
        first = parts[self.nth - 1].split(None, 1)[0].strip(_QUOTES + "*_.,;:!?()[]").casefold()
        return self._verdict(first == self.word.strip().casefold(), f"that paragraph begins with {first!r}")
