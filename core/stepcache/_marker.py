"""The list markers of many languages and scripts: "1.", "Step 2:", "③", "第一步", "-". Reads one line; cuts nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["Mark", "read_mark"]


@dataclass(frozen=True, slots=True)
class Mark:
    """The marker that opens a line.

    `text` is the marker as written ("2)", "Step 2 -", "•"); markers of one series share `style`; `value` is its
    number, None for a bullet; `indent` the columns before it; `level` the heading level (0 outside headings);
    `start` and `end` its place in the text; `rank` orders what may hold what (a bullet 0, a number 1, a word such
    as "Step 2" 2, a numbered heading 3).
    """

    text: str
    style: str
    value: int | None
    indent: int
    level: int
    start: int
    end: int

    @property
    def rank(self) -> int:
        if self.value is None:
            return 0
        if self.level:
            return 3
        return 2 if self.style.startswith("word ") else 1


# "Step" in the languages whose replies number their steps with a word before the digit.
_WORDS = (
    "step|schritt|paso|[ée]tape|passo|stap|steg|skritt|trin|krok|lépés|vaihe|adım|aşama|langkah|bước|pas|koraak|"
    "phase|fase|шаг|этап|крок|стъпка|βήμα|שלב|צעד|الخطوة|خطوة|گام|مرحله|مرحلہ|चरण|पायरी|ধাপ|ਕਦਮ|પગલું|படி|దశ|ಹಂತ|"
    "ഘട്ടം|ขั้นตอนที่|ขั้นที่|ステップ|手順|步骤|步驟|단계|hatua|hakbang"
)
_LABELS = (  # words that number parts only when a sign or the end of the line follows ("Day 1:")
    "day|tag|día|jour|giorno|dag|week|woche|semana|semaine|part|teil|parte|partie|stage|etappe|stufe|tip|tipp|consejo|"
    "conseil|chapter|kapitel|lesson|task|aufgabe|option|method|methode|round|runde"
)
_ORDINALS = (  # one row a language; the place in the row is the number
    "first second third fourth fifth sixth seventh eighth ninth tenth",
    "firstly secondly thirdly fourthly fifthly",
    "erstens zweitens drittens viertens fünftens sechstens siebtens achtens neuntens zehntens",
    "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo",
    "premièrement deuxièmement troisièmement quatrièmement cinquièmement sixièmement",
    "첫째 둘째 셋째 넷째 다섯째 여섯째 일곱째 여덟째 아홉째 열째",
    "أولاً ثانياً ثالثاً رابعاً خامساً سادساً سابعاً ثامناً تاسعاً عاشراً",
    "أولا ثانيا ثالثا رابعا خامسا سادسا سابعا ثامنا تاسعا عاشرا",
)
_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten",
    "eins zwei drei vier fünf sechs sieben acht neun zehn",
    "uno dos tres cuatro cinco seis siete ocho nueve diez",
    "un deux trois quatre cinq six sept huit neuf dix",
)
_MONTHS = (
    "jan|feb|m[äa]r|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc]|ene|abr|ago|dic|janv|févr|avr|juin|juil|août|déc"
)


def _numbered(rows: tuple[str, ...]) -> dict[str, int]:
    return {word: place for row in rows for place, word in enumerate(row.split(), 1)}


_ORDINAL_VALUES = _numbered(_ORDINALS)
_WORD_VALUES = _numbered(_NUMBER_WORDS)
_KOREAN_TH = {"첫": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10}
_HAN = "零一二三四五六七八九"

_HIDDEN = "\u061c\u200b-\u200f\u2060\u202a-\u202e\u2066-\u2069\ufeff"  # direction marks, zero widths, byte order mark
_GAP = "[ \t\u00a0\u202f\u3000]"
_CAPITAL = "(?-i:[A-ZÄÖÜÉ][^\\W\\d_]|[\u0400-\u04ff\u0590-\u06ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3])"
_AFTER = r"(?=\s|[*_]|\Z)"

_MARK = re.compile(
    rf"(?P<indent>(?:{_GAP}|[{_HIDDEN}])*+)"
    rf"(?:(?P<hash>\#{{1,6}}){_GAP}++)?"
    rf"(?:[*_]{{1,3}}+(?=\S))?+"
    rf"(?P<mark>"
    rf"(?P<bullet>[-*+•‣◦▪▸►●○■□–✓✔✅➤➢→·∙・]){_AFTER}"
    rf"|(?P<word>{_WORDS}){_GAP}{{0,3}}[#№]?(?P<of>\d{{1,4}}|{'|'.join(_WORD_VALUES)}|[{_HAN}十]{{1,3}})"
    rf"(?![^\W_]|[.,]\d)"
    rf"(?:{_GAP}{{0,2}}(?:[:：.)．、]|[-–—]{_AFTER}))?"
    rf"|(?P<label>{_LABELS}){_GAP}{{1,3}}(?P<nr>\d{{1,3}})(?:{_GAP}?[:.)](?!\d)|{_GAP}?[-–—]{_AFTER}|(?=[*_]*{_GAP}*(?:[\r\n]|\Z)))"
    rf"|第{_GAP}?(?P<han>\d{{1,3}}|[{_HAN}十]{{1,3}}){_GAP}?(?:步[骤驟]?|歩|ステップ|[点點]|(?=[、，,：:]))[：:、，,.]?"
    rf"|(?P<dan>\d{{1,3}})단계(?:[:：.)]|{_AFTER})"
    rf"|(?P<th>{'|'.join(_KOREAN_TH)}){_GAP}?번째(?:{_GAP}?단계)?[:：,.]?"
    rf"|(?P<ordinal>{'|'.join(sorted(_ORDINAL_VALUES, key=len, reverse=True))})(?:[,:،、，：.]|(?<=째){_AFTER})"
    rf"|(?P<hanlist>[{_HAN}十]{{1,3}})、"
    rf"|(?P<ring>[\u2460-\u249b\u24f5-\u24fe\u2776-\u2793\u3220-\u3229\u3280-\u3289]|\d\ufe0f?\u20e3)"
    rf"|(?P<open>[(（])(?:(?P<inner>\d{{1,9}})|(?P<innerletter>[a-zA-Z]))[)）]{_AFTER}"
    rf"|[#№]?(?P<number>\d{{1,9}})(?:(?:[.:]|\.?\)){_AFTER}(?!{_GAP}\d{{1,2}}\.{_GAP}?\d{{4}}(?!\d))"
    rf"(?!{_GAP}(?:{_MONTHS})\w*\.?{_GAP}\d{{4}}(?!\d))|[．、）：]|\.(?={_CAPITAL})|{_GAP}?[-–—]{_GAP}(?={_CAPITAL}))"
    rf"|(?P<roman>[ivx]{{1,6}})[.)]{_AFTER}"
    rf"|(?P<letter>[a-z])\){_AFTER}"
    rf")",
    re.IGNORECASE,
)


def read_mark(text: str, at: int = 0) -> Mark | None:
    """The list marker of the line that begins at `at`, or None.

    Decimals ("1.5 cups"), versions, section numbers ("2.1 Scope"), times ("12:30"), written dates ("3. Mai 2024",
    "3. 5. 2024") and years ("2024. Then") are no markers; neither is a number of more than three digits.
    """
    found = _MARK.match(text, at)
    if found is None:
        return None
    groups = found.groupdict()
    if groups["bullet"] is not None and groups["hash"] is not None:
        return None
    style, value = _style_and_value(groups)
    if value is not None and not 0 <= value <= 999:
        return None
    return Mark(
        text=found["mark"].rstrip(),
        style=style,
        value=value,
        indent=_columns(found["indent"]),
        level=len(found["hash"] or ""),
        start=found.start("mark"),
        end=found.end("mark"),
    )


def _style_and_value(groups: dict[str, str | None]) -> tuple[str, int | None]:
    """Which series a marker belongs to and its number in it; the number is -1 where the sign is none after all."""
    if (sign := groups["bullet"]) is not None:
        return sign, None
    if (word := groups["word"]) is not None:
        return f"word {word.casefold()}", _number(groups["of"] or "")
    if (label := groups["label"]) is not None:
        return f"word {label.casefold()}", int(groups["nr"] or "")
    if (number := groups["han"]) is not None:
        return "word 第", _number(number)
    if (number := groups["dan"]) is not None:
        return "word 단계", int(number)
    if (nth := groups["th"]) is not None:
        return "word 번째", _KOREAN_TH[nth]
    if (ordinal := groups["ordinal"]) is not None:
        return "ordinal", _ORDINAL_VALUES[ordinal.casefold()]
    if (number := groups["hanlist"]) is not None:
        return "一、", _number(number)
    if (ring := groups["ring"]) is not None:
        return "①", int(unicodedata.numeric(ring[0]))
    if groups["open"] is not None:
        letter = groups["innerletter"]
        return ("(a)", ord(letter.lower()) - 96) if letter else ("(1)", int(groups["inner"] or ""))
    if (number := groups["number"]) is not None:
        return (groups["mark"] or "").replace(number, "", 1).strip(), int(number)
    if (roman := groups["roman"]) is not None:
        return "i", _roman(roman.lower())
    return "a)", ord((groups["letter"] or "").lower()) - 96


def _number(written: str) -> int:
    """A number in digits of any script, as a word, or in Han numerals below one hundred."""
    if written.isdecimal():
        return int(written)
    if (value := _WORD_VALUES.get(written.casefold())) is not None:
        return value
    tens, ten, ones = written.rpartition("十")
    if not ten:
        return _HAN.index(written) if len(written) == 1 else -1
    if len(tens) > 1 or len(ones) > 1 or tens == "十":
        return -1
    return (_HAN.index(tens) if tens else 1) * 10 + (_HAN.index(ones) if ones else 0)


def _roman(letters: str) -> int:
    """A Roman numeral up to 39, or -1 for letters that are none ("vix")."""
    tens = len(letters) - len(letters.lstrip("x"))
    ones = letters[tens:]
    known = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
    return tens * 10 + known.index(ones) if tens <= 3 and ones in known else -1


def _columns(indent: str) -> int:
    """How far an indentation reaches: a tab to the next multiple of four, marks without width not at all."""
    columns = 0
    for character in indent:
        if character == "\t":
            columns += 4 - columns % 4
        elif character.isspace():
            columns += 1
    return columns
