"""The sandbox lets honest programs run and stops everything else, in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from stepcache.tasks import _sandbox
from stepcache.tasks._sandbox import Limits, run

QUICK = Limits(wall_seconds=4.0, cpu_seconds=1, memory_bytes=256 * 1024 * 1024)


def test_code_that_does_what_its_tests_say_passes() -> None:
    verdict = run("def area(w, h):\n    return w * h", "assert area(3, 4) == 12\nassert area(0, 9) == 0")
    assert verdict.ok
    assert verdict.check == "tests"


def test_the_standard_library_is_at_hand() -> None:
    code = """
import asyncio, collections, dataclasses, datetime, decimal, enum, functools, hashlib, heapq, itertools, json, math
import random, re, statistics, string, typing, unittest, zoneinfo
Point = collections.namedtuple("Point", "x y")
@dataclasses.dataclass(frozen=True)
class Span:
    start: int
random.seed(4)
"""
    tests = "assert Point(1, 2).y == 2 and Span(3).start == 3 and math.isqrt(17) == 4 and random.random() < 1"
    assert run(code, tests).ok


@pytest.mark.parametrize(
    ("code", "tests", "told"),
    [
        ("def f(): return 1", "assert f() == 2, 'one is not two'", "one is not two"),
        ("def f(): return 1", "g()", "NameError"),
        ("def f(: pass", "", "SyntaxError"),
        ("def f(): return f()", "f()", "RecursionError"),
        ("x = 1 / 0", "", "ZeroDivisionError"),
    ],
)
def test_what_fails_says_why(code: str, tests: str, told: str) -> None:
    verdict = run(code, tests)
    assert not verdict.ok
    assert told in verdict.detail


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.exit(0)",
        "raise SystemExit",
        "import os\nos._exit(0)",
        "import os\nos.close(3)",
        "import os\nos.closerange(0, 64)",
        "print('{\"token\": \"\", \"ok\": true}')\nimport os\nos._exit(0)",
        "import os\nos.write(3, b'{\"ok\": true}\\n')\nos._exit(0)",
        "raise KeyboardInterrupt",
        "class E(Exception):\n    def __str__(self):\n        raise SystemExit\nraise E",
    ],
)
def test_leaving_early_is_not_passing(code: str) -> None:
    assert not run(code, "assert False").ok


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\ntime.sleep(60)",
        "9 ** 9 ** 9 ** 9",
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        "try:\n    while True: pass\nfinally:\n    while True: pass",
        "while True: print('flood' * 1000)",
        "import os\nwhile True: os.write(3, b'flood' * 1000)",
    ],
    ids=["loop", "sleep", "power", "deaf", "finally", "flood", "flood of the report"],
)
def test_endless_programs_are_stopped_in_time(code: str) -> None:
    limits = Limits(wall_seconds=0.5, cpu_seconds=1)
    started = time.monotonic()
    verdict = run(code, "", limits)
    assert not verdict.ok
    assert "stopped" in verdict.detail
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "code",
    [
        "x = bytearray(10 ** 10)",
        "x = []\nwhile True: x.append('a' * 10 ** 7)",
        "x = 'a' * 10 ** 10",
        "x = list(range(10 ** 9))",
    ],
)
def test_memory_bombs_go_off_in_the_child_alone(code: str) -> None:
    assert not run(code, "", QUICK).ok


@pytest.mark.parametrize(
    "code",
    [
        "open(TARGET, 'w').write('x')",
        "open(TARGET, 'ab')",
        "open(TARGET, 'r+')",
        "import os\nos.open(TARGET, os.O_CREAT | os.O_WRONLY)",
        "import pathlib\npathlib.Path(TARGET).write_text('x')",
        "import io\nio.FileIO(TARGET, 'w')",
        "import os\nos.remove(TARGET)",
        "import os\nos.rename(TARGET, TARGET + '2')",
        "import os\nos.truncate(TARGET, 0)",
        "import os\nos.chmod(TARGET, 0)",
        "import os\nos.symlink('/etc', TARGET + '2')",
        "import os\nos.mkdir(TARGET + '2')",
        "import shutil\nshutil.rmtree(TARGET)",
        "import tempfile\ntempfile.mkdtemp()",
        "import sqlite3\nsqlite3.connect(TARGET)",
        "import mmap, os\nos.mkfifo(TARGET + '2')",
    ],
)
def test_no_file_is_written_changed_or_removed(code: str, tmp_path: Path) -> None:
    target = tmp_path / "kept.txt"
    target.write_text("as it was")
    verdict = run(f"TARGET = {str(target)!r}\n{code}", "")
    assert not verdict.ok
    assert target.read_text() == "as it was"
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_files_of_the_user_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    assert not run(f"assert open({str(secret)!r}).read() == 'key'", "").ok
    assert not run("open('/etc/passwd').read()", "").ok


def test_nothing_of_the_environment_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPCACHE_TEST_SECRET", "key")
    assert run("import os", "assert 'STEPCACHE_TEST_SECRET' not in os.environ and 'PATH' not in os.environ").ok


@pytest.mark.parametrize(
    "code",
    [
        "import socket\nsocket.create_connection(('127.0.0.1', PORT), 1)",
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('127.0.0.1', PORT))",
        "import _socket\n_socket.socket(2, 1, 0).connect(('127.0.0.1', PORT))",
        "import urllib.request\nurllib.request.urlopen(f'http://127.0.0.1:{PORT}')",
        "import http.client\nhttp.client.HTTPConnection('127.0.0.1', PORT).request('GET', '/')",
        "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', PORT))",
        "import socket\nsocket.getaddrinfo('localhost', PORT)",
    ],
)
def test_the_network_is_out_of_reach(code: str) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        port = server.getsockname()[1]
        assert not run(f"PORT = {port}\n{code}", "", QUICK).ok
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize(
    "code",
    [
        "import os\nwhile True: os.fork()",
        "import os\nos.system('true')",
        "import subprocess\nsubprocess.run(['true'])",
        "import os\nos.execv('/bin/true', ['true'])",
        "import os\nos.posix_spawn('/bin/true', ['true'], {})",
        "import multiprocessing as m\np = m.get_context('fork').Process(target=print)\np.start()\np.join()",
        "import pty\npty.spawn('true')",
        "import os\nos.kill(os.getppid(), 9)",
        "import os\nos.killpg(os.getppid(), 9)",
        "import ctypes\nctypes.CDLL(None).fork()",
        "import _ctypes",
        "import sys\nsys.modules.pop('_ctypes', None)\nimport ctypes.util",
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()",
    ],
)
def test_no_other_process_is_started_or_signalled(code: str) -> None:
    assert not run(code, "", QUICK).ok


def test_the_limits_cannot_be_lifted() -> None:
    assert not run("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (60, 60))", "").ok


@pytest.mark.parametrize(
    "text", ["\0", "x = 1\0", "\ud800", "(" * 100_000, "-" * 100_000 + "1", "é = 'ß'\n" + "#" * 1_100_000]
)
def test_odd_source_gets_a_verdict(text: str) -> None:
    assert not run(text, "").ok


def test_unicode_source_runs() -> None:
    assert run("größe = 'ß' * 3", "assert größe == 'ßßß'").ok


def test_failure_text_is_short_and_printable() -> None:
    verdict = run("raise ValueError('\\x1b[2J' + 'a' * 100_000)", "")
    assert not verdict.ok
    assert len(verdict.detail) <= 300
    assert verdict.detail.isprintable()


def test_nothing_runs_where_a_process_cannot_be_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    verdict = run("x = 1", "")
    assert not verdict.ok
    assert verdict.detail.startswith("not run")


def test_a_process_that_cannot_be_started_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", os.path.join(os.sep, "nowhere", "python"))
    verdict = run("x = 1", "")
    assert not verdict.ok
    assert verdict.detail.startswith("not run")


def test_the_own_process_executes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sandbox, "LEAK", [], raising=False)
    assert run("import sys\nassert 'stepcache' not in sys.modules", "").ok
    assert not run("from stepcache.tasks import _sandbox\n_sandbox.LEAK.append(1)", "").ok
    assert _sandbox.LEAK == []  # type: ignore[attr-defined]


def test_no_folder_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run("x = 1", "assert x == 1")
    run("while True: pass", "", Limits(wall_seconds=0.3))
    assert list(tmp_path.iterdir()) == []
