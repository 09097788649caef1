"""Back-end for Google's generateContent API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from judge.backends.anthropic import read_message
from judge.backends.dialect import Dialect, checked, no_answer, with_usage
from judge.backends.openai.answers import CHAT, COMPLETIONS, RESPONSES
from judge.backends.openai.backend import OpenAIBackend
from judge.backends.openai.errors import status_error
from judge.backends.protocol import Settings
from judge.base.credentials.providers import GEMINI as PROVIDER
from judge.base.errors import BackendError, SpecError
from judge.base.foreign import json_value
from judge.base.records import Response

# Back-end `gemini/<model>`: client for Google's generateContent API, with the connection code of `openai/`.

# Parses answers of Gemini's generateContent API: candidates, thoughts, blocked content, token counts.

_FORM = "a Gemini-style"

# The provider's word for how an answer ended -> ours.
_ENDS = {"STOP": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length"}

# Reasons that speak of this content; any other one is a failure, after which the same is asked again.
FILTERED = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "ESCALATION", "MODEL_ARMOR"}
    | {"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"}
)

# The account itself was limited, for what it asked before.
_ACCOUNT = "PUP_LIMITED_DISABLED"


def read(body: bytes, url: str) -> tuple[list[Response], int]:
    """The usable answers in a body, and the number of all candidates, as Gemini calls its answers. Usage is with the
    first."""
    try:
        data = json_value(body)
        if isinstance(data, dict) and data.get("error"):
            raise status_error(200, {}, body, url)
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
    # The prompt was blocked, or nothing was generated.
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
    # It ended normally or at its length limit, or was stopped after some text.
    reason = candidate.get("finishReason")
    return reason in _ENDS or (reason in FILTERED and bool(_texts(candidate, thought=False)))


def _failed(candidate: Mapping[str, Any], url: str) -> BackendError:
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
    # The API returns thoughts and answer as parts of one content.
    parts = (candidate.get("content") or {}).get("parts") or ()
    return "".join(part.get("text") or "" for part in parts if bool(part.get("thought")) is thought)


def _logprobs(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
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
    # Thinking is part of the answer, and cached tokens are part of the prompt.
    if not metadata:
        return None
    answer, thoughts = metadata.get("candidatesTokenCount"), metadata.get("thoughtsTokenCount")
    usage: dict[str, Any] = {"prompt_tokens": metadata.get("promptTokenCount")}
    if answer is not None or thoughts is not None:
        usage["completion_tokens"] = int(answer or 0) + int(thoughts or 0)
        usage["reasoning_tokens"] = int(thoughts or 0)
    usage["cached_tokens"] = metadata.get("cachedContentTokenCount")
    return usage


# Converts a request under OpenAI's chat names into the format of Gemini's generateContent.

# OpenAI's name -> the name in generationConfig.
_GENERATION = {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "seed": "seed",
    "stop": "stopSequences",
    "n": "candidateCount",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}

# Fields of a request that stand beside generationConfig.
_BESIDE = frozenset(
    {"safetySettings", "tools", "toolConfig", "cachedContent", "serviceTier", "store", "labels", "systemInstruction"}
)


def wire(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The request body, without the model, whose name is in the address. `engine` keys are inserted where the API
    expects them, in either spelling (`top_k`, `topK`)."""
    body: dict[str, Any] = {}
    config: dict[str, Any] = {}
    for name, value in asked.items():
        if name == "messages":
            body |= _contents(value)
        elif name == "response_format":
            config |= _json(value["json_schema"]["schema"])
        elif name == "structured_outputs":
            config |= {
                "responseMimeType": "text/x.enum",
                "responseSchema": {"type": "STRING", "enum": list(value["choice"])},
            }
        elif name in _GENERATION:
            config[_GENERATION[name]] = value
        elif name != "model":
            field = re.sub(r"_([a-z])", lambda found: found[1].upper(), name)
            (body if field in _BESIDE else config)[field] = value
    return body | ({"generationConfig": config} if config else {})


def _contents(messages: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    system = [{"text": message["content"]} for message in messages if message["role"] == "system"]
    contents = [
        {"role": "model" if message["role"] == "assistant" else "user", "parts": [{"text": message["content"]}]}
        for message in messages
        if message["role"] != "system"
    ]
    return ({"systemInstruction": {"parts": system}} if system else {}) | {"contents": contents}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    # The order of the fields is set explicitly, because an explanation may have to come first.
    ordered = {**schema, "propertyOrdering": list(schema["properties"])}
    return {"responseMimeType": "application/json", "responseJsonSchema": ordered}


# Google's generateContent.
GEMINI = Dialect(
    "gemini",
    lambda model: f"/models/{model}:generateContent",
    wire,
    read,
    models="/models?pageSize=1000",
    limit="maxOutputTokens",
    protocol=PROVIDER,
)


def open(model: str, settings: Settings) -> OpenAIBackend:  # noqa: A001  the registry's name for a loader
    """The back-end, after a check that the key may be sent to the server. No connection is made yet."""
    backend = gemini_backend(model, settings)
    backend.credentials.check()
    return backend


def gemini_backend(model: str, settings: Settings) -> OpenAIBackend:
    """The back-end, without that check. Raises SpecError for settings that Gemini's API does not have."""
    if settings.api != "chat":
        raise SpecError(f"gemini/ has no `api: {settings.api}`", hint="leave `api` out, or write `api: chat`")
    compatible = next((url for url in settings.base_url if url.partition("?")[0].rstrip("/").endswith("/openai")), None)
    if compatible is not None:
        raise SpecError(
            f"base_url {compatible} is Gemini's OpenAI-compatible endpoint, and gemini/ speaks Gemini's own API",
            hint=f"leave base_url out, or ask it as judge: openai/{model}",
        )
    return OpenAIBackend(model.removeprefix("models/"), settings, GEMINI)


# Parses the answers in a batch file, in the format of any supported API.

_OF_GEMINI = ("candidates", "promptFeedback", "usageMetadata")


def read_answer(body: Any, content: bytes, api: str, where: str) -> list[Response]:
    """The answers in a body of status 200, parsed (`body`) and as bytes (`content`). Messages name `where`, without
    keys."""
    if isinstance(body, dict) and body.get("type") == "message":
        return [read_message(content, where)]
    return _dialect_of(body, api).read(content, where)[0]


def _dialect_of(body: Any, api: str) -> Dialect:
    # OpenAI's chat and completions formats may be alike; then the query's API decides.
    if isinstance(body, dict):
        if body.get("object") == "response":
            return RESPONSES
        if "choices" not in body and any(name in body for name in _OF_GEMINI):
            return GEMINI
    return COMPLETIONS if api == "completions" else CHAT
