"""Differences between the HTTP APIs: routes, format of requests, format of answers. A request is built under the names
of OpenAI's chat API, under which refused settings are negotiated (`judge.backends.openai.negotiation`), and then
converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import orjson

from judge.base.credentials.providers import OPENAI, Provider
from judge.base.errors import BackendError
from judge.base.records import Criterion, Message, Query, Response

# Messages joined into one prompt for the completions route, in the same way for every back-end.


def joined(messages: Sequence[Message]) -> str:
    """Contents of the messages joined with blank lines. Nothing is added at the end."""
    return "\n\n".join(message.content for message in messages)


# Reads the token counts and cost of one call, which servers report in different formats.

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
# Numbers from here on count nothing; the journal could not hold all of them either.
_MOST = 2**53

_UPSTREAM = "cost_details.upstream_inference_cost"
_COST = ("cost", "total_cost", "estimated_cost", "cost.total_cost", "cost_details.total_cost")


def with_usage(response: Response, usage: object) -> Response:
    """A call's first response with its tokens and cost. `completion_tokens` includes all that is billed as the answer;
    `reasoning_tokens` is the thinking in it. What is not reported as a number is None."""
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
    # Tokens that are only in `total_tokens` belong to the prompt if they are the cached ones, otherwise to the answer.
    left_out = int(counts.get("total_tokens", 0)) - prompt - completion
    if left_out > 0 and left_out == cached and left_out != reasoning:
        return prompt + cached, completion, reasoning  # the prompt was counted without what came from the cache
    if left_out > 0:
        return prompt, completion + left_out, reasoning or left_out
    if reasoning is not None and reasoning > completion:
        return prompt, completion + reasoning, reasoning  # no part of the answer can be longer than the answer
    return prompt, completion, reasoning


def _cost(counts: dict[str, float], *, own_key: object) -> float | None:
    # With the user's own key at the upstream provider, OpenRouter's `cost` is only its fee.
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
    # A number in a nested object has the name `object.name`.
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
    # None if it is no number, negative, or too large.
    if type(value) is int:  # nearly always; a bool is none of them
        return value if 0 <= value < _MOST else None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return value if isinstance(value, float) and 0 <= value < _MOST else None


# Constraints on the format of an answer: the points or labels as a choice, or a JSON schema. They are the same for
# every back-end.

# Forms that an answer can be asked to have.
STRUCTURED = ("choice", "json", "json-explanation-first")


def choices(query: Query) -> list[str]:
    """Allowed answers: words for a comparison's outcome, the scale's labels, or its points as written numbers."""
    if query.choices:
        return list(query.choices)
    scale = query.criterion.scale
    return list(scale.labels) or [f"{point:g}" for point in scale.points()]


def schema(query: Query) -> dict[str, Any]:
    """JSON schema of a rating, with an explanation before or after it if requested. The answer's field is `rating`,
    also for labels, or `verdict`. For several criteria, each has a field with such an object or only the rating."""
    if query.criteria:
        return _object({criterion.name: _several_schema(query, criterion) for criterion in query.criteria})
    if query.choices:
        return _explained(query, "verdict", {"type": "string", "enum": choices(query)})
    return _explained(query, "rating", _rating(query.criterion))


def _several_schema(query: Query, criterion: Criterion) -> dict[str, Any]:
    rating = _rating(criterion)
    return _explained(query, "rating", rating) if query.asks_explanation else rating


def _explained(query: Query, name: str, answer: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: answer}
    if query.asks_explanation:
        explanation = {"explanation": {"type": "string"}}
        fields = explanation | fields if query.structured == "json-explanation-first" else fields | explanation
    return _object(fields)


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _rating(criterion: Criterion) -> dict[str, Any]:
    if criterion.scale.labels:
        return {"type": "string", "enum": list(criterion.scale.labels)}
    points = criterion.scale.points()
    if all(float(point).is_integer() for point in points):
        return {"type": "integer", "enum": [int(point) for point in points]}
    return {"type": "number", "enum": points}


def request_fields(query: Query) -> dict[str, Any]:
    """Fields that constrain the answer's format: OpenAI's `response_format` (JSON) or vLLM's `structured_outputs`
    (choice)."""
    match query.structured:
        case "none":
            return {}
        case "choice":
            return {"structured_outputs": {"choice": choices(query)}}
        case "json" | "json-explanation-first":
            named = {"name": "judgment", "strict": True, "schema": schema(query)}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case _:
            assert_never(query.structured)


# (body, address) -> the answers, and how many the server gave, those that failed on their way included.
Read = Callable[[bytes, str], tuple[list[Response], int]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Request and response format of one API.

    `provider` begins the judge's name in run.yaml. `route` gives a model's route below base_url, `wire` the JSON body
    of a request under OpenAI's chat names, and `read` the answers in a body of status 200; it raises `BackendError`.
    `chat`: a request holds messages, not one text. `models` is the route that lists models. `limit` names the setting
    for an answer's length; None if it is one of OpenAI's two names, and the client finds out. `one_answer`: there is no
    setting for several answers. `tells`: servers may have routes with facts about themselves, as vLLM has. `protocol`
    decides the key's header and environment variables, and the default address. `structured` are the formats that can
    be requested."""

    provider: str
    route: Callable[[str], str]
    wire: Callable[[Mapping[str, Any]], dict[str, Any]]
    read: Read
    chat: bool = True
    models: str = "/models"
    limit: str | None = None
    one_answer: bool = False
    tells: bool = False
    protocol: Provider = OPENAI
    structured: frozenset[str] = frozenset({"none", *STRUCTURED})


def as_it_is(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The request body unchanged, for an API that uses OpenAI's names."""
    return dict(asked)


def no_answer(url: str, body: bytes, form: str) -> BackendError:
    """Error for a body of status 200 that is no answer of the expected format, which `form` names."""
    start = body[:80].decode("utf-8", "replace")
    return BackendError(f"{url}: the answer is not {form} answer: {start!r}", kind="garbage", retryable=True)


# Characters of the model's name: the journal holds it with each answer, and a server could put anything there.
_LONGEST_NAME = 300


def checked(response: Response) -> Response:
    """The response as a journal stores it. Raises TypeError if answer or thinking is not text. A model name or finish
    reason that is not text, and empty log-probabilities, become None; a very long model name is cut."""
    reasoning, reason, model, logprobs = response.reasoning, response.finish_reason, response.model, response.logprobs
    if type(response.text) is not str or type(reasoning) not in (str, type(None)):
        raise TypeError("no text")
    good = type(reason) in (str, type(None)) and type(model) in (str, type(None)) and len(model or "") < _LONGEST_NAME
    if good and logprobs is None:
        return response
    return replace(
        response,
        finish_reason=reason if isinstance(reason, str) else None,
        model=model[:_LONGEST_NAME] if isinstance(model, str) else None,
        logprobs=_checked_logprobs(logprobs),
    )


def _checked_logprobs(logprobs: Any) -> Any:
    # In the format of OpenAI's chat or completions answers, and nested no deeper than a journal can store.
    if not logprobs or (isinstance(logprobs, Mapping) and not logprobs.get("content") and not logprobs.get("tokens")):
        return None
    orjson.dumps(logprobs)
    content = logprobs.get("content")
    if content:
        for step in content:
            for token in (step, *(step.get("top_logprobs") or ())):
                _check_token(token["token"], token["logprob"])
        return logprobs
    tokens, own, tops = logprobs["tokens"], logprobs.get("token_logprobs") or (), logprobs.get("top_logprobs") or ()
    for token, value in zip(tokens, own, strict=False):
        _check_token(token, 0.0 if value is None else value)
    for top in tops:
        for token, value in (top or {}).items():
            _check_token(token, value)
    return logprobs


def _check_token(token: Any, value: Any) -> None:
    if type(token) is not str or type(value) not in (int, float):
        raise TypeError("no token with its log-probability")
