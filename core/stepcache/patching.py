"""The words of patch and repair prompts, and how a patch reply is put in its place. No model is called here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stepcache._data import Step, Verdict

__all__ = ["repair_prompt", "step_patch_prompt", "take_steps"]

_MAX_QUOTED = 4_000  # a failing reply may be endless; the model needs only enough of it to see what went wrong


def step_patch_prompt(
    prompt: str, steps: Sequence[Step], region: tuple[int, int], hint: str, reason: str
) -> str:
    """Ask for the steps of one region only, given the kept steps before it, verified facts and the reason."""
    start, stop = region
    kept = "".join(step.text for step in steps[:start]).rstrip()
    lines = [prompt.rstrip(), "", "The answer so far is right and stays as it is:", kept, ""]
    if hint:
        lines += [f"Verified: {hint}", ""]
    lines += [
        f"What came next does not fit this request: {reason}" if stop > start else f"It is not complete: {reason}",
        "Write only what follows the kept steps, in the same style and numbering, through to the final answer. "
        "Do not repeat the kept steps and add no comment.",
    ]
    return "\n".join(lines)


def repair_prompt(prompt: str, reply: str, verdict: Verdict) -> str:
    """Ask again for a whole reply, telling what was wrong with the last one."""
    quoted = reply if len(reply) <= _MAX_QUOTED else reply[:_MAX_QUOTED] + " [...]"
    return (
        f"{prompt.rstrip()}\n\nA first answer was:\n{quoted}\n\n"
        f"It fails a check: {verdict.detail or verdict.check}. "
        "Write the whole answer again, right this time, and nothing else."
    )


def take_steps(
    reply: str,
    kept: Sequence[Step],
    replaced: Sequence[Step],
    segment: Callable[[str], tuple[Step, ...]],
) -> tuple[Step, ...] | None:
    """Cut a patch reply into the steps that replace a region.

    A repetition of the kept steps at the start is dropped, and the last new step gets the trailing separator of
    the region it replaces, so that what follows stays in place; what is added at the end gets the separator the kept
    steps use. None when nothing usable is left.
    """
    text = reply.strip()
    prefix = "".join(step.text for step in kept).strip()
    if prefix and text.startswith(prefix):
        text = text[len(prefix):].lstrip()
    if not text:
        return None
    if replaced:
        return segment(text + _separator(replaced[-1]))
    if kept and not _separator(kept[-1]):
        text = (_separator(kept[0]) or "\n") + text
    return segment(text)


def _separator(step: Step) -> str:
    return step.text[len(step.text.rstrip()):]
