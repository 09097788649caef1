"""Reads the token counts and cost of one call, which servers report in different formats.

Providers agree on little except the name `usage`. OpenAI includes thinking in `completion_tokens`. Gemini's compatible
endpoint and xAI do not, and include it only in `total_tokens`. OpenRouter reports the cost itself.
"""

from __future__ import annotations

from typing import Any

from judge.base.records import Response

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
_MOST = 2**53
"""Numbers from here on count nothing; the journal could not hold all of them either."""

_UPSTREAM = "cost_details.upstream_inference_cost"
_COST = ("cost", "total_cost", "estimated_cost", "cost.total_cost", "cost_details.total_cost")


def with_usage(response: Response, usage: object) -> Response:
    """The response with the token counts and cost of its whole call added. `response` is the first response of the
    call.

    In the result, `completion_tokens` includes everything that is billed as part of the answer, also thinking;
    `reasoning_tokens` is the part of these tokens that is thinking. Counts that the server does not report, or not as
    numbers, are None.
    """
    if not isinstance(usage, dict):
        return response
    counts = _flat(usage)
    prompt, completion = _count(counts, _PROMPT), _count(counts, _COMPLETION)
    cached, written, reasoning = _count(counts, _CACHED), _count(counts, _WRITTEN), _count(counts, _REASONING)
    if prompt is not None and completion is not None:
        prompt, completion, reasoning = _whole(counts, prompt, completion, cached or 0, reasoning)
    if prompt is not None and (cached or 0) + (written or 0) > prompt:
        prompt += (cached or 0) + (written or 0)  # as Anthropic counts: the prompt beside its cached parts
    return Response(
        response.text,
        response.finish_reason,
        response.reasoning,
        prompt,
        completion,
        cached,
        response.logprobs,
        response.model,
        reasoning or None,
        written or None,
        _cost(counts, own_key=usage.get("is_byok")),
    )


def _whole(
    counts: dict[str, float], prompt: int, completion: int, cached: int, reasoning: int | None
) -> tuple[int, int, int | None]:
    """Corrected counts of prompt, answer and thinking tokens. `cached` is the number of prompt tokens that were read
    from a cache.

    Tokens that are only in `total_tokens` are added to the prompt if they are the cached ones, otherwise to the answer.
    If all tokens are counted but there are more thinking than answer tokens, the thinking tokens are added to the
    answer.
    """
    left_out = int(counts.get("total_tokens", 0)) - prompt - completion
    if left_out > 0 and left_out == cached and left_out != reasoning:
        return prompt + cached, completion, reasoning  # the prompt was counted without what came from the cache
    if left_out > 0:
        return prompt, completion + left_out, reasoning or left_out
    if reasoning is not None and reasoning > completion:
        return prompt, completion + reasoning, reasoning  # no part of the answer can be longer than the answer
    return prompt, completion, reasoning


def _cost(counts: dict[str, float], *, own_key: object) -> float | None:
    """Cost in dollars; None if the server does not report it.

    If the user has a key at the upstream provider (`own_key` is True), OpenRouter's `cost` is only its fee, and the
    upstream provider's charge is added. If `own_key` is None (not known), the charge is added if it exceeds `cost`.
    """
    cost = next((counts[name] for name in _COST if name in counts), None)
    upstream = counts.get(_UPSTREAM)
    if cost is None or upstream is None:
        return upstream if cost is None and own_key is True else cost
    # Where nothing tells whose key it was: an upstream part above the cost cannot be contained in it.
    return cost + upstream if own_key is True or (own_key is None and upstream > cost) else cost


def _count(counts: dict[str, float], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in counts:
            return int(counts[name])
    return None


def _flat(usage: dict[str, Any]) -> dict[str, float]:
    """All numbers in `usage`, by name; a number in a nested object has the name `object.name`."""
    counts: dict[str, float] = {}
    for key, value in usage.items():
        if isinstance(value, dict):
            for inner, number in value.items():
                if (kept := _number(number)) is not None:
                    counts[f"{key}.{inner}"] = kept
        elif (kept := _number(value)) is not None:
            counts[key] = kept
    return counts


def _number(value: object) -> float | None:
    """The value as a number of tokens or dollars; None if it is not a number, negative, or too large."""
    if type(value) is int:  # nearly always; a bool is none of them
        return value if 0 <= value < _MOST else None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return value if isinstance(value, float) and 0 <= value < _MOST else None
