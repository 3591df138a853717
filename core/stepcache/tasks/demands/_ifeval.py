"""Demands by their names in IFEval (Zhou et al. 2023, arXiv 2311.07911), as its data files and others' carry them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from stepcache.errors import ConfigurationError
from stepcache.tasks.demands._base import Demand, and_, any_, not_
from stepcache.tasks.demands._content import (
    EndsWith,
    Mentions,
    NthParagraphStarts,
    OneOf,
    Postscript,
    Repeats,
)
from stepcache.tasks.demands._counts import (
    Bullets,
    CapitalWords,
    Highlights,
    Keyword,
    Letter,
    Paragraphs,
    Placeholders,
    Sections,
    Sentences,
    Words,
)
from stepcache.tasks.demands._form import Json, Lowercase, Quoted, Title, TwoResponses, Uppercase
from stepcache.tasks.demands._language import Language, NotForeign

__all__ = ["IFEVAL_KINDS", "demand_from"]

_Arguments = Mapping[str, Any]
_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _bounds(arguments: _Arguments, relation: str, number: str) -> dict[str, int]:
    """The relation of IFEval ("at least", "less than") as bounds of a count."""
    wanted, how = int(arguments[number]), str(arguments.get(relation) or "at least")
    bounds = {
        "at least": {"at_least": wanted},
        "more than": {"at_least": wanted + 1},
        "at most": {"at_most": wanted},
        "less than": {"at_most": max(wanted - 1, 0)},
        "exactly": {"at_least": wanted, "at_most": wanted},
    }
    if how not in bounds:
        raise ConfigurationError(f"{relation} takes one of {', '.join(map(repr, bounds))}, not {how!r}")
    return bounds[how]


def _exactly(number: Any) -> dict[str, int]:
    return {"at_least": int(number), "at_most": int(number)}


_MAKERS: dict[str, Callable[[_Arguments], Demand]] = {
    "change_case:capital_word_frequency": lambda a: CapitalWords(**_bounds(a, "capital_relation", "capital_frequency")),
    "change_case:english_capital": lambda a: and_(Uppercase(), NotForeign("en")),
    "change_case:english_lowercase": lambda a: and_(Lowercase(), NotForeign("en")),
    "combination:repeat_prompt": lambda a: Repeats(str(a["prompt_to_repeat"])),
    "combination:two_responses": lambda a: TwoResponses(),
    "detectable_content:number_placeholders": lambda a: Placeholders(at_least=int(a["num_placeholders"])),
    "detectable_content:postscript": lambda a: Postscript(str(a["postscript_marker"])),
    "detectable_format:constrained_response": lambda a: OneOf(_ANSWERS),
    "detectable_format:json_format": lambda a: Json(),
    "detectable_format:multiple_sections": lambda a: Sections(
        splitter=str(a["section_spliter"]), at_least=int(a["num_sections"])),
    "detectable_format:number_bullet_lists": lambda a: Bullets(**_exactly(a["num_bullets"])),
    "detectable_format:number_highlighted_sections": lambda a: Highlights(at_least=int(a["num_highlights"])),
    "detectable_format:title": lambda a: Title(),
    "keywords:existence": lambda a: and_(*(Keyword(keyword=str(word), at_least=1) for word in a["keywords"])),
    "keywords:forbidden_words": lambda a: not_(any_(*(Mentions((str(word),)) for word in a["forbidden_words"]))),
    "keywords:frequency": lambda a: Keyword(keyword=str(a["keyword"]), **_bounds(a, "relation", "frequency")),
    "keywords:letter_frequency": lambda a: Letter(
        letter=str(a["letter"]), **_bounds(a, "let_relation", "let_frequency")),
    "language:response_language": lambda a: Language(str(a["language"])),
    "length_constraints:nth_paragraph_first_word": lambda a: NthParagraphStarts(
        paragraphs=int(a["num_paragraphs"]), nth=int(a["nth_paragraph"]), word=str(a["first_word"])),
    "length_constraints:number_paragraphs": lambda a: Paragraphs(separator="***", **_exactly(a["num_paragraphs"])),
    "length_constraints:number_sentences": lambda a: Sentences(**_bounds(a, "relation", "num_sentences")),
    "length_constraints:number_words": lambda a: Words(**_bounds(a, "relation", "num_words")),
    "punctuation:no_comma": lambda a: Letter(letter=",", at_most=0),
    "startend:end_checker": lambda a: EndsWith(str(a["end_phrase"])),
    "startend:quotation": lambda a: Quoted(),
}

IFEVAL_KINDS: Mapping[str, Callable[[_Arguments], Demand]] = MappingProxyType(_MAKERS)


def demand_from(kind: str, arguments: _Arguments | None = None) -> Demand:
    """The demand that an IFEval constraint states: its instruction id and its arguments.

    Raises `ConfigurationError` for a kind that can't be checked by a machine here, or for missing arguments.
    """
    if (maker := IFEVAL_KINDS.get(kind)) is None:
        raise ConfigurationError(f"{kind!r} is no kind of demand known here; known are {', '.join(IFEVAL_KINDS)}")
    try:
        return maker(arguments or {})
    except KeyError as missing:
        raise ConfigurationError(f"{kind} takes an argument {missing}") from None
    except (TypeError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{kind} can't be made of {dict(arguments or {})!r}: {error}") from None
