"""Cutting is lossless and linear; steps begin where a reader sees a new step, and blocks stay whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepcache._data import Step, stitch
from stepcache._marker import read_mark
from stepcache.segment import marker, segment


def texts(reply: str) -> list[str]:
    return [step.text for step in segment(reply)]


def markers(reply: str) -> list[str | None]:
    return [marker(step) for step in segment(reply)]


PIECES = [
    "1. ", "2. ", "3) ", "Step 1: ", "Step 2 - ", "### 1. ", "## T", "# ", "- ", "* ", "  - ", "    ", "\t", "① ",
    "第一步 ",
    "```", "~~~", "````py", "\\[", "\\]", "$$", "\\begin{a}", "\\end{a}", "| a | b |", "--|--", "---", "===",
    "<think>",
    "</think>", "{", "}", "[1]", '{"a": 1}', "a", "Word.", "so:", "**B**", "**B:**", "1.5", "2024. ", "\n", "\n\n",
    "\r\n",
    "\r", " ", "\u200f", "\x00", "\ud800", "\u2028", "x = 5",
]
replies = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


@settings(max_examples=400, deadline=None)
@given(replies)
def test_joining_the_steps_gives_back_the_text_and_no_step_is_empty(reply):
    steps = segment(reply)
    assert stitch(steps) == reply
    assert all(step.text for step in steps)
    assert bool(steps) == bool(reply)


@settings(max_examples=300, deadline=None)
@given(replies)
def test_a_step_cut_again_begins_as_before(reply):
    for step in segment(reply)[1:]:
        assert marker(segment(step.text)[0]) == marker(step)
    assert segment(stitch(segment(reply))) == segment(reply)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["Mix", "the flour", "and 2.5 l of milk", "slowly.", "(v1.2)", "at 3 p.m."]),
                         min_size=1, max_size=4).map(" ".join), min_size=2, max_size=12),
       st.sampled_from(["{}. ", "{}) ", "{}: ", "({}) ", "  {}. ", "Step {}: ", "Step {} - ", "**Step {}:** ",
       "### {}. ",
                        "## Step {}: ", "Schritt {}: ", "Paso {}: ", "Étape {} : ", "Шаг {}. ", "{}.\t", "**{}.** "]),
       st.sampled_from(["\n", "\n\n", "\r\n", "\n\n\n"]))
def test_each_number_of_a_list_is_one_step_however_it_is_written(lines, written, gap):
    reply = gap.join(written.format(place) + line for place, line in enumerate(lines, 1))
    steps = segment(reply)
    assert len(steps) == len(lines)
    assert all(line in step.text for line, step in zip(lines, steps, strict=True))
    assert all(str(place) in (marker(step) or "") for place, step in enumerate(steps, 1))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("ab .1-\n#|", min_size=1).filter(str.strip), min_size=1, max_size=6),
       st.sampled_from(["```", "~~~", "````"]))
def test_nothing_inside_a_fence_begins_a_step(bodies, fence):
    blocks = [f"{place}. Run this:\n{fence}\n{body}\n{fence}\n" for place, body in enumerate(bodies, 1)]
    assert texts("".join(blocks)) == blocks


@pytest.mark.parametrize("reply", [
    "1. a\n2. b\n3. c", "1: a\n2: b\n3: c", "1) a\n2) b\n3) c", "  1. a\n  2. b\n  3. c",
    "1 - Add\n2 - Boil\n3 - Cool",
    "Step 1 - a\nStep 2 - b\nStep 3 - c", "### 1. A\n   - x\n   - y\n### 2. B\n- z\n### 3. C", "① a\n② b\n③ c",
    "Schritt 1: a\nSchritt 2: b\nSchritt 3: c", "첫째 a\n둘째 b\n셋째 c", "첫 번째, a\n두 번째, b\n세 번째, c",
    "1단계: a\n2단계: b\n3단계: c",
    "第一步 a\n第二步 b\n第三步：c", "第1步：a\n第2步：b\n第3步：c", "一、甲\n二、乙\n三、丙",
    "Paso 1 a\nPaso 2 b\nPaso 3 c",
    "Étape 1\nfoo\nÉtape 2\nbar\nÉtape 3\nx", "١. a\n٢. b\n٣. c", "১. ক\n২. খ\n৩. গ",
    "الخطوة 1: a\nالخطوة 2: b\nالخطوة 3: c",
    "أولاً: a\nثانياً: b\nثالثاً: c", "ステップ1：a\nステップ2：b\nステップ3：c", "1.混ぜる\n2.焼く\n3.食べる",
    "1️⃣ a\n2️⃣ b\n3️⃣ c", "❶ a\n❷ b\n❸ c",
    "**1. A**\nx\n**2. B**\ny\n**3. C**", "__Step 1__\nx\n__Step 2__\ny\n__Step 3__", "I. a\nII. b\nIII. c",
    "a) x\nb) y\nc) z",
    "(1) x\n(2) y\n(3) z", "(a) x\n(b) y\n(c) z", "1.) a\n2.) b\n3.) c", "#1: a\n#2: b\n#3: c",
    "Step One: a\nStep Two: b\nStep Three: c",
    "Step 1/3: a\nStep 2/3: b\nStep 3/3: c", "First, a.\nSecond, b.\nThird, c.",
    "Erstens: a\nZweitens: b\nDrittens: c",
    "Day 1: a\nDay 2: b\nDay 3\nc", "10. a\n11. b\n12. c", "1. a\n1. b\n1. c", "3. a\n2. b\n1. c",
    "- a\n  - b\n- c\n- d",
    "* a\n\n* b\n\n* c", "• a\n• b\n• c", "- [ ] a\n- [x] b\n- [ ] c", "第十步 a\n第十一步 b\n第十二步 c",
    "1. A\n   1. x\n   2. y\n2. B\n  1. x\n  2. y\n3. C", "\ufeff1. a\n\u200f2. b\n3. c",
    "1. a\r\n2. b\r\n\r\n3. c", "1. a\r2. b\r3. c",
    "1. **A**\n\nText.\n\nMore.\n\n2. **B**\n\nText.\n\n3. **C**\n\nText.",
    "### Step 1: A\n\nText.\n\n\\[ x \\]\n\nMore.\n\n### Step 2: B\n\n1. x\n2. y\n\n### Step 3: C\n\n- z",
    "1. A:\n- x\n- y\n2. B:\n\n- z\n\n3. C",
])
def test_markers_of_every_kind_cut_the_same_number_of_steps(reply):
    steps = segment(reply)
    assert len(steps) == 3
    assert all(marker(step) for step in steps)


@pytest.mark.parametrize("reply", [
    "Use 1.5 cups of\n2.5 kg flour.", "It needs\n3.11.2 or later.", "See section\n2.1 Scope for more.",
    "She was born in\n2024. Then",
    "Here is how: 1. Mix flour. 2. Add milk. 3. Fry.", "The answer is\n42. So it is.",
    "Wir treffen uns am\n3. Mai 2024 um zehn.",
    "Open at\n12:30 or so", "It took\n3 days", "> 1. a\n> 2. b", "vix) no\n- not", "vix. no",
])
def test_numbers_inside_sentences_begin_no_step(reply):
    assert len(segment(reply)) == (2 if "\n- " in reply else 1)


@pytest.mark.parametrize(("line", "text"), [
    ("2.1 Scope", None), ("2.1. Scope", None), ("v1. x", None), ("2024. Then", None), ("3. Oktober 1990 war", None),
    ("24. 12. 2024", None), ("3. Mai", "3."), ("12:30 Uhr", None), ("第一次", None), ("### - x", None),
    ("Step 1.5: x", None),
    ("Day 1 was fine", None), ("day 2: rest", "day 2:"), ("  Step 12) x", "Step 12)"), ("**Step 3:** x", "Step 3:"),
    ("十十、x", None), ("二十一、x", "二十一、"), ("1.txt", None), ("iv) x", "iv)"), ("xxxx) y", None), ("- x",
    "-"), ("-x", None),
    ("", None), ("½ cup", None), ("三二十步", None), ("第三二步", None),
])
def test_what_a_marker_is(line, text):
    assert marker(Step(line)) == text


def test_a_marker_knows_its_number_and_series():
    marks = [read_mark(line) for line in ("2. a", "3. b", "Step 2: a", "- a", "## 2. a", "xii. b", "⑫ c",
    "Step two: x")]
    assert [(m.value, m.rank) for m in marks if m] == [
        (2, 1), (3, 1), (2, 2), (None, 0), (2, 3), (12, 1), (12, 1), (2, 2)]
    assert marks[0] is not None
    assert marks[1] is not None
    assert marks[0].style == marks[1].style


def test_a_final_line_after_an_empty_line_is_its_own_step():
    reply = "1. Isolate.\n2. Subtract 3: 2x = 10\n3. Divide by 2: x = 5\n\nx = 5"
    assert texts(reply)[-2:] == ["3. Divide by 2: x = 5\n\n", "x = 5"]
    assert marker(segment(reply)[-1]) is None


@pytest.mark.parametrize(("reply", "steps"), [
    ("", []),
    (" \n\n", [" \n\n"]),
    ("\n\na\n \nb", ["\n\na\n \n", "b"]),
    ("# T\n\nBody.\n\nMore.\n\n## U\n- a\n- b", ["# T\n\nBody.\n\n", "More.\n\n", "## U\n", "- a\n", "- b"]),
    ("**Ingredients:**\n- a\n- b\n\n**Steps:**\n1. c", ["**Ingredients:**\n", "- a\n", "- b\n\n", "**Steps:**\n",
     "1. c"]),
    ("T\n===\n\nBody\n\nX", ["T\n===\n\nBody\n\n", "X"]),
    ("===\na", ["===\na"]),
    ("a\n\n---\n\nb", ["a\n\n---\n\n", "b"]),
    ("a\n\n---\n```\nb\n```", ["a\n\n---\n", "```\nb\n```"]),
    ("a\n\n---\n1. b", ["a\n\n---\n", "1. b"]),
    ("a\n\n---\n    b", ["a\n\n---\n", "    b"]),
    ("1. a\n\n   more of a\n\n2. b\n\nEnd", ["1. a\n\n   more of a\n\n", "2. b\n\n", "End"]),
    ("1. a\n   # no heading\n2. b", ["1. a\n   # no heading\n", "2. b"]),
    ("1. a\n\n# T\n\n2. b", ["1. a\n\n", "# T\n\n", "2. b"]),
    ("1. a\n  2. b", ["1. a\n", "  2. b"]),
    ("1. a\n2. b\n\n- note\n- note", ["1. a\n", "2. b\n\n", "- note\n", "- note"]),
    ("First way:\n1. a\n2. b\n\nSecond way:\n\n1. c\n2. d",
     ["First way:\n", "1. a\n", "2. b\n\n", "Second way:\n\n", "1. c\n", "2. d"]),
    ("1. **Do**:\n   \\[ a \\]\n   b\n\nEnd", ["1. **Do**:\n   \\[ a \\]\n   b\n\n", "End"]),
    ("**Step 2: Do**\n\n$$a$$\n\nEnd", ["**Step 2: Do**\n\n$$a$$\n\n", "End"]),
    ("## T\nBody.\n\nMore.", ["## T\nBody.\n\n", "More."]),
    ("1. Do:\n   - x\n\nEnd", ["1. Do:\n   - x\n\n", "End"]),
    ("Run:\n\n    pip install a\n\n    b\n\nDone", ["Run:\n\n    pip install a\n\n    b\n\n", "Done"]),
    ("Run:\n\n```\na\n\n1. b\n```\n\nDone", ["Run:\n\n```\na\n\n1. b\n```\n\n", "Done"]),
    ("Text.\n\n```\na\n```\n\n```\nb\n```", ["Text.\n\n", "```\na\n```\n\n", "```\nb\n```"]),
    ("1. Go\n\n```\n\n2. a\n", ["1. Go\n\n```\n\n2. a\n"]),
    ("```a``` is inline\n\nb", ["```a``` is inline\n\n", "b"]),
    ("````\n```\n\na\n````\n\nb", ["````\n```\n\na\n````\n\n", "b"]),
    ("~~~ `x`\na\n\n~~~\n\nb", ["~~~ `x`\na\n\n~~~\n\n", "b"]),
    ("```\r\na\r\n\r\nb\r\n```\r\n\r\nc", ["```\r\na\r\n\r\nb\r\n```\r\n\r\n", "c"]),
    ("We get \\[\n\n1. x\n\\] so\n\nb", ["We get \\[\n\n1. x\n\\] so\n\n", "b"]),
    ("\\[ a \\]\n\n\\[ b \\]", ["\\[ a \\]\n\n", "\\[ b \\]"]),
    ("\\[ a\n\nb", ["\\[ a\n\n", "b"]),
    ("a \\\\[2pt]\n\nb \\]", ["a \\\\[2pt]\n\n", "b \\]"]),
    ("$$\na\n\n- b\n$$ c $$\nd\n\ne\n$$\n\nf", ["$$\na\n\n- b\n$$ c $$\nd\n\ne\n$$\n\n", "f"]),
    ("It costs $$ a lot\n\n$$$$ more", ["It costs $$ a lot\n\n", "$$$$ more"]),
    ("\\begin{a}\\begin{b}\n\n1. x\n\\end{b}\n\n\\end{a}\n\ny",
     ["\\begin{a}\\begin{b}\n\n1. x\n\\end{b}\n\n\\end{a}\n\n", "y"]),
    ("\\begin{a}x\\end{a}\n\ny", ["\\begin{a}x\\end{a}\n\n", "y"]),
    ("Use \\begin{a}.\n\ny", ["Use \\begin{a}.\n\n", "y"]),
    ("1. T:\n\n| a | b |\n|---|---|\n| 1. | 2 |\n\n2. U", ["1. T:\n\n| a | b |\n|---|---|\n| 1. | 2 |\n\n", "2. U"]),
    ("a | b\n--|--\n1. x | y\n- z | w\n\nend", ["a | b\n--|--\n1. x | y\n- z | w\n\n", "end"]),
    ("<think>\na\n\n1. b\n</think>\n\nc\n\nd", ["<think>\na\n\n1. b\n</think>\n\n", "c\n\n", "d"]),
    ("<think>a\n\nb", ["<think>a\n\nb"]),
    ("a\n\n1. b\n</think>\n\nc", ["a\n\n1. b\n</think>\n\n", "c"]),
    ("a\n<thinking>b\n\nc</thinking> d", ["a\n", "<thinking>b\n\nc</thinking> ", "d"]),
    ("Write </think> here.\n\nb", ["Write </think> here.\n\n", "b"]),
    ("1. a\n\n<think>b</think>\n\n2. c", ["1. a\n\n", "<think>b</think>\n\n", "2. c"]),
    ("## 1. A\n\n### Note\n\nx\n\n## 2. B", ["## 1. A\n\n### Note\n\nx\n\n", "## 2. B"]),
    ("### 1. A\n\n## New\n\nx\n\n### 2. B", ["### 1. A\n\n", "## New\n\nx\n\n", "### 2. B"]),
    ("Subtract:\n2. x\n3. y", ["Subtract:\n2. x\n3. y"]),
    ("x\n\n4. y", ["x\n\n", "4. y"]),
])
def test_where_steps_begin(reply, steps):
    assert texts(reply) == steps


@pytest.mark.parametrize("reply", [
    '{"a": 1}', '{\n "a": 1,\n\n "b": [1,\n\n 2]\n}', "[1,\n\n2]",
    'Here it is:\n\n```json\n{"a":\n\n1}\n```\n\nDone.',
    'Sure: {"a": 1}', '<think>a\n\n1. b</think>\n{"a":\n\n1}', '{"a": 12345678901234567890,\n\n "b": 1e999}',
    '{"a": "line\nbreak",\n\n "b": 1}', "[]",
])
def test_a_json_reply_is_one_step(reply):
    assert texts(reply) == [reply]


@pytest.mark.parametrize("reply", [
    '1. Configure:\n{"a": 1}\n2. Start', 'One.\n\nTwo.\n\n{"a": 1}', '{"a": 1}\n\nOne.\n\nTwo.',
    "[1] First source\n\n[2] Second",
    "{broken\n\njson}", "[[[[\n\n]]]]\n\n[[[\n\n[", '{"a": 1}\n\n<think>x</think>', "{" * 5000 + "\n\n}",
])
def test_other_replies_with_json_in_them_are_cut_as_usual(reply):
    assert len(segment(reply)) > 1


HOSTILE = {
    "spaces": " " * 1_000_000, "newlines": "\n" * 1_000_000, "returns": "\r" * 1_000_000, "lines": "a\n" * 500_000,
    "paragraphs": "ab\n\n" * 250_000, "numbers": "1.\n" * 330_000, "digits": "9" * 1_000_000,
    "brackets": "[" * 1_000_000,
    "braces": '{"a":' * 200_000, "colons": "：{" * 500_000, "ticks": "`" * 1_000_000, "fences": "```\n" * 250_000,
    "growing fences": "".join("`" * (3 + i % 1000) + "\n" for i in range(2000)), "openers": "\\[" * 400_000 + "\\]",
    "formulas": "\\[\n\\]" * 200_000, "dollars": "$$a$$\n" * 166_000, "begins": "\\begin{a}" * 100_000 + "\n\\end{a}",
    "environments": "".join(f"\\begin{{{'ab'[i % 2] * (i % 300 + 1)}}}" for i in range(6000)),
    "pipes": "a|" * 500_000,
    "rows": "|\n" * 500_000, "dashes": "-" * 1_000_000, "rules": "***\n" * 250_000, "hashes": "# a\n" * 250_000,
    "thinking": "<think></think>" * 66_000, "unclosed": "<think>\n" * 125_000, "invisible": "\u200f" * 1_000_000,
    "surrogates": "\ud800\n" * 500_000, "nul": "\0\n\n" * 333_000, "months": "1. " + "jan" * 330_000,
    "bold": "**a\n" * 250_000,
    "list": "".join(f"{i}. step\n" for i in range(80_000)), "mixed": "1. a\n\n- b\n\n# c\n\n| d\n\n$$\n\n" * 30_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_million_characters_are_cut_at_once(name):
    start = time.thread_time()
    steps = segment(HOSTILE[name])
    assert time.thread_time() - start < 2
    assert stitch(steps) == HOSTILE[name]


@pytest.mark.parametrize("unit", ["1. a\n\n```\nb\n```\n", "# T\n\na\n\n- b\n  - c\n", "\\[\nx\n\\]\n\n",
                                  "| a |\n| b |\n\n"])
def test_twice_the_text_takes_about_twice_the_time(unit):
    def seconds(times: int) -> float:
        text = unit * times
        return min(_timed(text) for _ in range(3))

    assert seconds(1_600) < 12 * seconds(400)  # linear is 4; the rest is for a busy machine


def _timed(text: str) -> float:
    start = time.thread_time()
    segment(text)
    return time.thread_time() - start
