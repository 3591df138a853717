"""The formats of JSON Schema (Validation 2020-12, section 7.3), checked by the RFCs they name; only where asked for.

Every check is linear in the text.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
from collections.abc import Callable

from stepcache.tasks._json.patterns import PatternRefused, check_pattern

__all__ = ["conforms"]

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z", re.ASCII)
_TIME = re.compile(r"(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[zZ]|([+-])(\d{2}):(\d{2}))\Z", re.ASCII)
_DURATION = re.compile(
    r"P(?:\d+W|(?=[\dT])(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?"
    r"(?:T(?=\d)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)\Z",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.ASCII | re.IGNORECASE)
_POINTER = re.compile(r"(?:/(?:[^/~]|~[01])*)*\Z", re.DOTALL)
_RELATIVE_POINTER = re.compile(r"(?:0|[1-9]\d*)(?:#\Z|(?=/|\Z))", re.ASCII)
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)\Z", re.ASCII | re.IGNORECASE)
_UTF8_LABEL = re.compile(r"[^\x00-,./:-@\[-`{-\x7f\s]{1,63}\Z")
_ATOM = r"[^\x00-\x20\x7f()<>\[\]:;@\\,.\"]+"
_LOCAL = re.compile(rf'(?:{_ATOM}(?:\.{_ATOM})*|"(?:[^"\\\x00-\x1f]|\\[\x20-\x7e])*")\Z')
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*\Z", re.ASCII | re.IGNORECASE)
_PERCENT = re.compile(r"%(?![0-9a-fA-F]{2})", re.ASCII)
_NEVER_IN_IRI = re.compile(r"[\x00-\x20\x7f<>\"\\^`{|}]")
_TEMPLATE_LITERAL = re.compile(r"[\x00-\x20\x7f\"<>\\^`|}]|%(?![0-9a-fA-F]{2})", re.ASCII)
_TEMPLATE_NAME = r"(?:[A-Za-z0-9_]|%[0-9a-fA-F]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9a-fA-F]{2}))*(?::[1-9]\d{0,3}|\*)?"
_TEMPLATE_EXPRESSION = re.compile(rf"[+#./;?&=,!@|]?{_TEMPLATE_NAME}(?:,{_TEMPLATE_NAME})*\Z", re.ASCII)


def conforms(name: str, text: str) -> bool | None:
    """Whether the text has the named format; None for a format that is not known."""
    check = _CHECKS.get(name)
    return None if check is None else check(text)


def _date(text: str) -> bool:
    found = _DATE.match(text)
    if not found:
        return False
    try:
        datetime.date(*map(int, found.groups()))
    except ValueError:
        return False
    return True


def _time(text: str) -> bool:
    found = _TIME.match(text)
    if not found:
        return False
    hour, minute, second = int(found[1]), int(found[2]), int(found[3])
    off_hour, off_minute = int(found[5] or 0), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 60 or off_hour > 23 or off_minute > 59:
        return False
    offset = (off_hour * 60 + off_minute) * (-1 if found[4] == "-" else 1)
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439  # a leap second ends a day in UTC


def _date_time(text: str) -> bool:
    return len(text) > 10 and text[10] in "Tt" and _date(text[:10]) and _time(text[11:])


def _ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return text.isascii()


def _ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return text.isascii() and "%" not in text


def _hostname(text: str) -> bool:
    return 0 < len(text) <= 253 and all(_ascii_label(label) for label in text.split("."))


def _ascii_label(label: str) -> bool:
    if not _LABEL.match(label):
        return False
    if label[2:4] != "--":
        return True
    if label[:2].lower() != "xn":
        return False
    try:
        return _unicode_label(label[4:].encode("ascii").decode("punycode"))
    except ValueError:  # no punycode
        return False


def _idn_hostname(text: str) -> bool:
    labels = re.split("[.\u3002\uff0e\uff61]", text)
    return 0 < len(text) <= 253 and all(
        _ascii_label(label) if label.isascii() else _unicode_label(label) for label in labels
    )


_VIRAMAS = frozenset("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u0e3a\u0f84\u1039")
_NOT_IN_LABELS = frozenset("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b")
_ALWAYS_IN_LABELS = frozenset("\u00b7\u0375\u05f3\u05f4\u200c\u200d\u30fb\u3007\u06fd\u06fe\u0f0b")


def _unicode_label(label: str) -> bool:
    import unicodedata

    if not label or len(label) > 63 or label.startswith("-") or label.endswith("-") or label[2:4] == "--":
        return False
    if unicodedata.category(label[0]).startswith("M") or unicodedata.normalize("NFC", label) != label:
        return False
    if len(label.encode("punycode")) > 59:
        return False
    for i, char in enumerate(label):
        before, after = label[i - 1:i], label[i + 1:i + 2]
        match char:
            case "\u00b7":  # the middle dot of Catalan: between two l
                fine = before == after == "l"
            case "\u0375":  # Greek keraia: before a Greek letter
                fine = bool(after) and "GREEK" in unicodedata.name(after, "")
            case "\u05f3" | "\u05f4":  # Hebrew geresh: behind a Hebrew letter
                fine = bool(before) and "HEBREW" in unicodedata.name(before, "")
            case "\u200c" | "\u200d":
                fine = before in _VIRAMAS
            case "\u30fb":  # Katakana middle dot: with at least one Japanese letter
                fine = any(unicodedata.name(c, "").startswith(("HIRAGANA", "KATAKANA LETTER", "CJK")) for c in label)
            case _:
                fine = char in _ALWAYS_IN_LABELS or (
                    char not in _NOT_IN_LABELS
                    and (char == "-" or unicodedata.category(char) in ("Ll", "Lo", "Lm", "Mn", "Mc", "Nd"))
                )
        if not fine:
            return False
    digits = {"\u0660" <= c <= "\u0669" for c in label if "\u0660" <= c <= "\u0669" or "\u06f0" <= c <= "\u06f9"}
    return len(digits) < 2


def _mail_host(text: str) -> bool:
    """RFC 6531 lets any character beyond ASCII into a domain."""
    return 0 < len(text) <= 253 and all(
        _ascii_label(label) if label.isascii() else bool(_UTF8_LABEL.match(label)) for label in text.split(".")
    )


def _email(text: str, host: Callable[[str], bool] = _hostname) -> bool:
    local, at, domain = text.rpartition("@")
    if not at or len(local) > 64 or not _LOCAL.match(local):
        return False
    if domain.startswith("[") and domain.endswith("]"):
        inner = domain[1:-1]
        return _ipv6(inner[5:]) if inner.lower().startswith("ipv6:") else _ipv4(inner)
    return host(domain)


def _reference(text: str) -> tuple[str, bool] | None:
    """Scheme (or "") and whether the parts of an IRI reference are well formed; None if they are not."""
    if _NEVER_IN_IRI.search(text) or _PERCENT.search(text):
        return None
    rest, _, fragment = text.partition("#")
    if "#" in fragment:
        return None
    rest = rest.partition("?")[0]
    scheme, colon, behind = rest.partition(":")
    if not colon or "/" in scheme:
        scheme, behind = "", rest
    elif not _SCHEME.match(scheme):
        return None
    if behind.startswith("//"):
        authority, slash, path = behind[2:].partition("/")
        behind = slash + path
        if not _authority(authority):
            return None
    if "[" in behind or "]" in behind or "[" in fragment or "]" in fragment:
        return None
    return scheme, True


def _authority(text: str) -> bool:
    user, _, host = text.rpartition("@")
    if "[" in user or "]" in user or "@" in user:
        return False
    if host.startswith("["):
        inside, closed, port = host[1:].partition("]")
        literal = _ipv6(inside) or bool(re.match(r"[vV][0-9a-fA-F]+\.[\w.~!$&'()*+,;=:-]+\Z", inside, re.ASCII))
        return bool(closed) and literal and bool(re.match(r"(?::\d*)?\Z", port, re.ASCII))
    name, _, port = host.partition(":")
    return "[" not in name and "]" not in name and bool(re.match(r"\d*\Z", port, re.ASCII))


def _iri(text: str) -> bool:
    read = _reference(text)
    return read is not None and read[0] != ""


def _uri_template(text: str) -> bool:
    position = 0
    while position < len(text):
        start = text.find("{", position)
        if _TEMPLATE_LITERAL.search(text, position, start if start >= 0 else len(text)):
            return False
        if start < 0:
            return True
        end = text.find("}", start)
        if end < 0 or not _TEMPLATE_EXPRESSION.match(text[start + 1:end]):
            return False
        position = end + 1
    return True


def _regex(text: str) -> bool:
    try:
        check_pattern(text)
    except PatternRefused as refused:
        return refused.valid
    return True


_CHECKS: dict[str, Callable[[str], bool]] = {
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "duration": lambda text: bool(_DURATION.match(text)),
    "email": lambda text: text.isascii() and _email(text),
    "idn-email": lambda text: _email(text, _mail_host),
    "hostname": _hostname,
    "idn-hostname": _idn_hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "uri": lambda text: text.isascii() and _iri(text),
    "uri-reference": lambda text: text.isascii() and _reference(text) is not None,
    "iri": _iri,
    "iri-reference": lambda text: _reference(text) is not None,
    "uri-template": _uri_template,
    "uuid": lambda text: bool(_UUID.match(text)),
    "json-pointer": lambda text: bool(_POINTER.match(text)),
    "relative-json-pointer": lambda text: bool(
        (found := _RELATIVE_POINTER.match(text)) and (found.group().endswith("#") or _POINTER.match(text, found.end()))
    ),
    "regex": _regex,
}
