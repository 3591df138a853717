"""Where form is the matter: prompts on words as words, white space that means something, signs, abilities."""

from __future__ import annotations

import pytest

from stepcache import gate

DIFFERENT = [
    # the text worked on, to the letter
    ("Translate into French: Please sit down.", "Translate into French: Sit down."),
    ("Translate to German: Hello, sort the files.", "Translate to German: sort the files."),
    ("Translate: the milk", "Translate: milk"),
    ("Rewrite politely: Could you pay the bill?", "Rewrite politely: Pay the bill."),
    ("Correct the spelling: We beleive it", "Correct the spelling: We believe it"),
    ("Is the capitalization right: rome is big", "Is the capitalization right: Rome is big"),
    ("Fix the punctuation: yes we can", "Fix the punctuation: yes, we can"),
    ("Check the capitalization: anna lives in rome", "Check the capitalization: Anna lives in Rome"),
    ("Expand the contractions: She isn't in.", "Expand the contractions: She is not in."),
    ("Count the words: We don't know", "Count the words: We do not know"),
    ("Write: thank you", "Write:"),
    ("Übersetze ins Englische: Bitte warten Sie.", "Übersetze ins Englische: Warten Sie."),
    ("Traduce al inglés: Por favor, espere.", "Traduce al inglés: Espere."),
    ("Traduis en anglais : S'il vous plaît, attendez.", "Traduis en anglais : Attendez."),
    # a word as a word
    ("How do you spell catalog?", "How do you spell catalogue?"),
    ("Is wierd spelled correctly?", "Is weird spelled correctly?"),
    ("What is the etymology of film?", "What is the etymology of movie?"),
    ("How many letters does theatre have?", "How many letters does theater have?"),
    ("Write 7 in words", "Write seven in words"),
    ("Wie schreibt man Foto?", "Wie schreibt man Photo?"),
    # signs that mostly end a sentence
    ("What is .5 of it?", "What is 5 of it?"),
    ("What is n!?", "What is n?"),
    ("What is (2 + 3)!?", "What is (2 + 3)?"),
    ("What is x[2:]?", "What is x[:2]?"),
    ("Explain: cd ..", "Explain: cd"),
    ("Explain: ls -A", "Explain: ls -a"),
    ("What is C used for?", "What is c used for?"),
    # white space and marks that mean something
    ("What does it print?\nfor i in x:\n  f(i)\n  g(i)", "What does it print?\nfor i in x:\n  f(i)\ng(i)"),
    ("a\tb\tc\n1\t\t3\nWhat is b?", "a\tb\tc\n\t1\t3\nWhat is b?"),
    ('Is it set? {"a": null}', 'Is it set? {"a": "null"}'),
    # mere politeness is all that is said
    ("thanks", "hello"),
    ("Good morning", "Good night"),
    # what one can do, what one shall do
    ("Can you sing?", "Sing."),
    ("Can you explain?", "Explain."),
    ("Can you read Hebrew?", "Read Hebrew."),
    ("Are you able to swim?", "Swim."),
    # letters of a docstring are names or literals
    ('def f(x):\n    """Return "a" else "b"."""\n', 'def f(x):\n    """Return "b" else "a"."""\n'),
    ('def f(xs):\n    """Return a minus b."""\n', 'def f(xs):\n    """Return b minus a."""\n'),
    ("How do I use git add .", "How do I use git add"),
    ("Explain docker build . to me", "Explain docker build to me"),
    ("What does cd - do", "What does cd do"),
    ("Is .NET good?", "Is NET good?"),
    ("Explain !important", "Explain important"),
    ("What is x' in it?", "What is x in it?"),
    ('Is it "null" in JSON?', "Is it null in JSON?"),
    ('Is "5" a number in it?', "Is 5 a number in it?"),
    ('Fix it: print("hello)', 'Fix it: print("hello")'),
    ("Fix it: x = 'a' + b", "Fix it: x = 'a + b"),
    ("What is wrong: for i in range(3) print(i)", "What is wrong: for i in range(3): print(i)"),
    ("What is wrong?\nint x = f()\nint y", "What is wrong?\nint x = f();\nint y"),
    ("Add up [3, -2, 1] of it", "Add up [3 -2, 1] of it"),
    ("What does regex [a-z] find", "What does regex [A-Z] find"),
    ("Split it on a;b first", "Split it on a:b first"),
    ("Split it on a;b first", "Split it on a,b first"),
    # marks that say who does what
    ("Search the titles 'A' and 'B'", "Search the title 'A' and 'B'"),
    ("a review of a man eating shark", "a review of a man-eating shark"),
    ("toys for two year-old twins", "toys for two-year old twins"),
    ("the toys of my sister's dog", "the toys of my sisters' dog"),
    # capitals that make another word
    ("What is SAP?", "What is sap?"),
    ("What is Turkey's population?", "What is turkey's population?"),
    # nouns that their article turns
    ("Explain the matter.", "Explain matter."),
    ("What is the time?", "What is time?"),
    ("Who was in court in May?", "Who was in the court in May?"),
]
SAME = [
    ("Could you translate 'good day' into French?", "Translate 'good day' into French."),
    ("Please translate the following: The cat sleeps.", "translate the following: the cat sleeps"),
    ("Can you translate good day into French, please?", "Translate good day into French"),
    ("How do you spell necessary?", "how do you spell necessary"),
    ("Write a 200 word essay on salt", "Please write a 200 word essay on salt."),
    ("What is .5 of it?", "What is 0.5 of it?"),
    ("Tell me who won!", "Tell me who won."),
    ("What is AI?", "what is ai"),
    ("Explain it:\nif a:\n    f()\n    g()", "Explain it:\nif a:\n  f()\n  g()"),
    ("Hello!", "hello"),
    ("Write on salt, in all capital letters.", "write on salt, in all capital letters"),
    ("Can you list planets?", "List planets."),
    ("Can you write a poem about rain?", "Write a poem about rain."),
    ("Can you explain osmosis?", "Explain osmosis."),
    ("Explain what a git commit is.", "Explain what a git commit is"),
    ("What is the well-known law of gravity?", "What is the well known law of gravity?"),
    ("What is DNA?", "what is dna?"),
    ("Sort the list [3,1,2] of it", "Sort the list [3, 1, 2] of it"),
    ('Please fix it: print("hello") twice', 'Fix it: print("hello") twice.'),
    ("Explain b): it and c", "please explain b): it and c"),
    ("Complete the sentence: who let the", "complete the sentence: who let the"),
    ("What is 3 -2 of it?", "What is 3 - 2 of it?"),
    ("Explain the law of gravity", "Explain law of gravity"),
    ("Do NOT use salt in it", "Do not use salt in it"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_is_mere_form_elsewhere_is_a_difference_here(one: str, other: str) -> None:
    assert not gate(one, other)
    assert not gate(other, one)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_form_that_says_nothing_still_differs_freely(one: str, other: str) -> None:
    assert gate(one, other)
    assert gate(other, one)
