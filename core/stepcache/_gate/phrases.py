"""Harmless wording: phrases rewritten to one form or dropped. What is dropped here never changes an answer."""

from __future__ import annotations

from typing import Final

from stepcache._gate.spelling import stems
from stepcache._gate.tables import Language, Phrase
from stepcache._gate.token import Token

__all__ = ["rewrite", "settle"]

_FRONTED: Final = 12  # words that may stand before a question
_HELP: Final = frozenset({"help", "hilf", "ayuda", "aide"})
_RELATIVES: Final = frozenset({"that", "which", "who"})
_ABILITY: Final = frozenset({("can", "you"), ("will", "you"), ("is", "you", "able", "to")})
_COUNTED: Final = frozenset(
    {"a", "an", "some", "this", "these", "that", "those", "it", "them", "me", "us", "for", "in"}
)
_PAUSE: Final = frozenset(".,;:!?")
_PASSES: Final = 3  # contractions make phrases, phrases make frames


def rewrite(tokens: list[Token], tables: Language) -> list[Token]:
    """The tokens with phrases in one form, frames of requests and questions set aside, silent words dropped."""
    out: list[Token] = []
    for clause in _clauses(_settle(tokens, tables)):
        out += _frame(_front(clause, tables), tables)
    return _audible(out, tables)


def settle(tokens: list[Token], tables: Language) -> list[Token]:
    """The tokens without the silent words, otherwise as they stand."""
    return _audible(tokens, tables)


def _settle(tokens: list[Token], tables: Language) -> list[Token]:
    for _ in range(_PASSES):
        tokens = _replace_phrases(tokens, tables)
    return tokens


def _audible(tokens: list[Token], tables: Language) -> list[Token]:
    return [
        token
        for index, token in enumerate(tokens)
        if token.quoted
        or token.key not in tables.silent
        or _is_part_of_name(tokens, index)
        or _turns_its_noun(tokens, index, tables)
    ]


def _clauses(tokens: list[Token]) -> list[list[Token]]:
    """The tokens cut before each one that begins a clause."""
    found: list[list[Token]] = []
    for token in tokens:
        if token.start or not found:
            found.append([])
        found[-1].append(token)
    return found


def _front(clause: list[Token], tables: Language) -> list[Token]:
    """A clause with what was put before its question or request moved behind it.

    "In May, who won?" is "who won in May?"; "of the dogs, how many bark?" is "how many dogs bark?". Only at a comma.
    """
    if not clause or clause[0].quoted or clause[0].what not in {"relation", "calendar"}:
        return clause
    comma = next((index for index, token in enumerate(clause[:_FRONTED]) if "," in token.after), None)
    if comma is None or comma + 1 >= len(clause):
        return clause
    fronted, rest = clause[: comma + 1], clause[comma + 1 :]
    if rest[0].what not in {"question", "demand"} and rest[0].key not in tables.verbs:
        return clause
    end = rest[-1].after
    fronted[-1] = fronted[-1]._replace(after=fronted[-1].after.replace(",", ""))
    fronted[0] = fronted[0]._replace(start=False)
    rest[0] = rest[0]._replace(start=True)
    for partitive in tables.partitives.get(fronted[0].key, ()):
        size = len(partitive)
        if tuple(token.key for token in fronted[:size]) == partitive and rest[0].what == "question":
            after = 2 if len(rest) > 1 and rest[1].key in tables.ones else 1
            return [rest[0], *fronted[size:], *rest[after:]]
    rest[-1] = rest[-1]._replace(after="")
    fronted[-1] = fronted[-1]._replace(after=end)
    return rest + fronted


def _frame(clause: list[Token], tables: Language) -> list[Token]:
    """A clause without the wording that only says that something is asked for."""
    clause = _drop_request(clause, tables)
    clause = _drop_lead(clause, tables)
    if not clause:
        return clause
    headed = _head(clause, tables)
    if headed is None:
        headed = _drop_indirect(clause, tables)
    return _drop_relative(headed, tables)


def _begins(clause: list[Token], words: tuple[str, ...]) -> bool:
    """Whether the clause begins with these words and goes on after them."""
    return (
        len(clause) > len(words)
        and all(token.key == word and not token.quoted for token, word in zip(clause, words, strict=False))
        and not any(token.after for token in clause[: len(words)])
    )


def _drop_request(clause: list[Token], tables: Language) -> list[Token]:
    """Without "could you" before a verb that asks for something; a German verb comes back from the end."""
    for words in tables.requests.get(clause[0].key, ()):
        if not _begins(clause, words):
            continue
        rest = clause[len(words) :]
        if words[-1] == "mind" and rest[0].key.endswith("ing"):  # would you mind listing
            rest[0] = rest[0]._replace(key=next(iter(stems(rest[0].key) & tables.verbs), rest[0].key))
        if rest[0].key in tables.verbs and not _asks_for_ability(words, rest, tables):
            return _without_for_me([rest[0]._replace(start=True), *rest[1:]])
        if tables.name == "de" and rest[-1].key in tables.verbs and len(rest) > 1:
            verb = rest[-1]
            before_last = rest[-2]._replace(after=rest[-2].after + verb.after)
            return [verb._replace(start=True, after=""), *rest[:-2], before_last]
    return clause


def _asks_for_ability(request: tuple[str, ...], rest: list[Token], tables: Language) -> bool:
    """Whether "can you" asks what one is able to do: "can you draw?", "can you read Chinese?", "can you run Doom?".

    Verbs of telling are requests with any object; others only with a definite or counted one ("can you write a poem").
    """
    if len(rest) < 2:
        return True
    if tables.name != "en" or request not in _ABILITY or rest[0].key in tables.telling:
        return False
    following = rest[1]
    counted = following.what == "number" or following.key in tables.definite or following.key in _COUNTED
    return not (counted or following.quoted)


def _without_for_me(request: list[Token]) -> list[Token]:
    """ "Could you list them for me" without its last two words."""
    if len(request) > 3 and [token.key for token in request[-2:]] == ["for", "me"] and not request[-3].after:
        return [*request[:-3], request[-3]._replace(after=request[-1].after)]
    return request


def _drop_lead(clause: list[Token], tables: Language) -> list[Token]:
    """Without "tell me" before a question; "tell me what X is" becomes "what is X"."""
    for words in tables.leads.get(clause[0].key, ()):
        if tuple(token.key for token in clause) == words:
            return []  # "tell me:" before the question
        if _begins(clause, words) and clause[len(words)].what == "question":
            rest = clause[len(words) :]
            rest[0] = rest[0]._replace(start=True)
            if tables.name == "en" and len(rest) > 2 and rest[-1].key in {"is", "was"} and rest[1].key != rest[-1].key:
                last = rest[-2]._replace(after=rest[-1].after)
                return [rest[0], rest[-1]._replace(after=""), *rest[1:-2], last]
            return rest
    return clause


def _head(clause: list[Token], tables: Language) -> list[Token] | None:
    """The clause with its head replaced if it only asks to be given something ("show me", "what is the")."""
    for head in tables.heads.get(clause[0].key, ()):
        if not _begins(clause, head.words):
            continue
        following = clause[len(head.words)]
        if following.key in tables.not_after_head or (head.definite and following.key not in tables.definite):
            continue
        text = " ".join(token.text for token in clause[: len(head.words)])
        rest = clause[len(head.words) :]
        if tables.name == "en" and _begins(rest, ("every",)) and rest[0].text.lower() == "all" and rest[1].key != "of":
            rest = rest[1:]  # to list all rivers is to list the rivers
        return [Token("@show", "demand", text, True), *rest]
    return None


def _drop_indirect(clause: list[Token], tables: Language) -> list[Token]:
    """Without "me" behind a verb that asks for something."""
    if len(clause) < 2 or clause[0].key not in tables.verbs or clause[0].key in _HELP:
        return clause
    for words in tables.indirect.get(clause[1].key, ()):
        if _begins(clause[1:], words):
            return [clause[0], *clause[1 + len(words) :]]
    return clause


def _drop_relative(clause: list[Token], tables: Language) -> list[Token]:
    """One form for relatives: "how many dogs that bark" drops it, "students who" is "students that"."""
    if tables.name != "en" or not clause:
        return clause
    out = list(clause)
    if out[0].key == "which" and len(out) > 1 and out[1].what == "word":
        out[0] = out[0]._replace(key="what")
    counting = out[0].key == "how_many"
    for index in range(1, len(out)):
        token, before = out[index], out[index - 1]
        if token.key not in _RELATIVES or token.quoted or before.what != "word" or not before.key.endswith("s"):
            continue
        if counting and all(item.what in {"word", "name"} and not item.after for item in out[1:index]):
            del out[index]
            return out
        out[index] = token._replace(key="that", what="relation")
    return out


def _is_part_of_name(tokens: list[Token], index: int) -> bool:
    """Whether a silent word belongs to a name (The Beatles) inside a sentence."""
    token = tokens[index]
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return token.text.istitle() and not token.start and following is not None and following.text.istitle()


def _turns_its_noun(tokens: list[Token], index: int, tables: Language) -> bool:
    """Whether an article changes what is meant: in the office, in office; explain the matter, explain matter; is the
    time right, is time right."""
    if index + 1 >= len(tokens):
        return False
    noun = tokens[index + 1]
    before = tokens[index - 1] if index > 0 else None
    ends = index + 2 == len(tokens) or bool(noun.after)
    asked = before is not None and before.what == "modality"
    if asked and before is not None and before.start and noun.key in (tables.alone | tables.bare):
        return True
    related = before is not None and (before.what == "relation" or (asked and ends))
    return (related and noun.key in tables.bare) or (ends and noun.key in tables.alone)


def _replace_phrases(tokens: list[Token], tables: Language) -> list[Token]:
    """The tokens with each phrase replaced, left to right, longest first; the same list if there is none."""
    phrases = tables.phrases
    out: list[Token] = []
    copied, skip, fresh = 0, 0, False
    for at, token in enumerate(tokens):
        if at < skip:
            continue
        seconds = phrases.get("#" if token.what == "number" else token.key)
        match = None if seconds is None or token.quoted else _match(tokens, at, fresh, seconds, tables)
        if match is None:
            if fresh:
                out.append(token._replace(start=True))
                copied, fresh = at + 1, False
            continue
        out += tokens[copied:at]
        copied = skip = at + len(match.words)
        start, after = fresh or token.start, tokens[skip - 1].after
        out += _instead(match, tokens[at:skip], start, tables)
        if not match.instead and out and after:
            out[-1] = out[-1]._replace(after=out[-1].after + after)
        fresh = start and not match.instead
    return out + tokens[copied:] if copied else tokens


def _instead(phrase: Phrase, run: list[Token], start: bool, tables: Language) -> list[Token]:
    """The tokens of a phrase's canonical form; its number is that of the run."""
    out = []
    spoken = " ".join(token.text for token in run if token.what != "number")
    alone = sum(word != "#" for word in phrase.instead) == 1
    for index, word in enumerate(phrase.instead):
        after = run[-1].after if index == len(phrase.instead) - 1 else ""
        begins = start and index == 0
        if word == "#":
            number = next(token for token in run if token.what == "number")
            out.append(number._replace(after=after, start=begins))
        else:
            out.append(Token(word, tables.classes.get(word, "word"), spoken if alone else word, begins, False, after))
    return out


def _match(
    tokens: list[Token], at: int, fresh: bool, seconds: dict[str, tuple[Phrase, ...]], tables: Language
) -> Phrase | None:
    """The longest phrase that stands at `at`."""
    found: tuple[Phrase, ...] = seconds.get("", ())
    if at + 1 < len(tokens) and len(seconds) > (1 if found else 0):
        following = tokens[at + 1]
        found = seconds.get("#" if following.what == "number" else following.key, ()) + found
    for phrase in found:
        stop = at + len(phrase.words)
        if stop > len(tokens) or (phrase.start and not (tokens[at].start or fresh or at == 0)):
            continue
        run = tokens[at:stop]
        if any(token.after for token in run[:-1]) or not all(map(_fits, run, phrase.words)):
            continue
        if phrase.end and not _at_end(tokens, at, stop, tables):
            continue
        if phrase.greeting and not _greets(tokens, stop, tables):
            continue
        if not (phrase.instead or phrase.end) and run[0].what == "name":
            continue
        return phrase
    return None


def _at_end(tokens: list[Token], at: int, stop: int, tables: Language) -> bool:
    """Whether a run ends its clause and is not what the clause speaks about ("how to say thanks")."""
    if stop < len(tokens) and not (_PAUSE.intersection(tokens[stop - 1].after) or tokens[stop].start):
        return False
    if at == 0 or tokens[at].start or _PAUSE.intersection(tokens[at - 1].after):
        return True
    before = tokens[at - 1]
    return before.key not in tables.saying and before.what not in {"relation", "conjunction"} and at >= 2


def _greets(tokens: list[Token], stop: int, tables: Language) -> bool:
    """Whether a greeting is followed by punctuation, a request or a question."""
    if _PAUSE.intersection(tokens[stop - 1].after) or stop == len(tokens):
        return True
    following = tokens[stop]
    return following.what in {"question", "person", "modality"} or following.key in tables.verbs


def _fits(token: Token, word: str) -> bool:
    return not token.quoted and (token.what == "number" if word == "#" else token.key == word)
