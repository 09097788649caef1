"""Parses answers of Gemini's generateContent API: candidates, thoughts, blocked content, token counts.

A blocked prompt or candidate is reported as `filtered`, not as an empty answer. Gemini counts thinking separately from
the answer but bills it as part of the answer (ai.google.dev/gemini-api/docs/thinking); `usage` counts it as part of the
answer. Format: ai.google.dev/api/generate-content, and the types of the google-genai package 3.4.0 (both read in
November 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from judge.backends.dialect import Scrub, checked, no_answer
from judge.backends.openai.errors import status_error
from judge.backends.usage import with_usage
from judge.base.errors import BackendError
from judge.base.half_pairs import json_value
from judge.base.records import Response

_FORM = "a Gemini-style"

_ENDS = {"STOP": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length"}
"""The provider's word for how an answer ended -> ours."""

FILTERED = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "ESCALATION", "MODEL_ARMOR"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)
"""Reasons that speak of this content; any other one is a failure, after which the same is asked again."""

_ACCOUNT = "PUP_LIMITED_DISABLED"
"""The account itself was limited, for what it asked before."""


def read(body: bytes, url: str, scrub: Scrub) -> tuple[list[Response], int]:
    """The usable answers in the body of a response, and the number of all candidates, as Gemini calls its answers.
    Token usage is stored with the first answer.
    """
    try:
        data = json_value(body)
        if isinstance(data, dict) and data.get("error"):
            raise status_error(200, {}, body, url, scrub)
        candidates = data.get("candidates") or []
        if not candidates:
            raise _none_given(data, url, body)
        candidates = sorted(candidates, key=lambda candidate: candidate.get("index", 0))
        model = data.get("modelVersion")
        responses = [checked(_response(candidate, model)) for candidate in candidates if _is_answer(candidate)]
        if not responses:
            raise _failed(candidates[0], url)
        usage = _usage(data.get("usageMetadata"))
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise no_answer(url, body, _FORM) from error
    responses[0] = with_usage(responses[0], usage)
    return responses, len(candidates)


def _none_given(data: Mapping[str, Any], url: str, body: bytes) -> BackendError:
    """Error for a body without candidates: the prompt was blocked, or nothing was generated."""
    feedback = data.get("promptFeedback") or {}
    reason = feedback.get("blockReason")
    if reason:
        why = "".join(f": {words}" for words in (_rated(feedback), feedback.get("blockReasonMessage")) if words)
        return BackendError(f"{url}: the prompt was blocked: {reason}{why}", kind="filtered", retryable=False)
    if "usageMetadata" in data or "candidates" in data or "promptFeedback" in data:
        return BackendError(
            f"{url}: the answer holds no candidate, and no reason for it", kind="server", retryable=True
        )
    return no_answer(url, body, _FORM)


def _is_answer(candidate: Mapping[str, Any]) -> bool:
    """Whether a candidate (an answer in Gemini's format) can be used: it ended normally or at its length limit, or was
    stopped after some text.
    """
    reason = candidate.get("finishReason")
    return reason in _ENDS or (reason in FILTERED and bool(_texts(candidate, thought=False)))


def _failed(candidate: Mapping[str, Any], url: str) -> BackendError:
    """Error for a candidate (an answer in Gemini's format) that cannot be used."""
    reason = str(candidate.get("finishReason") or "the server gives no reason")
    words = [reason, _rated(candidate), candidate.get("finishMessage")]
    message = f"{url}: the answer was stopped: {': '.join(str(word) for word in words if word)}"
    if reason in FILTERED:
        return BackendError(message, kind="filtered", retryable=False)
    if reason == _ACCOUNT:
        return BackendError(
            message, kind="auth", retryable=False, status=200, hint="the account is limited; see its terms of use"
        )
    return BackendError(message, kind="server", retryable=True)


def _rated(part: Mapping[str, Any]) -> str:
    """Names of the harm categories that the provider found in a prompt or answer (`part`) with medium or high
    probability, or for which it was blocked; empty if there are none.
    """
    categories = [
        str(rating.get("category", "")).removeprefix("HARM_CATEGORY_").lower()
        for rating in part.get("safetyRatings") or ()
        if rating.get("blocked") or rating.get("probability") in ("MEDIUM", "HIGH")
    ]
    return ", ".join(categories)


def _response(candidate: Mapping[str, Any], model: str | None) -> Response:
    reason = _ENDS.get(str(candidate["finishReason"]), "content_filter")
    return Response(
        _texts(candidate, thought=False),
        reason,
        _texts(candidate, thought=True) or None,
        logprobs=_logprobs(candidate.get("logprobsResult")),
        model=model,
    )


def _texts(candidate: Mapping[str, Any], *, thought: bool) -> str:
    """Text of a candidate's answer or, with `thought`, of its thoughts. The API returns both as parts of one
    content.
    """
    parts = (candidate.get("content") or {}).get("parts") or ()
    return "".join(part.get("text") or "" for part in parts if bool(part.get("thought")) is thought)


def _logprobs(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Log-probabilities of an answer in the format of OpenAI's chat answers; None without log-probabilities."""
    chosen = (result or {}).get("chosenCandidates") or []
    if not chosen or any(token.get("logProbability") is None for token in chosen):
        return None
    tops = (result or {}).get("topCandidates") or []
    beside = [[_token(token) for token in step.get("candidates") or () if "logProbability" in token] for step in tops]
    beside += [[]] * (len(chosen) - len(beside))
    return {"content": [{**_token(token), "top_logprobs": top} for token, top in zip(chosen, beside, strict=False)]}


def _token(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"token": entry.get("token") or "", "logprob": float(entry["logProbability"])}


def _usage(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Token counts under OpenAI's names: thinking is part of the answer, cached tokens are part of the prompt. None
    without counts.
    """
    if not metadata:
        return None
    answer, thoughts = metadata.get("candidatesTokenCount"), metadata.get("thoughtsTokenCount")
    usage: dict[str, Any] = {"prompt_tokens": metadata.get("promptTokenCount")}
    if answer is not None or thoughts is not None:
        usage["completion_tokens"] = int(answer or 0) + int(thoughts or 0)
        usage["reasoning_tokens"] = int(thoughts or 0)
    usage["cached_tokens"] = metadata.get("cachedContentTokenCount")
    return usage
