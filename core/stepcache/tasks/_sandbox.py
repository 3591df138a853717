"""Running a reply's code with its tests in a separate, limited process. Nothing of it runs in the app's own process.

What is limited, and where: time, memory, file size, open files and processes by `resource` limits (every POSIX
system); forks, programs, sockets, threads, writing, and reading outside Python's own library by an audit hook that
ends the process; on Linux also by an own empty network namespace, Landlock and a seccomp filter, where the kernel
allows them. Where `resource` is missing (Windows), or memory is not limited by it, nothing is run and the verdict says
so. Tests are evidence that honest code works; they are no proof against code that was written to deceive its tests.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from stepcache._data import Verdict

__all__ = ["Limits", "run"]

_CHECK = "tests"
_MAX_SOURCE = 1_000_000
_MAX_REPORT = 64 * 1024  # a report is one short line; whatever floods the pipe is cut off here
_SIGSYS = getattr(signal, "SIGSYS", 0)  # what a seccomp filter kills with
_CHILD = Path(__file__).with_name("_sandbox_child.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use: seconds by the wall clock and of processor time, bytes of address space."""

    wall_seconds: float = 10.0
    cpu_seconds: int = 5
    memory_bytes: int = 512 * 1024 * 1024


def run(code: str, tests: str, limits: Limits = Limits()) -> Verdict:
    """Run `code` and then `tests` in one fresh namespace; pass when both end without an exception.

    Only Python's standard library can be imported. A program that leaves early (`sys.exit`, `os._exit`) fails.
    """
    source = f"{code}\n\n{tests}\n"
    if len(source) > _MAX_SOURCE:
        return Verdict(False, _CHECK, f"the program is longer than {_MAX_SOURCE:,} characters")
    if not _can_limit():
        return Verdict(False, _CHECK, "not run: this platform cannot limit a process (no resource module)")
    try:
        data = source.encode("utf-8")
    except UnicodeEncodeError:
        return Verdict(False, _CHECK, "the program holds a lone surrogate, so it is no Python source")
    try:
        return _run_limited(data, limits)
    except OSError as error:  # no process, no temporary folder: not run is not passed
        return Verdict(False, _CHECK, f"not run: {error}")


def _can_limit() -> bool:
    return bool(sys.executable) and os.name == "posix" and importlib.util.find_spec("resource") is not None


def _run_limited(data: bytes, limits: Limits) -> Verdict:
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="stepcache-") as folder, tempfile.TemporaryFile() as orders:
        Path(folder, "program.py").write_bytes(data)
        orders.write(json.dumps({"token": token, **asdict(limits)}).encode())
        orders.seek(0)
        with subprocess.Popen(
            # -I: no user paths or variables; -S: no site-packages; -B: no bytecode files
            [sys.executable, "-I", "-S", "-B", str(_CHILD)],
            stdin=orders,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"HOME": folder},  # without it, looking up the home would ask a system service
            close_fds=True,
            start_new_session=True,
        ) as process:
            report, ended = b"", False
            try:
                report, ended = _read(process, time.monotonic() + limits.wall_seconds)
            finally:
                _kill_group(process, ended)
        return _judge(report, ended, process.returncode, token, limits)


def _read(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bool]:
    """Read the report until the pipe closes; False when the deadline or the size limit came first."""
    assert process.stdout is not None
    report = b""
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while len(report) < _MAX_REPORT:
            left = deadline - time.monotonic()
            if left <= 0 or not ready.select(left):
                return report, False
            piece = os.read(process.stdout.fileno(), 4096)
            if not piece:
                return report, True
            report += piece
    return report, False


def _kill_group(process: subprocess.Popen[bytes], ended: bool) -> None:
    if ended:  # it is about to leave by itself, and how it leaves tells something
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    # Killed before it is waited for, so that the number can't belong to anyone else yet; a leader that has left
    # may have left children behind.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _judge(report: bytes, ended: bool, status: int, token: str, limits: Limits) -> Verdict:
    told = _parse(report, token)
    if told is not None:
        ok, detail = told
        return Verdict(ok, _CHECK, detail)
    if not ended:
        reason = "it wrote too much" if len(report) >= _MAX_REPORT else f"it ran longer than {limits.wall_seconds:g} s"
        return Verdict(False, _CHECK, f"the program was stopped: {reason}")
    if status in {-signal.SIGXCPU, -signal.SIGKILL}:
        return Verdict(False, _CHECK, f"the program was stopped: it used {limits.cpu_seconds} s of processor time")
    if status == -_SIGSYS:
        return Verdict(False, _CHECK, "the program was stopped: it made a system call that is forbidden")
    if status < 0:
        return Verdict(False, _CHECK, f"the program crashed (signal {-status})")
    return Verdict(False, _CHECK, "the program left before its tests were through")


def _parse(report: bytes, token: str) -> tuple[bool, str] | None:
    """The last whole line that begins with the token; everything else is the program's own writing."""
    for line in reversed(report.splitlines()):
        said, _, rest = line.partition(b" ")
        outcome, _, detail = rest.partition(b" ")
        if said == token.encode() and outcome in {b"passed", b"failed"}:
            words = detail.decode("utf-8", "replace")
            return outcome == b"passed", "".join(c if c.isprintable() else " " for c in words)[:300]
    return None
