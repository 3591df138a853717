"""Harmless wording: phrases rewritten to one form or dropped. What is dropped here never changes an answer."""

from __future__ import annotations

from typing import Final

from stepcache._gate.tables import Language, Phrase
from stepcache._gate.token import Token

__all__ = ["rewrite"]

_PASSES: Final = 3  # contractions make phrases, phrases make frames


def rewrite(tokens: list[Token], tables: Language) -> list[Token]:
    """The tokens with every known phrase in its canonical form, politeness and silent words dropped."""
    for _ in range(_PASSES):
        changed = _replace_phrases(tokens, tables)
        if changed == tokens:
            break
        tokens = changed
    tokens = _drop_requests(tokens, tables)
    tokens = _heads(tokens, tables)
    return [
        token
        for index, token in enumerate(tokens)
        if token.quoted or token.key not in tables.silent or _is_part_of_name(tokens, index)
    ]


def _is_part_of_name(tokens: list[Token], index: int) -> bool:
    """Whether a silent word belongs to a name (The Beatles) inside a sentence."""
    token = tokens[index]
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return token.text.istitle() and not token.start and following is not None and following.text.istitle()


def _replace_phrases(tokens: list[Token], tables: Language) -> list[Token]:
    out: list[Token] = []
    at, fresh = 0, False
    while at < len(tokens):
        token = tokens[at]
        match = None if token.quoted else _match(tokens, at, fresh, tables)
        if match is None:
            out.append(token._replace(start=True) if fresh else token)
            at, fresh = at + 1, False
            continue
        stop = at + len(match.words)
        numbers = [t for t in tokens[at:stop] if t.what == "number"]
        start = fresh or token.start
        for index, word in enumerate(match.instead):
            if word == "#":
                out.append(numbers[0]._replace(after=tokens[stop - 1].after))
            else:
                what = tables.classes.get(word, "word")
                last = tokens[stop - 1].after if index == len(match.instead) - 1 else ""
                out.append(Token(word, what, token.text, start and index == 0, False, last))
        if not match.instead and out and tokens[stop - 1].after:
            out[-1] = out[-1]._replace(after=out[-1].after + tokens[stop - 1].after)
        at, fresh = stop, start and not match.instead
    return out


def _match(tokens: list[Token], at: int, fresh: bool, tables: Language) -> Phrase | None:
    first = "#" if tokens[at].what == "number" else tokens[at].key
    for phrase in tables.phrases.get(first, ()):
        stop = at + len(phrase.words)
        if stop > len(tokens):
            continue
        if phrase.start and not (tokens[at].start or fresh or at == 0):
            continue
        run = tokens[at:stop]
        if phrase.end and stop < len(tokens) and not (run[-1].after or tokens[stop].start):
            continue
        if any(token.after and token is not run[-1] for token in run):
            continue
        if all(
            not token.quoted and (token.key == word or (word == "#" and token.what == "number"))
            for token, word in zip(run, phrase.words, strict=True)
        ) and tuple(token.key for token in run) != phrase.instead:
            return phrase
    return None


def _drop_requests(tokens: list[Token], tables: Language) -> list[Token]:
    """Without "could you" before a verb that asks for something."""
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        size = next(
            (len(words) for words in tables.requests if tokens[at].start
             and tuple(t.key for t in tokens[at : at + len(words)]) == words), 0
        )  # fmt: skip
        if size and at + size < len(tokens) and tokens[at + size].key in tables.verbs:
            tokens[at + size] = tokens[at + size]._replace(start=True)
            at += size
            continue
        out.append(tokens[at])
        at += 1
    return out


def _heads(tokens: list[Token], tables: Language) -> list[Token]:
    """Imperatives that only ask to be given something become one head; so does "what is the"."""
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if not token.start or token.quoted:
            out.append(token)
            at += 1
            continue
        for head in tables.heads:
            stop = at + len(head.words)
            if stop >= len(tokens) or tuple(t.key for t in tokens[at:stop]) != head.words:
                continue
            if any(t.after for t in tokens[at:stop]):
                continue
            following = tokens[stop]
            if head.definite and following.key not in tables.definite:
                continue
            if not head.definite and following.key in tables.not_after_head:
                continue
            out.append(Token("@show", "demand", " ".join(t.text for t in tokens[at:stop]), True, False, ""))
            at = stop
            break
        else:
            for lead in tables.leads:
                stop = at + len(lead)
                if stop < len(tokens) and tuple(t.key for t in tokens[at:stop]) == lead:
                    if tokens[stop].what == "question":
                        tokens[stop] = tokens[stop]._replace(start=True)
                        at = stop
                        break
            else:
                out.append(token)
                at += 1
    return out
