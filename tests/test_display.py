"""What notebooks show: safe, complete, and readable without colours."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from stepcache import Policy, StepCache
from stepcache._html import changed
from stepcache.replay import replay
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import plain_text
from stepcache.testing import HashEmbedder, ScriptedModel

REPLY = "1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n3. Divide both sides by 2: x = 5\n\nx = 5"


class Tags(HTMLParser):
    """Collects the tags and text of a page and holds that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags


HOSTILE = ["<script>alert(1)</script>", "\u202e<b onload=x>", "'\"><img src=x onerror=alert(1)>", "a\x00\ud800b",
           "x" * 100_000 + "\n" + "<i>" * 1000, "</pre></div></bdi><style>*{display:none}</style>",
           "\u2066" * 50 + "&lt;"]
SAFE = {"div", "pre", "span", "b", "u", "bdi", "svg", "polyline"}


def test_a_rewrite_shows_what_was_kept_failed_and_became_of_it_without_colours():
    cache = StepCache(MemoryStore())
    cache.record("Solve 2x + 3 = 13 for x.", REPLY)
    shown = page(cache.complete("Solve 2x + 3 = 15 for x.", ScriptedModel("banana"))._repr_html_())
    for words in ("2x = 12", "2x = 10", "= kept", "~ rewritten", "✗ failing", "✓ passes", "Solve 2x + 3 = 13 for x."):
        assert words in shown.text
    assert shown.text.count("1. Isolate the term with x.") == 1  # what is kept is shown once
    assert "0 model calls" in shown.text


def test_a_patch_a_miss_and_an_exact_hit_are_told_apart_by_words():
    cache, model = StepCache(MemoryStore()), ScriptedModel(
        lambda prompt, purpose: '{"age": 30}' if purpose == "patch" else '{"name": "Bob"}')
    keys = "Return a JSON object with keys {} for the person Bob, aged 30."
    miss = page(cache.complete(keys.format("name"), model)._repr_html_()).text
    hit = page(cache.complete(keys.format("name"), model)._repr_html_()).text
    patch = page(cache.complete(keys.format("name and age"), model)._repr_html_()).text
    assert "• new" in miss
    assert "from the model" in miss
    assert "= kept" in hit
    assert "the very same request" in hit
    assert "+ patched" in patch
    assert "1 model call ·" in patch


def test_a_skip_names_its_code_its_reason_and_what_it_refused():
    cache = StepCache(MemoryStore(), HashEmbedder())
    cache.record("Name a tree in Graz", "elm")
    shown = page(cache.explain("Name a tree in Linz")._repr_html_()).text
    assert "skip (name)" in shown
    assert "Linz" in shown
    assert "Name a tree in Graz" in shown


def test_what_changed_in_a_step_is_marked_and_nothing_is_lost():
    assert changed("x = 5", "x = 6") == "x = <u><b>6</b></u>"
    assert changed("", "<b>") == "<u><b>&lt;b&gt;</b></u>"
    assert changed("a", "a") == "a"
    long = "word " * 3_000
    assert changed(long, long + "more") == long[:4_000] + " […11,004 more characters]"


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_shown_as_text(text):
    cache = StepCache(MemoryStore(), HashEmbedder(), tasks=(plain_text(),))
    shown = []
    for _ in range(2):
        shown.append(cache.complete("Tell me " + text, ScriptedModel("so: " + text))._repr_html_())
    shown.append(cache.explain("Tell me not " + text)._repr_html_())
    rows = [{"prompt": "Tell me " + text, "reply": reply, "model": text} for reply in (text, text + "!")]
    shown.append(replay([*rows, {"prompt": "Tell me not " + text, "reply": text}], cache)._repr_html_())
    shown.append(cache.stats()._repr_html_())
    for html in shown:
        assert set(page(html).tags) <= SAFE
        assert len(html) < 60_000


def test_a_reply_of_many_steps_is_cut():
    reply = "\n".join(f"{n}. Step {n}" for n in range(1, 1_001))
    result = StepCache(MemoryStore()).complete("List many steps", ScriptedModel(reply))
    shown = result._repr_html_()
    assert f"{len(result.steps) - 60} more steps" in shown
    assert len(shown) < 100_000


def test_statistics_show_figures_outcomes_reasons_and_stages():
    cache = StepCache(MemoryStore(), HashEmbedder(), policy=Policy(enforce=False))
    for prompt in ("Name a tree in Graz", "Name a tree in Graz", "Name a tree in Linz"):
        cache.complete(prompt, ScriptedModel("elm"))
    shown = page(cache.stats()._repr_html_()).text
    for words in ("3requests", "reuse 1 (33%)", "skip 1 (33%)", "skip: name", "miss: ", "embed", "total"):
        assert words in shown
    assert page(StepCache(MemoryStore()).stats()._repr_html_()).text.startswith("0requests")


def test_a_report_is_a_page_that_may_load_and_run_nothing():
    cache = StepCache(MemoryStore(), HashEmbedder())
    rows = [{"prompt": "Name a tree", "reply": reply, "prompt_tokens": 5, "completion_tokens": 1, "model": "small"}
            for reply in ("elm", "oak", "elm")]
    report = replay([*rows, {"prompt": "Name a bush", "reply": "box"}], cache, prices={"small": (1e6, 2e6)})
    assert (report.money, report.money_saved, report.unpriced) == (21.0, 14.0, 1)
    html = report.html()
    assert html.startswith("<!doctype html>")
    assert "default-src 'none'" in html
    assert "http" not in html.replace("http-equiv", "")
    text = Whole.text_of(html)
    for words in ("4requests", "50%without", "12 of 18", "14.00 of 21.00", "row 2", "other than the log (2)"):
        assert words in text


class Whole(Tags):
    """As `Tags`, for a page with elements that have no end."""

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            super().handle_starttag(tag, attrs)

    @classmethod
    def text_of(cls, html: str) -> str:
        page = cls()
        page.feed(html)
        page.close()
        return page.text
