"""Which parts of a text an embedder with a short memory gets to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["readable", "windows"]

_CHARS_PER_TOKEN = 12  # generous: enough characters for a window of tokens without reading a whole book

Offsets = Sequence[tuple[int, int]]


def readable(text: str) -> str:
    """The text with lone surrogates replaced, which tokenizers written in Rust cannot take."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def windows(text: str, offsets: Callable[[str], Offsets], tokens: int) -> tuple[str, ...]:
    """The whole text if it fits into `tokens`, else its head and its tail of that many tokens.

    Prompts that share a long context differ at their end (or beginning); read from the front alone they would all
    look equal. `offsets` gives each token's range of characters, special tokens left out.
    """
    if len(text) < tokens:  # a token has at least one character
        return (text,)
    reach = tokens * _CHARS_PER_TOKEN
    head = text[:reach]
    cuts = offsets(head)
    if len(text) <= reach and len(cuts) <= tokens:
        return (text,)
    if len(cuts) > tokens:
        head = head[:cuts[tokens - 1][1]]
    tail = text[-reach:]
    cuts = offsets(tail)
    if len(cuts) > tokens:
        tail = tail[cuts[-tokens][0]:]
    return (head, tail)
