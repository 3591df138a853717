"""The operation phrases of the languages: verb, inflection, preposition, and what a change of sign makes of them."""

from __future__ import annotations

from typing import Final, Literal

from stepcache.tasks._linear.words import words

__all__ = [
    "ABOUT_WORDS",
    "ANSWER_WORDS",
    "COUNTERPART",
    "IS_WORDS",
    "OPERAND_FILLERS",
    "VERBS",
    "Operation",
    "prepositions",
]

Operation = Literal["subtract", "add", "divide", "multiply"]

# language, then (subtract, add) forms side by side: the same inflection of both verbs.
_PAIRS: Final = {
    "en": "subtract add subtracts adds subtracting adding subtracted added",
    "de": "subtrahiere addiere subtrahieren addieren subtrahiert addiert",
    "es": "resta suma restamos sumamos restar sumar restando sumando reste sume resto sumo restas sumas",
    "fr": "soustrais ajoute soustrayons ajoutons soustraire ajouter soustrayant ajoutant soustrayez ajoutez "
    "soustrait ajouté",
    "zh": "减去 加上",
    "ar": "اطرح أضف نطرح نضيف بطرح بإضافة",
}
_DIVIDE: Final = (
    "divide divides dividing divided teile teilen dividiere dividieren geteilt dividiert dividimos dividir "
    "dividiendo divida "
    "divise divisons diviser divisant divisez 除以 اقسم نقسم بقسمة"
)
_MULTIPLY: Final = (
    "multiply multiplies multiplying multiplied multipliziere multiplizieren multipliziert multiplica "
    "multiplicamos multiplicar "
    "multiplicando multiplique multiplie multiplions multiplier multipliant multipliez 乘以 اضرب نضرب بضرب"
)

VERBS: dict[str, Operation] = {}
COUNTERPART: dict[str, str] = {}  # the same inflection of the opposite verb
for _language, _line in _PAIRS.items():
    _forms = _line.split()
    for _minus, _plus in zip(_forms[::2], _forms[1::2], strict=True):
        VERBS[_minus], VERBS[_plus] = "subtract", "add"
        COUNTERPART[_minus], COUNTERPART[_plus] = _plus, _minus
VERBS.update(dict.fromkeys(_DIVIDE.split(), "divide"))
VERBS.update(dict.fromkeys(_MULTIPLY.split(), "multiply"))

# What follows an operand and changes with the verb: "subtract 3 from both sides", "add 3 to both sides".
_TO: Final = {"from": "to", "de": "a", "des": "aux", "von": "zu", "من": "إلى"}
_PREPOSITIONS: Final[dict[Operation, dict[str, str]]] = {"subtract": _TO, "add": {to: of for of, to in _TO.items()}}
_PURPOSES: Final = frozenset(
    words("get obtain isolate find give solve have make cancel eliminate remove reach leave move simplify undo see")
)
_SIDES: Final = {"both", "each", "ambos", "cada", "deux", "beiden", "الطرفين", "طرفي", "كلا"}


def prepositions(operation: Operation, word: str, following: str) -> str | None:
    """What a verb's preposition before "both sides" becomes when the verb is turned round.

    None if it need not change ("add 3 to get 2x"); empty if what it should become can't be told ("from every side").
    """
    turned = _PREPOSITIONS.get(operation, {}).get(word)
    if turned is None or following in _SIDES:
        return turned
    return None if word == "to" and following in _PURPOSES else ""


# Words that may stand between a verb and its operand.
OPERAND_FILLERS: Final = frozenset(
    words("""
both each side sides of the this that equation equations by term terms constant constants number value
coefficient which is in front with on its we wir man nun jetzt dann zuerst zunächst nous on and left right
hand resulting entire new beide beiden seiten seite der die das gleichung durch mit auf ambos ambas lados lado
miembros la el ecuación entre por de cada los las les deux côtés membres chaque côté l'équation par على من
طرفي الطرفين كلا المعادلة
""")
)
ANSWER_WORDS: Final = frozenset(
    words("""
answer solution value result lösung wert ergebnis antwort solución valor respuesta resultado solution valeur
réponse résultat 答案 解 的值 الحل الجواب قيمة
""")
)
IS_WORDS: Final = frozenset(
    words("""
is equals be ist beträgt lautet es est vaut vale 是 为 等于 هو هي
""")
)

# They mark a number as rounded.
ABOUT_WORDS: Final = frozenset(
    words("""
about approximately roughly around approx rounded nearly etwa ungefähr circa rund gerundet aproximadamente unos
cerca environ approximativement 约 大约 约为 تقريبا
""")
)
