"""All commands of `stepcache`. Each opens a cache, asks it for one thing and shows the outcome.

Exit codes: 0 all is well; 1 the command worked, but what it looked for is missing or wrong; 2 it can't be done so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stepcache.cli import looking, measuring
from stepcache.cli.console import console, counting, fail, show_json
from stepcache.cli.opening import find, folder_size, opened
from stepcache.cli.words import counted, size

__all__ = ["app"]

app = typer.Typer(
    name="stepcache",
    help="Look into a StepCache folder, keep it tidy, and see what a cache is worth.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # locals may hold prompts and keys
)

Folder = Annotated[Path, typer.Option("--cache", "-c", envvar="STEPCACHE_DIR", help="The cache's folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON value instead of text for people.")]
Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="Only this namespace.")]
Key = Annotated[str, typer.Argument(help="An entry's key, or its first characters.")]
HERE = Path("cache")


@app.command()
def forget(
    keys: Annotated[list[str], typer.Argument(help="Keys of entries, or their first characters.")],
    cache: Folder = HERE,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Remove single entries."""
    with opened(cache) as opened_cache:
        found = [find(opened_cache, key, namespace).key for key in keys]
        removed = sum(opened_cache.forget(key) for key in dict.fromkeys(found))
    _tell(as_json, f"removed {_entries(removed)}", removed=removed, keys=found)


@app.command()
def clear(
    cache: Folder = HERE,
    namespace: Namespace = None,
    model: Annotated[str | None, typer.Option(help="Only entries of this model identity (see `show`).")] = None,
    tag: Annotated[str | None, typer.Option(help="Only entries with this tag.")] = None,
    older_than: Annotated[float | None, typer.Option(help="Only entries older than so many seconds.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All entries; needed when nothing else is named.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove all entries that fit every condition named."""
    named = any(value is not None for value in (namespace, model, tag, older_than))
    if named == everything:
        fail("name what to remove (--namespace, --model, --tag, --older-than), or write --all for everything")
    with opened(cache) as opened_cache:
        removed = opened_cache.clear(namespace=namespace, model=model, tag=tag, older_than=older_than)
    _tell(as_json, f"removed {_entries(removed)}", removed=removed)


@app.command()
def purge(cache: Folder = HERE, as_json: AsJson = False) -> None:
    """Leave no byte of removed text or vectors in the folder."""
    before = folder_size(cache)
    with opened(cache) as opened_cache:
        opened_cache.purge()
    _tell_size(as_json, "purged", cache, before)


@app.command()
def compact(cache: Folder = HERE, as_json: AsJson = False) -> None:
    """Give back the disk space that removed entries still hold."""
    before = folder_size(cache)
    with opened(cache) as opened_cache:
        opened_cache.compact()
    _tell_size(as_json, "compacted", cache, before)


@app.command()
def export(
    path: Annotated[Path, typer.Argument(help="The file to write, in JSON lines.")],
    cache: Folder = HERE,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Write all entries to a file, as a backup or to warm up another cache."""
    with opened(cache) as opened_cache, counting("exporting") as progress:
        written = opened_cache.export(path, namespace=namespace, progress=progress)
    _tell(as_json, f"wrote {_entries(written)} to {path}", written=written, path=str(path))


@app.command()
def load(
    path: Annotated[Path, typer.Argument(help="A file that `export` wrote.")],
    cache: Folder = HERE,
    as_json: AsJson = False,
) -> None:
    """Take in the entries of an exported file; makes the cache's folder where there is none."""
    with opened(cache, make=True) as opened_cache, counting("loading") as progress:
        taken = opened_cache.load(path, progress=progress)
    _tell(as_json, f"took in {_entries(taken)}", loaded=taken, path=str(path))


@app.command()
def stats(cache: Folder = HERE, as_json: AsJson = False) -> None:
    """What the cache holds, by namespace, and how large it is."""
    looking.stats(cache, as_json)


@app.command("ls")
def list_entries(
    cache: Folder = HERE,
    namespace: Namespace = None,
    task: Annotated[str | None, typer.Option(help="Only entries of this task.")] = None,
    contains: Annotated[str | None, typer.Option(help="Only entries whose prompt contains this text.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-l", min=0, help="The latest so many; 0 for all.")] = 50,
    as_json: AsJson = False,
) -> None:
    """The entries, latest first."""
    looking.entries(cache, namespace, task, contains, limit, as_json)


@app.command()
def show(key: Key, cache: Folder = HERE, namespace: Namespace = None, as_json: AsJson = False) -> None:
    """One entry, step by step."""
    looking.entry(cache, key, namespace, as_json)


@app.command()
def doctor(
    cache: Folder = HERE,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended, then examine again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Examine the folder and say what is wrong with it, if anything. Exit code 1 if there is."""
    looking.doctor(cache, repair, as_json)


@app.command()
def replay(
    log: Annotated[
        Path,
        typer.Argument(
            help="JSON lines with `prompt` and `reply`; optionally context, namespace, model, seconds, and tokens or "
            "prompt_tokens and completion_tokens."
        ),
    ],
    price: Annotated[float | None, typer.Option(help="What 1,000 tokens cost, to sum up the money saved.")] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            help="A JSON file with the price of a million tokens by model: one figure, or one for prompt and one for "
            'completion tokens; "*" for any other model.'
        ),
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many serves to look at are shown.")] = 10,
    html: Annotated[Path | None, typer.Option(help="Write a page with plots to this file, too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure on your own log what a cache would have served, saved, and served wrongly. No model is called."""
    measuring.replay_log(log, measuring.price_table(price, prices), worst, html, as_json)


@app.command()
def demo(
    cache: Annotated[Path | None, typer.Option("--cache", "-c", help="Where the demo keeps its cache.")] = None,
    gguf: Annotated[Path | None, typer.Option(envvar="GGUF", help="A model file of your own.")] = None,
    base_url: Annotated[str | None, typer.Option(envvar="BASE_URL", help="An OpenAI-compatible server.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            envvar="MODEL", help="qwen-0.5b (default), qwen-1.5b or smollm2; with --base-url, the server's name for it."
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads for llama.cpp (default: the idle cores).")] = None,
    as_json: AsJson = False,
) -> None:
    """A dozen requests to a small real model, through a cache that stays: run it twice."""
    measuring.run_demo(cache, gguf, base_url, model, threads, as_json)


def _tell(as_json: bool, sentence: str, **values: object) -> None:
    if as_json:
        show_json(values)
    else:
        console.print(sentence, highlight=False, soft_wrap=True)


def _entries(number: int) -> str:
    return counted(number, "entry", "entries")


def _tell_size(as_json: bool, done: str, folder: Path, before: int) -> None:
    after = folder_size(folder)
    _tell(as_json, f"{done}: {size(before)} before, {size(after)} now", bytes_before=before, bytes_after=after)
