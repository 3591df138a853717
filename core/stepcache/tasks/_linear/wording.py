"""The closed tables of harmless wording: how one asks for the solution of an equation, and what one may demand.

A prompt is written as a skeleton: lower case, the equation as E, its variable as V, an answer form such as
"x = <value>" as A. What these tables do not know is not harmless, and such a prompt makes no spec.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["CANONICAL", "DEMAND_WORDS", "LANGUAGES", "Wording"]


@dataclass(frozen=True, slots=True)
class Wording:
    """How one language asks: `cores` hold the equation, `fillers` mean nothing, `demands` are named."""

    cores: tuple[re.Pattern[str], ...]
    fillers: re.Pattern[str]
    demands: tuple[tuple[str, re.Pattern[str]], ...]
    decimal_comma: bool | None


def _wording(
    parts: dict[str, str], cores: tuple[str, ...], fillers: str, demands: dict[str, str], decimal_comma: bool | None
) -> Wording:
    def fill(pattern: str) -> str:
        for _ in range(3):
            for name, part in parts.items():
                pattern = pattern.replace(f"<{name}>", f"(?:{part})")
        return pattern

    edge_start, edge_stop = r"(?<!\w)", r"(?!\w)"
    return Wording(
        tuple(re.compile(edge_start + fill(core) + edge_stop) for core in cores),
        re.compile(rf"[ .,:;!?\n]+|{edge_start}(?:{fill(fillers)}){edge_stop}"),
        tuple((name, re.compile(edge_start + f"(?:{fill(demand)})" + edge_stop)) for name, demand in demands.items()),
        decimal_comma,
    )


_ENGLISH = _wording(
    {
        "verb": "solve|find|determine|calculate|compute|work out|figure out",
        "object": "(?:(?:the|this|following|given|linear|simple|algebraic|algebra|math|mathematical|below|my|next|a) )*(?:equation|problem)(?: below)?",
        "goal": "(?:(?:the|exact|correct) )*(?:value|values|solution|solutions|unknown|unknown value|variable|root)(?: (?:of|for))?(?: the (?:variable|unknown))?(?: V)?|V",
        "where": "if|when|given that|given|such that|so that|where|in|from|using|by solving|for which|that satisfies|that solves|to|of|for",
        "p": r"[,:;.]? ?",
        "true": "true|hold|holds|hold true|holds true|is true|a true statement",
    },
    (
        "(?:<verb>|isolate) for V<p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:<verb>|isolate) (?:for )?<goal><p> ?(?:<where> )?<p>(?:<object><p> )?E(?: <true>)?",
        "<verb><p> ?(?:<object><p> )?E<p> ?(?:(?:and )?(?:for|to find|to get|find|give|determine|calculate|what is|state|tell me) <goal>)?",
        "(?:what is|what's|what are|give me|give|tell me|state) <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E(?: <true>)?",
        "what (?:value|values) (?:of|for) V (?:satisfies|satisfy|solves|solve|makes|make) (?:<object> )?E(?: <true>)?",
        "(?:for )?(?:what|which) (?:value|values) of V (?:is|does) (?:<object> )?E <true>",
        "(?:if|given|given that|when) (?:<object> )?E<p> ?(?:then )?(?:what is|what's|find|solve for|determine|calculate|compute) <goal>",
        "(?:<object><p> )?E<p> ?(?:<verb> (?:(?:it|this|<object>) )?(?:for )?(?:<goal>)?|for <goal>|(?:what is|what's) <goal>)",
        "(?:<object><p> )?E<p> ?<verb>(?: (?:it|this|<object>))?",
        "(?:<object><p> )?E<p> ?A",
        "(?:<object><p> )?E",
    ),
    "please|pls|kindly|hi|hello|hey|now|ok|okay|thanks|thanks a lot|thank you|thank you very much|can you|could you|would you|will you|"
    "i want you to|i want to|i would like to|i'd like to|i would like you to|i need to|i need you to|help me to|help me|let's|let us|"
    "we need to|you need to|question|exercise|task|problem|algebra|math|your task is to|try to|and|then|also|there|for me|quickly|carefully|correctly",
    {
        "numbered": "(?:(?:show|give|write|list|present|number)(?: me)?(?: all)?(?: of)?(?: the| your)? (?:steps|work|working|solution|answer) )?(?:(?:in|as|with|using|use)(?: a| clear)?) ?numbered (?:steps|list|list of steps)|number (?:the|your|all|each|every) steps?|(?:use|give|show|write)(?: the)? numbered steps",
        "steps": "(?:(?:do|solve|show|explain|work through|work|go|proceed|answer)(?: it| this| me| the solution)? )?(?:(?:with|in|by|through|using|give|provide|show|write|a|the|detailed|clear|full) )*step ?-? ?by ?-? ?step(?: solution| explanation| answer| process| way)?|(?:(?:show|give|write|include|provide|display|list|explain|present|solve)(?: me| it| this)? )?(?:(?:a|all|each|every|the|your|of|full|detailed|clear|complete|intermediate|individual) )*(?:steps|step|work|working|workings|calculations|solution steps)|(?:with|in|by showing|and show|showing)(?: (?:all|the|your|clear|detailed|full|of))* (?:steps|work|working)|one step at a time",
        "explain": "(?:and )?explain(?: (?:your|the|each|every|all|how|it))*(?: (?:reasoning|steps|step|solution|answer|work|process))?|(?:with|give|including)(?: an?| your| the)? explanations?|show your reasoning|justify each step",
        "brief": "briefly|concisely|be brief|be concise|(?:keep it|make it) (?:short|brief)|short answer",
        "no_words": "no (?:explanation|explanations|words|other text|text|extra text|steps|work)(?: needed| please)?|without (?:explanation|explanations|any explanation|any other text|showing (?:the |your )?(?:steps|work)|steps)|(?:and )?nothing else",
        "value_only": "(?:(?:give|return|output|write|reply with|answer with|respond with|provide|print|state|show|tell)(?: me)? )?(?:only|just)(?: with)? (?:the )?(?:(?:final|numeric|numerical|exact) )?(?:value|number)(?: of V| for V)?|(?:give|return|output|write|reply|answer|respond) only with (?:the )?(?:value|number)(?: of V)?",
        "answer_only": "(?:(?:give|return|output|write|reply with|answer with|respond with|provide|print|state|show|tell)(?: me)? )?(?:only|just) (?:the )?(?:final )?(?:answer|solution|result)(?: for V)?|(?:only|just) A|(?:reply|answer|respond) (?:only )?with A only",
        "end_form": "(?:end|finish|conclude|close)(?: (?:your|the) (?:answer|reply|response|solution)| it)? with(?: (?:the|a)(?: (?:final|last))? line| the text)?:? ?A|(?:the|your)(?: (?:very))? (?:last|final) line (?:must be|should be|must read|should read|is|being):? ?A|(?:give|write|state|present)(?: me)? (?:the|your) (?:final )?(?:answer|result|solution) (?:as|in the form|in the form of|like this|like|on the last line as):? ?A",
        "in_latex": "(?:(?:use|write|answer|format|reply|respond|give)(?: it| (?:the|your|all)(?: \\w+)?)? )?(?:in|with|using|use) latex(?: format| notation| formatting)?|use latex",
        "in_english": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in english",
        "in_french": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in french",
        "in_german": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in german",
        "in_spanish": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in spanish",
        "in_chinese": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in chinese",
        "in_arabic": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in arabic",
        "with_check": "(?:check|verify|double ?-? ?check) (?:your|the) (?:answer|solution|result|work)|(?:with|include|and)(?: a)? (?:check|verification)",
    },
    False,
)

_GERMAN = _wording(
    {
        "verb": "löse|lösen sie|löst|berechne|berechnen sie|bestimme|bestimmen sie|finde|finden sie|ermittle|ermitteln sie|rechne|rechnen sie",
        "object": "(?:(?:die|diese|folgende|gegebene|lineare|einfache|der|dieser|folgenden|linearen|nächste) )*(?:gleichung|aufgabe)",
        "goal": "(?:(?:den|die|der|das|genauen) )*(?:wert|lösung|unbekannte|variable|ergebnis)(?: (?:von|für|der unbekannten|der variablen))?(?: V)?|V",
        "where": "wenn|in|aus|für|mit|falls|bei|von|so dass|sodass|der",
        "p": r"[,:;.]? ?",
    },
    (
        "<verb><p> ?(?:<object><p> )?E<p> ?(?:nach V auf|nach V|für V|auf nach V|und (?:finde|bestimme|berechne) <goal>|(?:finde|bestimme|berechne) <goal>)?(?: auf)?",
        "<verb> nach V(?: auf)?<p> ?(?:<object><p> )?E",
        "<verb> <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E(?: gilt| ist| erfüllt| auf)?",
        "(?:was ist|wie groß ist|wie lautet|wie gross ist|gib|nenne) <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E(?: gilt| ist)?",
        "für (?:welches|welchen wert von) V (?:gilt|ist)(?: <object>)?:? ?E(?: erfüllt| wahr)?",
        "(?:wenn|falls|gegeben)(?: ist)?:? (?:<object> )?E(?: gilt| ist)?<p> ?(?:was ist|dann ist|bestimme|berechne|finde) <goal>",
        "(?:<object><p> )?E<p> ?(?:<verb>(?: nach V(?: auf)?| für V| <goal>)?|auflösen nach V|nach V auflösen|was ist <goal>)",
    ),
    "bitte|hallo|danke|vielen dank|danke schön|kannst du|könntest du|können sie|könnten sie|ich möchte|ich muss|hilf mir|mir|nun|jetzt|aufgabe|und|dann|zu lösen",
    {
        "numbered": "(?:in|mit|als)(?: \\w+)? ?nummerierten schritten|als nummerierte liste|nummeriere die schritte",
        "steps": "schritt für schritt|schrittweise|(?:zeige|zeig|zeigen sie|gib|schreibe)(?: mir)?(?: (?:alle|die|deine|jeden|den))* (?:schritte|schritt|rechenweg|lösungsweg|rechenschritte|zwischenschritte)(?: an| auf)?|mit (?:rechenweg|lösungsweg|allen schritten|zwischenschritten)",
        "explain": "(?:und )?(?:erkläre|erklär|erklären sie|begründe)(?: (?:die|deine|jeden|alle|den|es|mir))*(?: (?:schritte|schritt|lösung|rechenweg|lösungsweg))?|mit erklärung",
        "brief": "kurz|knapp|kurze antwort",
        "no_words": "ohne (?:erklärung|erklärungen|rechenweg|text|weiteren text)|keine erklärung|sonst nichts",
        "value_only": "(?:(?:gib|nenne|schreibe|antworte mit|antworte)(?: mir)? )?nur (?:den|die|mit dem)? ?(?:wert|zahl|zahlenwert)(?: von V)?(?: an)?",
        "answer_only": "(?:(?:gib|nenne|schreibe|zeige)(?: mir)? )?nur (?:die|das) (?:antwort|lösung|ergebnis|endergebnis)(?: an)?",
        "end_form": "(?:beende|schließe|ende)(?: (?:die|deine) (?:antwort|lösung))? mit(?: der zeile| der letzten zeile)?:? ?A(?: ab)?|die letzte zeile (?:ist|soll|lautet):? ?A(?: sein| lauten)?",
        "in_latex": "(?:antworte |schreibe )?(?:in|mit) latex",
        "in_english": "(?:antworte )?auf englisch", "in_french": "(?:antworte )?auf französisch",
        "in_german": "(?:antworte )?auf deutsch", "in_spanish": "(?:antworte )?auf spanisch",
        "with_check": "(?:mit|mache die|und) probe|prüfe (?:das|dein) ergebnis|überprüfe (?:die|deine) lösung",
    },
    True,
)

_SPANISH = _wording(
    {
        "verb": "resuelve|resuelva|resolver|halla|halle|encuentra|encuentre|calcula|calcule|determina|determine|despeja|despeje|resuélveme|resuelveme|soluciona",
        "object": "(?:(?:la|esta|siguiente|dada|el|este|lineal|una) )*(?:ecuación|ecuacion|problema)(?: lineal)?(?: siguiente)?",
        "goal": "(?:(?:el|la|los) )*(?:valor|valores|solución|solucion|incógnita|incognita|variable)(?: (?:de|para))?(?: la (?:variable|incógnita))?(?: V)?|V",
        "where": "si|en|cuando|para|de|dado que|tal que|para que|donde|sabiendo que|a partir de",
        "p": r"[,:;.]? ?",
    },
    (
        "<verb>(?: para V)?<p> ?(?:<object><p> )?E<p> ?(?:(?:y )?(?:para|para encontrar|para hallar|en|halla|encuentra|calcula|da|respecto a|por) <goal>)?",
        "<verb> <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:cuál es|cual es|cuánto es|cuanto es|cuánto vale|cuanto vale|dime|da) <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:qué|que|cuál) valor de V (?:satisface|cumple|resuelve) (?:<object> )?E",
        "(?:si|dado|dada|dado que) (?:<object> )?E<p> ?(?:entonces )?(?:cuánto vale|cuál es|halla|encuentra|calcula|determina|despeja) <goal>",
        "(?:<object><p> )?E<p> ?(?:<verb>(?: para)? <goal>|<verb>(?: la| <object>)?|para <goal>|cuánto vale V)",
    ),
    "por favor|hola|gracias|muchas gracias|puedes|podrías|puede|podría|necesito|quiero|ayúdame a|ahora|ejercicio|problema|y|luego|me",
    {
        "numbered": "(?:en|con|usando) pasos numerados|(?:en|con|como) una lista numerada|numera los pasos",
        "steps": "paso a paso|paso por paso|(?:muestra|muéstrame|escribe|da|indica|muestre)(?: (?:todos|los|cada|el|tus))* (?:pasos|paso|procedimiento|desarrollo|trabajo)|con (?:todos los )?pasos|con procedimiento",
        "explain": "(?:y )?explica(?: (?:el|los|tu|cada|la))*(?: (?:pasos|paso|procedimiento|solución|razonamiento|respuesta|proceso))?|con explicación",
        "brief": "brevemente|respuesta breve|sé breve",
        "no_words": "sin (?:explicación|explicaciones|más texto|pasos|procedimiento)|nada más",
        "value_only": "(?:(?:da|dame|escribe|responde con|devuelve|indica|di) )?(?:solo|sólo|solamente|únicamente)(?: con)? el (?:valor|número)(?: de V)?",
        "answer_only": "(?:(?:da|dame|escribe|responde con|devuelve|indica|di) )?(?:solo|sólo|solamente|únicamente) (?:la|el) (?:respuesta|solución|resultado)(?: final)?",
        "end_form": "(?:termina|finaliza|acaba|concluye)(?: (?:la|tu) (?:respuesta|solución))? con(?: la línea| la última línea)?:? ?A|la última línea (?:debe ser|es|será):? ?A",
        "in_latex": "(?:responde |escribe )?(?:en|con|usa) latex",
        "in_english": "(?:responde )?en inglés", "in_french": "(?:responde )?en francés",
        "in_german": "(?:responde )?en alemán", "in_spanish": "(?:responde )?en español",
        "with_check": "(?:comprueba|verifica) (?:la|tu|el) (?:respuesta|solución|resultado)|con comprobación",
    },
    True,
)

_FRENCH = _wording(
    {
        "verb": "résous|résoudre|résolvez|resous|resoudre|trouve|trouver|trouvez|calcule|calculer|calculez|détermine|déterminer|déterminez|isole|isolez",
        "object": "(?:(?:l'|la|cette|suivante|donnée|une|le|ce) ?)*(?:l'équation|l'equation|l’équation|équation|equation|problème)(?: linéaire)?(?: suivante| ci-dessous)?",
        "goal": "(?:(?:la|le|les) )*(?:valeur|valeurs|solution|l'inconnue|inconnue|variable)(?: (?:de|pour))?(?: V)?|V",
        "where": "si|dans|quand|pour|de|tel que|telle que|sachant que|à partir de|où",
        "p": r"[,:;.]? ?",
    },
    (
        "<verb>(?: pour V)?<p> ?(?:<object><p> )?E<p> ?(?:(?:et )?(?:pour|pour trouver|trouve|calcule|donne|en) <goal>)?",
        "<verb> <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:quelle est|que vaut|combien vaut|donne|donne-moi|donnez) <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:quelle|pour quelle) valeur de V (?:satisfait|vérifie|résout|a-t-on) (?:<object> )?E",
        "(?:si|étant donné|sachant que) (?:<object> )?E<p> ?(?:alors )?(?:que vaut|combien vaut|quelle est|trouve|calcule|détermine) <goal>",
        "(?:<object><p> )?E<p> ?(?:<verb>(?: pour)? <goal>|<verb>(?: <object>)?|pour <goal>|que vaut V)",
    ),
    "s'il vous plaît|s'il te plaît|s’il vous plaît|s’il te plaît|svp|stp|bonjour|salut|merci|merci beaucoup|peux-tu|pouvez-vous|peux tu|pouvez vous|pourrais-tu|je veux|je voudrais|aide-moi à|maintenant|exercice|et|puis|ensuite",
    {
        "numbered": "(?:en|avec|par)(?: des)? étapes numérotées|(?:en|sous forme de) liste numérotée|numérote les étapes",
        "steps": "étape par étape|pas à pas|(?:montre|montrez|écris|donne|affiche|détaille)(?: (?:toutes|les|tes|le|chaque))* (?:étapes|étape|calculs|raisonnement|démarche)|avec (?:toutes )?(?:les )?étapes",
        "explain": "(?:et )?(?:explique|expliquez)(?: (?:les|ta|la|chaque|ton|le|tes))*(?: (?:étapes|étape|solution|démarche|raisonnement|réponse))?|avec explication",
        "brief": "brièvement|réponse courte|sois bref",
        "no_words": "sans (?:explication|explications|autre texte|étapes)|rien d'autre",
        "value_only": "(?:(?:donne|donnez|écris|réponds avec|réponds|renvoie)(?:-moi)? )?(?:seulement|uniquement|juste)(?: avec)? (?:la valeur|le nombre)(?: de V)?",
        "answer_only": "(?:(?:donne|donnez|écris|réponds avec|renvoie)(?:-moi)? )?(?:seulement|uniquement|juste) (?:la réponse|la solution|le résultat)(?: finale?)?",
        "end_form": "(?:termine|finis|conclus)(?: (?:la|ta) (?:réponse|solution))? (?:par|avec)(?: la ligne)?:? ?A|la dernière ligne (?:doit être|est|sera):? ?A",
        "in_latex": "(?:réponds |écris )?(?:en|avec|utilise) latex",
        "in_english": "(?:réponds )?en anglais", "in_french": "(?:réponds )?en français",
        "in_german": "(?:réponds )?en allemand", "in_spanish": "(?:réponds )?en espagnol",
        "with_check": "(?:vérifie|vérifiez) (?:ta|la|le) (?:réponse|solution|résultat)|avec vérification",
    },
    True,
)

# Chinese is matched without spaces, so its table needs no word edges; `E`, `V` and `A` stand between characters.
_CHINESE = Wording(
    tuple(re.compile(core) for core in (
        "(?:求解|解|解出|计算|算出|解一下|求出)(?:下列|以下|下面的?|这个|这道|该|一元一次|线性)*(?:方程式?|等式|题目?)?[：:,，。.]?E[,，。.;；：:]?(?:(?:并)?(?:求|求出|解出|得出|中的?|的|关于)?(?:V)(?:的值|的解|是多少|等于多少|等于几)?|的解|中的?V(?:的值)?|的未知数)?",
        "(?:求|求出|求解|解出|计算|找出|算出)V(?:的值)?[：:,，。.]?(?:如果|已知|在|当|使得?|使)?(?:下列|以下|这个|方程式?|等式)*[：:,，]?E(?:中|中的值|成立)?(?:的值)?",
        "(?:已知|如果|若|设)(?:方程式?)?[：:]?E[,，。.]?(?:则|那么|请)?(?:求|求出|求解|计算)?V(?:的值)?(?:是多少|等于多少|等于几|是什么|为多少)?",
        "(?:方程式?|等式)[：:]?E(?:的解)?(?:是多少|是什么)?[,，。.]?(?:(?:求|求解|解出?)V?(?:的值)?)?",
        "E[,，。.]?(?:求解|求|解出|解)(?:V)?(?:的值)?",
        "E[,，。.]?V(?:的值)?(?:是多少|等于多少|等于几|=A)",
    )),
    re.compile(r"[ .,:;!?\n，。：；！？、]+|请|请你|请问|帮我|帮忙|谢谢|你好|您好|麻烦|一下|并|题目|能否|可以|我想|我要|吗"),
    tuple((name, re.compile(pattern)) for name, pattern in (
        ("numbered", "(?:用|以|按|分)?(?:编号|带编号的?)(?:的)?(?:步骤|列表)(?:列出|写出|表示|展示)?"),
        ("steps", "(?:写出|给出|列出|展示|显示|写|要求写出)?(?:详细的?|完整的?|全部|所有|每一?个?|具体的?|解题|求解|计算|解答|你的)*(?:步骤|过程)|一步一步地?|一步步地?|逐步(?:求解|解答|计算)?|分步(?:求解|解答|骤)?"),
        ("explain", "(?:并)?(?:解释|说明)(?:一下)?(?:每一步|步骤|过程|理由|原因|你的答案)?"),
        ("no_words", "(?:不要|不需要|无需|不用)(?:解释|说明|过程|步骤|其他文字)"),
        ("value_only", "(?:只|仅)(?:需|要|需要)?(?:给出|写出|回答|输出|写)(?:V的)?(?:值|数值|数字)"),
        ("answer_only", "(?:只|仅)(?:需|要|需要)?(?:给出|写出|回答|输出|写)(?:最终|最后)?(?:的)?(?:答案|结果|解)"),
        ("end_form", "(?:最后一行|结尾|最后)(?:写|是|为|写上|必须是|应为)?[：:]?A"),
        ("in_latex", "(?:用|使用)latex(?:格式)?"),
        ("in_english", "(?:请)?用英[语文](?:回答|解答|作答)"), ("in_chinese", "(?:请)?用[中汉][语文](?:回答|解答|作答)"),
        ("in_french", "(?:请)?用法[语文](?:回答|解答|作答)"), ("in_german", "(?:请)?用德[语文](?:回答|解答|作答)"),
        ("with_check", "(?:并)?(?:检验|验证|验算|检查)(?:答案|结果|你的答案)?"),
    )),
    None,
)

_ARABIC = _wording(
    {
        "verb": "حل|حلّ|اوجد|أوجد|احسب|جد|حدد|أحسب|قم بحل",
        "object": "(?:هذه |هذا )?(?:المعادلة|معادلة|المسألة)(?: الخطية| التالية| الآتية)*",
        "goal": "(?:قيمة|حل|قيم|المجهول|المتغير)(?: المتغير| المجهول)?(?: V)?|V",
        "where": "في|إذا كان|اذا كان|إذا كانت|من|حيث|علما أن|علماً أن|عندما|التي تحقق|من أجل",
        "p": r"[,:;.،؛]? ?",
    },
    (
        "<verb><p> ?(?:<object><p> )?E<p> ?(?:(?:و ?)?(?:من أجل|بالنسبة إلى|بالنسبة ل|لإيجاد|لايجاد|لـ|ل|أوجد|وأوجد|واوجد|في|إلى|ثم أوجد) ?<goal>)?",
        "<verb> <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:ما هي|ما هو|ما|كم تساوي|كم|كم هي) <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:إذا كان|إذا كانت|اذا كان|اذا كانت) (?:<object> )?E<p> ?(?:فما هي|فما|فأوجد|فاحسب|أوجد|احسب|ما هي|ما) <goal>",
        "(?:<object><p> )?E<p> ?(?:<verb>(?: <goal>| <object>)?|ما هي <goal>|ما <goal>)",
    ),
    "من فضلك|لو سمحت|رجاء|رجاءً|مرحبا|شكرا|شكراً|هل يمكنك|أريد|ساعدني في|و",
    {
        "numbered": "(?:في|مع|ب|على شكل) ?خطوات مرقمة|بخطوات مرقمة",
        "steps": "خطوة بخطوة|خطوة خطوة|(?:مع )?(?:اكتب|أظهر|اعرض|وضح|بين)? ?(?:جميع |كل )?(?:الخطوات|خطوات الحل)|بالخطوات",
        "explain": "(?:مع )?(?:اشرح|الشرح|شرح)(?: الحل| الخطوات)?",
        "value_only": "(?:اكتب|أعط|أعطني)? ?القيمة فقط|فقط القيمة|(?:اكتب|أعط|أعطني) قيمة V فقط",
        "answer_only": "(?:اكتب|أعط|أعطني)? ?(?:الجواب|الإجابة|الحل|الناتج) ?(?:النهائي|النهائية)? ?فقط|فقط (?:الجواب|الإجابة|الحل)",
        "in_english": "(?:أجب )?(?:باللغة )?(?:الإنجليزية|بالإنجليزية)", "in_arabic": "(?:أجب )?(?:باللغة العربية|بالعربية)",
    },
    None,
)

LANGUAGES: Final[dict[str, Wording]] = {
    "en": _ENGLISH, "de": _GERMAN, "es": _SPANISH, "fr": _FRENCH, "zh": _CHINESE, "ar": _ARABIC,
}

# What the residue says in place of the harmless wording, so that two ways of asking the same leave the same residue.
CANONICAL: Final[dict[str, str]] = {
    "": "«equation»",
    "en": "Solve «equation» for «variable».",
    "de": "Löse «equation» nach «variable» auf.",
    "es": "Resuelve «equation» para «variable».",
    "fr": "Résous «equation» pour «variable».",
    "zh": "求解«equation»，求«variable»。",
    "ar": "حل المعادلة «equation» لإيجاد «variable».",
}

# How a demand reads in the residue. The demands a spec can't check stay visible there for the gate to compare.
DEMAND_WORDS: Final[dict[str, str]] = {
    "numbered": "Use numbered steps.",
    "steps": "Show the steps.",
    "explain": "Explain.",
    "brief": "Be brief.",
    "no_words": "Without explanation.",
    "value_only": "Give only the value.",
    "answer_only": "Give only the answer.",
    "end_form": "End with the assignment.",
    "in_latex": "Use LaTeX.",
    "in_english": "Answer in English.",
    "in_french": "Answer in French.",
    "in_german": "Answer in German.",
    "in_spanish": "Answer in Spanish.",
    "in_chinese": "Answer in Chinese.",
    "in_arabic": "Answer in Arabic.",
    "with_check": "Check the result.",
}
