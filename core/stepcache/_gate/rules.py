"""The rules of the gate, in the order in which they speak.

Each sees two parsed texts and what only one of them says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from stepcache._gate.layout import arrangement
from stepcache._gate.opposites import opposed
from stepcache._gate.parse import Parsed, Token
from stepcache._gate.spelling import slip, stems
from stepcache._gate.tables import capitals, known_words
from stepcache._gate.verdict import Differs, excerpt
from stepcache._gate.wording import worded_alike

__all__ = ["RULES", "Pair", "Rule", "pair"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts in one language and the tokens that have no counterpart in the other text."""

    cached: Parsed
    new: Parsed
    only_cached: tuple[Token, ...]
    only_new: tuple[Token, ...]


_MEMBER: Final = re.compile(r'[{,]\s{0,40}"[^"\n]{0,200}"\s?:')  # of a JSON object
_EMPTY: Final = re.compile(r"""(?<![\w"'])(?:"[ ]{0,9}"|'[ ]{0,9}')(?![\w"'])""")
_PAUSE: Final = frozenset(".,;:!?")
_MARK: Final = re.compile("[\"']")
_IN_CODE: Final = re.compile(r"\w[(\[=]['\"]|(?<=[\w'\"])[ ]={1,3}[ ]?['\"]|['\"][)\]];")
_LITERAL: Final = re.compile(r"null|nil|none|true|false|undefined|nan|[-+]?\d[\d.,]*", re.IGNORECASE)
_COMPOUND: Final = re.compile(r"(?<![\w-])[^\W\d_]+(?:-[^\W\d_]+)+(?![\w-])")
_OWNER: Final = re.compile(r"(?<!\w)([^\W\d_]+)(?:'s|(?<=s)')(?!\w)")
_MANY: Final = 24  # of so many lone words no pair is worth looking for
_ACRONYM: Final = range(3, 6)  # letters
_SLIPS: Final = 4  # more slips than this are no slips
Rule = Callable[[Pair], Differs | None]


def pair(cached: Parsed, new: Parsed) -> Pair:
    """Line the tokens up as multisets: what is left on either side has to be explained.

    A slip of the pen on one side ("recieve") takes the key of the word it stands for.
    """
    only_cached, only_new = _surplus(cached, new), _surplus(new, cached)
    if cached.language == "en" and 0 < len(only_cached) <= _SLIPS and 0 < len(only_new) <= _SLIPS:
        mended = _mend(cached, only_cached, only_new)
        if mended is not None:
            return Pair(mended, new, _surplus(mended, new), _surplus(new, mended))
    return Pair(cached, new, only_cached, only_new)


def _mend(cached: Parsed, only_cached: tuple[Token, ...], only_new: tuple[Token, ...]) -> Parsed | None:
    """The cached text with each slip (or each word of which the new text holds a slip) under the new text's key."""
    instead: dict[str, str] = {}
    for ours in only_cached:
        for theirs in only_new:
            plain = ours.text.isalpha() and theirs.text.isalpha() and not (ours.quoted or theirs.quoted)
            if plain and "name" not in (ours.what, theirs.what) and slip(ours.text.lower(), theirs.text.lower()):
                instead.setdefault(ours.key, theirs.key)
    if not instead:
        return None
    tokens = tuple(token._replace(key=instead.get(token.key, token.key)) for token in cached.tokens)
    return replace(cached, tokens=tokens, keys=tuple(token.key for token in tokens))


def _surplus(one: Parsed, other: Parsed) -> tuple[Token, ...]:
    if one.keys == other.keys:
        return ()
    spare = Counter(other.keys)
    left = []
    for token in one.tokens:
        if spare[token.key] > 0:
            spare[token.key] -= 1
        else:
            left.append(token)
    return tuple(left)


def _differs(what: str, cached: list[Token] | tuple[Token, ...], new: list[Token] | tuple[Token, ...]) -> Differs:
    def show(tokens: list[Token] | tuple[Token, ...]) -> str:
        return excerpt(" ".join(token.text for token in tokens[:8]))

    return Differs(what, show(cached), show(new))


def _leftover(what: str, pair: Pair) -> Differs | None:
    cached = [token for token in pair.only_cached if token.what == what]
    new = [token for token in pair.only_new if token.what == what]
    return _differs(what, cached, new) if cached or new else None


def numbers(pair: Pair) -> Differs | None:
    """The same numbers, each as often."""
    return _leftover("number", pair)


def units(pair: Pair) -> Differs | None:
    """The same units and currencies."""
    return _leftover("unit", pair)


def dates(pair: Pair) -> Differs | None:
    """The same dates, times, days and seasons."""
    return _leftover("calendar", pair)


def code(pair: Pair) -> Differs | None:
    """The same code blocks."""
    return _leftover("code", pair)


def identifiers(pair: Pair) -> Differs | None:
    """The same identifiers, file names, versions, addresses, letter by letter."""
    return _leftover("identifier", pair)


def quotes(pair: Pair) -> Differs | None:
    """The same quoted words; where both texts quote equally often, the same quoted texts to the letter.

    In JSON, in code, and around the literals of programs, the marks themselves count: null is not "null", "" not " ".
    """
    ours, theirs = pair.cached.quotes, pair.new.quotes
    if len(ours) != len(theirs) and (_MEMBER.search(pair.cached.text) or _MEMBER.search(pair.new.text)):
        return Differs("quote", excerpt(" ".join(ours)), excerpt(" ".join(theirs)))
    if _IN_CODE.search(pair.cached.text) or _IN_CODE.search(pair.new.text):
        marks = [_MARK.findall(side.text) for side in (pair.cached, pair.new)]
        if marks[0] != marks[1]:
            return Differs("quote", excerpt(pair.cached.text), excerpt(pair.new.text))
    empty = [_EMPTY.findall(side.text) for side in (pair.cached, pair.new)]
    if empty[0] != empty[1]:
        return Differs("quote", excerpt(" ".join(empty[0])), excerpt(" ".join(empty[1])))
    marked = [[text for text in side if _LITERAL.fullmatch(text)] for side in (ours, theirs)]
    if marked[0] != marked[1]:
        return Differs("quote", excerpt(" ".join(marked[0])), excerpt(" ".join(marked[1])))
    if len(ours) == len(theirs) and ours != theirs:
        cached, new = next((a, b) for a, b in zip(ours, theirs, strict=True) if a != b)
        return Differs("quote", excerpt(cached), excerpt(new))
    return _leftover("quote", pair)


def names(pair: Pair) -> Differs | None:
    """The same names, and no word that is a name with a capital letter only (polish and Polish).

    The case of a sign of one or two letters counts too: C is not c, CO is not Co. And a name has one spelling only:
    Gray's Anatomy is a book, Grey's Anatomy a series.
    """
    found = _leftover("name", pair)
    if found is not None or "upper" in (pair.cached.casing, pair.new.casing):
        return found
    table = capitals()
    mixed = pair.cached.casing == pair.new.casing == "mixed"
    for at, (ours, theirs) in enumerate(zip(pair.cached.tokens, pair.new.tokens, strict=False)):
        if ours.key != theirs.key or ours.text == theirs.text:
            continue
        if mixed and ours.text.istitle() != theirs.text.istitle() and _in_path(pair.cached.tokens, at):
            return _differs("name", (ours,), (theirs,))
        if ours.key in table and not (ours.start or theirs.start or _cased(ours) == _cased(theirs)):
            return _differs("name", (ours,), (theirs,))
        if _acronym(ours, theirs) or (_names_thing(ours) and _names_thing(theirs) and _spelt_otherwise(ours, theirs)):
            return _differs("name", (ours,), (theirs,))
        if mixed and _sign(ours) and _sign(theirs) and (_cased(ours) == _cased(theirs) or not _starts(ours, theirs)):
            return _differs("name", (ours,), (theirs,))
    return None


def _in_path(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a word stands beside a slash, as in src/app, which is not src/App."""
    beside = tokens[max(0, at - 1) : at] + tokens[at + 1 : at + 2]
    return not tokens[at].start and any(token.key in {"/", "\\"} for token in beside)


def _names_thing(token: Token) -> bool:
    """Whether a word with a capital inside its sentence, or with a possessive, may be a name or part of one."""
    named = (token.text.istitle() and not token.start) or token.text.endswith("'s")
    return named and token.what in {"word", "name", "colour"}


def _spelt_otherwise(ours: Token, theirs: Token) -> bool:
    return ours.text.lower().removesuffix("'s") != theirs.text.lower().removesuffix("'s")


def _sign(token: Token) -> bool:
    """Whether a token is a single letter, or two of them with a capital, that is no word of the language."""
    size = len(token.text)
    return token.what in {"word", "name"} and token.text.isalpha() and (size == 1 or (size == 2 and _cased(token)))


def _starts(*tokens: Token) -> bool:
    return any(token.start for token in tokens)


def _cased(token: Token) -> bool:
    text = token.text.removesuffix("'s")
    return text.istitle() or text.isupper()


def _acronym(one: Token, other: Token) -> bool:
    """Whether one is a known word and the other its letters as capitals (sap and SAP), not a word shouted."""
    texts = one.text.removesuffix("'s"), other.text.removesuffix("'s")
    short = one.what in {"word", "name"} and texts[0].isalpha() and len(texts[0]) in _ACRONYM
    return short and texts[0].isupper() != texts[1].isupper() and not stems(one.key).isdisjoint(known_words())


def language_named(pair: Pair) -> Differs | None:
    """The same languages named (into French, in German)."""
    return _leftover("language", pair)


def colours(pair: Pair) -> Differs | None:
    """The same colours."""
    return _leftover("colour", pair)


def questions(pair: Pair) -> Differs | None:
    """The same question words."""
    return _leftover("question", pair)


def negations(pair: Pair) -> Differs | None:
    """As many negations of each kind."""
    return _leftover("negation", pair)


def opposite(pair: Pair) -> Differs | None:
    """No word on one side with its opposite on the other."""
    for ours in pair.only_cached[:_MANY]:
        for theirs in pair.only_new[:_MANY]:
            if opposed(ours.key, theirs.key):
                return _differs("opposite", (ours,), (theirs,))
    return None


def quantifiers(pair: Pair) -> Differs | None:
    """The same quantifiers, comparatives and superlatives."""
    return _leftover("quantifier", pair)


def conjunctions(pair: Pair) -> Differs | None:
    """The same and / or."""
    return _leftover("conjunction", pair)


def modality(pair: Pair) -> Differs | None:
    """The same modal verbs and tenses."""
    return _leftover("modality", pair)


def persons(pair: Pair) -> Differs | None:
    """The same persons: mine are not hers."""
    return _leftover("person", pair)


def relations(pair: Pair) -> Differs | None:
    """The same prepositions and connectives."""
    return _leftover("relation", pair)


def demands(pair: Pair) -> Differs | None:
    """The same instructions and demands on form, length and style."""
    return _leftover("demand", pair)


def symbols(pair: Pair) -> Differs | None:
    """The same signs: operators, brackets, emoji."""
    return _leftover("symbol", pair)


def words(pair: Pair) -> Differs | None:
    """No other word left over."""
    return _leftover("word", pair)


def order(pair: Pair) -> Differs | None:
    """All shared words in the same order: Rome to Bonn is not Bonn to Rome, 3 red 4 blue not 4 red 3 blue."""
    if pair.cached.keys == pair.new.keys:
        return None
    lone_cached, lone_new = Counter(t.key for t in pair.only_cached), Counter(t.key for t in pair.only_new)
    ours = [token for token in pair.cached.tokens if not lone_cached[token.key]]
    theirs = [token for token in pair.new.tokens if not lone_new[token.key]]
    for index, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one.key != other.key:
            return _differs("order", ours[index : index + 4], theirs[index : index + 4])
    return None


def wording(pair: Pair) -> Differs | None:
    """Where a prompt works on words as words, the very same letters: gray is not grey in "How do you spell gray?"."""
    ours, theirs = pair.cached.quotes, pair.new.quotes
    found = worded_alike(pair.cached.text, pair.new.text, bool(ours) and ours == theirs)
    return None if found is None else Differs("wording", excerpt(found[0]), excerpt(found[1]))


def marks(pair: Pair) -> Differs | None:
    """The same hyphens and apostrophes where they say who does what: a man eating shark, my sister's and sisters'.

    What is Peter's is not Peter, nor is Wendy's Wendy.
    """
    if pair.cached.language != "en" or pair.cached.text == pair.new.text:
        return None
    if pair.cached.keys == pair.new.keys:
        for at, (one, other) in enumerate(zip(pair.cached.tokens, pair.new.tokens, strict=True)):
            if _owner(one) != _owner(other) and not _owns_next(pair.cached.tokens, at):
                return _differs("word", (one,), (other,))
    ours, theirs = pair.cached.text.lower(), pair.new.text.lower()
    for pattern, means in ((_COMPOUND, _turns), (_OWNER, _owns)):
        mine, others = ([match.group() for match in pattern.finditer(text)] for text in (ours, theirs))
        lost, gained = sorted(set(mine) - set(others)), sorted(set(others) - set(mine))
        if means(lost, gained):
            return Differs("word", excerpt(" ".join(lost)), excerpt(" ".join(gained)))
    return None


def _owner(token: Token) -> bool:
    return not token.quoted and (token.text.endswith("'s") or token.after.startswith("'"))


def _owns_next(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether a noun or its adjective may follow, so that "dog bowl" is the dog's bowl."""
    if at + 1 == len(tokens) or not _PAUSE.isdisjoint(tokens[at].after):
        return False
    return tokens[at + 1].what in {"word", "name", "colour", "quantifier", "number", "calendar"}


def _turns(lost: list[str], gained: list[str]) -> bool:
    """Whether hyphens tie words to a participle, or other words in either text."""
    return (bool(lost) and bool(gained)) or any(word.endswith("ing") for word in lost + gained)


def _owns(lost: list[str], gained: list[str]) -> bool:
    """Whether one is owned by one and the other by several."""
    plural = {word.removesuffix("'").removesuffix("s") for word in lost + gained if word.endswith("'")}
    return any(word.removesuffix("'s") in plural for word in lost + gained if not word.endswith("'"))


def layout(pair: Pair) -> Differs | None:
    """The same levels of indented blocks and the same empty cells of tables parted by tabs."""
    ours, theirs = arrangement(pair.cached.text), arrangement(pair.new.text)
    return None if ours == theirs else Differs("layout", excerpt(pair.cached.text), excerpt(pair.new.text))


RULES: Final[tuple[Rule, ...]] = (
    numbers,
    units,
    dates,
    code,
    identifiers,
    quotes,
    names,
    language_named,
    negations,
    opposite,
    quantifiers,
    conjunctions,
    questions,
    modality,
    persons,
    relations,
    colours,
    demands,
    symbols,
    words,
    order,
    marks,
    layout,
    wording,
)
