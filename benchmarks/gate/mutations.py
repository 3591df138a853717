"""How many harmful changes the content gate lets through, and how many harmless ones it stops.

    python benchmarks/gate/mutations.py --data FOLDER [--show KIND] [--seed 7] [--limit 400]

Takes the prompts of the data files, makes one change of each kind in each prompt where that is possible, and asks the
gate about the pair. The word lists here are written for this program and are not the gate's. A harmful change may be
broken English; it is still another request. Prompts that define functions are left to `measure.py`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from stepcache._gate import gate

FILES = (
    "gsm_plus", "gsm_symbolic", "svamp", "nlu_slots", "nestful", "bfcl", "sql_advising", "sql_spider_syn",
    "code_siblings", "followbench", "arena_hard", "gptcache_mock_pairs", "ifeval",
)  # fmt: skip

NUMBER_WORDS = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "fifteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
]
UNITS = (
    ("kilometers", "miles"), ("hours", "minutes"), ("minutes", "seconds"), ("days", "weeks"), ("weeks", "months"),
    ("months", "years"), ("years", "decades"), ("dollars", "euros"), ("inches", "centimeters"), ("feet", "meters"),
    ("pounds", "kilograms"), ("gallons", "liters"), ("cups", "teaspoons"), ("ounces", "grams"), ("cents", "dollars"),
    ("hour", "day"), ("week", "month"), ("day", "hour"), ("year", "month"), ("%", " percentage points"), ("$", "£"),
    ("minute", "hour"), ("inch", "foot"), ("pound", "ounce"), ("mile", "kilometer"), ("meters", "yards"),
)  # fmt: skip
NAMES = [
    "Zubair",
    "Ottoline",
    "Kaspian",
    "Marisol",
    "Thandiwe",
    "Bjarne",
    "Yevgenia",
    "Ignatius",
    "Valletta",
    "Reykjavik",
    "Zanzibar",
    "Oaxaca",
]
OPPOSITES = (
    ("increase", "decrease"), ("buy", "sell"), ("add", "remove"), ("maximum", "minimum"), ("largest", "smallest"),
    ("highest", "lowest"), ("before", "after"), ("more", "less"), ("first", "last"), ("most", "fewest"), ("new", "old"),
    ("open", "close"), ("start", "stop"), ("same", "different"), ("long", "short"), ("left", "right"), ("big", "small"),
    ("early", "late"), ("young", "old"), ("oldest", "youngest"), ("longest", "shortest"), ("always", "never"),
    ("good", "bad"), ("best", "worst"), ("arriving", "departing"), ("above", "below"), ("true", "false"),
    ("positive", "negative"), ("even", "odd"), ("win", "lose"), ("gave", "took"), ("bought", "sold"), ("up", "down"),
    ("ascending", "descending"), ("with", "without"), ("include", "exclude"), ("inside", "outside"), ("hard", "easy"),
    ("give", "take"), ("earn", "spend"), ("greater", "smaller"), ("cheap", "expensive"), ("male", "female"),
)  # fmt: skip
QUANTIFIERS = (
    ("all", "some"), ("every", "any"), ("some", "all"), ("each", "one"), ("both", "neither"), ("few", "many"),
    ("more", "most"), ("most", "many"), ("only", "also"), ("many", "few"), ("at least", "at most"), ("any", "every"),
    ("several", "all"), ("exactly", "about"), ("half", "all"), ("other", "same"), ("total", "average"),
    ("less", "more"),
)  # fmt: skip
MODALS = (
    ("can", "should"), ("should", "may"), ("will", "did"), ("must", "might"), ("would", "will"), ("could", "must"),
    ("may", "must"), ("did", "will"), ("has", "will have"), ("had", "has"), ("was", "will be"), ("were", "are"),
    ("is", "was"), ("are", "were"), ("does", "did"), ("do", "did"), ("have", "had"),
)  # fmt: skip
PERSONS = (
    ("I", "she"), ("my", "her"), ("me", "him"), ("he", "she"), ("she", "they"), ("his", "your"), ("her", "our"),
    ("their", "my"), ("they", "we"), ("you", "he"), ("your", "his"), ("him", "them"), ("we", "they"), ("our", "their"),
)  # fmt: skip
RELATIONS = (
    ("before", "during"), ("after", "before"), ("from", "to"), ("to", "from"), ("over", "under"), ("under", "over"),
    ("in", "near"), ("on", "under"), ("by", "with"), ("with", "against"), ("for", "against"), ("between", "outside"),
    ("above", "below"), ("into", "out of"), ("of", "besides"), ("at", "beyond"), ("if", "unless"), ("until", "since"),
    ("than", "as"), ("because", "although"), ("during", "after"), ("within", "beyond"), ("through", "around"),
)  # fmt: skip
DEMANDS = (
    " Use at most three sentences.", " in a table", " for beginners", " Keep it short.", " Answer as XML.",
    " without using loops", " Explain why.", " Give two examples.", " with sources", " in rhyme", " and its opposite",
    " Be brief.", " Reply in upper case.", " step by step", " for a child of five",
)  # fmt: skip
ADJECTIVES = ["silver", "cheap", "wooden", "recent", "tiny", "secret", "rural", "broken", "premium", "electric"]
LANGUAGES = (" in Finnish", " in Portuguese", " Answer in Greek.", " Respond in Hindi.", " Translate it into Welsh.")
LANGUAGE_NAMES = [
    "English",
    "French",
    "German",
    "Spanish",
    "Italian",
    "Chinese",
    "Japanese",
    "Russian",
    "Arabic",
    "Dutch",
]
STOP = frozenset(
    [
        "about",
        "after",
        "again",
        "being",
        "below",
        "could",
        "doing",
        "during",
        "each",
        "every",
        "first",
        "following",
        "from",
        "given",
        "have",
        "having",
        "into",
        "itself",
        "least",
        "many",
        "might",
        "more",
        "most",
        "much",
        "must",
        "other",
        "please",
        "shall",
        "should",
        "some",
        "such",
        "than",
        "that",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "total",
        "under",
        "until",
        "using",
        "very",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "whose",
        "will",
        "with",
        "would",
        "your",
    ]
)

Change = Callable[[str, random.Random], str | None]
_WORD = re.compile(r"[A-Za-z][A-Za-z']*")


def _exchange(text: str, table: tuple[tuple[str, str], ...], rng: random.Random) -> str | None:
    """One word of the table replaced by its partner, in either direction of reading."""
    found = []
    for old, new in table:
        pattern = re.escape(old) if not old[0].isalpha() else rf"(?<![\w'/-]){re.escape(old)}(?![\w'/-])"
        found += [(match.start(), match.end(), new) for match in re.finditer(pattern, text)]
    if not found:
        return None
    start, stop, new = rng.choice(found)
    return text[:start] + new + text[stop:]


def number(text: str, rng: random.Random) -> str | None:
    """Another number."""
    found = list(re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", text))
    words = [m for m in _WORD.finditer(text) if m.group().lower() in NUMBER_WORDS]
    if not found and not words:
        return None
    match = rng.choice(found + words)
    old = match.group()
    if old[0].isdigit():
        new = rng.choice([old + "0", str(int(old.split(".")[0]) + rng.choice((1, 2, 7, 10))), old + ".5", "1" + old])
    else:
        new = rng.choice([word for word in NUMBER_WORDS if word != old.lower()])
    return text[: match.start()] + new + text[match.end() :]


def unit(text: str, rng: random.Random) -> str | None:
    """Another unit or currency."""
    return _exchange(text, UNITS, rng)


def name(text: str, rng: random.Random) -> str | None:
    """Another name inside a sentence."""
    found = list(re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", text))
    if not found:
        return None
    match = rng.choice(found)
    return text[: match.start()] + rng.choice(NAMES) + text[match.end() :]


def negation(text: str, rng: random.Random) -> str | None:
    """A "not" put in or taken out."""
    gone = list(re.finditer(r"\b(?:not|never) |n't\b", text))
    if gone and rng.random() < 0.6:
        match = rng.choice(gone)
        return text[: match.start()] + text[match.end() :]
    found = list(
        re.finditer(r"\b(?:is|are|was|were|can|should|will|would|has|have|does|did|must|could) (?=[a-z])", text)
    )
    if not found:
        return None
    match = rng.choice(found)
    return text[: match.end()] + rng.choice(("not ", "never ")) + text[match.end() :]


def opposite(text: str, rng: random.Random) -> str | None:
    """A word replaced by its opposite."""
    return _exchange(text, OPPOSITES + tuple((new, old) for old, new in OPPOSITES), rng)


def quantifier(text: str, rng: random.Random) -> str | None:
    """Another quantity word."""
    return _exchange(text, QUANTIFIERS, rng)


def order(text: str, rng: random.Random) -> str | None:
    """Two names or two numbers exchanged."""
    for pattern in (r"(?<=[a-z,] )[A-Z][a-z]{2,}\b", r"(?<![\w.])\d+(?![\w.])"):
        found = list(re.finditer(pattern, text))
        pairs = [(a, b) for a, b in pairwise(found) if a.group() != b.group()]
        if pairs:
            return _swap(text, *rng.choice(pairs))
    return None


def noun_swap(text: str, rng: random.Random) -> str | None:
    """Two ordinary words exchanged."""
    found = [m for m in re.finditer(r"\b[a-z]{5,}\b", text) if m.group() not in STOP and not m.group().endswith("ly")]
    pairs = [(a, b) for a, b in pairwise(found) if a.group() != b.group()]
    return _swap(text, *rng.choice(pairs)) if pairs else None


def _swap(text: str, one: re.Match[str], other: re.Match[str]) -> str:
    middle = text[one.end() : other.start()]
    return text[: one.start()] + other.group() + middle + one.group() + text[other.end() :]


def modality(text: str, rng: random.Random) -> str | None:
    """Another modal verb or tense."""
    return _exchange(text, MODALS, rng)


def person(text: str, rng: random.Random) -> str | None:
    """Another person."""
    return _exchange(text, PERSONS, rng)


def relation(text: str, rng: random.Random) -> str | None:
    """Another preposition or connective."""
    return _exchange(text, RELATIONS, rng)


def demand(text: str, rng: random.Random) -> str | None:
    """One more demand, at the end or as an adjective."""
    found = list(re.finditer(r"\b(?:the|a|an) (?=[a-z])", text))
    if found and rng.random() < 0.5:
        match = rng.choice(found)
        return text[: match.end()] + rng.choice(ADJECTIVES) + " " + text[match.end() :]
    return text.rstrip() + rng.choice(DEMANDS)


def identifier(text: str, rng: random.Random) -> str | None:
    """Another identifier, file name or version."""
    found = list(re.finditer(r"\b(?:\w+_\w+|[a-z]+[A-Z]\w*|[a-z]+\d+|\w+\.\w{2,4}\b(?=[\s,?)'\"`])|v\d+\.\d+)", text))
    found = [match for match in found if not match.group()[0].isdigit()]
    if not found:
        return None
    match = rng.choice(found)
    old = match.group()
    new = rng.choice((old + "s", old + "2", old[0] + "x" + old[1:], old.swapcase(), "my_" + old))
    return text[: match.start()] + new + text[match.end() :]


def language(text: str, rng: random.Random) -> str | None:
    """Another language named or asked for."""
    found = [match for match in _WORD.finditer(text) if match.group() in LANGUAGE_NAMES]
    if found:
        match = rng.choice(found)
        new = rng.choice([word for word in LANGUAGE_NAMES if word != match.group()])
        return text[: match.start()] + new + text[match.end() :]
    return text.rstrip() + rng.choice(LANGUAGES)


HARMFUL: tuple[Change, ...] = (
    number, unit, name, negation, opposite, quantifier, order, noun_swap, modality, person, relation, demand,
    identifier, language,
)  # fmt: skip


def _plain(text: str) -> bool:
    """Whether case and spacing carry no meaning here: no code, quotation, identifier or list."""
    return not re.search(r"[`{}<>=_\\\"]|\n|\w[A-Z]|\d[a-zA-Z]|[a-zA-Z]\d|(?<!\w)'|\.\w", text)


def capitals(text: str, rng: random.Random) -> str | None:
    """All in capitals."""
    return text.upper() if _plain(text) else None


def sentence_start(text: str, rng: random.Random) -> str | None:
    """The first letter in the other case."""
    if not text or not text[0].isalpha() or not _plain(text[:30]) or text.startswith("I "):
        return None
    return text[0].swapcase() + text[1:]


def politeness(text: str, rng: random.Random) -> str | None:
    """A polite word at the edge."""
    kind = rng.randrange(5)
    if kind == 0:
        return "Hello, " + text
    if kind == 1:
        return text.rstrip() + " Thank you!"
    if kind == 2:
        return text.rstrip() + " Thanks in advance."
    if kind == 3:
        return "Please: " + text
    return "Hi! " + text


def punctuation(text: str, rng: random.Random) -> str | None:
    """The end punctuation gone, doubled or another."""
    bare = text.rstrip().rstrip(".?!")
    if not bare or not bare[-1].isalpha():
        return None
    return rng.choice((bare, bare + ".", bare + "?", bare + "??", bare + " ?", bare + "..."))


def spacing(text: str, rng: random.Random) -> str | None:
    """More white space between words or around the text."""
    if "\n" in text or "`" in text:
        return "  " + text + "\n"
    spaces = [match.start() for match in re.finditer(r"(?<=\w) (?=\w)", text)]
    if not spaces:
        return text + " "
    at = rng.choice(spaces)
    return text[:at] + rng.choice(("  ", "\n", "\t", "\u00a0")) + text[at + 1 :]


HARMLESS: tuple[Change, ...] = (capitals, sentence_start, politeness, punctuation, spacing)


def prompts(folder: Path) -> Iterator[str]:
    """Every base prompt that holds no function definition."""
    for file in FILES:
        path = folder / f"{file}_dev.jsonl"
        if path.exists():
            for line in path.open(encoding="utf-8"):
                row = json.loads(line)
                if row["role"] == "base" and not re.search(r"(?m)^\s*def \w+\(", row["prompt"]):
                    yield row["prompt"]


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--show", help="print the harmful changes of this kind that pass, or the harmless that don't")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=int, default=400, help="changes of each kind")
    options = parser.parse_args()
    texts = sorted(set(prompts(options.data)))
    random.Random(options.seed).shuffle(texts)
    for title, changes, wanted in (("harmful", HARMFUL, False), ("harmless", HARMLESS, True)):
        tried = wrong = 0
        print(f"{title:10} {'kind':15} {'tried':>6} {'passed':>7} {'share':>7}")
        for change in changes:
            rng = random.Random(options.seed)
            count = passed = 0
            for text in texts:
                changed = change(text, rng)
                if changed is None or changed == text:
                    continue
                verdict = gate(text, changed)
                count += 1
                passed += bool(verdict)
                if options.show == change.__name__ and bool(verdict) != wanted:
                    print(f"  {verdict}\n    {text[:300]!r}\n    {changed[:300]!r}")
                if count >= options.limit:
                    break
            tried, wrong = tried + count, wrong + (passed if not wanted else count - passed)
            print(f"{'':10} {change.__name__:15} {count:6} {passed:7} {100 * passed / max(count, 1):6.1f}%")
        print(f"{'':10} {'all':15} {tried:6} {tried - wrong if wanted else wrong:7} "
              f"{100 * ((tried - wrong) if wanted else wrong) / max(tried, 1):6.2f}%")  # fmt: skip


if __name__ == "__main__":
    main()
