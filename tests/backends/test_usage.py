"""What `usage` says, in the forms of many providers. Sources stand beside the bodies."""

from __future__ import annotations

from typing import Any

import pytest

from judge.backends.dialect import with_usage
from judge.base.records import Response

# Each with what is read from it: tokens of prompt, answer, cache, thinking, written cache; then the cost.
BODIES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    # OpenAI, API reference of chat completions: completion_tokens contain the reasoning tokens.
    "openai": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 256,
            "total_tokens": 356,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 192},
        },
        (100, 256, 64, 192, None, None),
    ),
    "openai, no thinking": (
        {"prompt_tokens": 9, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 0}},
        (9, 5, None, None, None, None),
    ),
    # Gemini's compatible endpoint: the numbers of mozilla-ai/any-llm#1291 (gemini-2.5-flash, before their change).
    "gemini, thinking in the total only": (
        {"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": 553},
        (20, 533, None, 382, None, None),
    ),
    # router-for-me/CLIProxyAPI#5733.
    "gateway to gemini": (
        {
            "completion_tokens": 0,
            "total_tokens": 81,
            "prompt_tokens": 21,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        (21, 60, None, 60, None, None),
    ),
    # xAI counts reasoning beside the completion.
    "beside the completion": (
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        (32, 103, None, 94, None, None),
    ),
    "beside the completion, without a total": (
        {"prompt_tokens": 32, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 94}},
        (32, 103, None, 94, None, None),
    ),
    # openrouter.ai/docs/use-cases/usage-accounting, the example of the response format (a key of one's own).
    "openrouter, documented": (
        {
            "completion_tokens": 2,
            "completion_tokens_details": {"reasoning_tokens": 0},
            "cost": 0.95,
            "cost_details": {"upstream_inference_cost": 19},
            "prompt_tokens": 194,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 100, "audio_tokens": 0},
            "total_tokens": 196,
        },
        (194, 2, 0, None, 100, 19.95),
    ),
    # tailcallhq/forgecode#1641.
    "openrouter, key of one's own": (
        {
            "prompt_tokens": 9171,
            "completion_tokens": 113,
            "total_tokens": 9284,
            "cost": 0,
            "is_byok": True,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "cost_details": {"upstream_inference_cost": 0.0360795},
            "completion_tokens_details": {"reasoning_tokens": 55, "image_tokens": 0},
        },
        (9171, 113, 0, 55, None, 0.0360795),
    ),
    # AutomatosAI/automatos-ai#745: without a key of one's own the upstream part is contained in the cost.
    "openrouter, its own key": (
        {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "cost": 0.002,
            "is_byok": False,
            "cost_details": {"upstream_inference_cost": 0.002},
        },
        (10, 2, None, None, None, 0.002),
    ),
    "openrouter, free": ({"prompt_tokens": 10, "completion_tokens": 2, "cost": 0}, (10, 2, None, None, None, 0.0)),
    "no cost but the upstream's": (
        {"prompt_tokens": 10, "completion_tokens": 2, "is_byok": True, "cost_details": {"upstream_inference_cost": 1}},
        (10, 2, None, None, None, 1.0),
    ),
    "total_cost": ({"prompt_tokens": 1, "completion_tokens": 1, "total_cost": "0.25"}, (1, 1, None, None, None, 0.25)),
    # Perplexity, API reference: an object of costs.
    "an object of costs": (
        {
            "prompt_tokens": 8,
            "completion_tokens": 439,
            "total_tokens": 447,
            "cost": {"input_tokens_cost": 0.000024, "output_tokens_cost": 0.006585, "total_cost": 0.0126},
        },
        (8, 439, None, None, None, 0.0126),
    ),
    # DeepSeek, API reference: prompt_tokens are hits and misses together.
    "deepseek": (
        {
            "prompt_tokens": 50,
            "completion_tokens": 7,
            "total_tokens": 57,
            "prompt_cache_hit_tokens": 48,
            "prompt_cache_miss_tokens": 2,
        },
        (50, 7, 48, None, None, None),
    ),
    "cached tokens beside the prompt, by the total": (
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015, "cached_tokens": 1000},
        (1010, 5, 1000, None, None, None),
    ),
    # Anthropic, prompt caching: input_tokens are those after the last cache point.
    "anthropic's names": (
        {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90},
        (1000, 5, 900, None, 90, None),
    ),
    "a total below its parts": (
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 0},
        (10, 5, None, None, None, None),
    ),
    "nulls": (
        {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": None, "cost": None},
        (10, 5, None, None, None, None),
    ),
    "no numbers": (
        {"prompt_tokens": "many", "completion_tokens": True, "cost": float("nan"), "total_cost": -1},
        (None, None, None, None, None, None),
    ),
    "too large": ({"prompt_tokens": 10**30, "completion_tokens": 1e300}, (None, None, None, None, None, None)),
    "nothing": (None, (None, None, None, None, None, None)),
    "a list": ([1], (None, None, None, None, None, None)),
}  # fmt: skip


@pytest.mark.parametrize("form", BODIES)
def test_usage_is_read_in_every_form(form: str) -> None:
    usage, expected = BODIES[form]
    found = with_usage(Response("4", model="m"), usage)
    told = (
        found.prompt_tokens,
        found.completion_tokens,
        found.cached_tokens,
        found.reasoning_tokens,
        found.cache_write_tokens,
        found.cost,
    )
    assert told[:5] == expected[:5]
    assert told[5] == (None if expected[5] is None else pytest.approx(expected[5]))
    assert (found.text, found.model) == ("4", "m")
