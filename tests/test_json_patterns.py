"""Patterns match as ECMA-262 says, and none can make matching slow. Formats are as their RFCs say."""

from __future__ import annotations

import contextlib
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache.tasks._json.formats import conforms
from stepcache.tasks._json.patterns import PatternRefused, check_pattern, search


@pytest.mark.parametrize(("pattern", "yes", "no"), [
    ("^a.c$", ["abc", "a c"], ["a\nc", "abcd", "ab"]),
    ("b+", ["abba"], ["aca"]),
    ("^(ab|cd?)*$", ["", "abcab", "cdc"], ["abd"]),
    ("^a{2}$", ["aa"], ["a", "aaa"]),
    ("^a{2,}$", ["aa", "aaaaa"], ["a"]),
    ("^a{1,3}?$", ["a", "aaa"], ["", "aaaa"]),
    ("^a{x}$", ["a{x}"], ["a"]),
    ("^a{,3}$", ["a{,3}"], ["aa"]),
    ("^[a-c_]+$", ["ab_c"], ["d", ""]),
    ("^[^a-c]$", ["d", "\n"], ["a", ""]),
    ("^[]a]$", [], ["]a", "a"]),
    ("^[^]$", ["x", "\n"], [""]),
    (r"^[\w-]+$", ["a-b"], ["a b"]),
    (r"^[\d-x]+$", ["1-x"], ["y"]),
    (r"^[\-a\]]+$", ["-a]"], ["b"]),
    (r"^[a-]$", ["-", "a"], ["b"]),
    (r"^\d\D\w\W\s\S$", ["1aa! x"], ["aaa! x"]),
    (r"^\d$", ["5"], ["\u0665"]),
    (r"^\s$", ["\u00a0", "\ufeff"], ["x"]),
    (r"\bcat\b", ["a cat."], ["cats", "concat"]),
    (r"^\Bx", [], ["x"]),
    (r"a\Bb", ["ab"], ["a b"]),
    ("^(?=.*[0-9])(?=.*[a-z]).{3,}$", ["ab1", "1ab"], ["abc", "a1"]),
    ("^(?!admin).*$", ["user", "adm"], ["admin", "admins"]),
    ("(?<=a)b", ["ab"], ["cb", "b"]),
    ("(?<!a)b", ["cb", "b"], ["ab"]),
    ("^(?:ab)?(?<name>c)$", ["abc", "c"], ["ab"]),
    (r"^\u0041\x42\cA\t\u{1F600}$", ["AB\x01\t\U0001F600"], ["AB"]),
    ("^\\ud83d\\ude00$", ["\U0001F600"], ["x"]),
    (r"^\/\.\-\$$", ["/.-$"], ["/"]),
    (r"^\p{Lu}\p{Letter}\P{L}$", ["Éa1"], ["éa1", "Éab"]),
    (r"^\p{Script=Greek}+$", ["αβ"], ["ab"]),
    (r"^\p{sc=Han}+$", ["漢字"], ["ab"]),
    (r"^\p{General_Category=Decimal_Number}\p{Alphabetic}\p{ASCII}\p{Any}$", ["5aa\u0000"], ["aaaa"]),
    (r"^\p{Uppercase}\p{Lowercase}\p{White_Space}\p{ID_Start}\p{ID_Continue}\p{Assigned}$", ["Aa a1!"], ["aA a1!"]),
    (r"^[\p{L}\p{Nd}_]+$", ["é5_"], ["-"]),
    (r"[\b]", ["a\bc"], ["abc"]),
    (r"^\0$", ["\0"], ["0"]),
    ("", ["", "x"], []),
    ("a|", ["", "b"], []),
    ("^$", [""], ["x", "\n"]),
    ("(?:^|,)a(?:,|$)", ["a", "b,a", "a,b"], ["ba"]),
    ("^(?=a)*b", ["b"], ["c"]),
])
def test_patterns_match_as_the_standard_says(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if not search(pattern, text)] == []
    assert [text for text in no if search(pattern, text)] == []


@pytest.mark.parametrize("pattern", [
    "(", ")", "[", "*", "+a", "a**", "a{3,1}", "^*", r"\p{Nonsense}", r"\p{Script=12}", r"\q", "\\", r"\u12", r"\u{}",
    r"\u{110000}", r"\xg1", "[b-a]", "(?x)a", "(?<1>a)", "(?<n", r"\u{12", "a+{2}", "(?<=a)*", r"\ud83d\uzzzz", r"\pL",
])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternRefused) as refused:
        check_pattern(pattern)
    assert not refused.value.valid
    assert conforms("regex", pattern) is False


@pytest.mark.parametrize("pattern", [
    r"(a)\1", r"(?<n>a)\k<n>", "a" * 3_000, "(" * 200 + ")" * 200, "a{9999999}", "((a{90}){90}){90}",
])
def test_what_cannot_be_bounded_is_refused_though_valid(pattern: str) -> None:
    with pytest.raises(PatternRefused) as refused:
        check_pattern(pattern)
    assert refused.value.valid
    assert conforms("regex", pattern) is True


@pytest.mark.parametrize(("pattern", "text"), [
    ("^(a+)+$", "a" * 20_000 + "!"), ("(a|a)*b", "a" * 20_000), ("(.*)*x", "y" * 10_000), ("(a*)*(a*)*b", "a" * 10_000),
    (r"^(\d+)*$", "1" * 30_000 + "x"), ("(x+x+)+y", "x" * 10_000), ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 10_000),
    ("(?=.*a)(?=.*b).{3,}", "x" * 3_000), ("(?<=(a|aa)+)b", "a" * 2_000),
])
def test_no_pattern_makes_matching_slow(pattern: str, text: str) -> None:
    started = time.process_time()
    with contextlib.suppress(PatternRefused):
        assert search(pattern, text) is False
    assert time.process_time() - started < 3


atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "(a|b)", "(?:ab)", "^", "$", r"\w", r"\b", "(?=a)", "(?!b)"])
parts = st.tuples(atoms, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}"])).map(
    lambda pair: pair[0] if pair[0] in ("^", "$", r"\b") else pair[0] + pair[1]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(parts, max_size=6).map("".join), st.text(alphabet="ab!", max_size=8))
def test_simple_patterns_agree_with_pythons(pattern: str, text: str) -> None:
    assert search(pattern, text) is (re.search(pattern, text) is not None)


@pytest.mark.parametrize(("name", "yes", "no"), [
    ("date", ["2024-02-29"], ["2023-02-29", "2024-2-9", "2024-01-01x", "२०२४-01-01"]),
    ("time", ["08:30:06Z", "23:59:60+00:00", "01:29:60+01:30", "08:30:06.283-08:00"],
     ["08:30:06", "24:00:00Z", "22:59:60Z", "08:30:06+24:00", "8:30:06Z"]),
    ("date-time", ["2024-01-01T00:00:00Z", "2024-01-01t00:00:00z"], ["2024-01-01 00:00:00Z", "2024-01-01"]),
    ("duration", ["P4DT12H30M5S", "P1W", "PT0S", "P1Y2M"], ["P", "PT", "P1D2H", "4D", "P1Y2W", "P1YT"]),
    ("email", ["joe.bloggs@example.com", '"a b"@example.com', "a@[127.0.0.1]", "a@[IPv6:::1]"],
     ["a", ".a@b.c", "a..b@c.d", "é@b.c", "a@-b.c", "a@[300.0.0.1]", "x" * 65 + "@b.c"]),
    ("idn-email", ["실례@실례.테스트", "a@b.c"], ["실례", "a@ .c"]),
    ("hostname", ["www.example.com", "xn--nxasmq6b.com"], ["-a.com", "a_b", "", "a.", "ab--cd.com", "x" * 64]),
    ("idn-hostname", ["실례.테스트", "l·l.com", "α͵β", "א׳ב", "क्‌ष", "・ぁ", "a.b"],
     ["〮실례.com", "a·l", "α͵S", "A׳ב", "a‌b", "def・abc", "٠۰", "-é", "x" * 300]),
    ("ipv4", ["127.0.0.1"], ["127.0.0.256", "127.1", "127.0.0.٠"]),
    ("ipv6", ["::1", "1::d6:192.168.0.1"], ["12345::", "::1%eth0", "1:2"]),
    ("uri", ["http://a.b/c?d#e", "urn:x:y", "ftp://u:p@[::1]:21/"],
     ["//a/b", "http://a b", "1x:y", "http://a/%zz", "http://é/", "a#b#c", "http://[::1", "http://a:bc/", "http://a]/"]),
    ("uri-reference", ["", "/a", "../b#c", "?q"], ["a\\b", "#a#b", "/[x]"]),
    ("iri", ["http://é/ü"], ["/é", "http://u@v@[::1]/"]),
    ("iri-reference", ["é#f"], ["\\\\é"]),
    ("uri-template", ["http://a/{b}", "{+x,y*}{?q:3}", "plain"], ["{", "{}", "{a b}", "a}b", "a b", "{a:0}"]),
    ("uuid", ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08-aa98-11ea-b4aa73b441d16380", "x"]),
    ("json-pointer", ["", "/a~0/~1", "/"], ["a", "/~2", "#/a"]),
    ("relative-json-pointer", ["0", "1/a", "2#"], ["01", "/a", "1#x", "-1", "1a"]),
    ("regex", ["^a$"], ["("]),
])
def test_formats_are_as_their_standards_say(name: str, yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if conforms(name, text) is not True] == []
    assert [text for text in no if conforms(name, text) is not False] == []


def test_an_unknown_format_is_neither() -> None:
    assert conforms("colour", "red") is None
    assert conforms("hostname", "xn--\u00e9.com") is False
    assert conforms("hostname", "xn--99zzzzz9999.com") is False


def test_half_a_surrogate_pair_does_not_take_what_stands_behind_it() -> None:
    assert search(r"^\uD83D\uDE00$", "\U0001f600")
    assert not search(r"\uD83D\u0041", "\U0001f600")
    assert not search(r"\uD83D\u0041", "A")


def test_what_lies_ahead_is_asked_once_wherever_the_look_behind_begins() -> None:
    assert search("(?<=.*(?=b)b)x", "abbx")
    assert not search("(?<=.*(?=c)b)x", "abbx")
    left = [200_000]
    assert search("(?<=^.*(?=.*x)b)x", "b" * 100 + "x", left)


def test_a_label_must_be_short_in_its_ascii_form_too() -> None:
    assert conforms("idn-hostname", "ü" * 30 + ".example")
    assert not conforms("idn-hostname", "ü" * 60 + ".example")
    assert not conforms("idn-hostname", "漢字かな" * 12 + ".example")
