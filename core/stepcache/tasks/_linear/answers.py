"""What the answer is and how it is written: numbers, the final assignment, "no solution", the worked fallback."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from stepcache.tasks._linear.expressions import plain_value
from stepcache.tasks._linear.prompts import Equation, Reading

__all__ = ["answer_language", "fallback", "final_line", "says_all", "says_none", "states_text", "written"]


def written(value: Fraction) -> str:
    """A number in plain text, exact: 5, -3, 5/7."""
    return str(value)


_TEMPLATES: Final[dict[str, dict[str, str]]] = {
    "en": {
        "start": "Start with the equation: {0}",
        "collect": "Collect the terms: {0}",
        "divide": "Divide both sides by {1}: {0}",
        "sub": "Subtract {1} from both sides: {0}",
        "add": "Add {1} to both sides: {0}",
        "swap": "Swap the sides: {0}",
        "none": "The two sides are never equal.",
        "all": "The two sides are always equal.",
        "answer": "Solution: {0}",
    },
    "de": {
        "start": "Gegebene Gleichung: {0}",
        "collect": "Fasse zusammen: {0}",
        "divide": "Dividiere beide Seiten durch {1}: {0}",
        "sub": "Subtrahiere {1} auf beiden Seiten: {0}",
        "add": "Addiere {1} auf beiden Seiten: {0}",
        "swap": "Vertausche die Seiten: {0}",
        "none": "Die beiden Seiten sind nie gleich.",
        "all": "Die beiden Seiten sind immer gleich.",
        "answer": "Lösung: {0}",
    },
    "es": {
        "start": "Ecuación dada: {0}",
        "collect": "Agrupa los términos: {0}",
        "divide": "Divide ambos lados entre {1}: {0}",
        "sub": "Resta {1} de ambos lados: {0}",
        "add": "Suma {1} a ambos lados: {0}",
        "swap": "Intercambia los lados: {0}",
        "none": "Los dos lados nunca son iguales.",
        "all": "Los dos lados siempre son iguales.",
        "answer": "Solución: {0}",
    },
    "fr": {
        "start": "Équation donnée : {0}",
        "collect": "Regroupe les termes : {0}",
        "divide": "Divise les deux côtés par {1} : {0}",
        "sub": "Soustrais {1} des deux côtés : {0}",
        "add": "Ajoute {1} aux deux côtés : {0}",
        "swap": "Échange les côtés : {0}",
        "none": "Les deux côtés ne sont jamais égaux.",
        "all": "Les deux côtés sont toujours égaux.",
        "answer": "Solution : {0}",
    },
    "zh": {
        "start": "原方程：{0}",
        "collect": "合并同类项：{0}",
        "divide": "两边同时除以 {1}：{0}",
        "sub": "两边同时减去 {1}：{0}",
        "add": "两边同时加上 {1}：{0}",
        "swap": "交换两边：{0}",
        "none": "两边永远不相等。",
        "all": "两边总是相等。",
        "answer": "解：{0}",
    },
    "ar": {
        "start": "المعادلة: {0}",
        "collect": "اجمع الحدود: {0}",
        "divide": "اقسم الطرفين على {1}: {0}",
        "sub": "اطرح {1} من الطرفين: {0}",
        "add": "أضف {1} إلى الطرفين: {0}",
        "swap": "بدل الطرفين: {0}",
        "none": "الطرفان غير متساويين أبدا.",
        "all": "الطرفان متساويان دائما.",
        "answer": "الحل: {0}",
    },
}
_NO_SOLUTION: Final = {
    "en": "no solution",
    "de": "keine Lösung",
    "es": "sin solución",
    "fr": "pas de solution",
    "zh": "无解",
    "ar": "لا يوجد حل",
}
_ALL_NUMBERS: Final = {
    "en": "all numbers",
    "de": "alle Zahlen",
    "es": "todos los números",
    "fr": "tous les nombres",
    "zh": "所有实数",
    "ar": "جميع الأعداد",
}

_SAYS_NONE: Final = re.compile(
    r"\bno (?:real )?solutions?\b|\bhas no\b.{0,20}\bsolution|\bnot? any solution|\bno value of\b|\bno such\b|"
    r"\bcannot be solved|\bdoes(?: not|n't) have (?:a |any )?(?:real )?solution|"
    r"\binconsistent\b|\bkeine (?:reelle )?lösung|\bunlösbar\b|\bnicht lösbar\b|\b(?:sin|no (?:tiene|hay)) "
    r"(?:ninguna )?soluci[oó]n|\b(?:pas|aucune) (?:de )?solution|无解|没有解|没有实数解|"
    r"لا يوجد حل|ليس لها حل|لا حل|\\emptyset|∅|\\varnothing"
)
_SAYS_ALL: Final = re.compile(
    r"\ball (?:real )?(?:numbers|values|reals)\b|\bany (?:real )?(?:number|value)\b|\bevery (?:real )?(?:number|"
    r"value)\b|\binfinitely many\b|\binfinite(?: number of)? solutions\b|\balways true\b|\bis an identity\b|"
    r"\balle (?:reellen )?zahlen\b|\bjede (?:reelle )?zahl\b|\bunendlich viele\b|\btodos los (?:n[uú]meros|"
    r"valores)\b|\binfinitas soluciones\b|\bcualquier n[uú]mero\b|"
    r"\btous les (?:nombres|réels)\b|\binfinité de solutions\b|\btout (?:nombre|réel)\b|"
    r"所有实数|任意实数|任意数|无穷多|无数个?解|"
    r"جميع الأعداد|كل الأعداد|عدد لا نهائي"
)


def says_none(text: str) -> bool:
    """Whether a reply says, in one of the known languages, that there is no solution."""
    return _SAYS_NONE.search(text.lower()) is not None


def says_all(text: str) -> bool:
    """Whether a reply says, in one of the known languages, that every number is a solution."""
    return _SAYS_ALL.search(text.lower()) is not None


def answer_language(reading: Reading) -> str:
    """The language the reply should have: the one asked for, else the prompt's, else English."""
    asked = {
        "in_english": "en",
        "in_french": "fr",
        "in_german": "de",
        "in_spanish": "es",
        "in_chinese": "zh",
        "in_arabic": "ar",
    }
    return next((asked[name] for name in reading.demands if name in asked), reading.language or "en")


def final_line(equation: Equation, language: str) -> str:
    """`x = 6`, or that there is none, or that all numbers will do."""
    solution = equation.solution
    if solution is not None:
        return f"{equation.variable} = {written(solution)}"
    return (_ALL_NUMBERS if equation.always else _NO_SOLUTION)[language]


def fallback(reading: Reading) -> str:
    """A short worked solution in the user's variable and language that meets the demands; computed, not generated."""
    equation, demands = reading.equation, reading.demands
    language = answer_language(reading)
    last = final_line(equation, language)
    if "value_only" in demands and equation.solution is not None:
        return written(equation.solution)
    if {"value_only", "answer_only", "no_words"} & set(demands) and "numbered" not in demands:
        return last
    steps = _worked(equation, _TEMPLATES[language])
    if "numbered" in demands and len(steps) < 2:
        steps.append(_TEMPLATES[language]["answer"].format(last))
    if "in_latex" in demands:
        steps = [
            re.sub(
                r"[^:：]*=.*",
                lambda m: " $" + m.group().strip() + "$" if m.group().startswith(" ") else f"${m.group()}$",
                s,
            )
            for s in steps
        ]
    if "numbered" in demands or len(steps) > 1:
        steps = [f"{i}. {step}" for i, step in enumerate(steps, 1)]
    return "\n".join(steps) + f"\n\n{last}"


def _worked(equation: Equation, words: dict[str, str]) -> list[str]:
    variable = equation.variable
    (a, b), (c, d) = plain_value(equation.left), plain_value(equation.right)
    steps = [words["start"].format(_plain(equation))]

    def state() -> str:
        return f"{_side(a, b, variable)} = {_side(c, d, variable)}"

    def say(name: str, operand: str = "") -> None:
        steps.append(words[name].format(state(), operand))

    if state() != _plain(equation):
        say("collect")
    if a == c:
        steps.append(words["all" if b == d else "none"])
        return steps
    if a == 0:
        a, b, c, d = c, d, a, b
        say("swap")
    if c:
        operand = _side(abs(c), Fraction(0), variable)
        name = "sub" if c > 0 else "add"
        a, c = a - c, Fraction(0)
        say(name, operand)
    if b:
        operand, name = written(abs(b)), "sub" if b > 0 else "add"
        b, d = Fraction(0), d - b
        say(name, operand)
    if a != 1:
        operand = written(a) if a.denominator == 1 else f"({written(a)})"
        a, d = Fraction(1), d / a
        say("divide", operand)
    return steps


def states_text(
    equation: Equation, reached: tuple[Fraction, Fraction, Fraction, Fraction] | None
) -> tuple[str, list[str]]:
    """A state in words, and the states between it and the solution: "2x + 3 = 15" and ["2x = 12"]."""
    variable = equation.variable
    if reached is None:
        (a, b), (c, d) = plain_value(equation.left), plain_value(equation.right)
        so_far = equation.text
    else:
        a, b, c, d = reached
        so_far = f"{_side(a, b, variable)} = {_side(c, d, variable)}"
    if not a:
        a, b, c, d = c, d, a, b
    isolated = f"{_side(a - c, Fraction(0), variable)} = {written(d - b)}"
    return so_far, [isolated] if (b or c) and a - c != 1 else []


def _plain(equation: Equation) -> str:
    return equation.text if "\\" not in equation.text else f"${equation.text}$"


def _side(coefficient: Fraction, constant: Fraction, variable: str) -> str:
    """A collected side in plain text: 2x - 3, (1/2)x, 7."""
    if not coefficient:
        return written(constant)
    size = abs(coefficient)
    factor = "" if size == 1 else written(size) if size.denominator == 1 else f"({written(size)})"
    if factor and len(variable) > 1:
        factor += "*"
    lead = ("-" if coefficient < 0 else "") + factor + variable
    return lead if not constant else f"{lead} {'-' if constant < 0 else '+'} {written(abs(constant))}"
