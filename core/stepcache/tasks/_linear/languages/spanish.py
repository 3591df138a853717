"""How one asks for a solution in Spanish, and what one may demand."""

from __future__ import annotations

from stepcache.tasks._linear.wording import wording

__all__ = ["WORDING"]

WORDING = wording(
    {
        "verb": "resuelve|resuelva|resolver|halla|halle|encuentra|encuentre|calcula|calcule|determina|determine|"
        "despeja|despeje|resuélveme|resuelveme|soluciona",
        "object": "(?:(?:la|esta|siguiente|dada|el|este|lineal|una) )*(?:ecuación|ecuacion|problema)(?: lineal)?(?: "
        "siguiente)?",
        "goal": "(?:(?:el|la|los) )*(?:valor|valores|solución|solucion|incógnita|incognita|variable)(?: (?:de|"
        "para))?(?: la (?:variable|incógnita))?(?: V)?|V",
        "where": "si|en|cuando|para|de|dado que|tal que|para que|donde|sabiendo que|a partir de",
        "p": r"[,:;.?]? ?",
    },
    (
        "<verb>(?: para V)?<p> ?(?:<object><p> )?E<p> ?(?:(?:y )?(?:para|para encontrar|para hallar|en|halla|"
        "encuentra|calcula|da|respecto a|por) <goal>)?",
        "<verb> <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:cuál es|cual es|cuánto es|cuanto es|cuánto vale|cuanto vale|dime|da) <goal><p> ?(?:<where> "
        ")?<p>(?:<object><p> )?E",
        "(?:qué|que|cuál) valor de V (?:satisface|cumple|resuelve) (?:<object> )?E",
        "(?:si|dado|dada|dado que) (?:<object> )?E<p> ?(?:entonces )?(?:cuánto vale|cuál es|halla|encuentra|"
        "calcula|determina|despeja) <goal>",
        "(?:<object><p> )?E<p> ?(?:por favor<p> ?)?(?:<verb>(?: para)? <goal>|<verb>(?: la| <object>)?|"
        "para <goal>|cuánto vale V)",
    ),
    "por favor|hola|gracias|muchas gracias|puedes|podrías|puede|podría|necesito|quiero|ayúdame a|ahora|ejercicio|"
    "problema|y|luego|me",
    {
        "numbered": "(?:en|con|usando) pasos numerados|(?:en|con|como) una lista numerada|numera los pasos",
        "steps": "paso a paso|paso por paso|(?:muestra|muéstrame|escribe|da|indica|muestre)(?: (?:todos|los|cada|el|"
        "tus))* (?:pasos|paso|procedimiento|desarrollo|trabajo)|con (?:todos los )?pasos|con procedimiento",
        "explain": "(?:y )?explica(?: (?:el|los|tu|cada|la))*(?: (?:pasos|paso|procedimiento|solución|razonamiento|"
        "respuesta|proceso))?|con explicación",
        "brief": "brevemente|respuesta breve|sé breve",
        "no_words": "sin (?:explicación|explicaciones|más texto|pasos|procedimiento)|nada más",
        "value_only": "(?:(?:da|dame|escribe|responde con|devuelve|indica|di) )?(?:solo|sólo|solamente|únicamente)(?: "
        "con)? el (?:valor|número)(?: de V)?",
        "answer_only": "(?:(?:da|dame|escribe|responde con|devuelve|indica|di) )?(?:solo|sólo|solamente|"
        "únicamente) (?:la|"
        "el) (?:respuesta|solución|resultado)(?: final)?",
        "end_form": "(?:termina|finaliza|acaba|concluye)(?: (?:la|tu) (?:respuesta|solución))? con(?: la línea| la "
        "última línea)?:? ?A|la última línea (?:debe ser|es|será):? ?A",
        "in_latex": "(?:responde |escribe )?(?:en|con|usa) latex",
        "in_english": "(?:responde )?en inglés",
        "in_french": "(?:responde )?en francés",
        "in_german": "(?:responde )?en alemán",
        "in_spanish": "(?:responde )?en español",
        "with_check": "(?:comprueba|verifica) (?:la|tu|el) (?:respuesta|solución|resultado)|con comprobación",
    },
    True,
)
