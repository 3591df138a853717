"""Every exception StepCache raises. A failed check is a `Verdict`, never an exception."""

from __future__ import annotations

__all__ = ["ConfigurationError", "EmbeddingError", "StepCacheError", "StoreError"]


class StepCacheError(Exception):
    """Base of all errors raised by StepCache itself; a model's own error is never wrapped in it."""


class ConfigurationError(StepCacheError, ValueError):
    """An option has a value that cannot work; the message says what to write instead."""


class StoreError(StepCacheError):
    """The store could not be read or written. Reaches the caller only under `Policy(strict=True)`."""


class EmbeddingError(StepCacheError):
    """The embedder failed or gave no usable vector. Reaches the caller only under `Policy(strict=True)`."""
