"""How one asks for a solution in English, and what one may demand."""

from __future__ import annotations

from stepcache.tasks._linear.wording import wording

__all__ = ["WORDING"]

WORDING = wording(
    {
        "verb": "solve|find|determine|calculate|compute|work out|figure out",
        "object": "(?:(?:the|this|following|given|linear|simple|algebraic|algebra|math|mathematical|below|my|next|a) "
        ")*(?:equation|problem)(?: below)?",
        "goal": "(?:(?:the|exact|correct) )*(?:value|values|solution|solutions|unknown|unknown value|variable|"
        "root)(?: (?:of|for))?(?: the (?:variable|unknown))?(?: V)?|V",
        "where": "if|when|given that|given|such that|so that|where|in|from|using|by solving|for which|that satisfies|"
        "that solves|to|of|for",
        "polite": "(?:please|kindly|now|then)|(?:can|could|would) you(?: please)?",
        "p": r"[,:;.?]? ?",
        "true": "true|hold|holds|hold true|holds true|is true|a true statement",
    },
    (
        "(?:<verb>|isolate) for V<p> ?(?:<where> )?<p>(?:<object><p> )?E",
        "(?:<verb>|isolate) (?:for )?<goal><p> ?(?:<where> )?<p>(?:<object><p> )?E(?: <true>)?",
        "<verb><p> ?(?:<object><p> )?E<p> ?(?:(?:and )?(?:for|to find|to get|find|give|determine|calculate|what "
        "is|state|tell me) <goal>)?",
        "(?:what is|what's|what are|give me|give|tell me|state) <goal><p> ?(?:<where> )?<p>(?:<object><p> )?E(?: "
        "<true>)?",
        "(?:what|which) (?:value|values) (?:of|for) V (?:satisfies|satisfy|solves|solve|makes|make) (?:<object> "
        ")?E(?: <true>)?",
        "(?:for )?(?:what|which) (?:value|values) of V (?:is|does) (?:<object> )?E <true>",
        "(?:if|given|given that|when|from|using)<p> ?(?:<object><p> )?E<p> ?(?:then )?(?:what is|what's|solve "
        "for|<verb>(?: for)?) <goal>(?: in this equation)?",
        "<verb> (?:the )?V (?:for which|such that|so that|where|that (?:solves|satisfies)) (?:<object><p> )?E(?: "
        "<true>)?",
        "(?:<object><p> )?E<p> ?(?:<polite> )?(?:<verb> (?:(?:it|this|<object>) )?(?:for )?(?:<goal>)?(?: (?:in|"
        "from|using) "
        "this equation)?|for <goal>|(?:what is|what's) <goal>)",
        "(?:<object><p> )?E<p> ?(?:<polite> )?<verb>(?: (?:it|this|<object>))?",
        "(?:<object><p> )?E<p> ?A",
        "(?:<object><p> )?E",
    ),
    "please|pls|kindly|hi|hello|hey|now|ok|okay|thanks|thanks a lot|thank you|thank you very much|can you|could "
    "you|would you|will you|"
    "i want you to|i want to|i would like to|i'd like to|i would like you to|i need to|i need you to|help me to|"
    "help me|let's|let us|"
    "we need to|you need to|question|exercise|task|problem|algebra|math|your task is to|try to|and|then|also|to|"
    "there|for me|quickly|carefully|correctly",
    {
        "numbered": "(?:(?:show|give|write|list|present|number)(?: me)?(?: all)?(?: of)?(?: the| your)? (?:steps|work|"
        "working|solution|answer) )?(?:(?:in|as|with|using|use)(?: a| one)?)(?: (?:short|clear|brief|"
        "simple))? ?numbered (?:steps?|list|list of steps)(?: per line)?|(?:short|clear|brief|simple) "
        "numbered steps|numbered steps|work in numbered steps|number (?:the|your|all|each|every) steps?|"
        "(?:use|give|show|write)(?: the)? numbered steps",
        "steps": "(?:(?:do|solve|show|explain|work through|work|go|proceed|answer)(?: it| this| me| the solution)? "
        ")?(?:(?:with|in|by|through|using|give|provide|show|write|a|the|detailed|clear|full) )*step ?-? ?by "
        "?-? ?step(?: solution| explanation| answer| process| way)?|(?:(?:show|give|write|include|provide|"
        "display|list|explain|present|solve)(?: me| it| this)? )?(?:(?:a|all|each|every|the|your|of|full|"
        "detailed|clear|complete|intermediate|individual) )*(?:steps|step|work|working|workings|calculations|"
        "solution steps)|(?:with|in|by showing|and show|showing)(?: (?:all|the|your|clear|detailed|full|"
        "of))* (?:steps|work|working)|one step at a time",
        "explain": "(?:and )?explain(?: (?:your|the|each|every|all|how|it))*(?: (?:reasoning|steps|step|"
        "solution|answer|"
        "work|process))?|(?:with|give|including)(?: an?| your| the)? explanations?|show your reasoning|"
        "justify each step",
        "brief": "briefly|concisely|be brief|be concise|(?:keep it|make it) (?:short|brief)|short answer",
        "no_words": "no (?:explanation|explanations|words|other text|text|extra text|steps|work)(?: needed| please)?|"
        "without (?:explanation|explanations|any explanation|any other text|showing (?:the |your )?(?:steps|"
        "work)|steps)|(?:and )?nothing else",
        "value_only": "(?:(?:give|return|output|write|reply with|answer with|respond with|provide|print|state|show|"
        "tell)(?: me)? )?(?:only|just)(?: with)? (?:the )?(?:(?:final|numeric|numerical|exact) )?(?:value|"
        "number)(?: of V| for V)?|(?:give|return|output|write|reply|answer|respond) only with (?:the "
        ")?(?:value|number)(?: of V)?",
        "answer_only": "(?:(?:give|return|output|write|reply with|answer with|respond with|provide|print|state|show|"
        "tell)(?: me)? )?(?:only|just) (?:the )?(?:final )?(?:answer|solution|result)(?: for V)?|(?:only|"
        "just) A|(?:reply|answer|respond) (?:only )?with A only",
        "end_form": "(?:end|finish|conclude|close)(?: (?:your|the) (?:answer|reply|response|solution)| it)? with(?: "
        "(?:the|a)(?: (?:final|last))? line| the text)?:? ?A|(?:the|your)(?: (?:very))? (?:last|final) line "
        "(?:must be|should be|must read|should read|is|being):? ?A|(?:give|write|state|present)(?: me)? "
        "(?:the|your) (?:final )?(?:answer|result|solution) (?:as|in the form|in the form of|like this|like|"
        "on the last line as):? ?A",
        "in_latex": "(?:(?:use|write|answer|format|reply|respond|give)(?: it| (?:the|your|"
        "all)(?: \\w+)?)? )?(?:in|with|"
        "using|use) latex(?: format| notation| formatting)?|use latex|latex",
        "in_english": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in english",
        "in_french": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in french",
        "in_german": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in german",
        "in_spanish": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in spanish",
        "in_chinese": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in chinese",
        "in_arabic": "(?:(?:answer|reply|respond|write|explain|solve)(?: it)? )?in arabic",
        "with_check": "(?:check|verify|double ?-? ?check) (?:your|the) (?:answer|solution|result|work)|(?:with|include|"
        "and)(?: a)? (?:check|verification)",
    },
    False,
)
