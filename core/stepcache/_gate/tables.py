"""The word tables of the gate, read from the data files beside this module on first use."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = [
    "CLASSES",
    "LANGUAGES",
    "Head",
    "Language",
    "Phrase",
    "capitals",
    "commands",
    "decoys",
    "known_words",
    "language",
    "opposites",
    "steering",
    "technical",
    "weighty",
]

LANGUAGES: Final = ("en", "de", "es", "fr")

# Sections whose words carry a meaning of their own; a word that stands on one side only is reported under this name.
CLASSES: Final = (
    "negation", "quantifier", "conjunction", "modality", "person", "relation", "question", "demand", "language",
    "calendar", "colour", "unit",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words with its replacement; `start` and `end` say whether it counts only at the edge of a clause.

    A `greeting` counts only where a request or punctuation follows: "hello, list A", not "hello world".
    """

    words: tuple[str, ...]
    instead: tuple[str, ...]
    start: bool = False
    end: bool = False
    greeting: bool = False


Phrases = dict[str, dict[str, tuple[Phrase, ...]]]
Runs = dict[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a request that only asks to be given something; `definite` ones need "the" behind them."""

    words: tuple[str, ...]
    definite: bool


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """What the gate knows about one language."""

    name: str
    common: frozenset[str]
    silent: frozenset[str]
    bare: frozenset[str]
    alone: frozenset[str]
    telling: frozenset[str]
    forms: dict[str, str]
    phrases: Phrases
    saying: frozenset[str]
    brands: frozenset[str]
    classes: dict[str, str]
    units: dict[str, str]
    short_units: dict[str, str]
    months: dict[str, int]
    numbers: dict[str, int]
    ordinals: dict[str, int]
    scales: dict[str, int]
    hyphenated: frozenset[str]
    verbs: frozenset[str]
    known: frozenset[str]
    halves: frozenset[str]
    number_starts: frozenset[str]
    special: frozenset[str]
    requests: Runs
    heads: dict[str, tuple[Head, ...]]
    leads: Runs
    indirect: Runs
    partitives: Runs
    ones: frozenset[str]
    definite: frozenset[str]
    not_after_head: frozenset[str]


def _sections(name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    current: list[str] = []
    text = files(__package__).joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("["):
            current = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            current.append(line)
    return found


def _words(lines: list[str]) -> list[str]:
    return [word for line in lines for word in line.split()]


def _pairs(lines: list[str]) -> list[tuple[str, str]]:
    """`canonical < form form` lines as (form, canonical)."""
    pairs = []
    for line in lines:
        canonical, _, forms = line.partition(" < ")
        pairs += [(form, canonical.strip()) for form in (*forms.split(), canonical.strip())]
    return pairs


def _phrases(parts: dict[str, list[str]], forms: dict[str, str]) -> Phrases:
    """Phrases by first and second word, longest first; single words stand under the second word "".

    `^` marks the start of a clause, `$` its end, `<` the canonical form.
    """
    found: dict[str, dict[str, list[Phrase]]] = {}

    def add(form: str, instead: str, greeting: bool = False) -> None:
        words = tuple(forms.get(word, word) for word in form.strip("^$ ").split())
        replaced = tuple(forms.get(word, word) for word in instead.split())
        entry = Phrase(words, replaced, greeting or form.startswith("^"), form.rstrip().endswith("$"), greeting)
        found.setdefault(words[0], {}).setdefault(words[1] if len(words) > 1 else "", []).append(entry)

    for line in parts["polite"]:
        add(line, "")
    for line in parts.get("greetings", []):
        add(line, "", greeting=True)
    for line in parts["same"]:
        canonical, _, alternatives = line.partition(" < ")
        for form in alternatives.split(" | "):
            add(form.strip(), canonical)
    return {
        first: {second: tuple(sorted(group, key=lambda p: -len(p.words))) for second, group in seconds.items()}
        for first, seconds in found.items()
    }


def _runs(lines: list[str], forms: dict[str, str]) -> Runs:
    """Runs of words by their first word, longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for line in lines:
        run = tuple(forms.get(word, word) for word in line.split())
        found.setdefault(run[0], []).append(run)
    return {first: tuple(sorted(runs, key=lambda run: -len(run))) for first, runs in found.items()}


def _heads(free: list[str], definite: list[str], forms: dict[str, str]) -> dict[str, tuple[Head, ...]]:
    found: dict[str, list[Head]] = {}
    for lines, is_definite in ((free, False), (definite, True)):
        for first, runs in _runs(lines, forms).items():
            found.setdefault(first, []).extend(Head(run, is_definite) for run in runs)
    return {first: tuple(sorted(heads, key=lambda head: -len(head.words))) for first, heads in found.items()}


def _vocabulary(parts: dict[str, list[str]], classes: dict[str, str]) -> frozenset[str]:
    """Words that speak for a language beside its commonest ones, unless they are English words, too."""
    listed = ("verbs", "months", "ordinals", "scales", "units", "forms")
    words = {word for section in listed for word in _words(parts[section]) if word.isalpha()}
    return frozenset(words) | frozenset(word for word in classes if word.isalpha())


@cache
def language(name: str) -> Language:
    """The tables of one of `LANGUAGES`."""
    parts = _sections(name)
    shared = _sections("common")
    classes = {word: section for section in CLASSES for word in _words(parts.get(section, []))}
    units = dict(_pairs(parts["units"]))
    classes |= dict.fromkeys(units.values(), "unit")
    forms = dict(_pairs(parts["forms"]))
    # Loan words (kilo, mail) stand in the English dictionary; they speak for no language.
    vocabulary = (
        frozenset(_words(parts["verbs"] + parts["question"] + parts["negation"]))
        if name == "en"
        else _vocabulary(parts, classes) - known_words()
    )
    numbers = {word: int(value) for value, word in (line.split() for line in parts["numbers"])}
    starts = frozenset(numbers) | frozenset(word for line in parts["scales"] for word in line.split()[1:])
    ordinals = {word: int(value) for value, *words in (line.split() for line in parts["ordinals"]) for word in words}
    halves = frozenset(_words(parts.get("half", [])))
    months = {word: number for number, line in enumerate(parts["months"], 1) for word in line.split()}
    classes |= dict.fromkeys(months, "calendar")
    return Language(
        name=name,
        common=frozenset(_words(parts["common"] + parts["silent"])) | frozenset(numbers) | vocabulary,
        silent=frozenset(_words(parts["silent"])),
        bare=frozenset(_words(parts.get("bare", []))),
        alone=frozenset(_words(parts.get("alone", []))),
        telling=frozenset(forms.get(word, word) for word in _words(parts.get("telling", []))),
        forms=forms,
        phrases=_phrases(parts, forms),
        saying=frozenset(_words(parts.get("saying", []))),
        brands=frozenset(_words(shared["brands"])),
        classes=classes,
        units=units,
        short_units=dict(_pairs(shared["units"])) | dict(_pairs(parts.get("short units", []))),
        months=months,
        numbers=numbers,
        ordinals=ordinals,
        scales={word: int(value) for value, *words in (line.split() for line in parts["scales"]) for word in words},
        hyphenated=frozenset(word for word in (*classes, *forms) if "-" in word),
        verbs=frozenset(_words(parts.get("verbs", []))),
        known=known_words() if name == "en" else frozenset(),
        halves=halves,
        number_starts=starts,
        special=starts
        | frozenset(ordinals)
        | halves
        | frozenset(units)
        | frozenset("½⅓⅔¼¾⅕⅛")
        | frozenset(("a", "an") if name == "en" else ()),
        requests=_runs(parts.get("requests", []), forms),
        heads=_heads(parts.get("heads", []), parts.get("definite heads", []), forms),
        leads=_runs(parts.get("leads", []), forms),
        indirect=_runs(parts.get("indirect", []), forms),
        partitives=_runs(parts.get("partitives", []), forms),
        ones=frozenset(_words(parts.get("ones", []))),
        definite=frozenset(_words(parts.get("definite", []))),
        not_after_head=frozenset(_words(parts.get("not after head", []))),
    )


@cache
def decoys() -> dict[str, frozenset[str]]:
    """Common words of neighbouring languages that must not be taken for one of ours."""
    return {name: frozenset(_words(lines)) for name, lines in _sections("decoys").items()}


@cache
def opposites() -> frozenset[frozenset[str]]:
    """Pairs of opposite words, of all languages."""
    lines = [line.split() for part in _sections("opposites").values() for line in part]
    return frozenset(frozenset((left, right)) for left, *rights in lines for right in rights)


@cache
def weighty() -> frozenset[str]:
    """Plain words of a docstring that change what a function does."""
    return frozenset(_words(_sections("common")["weighty"]))


@cache
def steering() -> frozenset[str]:
    """English words that negate, join or count: quoted, they are never a slip of something else."""
    wanted = {"negation", "conjunction", "quantifier"}
    return frozenset(word for word, what in language("en").classes.items() if what in wanted)


@cache
def commands() -> frozenset[str]:
    """Names of programs on a command line that are no words of a language."""
    return frozenset(_words(_sections("common")["commands"]))


@cache
def technical() -> frozenset[str]:
    """Words of programmers that a dictionary has not."""
    return frozenset(_words(_sections("common")["technical"]))


@cache
def capitals() -> frozenset[str]:
    """English words that mean something else with a capital letter (polish and Polish)."""
    return frozenset(_words(_sections("common")["capitals"]))


@cache
def known_words() -> frozenset[str]:
    """English words in lower case, among them names and technical terms; used to tell a slip from another word."""
    packed = files(__package__).joinpath("data", "words.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("utf-8").split())
