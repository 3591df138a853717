"""The sandbox lets honest programs run and stops everything else, in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
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


# Each would read the secret if the hook trusted anything that the program can reach.
READING = {
    "patched realpath": "import posixpath\nposixpath._joinrealpath = lambda *a: ('/dev/null', True)\nread(SECRET)",
    "patched built-ins": "import builtins\nbuiltins.isinstance = lambda *a: False\nread(SECRET)",
    "patched any": "import builtins\nbuiltins.any = lambda *a: True\nread(SECRET)",
    "lying text": "class Text(str):\n    def startswith(self, *a): return False\nread(Text(SECRET))",
    "lying bytes": "class Raw(bytes):\n    def startswith(self, *a): return True\nread(Raw(SECRET.encode()))",
    "dots": "import os\nread(os.path.dirname(os.__file__) + '/' + '../' * 40 + SECRET[1:])",
    "another folder": """
import os
library = os.path.dirname(os.__file__)
deep = max((folder for folder, _, _ in os.walk(library)), key=lambda folder: folder.count("/"))
at = os.open(library, os.O_RDONLY)
os.chdir(deep)
read(os.open("../" * library.count("/") + SECRET[1:], os.O_RDONLY, dir_fd=at))
""",
    "link": "import os\nos.symlink(SECRET, 'link')\nread('link')",
    "exchanged code": """
import sys
frame = sys._getframe()
while frame is not None:
    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
        if type(value).__name__ == "function" and value.__code__.co_argcount == 1 and not value.__code__.co_freevars:
            value.__code__ = (lambda reason: None).__code__
    frame = frame.f_back
open(SECRET).read()
""",
    "own hook": "import sys\nsys.addaudithook(lambda *a: sys.stdout.write(''))\nread(SECRET)",
    "the parent's environment": "import os\nread(f'/proc/{os.getppid()}/environ')",
    "own memory": "read('/proc/self/maps')",
    "names of users": "import pwd\nassert pwd.getpwall()",
    "names of users, loaded anew": "import sys\ndel sys.modules['pwd']\nimport pwd\nassert pwd.getpwall()",
    "shadow": "import spwd\nassert spwd.getspall()",
    "folder": "import os\nassert os.listdir(os.path.dirname(SECRET))",
    "walk": "import os\nassert list(os.walk(os.path.dirname(SECRET)))",
    "import": "import sys, os\nsys.path.insert(0, os.path.dirname(SECRET))\nimport secret",
}


@pytest.fixture(params=["kernel and hook", "hook alone"])
def by_hook(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
            ) -> None:
    """Run once as it is and once as on a system whose kernel denies nothing."""
    if request.param == "hook alone":
        folder = tmp_path_factory.mktemp("child")
        child = Path(shutil.copy(_sandbox._CHILD, folder))
        names = ("die_with_parent", "leave_network", "wall_off_files", "filter_system_calls")
        (folder / "_sandbox_linux.py").write_text("".join(f"def {name}(*a): return False\n" for name in names))
        monkeypatch.setattr(_sandbox, "_CHILD", child)


@pytest.mark.usefixtures("by_hook")
@pytest.mark.parametrize("how", READING)
def test_a_program_that_changes_what_it_can_reach_still_reads_nothing(how: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("key")
    program = f"SECRET = {str(secret)!r}\ndef read(path):\n    with open(path) as file: file.read()\n{READING[how]}"
    assert not run(program, "").ok


@pytest.mark.usefixtures("by_hook")
@pytest.mark.parametrize("code", [
    "os.setpriority(os.PRIO_PROCESS, os.getppid(), 5)",
    "os.sched_setaffinity(os.getppid(), {0})",
    "os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))",
    "os.mkfifo(os.path.join('FOLDER', 'fifo'))",
    "os.mknod(os.path.join('FOLDER', 'node'))",
    "os.openpty()",
    "os.sync()",
    "__import__('readline').write_history_file(os.path.join('FOLDER', 'history'))",
    "__import__('_posixsubprocess').fork_exec",
    "__import__(type('Text', (str,), {'rpartition': lambda *a: ('', '', 'math')})('_ctypes'))",
])
def test_calls_without_an_audit_event_are_out_of_reach_too(code: str, tmp_path: Path) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert not run("import os\n" + code.replace("FOLDER", str(tmp_path)) + "()" * code.endswith("fork_exec"), "").ok
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
    assert list(tmp_path.iterdir()) == []


def test_a_patched_encoder_reports_no_pass() -> None:
    code = """
import json
def forged(self, told):
    return '{"token": "%s", "ok": true, "detail": ""}' % told.get("token")
json.encoder.JSONEncoder.encode = forged
json._default_encoder.encode = lambda told: forged(None, told)
"""
    assert not run(code, "assert False").ok


@pytest.mark.usefixtures("by_hook")
def test_coroutines_and_what_the_library_imports_at_its_own_will_run() -> None:
    code = """
import asyncio, doctest, getpass, pathlib, shutil, subprocess, tarfile, unittest, zoneinfo
async def twice(x):
    await asyncio.sleep(0)
    return 2 * x
"""
    tests = """
assert asyncio.run(twice(2)) == 4
assert zoneinfo.ZoneInfo("UTC").key == "UTC"
try:
    open("no such file")
except FileNotFoundError:
    pass
"""
    assert run(code, tests).detail == ""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own walls are Linux's")
def test_the_kernel_alone_denies_files_and_signals(tmp_path: Path) -> None:
    kernel = _sandbox._CHILD.with_name("_sandbox_linux.py")
    (tmp_path / "secret").write_text("key")
    script = f"""
import os, runpy, sys
kernel = runpy.run_path({str(kernel)!r})
if not kernel["wall_off_files"](sys.path):
    raise SystemExit(2)
for forbidden in (lambda: open({str(tmp_path / "secret")!r}), lambda: open({str(tmp_path / "new")!r}, "w"),
                  lambda: os.listdir({str(tmp_path)!r}), lambda: os.mkdir({str(tmp_path / "folder")!r})):
    try:
        forbidden()
    except PermissionError:
        continue
    raise SystemExit(1)
import ssl, sqlite3, colorsys  # still to be had
"""
    done = subprocess.run([sys.executable, "-S", "-c", script], check=False)
    if done.returncode == 2:
        pytest.skip("this kernel has no Landlock")
    assert done.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


@pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc")
def test_a_program_does_not_outlive_the_app() -> None:
    script = """
from stepcache.tasks._sandbox import run
print("ready", flush=True)
run("import time\\ntime.sleep(600)", "")
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as app:
        assert app.stdout is not None
        assert app.stdout.readline() == b"ready\n"
        listed = Path(f"/proc/{app.pid}/task/{app.pid}/children")
        deadline = time.monotonic() + 20
        while not (children := listed.read_text().split()) and time.monotonic() < deadline:
            time.sleep(0.01)
        app.send_signal(signal.SIGKILL)
    assert children
    while _runs(children[0]) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _runs(children[0])


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_where_memory_is_not_limited_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text(_sandbox._CHILD.read_text().replace('("RLIMIT_AS", memory),', "").replace(
        '("RLIMIT_DATA", memory),', ""))
    shutil.copy(_sandbox._CHILD.with_name("_sandbox_linux.py"), tmp_path)
    monkeypatch.setattr(_sandbox, "_CHILD", child)
    verdict = run("x = 1", "")
    assert not verdict.ok
    assert verdict.detail == "not run: the process could not be limited (this system does not limit memory)"


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
