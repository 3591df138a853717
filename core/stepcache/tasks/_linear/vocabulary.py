"""The words a worked solution may use and still be rewritten: they say nothing that depends on the numbers.

Closed on purpose (rewrite rule R1): number words, "even", "negative", "twice", "less than", "minus" and whatever else
counts or compares are missing, and so is every word nobody thought of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from stepcache.tasks._linear.phrases import VERBS
from stepcache.tasks._linear.scanner import Word
from stepcache.tasks._linear.words import words

__all__ = ["FRACTION_WORDS", "LETTERS", "signed_words", "unknown_word"]

_ENGLISH = words("""
a about above accordingly achieve across after again algebra algebraic algebraically all already also always
an and another answer any apply applying applied are arrange arrive arrives arriving as aside at away back
balance balanced balancing basic be because become becomes been before begin begins being below both boxed
break breaking bring bringing brings but by calculate calculated calculates calculating calculation
calculations can cancel cancels canceling cancelling carefully carry carrying change check checking checks
clear clearly coefficient coefficients collect collecting collects combine combined combines combining
complete completely compute computed computes computing conclude concludes confirm confirmed confirming
confirms consequently consider constant constants contain containing contains correct correctly could cross
denominator detailed details determine determined determining did distribute distributed distributes
distributing distribution distributive divide divided divides dividing division do does doing done down during
each easier easily easy either eliminate eliminated eliminates eliminating end ends ensure ensures entire
equal equality equals equation equations equivalent evaluate evaluating every exactly example expand expanded
expanding expands explain explained explanation express expressed expression expressions final finally
find finding finds finish finished first firstly follow following follows for form formula found from front
fully further get gets getting give given gives giving go goal goes going good got group grouping groups had
hand has have having help helps hence here hold holds how however i identify identifying if in including
indeed indicates information inside instead into inverse involves involving is isolate isolated isolates
isolating isolation it its itself just keep keeping keeps know known knows last lastly lead leads leave
leaves leaving left left-hand lefthand let let's lets like line linear look looking looks made main make makes
making manipulate manipulating math mathematical mathematically mathematics matches may means method might
move moved moves moving multiplication multiplied multiplies multiply multiplying must my namely need needed
needs new next no not note now number numbered numbers numerator numerical numerically obtain obtained obtaining
obtains of off okay on once-only only onto operation operations opposite or order original originally other
our out over parentheses parenthesis bracket brackets part parts perform performed performing performs place
plug plugging please position preserve preserving problem procedure proceed process property prove provided
put putting reciprocal reach reached reaches rearrange rearranged rearranging recall reduce reduced reduces reducing
regroup remain remaining remains remember remove removed removes removing replace replaced replacing
represents required respectively result resulting results rewrite rewriting rewritten rhs lhs right right-hand
righthand rule rules same satisfied satisfies satisfy satisfying see separate separating set shall should show
showing shown shows side sides similar similarly simple simplest simplification simplified simplifies simplify
simplifying simply since single so solution solutions solve solved solver solves solving some standard start
started starting starts state statement states step step-by-step steps still straightforward substitute
substituted substitutes substituting substitution such sure take taken takes taking tells term terms than-that
that that's the their them then there therefore these they thing this those though through thus to together
transform transpose transposing true try two-step undo undoing unknown until up us use used uses using value
values variable variables verification verified verifies verify verifying was way we we'd we'll we're we've
well were what when where whether which while whose why will wish with within without work worked
working works would write writing written yield yielding yields you you'll your yourself conclusion
explanation summary swap swapping swapped swaps exchange exchanging flip flipping flipped gather gathering
gathers gathered side's simplest tidy treat subject alone appear appears appearing multiplier reads read
satisfying target task today thereby together unsimplified deduce deduced deduces derive derived derives
describe concise quick quickly clean cleanly nice great excellent perfect indeed outcome ready recap
repeat rest returning revisit straight understand understanding useful via visible worked-out writes sought
desired required requested question asked asking ask reply requires require necessary enough common-sense
keeping-balance maintain maintains maintaining unchanged unaffected valid validity hold-true justify reason
reasoning logic therefore-we attach certainly intermediate line-by-line linearly lines solved-for isolates
""")
_GERMAN = words("""
aber addiere addieren alle alles also anschließend antwort auf aufgabe auflösen aus ausdruck ausklammern
ausmultiplizieren beide beiden bei bekommen bekommt berechne berechnen berechnet bestimme bestimmen betrachte
bringe bringen da dabei dadurch damit danach daher dann daraus das dass dem den der des die dies diese diesen
dieser dieses dividiere dividieren durch ein eine einem einen einer eines einsetzen endergebnis ergibt
ergebnis erhalten erhältst erhält es fassen fasse folgende folgenden folgt fertig für führt gegeben gegebene
gegebenen gelöst gesucht gesuchte geteilt gib gilt gleich gleichung gleichungen glied haben hat hier ich ihre
im in ist isolieren isoliere ist jetzt kann können kürzen konstante konstanten linke linken linker links löse
lösen lösung machen man mit multipliziere multiplizieren muss müssen nach nächste nächsten nächster noch nun
nur nächstes ordne ordnen probe prüfe prüfen rechne rechnen rechnung rechte rechten rechter rechts schließlich
schritt schritte seite seiten sich sie sind so somit stelle stellen steht stimmt subtrahiere subtrahieren
teile teilen term terme uhr um umformen umformung umstellen und uns variable variablen vereinfache
vereinfachen vereinfacht vertausche vertauschen von vor wahr weil wenn wert wie wieder wir wird wollen zu
zuerst zum zunächst zur zusammen zusammenfassen überprüfen überprüfung unbekannte auflösung lautet beträgt
setze setzen wurde werden einzelnen allein alleine
""")
_SPANISH = words("""
a agrupa agrupamos agrupar al ahora ambas ambos aplicamos aquí así aísla aislamos aislar cada calcula
calculamos cancela como comprobación comprobamos comprobar con constante constantes continuación cual de
debemos dejar del dentro despeja despejamos despejar despejando determinar divide dividimos dividir donde
ecuación el ella en encontrar encontramos entonces entre eliminar es ese esta este esto está estos expresión
final finalmente forma han haremos hacemos hallar igual incógnita intercambia intercambiamos inicial izquierda
izquierdo derecha derecho la las lado lados lo los luego lineal llegamos mantener miembro miembros mismo
método mover movemos multiplica multiplicamos multiplicar necesitamos nos obtenemos obtener obtiene operación
original otro para pasa pasamos pasar paso pasos podemos por porque primer primera primero problema que queda
quedar queremos resolver resolvemos resuelve respuesta resta restamos restar resultado reunimos se segundo
siguiente siguientes simplifica simplificamos simplificar simplificando solución son suma sumamos sumar
sustituimos sustituir sustituyendo tanto tenemos tiene término términos tercer todo todos tu un una usando
valor variable vamos verdadero verificación verificamos verificar y ya
""")
_FRENCH = words("""
a afin ainsi ajoute ajoutons ajouter alors appliquer après au aux avec avoir c'est calcul calcule calculons
calculer car ce cela ces cette chaque commence commençons comme constante constantes côté côtés d'abord d'un
dans de deux-mêmes des devient diviser divise divisons divisant donc donne donner droit droite du déterminer
écrire élimine éliminer en enfin ensuite est et étape étapes évaluer faire finale finalement final gauche il
inconnue isole isoler isolons l'inconnue l'autre l'équation équation l'expression la le les membre membres
multiplie multiplions même nous on obtenir obtenons obtient opération originale ou où par passe pour pouvons
premier première problème puis qu'on que qui remplace remplaçons remplacer reste résolution résoudre résolvons
résous résultat se si simplifie simplifier simplifions soit solution son sont soustrais soustraire soustrayons
suivante suivantes sur terme termes tous tout trouve trouver trouvons un une valeur variable vers vrai
vérification vérifie vérifier vérifions échange échangeons regroupe regroupons réponse à égal égale étant
donnée donné initiale linéaire
""")

_ARABIC = words("""
المعادلة معادلة المعطاة الأصلية من الطرفين طرفي طرف كلا إلى على في ثم أولا أولاً ثانيا ثانياً أخيرا أخيراً إذن
لذلك الحل هو هي نحصل نبسط بسط اجمع الحدود حد الحد بدل قيمة الجواب المتغير المجهول الخطوة خطوة خطوات للتحقق
تحقق نعوض عوض لحل لإيجاد نبدأ ابدأ وبالتالي و أو أن هذا هذه مع عن النتيجة الناتج نجد حيث لدينا
""")
# Chinese is written without spaces: a word must consist of these.
_CHINESE = frozenset(
    words("""
等式 方程 原方程 原式 两边 两侧 同时 都 各 移项 得到 可得 得 所以 因此 于是 从而 解 解得 解出
求解 求 首先 然后 接着 接下来 最后 最终 再 先 化简 简化 整理 合并 同类项 我们 将 把 的 值 是 为
即 步骤 步 答案 原 未知数 系数 常数 常数项 项 到 右边 左边 移到 在 需要 可以 验证 验算 检验 代入
带入 成立 给定 已知 开始 从 去 消去 除以 乘以 减去 加上 等号 一边 另一边 变量 含有 含 隔离 这个
该 让 使 交换 如下 过程 等于 和 与 并 则 有 来 了 中 结果 正确 满足 计算 如下所示 上 后 也
就是 就 式子 展开 括号 去括号 最终答案 第 由此 因为 故
""")
)
_LONGEST = max(map(len, _CHINESE))

_KNOWN = frozenset(_ENGLISH + _GERMAN + _SPANISH + _FRENCH + _ARABIC) | VERBS.keys() | frozenset(["deux"])

# One-letter words; a variable of this name can't be told from the word in prose.
LETTERS: dict[str, frozenset[str]] = {
    "en": frozenset("ai"),
    "de": frozenset(),
    "es": frozenset("aeouy"),
    "fr": frozenset("aày"),
}

# Idioms in which a number word does not count: "on one side", "both sides", "the first step".
_IDIOMS = {
    "one": {"side", "of", "by", "step", "solution", "variable", "line", "more"},
    "two": {"sides", "steps"},
    "zwei": {"seiten"},
    "dos": {"lados", "miembros"},
    "deux": {"côtés", "membres", "étapes"},
    "once": {"again", "more", "we", "you", "the"},
    "second": {"step", "we"},
    "third": {"step"},
    "both": set(),
}
_ORDINALS = frozenset(
    words("""
first second third fourth fifth secondly thirdly zweite zweiten zweitens dritte dritten drittens erste ersten
erstens segundo tercero cuarto deuxième troisième quatrième deuxièmement
""")
)

# Words for an operation: without its operand they hold for one sign only.
_SIGNED = frozenset({"addition", "subtraction"}) | {
    word for word, operation in VERBS.items() if operation in {"subtract", "add"}
}
_SIGNED_CHINESE = re.compile("加上|减去")  # written without spaces, they stand inside a longer run

# They hold only where the quotient comes out even: "simplify the fraction: x = 10/2 = 5" is idle talk of 11/2.
FRACTION_WORDS = frozenset({"fraction", "fractions", "bruch", "brüche", "fracción", "fracciones"})


def unknown_word(found: Iterable[Word], language: str) -> Word | None:
    """The first word that is not known to be harmless in a reply in this language, or None."""
    listed = list(found)
    letters = LETTERS.get(language, frozenset())
    for i, word in enumerate(listed):
        text = word.text
        if (
            (len(text) > 1 and text in _KNOWN)
            or text in _SIGNED
            or text in FRACTION_WORDS
            or text in _ORDINALS
            or (len(text) == 1 and text in letters)
        ):
            continue
        if _is_chinese(text):
            continue
        following = listed[i + 1].text if i + 1 < len(listed) else ""
        if following and following in _IDIOMS.get(text, ()):
            continue
        return word
    return None


def signed_words(found: Iterable[Word]) -> Iterator[Word]:
    """The words that name an addition or a subtraction."""
    for word in found:
        if word.text in _SIGNED:
            yield word
            continue
        for sign in _SIGNED_CHINESE.finditer(word.text):
            yield Word(sign.group(), word.start + sign.start(), word.start + sign.end(), sign.group())


def _is_chinese(text: str) -> bool:
    """Whether a run of characters can be cut into known Chinese words."""
    reached = [True] + [False] * len(text)
    for start in range(len(text)):
        if reached[start]:
            for length in range(1, _LONGEST + 1):
                if text[start : start + length] in _CHINESE:
                    reached[min(start + length, len(text))] = True
    return reached[-1]
