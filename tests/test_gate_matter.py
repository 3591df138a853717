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


@pytest.mark.parametrize(("cached", "new"), [
    ("Who wrote Grey's Anatomy?", "Who wrote Gray's Anatomy?"),
    ("who wrote grey's anatomy", "who wrote gray's anatomy"),
    ("Who leads the Labour Party?", "Who leads the Labor Party?"),
    ("Is that the Center Theatre?", "Is that the Centre Theatre?"),
])
def test_a_name_has_one_spelling_where_words_have_two(cached: str, new: str) -> None:
    assert not gate(cached, new)
    assert not gate(new, cached)
    assert gate("What does a grey labour theatre look like?", "What does a gray labor theater look like?")


@pytest.mark.parametrize(("cached", "new"), [
    ("Who founded Wendy's?", "Who founded Wendy?"),
    ("Who founded Wendy's in 1969?", "Who founded Wendy in 1969?"),
    ("Is this Peter's?", "Is this Peter?"),
    ("Is Peter's, not Ann's, red?", "Is Peter, not Ann, red?"),
])
def test_what_is_somebodys_is_not_somebody(cached: str, new: str) -> None:
    assert not gate(cached, new)
    assert not gate(new, cached)
    assert gate("Where is the dog's red bowl?", "Where is the dog red bowl?")


@pytest.mark.parametrize(("brand", "word"), [
    ("tumblr", "tumbler"), ("flickr", "flicker"), ("grindr", "grinder"), ("fiverr", "fiver"), ("scribd", "scribed"),
])
def test_a_word_that_lost_its_last_vowel_is_a_brand_and_no_slip(brand: str, word: str) -> None:
    assert not gate(f"what is a {brand} for", f"what is a {word} for")
    assert gate("is it usefull to recieve a sucessful offer", "is it useful to receive a successful offer")


@pytest.mark.parametrize(("cached", "new"), [
    ("Is man mortal?", "Is the man mortal?"),
    ("Is the time right?", "Is time right?"),
    ("Where is school?", "Where is the school?"),
    ("Is it made by man?", "Is it made by the man?"),
])
def test_an_article_that_turns_its_noun_counts_in_questions_too(cached: str, new: str) -> None:
    assert not gate(cached, new)
    assert not gate(new, cached)


def test_the_order_of_kinds_of_quotation_marks_counts_in_code() -> None:
    assert not gate("Explain WHERE \"a\" = 'b'", "Explain WHERE 'a' = \"b\"")
    assert gate("Explain WHERE \"a\" = 'b'", "explain WHERE \"a\" = 'b'.")


@pytest.mark.parametrize(("cached", "new"), [
    ("Tone of: Could you send it, please?", "Tone of: Send it."),
    ("Is it formal? Could you list them", "Is it formal? List them"),
    ("Sentiment of: it's ok, thanks", "Sentiment of: it's ok"),
    ("Detect greetings: hello, list them", "Detect greetings: list them"),
    ("Extract all words: the cat", "Extract all words: cat"),
    ("Classify the dialect: colour", "Classify the dialect: color"),
    ("Is this a question? You came.", "Is this a question? You came?"),
    ("Does it end with a full stop? He left.", "Does it end with a full stop? He left"),
])
def test_what_a_text_is_judged_by_is_no_mere_politeness_or_punctuation(cached: str, new: str) -> None:
    assert not gate(cached, new)
    assert not gate(new, cached)
    head, _, text = cached.partition(":")
    if text:
        assert gate(cached, f"Please {head[0].lower()}{head[1:]}:  {text}")


def test_the_case_of_a_relative_path_counts() -> None:
    assert not gate("Find the files in src/app", "Find the files in src/App")
    assert not gate("Find the files in src/app", "Find the files in Src/app")
    assert gate("What is TCP/IP and/or UDP?", "What is tcp/ip and/or UDP?")


@pytest.mark.parametrize(("cached", "new"), [
    ('Is "" empty?', 'Is " " empty?'),
    ("Is '' empty?", "Is it empty?"),
    ('Split at "", please', 'Split at " ", please'),
])
def test_an_empty_text_between_marks_counts(cached: str, new: str) -> None:
    assert not gate(cached, new)
    assert not gate(new, cached)
    assert gate(cached, f"{cached} Thanks!")
