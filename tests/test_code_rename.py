"""A function renamed in the request is renamed in the recorded code, by its syntax tree and nowhere else."""

from __future__ import annotations

import ast
import keyword
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stepcache import CacheControl, Request, StepCache
from stepcache._data import Entry
from stepcache.stores.memory import MemoryStore
from stepcache.tasks._python.names import promise_the_same
from stepcache.tasks.code import CodeSpec, code
from stepcache.testing import HashEmbedder, ScriptedModel

PROMPT = '''def {name}(items, depth=0):
    """Count how deep the lists in items are nested.

    >>> {name}([1, [2, [3]]])
    3
    """
'''


def spec_of(prompt: str) -> CodeSpec:
    spec = code()(Request(prompt))
    assert isinstance(spec, CodeSpec)
    return spec


def recorded(prompt: str, reply: str) -> Entry:
    spec = spec_of(prompt)
    assert spec.check(reply).ok
    return Entry(
        key="k", request=Request(prompt), partition="p", task=spec.kind, steps=spec.segment(reply),
        residue=spec.residue, trace=spec.trace(reply),
    )  # fmt: skip


def rewritten(
    reply: str, old: str = "nesting_depth", new: str = "depth_of_nesting", prompt: str = PROMPT
) -> str | None:
    """What becomes of a reply when the function is asked for under a new name."""
    entry = recorded(prompt.format(name=old), reply)
    spec = spec_of(prompt.format(name=new))
    assert spec.residue == entry.residue
    assert not any(verdict.ok for verdict in spec.verify(entry.steps, entry))
    steps = spec.rewrite(entry.steps, entry)
    if steps is None:
        return None
    assert all(verdict.ok for verdict in spec.verify(steps, entry))
    return "".join(step.text for step in steps)


def test_the_definition_and_every_call_follow() -> None:
    body = "    inner = [nesting_depth(i) for i in items if type(i) is list]\n    return 1 + max(inner, default=0)\n"
    assert rewritten(body) == body.replace("nesting_depth", "depth_of_nesting")
    whole = "def nesting_depth(items, depth=0):\n" + body
    assert rewritten(whole) == whole.replace("nesting_depth", "depth_of_nesting")


def test_a_body_that_never_names_the_function_is_kept_to_the_byte() -> None:
    body = "    return 1 + str(items).count('[')  # ä\t \n\n"
    assert rewritten(body) == body


@pytest.mark.parametrize(
    "line",
    [
        "# nesting_depth counts levels",
        "note = 'nesting_depth of it'",
        "note = f'nesting_depth {depth}'",
        "obj.nesting_depth = 1",
        "obj = dict(nesting_depth=1)",
        "note = {'nesting_depth': 1}",
        "nesting_depth_2 = my_nesting_depth = 1",
        "nesting = depth",
        "obj = lambda nesting_depth: nesting_depth",
        "obj = [nesting_depth for nesting_depth in items]",
        "def inner(nesting_depth): return nesting_depth",
        "class Local: nesting_depth = 1",
        "class Local: show = lambda self, nesting_depth=1: nesting_depth",
        "obj = {nesting_depth: 1 for nesting_depth in items}",
        "obj = [n for nesting_depth in items if nesting_depth for n in nesting_depth]",
        "def inner(*nesting_depth, **rest): return nesting_depth",
        "def inner(**nesting_depth): return nesting_depth",
        "def inner():\n        with open('x') as nesting_depth: return nesting_depth",
        "def inner():\n        for nesting_depth in items: print(nesting_depth)",
        "def inner():\n        try: pass\n        except OSError as nesting_depth: print(nesting_depth)",
        "def inner():\n        import nesting_depths as depth",
        "def inner(v):\n        match v:\n            case [nesting_depth, *_]: return nesting_depth",
        "def inner(v):\n        match v:\n            case {'a': 1, **nesting_depth}: return nesting_depth",
        "def inner():\n        if (nesting_depth := 2): return nesting_depth",
    ],
)
def test_what_only_looks_like_the_name_stays(line: str) -> None:
    body = f"    obj = type('T', (), {{}})()\n    {line}\n    return nesting_depth(items)\n"
    assert rewritten(body) == f"    obj = type('T', (), {{}})()\n    {line}\n    return depth_of_nesting(items)\n"


def test_a_local_variable_of_the_same_name_stays() -> None:
    prompt = PROMPT.replace("Count how deep", "Count the levels: how deep")
    whole = "def levels(items, depth=0):\n    levels = 0\n    for _ in items:\n        levels += 1\n    return levels\n"
    assert rewritten(whole, "levels", "level", prompt) == whole.replace("def levels", "def level")


def test_characters_of_any_width_keep_their_place() -> None:
    body = "    'ä€😀'; x = '😀'; return (nesting_depth('ß'), '€', nesting_depth)[0] if '漢字' else nesting_depth\r\n"
    assert rewritten(body) == body.replace("nesting_depth", "depth_of_nesting")


def test_the_words_around_the_code_stay_unless_they_name_the_function() -> None:
    whole = "def nesting_depth(items, depth=0):\n    return nesting_depth\n"
    fenced = f"Here you are:\n```python\n{whole}```\nHave fun.\n"
    assert rewritten(fenced) == fenced.replace("nesting_depth", "depth_of_nesting")
    assert rewritten(f"```python\n{whole}```\nCall `nesting_depth` with a list.") is None


def test_a_repeated_docstring_follows_the_request() -> None:
    whole = PROMPT.format(name="nesting_depth") + "    return 1  # nesting_depth\n"
    assert rewritten(whole) == PROMPT.format(name="depth_of_nesting") + "    return 1  # nesting_depth\n"
    other = whole.replace("Count how deep", "nesting_depth tells how deep")
    assert rewritten(other) is None


@pytest.mark.parametrize(
    "body",
    [
        "    depth_of_nesting = 3\n    return nesting_depth(items) + depth_of_nesting\n",
        "    import depth_of_nesting\n    return nesting_depth(items)\n",
        "    def depth_of_nesting(): return 1\n    return nesting_depth(items)\n",
        "    global nesting_depth\n    nesting_depth = None\n    return 1\n",
        "    return globals()['nesting_depth'](items)\n",
        "    return f'{nesting_depth(items)}'\n",
        "    return 1\n\nnesting_depth = print(nesting_depth)\n",
        "    return 1\n\nfrom os import path as nesting_depth\n",
        "    class nesting_depth: pass\n    return 1\n",
        "    return eval('nesting_depth(items)')\n",
    ],
)
def test_a_rename_that_is_not_certain_is_refused(body: str) -> None:
    assert rewritten(body) is None


def test_a_new_name_that_shadows_something_used_is_refused() -> None:
    prompt = PROMPT.replace("Count how deep", "Give the sum: how deep")
    assert rewritten("    return sum(items)\n", "sum_up", "sum", prompt) is None


NAMES = st.from_regex(r"[a-z]{3,8}(_[a-z]{3,8}){1,2}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))


@settings(deadline=None, max_examples=40)
@given(NAMES, st.sampled_from(["", "    # {n}\n", "    y = '{n}'\n", "    x = lambda {n}: {n}\n"]), st.booleans())
def test_renaming_there_and_back_gives_the_same_bytes(name: str, line: str, whole: bool) -> None:
    camel = "".join(part.title() if i else part for i, part in enumerate(name.split("_")))
    assume(camel != name)
    body = line.format(n=name) + f"    return {name}(items) if items else {name}\n"
    head = f"def {name}(items, depth=0):\n" if whole else ""
    there = rewritten(head + body, name, camel)
    assert there is not None
    assert f"{camel}(items) if items else {camel}" in there
    again = rewritten(there.replace(line.format(n=name), ""), camel, name)
    assert again == head + f"    return {name}(items) if items else {name}\n"


def test_renaming_equals_renaming_the_tree() -> None:
    body = "    return [nesting_depth(i, depth + 1) for i in items] or nesting_depth\n"
    whole = "def nesting_depth(items, depth=0):\n" + body
    made = rewritten(whole)
    assert made is not None
    tree = ast.parse(whole)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "nesting_depth":
            node.id = "depth_of_nesting"
        if isinstance(node, ast.FunctionDef):
            node.name = "depth_of_nesting"
    assert ast.dump(ast.parse(made)) == ast.dump(tree)


def test_what_a_scope_takes_from_outside_follows() -> None:
    body = (
        "    def inner(f=nesting_depth, *, g: nesting_depth = nesting_depth) -> nesting_depth:\n"
        "        return nesting_depth(f)\n"
        "    class Local(type(nesting_depth)):\n"
        "        deep = nesting_depth\n"
        "        def method(self, nesting_depth=nesting_depth): return nesting_depth\n"
        "    return [nesting_depth(i) for i in nesting_depth(items)]\n"
    )
    was, now = "nesting_depth", "depth_of_nesting"
    wanted = body.replace(was, now).replace(f"{now}={now}): return {now}", f"{was}={now}): return {was}")
    assert rewritten(body) == wanted


# --- mentions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mention", ["nestnig_depth", "Nesting_DePth", "nesting _ depth", "nesting_depths", "nes ting_depth"]
)
def test_a_misspelt_mention_is_a_mention(mention: str) -> None:
    prompt = PROMPT.format(name="nesting_depth").replace("    >>>", f"    {mention} is used so:\n\n    >>>")
    right = prompt.replace(mention, "nesting_depth")
    assert prompt != right
    assert spec_of(prompt).residue == spec_of(right).residue


@pytest.mark.parametrize("other", ["testing_depth", "nesting_width", "nesting_depth_2", "nesting.depth", "nesting"])
def test_another_name_is_no_mention(other: str) -> None:
    prompt = PROMPT.format(name="nesting_depth").replace("Count how", f"Like {other}, count how")
    assert other in spec_of(prompt).residue


def test_a_word_is_a_mention_only_where_it_is_called() -> None:
    prompt = 'def swap(items):\n    """Swap the ends, see swap(items) and SwaP(items); swap nothing else."""\n'
    residue = spec_of(prompt).residue
    assert residue.count("requested_function") == 3
    assert "Swap the ends" in residue
    assert "swap nothing else" in residue


# --- when a name is merely a name -----------------------------------------------------------------------------------

VAGUE = "Process the values and return what is asked for."
SHOWN = "Work on a and b.\n\n>>> {new}(2, 5)\n7"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sort_by_length", "sortByLength"),
        ("sort_by_length", "sorts_by_length"),
        ("sort_by_length", "sort_by_lenght"),
        ("sort_by_length", "sort_by_lengtj"),
        ("merge_lists", "mergeLists"),
        ("list_sum", "list_total"),
        ("avg_speed", "average_speed"),
    ],
)
def test_the_same_words_promise_the_same(old: str, new: str) -> None:
    assert promise_the_same(old, new, VAGUE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is_even", "is_odd"),
        ("encode", "decode"),
        ("list_max", "list_min"),
        ("sort_ascending", "sort_descending"),
        ("first_word", "last_word"),
        ("to_upper", "to_lower"),
        ("is_valid", "is_not_valid"),
        ("add_two", "add_three"),
        ("sum_2", "sum_3"),
        ("row_sum", "column_sum"),
        ("compress", "decompress"),
        ("rotate_left", "rotate_right"),
        ("sort_by_name", "sort_by_age"),
        ("insert_node", "invert_node"),
        ("equal", "unequal"),
    ],
)
def test_other_words_over_a_vague_docstring_do_not(old: str, new: str) -> None:
    assert not promise_the_same(old, new, VAGUE)
    assert not promise_the_same(new, old, VAGUE)


@pytest.mark.parametrize(
    ("old", "new"),
    [("km_to_miles", "miles_to_km"), ("sum_squares", "square_sum"), ("stringToInt", "intToString"),
     ("users_of_group", "groups_of_user")],
)
def test_the_same_words_in_another_order_promise_something_else(old: str, new: str) -> None:
    assert not promise_the_same(old, new, VAGUE)
    assert promise_the_same(old, new, SHOWN.format(new=new))


def test_words_that_the_docstring_says_anyway_add_nothing() -> None:
    assert promise_the_same("f", "largest_gap", "Return the largest gap between neighbours.")
    assert promise_the_same("solution", "largest_gap", "Return the largest gap between neighbours.")
    assert not promise_the_same("f", "largest_gap", "Return it.")


def test_a_telling_example_pins_the_meaning_down() -> None:
    assert promise_the_same("combine", "unite", SHOWN.format(new="unite"))
    assert not promise_the_same("combine", "unite", SHOWN.format(new="unite").replace("7", "True"))
    assert not promise_the_same("combine", "unite", SHOWN.format(new="unite").replace("7", "5"))
    assert not promise_the_same("list_max", "list_min", SHOWN.format(new="list_min"))


# --- through the cache ----------------------------------------------------------------------------------------------


def cache_with(prompt: str, reply: str) -> StepCache:
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(code(),))
    assert cache.complete(prompt, ScriptedModel(reply)).recorded
    return cache


def ask(cache: StepCache, prompt: str, reply: str = "    return None\n") -> tuple[str, str, str]:
    result = cache.complete(Request(prompt, control=CacheControl(no_store=True)), ScriptedModel(reply))
    return result.decision.outcome, result.source, result.output


BODY = "    return 1 + max((nesting_depth(i) for i in items if isinstance(i, list)), default=0)\n"


def test_a_renamed_function_is_a_patch_by_rewrite_and_costs_no_call() -> None:
    cache = cache_with(PROMPT.format(name="nesting_depth"), BODY)
    found = ask(cache, PROMPT.format(name="nestingDepth"))
    assert found == ("patch", "rewrite", BODY.replace("nesting_depth", "nestingDepth"))
    assert ask(cache, PROMPT.format(name="nesting_depth"))[:2] == ("reuse", "cache")


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("    3\n", "    4\n"),
        ("[1, [2, [3]]]", "[1, [2, [4]]]"),
        ("depth=0", "depth=1"),
        ("(items, depth=0)", "(depth, items=0)"),
        ("(items,", "(values,"),
        ("are nested", "are not nested"),
        ("Count how deep", "Count in at most 10 steps how deep"),
        ("nested.\n", "nested. Return None for an empty list.\n"),
    ],
)
def test_a_changed_request_is_never_served_whether_renamed_or_not(was: str, now: str) -> None:
    cache = cache_with(PROMPT.format(name="nesting_depth"), BODY)
    for name in ("nesting_depth", "nestingDepth"):
        prompt = PROMPT.format(name=name)
        assert prompt.count(was) == 1
        assert ask(cache, prompt.replace(was, now))[1] != "cache"
        assert ask(cache, prompt.replace(was, now))[1] != "rewrite"


def test_another_meaning_in_the_name_alone_is_not_served() -> None:
    vague = 'def {name}(values):\n    """Look at the values and return the answer."""\n'
    cache = cache_with(vague.format(name="all_even"), "    return all(v % 2 == 0 for v in values)\n")
    assert ask(cache, vague.format(name="all_odd"))[1] in {"model", "repair"}


def test_a_foreign_trace_is_no_ground_for_reuse() -> None:
    entry = recorded(PROMPT.format(name="nesting_depth"), BODY)
    spec = spec_of(PROMPT.format(name="nesting_depth"))
    assert all(verdict.ok for verdict in spec.verify(entry.steps, entry))
    for trace in ("", "{", "[]", "null", '{"name": 1}', "[" * 100_000):
        damaged = replace(entry, trace=trace)
        assert not any(verdict.ok for verdict in spec.verify(damaged.steps, damaged))
        assert spec.rewrite(damaged.steps, damaged) is None
