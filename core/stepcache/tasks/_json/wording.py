"""Whether two descriptions of one property mean the same.

Descriptions are noun phrases, so some wording is harmless here that would not be in a request: where a format is
named, remarks on presence or default, "whether to". All the rest is the content gate's to judge.
"""

from __future__ import annotations

import re

__all__ = ["same_meaning"]

_REMARK = re.compile(
    r"""\s*\(\s*(?:optional|required|if\s|only\s+if\s|required\s+if\s|default(?:s\s+to)?\b)[^()]*\)
      | (?:^|(?<=[.;]))\s*(?:optional|required)\s*[.:]
      | (?:^|(?<=[.;,]))\s*(?:optional,?\s+)?default(?:s\s+to|\s*:|\s+is)\s[^.;]*(?:[.;]|\Z)""",
    re.IGNORECASE | re.VERBOSE,
)
_FORMAT_BEHIND = re.compile(r"\bin\s+(?:the\s+|a\s+)?(\S+(?:\s\S+)?)\s+format\b", re.IGNORECASE)
_FORMAT_BEFORE = re.compile(
    r"[\s,(]*\b(?:in\s+(?:the\s+)?|using\s+(?:the\s+)?)?format\s*(?:of\s+|:\s*)?['\"`]?"
    r"((?:[YMDHSTymdhst]{2,}[-/.: T]?)+Z?)['\"`]?\)?",
)
_STRANDED = re.compile(r"\s+(?:for|of|in|on|at|to|with|by|from)\s*\Z", re.IGNORECASE)
_FRONTED = re.compile(r"\b(?:for|of|in|on|at|to|with|by|from)\s+which\s+to\b", re.IGNORECASE)
_WHETHER = re.compile(r"\A(?:whether(?:\s+or\s+not)?\s+to|flag\s+to|set\s+to\s+true\s+to)\s+", re.IGNORECASE)


def same_meaning(key: str, cached: str, new: str) -> bool:
    """Whether a value written for the first description of `key` is right for the second.

    A missing description says what the key says. A date format that is no longer asked for doesn't make a date wrong;
    one that is newly asked for, or another one, may.
    """
    cached, new = _plain(cached or _in_words(key)), _plain(new)
    if _equal(cached, new):
        return True
    old_formats, new_formats = _FORMAT_BEFORE.findall(cached), _FORMAT_BEFORE.findall(new)
    if old_formats and (old_formats == new_formats or not new_formats):
        cached, new = _FORMAT_BEFORE.sub("", cached), _FORMAT_BEFORE.sub("", new)
    if _equal(cached, new):
        return True
    from stepcache._gate.compare import gate  # its tables take time to read
    from stepcache._gate.verdict import Same

    return isinstance(gate(cached, new), Same)


def _plain(text: str) -> str:
    text = _REMARK.sub(" ", " ".join(text.split()))
    text = _FORMAT_BEHIND.sub(r"in the format \1", text)
    text = _WHETHER.sub("", text.strip(" .;"))
    return _STRANDED.sub("", _FRONTED.sub("to", text)).strip(" .;")


def _equal(left: str, right: str) -> bool:
    def fold(text: str) -> str:
        return " ".join(re.sub(r"^(?:the|an?)\s+", "", text.casefold()).split())

    return fold(left) == fold(right)


def _in_words(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+", " ", key).strip()
