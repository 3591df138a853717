"""How one asks for a solution in German, and what one may demand."""

from __future__ import annotations

from stepcache.tasks._linear.wording import wording

__all__ = ["WORDING"]

WORDING = wording(
    {
        "verb": "löse|lösen sie|löst|berechne|berechnen sie|bestimme|bestimmen sie|finde|finden sie|ermittle|"
        "ermitteln sie|rechne|rechnen sie",
        "object": "(?:(?:die|diese|folgende|gegebene|lineare|einfache|der|dieser|folgenden|linearen|nächste) "
        ")*(?:gleichung|aufgabe)",
        "goal": "(?:(?:den|die|der|das|genauen) )*(?:wert|lösung|unbekannte|variable|ergebnis)(?: (?:von|für|der "
        "unbekannten|der variablen))?(?: V)?|V",
        "where": "wenn|in|aus|für|mit|falls|bei|von|so dass|sodass|der",
        "p": r"[,:;.?]? ?",
    },
    (
        "<verb><p> ?(?:<object><p> )?E<p> ?(?:nach V auf|nach V|für V|auf nach V|und (?:finde|bestimme|berechne) "
        "<goal>|(?:finde|bestimme|berechne) <goal>)?(?: auf)?",
        "<verb> nach V(?: auf)?<p> ?(?:<object><p> )?E",
        "<verb> <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E(?: gilt| ist| erfüllt| auf)?",
        "(?:was ist|wie groß ist|wie lautet|wie gross ist|gib|nenne) <goal><p> ?(?:<where> )?<p>(?:<object><p> "
        ")?E(?: gilt| ist)?",
        "für (?:welches|welchen wert von) V (?:gilt|ist)(?: <object>)?:? ?E(?: erfüllt| wahr)?",
        "(?:wenn|falls|gegeben)(?: ist)?:? (?:<object> )?E(?: gilt| ist)?<p> ?(?:was ist|dann ist|bestimme|"
        "berechne|finde) <goal>",
        "(?:<object><p> )?E<p> ?(?:bitte )?(?:<verb>(?: nach V(?: auf)?| für V| <goal>)?|auflösen nach V|"
        "nach V auflösen|"
        "was ist <goal>)",
    ),
    "bitte|hallo|danke|vielen dank|danke schön|kannst du|könntest du|können sie|könnten sie|ich möchte|ich muss|"
    "hilf mir|mir|nun|jetzt|aufgabe|und|dann|zu lösen",
    {
        "numbered": "(?:in|mit|als)(?: \\w+)? ?nummerierten schritten|als nummerierte liste|nummeriere die schritte",
        "steps": "schritt für schritt|schrittweise|(?:zeige|zeig|zeigen sie|gib|schreibe)(?: mir)?(?: (?:alle|die|"
        "deine|jeden|den))* (?:schritte|schritt|rechenweg|lösungsweg|rechenschritte|zwischenschritte)(?: an| "
        "auf)?|mit (?:rechenweg|lösungsweg|allen schritten|zwischenschritten)",
        "explain": "(?:und )?(?:erkläre|erklär|erklären sie|begründe)(?: (?:die|deine|jeden|alle|den|es|mir))*(?: "
        "(?:schritte|schritt|lösung|rechenweg|lösungsweg))?|mit erklärung",
        "brief": "kurz|knapp|kurze antwort",
        "no_words": "ohne (?:erklärung|erklärungen|rechenweg|text|weiteren text)|keine erklärung|sonst nichts",
        "value_only": "(?:(?:gib|nenne|schreibe|antworte mit|antworte)(?: mir)? )?nur (?:den|die|"
        "mit dem)? ?(?:wert|zahl|"
        "zahlenwert)(?: von V)?(?: an)?",
        "answer_only": "(?:(?:gib|nenne|schreibe|zeige)(?: mir)? )?nur (?:die|das) (?:antwort|lösung|ergebnis|"
        "endergebnis)(?: an)?",
        "end_form": "(?:beende|schließe|ende)(?: (?:die|deine) (?:antwort|lösung))? mit(?: der zeile| der letzten "
        "zeile)?:? ?A(?: ab)?|die letzte zeile (?:ist|soll|lautet):? ?A(?: sein| lauten)?",
        "in_latex": "(?:antworte |schreibe )?(?:in|mit) latex",
        "in_english": "(?:antworte )?auf englisch",
        "in_french": "(?:antworte )?auf französisch",
        "in_german": "(?:antworte )?auf deutsch",
        "in_spanish": "(?:antworte )?auf spanisch",
        "with_check": "(?:mit|mache die|und) probe|prüfe (?:das|dein) ergebnis|überprüfe (?:die|deine) lösung",
    },
    True,
)
