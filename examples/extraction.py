"""Extract fields from many similar documents, then again when more of them are wanted, and again when fewer are.

The documents differ in a number or a name, so a cache that goes by similarity alone gives one customer's invoice to
another. StepCache compares them to the letter, keeps the fields that each document's reply already has, and asks for
the missing one. A patch reads a little more than a fresh reply and writes much less, and writing is what takes time and
costs most. With a real model: GGUF=path or BASE_URL=... MODEL=... before the command.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from stepcache import Result, Stats, StepCache
from stepcache.demo.at_hand import at_hand
from stepcache.protocols import Model

ROUNDS = {
    "number, customer, items": ("number", "customer", "items"),
    "and currency": ("number", "customer", "items", "currency"),
    "and due date": ("number", "customer", "items", "currency", "due"),
    "customer not wanted": ("number", "items", "currency", "due"),
    "the same once more": ("number", "items", "currency", "due"),
}
PEOPLE = ("Anna Berger", "Bruno Haas", "Clara Lang", "Dario Moser", "Elif Kaya")
WARES = ("oak shelf", "desk lamp", "office chair", "wall clock", "coat rack", "floor mat", "paper tray", "book end")
PRICES = {"*": (0.15, 0.60)}  # of a million tokens read and written


def invoice(n: int) -> dict[str, Any]:
    """What invoice n says."""
    items = [{"what": WARES[(n + 3 * i) % 8], "count": 1 + (n + i) % 4, "price": 10 + (n * 7 + i * 13) % 90}
             for i in range(5)]
    return {"number": 1000 + n, "customer": PEOPLE[n % 5], "items": items, "currency": ("EUR", "CHF", "USD")[n % 3],
            "due": f"2026-12-{1 + n % 28:02}"}


def document(n: int) -> str:
    told = invoice(n)
    lines = "\n".join(f"- {one['count']} x {one['what']} at {one['price']} {told['currency']}" for one in told["items"])
    return f"Invoice {told['number']}, billed to {told['customer']}:\n{lines}\nPlease pay by {told['due']}."


def prompt(n: int, fields: tuple[str, ...]) -> str:
    """As an app would write it: the keys in words. An explicit `spec=json_schema(...)` does the same with types."""
    keys = ", ".join(fields[:-1]) + f" and {fields[-1]}"
    return f"Extract the invoice below as a JSON object with the keys {keys}. Reply with JSON only.\n\n{document(n)}"


def script(prompt: str, purpose: str) -> str:
    """A stand-in that reads the invoice: the keys it is asked for, in the words of a request or of a patch."""
    told = invoice(int(re.findall(r"Invoice (\d+)", prompt)[-1]) - 1000)
    if purpose == "answer":
        wanted = prompt.partition("the keys")[2].partition(".")[0]
    else:
        wanted = prompt.rpartition("Still to be written")[2]
    return json.dumps({name: value for name, value in told.items() if re.search(rf"\b{name}\b", wanted)}, indent=1)


def run(model: Model, documents: int) -> Iterator[tuple[str, list[Result], int, Stats]]:
    """Send every document through the cache in each round; yields its results, how many are right, and the counts."""
    with StepCache.open(":memory:", embedder=None) as cache:
        for title, fields in ROUNDS.items():
            results = [cache.complete(prompt(n, fields), model) for n in range(documents)]
            right = sum(read(result.output) == {name: invoice(n)[name] for name in fields}
                        for n, result in enumerate(results))
            yield title, results, right, cache.stats()


def read(reply: str) -> Any:
    try:
        return json.loads(reply)
    except ValueError:
        return None


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=50)
    documents = parser.parse_args(arguments).documents
    stats = Stats()
    with at_hand(script, max_tokens=600) as model:
        print(model)
        print(f"{'keys':26}{'calls':>6}{'read':>8}{'written':>9}{'right':>7}  answered by")
        for title, results, right, so_far in run(model.model, documents):
            stats = so_far
            sources = ", ".join(f"{name} {count}" for name, count in Counter(one.source for one in results).items())
            usages = [one.usage for one in results if one.usage is not None]
            print(f"{title:26}{sum(one.calls for one in results):6}{sum(one.prompt_tokens or 0 for one in usages):8}"
                  f"{sum(one.completion_tokens or 0 for one in usages):9}{right:7}  {sources}")
    counts, money = stats.models[""], stats.money(PRICES)
    print(f"{stats.requests} requests, {stats.calls} model calls. Tokens spent: {counts.prompt} read, "
          f"{counts.completion} written; saved: {counts.saved_prompt} read, {counts.saved_completion} written.")
    print(f"At {PRICES['*'][0]} and {PRICES['*'][1]} for a million: {money.spent:.4f} spent, {money.saved:.4f} saved")


if __name__ == "__main__":
    main()
