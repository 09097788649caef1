"""What a server says of the tokens and the cost of one call, in whatever form it says it. Never estimates.

Providers agree on the name `usage` and on little else. OpenAI counts thinking into `completion_tokens`; Gemini's
compatible endpoint and xAI leave it out and count it into `total_tokens` only. OpenRouter names the cost itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge.records import Response

_PROMPT = ("prompt_tokens", "input_tokens")
_COMPLETION = ("completion_tokens", "output_tokens")
_CACHED = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",  # DeepSeek
    "cached_tokens",  # Moonshot
    "cache_read_input_tokens",  # Anthropic's name, passed on by gateways
)
_WRITTEN = (
    "prompt_tokens_details.cache_write_tokens",
    "input_tokens_details.cache_write_tokens",
    "cache_creation_input_tokens",
)
_REASONING = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "reasoning_tokens",  # Perplexity
    "thoughts_tokens",
    "thoughts_token_count",
    "thoughtsTokenCount",
)
_COST = ("cost", "total_cost", "estimated_cost", "cost.total_cost", "cost_details.total_cost")


def with_usage(response: Response, usage: object) -> Response:
    """The first response of a call with the tokens and the cost of the whole call.

    `completion_tokens` of the result hold everything that is billed as answer, thinking included; `reasoning_tokens`
    are the part of them that was thinking. What the server does not say, or says in no form that is a number, is None.
    """
    if not isinstance(usage, Mapping):
        return response
    prompt, completion = _count(usage, _PROMPT), _count(usage, _COMPLETION)
    cached, reasoning = _count(usage, _CACHED), _count(usage, _REASONING)
    written = _count(usage, _WRITTEN)
    if prompt is not None and completion is not None:
        prompt, completion, reasoning = _whole(usage, prompt, completion, cached or 0, reasoning)
    if prompt is not None and (cached or 0) + (written or 0) > prompt:
        prompt += (cached or 0) + (written or 0)  # as Anthropic counts: the prompt beside its cached parts
    return replace(
        response,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        reasoning_tokens=reasoning or None,
        cache_write_tokens=written or None,
        cost=_cost(usage),
    )


def _whole(
    usage: Mapping[str, Any], prompt: int, completion: int, cached: int, reasoning: int | None
) -> tuple[int, int, int | None]:
    """Tokens that `total_tokens` holds beyond prompt and answer, put where they belong."""
    left_out = (_count(usage, ("total_tokens",)) or 0) - prompt - completion
    if left_out > 0 and left_out == cached and left_out != reasoning:
        return prompt + cached, completion, reasoning  # the prompt was counted without what came from the cache
    if left_out > 0:
        return prompt, completion + left_out, reasoning or left_out
    if reasoning is not None and reasoning > completion:
        return prompt, completion + reasoning, reasoning  # no part of the answer can be longer than the answer
    return prompt, completion, reasoning


def _cost(usage: Mapping[str, Any]) -> float | None:
    """Dollars, where the server names them.

    With a key of one's own at the upstream provider, OpenRouter's `cost` is its fee, and the upstream provider charges
    its own part beside it.
    """
    cost = next((found for path in _COST if (found := _number(usage, path)) is not None), None)
    upstream = _number(usage, "cost_details.upstream_inference_cost")
    own_key = usage.get("is_byok")
    if cost is None or upstream is None:
        return upstream if cost is None and own_key is True else cost
    # Without that word: an upstream part above the cost cannot be contained in it.
    return cost + upstream if own_key is True or (own_key is None and upstream > cost) else cost


def _count(usage: Mapping[str, Any], paths: tuple[str, ...]) -> int | None:
    numbers = (_number(usage, path) for path in paths)
    return next((int(number) for number in numbers if number is not None), None)


def _number(usage: Mapping[str, Any], path: str) -> float | None:
    """The number at a path of keys; None where there is none."""
    value: Any = usage
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return value
