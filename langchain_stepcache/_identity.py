"""What a LangChain model says of itself: the part of its identity that the core can't know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseLanguageModel

from stepcache._identity import TRANSPORT, Identity, identity_of_options, warn_once

__all__ = ["OPTIONS", "identity_of"]

# Among the fields a model doesn't declare as its parameters, a string or whole number is as often its own state (a
# counter, the last reply) as an option, so only these names are taken; a fraction is an option.
OPTIONS = frozenset({
    "model", "model_name", "model_id", "deployment_name", "base_url", "api_base", "openai_api_base", "endpoint_url",
    "max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens", "num_predict", "top_k", "seed", "n",
    "best_of", "num_ctx", "n_ctx", "num_beams", "beam_width", "top_logprobs", "thinking_budget", "random_seed",
    "repeat_last_n", "mirostat", "candidate_count", "temperature", "top_p", "reasoning_effort", "thinking",
    "reasoning", "verbosity", "system_prompt", "system", "instructions", "output_version", "logprobs", "stop",
})


def identity_of(model: BaseLanguageModel[Any], options: Mapping[str, Any]) -> Identity:
    """The identity of a model as it is now, with the options of one call; transport options don't count."""
    known = {"_class": f"{type(model).__module__}.{type(model).__qualname__}", **_configuration(model)}
    return identity_of_options({**known, **{key: value for key, value in options.items() if value is not None}})


def _configuration(model: BaseLanguageModel[Any]) -> dict[str, Any]:
    """What a model says of itself, read from its current fields each time.

    LangChain keeps `_serialized` of the first call for good, so a field changed later would not count there.
    """
    known: dict[str, Any] = {}
    for name, field in type(model).model_fields.items():
        if field.exclude or name in TRANSPORT:
            continue
        value = getattr(model, name, None)
        if name in OPTIONS or isinstance(value, float):
            known[name] = value
    if model.is_lc_serializable():
        try:
            written = model.to_json().get("kwargs")
        except Exception:  # a partner's serialisation must not cost the call; the other sources remain
            written = None
        if isinstance(written, Mapping):
            known |= {name: value for name, value in written.items() if name not in TRANSPORT}
    try:
        known |= {"_type": getattr(model, "_llm_type", ""), **model._identifying_params}
    except Exception:  # as above
        warn_once("%s can't name its parameters; its replies are told apart by its fields alone", type(model).__name__)
    return known
