"""Whether two names of a function promise the same thing, given the docstring both requests share.

A name can be the whole meaning of a request ("is_even", "is_odd" over one vague docstring), so a changed name is
taken for a mere renaming only with evidence: the same words, or words that the docstring says anyway, or an example
that pins the result down. Anything else is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = [
    "is_misspelt",
    "of_the_trade",
    "promise_the_same",
    "same_group",
    "same_word",
    "turned",
    "weighty",
    "words_of",
]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MIN_TYPO = 5  # letters; a slip in a shorter word is too often another word
_MIN_STEM = 3
_LETTERS_A_SLIP = 8  # one slip more is forgiven for every so many letters of a name
_TRIVIAL = frozenset(
    {"true", "false", "none", "null", "0", "1", "-1", "0.0", "1.0", "[]", "{}", "()", "set()", "''", '""', ""}
)

# Words of a name that say nothing about what the function does.
_IDLE_WORDS = """
    a an the of to for from in on at by and with as given some this that it its my our your new
    func function fn method routine procedure proc program solution solve solver task problem exercise answer main run
    do does doing perform execute apply process handle compute calculate calc determine evaluate derive obtain get fetch
    find return returns give produce make build helper util utility impl implementation example demo sample result
    results value values output input foo bar baz qux quux spam ham f g h fun
"""
_IDLE = frozenset(_IDLE_WORDS.split())
# Words programmers put for one another in names.
_SYNONYMS = (
    "add sum plus total addition", "subtract sub minus difference", "multiply mul times product",
    "divide div quotient", "max maximum largest biggest greatest highest", "min minimum smallest least lowest",
    "len length size", "num number nr", "count counter", "avg average mean", "str string text", "idx index position",
    "list lst array arr", "dict dictionary map mapping", "char character letter", "fact factorial", "fib fibonacci",
    "remove delete drop erase", "reverse reversed flip", "concat concatenate join", "check test verify validate is",
    "create make build construct", "search locate lookup find", "freq frequency", "int integer", "elem element item",
    "pow power exponentiate", "sort order arrange", "uniq unique distinct", "dup duplicate",
    "example exemplar instance",
)  # fmt: skip
_SYNONYM = {word: group.split()[0] for group in _SYNONYMS for word in group.split()}
# Different words of one group never stand for one another, whatever else agrees.
_CONTRASTS = (
    "min minimum smallest least lowest max maximum largest biggest greatest highest median mean mode",
    "even odd", "row rows column columns col cols", "upper lower", "uppercase lowercase", "first last second third",
    "ascending descending asc desc", "push pop peek", "sin cos tan", "left right", "top bottom", "up down",
    "add subtract multiply divide sum difference product quotient remainder modulo", "union intersection",
    "prefix suffix", "start end begin finish", "head tail", "area perimeter volume circumference", "get set",
    "read write", "load save store", "any all none", "json xml yaml csv html", "hex bin oct dec binary octal decimal",
    "celsius fahrenheit kelvin", "gcd lcm", "floor ceil round", "and or xor not", "key value", "keys values items",
    "dfs bfs", "stack queue", "open close", "before after", "next previous prev", "enable disable", "show hide",
    "increase decrease increment decrement", "insert remove append delete", "vowel vowels consonant consonants",
    "positive negative", "odd prime square cube", "horizontal vertical", "width height depth", "day month year",
    "hour minute second", "parent child", "preorder inorder postorder", "row diagonal",
    "same different equal unequal", "more fewer less most least", "above below", "with without",
)  # fmt: skip
_NEGATIONS = frozenset({"not", "no", "non", "without", "never", "except", "exclude", "excluding", "isnt", "un", "anti"})
_OPPOSITE_PREFIXES = (
    "un", "in", "im", "ir", "il", "dis", "de", "en", "non", "anti", "re", "pre", "post", "sub", "super",
)  # fmt: skip
# (arguments) and the result, after a sign on the same line or alone on the next one
_CALL = re.compile(
    r"\(([^\n]{1,400}?)\)[ \t]*"
    r"(?:(?:==|=>|->|➞|=|#|returns?|should return|is)[ \t]*([^\n]{1,200})|\r?\n[ \t]*([^\n]{1,200}))"
)


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: `getHTTPCode2` and `get_http_code_2` are get, http, code, 2."""
    found = tuple(word.lower() for word in _WORD.findall(name))
    return found or (name.lower(),)


def promise_the_same(old: str, new: str, docstring: str) -> bool:
    """Whether a function asked for as `old` may be given for `new`, where all else of the requests agrees.

    `docstring` is the new request's.
    """
    ours, theirs = words_of(old), words_of(new)
    if ours == theirs or "".join(ours) == "".join(theirs):
        return True
    if _reordered(ours, theirs):
        return _has_telling_example(docstring, new)
    only_old, only_new = _leftovers(ours, theirs)
    one_sided = {*only_old, *only_new}
    if one_sided & _NEGATIONS or any(word.isdigit() for word in one_sided) or _contrast(ours, theirs):
        return False
    said = {word.lower() for word in _WORD.findall(docstring)}
    if len(only_old) == len(only_new) and all(
        _is_form(a, b) or _is_slip(a, b, said) or same_group(a, b) for a, b in zip(only_old, only_new, strict=True)
    ):
        return True
    if all(word in _IDLE or _is_said(word, said) for word in one_sided):
        return bool(said - _IDLE)
    return _has_telling_example(docstring, new)


def same_word(a: str, b: str) -> bool:
    """Whether two words in lower case are one word in two inflections ("remove", "removes")."""
    return a == b or (min(len(a), len(b)) > _MIN_STEM and _is_form(a, b))


def is_misspelt(token: str, name: str) -> bool:
    """Whether a token is the name with odd capitals, another inflection or slips that make no other word of it."""
    if token.lower() == name.lower():
        return True
    theirs, ours = (words_of(text.lower()) for text in (token, name))
    if "_" not in name or len(theirs) != len(ours):
        return False
    from stepcache._gate.spelling import distance, inflection_of, known

    allowed = 1 + len(name) // _LETTERS_A_SLIP
    pairs = [(a, b) for a, b in zip(theirs, ours, strict=True) if a != b and not inflection_of(a, b)]
    if any(not a.isalpha() or not b.isalpha() or known(a) for a, b in pairs):
        return False
    return sum(distance(a, b, allowed) for a, b in pairs) <= allowed


def _leftovers(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[list[str], list[str]]:
    rest = list(theirs)
    only_old = []
    for word in ours:
        if word in rest:
            rest.remove(word)
        else:
            only_old.append(word)
    return only_old, rest


def _reordered(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether shared words that say something stand in another order: km_to_miles, miles_to_km.

    Not so in depth_of_nesting and nesting_depth, where "of" turns them.
    """
    if ("of" in ours) != ("of" in theirs):
        return False
    mine, others = ([word for word in side if word not in _IDLE] for side in (ours, theirs))
    mine = [next((other for other in others if _is_form(word, other)), "") for word in mine]
    places = [others.index(word) for word in mine if word]
    return places != sorted(places)


def _contrast(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    return any(turned(a, b) for a in set(ours) - set(theirs) for b in set(theirs) - set(ours))


def turned(a: str, b: str) -> bool:
    """Whether one word can't stand for the other: opposites, and different members of one family."""
    from stepcache._gate.tables import opposites  # the gate's tables are read on first use

    if frozenset((a, b)) in opposites() or _stripped(a) == _stripped(b) != "":
        return True
    return not same_group(a, b) and any({a, b} <= group for group in _CONTRAST_SETS)


_HEAVY_WORDS = """
list tuple set dict dictionary string number integer float decimal fraction character letter digit word array matrix
sentence line index key tree graph sum product prime square cube root power factorial fibonacci vowel consonant
palindrome anagram sort sorted reverse reversed rotate shift swap duplicate unique distinct repeated common missing
true false return print yield raise ignore skip exclude include except keep remove replace count length width height
area perimeter volume not without never only strictly inclusive exclusive empty consecutive adjacent neighbouring
alphabetical lexicographic recursive recursively iteratively insensitive sensitive rounded absolute divisible multiple
divisor longest shortest longer shorter increasing decreasing monotonic upper lower uppercase lowercase before after
"""
# Too common to weigh where they come or go, yet never another word for one that weighs: the index, the value.
_LIGHT_WORDS = """
get set all any none and or second third read write show store mode pop name day sub head values value minute hour start
average perfect whole half item pair entry node edge loop range ratio percentage table field record object class module
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())
_WEIGHTY = frozenset(_HEAVY_WORDS.split()) | frozenset(word for group in _CONTRASTS for word in group.split()) - _LIGHT
_CONTRAST_SETS = tuple(frozenset(group.split()) for group in _CONTRASTS)


def _stripped(word: str) -> str:
    """The word without a prefix that can turn it round: encode and decode, equal and unequal meet in one stem."""
    for prefix in _OPPOSITE_PREFIXES:
        if word.startswith(prefix) and len(word) - len(prefix) >= _MIN_STEM:
            return word[len(prefix) :]
    return word


def same_group(a: str, b: str) -> bool:
    """Whether programmers put one of the words for the other."""
    return any(_SYNONYM.get(x) is not None and _SYNONYM.get(x) == _SYNONYM.get(y) for x in _forms(a) for y in _forms(b))


def weighty(word: str) -> bool:
    """Whether a word says what code must do: a type, an operation, an order, an extreme, a condition."""
    return not _WEIGHTY.isdisjoint(_forms(word))


def of_the_trade(word: str) -> bool:
    """Whether programmers mean something of its own by a word, so that it is no loose wording for another one."""
    return weighty(word) or not _LIGHT.isdisjoint(_forms(word))


def _forms(word: str) -> set[str]:
    """The word and what is left of it without an ending of inflection."""
    found = {word}
    for ending, instead in (
        ("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
    ):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM - 1:
            stem = word.removesuffix(ending)
            found.add(stem + instead)
            if ending in {"ed", "ing"} and len(stem) > _MIN_STEM and stem[-1] == stem[-2]:
                found.add(stem[:-1])
    irregular = {"is": "be", "are": "be", "was": "be", "been": "be", "has": "have", "had": "have", "does": "do"}
    return found | ({irregular[word]} if word in irregular else set())


def _is_form(a: str, b: str) -> bool:
    return bool(_forms(a) & _forms(b))


def _is_slip(a: str, b: str, said: Collection[str] = ()) -> bool:
    """One letter wrong, missing, added or two exchanged, and at least one of the two is no English word.

    Short words need one of the two in the docstring as well (`said`): too many are a slip away from each other.
    """
    shortest = min(len(a), len(b))
    if not _one_edit(a, b) or shortest < _MIN_TYPO - 1 or (shortest < _MIN_TYPO and a not in said and b not in said):
        return False
    from stepcache._gate.tables import known_words

    known = known_words()
    return not (bool(_forms(a) & known) and bool(_forms(b) & known))


def _one_edit(a: str, b: str) -> bool:
    if len(a) > len(b):
        a, b = b, a
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) != len(b):
        return len(b) - len(a) == 1 and a[at:] == b[at + 1 :]
    return a[at + 1 :] == b[at + 1 :] or (a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :])


def _is_said(word: str, said: set[str]) -> bool:
    if len(word) < _MIN_STEM:
        return word in said
    forms = _forms(word)
    return any(
        bool(forms & _forms(other)) or other.startswith(word) or same_group(word, other) or _is_slip(word, other)
        for other in said
    )


def _has_telling_example(docstring: str, name: str) -> bool:
    """Whether the docstring shows a call whose result is neither trivial nor simply one of its arguments."""
    for at in re.finditer(rf"(?<![\w.]){re.escape(name)}(?=\()", docstring):
        example = _CALL.match(docstring, at.end())
        if example is None:
            continue
        result = (example.group(2) or example.group(3) or "").strip().rstrip(".")
        if result.lower() not in _TRIVIAL and result not in example.group(1) and not result.startswith(">>>"):
            return True
    return False
