"""Bodies that the loopback server sends: completions in several styles, and errors. Never decides which one is sent."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
import time
from email.utils import formatdate
from typing import Any

import orjson

from tests.server.settings import Settings

EXPLANATION = (
    "The opening sets up the request and the later scenes follow from it, although the ending is reached in haste and "
    "one of the characters is left without a reason for what happens."
)
GARBAGE = b'{"id": "chatcmpl-x", "choices": [{"index": 0, "message": {"content": "Rat\xff\xfe\x00'
"""Half a JSON document with bytes that are not UTF-8."""

_REASONING = "Considering the scale: a 1 would be too harsh and a 5 too kind. The pacing settles it."

FAULT_ERRORS = {"429": "rate_limit_exceeded", "500": "server_error", "503": "overloaded"}

_TOKEN = re.compile(r"\s?\d+|\s?[^\s\d]+|\s")
_LISTED = re.compile(r"^- (\w[\w ]*) \(", re.MULTILINE)

_ERRORS: dict[str, tuple[int, str, str]] = {
    "invalid_api_key": (401, "invalid_request_error", "Incorrect API key provided: wrong. Check the key."),
    "model_not_found": (404, "invalid_request_error", "The model `{model}` does not exist or you do not have access."),
    "not_found": (404, "invalid_request_error", "Unknown request URL."),
    "context_length_exceeded": (
        400,
        "invalid_request_error",
        "This model's maximum context length is {limit} characters. Your messages have {found}.",
    ),
    "unsupported_n": (400, "invalid_request_error", "n must be 1."),
    "invalid_json": (400, "invalid_request_error", "We could not parse the JSON body of your request."),
    "content_filter": (400, "invalid_request_error", "The prompt was filtered by the content management policy."),
    "insufficient_quota": (
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "rate_limit_exceeded": (429, "requests", "Rate limit reached for requests."),
    "server_error": (500, "server_error", "The server had an error while processing your request."),
    "overloaded": (503, "server_error", "The engine is currently overloaded, please try again later."),
}


def error(kind: str, *, status: int | None = None, **facts: object) -> tuple[int, bytes]:
    """HTTP status and an OpenAI-shaped error body; `facts` fill the message. An unknown kind is passed through."""
    usual, type_, message = _ERRORS.get(kind, (500, kind, kind))
    body = {"error": {"message": message.format(**facts), "type": type_, "param": None, "code": kind}}
    return status or usual, orjson.dumps(body)


def retry_after(settings: Settings) -> bytes:
    """The header line that says when to come back, as seconds, as a date (whole seconds), or not at all."""
    if settings.retry_after_form == "none":
        return b""
    if settings.retry_after_form == "date":
        return b"retry-after: " + formatdate(time.time() + settings.retry_after, usegmt=True).encode() + b"\r\n"
    return f"retry-after: {settings.retry_after:g}\r\n".encode()


_UNSEEDED = itertools.count()
"""Draws of a server that ignores seeds."""


def rating_of(digest: bytes, draw: int) -> int:
    """The rating in 1..5 for a prompt's digest and a draw (seed + choice index), the same in every process."""
    return 1 + hashlib.blake2b(digest + draw.to_bytes(8, "little", signed=True), digest_size=4).digest()[0] % 5


def style_of(settings: Settings, digest: bytes) -> str:
    """The style for a prompt: the one that is set, or a share of several by the prompt's digest."""
    if isinstance(settings.style, str):
        return settings.style
    place = int.from_bytes(digest[-6:], "big") / 2**48
    style = "rating"
    for style, share in settings.style.items():  # noqa: B007 - the last style takes what rounding leaves over
        place -= share
        if place < 0:
            break
    return style


def completion(
    settings: Settings, request: dict[str, Any], digest: bytes, size: int, *, chat: bool, cached: int
) -> bytes:
    """A 200 body for a request of `size` characters: `n` choices, usage and, where asked for, log-probabilities."""
    count = 1 if settings.ignore_n else int(request.get("n") or 1)
    seed = request.get("seed")
    first = next(_UNSEEDED) if settings.ignore_seed else seed or 0
    style = style_of(settings, digest)
    choices: list[dict[str, Any]] = []
    written = 0
    for index in range(count):
        rating = rating_of(digest, first + index)
        text, reasoning, refusal, finish = _content(settings, style, rating, request)
        written += len(text or "") + len(reasoning or "") + len(refusal or "")
        choice: dict[str, Any] = {"index": index, "finish_reason": finish, "logprobs": None}
        if request.get("logprobs") not in (None, False) and not settings.ignore_logprobs:
            choice["logprobs"] = (_chat_logprobs if chat else _text_logprobs)(text or "", rating, request)
        if chat:
            choice["message"] = {"role": "assistant", "content": text, "refusal": refusal}
            if reasoning is not None:
                choice["message"]["reasoning_content"] = reasoning
        else:
            choice["text"] = text or ""
        choices.append(choice)
    prompt_tokens, completion_tokens = size // 4, written // 4
    body = {
        "id": ("chatcmpl-" if chat else "cmpl-") + digest.hex(),
        "object": "chat.completion" if chat else "text_completion",
        "created": int(time.time()),
        "model": request.get("model", "mock"),
        "system_fingerprint": settings.system_fingerprint,
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }
    if seed is not None:
        body["seed"] = seed
    return orjson.dumps(body)


def prompt_length(request: dict[str, Any]) -> int:
    """Characters of all messages, or of the prompt."""
    if "messages" in request:
        return sum(len(each["content"] or "") for each in request["messages"])
    return len(request["prompt"])


def _content(
    settings: Settings, style: str, rating: int, request: dict[str, Any]
) -> tuple[str | None, str | None, str | None, str]:
    """Text, reasoning, refusal and finish reason of one choice."""
    if settings.fixed_text is not None:
        return settings.fixed_text, None, None, "stop"
    choice = request.get("guided_choice") or (request.get("structured_outputs") or {}).get("choice")
    if choice and style == "rating":
        return str(choice[(rating - 1) % len(choice)]), None, None, "stop"
    answer = f"Rating: {rating}\nExplanation: {EXPLANATION}"
    if style == "json" or (style == "rating" and request.get("response_format")):
        return orjson.dumps({"rating": rating, "explanation": EXPLANATION}).decode(), None, None, "stop"
    if style == "joint":
        return _several(request, rating) or answer, None, None, "stop"
    if style == "rating":
        return answer, None, None, "stop"
    if style == "verdict":
        word = ("A", "B", "Tie")[rating % 3]
        if request.get("response_format"):
            return orjson.dumps({"verdict": word, "explanation": EXPLANATION}).decode(), None, None, "stop"
        return word if choice else f"Verdict: {word}\n\n{EXPLANATION}", None, None, "stop"
    if style == "prose":
        return f"I would rate this story a {rating} on this criterion. {EXPLANATION}", None, None, "stop"
    if style == "reasoning":
        return answer, _REASONING, None, "stop"
    if style == "thought_only":
        return None, f"{_REASONING} {answer}", None, "stop"
    if style == "think":
        return f"<think>\n{_REASONING}\n</think>\n\n{answer}", None, None, "stop"
    if style == "refusal":
        return None, None, "I'm sorry, but I can't help with rating this story.", "stop"
    if style == "content_filter":
        return "", None, None, "content_filter"
    if style == "truncated":
        return "The story answers the story-prompt in its first half, and the way in which it", None, None, "length"
    if style == "empty":
        return "", None, None, "stop"
    return "What a story. There is a sea, and a boat, and somebody who does not come home.", None, None, "stop"


def _several(request: dict[str, Any], rating: int) -> str:
    """A rating for each criterion that the last message lists; "" where it lists none."""
    names = _LISTED.findall(request["messages"][-1]["content"])
    ratings = {name: (rating + place) % 5 + 1 for place, name in enumerate(names)}
    if names and request.get("response_format"):
        return orjson.dumps(ratings).decode()
    return "\n".join(f"{name}: {value}" for name, value in ratings.items())


def _digits(rating: int) -> list[tuple[str, float]]:
    """Log-probabilities of the five ratings, falling with the distance from the given one; they sum to 1 less 1 %."""
    weights = {digit: math.exp(-1.2 * abs(digit - rating)) for digit in range(1, 6)}
    total = sum(weights.values()) / 0.99
    pairs = [(str(digit), math.log(weight / total)) for digit, weight in weights.items()]
    return sorted(pairs, key=lambda pair: -pair[1])


def _tokens(text: str, rating: int, top: int) -> list[tuple[str, float, list[tuple[str, float]]]]:
    """Tokens, which join to the text, with log-probability and alternatives; only the rating is in doubt."""
    found: list[tuple[str, float, list[tuple[str, float]]]] = []
    for token in _TOKEN.findall(text):
        if token.strip() == str(rating):
            options = _digits(rating)
            found.append((token, options[0][1], options[:top]))
        else:
            found.append((token, -0.02, [(token, -0.02), (" the", -4.5), (" a", -5.1), (",", -5.5), (".", -6)][:top]))
    return found


def _chat_logprobs(text: str, rating: int, request: dict[str, Any]) -> dict[str, Any]:
    """The chat API's form: a list of tokens, each with its `top_logprobs`."""

    def entry(token: str, value: float) -> dict[str, Any]:
        return {"token": token, "logprob": value, "bytes": list(token.encode())}

    return {
        "content": [
            {**entry(token, value), "top_logprobs": [entry(*each) for each in options]}
            for token, value, options in _tokens(text, rating, int(request.get("top_logprobs") or 0))
        ],
        "refusal": None,
    }


def _text_logprobs(text: str, rating: int, request: dict[str, Any]) -> dict[str, Any]:
    """The completions API's form: parallel lists."""
    found = _tokens(text, rating, int(request.get("logprobs") or 0))
    offsets, place = [], 0
    for token, _, _ in found:
        offsets.append(place)
        place += len(token)
    return {
        "tokens": [token for token, _, _ in found],
        "token_logprobs": [value for _, value, _ in found],
        "top_logprobs": [dict(options) for _, _, options in found],
        "text_offset": offsets,
    }
