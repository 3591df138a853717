"""The child side of the sandbox: limits itself for good, then runs program.py. Started by `_sandbox`, never imported.

It must not import anything of StepCache: it runs without site-packages. The program shares this process and may change
every object it can reach, so the hook calls nothing written in Python and keeps all it needs in cells of its own.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import posix
import resource
import runpy
import signal
import sys
from typing import Any, NoReturn

# Audit events (docs.python.org/3/library/audit_events.html), by their beginning.
_FORBIDDEN = (
    "_thread.start", "cpython.", "ctypes.", "ensurepip.", "fcntl.", "ftplib.", "gc.", "glob.", "http.",
    "imaplib.", "mmap.", "nntplib.", "os.chdir", "os.chflags", "os.chmod", "os.chown", "os.exec", "os.fork",
    "os.getxattr", "os.kill", "os.link", "os.listdrives", "os.listmounts", "os.listvolumes", "os.listxattr", "os.lockf",
    "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove", "os.rename", "os.rmdir", "os.setxattr", "os.spawn",
    "os.startfile", "os.symlink", "os.system", "os.truncate", "os.unsetenv", "os.utime", "poplib.", "pty.",
    "resource.", "setopencodehook", "shutil.", "signal.", "smtplib.", "socket.", "sqlite3.", "subprocess.",
    "sys.setprofile", "sys.settrace", "syslog.", "telnetlib.", "tempfile.mk", "urllib.", "webbrowser.",
)  # fmt: skip
_READING = frozenset({"open", "os.listdir", "os.scandir"})
# Extension modules that would go round the hook; `subprocess` may be imported, but can start nothing.
_SHUT_MODULES = frozenset({
    "_ctypes", "ctypes", "_posixshmem", "_xxsubinterpreters", "_interpreters", "_testcapi", "_testinternalcapi",
    "_dbm", "_gdbm", "readline", "pwd", "grp", "spwd", "nis",
})  # fmt: skip
# Of these the standard library imports some and does without; the program finds them empty.
_EMPTY_MODULES = ("_dbm", "_gdbm", "readline", "pwd", "grp", "spwd", "nis")
# What acts on files or other processes without an audit event.
_UNHEARD = (
    "setpriority", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "mkfifo", "mknod", "openpty",
    "posix_openpt", "memfd_create", "pidfd_open", "sync", "chroot", "unshare", "setns",
)
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


def _check_memory_limit(memory: int) -> None:
    """Raise `OSError` where the system takes the limit but does not heed it."""
    try:
        mmap.mmap(-1, memory + mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()  # never touched
    except (OSError, MemoryError):
        return
    raise OSError("this system does not limit memory")


def _readable_roots() -> tuple[str, ...]:
    sys.path[:] = [os.path.realpath(path) for path in sys.path if path]
    return (*sorted(set(sys.path)), os.path.realpath(os.getcwd()), "/usr/share/zoneinfo", "/dev/null", "/dev/urandom")


def _disarm() -> None:
    """Take away what the hook would not hear of."""
    for name in _UNHEARD:
        for module in (os, posix):
            if hasattr(module, name):
                delattr(module, name)
        if name in os.__all__:
            os.__all__.remove(name)
    for name in _EMPTY_MODULES:
        sys.modules[name] = type(sys)(name)
    import _posixsubprocess

    _posixsubprocess.fork_exec = None  # type: ignore[assignment]  # `subprocess` imports it


def _install_hook(report: int, token: str, roots: tuple[str, ...]) -> None:
    """Have the interpreter end the process at a forbidden event. All names used inside are bound here, for good."""
    exact = tuple(os.fsencode(root) for root in roots)
    within = tuple(root + b"/" for root in exact)
    shut = frozenset(name.encode() for name in _SHUT_MODULES)
    forbidden, reading, writing = _FORBIDDEN, _READING, _WRITING
    is_a, text, raw, number, encode, join = isinstance, str, bytes, int, str.encode, bytes.join
    unix = 1  # AF_UNIX, on all systems
    write, leave, failed = os.write, os._exit, f"\n{token} failed the program was stopped: ".encode()

    def refuse(reason: bytes) -> NoReturn:
        write(report, failed + reason + b"\n")
        leave(0)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in reading:
            if event == "open":
                mode, flags = args[1], args[2]
                if is_a(mode, text) and ("w" in mode or "a" in mode or "x" in mode or "+" in mode):
                    refuse(b"it opens a file for writing")
                if is_a(flags, number) and flags & writing:
                    refuse(b"it opens a file for writing")
            path = args[0]
            # A subclass of str may lie about itself in Python; what these methods return can't.
            if is_a(path, text):
                path = encode(path, "utf-8", "surrogateescape")
            elif is_a(path, raw):
                path = join(b"", [path])
            elif path is None or is_a(path, number):
                return  # the program's own empty folder, or what has been opened already
            else:
                refuse(b"it opens a path that is no text")
            if b"/../" in b"/" + path + b"/" or (
                path[:1] == b"/" and path not in exact and not path.startswith(within)
            ):
                refuse(b"it reads a file outside Python's library")
        elif event == "import":
            name = encode(args[0], "utf-8", "replace").rpartition(b".")[2]
            if name in shut:
                refuse(b"it imports " + name)
        elif event == "socket.__new__" and args[1] == unix:
            return  # a pair of them wakes an event loop; reaching anything with one is another event
        elif event.startswith(forbidden):
            refuse(b"it does " + encode(event, "utf-8", "replace"))

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
    # Bound here, so that the program can't exchange them.
    write, leave = os.write, os._exit

    def tell(outcome: str, detail: str = "") -> None:
        said = " ".join(detail[:300].split()).encode("utf-8", "replace")
        write(report, f"\n{token} {outcome} ".encode() + said + b"\n")
        leave(0)

    program = os.path.realpath("program.py")
    try:
        # Should the parent be gone by then, nobody else ends this process.
        signal.alarm(math.ceil(orders["wall_seconds"]) + 1)
        roots = _readable_roots()
        _lock_kernel(roots)
        _limit(orders)
        _check_memory_limit(int(orders["memory_bytes"]))
    except (OSError, ValueError, MemoryError) as error:
        tell("failed", f"not run: the process could not be limited ({error})")
    _disarm()
    _install_hook(report, token, roots)
    try:
        runpy.run_path(program, run_name="program")
    except MemoryError:
        tell("failed", "the program needs too much memory")
    except BaseException as error:  # SystemExit and KeyboardInterrupt are failures here, too
        tell("failed", _describe(error))
    tell("passed")


def _describe(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # a hostile __str__
        text = ""
    return f"the tests fail: {type(error).__name__}" + (f": {text[:200]}" if text else "")


def _lock_kernel(roots: tuple[str, ...]) -> None:
    """Where the Linux kernel allows it: no network, no files but these, and no call that forks, runs or writes."""
    if sys.platform != "linux":
        return
    kernel = runpy.run_path(os.path.join(os.path.dirname(os.path.realpath(__file__)), "_sandbox_linux.py"))
    kernel["die_with_parent"]()
    kernel["leave_network"]()
    kernel["wall_off_files"](roots)
    kernel["filter_system_calls"]()
    # Forget the way to the C library; importing it again is refused by the hook.
    for name in [name for name in sys.modules if name.partition(".")[0] in {"ctypes", "_ctypes"}]:
        del sys.modules[name]


if __name__ == "__main__":
    main()
