"""From text to the sequence of canonical tokens that the rules compare. Pure; the caller decides what to remember."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from stepcache._gate import numerals
from stepcache._gate.phrases import rewrite, settle
from stepcache._gate.spelling import known, singular
from stepcache._gate.tables import Language, language
from stepcache._gate.token import Token
from stepcache._gate.tokens import Piece, pieces, quotations

__all__ = ["Parsed", "Token", "parse", "parse_plainly"]

_CURRENCIES: Final = {"$": "dollar", "€": "euro", "£": "£", "¥": "¥", "₹": "rupee", "₽": "₽", "₿": "bitcoin", "¢": "cent"}
_FORMAL: Final = frozenset({"sie", "ihr", "ihre", "ihnen", "ihren", "ihrem", "ihrer", "ihres"})  # you, with a capital


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as the rules see it."""

    text: str
    language: str
    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    quotes: tuple[str, ...]
    casing: str  # "upper", "lower" or "mixed"

    @property
    def canonical(self) -> str:
        return " ".join(self.keys)


def parse(text: str, name: str) -> Parsed:
    """The tokens of a unified text; `name` is one of the known languages, or "" for none, which rewrites no word."""
    return _parse(text, name, rewrite)


def parse_plainly(text: str, name: str) -> Parsed:
    """The tokens in the order in which they stand, requests and questions as they are worded."""
    return _parse(text, name, settle)


def _parse(text: str, name: str, arrange: Callable[[list[Token], Language], list[Token]]) -> Parsed:
    casing = "upper" if text.isupper() and len(text) > 1 else "lower" if text == text.lower() else "mixed"
    text = _unwrap(text.strip())
    if name == "en":
        text = _APART.sub(r"\1", text)
    cut = pieces(text)
    if name:
        tokens = arrange(_Reader(cut, language(name), casing).read(), language(name))
    else:
        tokens = [_literal(piece) for piece in cut]
    return Parsed(
        text=text,
        language=name,
        tokens=tuple(tokens),
        keys=tuple(token.key for token in tokens),
        quotes=tuple(" ".join(text[start:stop].split()) for start, stop in quotations(text)),
        casing=casing,
    )


# A tokeniser's "what 's" and "do n't".
_APART: Final = re.compile(r"(?<=\w) ('(?:s|re|ve|m|ll|d)|n't)\b")


def _unwrap(text: str) -> str:
    """The text without one pair of quotation marks around all of it."""
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        return text[1:-1].strip()
    return text


def _literal(piece: Piece) -> Token:
    key = piece.text if piece.kind in {"code", "identifier", "address"} else piece.text.lower()
    what = {"word": "word", "number": "number", "symbol": "symbol", "code": "code"}.get(piece.kind, "identifier")
    return Token(key, what, piece.text, piece.start, piece.quoted, piece.after)


class _Reader:
    """Reads the pieces of one text from left to right in one language."""

    def __init__(self, cut: list[Piece], tables: Language, casing: str) -> None:
        self.cut = cut
        self.tables = tables
        self.casing = casing
        self.out: list[Token] = []
        self.words: list[str] = []

    def read(self) -> list[Token]:
        self.cut = _drop_hyphens(self.cut, self.tables)
        if self.tables.name == "fr":
            self.cut = _split_elisions(self.cut)
        self.words = [piece.text.lower() if piece.kind == "word" and not piece.quoted else "" for piece in self.cut]
        at = 0
        while at < len(self.cut):
            at = self._step(at)
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
        if piece.quoted:
            self._emit(piece.text.lower(), "quote", piece)
            return at + 1
        return self._word(at)

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
            and (following.text in _CURRENCIES or self.tables.units.get(following.text.lower()) in _CURRENCIES.values())
        )
        boxed = before in {"(", "["} and piece.glued
        value = piece.text if boxed else numerals.digits(piece.text, self.tables.name != "en", money)
        at += 1
        if following is not None and following.glued and following.kind == "word":
            if numerals.ordinal_suffix(value, following.text, self.tables.name):
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
        elif text in numerals.SIGNS:
            self._emit(numerals.SIGNS[text], "number", piece)
        elif text == "&" and not piece.glued and self.tables.name == "en":
            self._emit("and", "conjunction", piece)
        else:
            self._emit(text, "symbol", piece)
        return at + 1

    def _word(self, at: int) -> int:
        piece = self.cut[at]
        word = piece.text.lower()
        tables = self.tables
        if self.words[at] and (word in tables.number_starts or (tables.name == "de" and len(word) > 5)):
            run = self._run(at)
            found = numerals.spelled(run, tables)
            if found is not None:
                value, used = found
                after = self.cut[at + used - 1].after
                tail = self.words[at + used] if at + used < len(self.words) else ""
                if tables.name == "en" and value and value % 10 == 0 and tail in tables.ordinals and not after:
                    self._emit(f"{value + tables.ordinals[tail]}.", "number", piece, self.cut[at + used].after)
                    return at + used + 1
                self._emit(str(value), "number", piece, after)
                return self._unit(at + used)
        if word in {"a", "an"} and tables.name == "en" and at + 1 < len(self.words):
            if self.words[at + 1] in tables.scales or self.words[at + 1] in {"half", "dozen"}:
                return at + 1
        if word in tables.ordinals:
            self._emit(f"{tables.ordinals[word]}.", "number", piece)
            return at + 1
        if word in tables.halves:
            self._emit("0.5", "number", piece)
            return at + 1
        if word == "a" and piece.text == "A" and not piece.start and self.casing == "mixed":
            self._emit("A", "name", piece)
            return at + 1
        if word in tables.units and not piece.quoted:
            self._emit(tables.units[word], "unit", piece)
            return at + 1
        if tables.name == "en":
            word = self._without_possessive(word, piece)
        key = tables.forms.get(word, word)
        if tables.name == "de" and word in _FORMAL and piece.text[0].isupper() and self.casing == "mixed":
            key = word if piece.start else piece.text.capitalize()
        self._emit(key, self._what(piece, word, key), piece)
        return at + 1

    def _without_possessive(self, word: str, piece: Piece) -> str:
        """cat's and cats' as cat, and the noun after "all" as the one after "every"."""
        if word.endswith("'s") and word not in self.tables.phrases:
            return word[:-2]
        possessive = piece.after.startswith("'") and word.endswith("s")
        general = bool(self.out) and self.out[-1].key == "every" and not self.out[-1].after
        return singular(word) if possessive or general else word

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

    def _what(self, piece: Piece, word: str, key: str) -> str:
        named = piece.text[:1].isupper() and not piece.start and self.casing == "mixed"
        found = self.tables.classes.get(key) or self.tables.classes.get(word)
        if found is not None:
            return found
        return "name" if named and self.tables.name != "de" else "word"


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
            if dash and len(before.text) > 1 and len(following.text) > 1:
                continue
        kept.append(piece)
    return kept
