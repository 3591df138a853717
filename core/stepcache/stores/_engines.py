"""The engines this process has open: one for a folder, however many stores look at it.

They are closed at exit and begun anew in a forked child. This is the one piece of global state in StepCache. It has
to be: a Chroma folder takes one opener a process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import weakref

from stepcache.stores._chroma_engine import Engine
from stepcache.stores._limits import Limits
from stepcache.stores._site import FolderSite, Site

__all__ = ["leave", "leave_soon", "share"]

_lock = threading.Lock()
_open: weakref.WeakSet[Engine] = weakref.WeakSet()
_by_folder: dict[tuple[str, bytes | None], Engine] = {}
_users: weakref.WeakKeyDictionary[Engine, int] = weakref.WeakKeyDictionary()


def share(site: Site, limits: Limits, signing_key: bytes | None, failures: int) -> Engine:
    """The engine of a folder, made if there is none; every other place gets one of its own."""
    with _lock:
        key = (str(site.folder.path), signing_key) if isinstance(site, FolderSite) else None
        engine = None if key is None else _by_folder.get(key)
        if engine is None:
            engine = Engine(site, limits, signing_key, failures, _at_exit)
            _open.add(engine)
            if key is not None:
                _by_folder[key] = engine
        else:
            engine.limits = engine.limits.and_also(limits)
            known = engine.site
            if isinstance(known, FolderSite) and isinstance(site, FolderSite) and known.read_only > site.read_only:
                known.read_only = False
                engine.let_go()
        _users[engine] = _users.get(engine, 0) + 1
        return engine


def leave(engine: Engine) -> None:
    """One store less; the last one closes the engine."""
    with _lock:
        _users[engine] = _users.get(engine, 1) - 1
        if _users[engine] > 0:
            last = False
        else:
            last = True
            for key in [key for key, known in _by_folder.items() if known is engine]:
                del _by_folder[key]
    if last:
        engine.close()
    else:
        engine.queue.flush()


def leave_soon(engine: Engine) -> None:
    """As `leave`, for a store that was dropped: a collector must not wait for a disk."""
    if not engine.closed:
        threading.Thread(target=leave, args=(engine,), name="stepcache-closer", daemon=True).start()


def _close_all() -> None:
    for engine in list(_open):
        with contextlib.suppress(Exception):  # at exit there is nobody left to tell
            engine.close()


def _at_exit() -> None:
    """Also in worker processes of multiprocessing, which leave without running `atexit`."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None and os.getpid() not in _finalizing:
        _finalizing.add(os.getpid())
        util.Finalize(None, _close_all, exitpriority=10)


_finalizing: set[int] = set()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for engine in list(_open):
        engine.after_fork()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
