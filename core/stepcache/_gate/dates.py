"""Dates written with the name of a month, in one form: 5 May 2024 and May 5, 2024 are 2024-05-05."""

from __future__ import annotations

from stepcache._gate.tables import Language
from stepcache._gate.token import Token

__all__ = ["join_dates"]


def join_dates(tokens: list[Token], tables: Language) -> list[Token]:
    """The tokens with every full date as one token; the same list if there is none."""
    if not any(token.key in tables.months for token in tokens):
        return tokens
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        found = _date(tokens, at, tables)
        if found is None:
            out.append(tokens[at])
            at += 1
            continue
        key, size = found
        text = " ".join(token.text for token in tokens[at : at + size])
        out.append(Token(key, "calendar", text, tokens[at].start, False, tokens[at + size - 1].after))
        at += size
    return out


def _date(tokens: list[Token], at: int, tables: Language) -> tuple[str, int] | None:
    """The date that stands at `at` and its length in tokens."""
    window = [token for token in tokens[at : at + 5] if not token.quoted]
    keys = [token.key for token in window]
    bare = [(index, key) for index, key in enumerate(keys) if key not in {"of", "de", "del", "the"}][:3]
    if len(bare) < 3 or bare[0][0] != 0 or any(token.what == "identifier" for token in window[: bare[2][0]]):
        return None
    parts = [key for _, key in bare]
    if parts[1] in tables.months:
        day, month, year = parts
    elif parts[0] in tables.months and tables.name == "en":
        month, day, year = parts
    else:
        return None
    day = day.rstrip(".")
    if not (day.isdecimal() and year.isdecimal() and len(year) == 4 and len(day) <= 2 and 1 <= int(day) <= 31):
        return None
    return f"{year}-{tables.months[month]:02d}-{int(day):02d}", bare[2][0] + 1
