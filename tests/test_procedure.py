"""A how-to request with one thing changed keeps every step that the change does not touch, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache import Request, StepCache
from stepcache._data import Entry, stitch
from stepcache.segment import segment
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import all_of
from stepcache.tasks._procedure.links import bears_amount, refers_back, scalable
from stepcache.tasks._procedure.mentions import mentions, plain_mention, referred
from stepcache.tasks._procedure.modifiers import read_modifiers
from stepcache.tasks.procedure import Procedure, procedure
from stepcache.tasks.text import plain_text
from stepcache.testing import ScriptedModel

PAD_THAI = (
    "How do I make pad thai?",
    "1. Soak the rice noodles in warm water for 20 minutes.\n"
    "2. Fry garlic and tofu in oil.\n"
    "3. Chop the peanuts and stir them into the tofu.\n"
    "4. Add the drained noodles and tamarind sauce.\n"
    "5. Serve with lime wedges.",
)


@dataclass(frozen=True)
class Case:
    """One change: the patch region expected (half-open, in steps), the model's words for it, what must be absent."""

    base: tuple[str, str]
    prompt: str
    region: tuple[int, int]
    patch: str
    absent: str
    present: str = ""


CASES = {
    "peanuts": Case(PAD_THAI, "How do I make pad thai without peanuts?", (2, 3),
                    "3. Toast sesame seeds and stir them into the tofu.", "peanut", "sesame"),
    "peanuts first": Case(
        ("How do I make peanut noodles?", "1. Grind the peanuts.\n2. Boil noodles.\n3. Serve hot."),
        "How do I make peanut noodles without peanuts?", (0, 1), "1. Grind sesame seeds.", "peanuts", "sesame"),
    "oat milk": Case(
        ("Give me a recipe for pancakes.",
         "## Pancakes\n\n1) Whisk flour and salt.\n2) Pour in the milk, whisking.\n3) Rest the batter.\n"
         "4) Fry in a hot pan.\n\n"
         "Enjoy!"),
        "Give me a recipe for pancakes with oat milk instead of milk.", (2, 3), "2) Pour in the oat milk, whisking.",
        " the milk", "oat milk"),
    "drilling": Case(
        ("How do I hang a picture frame?",
         "Step 1: Mark the spot with a pencil.\nStep 2: Drill a hole.\nStep 3: Put a plug and a screw into it.\n"
         "Step 4: Hang the frame straight."),
        "How do I hang a picture frame without drilling?", (1, 3),
        "Step 2: Clean the wall.\nStep 3: Press an adhesive hook against the wall.", "rill", "adhesive"),
    "shelf": Case(
        ("How do I assemble a shelf?",
         "- Lay out all the parts.\n- Tap the dowels in with a hammer.\n- Attach the side panels.\n"
         "- Fix the shelf to the wall."),
        "How do I assemble a shelf without a hammer?", (1, 2), "- Push the dowels in with a rubber mallet.",
        "hammer", "mallet"),
    "car": Case(
        ("How do I get from Vienna to Hallstatt?",
         "1. Check the weather.\n2. Rent a car in Vienna.\n3. Drive west on the A1 for three hours.\n"
         "4. Walk to the lake."),
        "How do I get from Vienna to Hallstatt without a car?", (1, 3),
        "2. Take the train to Attnang-Puchheim.\n3. Change to the regional train and take the ferry.", "car",
        "ferry"),
    "notary": Case(
        ("What are the steps to sell a bike privately?",
         "**Step 1:** Take photos.\n\n**Step 2:** Print a contract.\n\n**Step 3:** Meet the buyer.\n\n"
         "**Step 4:** Keep a copy."),
        "What are the steps to sell a bike privately without a contract?", (1, 2),
        "**Step 2:** Write a receipt by hand.", "contract", "receipt"),
    "people": Case(
        ("How do I make lentil soup?",
         "1. Rinse the lentils in a sieve.\n2. Fry 1 onion and 2 carrots.\n"
         "3. Add 250 g lentils and a litre of stock.\n"
         "4. Simmer until soft.\n5. Season to taste."),
        "How do I make lentil soup for 8 people?", (1, 3),
        "2. Fry 3 onions and 5 carrots.\n3. Add 700 g lentils and 3 litres of stock.", "250 g", "700 g"),
    "Eier": Case(
        ("Wie backe ich einen Rührkuchen?",
         "1. Heizen Sie den Ofen vor.\n2. Schlagen Sie die Eier schaumig.\n3. Mischen Sie Mehl und Zucker.\n"
         "4. Backen Sie den Kuchen goldbraun."),
        "Wie backe ich einen Rührkuchen ohne Eier?", (1, 2), "2. Zerdrücken Sie eine reife Banane.", "Ei", "Banane"),
    "Nüsse": Case(
        ("Wie mache ich Müsliriegel?",
         "Schritt 1: Haferflocken rösten.\nSchritt 2: Die Haselnüsse hacken.\n"
         "Schritt 3: Alles mit der Nussmischung verkneten.\n"
         "Schritt 4: In Riegel schneiden."),
        "Wie mache ich Müsliriegel ohne Nüsse?", (1, 3),
        "Schritt 2: Kürbiskerne grob hacken.\nSchritt 3: Alles mit den Kernen verkneten.", "nuss", "Kürbiskerne"),
    "Butter": Case(
        ("Wie koche ich Kartoffelpüree?",
         "1. Kartoffeln schälen und kochen.\n2. Butter schmelzen.\n3. Alles stampfen.\n4. Mit Muskat würzen."),
        "Wie koche ich Kartoffelpüree mit Olivenöl statt Butter?", (1, 2), "2. Olivenöl leicht erwärmen.",
        "Butter", "Olivenöl"),
    "Drucker": Case(
        ("Wie beantrage ich einen Reisepass?",
         "1. Termin vereinbaren.\n2. Das Formular mit dem Drucker ausdrucken.\n3. Passfoto machen lassen.\n"
         "4. Zum Amt gehen."),
        "Wie beantrage ich einen Reisepass ohne Drucker?", (1, 2), "2. Das Formular im Amt abholen.", "drucke",
        "abholen"),
    "Personen": Case(
        ("Wie plane ich ein Grillfest?",
         "1. Gäste einladen.\n2. Drei Kilo Fleisch kaufen.\n3. Den Grill anzünden.\n4. Getränke kühlen."),
        "Wie plane ich ein Grillfest für 20 Personen?", (1, 2), "2. Sechs Kilo Fleisch kaufen.", "Drei", "Sechs"),
    "mixture": Case(
        ("How do I make muffins?",
         "1. Line a tin.\n2. Mix flour, sugar and raisins.\n3. Melt the butter.\n4. Pour the mixture into the tin.\n"
         "5. Take the muffins out after baking."),
        "How do I make muffins without raisins?", (1, 4),
        "2. Mix flour, sugar and berries.\n3. Melt the butter.\n4. Pour the mixture into the tin.", "raisin",
        "berries"),
}


def open_cache() -> StepCache:
    return StepCache.open(":memory:", embedder=None, tasks=(procedure(), plain_text()))


@pytest.mark.parametrize("name", CASES)
def test_one_change_patches_one_region_and_keeps_every_other_step(name):
    case = CASES[name]
    prompt, reply = case.base
    before = segment(reply)
    model = ScriptedModel([reply, case.patch])
    with open_cache() as cache:
        cache.complete(prompt, model)
        result = cache.complete(case.prompt, model)
    start, stop = case.region
    assert (result.decision.outcome, result.source, result.verified) == ("patch", "patch", True)
    assert model.calls[1][1] == "patch"
    assert len(model.calls) == 2
    assert result.steps[:start] == before[:start]
    assert result.steps[stop:] == before[stop:]
    assert len(result.steps) == len(before)
    assert case.absent not in result.output
    assert case.present in result.output
    assert case.patch.split(maxsplit=1)[1].splitlines()[0].strip("* ") in result.output
    assert len(model.calls[1][0]) < len(case.prompt) + len(stitch(before[start:stop])) + 400


def test_a_patch_is_told_the_question_and_the_steps_but_not_the_form_of_the_whole():
    """Told to give six steps, a small model writes all six again."""
    told = []

    def model(prompt: str, purpose: str) -> str:
        told.append((prompt, purpose))
        whole = "1. Boil pasta.\n2. Fry garlic in butter.\n3. Serve."
        return "2. Fry the garlic in oil." if purpose == "patch" else whole

    with StepCache(MemoryStore(), None, tasks=(procedure(), plain_text())) as cache:
        cache.complete("You are a chef. How do I cook pasta? Give three short numbered steps.", model)
        cache.complete("You are a chef. How do I cook pasta without butter? Give three short numbered steps.", model)
    prompt, purpose = told[-1]
    assert purpose == "patch"
    assert prompt.startswith("How do I cook pasta?\n\n2. Fry garlic in butter.\n\n")
    assert "three" not in prompt
    assert "Never write 'butter'." in prompt


@pytest.mark.parametrize("name", CASES)
def test_the_changed_request_is_served_again_without_a_model(name):
    case = CASES[name]
    model = ScriptedModel([case.base[1], case.patch, "Not from the cache."])
    please = "bitte" if case.prompt.startswith("Wie") else "please"
    with open_cache() as cache:
        cache.complete(case.base[0], model)
        first = cache.complete(case.prompt, model)
        exact = cache.complete(case.prompt, model)
        reworded = cache.complete(f"{case.prompt[:-1]}, {please}{case.prompt[-1]}", model)
    assert exact.output == reworded.output == first.output
    assert (exact.source, reworded.source, len(model.calls)) == ("cache", "cache", 2)


@pytest.mark.parametrize(("cached", "new", "why"), [
    ("How do I make pad thai without peanuts?", "How do I make pad thai?", "without peanuts"),
    ("How do I make pad thai without peanuts?", "How do I make pad thai with peanuts?", ""),
    ("How do I make pad thai?", "How do I make pad thai with peanuts?", ""),
    ("How do I make pad thai without peanuts?", "How do I make pad thai without lime?", "without peanuts"),
    ("How do I make pad thai for 2 people?", "How do I make pad thai?", "for 2 people"),
    ("How do I make pad thai?", "How do I make pad thai without shrimp?", "no recorded step"),
    ("How do I make pad thai?", "How do I make pad see ew without peanuts?", ""),
    ("How do I make pad thai?", "How do I make pad thai without boring my guests?", ""),
    ("How do I make pad thai?", "How do I make pad thai with or without peanuts?", ""),
    ("How do I make pad thai?", "How do I make pad thai in an hour without peanuts?", ""),
    ("Wie mache ich Pad Thai ohne Erdnüsse?", "Wie mache ich Pad Thai?", "ohne Erdnüsse"),
])
def test_another_difference_is_never_patched_away(cached, new, why):
    without = "without" in cached or "ohne" in cached
    with open_cache() as cache:
        assert cache.record(cached, PAD_THAI[1].replace("peanuts", "seeds") if without else PAD_THAI[1])
        decision = cache.explain(new)
    assert decision.outcome in {"skip", "miss"}
    assert why in decision.reason


@pytest.mark.parametrize("reply", [
    "3. Stir chopped peanuts in.", "3. Stir in sesame instead of peanuts.", "", "I can't help with that.\n\nSorry.",
    "4. Something else.\n5. More.",
    "1. Buy it.\n2. Open it.\n3. Eat it.\n4. Sleep.", "3. Use peanut butter; no whole peanuts.",
])
def test_an_unusable_patch_reply_is_never_served(reply):
    other = "1. Soak noodles.\n2. Fry tofu.\n3. Toast seeds.\n4. Add lime.\n5. Serve."
    model = ScriptedModel([PAD_THAI[1], reply, other])
    with open_cache() as cache:
        cache.complete(PAD_THAI[0], model)
        result = cache.complete("How do I make pad thai without peanuts?", model)
    assert result.output == other
    assert result.source == "repair"


@pytest.mark.parametrize("short", [
    "3. Toast the seeds.", "Toast the seeds.", "1. Toast the seeds.", "1. Soak the noodles.\n2. Toast the seeds.",
])
def test_a_repair_that_drops_steps_is_never_served_or_recorded(short):
    whole = "1. Soak the noodles.\n2. Fry them.\n3. Toast the seeds.\n4. Serve."
    model = ScriptedModel([PAD_THAI[1], "I can't help with that.\n\nSorry.", short, whole])
    with open_cache() as cache:
        cache.complete(PAD_THAI[0], model)
        result = cache.complete("How do I make pad thai without peanuts?", model)
    assert [purpose for _, purpose in model.calls] == ["answer", "patch", "repair", "answer"]
    assert (result.output, result.source, result.verified) == (whole, "model", True)


@pytest.mark.parametrize("copied", [
    "2. Fry 1 onion and 2 carrots.\n3. Add 250 g lentils and a litre of stock.",
    "2. Fry 1 onion and 2 carrots.\n3. Add 700 g lentils and a litre of stock.",
])
def test_amounts_copied_from_the_recorded_reply_are_not_taken_for_new_ones(copied):
    case = CASES["people"]
    fresh = "1. Fry 4 onions.\n2. Simmer 1 kg lentils."
    model = ScriptedModel([case.base[1], copied, fresh])
    with open_cache() as cache:
        cache.complete(case.base[0], model)
        assert cache.complete(case.prompt, model).output == fresh


@pytest.mark.parametrize(("patch", "step"), [
    ("3. Toast the seeds.\n4. Something more.", "3. Toast the seeds.\n"),
    ("Here is the step:\n\n3. Toast the seeds.", "3. Toast the seeds.\n"),
    ("Toast the seeds.", "3. Toast the seeds.\n"),
    ("1. Toast the seeds.", "3. Toast the seeds.\n"),
    ("**3.** Toast the seeds.", "3. Toast the seeds.\n"),
    ("3) Toast the seeds.\n", "3. Toast the seeds.\n"),
    ("4. Toast the seeds.", "3. Toast the seeds.\n"),
    ("Step 3: Toast the seeds.", "3. Toast the seeds.\n"),
    ("3. Toast the seeds.\n   - gently", "3. Toast the seeds.\n   - gently\n"),
])
def test_the_new_step_stands_under_the_old_marker_with_the_old_separator(patch, step):
    model = ScriptedModel([PAD_THAI[1], patch])
    with open_cache() as cache:
        cache.complete(PAD_THAI[0], model)
        result = cache.complete("How do I make pad thai without peanuts?", model)
    assert result.steps[2].text == step


def spec_for(prompt: str) -> Procedure:
    spec = procedure()(Request(prompt))
    assert isinstance(spec, Procedure)
    return spec


@pytest.mark.parametrize(("prompt", "passing", "failing", "check"), [
    ("How do I make tea without milk?", "1. Boil water.\n2. Steep.", "1. Boil milk.", "absent"),
    ("How do I make tea without milk?", "Tea with no milk:\n1. Boil water.", "1. Add milks.", "absent"),
    ("How do I make a cake without nuts?", "1. Add raisins.", "1. Add almonds.", "absent"),
    ("How do I make a cake without dairy?", "1. Add oat milk and vegan butter.", "1. Add butter.", "absent"),
    ("How do I make tea with honey instead of sugar?", "1. Stir in honey.", "1. Stir.", "present"),
    ("How do I make tea for 4 people?", "Serves 4.\n1. Boil water.", "Serves 2.\n1. Boil water.", "people"),
    ("How do I make tea without milk?", "1. Boil.\n1. Steep.", "1. Boil.\n3. Steep.", "numbering"),
    ("How do I make tea without milk?", "0. Fetch a pot.\n1. Boil.", "2. Steep.\n3. Drink.", "numbering"),
    ("Wie mache ich Tee ohne Milch?", "1. Wasser kochen.", "1. Milch erwärmen.",
     "absent"),
    ("How do I make peanut butter cookies without butter?", "1. Stir the peanut butter.", "1. Melt butter.",
     "absent"),
    ("How do I make pasta with garlic and mushrooms, but without mushrooms?", "1. Fry the garlic.",
     "1. Fry garlic and mushrooms.", "absent"),
    ("How do I make chicken curry without chicken?", "1. Season the chicken curry.", "1. Make chicken broth.",
     "absent"),
    ("How to cook mushrooms with rice, without mushrooms", "1. Cook rice.", "1. Cook mushrooms with rice.", "absent"),
    ("How do I make tea without milk?", "1. Omit the milk. Don't add any milk.", "1. Heat the milk.", "absent"),
    ("How do I make tea?", "Just boil it.", " ", "procedure"),
    ("How do I make tea without milk?", "ok", "x" * 60_000, "procedure"),
])
def test_the_integrity_check(prompt, passing, failing, check):
    spec = spec_for(prompt)
    assert spec.check(passing).ok
    verdict = spec.check(failing)
    assert (verdict.ok, verdict.check) == (False, check)
    assert verdict.detail


@pytest.mark.parametrize(("prompt", "base", "changes", "people"), [
    ("How do I make soup without onions or garlic?", "How do I make soup?", ["without garlic",
     "without onions"], None),
    ("Without any nuts, how do I make pesto?", "How do I make pesto?", ["without nuts"], None),
    ("How do I make a gluten-free cake for 6 people?", "How do I make a cake?", ["without gluten"], 6),
    ("How do I make pesto, replacing pine nuts with seeds?", "How do I make pesto?",
     ["with seeds instead of pine nuts"], None),
    ("How do I make chili for a family of four?", "How do I make chili?", [], 4),
    ("How do I bake (without yeast) a roll?", "How do I bake a roll?", ["without yeast"], None),
    ("Wie backe ich Brot ohne Hefe und ohne Salz?", "Wie backe ich Brot?", ["ohne Hefe", "ohne Salz"], None),
    ("Wie hänge ich ein Bild auf, ohne zu bohren?", "Wie hänge ich ein Bild auf?", ["ohne bohren"], None),
    ("Wie koche ich Curry mit Tofu statt Huhn für zwei Personen?", "Wie koche ich Curry?", ["mit Tofu statt Huhn"],
     2),
    ("How do I bake bread for 30 minutes?", "How do I bake bread for 30 minutes?", [], None),
    ("How do I work without leaving home?", "How do I work without leaving home?", [], None),
    ("Is tea better with or without milk?", "Is tea better with or without milk?", [], None),
    ('How do I translate "without milk"?', 'How do I translate "without milk"?', [], None),
    ("How do I make chili, no beans?", "How do I make chili?", ["without beans"], None),
    ("How do I say there is no time?", "How do I say there is no time?", [], None),
    ("How do I bake bread without further delay?", "How do I bake bread without further delay?", [], None),
    ("How do I make tea without milk? " + "Tell me. " * 80, "How do I make tea without milk? " + "Tell me. " * 80,
     [], None),
    ("How do I live without it?", "How do I live without it?", [], None),
    ("How do I file taxes for 2024?", "How do I file taxes for 2024?", [], None),
])
def test_what_a_request_changes(prompt, base, changes, people):
    read = read_modifiers(prompt)
    assert (read.base, [str(change) for change in read.changes], read.people) == (base, changes, people)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(
    ["without", "ohne", "with", "instead of", "for 2 people", "a", "nuts", ",", "and", "(", ")", "\n", ".", "no",
    "-free"]
)).map(" ".join)))
def test_reading_any_request_ends_well(prompt):
    read = read_modifiers(prompt)
    if not read:
        assert read.base == prompt
    else:
        assert len(read.base) <= len(prompt)


@pytest.mark.parametrize(("thing", "language", "there", "not_there"), [
    ("peanuts", "en", ["a peanut", "Peanuts", "peanut butter"], ["pea", "nutmeg", "chestnuts"]),
    ("egg", "en", ["2 eggs", "egg-wash", "the yolk"], ["eggplant", "leg"]),
    ("berries", "en", ["strawberries", "a berry"], ["bury"]),
    ("drilling", "en", ["drill a hole", "drilled", "use the drill"], ["drift"]),
    ("peanut butter", "en", ["peanut butter", "some butter"], ["peanuts"]),
    ("knife", "en", ["two knives", "slice it"], ["knit"]),
    ("oven", "en", ["preheat it", "an oven"], ["over"]),
    ("Erdnüsse", "de", ["Erdnuss", "Erdnussbutter", "gehackte Erdnüssen"], ["Erde", "Nuss"]),
    ("Eier", "de", ["ein Ei", "Eigelb", "3 Eiern"], ["Eis", "Bäckerei", "einfach"]),
    ("Milch", "de", ["Kokosmilch", "Milchreis"], ["mild"]),
    ("Öl", "de", ["Olivenöl", "Öl"], ["Öffnung"]),
    ("Auto", "de", ["das Auto", "Fahren Sie los"], ["Bus"]),
])
def test_what_speaks_of_a_thing(thing, language, there, not_there):
    assert [text for text in there if not mentions(text, thing, "", language)] == []
    assert [text for text in not_there if mentions(text, thing, "", language)] == []


def test_what_replaces_a_thing_is_no_mention_of_it():
    assert mentions("Add the almond milk.", "milk", "almond milk", "en") == ""
    assert mentions("Add almond milk and milk.", "milk", "almond milk", "en") == "milk"
    assert plain_mention("A dairy-free cake, no dairy.", "dairy", "", "en") == ""
    assert plain_mention("Ein milchfreier Kuchen ohne Milch.", "Milch", "", "de") == ""


@pytest.mark.parametrize(("text", "bears"), [
    ("Add 200 g flour.", True), ("Crack an egg.", True), ("Add half the oil.", True), ("Zwei Eier trennen.", True),
    ("Ein Ei aufschlagen.", True), ("Add ½ cup.", True), ("Stir in a large bowl.", False),
    ("Bring to a boil.", False),
    ("Go back to step 3.", False), ("In einer Schüssel verrühren.", False), ("Serve hot.", False),
    ("Get a pan.", False),
])
def test_which_steps_say_how_much(text, bears):
    assert bears_amount(text) is bears


def test_times_and_temperatures_need_not_grow_with_the_number_of_people():
    assert scalable("Bake 200 g for 20-25 minutes at 180 °C, then 1 hour.") == ("200 g",)
    assert scalable("30 Minuten bei 200 Grad backen.") == ()


@pytest.mark.parametrize(("text", "failing", "after", "refers"), [
    ("Repeat step 3.", [3], False, True), ("Repeat step 3.", [2], False, False), ("Repeat steps 2-4.",
     [3], False, True),
    ("Wiederholen Sie Schritt 2.", [2], False, True), ("Pour in the mixture.", [None], False, True),
    ("Die Mischung abkühlen lassen.", [1], False, True), ("Let it cool.", [1], True, True), ("Let it cool.",
     [1], False, False),
    ("Put a plug into it.", [1], True, True), ("Stir. It rests.", [1], True, False),
    ("Pour in the mixture.", [], False, False),
])
def test_which_steps_lean_on_a_failing_one(text, failing, after, refers):
    assert refers_back(text, failing, after) is refers


SOUP = ("How do I make soup?", "".join(f"{number}. {line}\n" for number, line in enumerate(
    ["Boil water.", "Chop the leeks.", "Peel potatoes.", "Add salt.", "Fry the leeks.", "Simmer.", "Serve."], 1)))


@pytest.mark.parametrize(("patch", "taken"), [
    ("2. Chop the celery.\n5. Fry the celery.", ("2. Chop the celery.\n", "5. Fry the celery.\n")),
    ("1. Chop the celery.\n2. Fry the celery.", ("2. Chop the celery.\n", "5. Fry the celery.\n")),
    ("Chop the celery.\nFry the celery.", ("2. Chop the celery.\n", "5. Fry the celery.\n")),
    ("2. Chop the celery.\n3. Peel carrots.\n4. Add pepper.\n5. Fry the celery.",
     ("2. Chop the celery.\n", "5. Fry the celery.\n")),
    ("Here you are:\n\n2. Chop the celery.\n\n5. Fry the celery.\n\nEnjoy your soup!",
     ("2. Chop the celery.\n", "5. Fry the celery.\n")),
    ("2. Chop the celery.", None),
    ("2. Chop the celery.\n3. Fry the celery.\n4. Serve.", None),
    ("1. Boil milk.\n2. Chop the celery.\n3. Rest.\n4. Rest.\n5. Fry the celery.", None),
    ("5. Fry the celery.\n2. Chop the celery.", None),
    ("2. Chop the celery.\n5. Fry the celery.\n5. Eat.", None),
])
def test_steps_between_failing_ones_stay_whatever_the_model_writes_there(patch, taken):
    fresh = SOUP[1].replace("leeks", "carrots")
    model = ScriptedModel([SOUP[1], patch, fresh])
    with open_cache() as cache:
        cache.complete(SOUP[0], model)
        result = cache.complete("How do I make soup without leeks?", model)
    if taken is None:
        assert (result.output, result.source) == (fresh, "repair")
        return
    old = segment(SOUP[1])
    new = list(old)
    new[1], new[4] = new[1].__class__(taken[0]), new[4].__class__(taken[1])
    assert (result.source, result.kept, result.regenerated) == ("patch", 5, 2)
    assert result.steps == tuple(new)
    assert "Peel potatoes" not in model.calls[1][0]


@pytest.mark.parametrize("whole", ["1. Boil water.\n2. Chop the celery.\n3. Fry the celery.\n4. Serve.", SOUP[1]])
def test_a_whole_other_answer_is_no_patch_where_the_first_step_fails(whole):
    base = "1. Chop the leeks.\n2. Boil water.\n3. Peel potatoes.\n4. Fry the leeks.\n5. Serve."
    fresh = SOUP[1].replace("leeks", "carrots")
    model = ScriptedModel([base, whole.replace("leeks", "celery"), fresh])
    with open_cache() as cache:
        cache.complete(SOUP[0], model)
        result = cache.complete("How do I make soup without leeks?", model)
    assert (result.output, result.source) == (fresh, "repair")


@pytest.mark.parametrize("short", ["2. Chop the celery.", "2. Chop the celery.\n5. Fry the celery.", "5. Fry celery."])
def test_a_repair_that_drops_steps_is_not_taken_for_the_whole(short):
    """The repair asks for the whole again without showing the failing piece; a piece of a list is none."""
    fresh = SOUP[1].replace("leeks", "carrots")
    model = ScriptedModel([SOUP[1], "Sorry.", short, fresh])
    with open_cache() as cache:
        cache.complete(SOUP[0], model)
        result = cache.complete("How do I make soup without leeks?", model)
    assert (result.output, result.source) == (fresh, "model")
    assert model.calls[2][0].startswith("How do I make soup without leeks?")
    assert "Sorry" not in model.calls[2][0]


def test_a_procedure_among_several_specs_keeps_the_steps_between_too():
    task = all_of(procedure(), plain_text(max_words=40))
    model = ScriptedModel([SOUP[1], "2. Chop the celery.\n5. Fry the celery."])
    with StepCache.open(":memory:", embedder=None, tasks=(task,)) as cache:
        cache.complete(SOUP[0], model)
        result = cache.complete("How do I make soup without leeks?", model)
    assert (result.source, result.kept, result.regenerated, result.verified) == ("patch", 5, 2, True)
    assert "3. Peel potatoes.\n4. Add salt.\n" in result.output


def entry_of(prompt: str, reply: str) -> Entry:
    return Entry(key="k", request=Request(prompt), partition="", task="procedure", steps=segment(reply))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["Boil water.", "Add salt.", "Chop the leeks.", "Stir.", "Fry the leek.", "Let it go.",
                                 "Repeat step 2."]), min_size=2, max_size=9),
       st.sampled_from(["{}. ", "{}) ", "Step {}: ", "- "]), st.sampled_from(["\n", "\n\n", "\r\n"]))
def test_verdicts_and_region_follow_the_words(lines, written, gap):
    reply = gap.join(written.format(place) + line for place, line in enumerate(lines, 1))
    entry = entry_of("How do I make soup?", reply)
    spec = spec_for("How do I make soup without leeks?")
    verdicts = spec.verify(entry.steps, entry)
    assert len(verdicts) == len(entry.steps)
    if not any("leek" in line for line in lines):
        assert not any(verdicts)
        return
    assert not any(verdict.ok for verdict, line in zip(verdicts, lines, strict=True) if "leek" in line)
    start, stop = spec.region(verdicts)
    assert not verdicts[start].ok
    assert not verdicts[stop - 1].ok
    assert all(verdicts[:start])
    assert all(verdicts[stop:])
    plan = spec.plan_patch("How do I make soup without leeks?", entry.steps, verdicts, entry)
    failing = [place for place, verdict in enumerate(verdicts) if not verdict]
    if plan is None:
        assert len(failing) == len(lines)
        return
    assert plan.rewritten == len(failing)
    answer = "\n".join(written.format(place + 1) + "Rest." for place in failing)
    patched = spec.apply_patch(entry.steps, plan, answer)
    assert patched is not None
    assert [place for place, step in enumerate(patched) if step != entry.steps[place]] == failing
    assert spec.check(stitch(patched)).ok


def test_only_how_to_requests_are_recognised_but_any_when_given_as_the_spec():
    task = procedure()
    assert task(Request("What is the capital of France?")) is None
    assert task(Request("Soup without onions", spec=task)) is not None
    assert not spec_for("How do I make soup?").enforced


def test_a_reply_that_is_no_list_is_left_to_the_model():
    entry = entry_of("How do I make soup?", "Boil leeks.\n\nThen eat.")
    assert not any(spec_for("How do I make soup without leeks?").verify(entry.steps, entry))


@pytest.mark.parametrize(("step", "thing", "language"), [
    ("Serve with the nuts on top.", "peanuts", "en"),
    ("Brown the lean meat.", "minced beef", "en"),
    ("Die Nüsse rösten.", "Walnüsse", "de"),
    ("Das Fleisch anbraten.", "Speck", "de"),
])
def test_a_step_may_refer_to_a_thing_as_what_it_is_an_instance_of(step: str, thing: str, language: str) -> None:
    assert referred(step, thing, "", language)
    assert not referred("Serve with the lime and a nut.", thing, "", language)
    assert not plain_mention(step, thing, "", language)


def test_a_step_that_only_refers_to_the_thing_is_written_anew() -> None:
    kitchen = StepCache(MemoryStore(), None, tasks=(procedure(), plain_text()))
    recipe = "1. Soak the noodles.\n2. Chop the peanuts.\n3. Add lime.\n4. Serve with the nuts."
    kitchen.complete("How do I make pad thai?", ScriptedModel(recipe))
    patch = ScriptedModel("2. Toast seeds.\n4. Serve with seeds.")
    served = kitchen.complete("How do I make pad thai without peanuts?", patch)
    assert (served.source, served.kept, served.regenerated) == ("patch", 2, 2)
    assert "nuts" not in served.output
