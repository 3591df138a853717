"""Read the pieces of a text as canonical tokens: numbers, units, dates, words in their base form."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from stepcache._gate import numerals
from stepcache._gate.dates import join_dates
from stepcache._gate.pieces import Piece, pieces
from stepcache._gate.spelling import known, singular
from stepcache._gate.tables import Language, commands, language
from stepcache._gate.token import Token

__all__ = ["read"]

_CURRENCIES: Final = {
    "$": "dollar",
    "€": "euro",
    "£": "£",
    "¥": "¥",
    "₹": "rupee",
    "₽": "₽",
    "₿": "bitcoin",
    "¢": "cent",
}
_LETTER_LANGUAGE: Final = re.compile(r"[A-Za-z](?:\+\+|#)")  # C++, c#
_CALLS: Final = frozenset({"(", "[", "=", "==", "->", "::", ":=", "++", "--", "{"})
_LONGEST: Final = 48
_NO: Final = frozenset({"no", "nein", "non"})
_FORMAL: Final = frozenset({"sie", "ihr", "ihre", "ihnen", "ihren", "ihrem", "ihrer", "ihres"})  # you, with a capital
_MONEY: Final = frozenset(_CURRENCIES.values())


@lru_cache(maxsize=8192)
def _look_up(text: str, name: str) -> tuple[str, str, str, bool]:
    """Word in lower case, key, kind ("" for none of its own) and whether its surroundings have to be looked at."""
    tables = language(name)
    word = text.lower()
    key = tables.forms.get(word, word)
    odd = (
        word in tables.special
        or word in _NO
        or (name == "en" and (word[-1] == "s" or word == "may"))
        or (name == "de" and (len(word) > 5 or word in _FORMAL))
    )
    return word, key, tables.classes.get(key) or tables.classes.get(word) or "", odd


def read(cut: list[Piece], tables: Language, casing: str) -> list[Token]:
    """The tokens of the pieces in one language; `casing` is that of the whole text."""
    cut = _drop_hyphens(cut, tables)
    if tables.name == "fr":
        cut = _split_elisions(cut)
    return join_dates(_Reader(cut, tables, casing).read(), tables)


class _Reader:
    """Reads the pieces of one text from left to right in one language."""

    def __init__(self, cut: list[Piece], tables: Language, casing: str) -> None:
        self.cut = cut
        self.tables = tables
        self.casing = casing
        self.out: list[Token] = []
        self.words = [piece.text.lower() if piece.kind == "word" and not piece.quoted else "" for piece in cut]

    def read(self) -> list[Token]:
        """Every piece, read once."""
        at, end = 0, len(self.cut)
        while at < end:
            piece = self.cut[at]
            at = self._word(at) if piece.kind == "word" and not piece.quoted else self._step(at)
        return self.out

    def _emit(self, key: str, what: str, piece: Piece, after: str = "") -> None:
        self.out.append(Token(key, what, piece.text, piece.start, piece.quoted, after or piece.after))

    def _step(self, at: int) -> int:
        """Read what begins at `at`; return where to go on."""
        piece = self.cut[at]
        if piece.kind == "code":
            return self._code(at)
        if piece.kind in {"identifier", "address"}:
            return self._identifier(at)
        if piece.kind in {"date", "time"}:
            self._emit(piece.text, "calendar", piece)
            return at + 1
        if piece.kind == "number":
            return self._number(at)
        if piece.kind == "symbol":
            return self._symbol(at)
        self._emit(piece.text.lower(), "quote", piece)
        return at + 1

    def _code(self, at: int) -> int:
        piece = self.cut[at]
        if "\n" in piece.text:
            self._emit(piece.text, "code", piece)
        else:
            for inner in pieces(piece.text):
                self._emit(inner.text, "identifier", inner._replace(quoted=True, start=piece.start))
        return at + 1

    def _identifier(self, at: int) -> int:
        piece = self.cut[at]
        text = piece.text
        base = text.removesuffix("'s").removesuffix("'S")
        if _LETTER_LANGUAGE.fullmatch(text):
            self._emit(text.upper(), "name", piece)
            return at + 1
        if base.lower() in self.tables.brands and not piece.quoted:
            self._emit(base.lower(), "name", piece)
            return at + 1
        if base.isalpha() and not piece.quoted and self.tables.name == "en" and known(base.lower()):
            return self._word(at)  # a word with random capitals
        self._emit(text, "identifier", piece)
        return at + 1

    def _number(self, at: int) -> int:
        piece = self.cut[at]
        before = self.cut[at - 1].text if at else ""
        following = self.cut[at + 1] if at + 1 < len(self.cut) else None
        money = before in _CURRENCIES or (
            following is not None
            and (following.text in _CURRENCIES or self.tables.units.get(following.text.lower()) in _MONEY)
        )
        boxed = before in {"(", "["} and piece.glued
        value = piece.text if boxed else numerals.digits(piece.text, self.tables.name != "en", money)
        at += 1
        if following is not None and following.glued and numerals.is_ordinal(value, following.text, self.tables.name):
            self._emit(f"{value}.", "number", piece, following.after)
            return at + 1
        if following is not None and following.kind == "word" and following.text.lower() in self.tables.scales:
            scaled = numerals.scaled(value, self.tables.scales[following.text.lower()])
            if scaled is not None:
                self._emit(scaled, "number", piece, following.after)
                return self._unit(at + 1)
        if following is not None and following.text == "/" and following.glued and at + 1 < len(self.cut):
            quotient = numerals.quotient(value, self.cut[at + 1].text)
            if quotient is not None:
                self._emit(quotient, "number", piece, self.cut[at + 1].after)
                return self._unit(at + 2)
        self._emit(value, "number", piece)
        if before in _CURRENCIES:
            self._emit(_CURRENCIES[before], "unit", piece)
            return at
        return self._unit(at)

    def _unit(self, at: int) -> int:
        """Read a unit sign or word right after a number."""
        if at >= len(self.cut):
            return at
        piece = self.cut[at]
        text = piece.text
        if text in _CURRENCIES:
            self._emit(_CURRENCIES[text], "unit", piece)
            return at + 1
        if piece.quoted or piece.start:
            return at
        if text == "°" and at + 1 < len(self.cut) and self.cut[at + 1].glued:
            self._emit({"C": "celsius", "F": "fahrenheit"}.get(self.cut[at + 1].text, "°"), "unit", piece)
            return at + (2 if self.cut[at + 1].text in {"C", "F"} else 1)
        if piece.kind != "word" or len(text) > 4:
            return at
        slash = self.cut[at + 1 : at + 3]
        if len(slash) == 2 and slash[0].text == "/" and slash[0].glued and slash[1].glued:
            whole = f"{text}/{slash[1].text}"
            if whole in self.tables.short_units:
                self._emit(self.tables.short_units[whole], "unit", piece, slash[1].after)
                return at + 3
        unit = self.tables.short_units.get(text)
        if unit is not None and self._may_be_unit(piece, at):
            self._emit(unit, "unit", piece)
            return at + 1
        if len(text) <= 2 and text != text.lower() and self.casing == "mixed":
            self._emit(text, "unit", piece)
            return at + 1
        return at

    def _may_be_unit(self, piece: Piece, at: int) -> bool:
        """Whether a sign that is also a word (in, a, am) stands for the unit: glued, or nothing follows it."""
        if piece.text not in self.tables.common or piece.glued:
            return True
        return bool(piece.after) or at + 1 == len(self.cut)

    def _symbol(self, at: int) -> int:
        piece = self.cut[at]
        text = piece.text
        following = self.cut[at + 1] if at + 1 < len(self.cut) else None
        if text in _CURRENCIES and following is not None and following.kind == "number":
            return at + 1
        if text == "%":
            self._emit("%", "unit", piece)
        elif text == "&" and not piece.glued and self.tables.name == "en":
            self._emit("and", "conjunction", piece)
        else:
            self._emit(text, "symbol", piece)
        return at + 1

    def _word(self, at: int) -> int:
        piece = self.cut[at]
        _, text, start, _, _, after = piece
        if at + 1 < len(self.cut) and self.cut[at + 1].glued and self.cut[at + 1].text in _CALLS:
            self._emit(text, "identifier", piece)  # f(x), a[0], n=3: a name in code, whose case counts
            return at + 1
        if len(text) == 1 and (self._beside(at, at - 1, "[") or self._beside(at + 1, at + 1, "]")):
            self._emit(text, "identifier", piece)  # [a-z] is not [A-Z]
            return at + 1
        look_up = _look_up if len(text) <= _LONGEST else _look_up.__wrapped__  # only words are remembered, not novels
        word, key, what, odd = look_up(text, self.tables.name)
        if odd:
            then = self._special(at, word)
            if then:
                return then
            key, what = self._odd(piece, word)
        elif not what:
            named = not start and text[0].isupper() and self.casing == "mixed" and self.tables.name != "de"
            what = "name" if named else "word"
        self.out.append(Token(key, what, text, start, False, after))
        return at + 1

    def _odd(self, piece: Piece, word: str) -> tuple[str, str]:
        """Key and kind of a word whose capital, ending or comma matters."""
        tables = self.tables
        if word[-1] == "s" and tables.name == "en":
            word = self._without_possessive(word, piece)
        key = tables.forms.get(word, word)
        if word in _FORMAL and tables.name == "de" and piece.text[0].isupper() and self.casing == "mixed":
            key = word if piece.start else piece.text.capitalize()
        if word in _NO and piece.after[:1] == ",":
            key = word + ","  # "no, prices" answers, "no prices" denies
        if key == "may" and tables.name == "en":
            return key, "calendar" if piece.text == "May" and not piece.start else "modality"
        named = not piece.start and self.casing == "mixed" and tables.name != "de" and piece.text[0].isupper()
        return key, tables.classes.get(key) or tables.classes.get(word) or ("name" if named else "word")

    def _beside(self, glued: int, at: int, sign: str) -> bool:
        """Whether a sign stands right beside a word: the piece `at` is that sign and the one at `glued` is glued."""
        return 0 <= at < len(self.cut) and self.cut[at].text == sign and self.cut[glued].glued

    def _is_percent(self, word: str) -> bool:
        """Whether this is the second word of "pour cent" or "por ciento", which is no hundred."""
        return word in {"cent", "ciento", "cento"} and bool(self.out) and self.out[-1].key in {"pour", "por"}

    def _special(self, at: int, word: str) -> int:
        """Read a number word, ordinal, unit or the name A; return where to go on, or 0 if it is none of these."""
        piece, tables = self.cut[at], self.tables
        if word in numerals.SIGNS:
            self._emit(numerals.SIGNS[word], "number", piece)
            return self._unit(at + 1)
        if self._is_percent(word):
            self.out[-1] = Token("%", "unit", piece.text, False, False, piece.after)
            return at + 1
        if word not in tables.special and tables.name != "de":
            return 0
        found = numerals.spelled(self._run(at), tables)
        if found is not None:
            value, used = found
            last = self.cut[at + used - 1]
            tail = self.words[at + used] if at + used < len(self.words) else ""
            if tables.name == "en" and value and value % 10 == 0 and tail in tables.ordinals and not last.after:
                self._emit(f"{value + tables.ordinals[tail]}.", "number", piece, self.cut[at + used].after)
                return at + used + 1
            self._emit(str(value), "number", piece, last.after)
            return self._unit(at + used)
        if word in {"a", "an"}:
            following = self.words[at + 1] if at + 1 < len(self.words) else ""
            if following in tables.scales or following in tables.halves or following == "dozen":
                return at + 1
            if piece.text != "A" or piece.start or self.casing != "mixed":
                return 0
            self._emit("A", "name", piece)
        elif word in tables.ordinals:
            self._emit(f"{tables.ordinals[word]}.", "number", piece)
        elif word in tables.halves:
            self._emit("0.5", "number", piece)
        elif word in tables.units:
            self._emit(tables.units[word], "unit", piece)
        else:
            return 0
        return at + 1

    def _without_possessive(self, word: str, piece: Piece) -> str:
        """cat's and cats' as cat, and the noun after "all" as the one after "every"."""
        if word[-2:] == "'s" and word not in self.tables.phrases:
            return word[:-2]
        general = bool(self.out) and self.out[-1].key == "every" and not self.out[-1].after
        return singular(word) if general or piece.after.startswith("'") else word

    def _run(self, at: int) -> list[str]:
        """The unquoted words from `at` on that no punctuation parts."""
        run = []
        for index in range(at, min(at + 16, len(self.cut))):
            if not self.words[index]:
                break
            run.append(self.words[index])
            if self.cut[index].after:
                break
        return run


def _wordy(piece: Piece) -> bool:
    return piece.kind == "word" or (piece.kind == "identifier" and piece.text.isalpha())


_ELIDED: Final = frozenset({"l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quelqu"})


def _split_elisions(cut: list[Piece]) -> list[Piece]:
    """French l'eau as le + eau, so that the noun stands alone."""
    out = []
    for piece in cut:
        head, mark, tail = piece.text.partition("'")
        if piece.kind == "word" and mark and tail and not piece.quoted and head.lower() in _ELIDED:
            out.append(piece._replace(text=head, after=""))
            out.append(piece._replace(text=tail, start=False, glued=True))
        else:
            out.append(piece)
    return out


def _drop_hyphens(cut: list[Piece], tables: Language) -> list[Piece]:
    """Without hyphens inside words (upper-level) and dashes between clauses; minus signs stay."""
    kept: list[Piece] = []
    skip = False
    for index, piece in enumerate(cut):
        if skip:
            skip = False
            continue
        if piece.text == "-" and kept and index + 1 < len(cut) and not piece.quoted:
            before, following = kept[-1], cut[index + 1]
            inside = piece.glued and following.glued and _wordy(following) and len(following.text) > 1
            whole = f"{before.text}-{following.text}"
            if inside and whole.lower() in tables.hyphenated:
                kept[-1] = before._replace(text=whole, after=following.after)
                skip = True
                continue
            if inside and (before.kind == "number" or _wordy(before)) and len(before.text + following.text) > 3:
                continue
            dash = not piece.glued and not following.glued and before.kind == following.kind == "word"
            if dash and len(before.text) > 1 and len(following.text) > 1 and before.text not in commands():
                continue
        kept.append(piece)
    return kept
