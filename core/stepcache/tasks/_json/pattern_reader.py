"""Reading a regular expression of ECMA-262 (as JSON Schema uses it, with unicode) into a tree."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import NoReturn

__all__ = ["WORD", "Accepts", "Node", "PatternRefused", "read_pattern"]

_MAX_PATTERN = 2_000
_MAX_GROUPS = 100


class PatternRefused(ValueError):
    """The pattern is no ECMA-262 expression, or (`valid`) one that can't be matched within bounds."""

    def __init__(self, reason: str, *, valid: bool = False) -> None:
        super().__init__(reason)
        self.valid = valid


Accepts = Callable[[str], bool]

# ("char", accepts), ("seq", nodes), ("alt", nodes), ("rep", node, low, high or None), ("assert", kind, node or None)
Node = tuple[object, ...]

WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_DIGITS = frozenset("0123456789")
_SPACES = frozenset("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff").union(
    map(chr, range(0x2000, 0x200B))
)
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_ESCAPES = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "0": "\0"}
_CATEGORIES = {
    "letter": "L", "uppercase_letter": "Lu", "lowercase_letter": "Ll", "titlecase_letter": "Lt",
    "modifier_letter": "Lm", "other_letter": "Lo", "mark": "M", "number": "N", "decimal_number": "Nd", "digit": "Nd",
    "letter_number": "Nl",
    "punctuation": "P", "punct": "P", "symbol": "S", "separator": "Z", "space_separator": "Zs", "other": "C",
    "control": "Cc", "cntrl": "Cc", "currency_symbol": "Sc", "math_symbol": "Sm", "dash_punctuation": "Pd",
}  # fmt: skip
_PROPERTIES: dict[str, Accepts] = {
    "any": lambda c: True,
    "ascii": str.isascii,
    "alphabetic": lambda c: c.isalpha() or unicodedata.category(c) in ("Nl", "Mn", "Mc"),
    "uppercase": str.isupper,
    "lowercase": str.islower,
    "white_space": lambda c: c in _SPACES,
    "assigned": lambda c: unicodedata.category(c) != "Cn",
    "id_start": str.isidentifier,
    "id_continue": lambda c: ("a" + c).isidentifier(),
}


class _Reader:
    """A recursive reader of one pattern; groups may nest to `_MAX_GROUPS`."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0
        self.depth = 0

    def fail(self, reason: str, *, valid: bool = False) -> NoReturn:
        raise PatternRefused(f"{reason} at position {self.at}", valid=valid)

    def peek(self, length: int = 1) -> str:
        return self.text[self.at:self.at + length]

    def take(self, wanted: str) -> bool:
        if self.text.startswith(wanted, self.at):
            self.at += len(wanted)
            return True
        return False

    def alternatives(self) -> Node:
        ways = [self.sequence()]
        while self.take("|"):
            ways.append(self.sequence())
        return ways[0] if len(ways) == 1 else ("alt", ways)

    def sequence(self) -> Node:
        nodes: list[Node] = []
        while self.at < len(self.text) and self.peek() not in "|)":
            nodes.append(self.repeated(self.atom()))
        return ("seq", nodes)

    def repeated(self, node: Node) -> Node:
        bounds = self.bounds()
        if bounds is None:
            return node
        if node[0] == "assert" and node[1] not in ("=", "!"):
            self.fail("nothing to repeat")
        self.take("?")  # greedy or not, the same texts match
        if self.bounds() is not None:
            self.fail("nothing to repeat")
        return ("rep", node, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        for mark, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(mark):
                return low, high
        if self.peek() != "{":
            return None
        close = self.text.find("}", self.at)
        inside = self.text[self.at + 1:close] if close > 0 else ""
        first, comma, second = inside.partition(",")
        if not first.isascii() or not first.isdigit() or (second and not (second.isascii() and second.isdigit())):
            return None  # a brace that stands for itself
        self.at = close + 1
        if len(first) > 6 or len(second) > 6:
            self.fail("a repetition is too large", valid=True)
        low = int(first)
        top = low if not comma else int(second) if second else None
        if top is not None and top < low:
            self.fail("a repetition is the wrong way round")
        return low, top

    def atom(self) -> Node:
        char = self.peek()
        self.at += 1
        match char:
            case "^" | "$":
                return ("assert", char, None)
            case ".":
                return ("char", lambda c: c not in _LINE_ENDS)
            case "(":
                return self.group()
            case "[":
                return ("char", self.char_class())
            case "\\":
                return self.escape()
            case "*" | "+" | "?":
                self.at -= 1
                self.fail("nothing to repeat")
            case _:
                return ("char", _just(char))

    def group(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_GROUPS:
            self.fail("groups are nested too deeply", valid=True)
        kind = ""
        if self.take("?"):
            for mark in ("=", "!", "<=", "<!", ":"):
                if self.take(mark):
                    kind = mark
                    break
            else:
                if not self.take("<"):
                    self.fail("an unknown kind of group")
                close = self.text.find(">", self.at)
                if close < 0 or not self.text[self.at:close].replace("$", "_").isidentifier():
                    self.fail("a group without a name")
                self.at = close + 1
        node = self.alternatives()
        if not self.take(")"):
            self.fail("a group is not closed")
        self.depth -= 1
        return ("assert", kind, node) if kind not in ("", ":") else node

    def escape(self) -> Node:
        if self.peek() in ("b", "B"):
            self.at += 1
            return ("assert", self.text[self.at - 1], None)
        if self.peek() in tuple("123456789k"):
            self.fail("back-references are not supported", valid=True)
        return ("char", self.escaped()[1])

    def escaped(self) -> tuple[str | None, Accepts]:
        """Read what follows a backslash: the one character it stands for (or None for a set), and its test."""
        char = self.peek()
        self.at += 1
        if char in ("d", "D", "w", "W", "s", "S") and char:
            members = {"d": _DIGITS, "w": WORD, "s": _SPACES}[char.lower()]
            return None, (lambda c: c in members) if char.islower() else (lambda c: c not in members)
        if char in ("p", "P") and char and self.take("{"):
            return None, self.property(negated=char == "P")
        if char == "c" and self.peek().isascii() and self.peek().isalpha():
            self.at += 1
            code = chr(ord(self.text[self.at - 1]) % 32)
            return code, _just(code)
        if char in ("x", "u") and char:
            found = self.code_point(2 if char == "x" else 4)
            return found, _just(found)
        if char in _ESCAPES and char:
            return _ESCAPES[char], _just(_ESCAPES[char])
        if not char:
            self.fail("a backslash at the end")
        if char.isascii() and (char.isalpha() or char.isdigit()):
            self.fail(f"an unknown escape \\{char}")
        return char, _just(char)

    def code_point(self, width: int) -> str:
        if width == 4 and self.take("{"):
            close = self.text.find("}", self.at)
            digits, self.at = self.text[self.at:close], close + 1
            if close < 0:
                self.fail("an unknown escape \\u")
        else:
            digits = self.peek(width)
            self.at += width
            if len(digits) < width:
                self.fail("an unknown escape")
        try:
            code = int(digits, 16) if digits.isalnum() else -1
            if 0xD800 <= code < 0xDC00 and self.peek(2) == "\\u":
                low = int(self.text[self.at + 2:self.at + 6] or "-", 16)
                if 0xDC00 <= low < 0xE000:
                    self.at += 6
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            return chr(code)
        except (ValueError, OverflowError):
            self.fail("an unknown escape")

    def property(self, *, negated: bool) -> Accepts:
        close = self.text.find("}", self.at)
        name = self.text[self.at:close] if close >= 0 else ""
        self.at = close + 1
        kind, equals, value = name.partition("=")
        if equals and kind.casefold() in ("script", "sc", "script_extensions", "scx"):
            script = value.upper().replace("_", " ")
            if not script.isalpha():
                self.fail("an unknown script")
            names = (script + " ", "CJK UNIFIED") if script == "HAN" else (script + " ",)
            test: Accepts = lambda c: unicodedata.name(c, "").startswith(names)  # noqa: E731
        else:
            wanted = (value if equals else name).casefold()
            if wanted in _PROPERTIES:
                test = _PROPERTIES[wanted]
            else:
                category = _CATEGORIES.get(wanted) or (wanted.capitalize() if 0 < len(wanted) <= 2 else "")
                if not category or category[0] not in "LMNPSZC":
                    self.fail("an unknown property")
                test = lambda c: unicodedata.category(c).startswith(category)  # noqa: E731
        return (lambda c: not test(c)) if negated else test

    def char_class(self) -> Accepts:
        negated = self.take("^")
        singles: set[str] = set()
        ranges: list[tuple[str, str]] = []
        sets: list[Accepts] = []
        while not self.take("]"):
            if self.at >= len(self.text):
                self.fail("a character class is not closed")
            low, test = self.class_member()
            if self.peek() == "-" and self.peek(2) not in ("-]", "-"):
                self.at += 1
                high, high_test = self.class_member()
                if low is None or high is None:
                    sets += [t for single, t in ((low, test), (high, high_test)) if single is None]
                    singles |= {"-"} | {single for single in (low, high) if single is not None}
                elif high < low:
                    self.fail("a range is the wrong way round")
                else:
                    ranges.append((low, high))
            elif low is None:
                sets.append(test)
            else:
                singles.add(low)

        def accepts(char: str) -> bool:
            inside = char in singles or any(a <= char <= b for a, b in ranges) or any(one(char) for one in sets)
            return inside is not negated

        return accepts

    def class_member(self) -> tuple[str | None, Accepts]:
        if self.take("\\"):
            if self.take("b"):
                return "\b", _just("\b")
            if self.take("-"):
                return "-", _just("-")
            return self.escaped()
        char = self.peek()
        self.at += 1
        return char, _just(char)


def _just(char: str) -> Accepts:
    return lambda c: c == char


def read_pattern(pattern: str) -> Node:
    """Read a pattern; raises `PatternRefused`."""
    if len(pattern) > _MAX_PATTERN:
        raise PatternRefused("the pattern is too long", valid=True)
    reader = _Reader(pattern)
    node = reader.alternatives()
    if reader.at < len(pattern):
        reader.fail("a closing bracket too many")
    return node
