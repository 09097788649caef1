"""Converts errors of Anthropic's API into `BackendError`s with hints for the user.

`server_refusals.kinds` interprets errors of all providers; this module adds the messages for this protocol's routes and
keys. Source, read in November 2026: platform.claude.com/docs/en/api/errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge.backends.openai.errors import RefusalError
from judge.backends.server_refusals.kinds import Refusal, read_refusal
from judge.backends.server_refusals.server_terms import remedy
from judge.base.errors import ErrorKind
from judge.base.redaction import redact
from judge.base.wording import Advice

STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Type of an error -> the status that it has where it is no part of a batch or of an answer already begun."""

_HINTS: dict[ErrorKind, str] = {
    "auth": "check ANTHROPIC_API_KEY, or the variables that the run names; it must be allowed to use this model",
    "quota": "what the account may use is used up; add credit or raise its limit, then run the same command again",
    "context": "shorten the stories or the Eval-Prompt, or take a model with a longer context",
    "model": Advice(
        "`judge doctor {provider} {model}` tells whether a model is listed", provider="anthropic", model="NAME"
    ),
    "api": "take a model that answers at /v1/messages",
    "address": "base_url must lead to the Messages API: /v1/messages is put behind it",
}


def refused(
    status: int, headers: Mapping[str, str], body: bytes, url: str, sent: Mapping[str, Any] | None = None
) -> RefusalError:
    """Error for a refused request, or for an error result of a batch. `sent` is the body of the request."""
    refusal = read_refusal(status, headers, body, sent)
    words = redact(refusal.error_body.shown())
    message = f"{url}: HTTP {refusal.status}" + (f": {words}" if words else "")
    return RefusalError(message, refusal=refusal, sent=sent, hint=_hint(refusal, sent))


def _hint(refusal: Refusal, sent: Mapping[str, Any] | None) -> str | None:
    if refusal.kind == "capability" and refusal.settings:
        return remedy([_key(name, sent) for name in refusal.settings], refusal)
    return _HINTS.get(refusal.kind)


def _key(name: str, sent: Mapping[str, Any] | None) -> str:
    """Name in OpenAI's API of a setting that Anthropic's API refused. `remedy` needs this name to find the key of
    run.yaml that the user should change. `name` is the setting's name in Anthropic's API, and `sent` the body of the
    refused request.
    """
    output = (sent or {}).get("output_config")
    if name == "output_config" and isinstance(output, Mapping) and "format" in output:
        return "response_format"
    return {"stop_sequences": "stop"}.get(name, name)
