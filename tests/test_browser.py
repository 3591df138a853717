"""The displays in a real browser: narrow and wide, light and dark, with texts that try to break out of them.

Needs a Chromium on this machine (`apt-get install chromium`, or STEPCACHE_CHROMIUM=path); skipped where there is none.
`python tests/test_browser.py` makes the pictures of the docs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stepcache import Completion, StepCache
from stepcache._html import said
from stepcache.replay import replay
from stepcache.stores.memory import MemoryStore
from stepcache.tasks import DEFAULT_TASKS, plain_text
from stepcache.testing import HashEmbedder

AFTER = '<p id="after">after</p>'
CHROMIUM = os.environ.get("STEPCACHE_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
EQUATION = ("1. Isolate the term with x.\n2. Subtract 3 from both sides: 2x = 10\n3. Divide both sides by 2: x = 5\n\n"
            "x = 5")
NASTY = {
    "script": "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
              "<svg onload='window.hacked = 3'>",
    "breaking out": "</pre></div></bdi></body><script>window.hacked = 4</script><style>* { display: none }</style>",
    "right to left": "\u202e" * 30 + "gnirts \u2067\u2066 \u05e9\u05dc\u05d5\u05dd \u202b!",
    "a long line": "x" * 100_000,
    "a long line of brackets": "<" * 100_000,
}


def says(text: str, tokens: int = 48) -> Any:
    return lambda prompt, purpose: Completion(text, {"prompt_tokens": 40, "completion_tokens": tokens})


@cache
def displays() -> dict[str, Any]:
    """One of each, as an app sees them."""
    app = StepCache(MemoryStore(), HashEmbedder(256))
    app.complete("Solve 2x + 3 = 13 for x.", says(EQUATION))
    keys = "Return a JSON object with keys {} for the person Bob Lee, aged 30, of Graz."
    app.complete(keys.format("name, age and city"),
                   says('{\n  "name": "Bob Lee",\n  "age": 30,\n  "city": "Graz"\n}'))
    app.complete("Give me a pancake recipe with eggs", says("Mix flour, milk and eggs. Rest the batter. Fry."))
    made = {
        "result": app.complete("Solve 2x + 3 = 15 for x.", says("")),
        "patched": app.complete(keys.format("name, age, city and email"), says('{"email": "bob@example.org"}', 12)),
        "decision": app.explain("Give me a pancake recipe without eggs"),
        "rewritten": app.explain("Solve 2y + 3 = 17 for y."),
    }
    for _ in range(9):
        app.complete("Give me a pancake recipe with eggs", says(""))
    app.complete("Give me a pancake recipe without eggs", says("Mix flour and milk. Fry."))
    return {**made, "stats": app.stats(), "report": Page(replay(log(), StepCache(MemoryStore(), HashEmbedder(256)),
                                                                  prices={"*": (150.0, 600.0)}))}


def log() -> Iterator[dict[str, Any]]:
    """Traffic of an app with a tutor, a help desk and a question that its model answers in two ways."""
    for n in range(60):
        value = 2 + n * 7 % 11
        reply = EQUATION.replace("10", str(2 * value)).replace("x = 5", f"x = {value}")
        yield {"prompt": f"Solve 2x + 3 = {2 * value + 3} for x.", "reply": reply, "prompt_tokens": 21,
               "completion_tokens": 48, "seconds": 1.2}
        if n % 3 == 0:
            verb = "enable" if n % 2 else "disable"
            yield {"prompt": f"How do I {verb} two-factor sign-in?",
                   "reply": f"Open Settings, then Security, and {verb} it.",
                   "prompt_tokens": 12, "completion_tokens": 14, "seconds": 0.6}
        if n % 20 == 5:
            yield {"prompt": "Name a tree", "reply": "An elm." if n < 30 else "An oak.", "prompt_tokens": 5,
                   "completion_tokens": 3, "seconds": 0.4}


@cache
def nasty(text: str) -> dict[str, Any]:
    """One of each, of a prompt and a reply that hold such a text."""
    stepcache = StepCache(MemoryStore(), HashEmbedder(256), tasks=(plain_text(), *DEFAULT_TASKS))
    fresh = stepcache.complete(f"Tell me: {text}", says(f"so: {text}"))
    hit = stepcache.complete(f"Tell me: {text}", says(""))
    rows = [{"prompt": f"Tell me: {text}", "reply": reply} for reply in (text, f"{text} or not")]
    rows.append({"prompt": f"Don't tell me: {text}", "reply": text})
    return {"fresh": fresh, "hit": hit, "decision": stepcache.explain(f"Don't tell me: {text}"),
            "stats": stepcache.stats(), "report": Page(replay(rows, StepCache(MemoryStore(), HashEmbedder(256))))}


class Page:
    """A report as a whole page rather than a piece of one."""

    def __init__(self, report: Any) -> None:
        self.html = report.html()


def document(display: Any) -> str:
    """A display as a notebook shows it, or a page of its own."""
    if isinstance(display, Page):
        return display.html
    return ('<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
            f'<body style="margin:8px;background:Canvas;color:CanvasText">{display._repr_html_()}{AFTER}')


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or STEPCACHE_CHROMIUM=path")
    with opened() as chromium:
        yield chromium


def opened() -> Any:
    """Chromium under Playwright; without its sandbox, which root may not use, since it only sees our own pages."""
    from contextlib import contextmanager

    @contextmanager
    def opening() -> Iterator[Any]:
        playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need Playwright")
        with playwright.sync_playwright() as driver:
            chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            try:
                yield chromium
            finally:
                chromium.close()

    return opening()


def look(browser: Any, html: str, width: int, scheme: str) -> tuple[Any, list[str]]:
    """An open page, and every request it made."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(html)
    return page, asked


# Of every element with text of its own: its box and the contrast (WCAG 2) of its text to what is behind it.
MEASURE = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
                           const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = c => { const l = c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92
                                                                     : ((v + .055) / 1.055) ** 2.4);
                       return .2126 * l[0] + .7152 * l[1] + .0722 * l[2]; };
  const found = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.getClientRects().length) continue;
    const chain = []; for (let e = element; e; e = e.parentElement) chain.unshift(e);
    let ground = rgba(getComputedStyle(document.body).backgroundColor), opacity = 1;
    for (const e of chain) { const s = getComputedStyle(e); ground = over(rgba(s.backgroundColor), ground);
                             opacity *= parseFloat(s.opacity); }
    const text = rgba(getComputedStyle(element).color); text[3] *= opacity;
    const a = light(over(text, ground)), b = light(ground);
    const box = element.getBoundingClientRect();
    found.push({contrast: (Math.max(a, b) + .05) / (Math.min(a, b) + .05), left: box.left, right: box.right,
                text: element.textContent.slice(0, 30)});
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_displays_fit_and_can_be_read(browser: Any, width: int, scheme: str) -> None:
    for name, display in displays().items():
        page, asked = look(browser, document(display), width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        measured = page.evaluate(MEASURE)
        assert len(measured) >= 5, name
        hidden = [one for one in measured if one["contrast"] < 4.5 and one["text"].strip() not in {"┅┅", "━━"}]
        outside = [one for one in measured if one["left"] < 0 or one["right"] > width + 0.5]
        assert (name, hidden, outside) == (name, [], [])
        assert asked == []
        page.context.close()


@pytest.mark.parametrize("kind", NASTY)
def test_no_text_breaks_out_of_a_display(browser: Any, kind: str) -> None:
    for name, display in nasty(NASTY[kind]).items():
        page, asked = look(browser, document(display), 400, "light")
        page.wait_for_timeout(20)  # an image's onerror comes after the page
        assert page.evaluate("window.hacked") is None, name
        assert page.evaluate("document.querySelectorAll('script, img, iframe, [onload], [onerror]').length") == 0
        for width in (400, 1200):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert asked == [], name
        if not isinstance(display, Page):  # what stands behind a display is neither swallowed nor hidden
            assert page.locator("#after").is_visible()
            assert page.evaluate("document.querySelector('#after').parentElement === document.body")
        page.context.close()


@pytest.mark.parametrize("text", [
    NASTY["right to left"], "\u2067" * 10 + "open", "\u2069" * 5 + "\u202e closed", "\u2068\u2069\u2069\u202e",
    "\u202e",
], ids=range(5))
def test_marks_of_direction_end_with_the_text_that_holds_them(browser: Any, text: str) -> None:
    """Our own words after a quoted prompt stand to the right of it and run from left to right."""
    place = """() => {
        const quoted = document.querySelector('bdi'), after = quoted.nextSibling;
        const left = (from, to) => { const range = document.createRange(); range.setStart(after, from);
                                     range.setEnd(after, to); return range.getBoundingClientRect().left; };
        return [quoted.getBoundingClientRect().right, left(1, 2), left(after.length - 1, after.length)]; }"""
    page, _ = look(browser, f"<!doctype html><meta charset=utf-8><body>{said(text)} ends here", 1200, "light")
    quoted, first, last = page.evaluate(place)
    assert quoted - 1 <= first < last
    page.context.close()


PICTURES = {"result": (760, "light"), "patched": (760, "dark"), "decision": (760, "light"), "stats": (760, "light"),
            "report": (760, "light")}


def main() -> None:
    folder = Path(__file__).parent.parent / "docs" / "images"
    folder.mkdir(exist_ok=True)
    shown = displays()
    with opened() as browser:
        for name, (width, scheme) in PICTURES.items():
            page, _ = look(browser, document(shown[name]).replace(AFTER, ""), width, scheme)
            page.screenshot(path=folder / f"{name}.png", full_page=True)
            height = page.evaluate("Math.ceil(document.body.getBoundingClientRect().bottom) + 8")
            page.set_viewport_size({"width": width, "height": min(height, 1100)})
            page.screenshot(path=folder / f"{name}.png")


if __name__ == "__main__":
    main()
