"""Every exception StepCache raises. A failed check is a `Verdict`, never an exception."""

from __future__ import annotations

__all__ = ["ConfigurationError", "EmbeddingError", "StepCacheError", "StoreError", "loggable"]


class StepCacheError(Exception):
    """Base of all errors raised by StepCache itself; a model's own error is never wrapped in it."""


class ConfigurationError(StepCacheError, ValueError):
    """An option has a value that cannot work; the message says what to write instead."""


class StoreError(StepCacheError):
    """The store could not be read or written. Reaches the caller only under `Policy(strict=True)`."""


class EmbeddingError(StepCacheError):
    """The embedder failed or gave no usable vector. Reaches the caller only under `Policy(strict=True)`."""


def loggable(error: BaseException) -> str:
    """What a log above DEBUG may say of an error: its type, and the message where that can't quote a prompt.

    Our own errors and the operating system's speak of files, servers and options. Anything else (a tokenizer's, a
    user's task) may well repeat the text it failed on.
    """
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, StepCacheError | OSError) else name
