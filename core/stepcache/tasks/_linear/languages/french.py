"""How one asks for a solution in French, and what one may demand."""

from __future__ import annotations

from stepcache.tasks._linear.wording import wording

__all__ = ["WORDING"]

WORDING = wording(
    {
        "verb": "résous|résoudre|résolvez|resous|resoudre|trouve|trouver|trouvez|calcule|calculer|calculez|détermine|"
        "déterminer|déterminez|isole|isolez",
        "object": "(?:(?:l'|la|cette|suivante|donnée|une|le|ce) ?)*(?:l'équation|l'equation|l’équation|équation|"
        "equation|problème)(?: linéaire)?(?: suivante| ci-dessous)?",
        "goal": "(?:(?:la|le|les) )*(?:valeur|valeurs|solution|l'inconnue|inconnue|variable)(?: (?:de|pour))?(?: V)?|V",
        "where": "si|dans|quand|pour|de|tel que|telle que|sachant que|à partir de|où",
        "p": r"[,:;.?]? ?",
    },
    (
        "<verb>(?: pour V)?<p> ?(?:<object><p> )?E<p> ?(?:(?:et )?(?:pour|pour trouver|trouve|calcule|donne|en) "
        "<goal>)?",
        "<verb> <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:quelle est|que vaut|combien vaut|donne|donne-moi|donnez) <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:quelle|pour quelle) valeur de V (?:satisfait|vérifie|résout|a-t-on) (?:<object> )?E",
        "(?:si|étant donné|sachant que) (?:<object> )?E<p> ?(?:alors )?(?:que vaut|combien vaut|quelle est|"
        "trouve|calcule|détermine) <goal>",
        "(?:<object><p> )?E<p> ?(?:s'il (?:te|vous) plaît<p> ?)?(?:<verb>(?: pour)? <goal>|<verb>(?: <object>)?|"
        "pour <goal>|que vaut V)",
    ),
    "s'il vous plaît|s'il te plaît|s’il vous plaît|s’il te plaît|svp|stp|bonjour|salut|merci|merci beaucoup|"
    "peux-tu|pouvez-vous|peux tu|pouvez vous|pourrais-tu|je veux|je voudrais|aide-moi à|maintenant|exercice|et|"
    "puis|ensuite",
    {
        "numbered": "(?:en|avec|par)(?: des)? étapes numérotées|(?:en|sous forme de) liste numérotée|"
        "numérote les étapes",
        "steps": "étape par étape|pas à pas|(?:montre|montrez|écris|donne|affiche|détaille)(?: (?:toutes|les|tes|le|"
        "chaque))* (?:étapes|étape|calculs|raisonnement|démarche)|avec (?:toutes )?(?:les )?étapes",
        "explain": "(?:et )?(?:explique|expliquez)(?: (?:les|ta|la|chaque|ton|le|tes))*(?: (?:étapes|étape|solution|"
        "démarche|raisonnement|réponse))?|avec explication",
        "brief": "brièvement|réponse courte|sois bref",
        "no_words": "sans (?:explication|explications|autre texte|étapes)|rien d'autre",
        "value_only": "(?:(?:donne|donnez|écris|réponds avec|réponds|renvoie)(?:-moi)? )?(?:seulement|"
        "uniquement|juste)(?: "
        "avec)? (?:la valeur|le nombre)(?: de V)?",
        "answer_only": "(?:(?:donne|donnez|écris|réponds avec|renvoie)(?:-moi)? )?(?:seulement|uniquement|juste) (?:la "
        "réponse|la solution|le résultat)(?: finale?)?",
        "end_form": "(?:termine|finis|conclus)(?: (?:la|ta) (?:réponse|solution))? (?:par|avec)(?: la ligne)?:? ?A|la "
        "dernière ligne (?:doit être|est|sera):? ?A",
        "in_latex": "(?:réponds |écris )?(?:en|avec|utilise) latex",
        "in_english": "(?:réponds )?en anglais",
        "in_french": "(?:réponds )?en français",
        "in_german": "(?:réponds )?en allemand",
        "in_spanish": "(?:réponds )?en espagnol",
        "with_check": "(?:vérifie|vérifiez) (?:ta|la|le) (?:réponse|solution|résultat)|avec vérification",
    },
    True,
)
