"""What of two docstrings may not differ when code recorded for one is given for the other.

The content gate lets plain words of a docstring differ where the examples are equal, for people write the same
demand in many words and with many slips. Code is less forgiving: a constant it must return, a word that names a type,
an operation, an order or an extreme, and a demand added or dropped in a run of words change what it must do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from stepcache.tasks._python.names import of_the_trade, same_group, turned, weighty

__all__ = ["disagreement"]

_MAX_WORDS = 1_000
_MAX_MEETINGS = 10_000  # pairs of equal words; docstrings of people have some hundreds
_MAX_RUN = 2  # plain words that may come or go in one place; more are a demand of their own
_MIN_REWORDED = 4  # places from which on a text is taken to be reworded as a whole
_MIN_SLIPS = 2  # words spelt wrong from which on a quoted text may be spelt wrong as well
_MIN_JUMBLED = 4
_MAX_STRANGE = 60
_MAX_CHARS = 60_000
_MAX_GAP = 40  # words in one place; where more differ, nothing is the same demand
_LITERAL = re.compile(r"\"([^\"\n]{0,400})\"|(?<!\w)'([^'\n]{0,400})'(?!\w)")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_JUMBLED = re.compile(r"\b[^\W\d_]*[a-z][A-Z][^\W\d_]*\b")
# Words that another one says already: lower case is one of letters.
_CASES = frozenset({"lowercase", "uppercase"})
_IMPLYING = {"letter": _CASES, "letters": _CASES, "character": _CASES, "characters": _CASES}
_QUOTES = re.compile(r"\"\"\"|'''")


def disagreement(cached: str, new: str) -> str:
    """The first difference between two prompts that the code must heed, in words; empty if there is none."""
    if cached == new or "".join(cached.split()) == "".join(new.split()):
        return ""  # the gate has seen that blanks did not go astray in a literal alone
    if max(len(cached), len(new)) > _MAX_CHARS:
        return "the docstrings differ and are too long to compare"
    ours, theirs = (_QUOTES.sub(" ", text) for text in (cached, new))
    a, b = ([word.lower() for word in _WORD.findall(_LITERAL.sub(" ", text))] for text in (ours, theirs))
    often = Counter(b)
    if max(len(a), len(b)) > _MAX_WORDS or sum(often[word] for word in a) > _MAX_MEETINGS:
        return "the docstrings differ and are too long to compare"
    meant_a, meant_b = _meant(a, frozenset(b)), _meant(b, frozenset(a))
    a, b = ([meant.get(word, word) for word in side] for side, meant in ((a, meant_a), (b, meant_b)))
    degrees, meant = _degrees(a, b), b
    b = _inflected_as(b, a)  # else equal words pair up at the wrong places
    inflected = sum(one != other for one, other in zip(b, meant, strict=True))
    found = []
    for tag, i, k, j, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            left, right = _unpaired(a[i:k], b[j:m])
            found.append((left, right, a[max(i - 2, 0) : i] + a[k : k + 2], b[max(j - 2, 0) : j] + b[m : m + 2]))
    slips = len(meant_a) + len(meant_b)
    # A word or two set apart change a demand; a text reworded all over says the same thing in other words.
    places = sum(bool(left or right) for left, right, *_ in found)
    if degrees and places + inflected < _MIN_REWORDED:
        return "the comparisons in the docstrings differ"
    reworded = places >= _MIN_REWORDED
    for left, right, near_lost, near_gained in found:
        if reason := _turn(left, right) or ("" if reworded else _weight(left, right, near_lost, near_gained)):
            return reason
    return _literals(ours, theirs, slips)


def _meant(text: Sequence[str], other: frozenset[str]) -> dict[str, str]:
    """For each word that is none, the word of the other text that it is a slip of."""
    from stepcache._gate.spelling import distance, known

    strange = {word for word in text if word not in other and not known(word)}
    if len(strange) > _MAX_STRANGE:
        return {}
    words = [word for word in other if known(word)]
    found: dict[str, str] = {}
    for word in strange:
        allowed = 1 + len(word) // 4
        near = min(((distance(word, one, allowed), one) for one in words), default=(allowed + 1, ""))
        if near[0] <= allowed:
            found[word] = near[1]
    return found


def _inflected_as(text: Sequence[str], other: Sequence[str]) -> list[str]:
    """The text with each word that the other lacks in the form which the other has of it."""
    from stepcache._gate.spelling import stems

    by_stem = {stem: word for word in sorted(set(other)) for stem in stems(word)}
    forms = {
        word: next((by_stem[stem] for stem in sorted(stems(word)) if stem in by_stem), word)
        for word in set(text) - set(other)
    }
    return [forms.get(word, word) for word in text]


def _degrees(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether a comparative on one side is a superlative on the other: larger and largest."""
    lone = (Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours))
    more, most = ([{word.removesuffix(end) for word in side if word.endswith(end)} for side in lone]
                  for end in ("er", "est"))  # fmt: skip
    return not (more[0].isdisjoint(most[1]) and more[1].isdisjoint(most[0]))


def _literals(ours: str, theirs: str, slips: int) -> str:
    """Quoted texts must be the same to the letter, but for blanks, and but for slips in a text full of them."""
    mine, others = (
        Counter("".join((one or other).split()) for one, other in _LITERAL.findall(text)) for text in (ours, theirs)
    )
    if len(_JUMBLED.findall(theirs)) - len(_JUMBLED.findall(ours)) >= _MIN_JUMBLED:
        mine, others = (Counter(text.lower() for text in side.elements()) for side in (mine, others))
    lost, gained = ([text for text in side.elements() if any(c.isalnum() for c in text)]
                    for side in (mine - others, others - mine))  # fmt: skip
    if slips >= _MIN_SLIPS and len(lost) == len(gained) <= _MAX_STRANGE:
        from stepcache._gate.spelling import distance
        from stepcache._gate.tables import steering

        steered = any(text.lower() in steering() for text in (*lost, *gained))
        if not steered and all(
            any(distance(new, old, near := 1 + len(old) // 4) <= near for old in lost) for new in gained
        ):
            return ""
    if len(lost) + len(gained) > _MAX_STRANGE:
        return "the quoted texts of the docstrings differ"
    squashed = ["".join(text.split()) for text in (ours, theirs)]
    if all(_quoted(text, squashed[0]) == _quoted(text, squashed[1]) for text in {*lost, *gained}):
        return ""  # only a blank went astray beside a mark, so that other marks seem to belong together
    return "the quoted texts of the docstrings differ"


def _quoted(text: str, squashed: str) -> int:
    """How often a text stands between quotation marks, where no blanks are left."""
    return sum(squashed.count(f"{mark}{text}{mark}") for mark in "'\"")


def _unpaired(lost: Sequence[str], gained: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is left of two runs of words after inflections and stray blanks."""
    from stepcache._gate.spelling import distance, inflection_of

    if max(len(lost), len(gained)) > _MAX_GAP:
        return list(lost), list(gained)
    ours, theirs = "".join(lost), "".join(gained)
    if ours == theirs or (lost and gained and len(lost) != len(gained) and distance(ours, theirs, 1) <= 1):
        return [], []
    left, right = [], list(gained)
    for word in lost:
        partner = next((other for other in right if inflection_of(word, other)), None)
        if partner is None:
            left.append(word)
        else:
            right.remove(partner)
    return left, right


def _turn(left: list[str], right: list[str]) -> str:
    """Whether one word that says what the code must do was exchanged for another one."""
    if max(len(left), len(right)) > _MAX_GAP:
        return "the docstrings differ too much"
    ours, theirs = ([word for word in side if of_the_trade(word)] for side in (left, right))
    if any((weighty(a) or weighty(b)) and not same_group(a, b) for a in ours for b in theirs):
        return "words that say what the code must do differ"
    if any(turned(a, b) for a in left for b in right):
        return "words that say what the code must do are opposites"
    return ""


def _weight(left: list[str], right: list[str], near_lost: list[str], near_gained: list[str]) -> str:
    """Why what came or went in one place is no mere wording; empty if it is."""
    from stepcache._gate.spelling import known

    for side, other, near in ((left, right, near_lost), (right, left, near_gained)):
        if not other and any(weighty(word) and not _repeats(word, near) for word in side):
            return "words that say what the code must do were added or dropped"
    plain = [[word for word in side if known(word)] for side in (left, right)]
    if abs(len(plain[0]) - len(plain[1])) > _MAX_RUN:
        return "a demand was added or dropped"
    return ""


def _repeats(word: str, near: list[str]) -> bool:
    """Whether a word only says again what stands beside it."""
    from stepcache._gate.spelling import inflection_of

    return any(
        inflection_of(word, other) or same_group(word, other) or other in _IMPLYING.get(word, ()) for other in near
    )
