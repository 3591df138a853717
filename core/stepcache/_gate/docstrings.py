"""The code rule: docstrings of functions with equal names, signatures and examples may be worded more freely.

The examples pin down what a function does, so plain words may differ (a slip, another tense, a synonym); numbers,
literals, signs, negations, quantifiers, connectives, opposites and the order of shared words may not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from stepcache._gate.opposites import opposed
from stepcache._gate.parse import Parsed, Token
from stepcache._gate.pieces import quotations
from stepcache._gate.spelling import distance, inflection_of, known
from stepcache._gate.tables import steering, weighty
from stepcache._gate.verdict import Differs, excerpt

__all__ = ["TORN", "Around", "Docstring", "docstring", "loosely_equal"]

_REACH: Final = 7  # how far two texts may run apart before they meet again
_THROWN_IN: Final = 3  # words that may stand on one side only
_LITTER: Final = 3  # unknown words that make a text one that was typed without care
_TERM: Final = 5  # letters of a word that two texts share and the tables lack, to be a term and no scrap
_BLIND: Final = 8  # unknown words that make it one that was typed without looking
TORN: Final = 5  # words torn by stray blanks from which on a blank between two digits says nothing either
_SHARE: Final = 0.5  # at least this share of the longer docstring's words must be the same
_PLAIN: Final = frozenset({"word", "person", "modality", "question", "relation", "demand", "quantifier"})


class Around(NamedTuple):
    """What surrounds a docstring: the functions defined, all names in the code, whether examples pin it down.

    `familiar` are the words that both docstrings have: unknown to the tables, but no slips.
    """

    functions: Sequence[str]
    identifiers: frozenset[str]
    pinned: bool
    familiar: frozenset[str] = frozenset()


class Docstring(NamedTuple):
    """A docstring's doctest lines, to be equal to the letter, its prose, and whether it shows any example at all."""

    doctests: tuple[str, ...]
    prose: str
    examples: bool

    @property
    def letters(self) -> str:
        """The prose without white space."""
        return "".join(self.prose.split())

    @property
    def jumbled(self) -> bool:
        """Whether capitals stand at random inside known words, so that case says nothing."""
        return sum(known(word.lower()) for word in _JUMBLED.findall(self.prose)) >= 4

    @property
    def torn(self) -> int:
        """How many words are none, as where blanks were put in at random."""
        return sum(not known(word.lower()) for word in _LETTERS.findall(self.prose))

    @property
    def digits(self) -> list[str]:
        """The runs of digits, in order."""
        return _DIGITS.findall(self.prose)

    @property
    def quotes(self) -> list[str]:
        """The quoted texts, in order; their white space matters unless that of the prose is in disorder too."""
        return [self.prose[start:stop] for start, stop in quotations(self.prose)]

    @property
    def unquoted(self) -> list[str]:
        """The words outside quotation marks."""
        return _QUOTED.sub("", self.prose).split()


_JUMBLED: Final = re.compile(r"\b[a-z]{1,20}[A-Z][A-Za-z]*\b")
_QUOTED: Final = re.compile(r"\"[^\"]{0,400}\"|'[^']{0,400}'")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_DIGITS: Final = re.compile(r"\d+")
_SPACED_OPERATOR: Final = re.compile(r"(?<=[-=<>!])[ ](?=[=>])")
_BULLET: Final = re.compile(r"\n([-*])(?:[ \t]+(?=\S)|(?=[^\W\d]))")
# Other words for what stands over examples, where alone they would say more ("lower case", "for all instances").
_LABEL: Final = re.compile(r"(?i)(for[ ])?(?:examples?[ ])?(?:cases?|exemplars?|instances?)[ ]?:")
_UNCLOSED: Final = re.compile(r"(?<=[^\W\d_])\[(?=[^\W\d_]+\b(?![^\n]*\]))")  # a slip of the key beside "p"
_MINUS: Final = re.compile(r"[ \t]*-[ \t]*(?=\d)")
_VALUE: Final = re.compile(r"[\d\"'\[({]")
_EXAMPLE: Final = re.compile(r"(?i)\bexamples?\b|\be\.g\.|\binput\b.{0,200}\boutput\b", re.DOTALL)


def docstring(text: str, functions: Sequence[str]) -> Docstring:
    """Tell the doctests of a docstring from its prose."""
    doctests: list[str] = []
    prose: list[str] = []
    inside = False
    for line in text.split("\n"):
        stripped = line.strip()
        inside = stripped.startswith((">>>", "...")) or (inside and bool(stripped))
        if (label := _LABEL.fullmatch(stripped)) is not None:
            stripped = f"{label[1] or ''}example:"
        (doctests if inside else prose).append(stripped)
    # A bullet is a sign like others: where lines were run together, nothing tells it from them.
    told = _BULLET.sub(r" \1 ", _SPACED_OPERATOR.sub("", "\n".join(prose)))
    told = _MINUS.sub(" - ", _UNCLOSED.sub("", told))  # "e.g.-1" and "digits -1" have the same sign
    for name in functions[:20]:
        told = told.replace(name.replace("_", " _ "), name)
    called = any(re.search(rf"\b{re.escape(name)}[ ]?\(", line) for name in functions[:20] for line in prose[:400])
    shown = called or bool(_EXAMPLE.search(text) and _VALUE.search(text))
    return Docstring(tuple(doctests), told, bool(doctests) or shown)


def loosely_equal(cached: Parsed, new: Parsed, around: Around) -> Differs | None:
    """None if the prose of both docstrings says the same but for slips, else the difference.

    Where examples pin the function down, plain words may differ too.
    """
    lost: list[Token] = []
    gained: list[Token] = []
    strange = _strange(cached, new)
    littered, blind = strange >= _LITTER, strange >= _BLIND
    both = {token.text.lower() for token in cached.tokens} & {token.text.lower() for token in new.tokens}
    around = around._replace(familiar=frozenset(word for word in both if len(word) >= _TERM))
    demand: Differs | None = None
    for ours, theirs in _gaps(cached.tokens, new.tokens, around):
        left, right = _unexplained(ours, theirs, around)
        if littered:
            left, right = _without_stray_letters(left, right, around)
            if _unreadable(left, right, around, blind):
                left, right = [], []
        for token in (*left, *right):
            if not around.pinned or not _is_plain(token, left, right, around, littered):
                return _differs(token.what, left, right)
        if demand is None and _is_demand(left, right):
            demand = _differs("demand", left, right)
        lost += left
        gained += right
    moved = Counter(t.key for t in lost) & Counter(t.key for t in gained)
    if moved:
        return _differs("order", lost, gained)
    if demand is not None:
        return demand
    if max(len(lost), len(gained)) > _SHARE * max(len(cached.tokens), len(new.tokens)):
        return _differs("word", lost, gained)
    for one in lost:
        for other in gained:
            if opposed(one.key, other.key):
                return _differs("opposite", [one], [other])
    return None


def _is_plain(token: Token, left: list[Token], right: list[Token], around: Around, littered: bool) -> bool:
    """Whether a word on one side only is of no weight where examples pin the function down."""
    if token.quoted or token.key in weighty():
        return False
    if token.text in around.identifiers and not known(token.text.lower()):
        return False  # a parameter
    if len(token.key) == 1 and token.key != "a" and not (littered and len(left) != len(right)):
        return False  # a variable
    return token.what in _PLAIN or (token.what == "unit" and not _both_measure(left, right))


def _both_measure(left: list[Token], right: list[Token]) -> bool:
    """Whether a unit was exchanged for a unit; alone, a degree or a second may be a plain word."""
    return all(any(token.what == "unit" for token in side) for side in (left, right))


def _is_demand(left: list[Token], right: list[Token]) -> bool:
    """Whether a run that stands on one side only is more than a word or two thrown in ("in place", "with a loop")."""
    run = left + right
    if (left and right) or len(run) < 2:
        return False
    return len(run) > _THROWN_IN or any(token.what == "relation" for token in run)


def _strange(cached: Parsed, new: Parsed) -> int:
    """How many unknown words the texts do not share; where there are several, one more slip is no surprise."""
    ours, theirs = ({token.text.lower() for token in side.tokens if token.text.isalpha()} for side in (cached, new))
    return sum(not known(word) for word in ours ^ theirs)


def _unreadable(left: list[Token], right: list[Token], around: Around, blind: bool) -> bool:
    """Whether the words on one side are those of the other with their letters mixed up, or mistyped past reading.

    A word that is none can't demand anything else than the word in whose place it stands, be that a "not".
    """
    if not left or len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        a, b = one.text.lower(), other.text.lower()
        if not (a.isalpha() and b.isalpha()) or len(a) != len(b) or len(a) < 2 or known(a) == known(b):
            return False
        if one.quoted or other.quoted or {one.text, other.text} & {*around.identifiers, *around.functions}:
            return False
        if sorted(a) != sorted(b) and not (blind and any(x == y for x, y in zip(a, b, strict=True))):
            return False
    return True


def _without_stray_letters(
    left: list[Token], right: list[Token], around: Around
) -> tuple[list[Token], list[Token]]:
    """Without literals, names and words that differ by a stray letter or two.

    Never numbers, names of the code, and quoted words that steer a sentence ('not', 'and'): 'nto' is another text.
    """
    kept, rest = [], list(right)
    for one in left:
        size = len(one.text)
        partner = next(
            (
                other
                for other in rest
                if "number" not in (one.what, other.what)
                and not {one.text, other.text} & around.identifiers
                and not _steers(one, other)
                and ("word" in (one.what, other.what) or {one.what, other.what} <= {"name", "quote", "identifier"})
                and distance(one.text.lower(), other.text.lower(), 1 + size // 5) <= (1 + size // 5 if size > 2 else 0)
            ),
            None,
        )
        if partner is None:
            kept.append(one)
        else:
            rest.remove(partner)
    return kept, rest


def _steers(*tokens: Token) -> bool:
    return any(token.quoted and token.text.lower() in steering() for token in tokens)


def _differs(what: str, left: list[Token], right: list[Token]) -> Differs:
    def show(tokens: list[Token]) -> str:
        return excerpt(" ".join(token.text for token in tokens[:8]))

    return Differs(what, show(left), show(right))


def _gaps(ours: Sequence[Token], theirs: Sequence[Token], around: Around) -> Iterator[tuple[list[Token], list[Token]]]:
    """The runs where two sequences differ; linear, because they must meet again within a few tokens."""
    i = j = 0
    while i < len(ours) or j < len(theirs):
        if i < len(ours) and j < len(theirs) and _same_word(ours[i], theirs[j], around):
            i, j = i + 1, j + 1
            continue
        k, m = _meeting(ours, theirs, i, j)
        yield list(ours[i:k]), list(theirs[j:m])
        i, j = k, m


def _meeting(ours: Sequence[Token], theirs: Sequence[Token], i: int, j: int) -> tuple[int, int]:
    for total in range(1, 2 * _REACH):
        for step in range(max(0, total - _REACH), min(total, _REACH) + 1):
            k, m = i + step, j + total - step
            if k >= len(ours) and m >= len(theirs):
                return len(ours), len(theirs)
            if k < len(ours) and m < len(theirs) and ours[k].key == theirs[m].key:
                again = k + 1 < len(ours) and m + 1 < len(theirs) and ours[k + 1].key == theirs[m + 1].key
                ends = k + 1 == len(ours) and m + 1 == len(theirs)
                if again or ends or total <= 2:
                    return k, m
    return len(ours), len(theirs)


def _unexplained(ours: list[Token], theirs: list[Token], around: Around) -> tuple[list[Token], list[Token]]:
    """What is left of two runs after spacing, slips and inflections."""
    left, right = [], list(theirs)
    for token in ours:
        partner = next((other for other in right if _same_word(token, other, around)), None)
        if partner is None:
            left.append(token)
        else:
            right.remove(partner)
    if _noise(left, right, around):
        return [], []
    return [token for token in left if not _slip_of_the(token)], [token for token in right if not _slip_of_the(token)]


def _slip_of_the(token: Token) -> bool:
    """Whether an unknown word is a misspelt "the", which has no counterpart because it is silent."""
    word = token.text.lower()
    return 2 <= len(word) <= 4 and not token.quoted and not known(word) and distance(word, "the", 1) <= 1


def _noise(left: list[Token], right: list[Token], around: Around) -> bool:
    """Whether two runs are the same letters with other spaces, or nearly so with letters gone astray."""
    ours, theirs = ("".join(token.text.lower() for token in side) for side in (left, right))
    if ours == theirs and ours in (name.lower() for name in around.functions):
        return True  # a prompt may misspell or space out the function it defines
    if any(
        token.quoted or token.what in {"identifier", "code"} or token.text in around.identifiers
        for token in (*left, *right)
    ):
        return False
    if ours == theirs:  # but twelve is not "1 2"
        numbers = [[run for token in side for run in _DIGITS.findall(token.text)] for side in (left, right)]
        return numbers[0] == numbers[1]
    if any(char.isdecimal() for char in ours + theirs) or not (ours and theirs):
        return False
    strange = [sum(not known(token.text.lower()) for token in side) for side in (left, right)]
    return strange[0] != strange[1] and distance(ours, theirs, 1 + len(ours) // 5) <= 1 + len(ours) // 5


def _same_word(one: Token, other: Token, around: Around) -> bool:
    a, b = (token.text.lower().removesuffix("'s") for token in (one, other))
    if one.key == other.key:
        return not (one.quoted and other.quoted) or one.text == other.text
    own = [token.text in around.functions for token in (one, other)]
    if any(own):
        return not all(own) and _DIGITS.findall(a) == _DIGITS.findall(b) and distance(a, b, 2) <= 2
    if not (a.isalpha() and b.isalpha()):
        return False
    if a == b:
        return not (one.quoted and other.quoted)  # odd capitals
    if len(a) == len(b) == 1:
        return False  # letters are names or literals: a minus b, "a" else "b"
    counted = {"number", "negation", "quote", "identifier"}
    if around.pinned and one.what not in counted and other.what not in counted and inflection_of(a, b):
        return True  # else the larger is not the largest, and one index not all indices
    limit = 1 if min(len(a), len(b)) < 4 else max(2, min(len(a), len(b)) // 3)
    if _steers(one, other):
        return False
    familiar = [known(word) or word in around.familiar for word in (a, b)]
    strange = one if familiar[1] else other
    if strange.text in around.identifiers:
        return False  # a parameter's name is no slip of a word
    return familiar[0] != familiar[1] and distance(a, b, limit) <= limit
