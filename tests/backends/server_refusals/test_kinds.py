"""What bodies of errors mean. Bodies follow providers' documentation and public threads, named beside each."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from judge.backends.openai.errors import status_error
from judge.backends.refusal_body import duration, read_error_body, retry_delay
from judge.backends.refusal_kinds import read_refusal, refused_settings

SENT: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
    "max_tokens": 256,
    "n": 3,
    "seed": 7,
    "temperature": 0.0,
    "top_p": 0.9,
    "stop": ["###"],
    "logprobs": True,
    "top_logprobs": 20,
    "response_format": {"type": "json_schema"},
    "top_k": 5,
}


def openai(
    message: str, type_: str = "invalid_request_error", param: str | None = None, code: str | None = None
) -> Any:
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}


def google(code: int, message: str, status: str, *details: Any) -> Any:
    return [{"error": {"code": code, "message": message, "status": status, "details": list(details)}}]


def quota_of(quota_id: str) -> Any:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota_id}]}


QUOTA = "You exceeded your current quota, please check your plan and billing details."

KINDS: list[tuple[str, int, Any, str]] = [
    # OpenAI, from platform.openai.com/docs/guides/error-codes
    ("openai wrong key", 401, openai("Incorrect API key provided: sk-x.", code="invalid_api_key"), "auth"),
    ("openai region", 403, openai("Country, region, or territory not supported", code="unsupported_country"), "auth"),
    ("openai no such model", 404, openai("The model `x` does not exist or you do not have access to it."), "model"),
    (
        "openai project",
        403,
        openai("Project `p` does not have access to model `gpt-5`", code="model_not_found"),
        "model",
    ),
    (
        "openai rate",
        429,
        openai("Rate limit reached for gpt-4o on requests per min. Limit: 3 / min.", "requests"),
        "rate",
    ),
    ("openai quota", 429, openai(QUOTA, "insufficient_quota", code="insufficient_quota"), "quota"),
    (
        "openai hard limit",
        400,
        openai("Billing hard limit has been reached", code="billing_hard_limit_reached"),
        "quota",
    ),
    (
        "openai one too large",
        429,
        openai("Request too large for gpt-4 on tokens per min (TPM): Limit 30000"),
        "context",
    ),
    ("openai context", 400, openai("maximum context length is 8192", code="context_length_exceeded"), "context"),
    (
        "openai policy",
        400,
        openai("Your request was rejected by our safety system.", code="content_policy"),
        "filtered",
    ),
    ("openai server", 500, openai("The server had an error while processing your request."), "server"),
    ("openai overload", 503, openai("The engine is currently overloaded, please try again later"), "overload"),
    ("openai not a chat model", 404, openai("This is not a chat model and thus not supported in the v1/chat"), "api"),
    # Azure, from learn.microsoft.com/azure/ai-services/openai/concepts/content-filter, quotas-limits
    ("azure key", 401, {"statusCode": 401, "message": "Unauthorized. Access token is missing or invalid"}, "auth"),
    ("azure deployment", 404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment for"}}, "model"),
    ("azure rate", 429, {"error": {"code": "429", "message": "exceeded token rate limit. Retry after 6 s"}}, "rate"),
    (
        "azure filter",
        400,
        {
            "error": {
                "code": "content_filter",
                "param": "prompt",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
        "filtered",
    ),
    ("azure operation", 400, openai("The chatCompletion operation does not work with the specified model"), "api"),
    # Anthropic, from docs.anthropic.com/en/api/errors
    (
        "anthropic key",
        401,
        {"type": "error", "error": {"type": "authentication_error", "message": "x-api-key"}},
        "auth",
    ),
    ("anthropic model", 404, {"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}, "model"),
    ("anthropic rate", 429, {"error": {"type": "rate_limit_error", "message": "tokens per minute"}}, "rate"),
    ("anthropic limit set", 400, openai("You have reached your specified API usage limits."), "quota"),
    ("anthropic disabled", 400, openai("This organization has been disabled."), "auth"),
    ("anthropic long", 400, openai("prompt is too long: 210000 tokens > 200000 maximum"), "context"),
    ("anthropic in a 200", 200, {"type": "error", "error": {"type": "overloaded_error", "message": "O"}}, "overload"),
    # Gemini, from ai.google.dev/gemini-api/docs/troubleshooting, googleapis/js-genai#1609
    ("gemini key", 400, google(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"), "auth"),
    ("gemini expired", 400, google(400, "API key expired. Please renew the API key.", "INVALID_ARGUMENT"), "auth"),
    (
        "gemini place",
        400,
        google(400, "User location is not supported for the API use.", "FAILED_PRECONDITION"),
        "auth",
    ),
    ("gemini minute", 429, google(429, QUOTA, "RESOURCE_EXHAUSTED", quota_of("RequestsPerMinutePerProject")), "rate"),
    ("gemini bare", 429, google(429, QUOTA, "RESOURCE_EXHAUSTED"), "rate"),
    (
        "gemini day",
        429,
        google(429, QUOTA, "RESOURCE_EXHAUSTED", quota_of("RequestsPerDayPerProject-FreeTier")),
        "quota",
    ),
    ("gemini none", 429, google(429, QUOTA + " Quota exceeded for metric x, limit: 0", "RESOURCE_EXHAUSTED"), "quota"),
    ("gemini busy", 503, google(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"), "overload"),
    ("gemini model", 404, google(404, "models/x is not found for API version v1beta", "NOT_FOUND"), "model"),
    # A whole error as JSON text in another one's message: RooCodeInc/Roo-Code#3883
    (
        "wrapped",
        429,
        {"error": {"message": json.dumps(google(429, QUOTA, "RESOURCE_EXHAUSTED")[0]), "code": 429}},
        "rate",
    ),
    # OpenRouter, from openrouter.ai/docs/api-reference/errors
    ("openrouter credit", 402, {"error": {"code": 402, "message": "This request requires more credits"}}, "quota"),
    ("openrouter key limit", 403, {"error": {"code": 403, "message": "Key limit exceeded (monthly limit)"}}, "quota"),
    ("openrouter moderation", 403, {"error": {"message": "No", "metadata": {"flagged_input": "x"}}}, "filtered"),
    ("openrouter flagged", 403, {"error": {"message": "m requires moderation. Your input was flagged"}}, "filtered"),
    ("openrouter inside", 200, {"error": {"code": 502, "message": "Provider returned error"}}, "server"),
    (
        "openrouter raw",
        400,
        {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps(openai("context length"))}}},
        "context",
    ),
    ("openrouter endpoints", 404, {"error": {"message": "No endpoints found for x/y."}}, "model"),
    ("openrouter id", 400, {"error": {"message": "x/y is not a valid model ID", "code": 400}}, "model"),
    (
        "openrouter parameters",
        404,
        {"error": {"message": "No endpoints found that support the parameters"}},
        "capability",
    ),
    # Groq, from console.groq.com/docs/errors
    ("groq minute", 429, openai("Rate limit reached on tokens per minute (TPM). Upgrade: /settings/billing"), "rate"),
    ("groq day", 429, openai("Rate limit reached on tokens per day (TPD). Please try again in 7m12s."), "rate"),
    ("groq too large", 413, openai("Request too large for model on tokens per minute (TPM)", "tokens"), "context"),
    ("groq gone", 400, openai("The model `x` has been decommissioned", code="model_decommissioned"), "model"),
    ("groq json", 400, openai("Failed to generate JSON.", code="json_validate_failed"), "server"),
    ("groq json cut", 400, openai("max completion tokens reached before generating a valid document"), "truncated"),
    # DeepSeek, from api-docs.deepseek.com/quick_start/error_codes
    ("deepseek balance", 402, openai("Insufficient Balance", "unknown_error"), "quota"),
    ("deepseek risk", 400, openai("Content Exists Risk"), "filtered"),
    ("deepseek model", 400, openai("Model Not Exist"), "model"),
    # xAI, Mistral, Together, Moonshot, Zhipu, DashScope: the providers' lists of errors
    ("xai credits", 403, {"code": "denied", "error": "Your team has used all available credits"}, "quota"),
    ("mistral", 401, {"message": "Unauthorized", "request_id": "x"}, "auth"),
    ("mistral model", 400, {"object": "error", "message": "Invalid model: x", "type": "invalid_model"}, "model"),
    (
        "moonshot quota",
        429,
        openai("Your account is suspended, please recharge", "exceeded_current_quota_error"),
        "quota",
    ),
    ("moonshot busy", 429, openai("The engine is currently overloaded", "engine_overloaded_error"), "rate"),
    ("moonshot risk", 400, openai("The request was rejected because it was considered high risk"), "filtered"),
    ("zhipu", 429, {"error": {"code": "1113", "message": "您的账户已欠费,请充值后重试"}}, "quota"),
    ("dashscope", 400, {"code": "Arrearage", "message": "Access denied, account not in good standing."}, "quota"),
    ("dashscope content", 400, {"code": "DataInspectionFailed", "message": "inappropriate content"}, "filtered"),
    # Servers of one's own: vLLM, llama.cpp, TGI, Ollama, LM Studio, Hugging Face
    ("vllm length", 400, {"object": "error", "message": "This model's maximum context length is 4096"}, "context"),
    ("vllm template", 400, {"object": "error", "message": "you must provide a chat template"}, "api"),
    (
        "llama.cpp context",
        400,
        {"error": {"code": 400, "type": "exceed_context_size_error", "message": "x"}},
        "context",
    ),
    ("llama.cpp loading", 503, {"error": {"code": 503, "message": "Loading model"}}, "overload"),
    ("tgi busy", 429, {"error": "Model is overloaded", "error_type": "overloaded"}, "rate"),
    ("tgi long", 422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096"}, "context"),
    ("ollama", 404, {"error": {"message": 'model "x" not found, try pulling it first'}}, "model"),
    ("ollama chat", 400, {"error": {"message": '"nomic-embed-text" does not support chat'}}, "api"),
    ("lm studio", 404, {"error": {"message": "No models loaded. Please load a model"}}, "model"),
    ("hugging face", 503, {"error": "Model x is currently loading", "estimated_time": 20.0}, "overload"),
    ("bedrock", 400, {"__type": "ThrottlingException", "message": "Too many tokens, please wait"}, "rate"),
    ("litellm budget", 400, openai("Budget has been exceeded! Current cost: 1", "budget_exceeded"), "quota"),
    # No words that say what it is
    ("html", 502, "<html><head><title>502 Bad Gateway</title></head></html>", "server"),
    ("cloudflare", 524, "<html>A timeout occurred</html>", "server"),
    ("empty 403", 403, "", "auth"),
    ("empty 400", 400, "", "request"),
    ("nothing there", 404, "<html>nothing here</html>", "address"),
    ("teapot", 418, {"detail": "teapot"}, "request"),
    ("unprocessable", 422, {"detail": [{"msg": "n"}]}, "request"),
    ("only a status", 529, {}, "overload"),
]


@pytest.mark.parametrize(("status", "body", "kind"), [case[1:] for case in KINDS], ids=[case[0] for case in KINDS])
def test_a_body_has_its_kind(status: int, body: Any, kind: str) -> None:
    raw = body.encode() if isinstance(body, str) else orjson.dumps(body)
    assert read_refusal(status, {}, raw, SENT).kind == kind
    assert read_refusal(status, {}, raw).kind == kind  # and also where it is not known what was sent


SETTINGS: list[tuple[str, int, Any, tuple[str, ...]]] = [
    ("openai", 400, openai("Unsupported value: 'n' does not support 3.", param="n", code="unsupported_value"), ("n",)),
    ("openai 403", 403, openai("You are not allowed to request logprobs from this model"), ("logprobs",)),
    ("openai rename", 400, openai("'max_tokens' is not supported. Use 'max_completion_tokens'."), ("max_tokens",)),
    ("openai least", 400, openai("'max_output_tokens': integer below minimum value. Expected >= 16"), ("max_tokens",)),
    (
        "openai top_logprobs",
        400,
        openai("Invalid 'top_logprobs': expected <= 5.", param="top_logprobs"),
        ("top_logprobs",),
    ),
    ("openai schema", 400, openai("Invalid schema", param="response_format.json_schema"), ("response_format",)),
    ("openai role", 400, openai("does not support 'system'", param="messages[0].role"), ("system",)),
    ("anthropic", 400, openai("`temperature` is deprecated for this model."), ("temperature",)),
    ("anthropic n", 400, openai("n: must be 1"), ("n",)),
    ("anthropic both", 400, openai("`temperature` and `top_p` cannot both be specified"), ("temperature", "top_p")),
    ("gemini n", 400, google(400, "Multiple candidates is not enabled for this model", "INVALID_ARGUMENT"), ("n",)),
    ("gemini logprobs", 400, google(400, "Logprobs is not enabled for models/g", "INVALID_ARGUMENT"), ("logprobs",)),
    ("gemini limit", 400, google(400, "maxOutputTokens must be at most 8192", "INVALID_ARGUMENT"), ("max_tokens",)),
    ("gemini gemma", 400, google(400, "Developer instruction is not enabled for models/gemma-3", "X"), ("system",)),
    (
        "gemini names",
        400,
        google(400, 'Unknown name "seed": Cannot find field. Unknown name "logprobs": Cannot find field.', "X"),
        ("seed", "logprobs"),
    ),
    ("mistral", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra"}]}, ("seed",)),
    (
        "mistral wrapped",
        422,
        {"object": "error", "message": {"detail": [{"loc": ["body", "logprobs"], "msg": "Extra inputs"}]}},
        ("logprobs",),
    ),
    (
        "vllm repr",
        400,
        {"message": "[{'type': 'extra_forbidden', 'loc': ('body', 'top_k'), 'msg': 'Extra', 'input': 5}]"},
        ("top_k",),
    ),
    ("llama.cpp", 500, {"error": {"code": 500, "message": "Only one completion choice is allowed"}}, ("n",)),
    ("litellm", 500, openai("ollama does not support parameters: {'seed': 1}, for model=x. drop_params"), ("seed",)),
    ("litellm list", 400, openai("openai does not support parameters: ['n', 'stop'], for model=x"), ("n", "stop")),
    ("xai", 400, {"code": "invalid", "error": "Argument not supported on this model: stop"}, ("stop",)),
    ("moonshot", 400, openai("invalid temperature: only 1 is allowed for this model"), ("temperature",)),
    ("dashscope", 400, {"code": "InvalidParameter", "message": "Range of n should be [1, 4]"}, ("n",)),
    ("deepseek", 400, openai("This response_format type is unavailable now"), ("response_format",)),
    ("groq", 400, openai("This model does not support response format `json_schema`."), ("response_format",)),
    ("bedrock", 400, {"message": "Malformed input request: #: extraneous key [seed] is not permitted"}, ("seed",)),
    ("gemma on vllm", 400, {"message": "System role not supported"}, ("system",)),
    # NVIDIA NIM, from NVIDIA/garak#748 and BerriAI/litellm#4558
    (
        "nim",
        422,
        {"title": "Unprocessable Entity", "status": 422, "detail": "body -> n\n  Extra inputs are not permitted"},
        ("n",),
    ),
    ("nim system", 500, {"title": "Internal Server Error", "detail": "System role not supported"}, ("system",)),
    # LM Studio, from Zazza/sd-ai#2
    ("lm studio", 400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}, ("response_format",)),
    ("azure", 400, openai("logprobs, best_of and echo parameters are not available on gpt-35-turbo"), ("logprobs",)),
    ("nim list", 400, {"message": "Validation: Unsupported parameter(s): top_k", "type": "Bad Request"}, ("top_k",)),
    ("plain text", 400, "unknown field: top_p", ("top_p",)),
    (
        "inside a 200",
        200,
        openai("Unsupported parameter: 'stop'", param="stop", code="unsupported_parameter"),
        ("stop",),
    ),
]


@pytest.mark.parametrize(
    ("status", "body", "settings"), [case[1:] for case in SETTINGS], ids=[case[0] for case in SETTINGS]
)
def test_a_refused_setting_is_found_by_what_was_sent(status: int, body: Any, settings: tuple[str, ...]) -> None:
    raw = body.encode() if isinstance(body, str) else orjson.dumps(body)
    found = read_refusal(status, {}, raw, SENT)
    assert found.kind == "capability"
    assert found.settings == settings
    assert found.explicit
    # What was not sent cannot be what is refused.
    bare = {"model": "m", "messages": [{"role": "user", "content": "q"}]}
    assert read_refusal(status, {}, raw, bare).settings == ()


def test_words_that_are_english_words_are_settings_only_where_they_are_meant() -> None:
    for words in ("Stop sending requests.", "The request cannot be seeded by us", "n/a is not supported", "no system"):
        assert refused_settings(read_error_body(words.encode()), SENT) == (), words


def test_the_released_bodies_are_typed_as_they_mean(studies: Path) -> None:
    file = studies / "golden" / "provider_refusals.jsonl"
    cases = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(cases) == 13
    for case in cases:
        found = read_refusal(case["status"], {}, orjson.dumps(case["body"]), SENT)
        meant = "api" if "api" in case["means"].split("(")[-1] and "capability" in case["means"] else case["means"]
        assert meant.startswith(found.kind), case["case"]
    by_case = {case["case"]: read_refusal(case["status"], {}, orjson.dumps(case["body"]), SENT) for case in cases}
    assert by_case["Gemini per-minute 429"].retry_after == 2.0
    assert by_case["Temperature refused"].settings == ("temperature",)


def test_nothing_in_an_error_breaks_its_reader() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = {"error": [deep]}
    for body in (
        b"",
        b"null",
        b"[]",
        b"[[]]",
        b'"words"',
        b"7",
        b"\xff\xfe",
        orjson.dumps(deep),
        b'{"error": {"code": true}}',
    ):
        for status in (200, 302, 400, 403, 404, 422, 429, 500, 599):
            assert status_error(status, {}, body, "http://h/v1").status is not None


def test_the_key_is_taken_out_of_the_words() -> None:
    body = orjson.dumps(openai("Incorrect API key provided: sk-proj-Secret1234567890abcdef."))
    error = status_error(401, {}, body, "http://h/v1")
    assert "Secret1234567890" not in str(error)
    assert "***" in str(error)


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "7"}, {}, 7.0),
        ({"retry-after": "0.5", "x-ratelimit-reset-requests": "60s"}, {}, 0.5),
        ({"Retry-After-Ms": "1500"}, {}, 1.5),
        ({"retry-after": "-3"}, {}, 0.0),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "120ms"}, {}, 0.12),
        (
            {
                "x-ratelimit-reset-requests": "1m2.5s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "1s",
                "x-ratelimit-remaining-tokens": "900",
            },
            {},
            62.5,
        ),
        ({}, {"error": {"details": [{"retryDelay": "13s"}]}}, 13.0),
        ({}, {"error": {"details": [{"retryDelay": "45.837906927s"}]}}, 45.837906927),
        ({}, {"error": "loading", "estimated_time": 20.5}, 20.5),
        ({}, {"error": {"message": "Please try again in 1.2s. Visit us."}}, 1.2),
        ({}, {"error": {"message": "Please try again in 500ms."}}, 0.5),
        ({}, {"error": {"message": "Please try again in 7m12.5s. Need more?"}}, 432.5),
        ({}, {"error": {"message": "Please retry after 6 seconds."}}, 6.0),
        ({}, {"error": {"message": "Rate limited, wait for 2 minutes and 3 seconds"}}, 123.0),
        ({}, {"error": {"message": "Try again in about 1 hour"}}, 3600.0),
        ({}, {"error": {"message": "We had 3 errors in 5 minutes"}}, None),
        ({"retry-after": "soon"}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_delay_is_read_wherever_it_stands(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    found = retry_delay(headers, read_error_body(orjson.dumps(body)))
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_points_in_time_are_delays_from_now() -> None:
    later = time.time() + 30
    for value in (f"{later:.0f}", f"{later * 1000:.0f}"):
        found = retry_delay({"X-RateLimit-Reset": value}, read_error_body(b""))
        assert found is not None
        assert 28 < found < 32
    inside = {"error": {"metadata": {"headers": {"X-RateLimit-Reset": f"{later * 1000:.0f}"}}}}
    found = retry_delay({}, read_error_body(orjson.dumps(inside)))
    assert found is not None
    assert 28 < found < 32
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(later))
    found = retry_delay({"anthropic-ratelimit-requests-reset": stamp}, read_error_body(b""))
    assert found is not None
    assert 28 < found < 32


def test_durations_in_all_spellings() -> None:
    assert duration("1h2m3s") == 3723
    assert duration("2 mins") == 120
    assert duration("90") == 90
    assert duration("never") is None
