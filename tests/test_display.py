"""What notebooks show: safe, complete, and readable without colours."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from stepcache import StepCache
from stepcache.stores.memory import MemoryStore
from stepcache.testing import ScriptedModel

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


def test_a_rewrite_shows_both_replies_and_which_steps_changed():
    cache = StepCache(MemoryStore())
    cache.record("Solve 2x + 3 = 13 for x.", REPLY)
    shown = page(cache.complete("Solve 2x + 3 = 15 for x.", ScriptedModel("banana"))._repr_html_())
    assert "2x = 12" in shown.text
    assert "2x = 10" in shown.text
    assert "= 1. Isolate" in shown.text
    assert "~ 2. Subtract" in shown.text
    assert "! 2. Subtract" in shown.text


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\u202e<b onload=x>", "'\"><img src=x>", "a\x00\ud800b",
                                  "x" * 100_000 + "\n" + "<i>" * 1000])
def test_hostile_text_is_shown_as_text(text):
    cache = StepCache(MemoryStore())
    for _ in range(2):
        result = cache.complete("Tell me " + text, ScriptedModel("so: " + text))
        shown = page(result._repr_html_())
        assert set(shown.tags) <= {"div", "pre", "span", "b"}
        assert len(result._repr_html_()) < 40_000
    explained = page(cache.explain("Tell me not " + text)._repr_html_())
    assert set(explained.tags) <= {"div", "pre", "span", "b"}


def test_statistics_show_as_a_table():
    cache = StepCache(MemoryStore())
    for _ in range(3):
        cache.complete("Name a tree", ScriptedModel("elm"))
    shown = page(cache.stats()._repr_html_())
    assert "outcome: reuse" in shown.text
    assert "table" in shown.tags
