"""The child side of the sandbox: limits itself for good, then runs program.py. Started by `_sandbox`, never imported.

It must not import anything of StepCache: it runs without site-packages.
"""

from __future__ import annotations

import json
import os
import resource
import runpy
import sys
from collections.abc import Callable
from typing import Any

# Audit events (docs.python.org/3/library/audit_events.html), by their beginning.
_FORBIDDEN = (
    "_thread.start", "cpython.", "ctypes.", "ensurepip.", "fcntl.", "ftplib.", "gc.", "glob.", "http.",
    "imaplib.", "mmap.", "nntplib.", "os.chflags", "os.chmod", "os.chown", "os.exec", "os.fork", "os.getxattr",
    "os.kill", "os.link", "os.listxattr", "os.lockf", "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove",
    "os.rename", "os.rmdir", "os.setxattr", "os.spawn", "os.startfile", "os.symlink", "os.system", "os.truncate",
    "os.unsetenv", "os.utime", "poplib.", "pty.", "resource.", "setopencodehook", "shutil.", "signal.",
    "smtplib.", "socket.", "sqlite3.", "subprocess.", "sys.setprofile", "sys.settrace", "syslog.", "telnetlib.",
    "tempfile.mk", "urllib.", "webbrowser.",
)  # fmt: skip
# Extension modules that would go round the hook; `subprocess` may be imported, but can start nothing.
_SHUT_MODULES = frozenset({"_ctypes", "ctypes", "_posixshmem", "_xxsubinterpreters", "_interpreters", "_testcapi"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _limit(orders: dict[str, Any]) -> None:
    seconds, memory = int(orders["cpu_seconds"]), int(orders["memory_bytes"])
    for name, value in (
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_AS", memory),
        ("RLIMIT_DATA", memory),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NOFILE", 32),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_CORE", 0),
    ):
        which = getattr(resource, name, None)
        if which is None:
            continue
        try:
            resource.setrlimit(which, (value, value))
        except (ValueError, OSError):
            if name in {"RLIMIT_CPU", "RLIMIT_FSIZE"} or (name == "RLIMIT_AS" and sys.platform == "linux"):
                raise  # without these the process would not be limited: better not to run


def _readable_roots() -> tuple[str, ...]:
    roots = {os.path.realpath(path) for path in sys.path if path}
    return (*sorted(roots), os.path.realpath(os.getcwd()), "/usr/share/zoneinfo", "/dev/null", "/dev/urandom")


def _install_hook(refuse: Callable[[str], None]) -> None:
    roots = _readable_roots()
    realpath, fsdecode, sep = os.path.realpath, os.fsdecode, os.sep
    forbidden, shut, writing = _FORBIDDEN, _SHUT_MODULES, _WRITING

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            if isinstance(mode, str) and any(letter in mode for letter in "wax+"):
                refuse("it opens a file for writing")
            if isinstance(flags, int) and flags & writing:
                refuse("it opens a file for writing")
            if isinstance(path, str | bytes):
                real = realpath(fsdecode(path))
                if not any(real == root or real.startswith(root + sep) for root in roots):
                    refuse("it reads a file outside Python's library")
        elif event == "import":
            if args[0].rpartition(".")[2] in shut:
                refuse(f"it imports {args[0]}")
        elif event.startswith(forbidden):
            refuse(f"it does {event}")

    sys.addaudithook(hook)


def _silence() -> int:
    """Point all standard streams to nowhere and return the descriptor of the report pipe."""
    report = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    return report


def main() -> None:
    """Read the orders, give up every right, run the program and report."""
    orders = json.loads(sys.stdin.buffer.read())
    token = orders["token"]
    report = _silence()
    # Bound here, so that the program can't exchange them under the hook.
    dumps, write, leave = json.dumps, os.write, os._exit

    def tell(ok: bool, detail: str) -> None:
        write(report, b"\n" + dumps({"token": token, "ok": ok, "detail": detail[:300]}).encode() + b"\n")
        leave(0)

    def refuse(reason: str) -> None:
        tell(False, f"the program was stopped: {reason}")

    try:
        _lock_kernel()
        _limit(orders)
    except (OSError, ValueError) as error:
        tell(False, f"not run: the process could not be limited ({error})")
    _install_hook(refuse)
    try:
        runpy.run_path("program.py", run_name="program")
    except MemoryError:
        tell(False, "the program needs too much memory")
    except BaseException as error:  # SystemExit and KeyboardInterrupt are failures here, too
        tell(False, _describe(error))
    tell(True, "")


def _describe(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # a hostile __str__
        text = ""
    return f"the tests fail: {type(error).__name__}" + (f": {text[:200]}" if text else "")


def _lock_kernel() -> None:
    """Where the Linux kernel allows it: no network, and no system call that forks, runs, connects or writes files."""
    if sys.platform != "linux":
        return
    kernel = runpy.run_path(os.path.join(os.path.dirname(os.path.realpath(__file__)), "_sandbox_linux.py"))
    kernel["leave_network"]()
    kernel["filter_system_calls"]()
    # Forget the way to the C library; importing it again is refused by the hook.
    for name in [name for name in sys.modules if name.partition(".")[0] in {"ctypes", "_ctypes"}]:
        del sys.modules[name]


if __name__ == "__main__":
    main()
