"""How many numbered steps a prompt asks for, and how many a reply has; both may be unknown.

Only the plainest wording counts ("in four short steps"), so that no other number of a prompt is taken for it.
"""

from __future__ import annotations

import re

__all__ = ["asked_steps", "numbered_steps"]

_NUMBERS = {
    word: number
    for words in (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "deux trois quatre cinq six sept huit neuf dix onze douze",
    )
    for number, word in enumerate(words.split(), 2)
}
_LIKE = (
    "short|brief|clear|simple|easy|quick|concise|numbered|small|basic|precise|detailed|"
    "kurzen?|klaren?|einfachen?|nummerierten?|knappen?|courtes?|simples|claires|numérotées|brèves"
)
_STEPS = re.compile(
    rf"(?<![\w-])(?:in|with|using|exactly|mit|genau|en|con|avec|exactement) (?P<count>\d{{1,2}}|{'|'.join(_NUMBERS)}) "
    rf"(?:(?:{_LIKE}),? ){{0,3}}(?:steps|Schritten|pasos|étapes)\b"
    # "or fewer", "at most", "each": the count is open, or one of several
    r"(?! *[,(]? *(?:or|at|max|each|oder|höchstens|maximal|je|o|como|máximo|cada|ou|au|maximum|minimum|chacune?)\b)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^[#>*_ ]{0,8}(?:(?:step|schritt|paso|étape) )?(\d{1,3})(?:[.):]|\*\*)(?=[\s*_]|$)", re.MULTILINE | re.IGNORECASE
)


def asked_steps(prompt: str) -> int | None:
    """The one exact number of steps that a prompt asks for in the plainest words, or None."""
    found = {_NUMBERS.get(count.casefold()) or int(count) for count in _STEPS.findall(prompt)}
    return found.pop() if len(found) == 1 else None


def numbered_steps(reply: str) -> int | None:
    """How many steps one list numbered from 1 has; None where a reply holds no such list, or more than one."""
    numbers = [int(number) for number in _NUMBERED.findall(reply)]
    return len(numbers) if len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1)) else None
