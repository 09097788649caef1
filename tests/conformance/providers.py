"""Imitations of providers' OpenAI-compatible endpoints, as data: what each refuses, ignores, limits and flags.

They follow documentation and public threads (sources: `refusals.yaml`, `judge/backends/provider_facts.yaml`); none was
compared with the live endpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.refusal_forms import (
    azure,
    deepseek,
    google,
    groq,
    mistral,
    openai,
    openai_value,
    plain,
    together,
)

FLAGGED = "the knife in the drawer"
"""Words that stand in one story alone."""

Reply = tuple[int, dict[str, str], Any]
"""Status, headers, body."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A setting that is refused where `when` says so of its value, and how."""

    name: str
    reply: Callable[[str, Any], Reply]
    when: Callable[[Any], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class Imitation:
    """One endpoint.

    Attributes
    ----------
    facts : str
        Name in the table of providers' facts.
    path : str
        What stands after the host in base_url.
    listed : tuple or None
        What the models route lists; None where it has no such route.
    bare_list : bool
        Whether the models route gives a list without `data` around it.
    models_refusal : tuple or None
        What the models route answers in place of its list.
    ignores : frozenset
        Settings that are taken in silence and have no effect.
    refuses : tuple of Refused
        In the order in which they are examined.
    limit : tuple or None
        (every so many requests, reply): a limit of a minute, or an overload.
    inside : tuple or None
        (every so many requests, body): an error inside a 200.
    moderation : tuple or None
        Reply to the story that holds `FLAGGED`.
    broke : tuple or None
        Reply once the account is used up.
    loading : tuple
        (requests, seconds, reply or None): how the first requests are answered while a model is loaded.
    asks : dict
        What the run asks for beside the usual (temperature 0, 256 tokens, three repeats).
    mends : dict
        What a sentence must name -> the keys of run.yaml that it says to change, as the user then writes them.
    """

    name: str
    facts: str
    model: str
    path: str = "/v1"
    query: str = ""
    needs_key: bool = True
    listed: tuple[str, ...] | None = ()
    bare_list: bool = False
    models_refusal: Reply | None = None
    ignores: frozenset[str] = frozenset()
    refuses: tuple[Refused, ...] = ()
    limit: tuple[int, Reply] | None = None
    inside: tuple[int, Any] | None = None
    moderation: Reply | None = None
    broke: Reply | None = None
    loading: tuple[int, float, Reply | None] = (0, 0.0, None)
    message: dict[str, Any] = field(default_factory=dict)
    asks: dict[str, Any] = field(default_factory=dict)
    mends: dict[str, dict[str, Any]] = field(default_factory=dict)


def not_one(value: Any) -> bool:
    """Whether it is anything but 1."""
    return bool(value != 1)


NO_TEMPERATURE = {"generation.temperature": {"generation.temperature": "null"}}
NO_SEED = {"generation.seed": {"generation.seed": "null"}}
NO_STOP = {"generation.stop": {"generation.stop": "[]"}}
OPENAI_BROKE: Reply = (
    429,
    {},
    {
        "error": {
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "type": "insufficient_quota",
            "param": None,
            "code": "insufficient_quota",
        }
    },
)
NO_CREDIT: Reply = (402, {}, {"error": {"message": "Insufficient credits", "code": 402}})
INSIDE = {
    "id": "gen-1",
    "choices": [
        {
            "index": 0,
            "error": {"code": 502, "message": "Provider disconnected"},
            "finish_reason": "error",
            "message": {"role": "assistant", "content": ""},
        }
    ],
    "usage": {},
}
GEMINI_MINUTE = google(
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details. Please retry in 0.05s.",
    [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"},
    ],
)
GEMINI_DAY = google(
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.",
    [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}],
        }
    ],
)

IMITATIONS: tuple[Imitation, ...] = (
    Imitation(
        "openai-chat",
        "openai",
        "gpt-4.1-mini",
        listed=("gpt-4.1-mini", "gpt-5.4"),
        limit=(7, openai(429, "Rate limit reached on requests per min (RPM).", "rate_limit_exceeded", wait_ms=40)),
        broke=OPENAI_BROKE,
        asks={"generation.seed": 7},
    ),
    Imitation(
        "openai-reasoning",
        "openai",
        "gpt-5.4",
        listed=("gpt-4.1-mini", "gpt-5.4"),
        refuses=(
            Refused("max_tokens", openai_value),
            Refused("temperature", openai_value, not_one),
            Refused("n", openai_value, not_one),
            Refused("stop", openai_value),
        ),
        broke=OPENAI_BROKE,
        asks={"generation.stop": "['###']"},
        mends=NO_TEMPERATURE | NO_STOP,
    ),
    Imitation(
        "openai-logprobs",
        "openai",
        "gpt-5.4",
        listed=("gpt-5.4",),
        refuses=(
            Refused("max_tokens", openai_value),
            Refused("logprobs", plain(403, "You are not allowed to request logprobs from this model")),
            Refused("temperature", openai_value, not_one),
        ),
        broke=OPENAI_BROKE,
        asks={"scoring": "logprobs"},
        mends={"scoring: text": {"scoring": "text"}} | NO_TEMPERATURE,
    ),
    Imitation(
        "azure-v1",
        "azure",
        "my-deployment",
        path="/openai/v1",
        listed=("gpt-4o-2024-11-20",),
        moderation=azure(
            400,
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            "content_filter",
        ),
        limit=(6, azure(429, "You have exceeded the token rate limit of your pricing tier.", "429", wait="1")),
    ),
    Imitation(
        "azure-classic",
        "azure",
        "my-deployment",
        path="/openai/deployments/my-deployment",
        query="api-version=2024-10-21",
        listed=None,
        broke=azure(403, "The account is disabled because billing is overdue.", "billing_not_active"),
    ),
    Imitation(
        "anthropic",
        "anthropic-openai",
        "claude-sonnet-4-6",
        models_refusal=(
            401,
            {},
            {"type": "error", "error": {"type": "authentication_error", "message": "x-api-key header is required"}},
        ),
        ignores=frozenset({"seed", "logprobs", "response_format"}),
        refuses=(Refused("n", plain(400, "n: must be 1"), not_one),),
        limit=(6, (529, {}, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})),
        broke=plain(400, "Your credit balance is too low to access the Anthropic API.")("", None),
    ),
    Imitation(
        "anthropic-opus",
        "anthropic-openai",
        "claude-opus-4-8",
        listed=("claude-opus-4-8",),
        ignores=frozenset({"seed", "logprobs", "response_format"}),
        refuses=(
            Refused("n", plain(400, "n: must be 1"), not_one),
            Refused("temperature", plain(400, "`temperature` is deprecated for this model."), not_one),
        ),
        broke=plain(400, "Your credit balance is too low to access the Anthropic API.")("", None),
        mends=NO_TEMPERATURE,
    ),
    Imitation(
        "gemini-2",
        "gemini-openai",
        "gemini-2.5-flash",
        path="/v1beta/openai",
        listed=("models/gemini-2.5-flash",),
        refuses=(
            Refused(
                "n",
                lambda *_: google(400, "INVALID_ARGUMENT", "Candidate count must be in the range 1 to 2."),
                lambda value: bool(value > 2),
            ),
        ),
        limit=(5, GEMINI_MINUTE),
        broke=GEMINI_DAY,
    ),
    Imitation(
        "gemini-3",
        "gemini-openai",
        "gemini-3.5-flash",
        path="/v1beta/openai",
        listed=("models/gemini-3.5-flash",),
        refuses=(
            Refused(
                "n",
                lambda *_: google(400, "INVALID_ARGUMENT", "Multiple candidates is not enabled for this model"),
                not_one,
            ),
            Refused(
                "seed",
                lambda *_: google(
                    400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
                ),
            ),
        ),
        limit=(9, GEMINI_MINUTE),
        broke=GEMINI_DAY,
        asks={"generation.seed": 7},
        mends=NO_SEED,
    ),
    Imitation(
        "openrouter",
        "openrouter",
        "openai/gpt-4o-mini",
        path="/api/v1",
        listed=("openai/gpt-4o-mini",),
        ignores=frozenset({"n", "seed"}),
        inside=(5, INSIDE),
        moderation=(
            403,
            {},
            {
                "error": {
                    "code": 403,
                    "message": "openai/gpt-4o-mini requires moderation. Your input was flagged for violence",
                    "metadata": {"reasons": ["violence"], "flagged_input": "the knife..."},
                }
            },
        ),
        broke=NO_CREDIT,
    ),
    Imitation(
        "groq",
        "groq",
        "llama-3.3-70b-versatile",
        path="/openai/v1",
        listed=("llama-3.3-70b-versatile",),
        refuses=(Refused("n", groq, not_one), Refused("logprobs", groq)),
        limit=(
            6,
            openai(429, "Rate limit reached on tokens per minute (TPM). Please try again in 50ms. Upgrade at billing"),
        ),
        asks={"scoring": "logprobs"},
        mends={"scoring: text": {"scoring": "text"}},
    ),
    Imitation(
        "together",
        "together",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        listed=("meta-llama/Llama-3.3-70B-Instruct-Turbo",),
        bare_list=True,
        limit=(6, together(429, "You have been rate limited. Your rate limit is 60 queries per minute.")),
        broke=together(402, "Credit limit exceeded. Please add credit or upgrade your plan."),
    ),
    Imitation(
        "deepseek-thinking",
        "deepseek",
        "deepseek-v4",
        path="",
        listed=("deepseek-v4",),
        ignores=frozenset({"n", "temperature", "top_p"}),
        refuses=(Refused("response_format", deepseek),),
        broke=(402, {}, {"error": {"message": "Insufficient Balance", "type": "unknown_error", "code": "x"}}),
        message={"reasoning_content": "The story holds together, so that four is right."},
        asks={"structured": "json"},
        mends={"structured: none": {"structured": "none"}},
    ),
    Imitation(
        "mistral",
        "mistral",
        "mistral-large-latest",
        listed=("mistral-large-latest",),
        refuses=(
            Refused("seed", mistral),
            Refused("max_completion_tokens", mistral),
            Refused("logprobs", mistral),
        ),
        limit=(8, (429, {}, {"message": "Requests rate limit exceeded", "request_id": "x"})),
        asks={"generation.seed": 7},
        mends=NO_SEED,
    ),
    Imitation(
        "moonshot",
        "moonshot",
        "kimi-k2.6",
        listed=("kimi-k2.6",),
        refuses=(Refused("temperature", plain(400, "invalid temperature: only 1 is allowed for this model"), not_one),),
        broke=(
            429,
            {},
            {"error": {"message": "please check your plan and billing", "type": "exceeded_current_quota_error"}},
        ),
        mends=NO_TEMPERATURE,
    ),
    Imitation(
        "xai",
        "xai",
        "grok-4.6",
        listed=("grok-4.6",),
        refuses=(
            Refused(
                "stop",
                lambda *_: (
                    400,
                    {},
                    {
                        "code": "Client specified an invalid argument",
                        "error": "Argument not supported on this model: stop",
                    },
                ),
            ),
        ),
        broke=(
            429,
            {},
            {
                "code": "Some resource has been exhausted",
                "error": "Your team has either used all available credits or reached its monthly spending limit.",
            },
        ),
        asks={"generation.stop": "['###']"},
        mends=NO_STOP,
    ),
    Imitation(
        "ollama",
        "ollama",
        "llama3:latest",
        needs_key=False,
        listed=("llama3:latest",),
        ignores=frozenset({"n", "logprobs"}),
        loading=(1, 0.3, None),
    ),
    Imitation(
        "llama.cpp",
        "llama.cpp",
        "model.gguf",
        needs_key=False,
        listed=("model.gguf",),
        refuses=(Refused("n", plain(400, "Only one completion choice is allowed"), not_one),),
        loading=(2, 0.0, (503, {}, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})),
    ),
    Imitation("sglang", "sglang", "Qwen/Qwen3-32B", needs_key=False, listed=("Qwen/Qwen3-32B",)),
    Imitation(
        "lmstudio",
        "lmstudio",
        "qwen3-8b",
        needs_key=False,
        listed=("qwen3-8b",),
        ignores=frozenset({"n"}),
        loading=(1, 0.3, None),
    ),
    Imitation(
        "tgi",
        "tgi",
        "tgi",
        needs_key=False,
        listed=("mistralai/Mistral-7B-Instruct-v0.3",),
        ignores=frozenset({"n"}),
        limit=(9, (429, {}, {"error": "Model is overloaded", "error_type": "overloaded"})),
    ),
    Imitation("vllm", "vllm", "Qwen/Qwen3-32B", needs_key=False, listed=("Qwen/Qwen3-32B",)),
)
