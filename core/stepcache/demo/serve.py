"""Serve a GGUF file with llama.cpp, in this process, on loopback, by the OpenAI protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stepcache.errors import ConfigurationError, StepCacheError

__all__ = ["Endpoint", "idle_cores", "serve"]

_CONTEXT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible server: where it listens, which model to ask it for, and the key it wants."""

    base_url: str
    model: str
    api_key: str = "none"
    threads: int | None = None


def idle_cores() -> int:
    """How many threads pay: llama.cpp's threads wait for one another by spinning, so a core that other work keeps
    busy makes all of them slow (two threads on one free core were measured at a tenth of the speed of one thread).
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, cores - round(busy))


@contextmanager
def serve(path: Path, *, port: int = 0, threads: int | None = None) -> Iterator[Endpoint]:
    """Serve one model file while the block runs; port 0 takes a free one."""
    if not path.is_file():
        raise ConfigurationError(f"there is no file {path}; --gguf takes the path of a GGUF model file")
    try:
        import xllamacpp
    except ImportError as error:
        raise ConfigurationError('serving a model takes llama.cpp: pip install "stepcache[demo]"') from error
    threads = threads or idle_cores()
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = _CONTEXT
    params.n_parallel = 1
    params.port = port
    params.verbosity = -1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # the binding raises RuntimeError and others; all mean the same to the person
        raise StepCacheError(f"llama.cpp can't serve {path.name}: {error}") from error
    try:
        yield Endpoint(base_url=f"{server.listening_address}/v1", model=path.stem, threads=threads)
    finally:
        del server
