"""The command line: what each command tells people and programs, and with which exit code it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import chromadb
import pytest
from typer.testing import CliRunner

import stepcache
from stepcache import CacheControl, Request, StepCache
from stepcache.cli import words
from stepcache.cli.app import app
from stepcache.errors import StoreError
from stepcache.stores.chroma import ChromaStore

REPLY = "1. Subtract 3 from both sides: 2x = 10\n2. Divide both sides by 2: x = 5\n\nx = 5"
EQUATION = "Solve 2x + 3 = 13 for x."


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with three entries of two namespaces, made once; tests load it into folders of their own."""
    folder = tmp_path_factory.mktemp("filled")
    with StepCache(ChromaStore(path=str(folder / "cache"))) as cache:
        cache.record(EQUATION, REPLY)
        cache.record(Request("Capital of France?", control=CacheControl(tags=("geo",))), "Paris.")
        cache.record(Request("Capital of Italy?", namespace="acme"), "Rome.")
        cache.export(folder / "entries.jsonl")
    return folder / "entries.jsonl"


@pytest.fixture
def folder(tmp_path: Path, filled: Path) -> Path:
    with StepCache(ChromaStore(path=str(tmp_path / "cache"))) as cache:
        cache.load(filled)
    return tmp_path / "cache"


def run(*arguments: object) -> tuple[int, str, str]:
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return outcome.exit_code, outcome.stdout, outcome.stderr


def run_json(*arguments: object) -> object:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def keys_of(folder: Path) -> dict[str, str]:
    return {entry["prompt"]: entry["key"] for entry in run_json("ls", "-c", folder)}


def test_stats_counts_entries_by_namespace(folder):
    told = run_json("stats", "-c", folder)
    assert told["entries"] == 3
    assert told["bytes"] > 0
    assert {name: group["entries"] for name, group in told["namespaces"].items()} == {"default": 2, "acme": 1}
    code, out, _ = run("stats", "-c", folder)
    assert code == 0
    assert "3 entries" in out
    assert "acme" in out


def test_ls_lists_and_filters(folder):
    assert len(run_json("ls", "-c", folder)) == 3
    assert len(run_json("ls", "-c", folder, "--limit", 1)) == 1
    assert [entry["prompt"] for entry in run_json("ls", "-c", folder, "-n", "acme")] == ["Capital of Italy?"]
    assert [entry["prompt"] for entry in run_json("ls", "-c", folder, "--contains", "France")] == ["Capital of France?"]
    assert [entry["prompt"] for entry in run_json("ls", "-c", folder, "--task", "linear_equation")] == [EQUATION]


def test_show_tells_an_entry_step_by_step(folder):
    key = keys_of(folder)[EQUATION]
    told = run_json("show", key[:10], "-c", folder)
    assert "".join(told["steps"]) == REPLY
    code, out, _ = run("show", key[:10], "-c", folder)
    assert code == 0
    assert f"step {len(told['steps'])} of {len(told['steps'])}" in out
    assert "Subtract 3" in out


def test_what_a_model_wrote_does_not_steer_the_terminal(tmp_path):
    with StepCache(ChromaStore(path=str(tmp_path / "cache"))) as cache:
        cache.record("Say [red]hello[/red] in colour.", "\x1b[2J[bold]gone[/bold]\x07")
    (key,) = keys_of(tmp_path / "cache").values()
    code, out, _ = run("show", key, "-c", tmp_path / "cache")
    assert code == 0
    assert "\x1b[2J" not in out
    assert "[bold]gone[/bold]" in out
    assert "[red]hello[/red]" in run("ls", "-c", tmp_path / "cache")[1]


def test_an_unknown_key_is_missing_and_a_short_one_is_refused(folder):
    assert run("show", "ffffffff", "-c", folder)[0] == 1
    assert run("forget", "ffffffff", "-c", folder)[0] == 1
    assert run("show", "ab", "-c", folder)[0] == 2


def test_forget_removes_single_entries(folder):
    key = keys_of(folder)[EQUATION]
    assert run_json("forget", key[:12], "-c", folder)["removed"] == 1
    assert EQUATION not in keys_of(folder)


def test_clear_needs_a_condition_or_all(folder):
    assert run("clear", "-c", folder)[0] == 2
    assert run("clear", "-c", folder, "--all", "-n", "acme")[0] == 2
    assert len(keys_of(folder)) == 3
    assert run_json("clear", "-c", folder, "-n", "acme")["removed"] == 1
    assert run_json("clear", "-c", folder, "--tag", "geo")["removed"] == 1
    assert run_json("clear", "-c", folder, "--older-than", "3600")["removed"] == 0
    assert run_json("clear", "-c", folder, "--all")["removed"] == 1
    assert keys_of(folder) == {}


def test_export_and_load_carry_all_entries(folder, tmp_path):
    assert run_json("export", tmp_path / "out.jsonl", "-c", folder)["written"] == 3
    assert run_json("load", tmp_path / "out.jsonl", "-c", tmp_path / "copy")["loaded"] == 3
    assert keys_of(tmp_path / "copy") == keys_of(folder)


def test_loading_what_is_not_there_says_so(tmp_path):
    code, _, err = run("load", tmp_path / "none.jsonl", "-c", tmp_path / "copy")
    assert code == 2
    assert "none.jsonl" in err


@pytest.mark.parametrize("command", ["purge", "compact"])
def test_purge_and_compact_keep_what_is_recorded(folder, command):
    run("clear", "-c", folder, "-n", "acme")
    told = run_json(command, "-c", folder)
    assert set(told) == {"bytes_before", "bytes_after"}
    assert len(keys_of(folder)) == 2


def test_doctor_finds_a_sound_folder_healthy(folder):
    told = run_json("doctor", "-c", folder)
    assert told == {"healthy": True, "entries": 3, "findings": [], "notes": [], "mended": []}


def test_doctor_ends_with_one_when_something_is_wrong(folder, monkeypatch):
    monkeypatch.setattr(ChromaStore, "faults", lambda self: ("a record is damaged",), raising=False)
    code, out, _ = run("doctor", "-c", folder)
    assert code == 1
    assert "a record is damaged" in out


def raw(folder: Path):
    """Chroma itself on the folder, under a path text that StepCache does not use."""
    return chromadb.PersistentClient(str(folder) + "/./.", settings=chromadb.Settings(anonymized_telemetry=False))


def test_doctor_finds_and_mends_a_broken_record(folder):
    client = raw(folder)
    for made in client.list_collections():
        collection = client.get_collection(made.name, embedding_function=None)
        found = collection.get()["ids"]
        if len(found) == 2:
            collection.update(ids=found[:1], metadatas=[{"r": "j1::{"}])
    client.close()
    code, out, _ = run("doctor", "-c", folder)
    assert code == 1
    assert "1 records are damaged" in out
    assert len(run_json("ls", "-c", folder)) == 2
    told = run_json("doctor", "-c", folder, "--repair")
    assert told["healthy"]
    assert told["mended"] == ["removed 1 damaged or foreign records"]
    assert run_json("doctor", "-c", folder)["entries"] == 2


def test_doctor_tells_what_became_of_an_unreadable_database(folder):
    (folder / "chroma.sqlite3").write_bytes(b"garbage!" * 1000)
    code, out, err = run("doctor", "-c", folder, "--json")
    assert code == 1
    assert "set aside" in json.loads(out)["findings"][0]
    assert "was moved to" in err
    run_json("purge", "-c", folder)
    assert run_json("doctor", "-c", folder)["healthy"]


def test_doctor_tells_of_an_older_layout_and_of_a_clock_that_was_set_back(folder, monkeypatch):
    client = raw(folder)
    client.create_collection("stepcache0-old", embedding_function=None, metadata={"stepcache": 0})
    client.close()
    with StepCache(ChromaStore(path=str(folder)), clock=lambda: time.time() + 3600) as cache:
        cache.record("Recorded before the clock was set back", "yes")
    code, out, err = run("doctor", "-c", folder, "--json")
    assert code == 1
    findings = json.loads(out)["findings"]
    assert "1 collections are of another version" in findings[0]
    assert "1 entries are dated in the future" in findings[1]
    assert "another version" in err


def test_a_folder_that_another_process_has_open_is_read_and_its_owner_told(folder):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(Path(stepcache.__file__).parents[1]), str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    code, out, err = run("stats", "-c", folder, "--json")
    assert (code, json.loads(out)["entries"]) == (0, 3)
    assert err.count("note:") == 1
    told = run_json("doctor", "-c", folder)
    assert told["healthy"]
    assert "another process" in told["notes"][0]
    assert run("purge", "-c", folder)[0] == 2
    assert run_json("clear", "-n", "acme", "-c", folder)["removed"] == 1
    holder.stdin.close()
    assert holder.wait(timeout=60) == 0
    holder.stdout.close()
    assert EQUATION in keys_of(folder)
    assert "Capital of Italy?" not in keys_of(folder)


HOLDER = """
import sys
sys.path.insert(0, sys.argv[1])
from stepcache.stores.chroma import ChromaStore
store = ChromaStore(path=sys.argv[2])
store.count()
print("open", flush=True)
sys.stdin.read()
store.close()
"""


@pytest.mark.parametrize("command", ["stats", "ls", "doctor", "purge", "compact"])
def test_a_folder_of_something_else_is_left_as_it_is(tmp_path, command):
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    code, _, err = run(command, "-c", tmp_path)
    assert code == 2
    assert "no cache" in err
    assert [place.name for place in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("command", ["stats", "ls", "doctor", "purge", "compact"])
def test_a_folder_that_is_not_there_is_not_made(tmp_path, command):
    code, _, err = run(command, "-c", tmp_path / "none")
    assert code == 2
    assert "no cache" in err
    assert not (tmp_path / "none").exists()


def log_of(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_replay_measures_a_log(tmp_path, monkeypatch):
    monkeypatch.setattr("stepcache._cache._default_embedder", lambda: None)
    log = log_of(
        tmp_path / "log.jsonl",
        {"prompt": EQUATION, "reply": REPLY, "tokens": 60},
        {"prompt": EQUATION, "reply": REPLY, "tokens": 60},
    )
    told = run_json("replay", log, "--price", "0.5")
    assert (told["requests"], told["served"], told["tokens_saved"]) == (2, 1, 60)
    assert "2 requests" in run("replay", log)[1]


def test_replay_prices_a_log_by_model_and_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr("stepcache._cache._default_embedder", lambda: None)
    rows = [{"prompt": EQUATION, "reply": REPLY, "model": model, "prompt_tokens": 20, "completion_tokens": 40}
            for model in ("small", "small", "large", "large", "unknown")]
    log = log_of(tmp_path / "log.jsonl", *rows, {"prompt": "<script>", "reply": "<script>"})
    prices = tmp_path / "prices.json"
    prices.write_text('{"small": 1000, "large": [5000, 10000]}', encoding="utf-8")
    told = run_json("replay", log, "--prices", prices, "--html", tmp_path / "page.html")
    assert told["money"] == pytest.approx(2 * 0.06 + 2 * 0.5)
    assert told["money_saved"] == pytest.approx(0.06 + 0.5)
    assert told["unpriced"] == 2
    assert "<script>" not in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "0.56 of 1.12 saved" in run("replay", log, "--prices", prices)[1]
    assert run("replay", log, "--prices", prices, "--price", 1)[0] == 2
    prices.write_text("[1]", encoding="utf-8")
    assert run("replay", log, "--prices", prices)[0] == 2
    prices.write_text('{"small": "cheap"}', encoding="utf-8")
    assert run("replay", log, "--prices", prices)[0] == 2


def test_replay_ends_with_one_when_a_serve_disagrees_with_the_log(tmp_path, monkeypatch):
    monkeypatch.setattr("stepcache._cache._default_embedder", lambda: None)
    rows = [{"prompt": "Capital of France?", "reply": reply} for reply in ("Paris.", "Lyon.")]
    assert run("replay", log_of(tmp_path / "log.jsonl", *rows))[0] == 1


def test_a_log_that_can_not_be_read_is_named(tmp_path):
    (tmp_path / "log.jsonl").write_text("not json\n", encoding="utf-8")
    code, _, err = run("replay", tmp_path / "log.jsonl")
    assert code == 2
    assert "line 1" in err


def test_without_its_extra_the_command_says_how_to_get_it(monkeypatch, capsys):
    from stepcache.cli import main

    for name in [name for name in sys.modules if name.startswith("stepcache.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "stepcache[cli]" in capsys.readouterr().err


def test_sizes_ages_and_texts_read_well():
    assert [words.size(count) for count in (999, 1500, 2_500_000, 3_000_000_000)] == [
        "999 B",
        "1.5 kB",
        "2.5 MB",
        "3.0 GB",
    ]
    assert [words.age(seconds) for seconds in (0.2, 59, 61, 7200, 200_000)] == ["0 s", "59 s", "1 min", "2 h", "2 d"]
    assert words.lifetime(None, 0.0) == "never"
    assert words.lifetime(10.0, 10.0) == "expired"
    assert words.shortened("a\nb\x00c" + "d" * 50, 8) == "a b cdd…"


def test_doctor_tells_of_a_full_disk_where_nothing_can_be_read(folder, monkeypatch):
    """As a disk that is really full was seen to leave a folder: its free space is told before what Chroma says."""
    def full(*_: object) -> object:
        raise StoreError("database or disk is full")

    monkeypatch.setattr("stepcache.stores._chroma_engine.Engine.names", full)
    monkeypatch.setattr(ChromaStore, "count", full)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=300_000))
    code, out, _ = run("doctor", "-c", folder, "--json")
    told = json.loads(out)
    assert (code, told["healthy"], told["entries"]) == (1, False, None)
    assert [("0.3 MB are free" in one, "disk is full" in one) for one in told["findings"]] == [
        (True, False), (False, True)]
