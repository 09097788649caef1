"""Parses answers of OpenAI's chat, completions and Responses APIs, as all compatible servers send them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
import orjson

from judge.backends.dialect import Dialect, as_it_is, checked, no_answer, with_usage
from judge.backends.hf.local_model import template_hash
from judge.backends.openai.credentials import beside, endpoint
from judge.backends.openai.errors import read_body, status_error
from judge.base.errors import BackendError
from judge.base.foreign import json_value
from judge.base.records import Response

# OpenAI's Responses API (`/v1/responses`), which some models (-pro, codex) require.


_RESPONSES_FORM = "a Responses-style"
_RENAMED = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
_CUT = frozenset({"max_output_tokens", "max_messages"})


def _wire(asked: Mapping[str, Any]) -> dict[str, Any]:
    # `store: false` unless the run sets it: otherwise OpenAI stores story and answer.
    body: dict[str, Any] = {"store": False}
    for name, value in asked.items():
        if name == "response_format":
            form = {"type": "json_schema", **value["json_schema"]}
            body["text"] = {**body.get("text", {}), "format": form}
        elif name == "text" and isinstance(value, Mapping):
            body["text"] = {**body.get("text", {}), **value}
        elif name == "reasoning_effort":
            body["reasoning"] = {"effort": value, **body.get("reasoning", {})}
        elif name == "logprobs":
            body["include"] = [*body.get("include", []), "message.output_text.logprobs"]
        elif name == "reasoning" and isinstance(value, Mapping):
            body["reasoning"] = {**body.get("reasoning", {}), **value}
        else:
            body[_RENAMED.get(name, name)] = value
    return body


def _read_responses(body: bytes, url: str) -> tuple[list[Response], int]:
    # Thinking is in items of its own, and the finish reason in `status` and `incomplete_details`.
    try:
        data = json_value(body)
        status = data["status"]
        if status == "failed" or data.get("error"):
            failure = {"error": data.get("error") or {"message": "the response failed, and the server gives no cause"}}
            raise status_error(200, {}, orjson.dumps(failure), url)
        if status not in ("completed", "incomplete"):
            raise BackendError(f"{url}: the response ended as {status!r}", kind="server", retryable=True)
        reason = "stop" if status == "completed" else _incomplete(data.get("incomplete_details"))
        response = checked(_responses_response(data["output"], reason, data.get("model")))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise no_answer(url, body, _RESPONSES_FORM) from error
    if reason not in ("stop", "length", "content_filter"):
        raise BackendError(f"{url}: the response is incomplete: {reason}", kind="server", retryable=True)
    if reason == "content_filter" and not response.text:
        raise BackendError(f"{url}: the content filter stopped the answer", kind="filtered", retryable=False)
    return [with_usage(response, data.get("usage"))], 1


def _incomplete(details: Any) -> str:
    # The provider's own word if OpenAI's chat has no equivalent.
    word = str((details or {}).get("reason") or "the server gives no cause")
    return "length" if word in _CUT else word


def _responses_response(items: Any, reason: str, model: str | None) -> Response:
    texts: list[str] = []
    thoughts: list[str] = []
    logprobs: list[Any] = []
    for item in items:
        if item["type"] == "reasoning":
            parts = [*(item.get("content") or ()), *(item.get("summary") or ())]
            thoughts += [part["text"] for part in parts if part.get("text")]
        elif item["type"] == "message":
            for part in item["content"]:
                # A refusal is what the model answered instead of text.
                texts.append(part.get("text") or part.get("refusal") or "")
                logprobs += part.get("logprobs") or ()
    return Response(
        "".join(texts),
        reason,
        "\n\n".join(thoughts) or None,
        logprobs={"content": logprobs} if logprobs else None,
        model=model,
    )


# OpenAI's Responses API: `api: responses`, or learnt from the refusal of a model that has no other.
RESPONSES = Dialect(
    "openai", lambda _: "/responses", _wire, _read_responses, limit="max_output_tokens", one_answer=True
)


# Finds errors inside answers of status 200, and maps finish reasons to OpenAI's words.

_ERRORS = ("error", "errors", "detail", "message", "msg", "base_resp")
_LENGTH = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "token_limit"}
)
_FILTERED = frozenset({"safety", "prohibited_content", "blocklist", "spii", "recitation", "sensitive", "guardrail"})


def error_inside(data: Any) -> Any:
    """The error in a body where the answers should be; None without one or for another body."""
    if isinstance(data, list):
        return data if data and isinstance(data[0], dict) and data[0].get("error") else None
    if not isinstance(data, dict):
        return None
    choices = data.get("choices")
    if not choices:
        return data if any(data.get(key) for key in _ERRORS) else None
    failed = [choice_error(choice) for choice in choices]
    if None not in failed:
        return failed[0]
    if not data.get("error") or any(_text(choice) for choice in choices):
        return None
    return {"error": data["error"]}


def choice_error(choice: Any) -> dict[str, Any] | None:
    """The error in a choice that holds one instead of an answer."""
    if not isinstance(choice, dict):
        return None
    if choice.get("error"):
        return {"error": choice["error"]}
    if choice.get("finish_reason") in ("error", "ERROR"):
        return {"error": {"code": 502, "message": "the provider ended this answer with an error"}}
    return None


def finish_reason(word: Any) -> str | None:
    """Finish reason in OpenAI's words; other servers' words for a cut or filtered answer are translated."""
    if not isinstance(word, str):
        return None
    low = word.lower()
    if low in _LENGTH:
        return "length"
    if low.startswith("content_filter") or low in _FILTERED:
        return "content_filter"
    return word


def _text(choice: Any) -> Any:
    message = choice.get("message") or {}
    return choice.get("text") or message.get("content") or message.get("refusal") or message.get("reasoning")


def _read(body: bytes, url: str, *, chat: bool) -> tuple[list[Response], int]:
    # The number counts failed choices too. Usage is stored with the first response.
    try:
        data = json_value(body)
        problem = error_inside(data)
        if problem is not None:
            raise status_error(200, {}, orjson.dumps(problem), url)
        choices = sorted(data["choices"], key=lambda c: c.get("index", 0))
        model = data.get("model")
        responses = [checked(_response(choice, model, chat=chat)) for choice in choices if choice_error(choice) is None]
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise no_answer(url, body, "an OpenAI-style") from error
    if not responses:
        raise no_answer(url, body, "an OpenAI-style")
    responses[0] = with_usage(responses[0], data.get("usage"))
    return responses, len(choices)


def _response(choice: Mapping[str, Any], model: str | None, *, chat: bool) -> Response:
    reason = finish_reason(choice.get("finish_reason"))
    if not chat:
        return Response(choice["text"], reason, logprobs=choice.get("logprobs"), model=model)
    message = choice["message"]
    if message is None and reason in ("content_filter", "length"):
        message = {}
    text = message.get("content")
    if isinstance(text, list):
        text = "".join(part.get("text", "") for part in text)
    # A structured refusal is what the model answered instead of content.
    text = text or message.get("refusal") or ""
    reasoning = message.get("reasoning_content") or message.get("reasoning") or None
    return Response(text, reason, reasoning, logprobs=choice.get("logprobs"), model=model)


# OpenAI's chat API, and every server that is compatible with it.
CHAT = Dialect("openai", lambda _: "/chat/completions", as_it_is, partial(_read, chat=True), tells=True)

# OpenAI's older API of plain texts, for base models.
COMPLETIONS = Dialect("openai", lambda _: "/completions", as_it_is, partial(_read, chat=False), chat=False, tells=True)


# Reads facts that a server reports beyond the OpenAI protocol, and tests whether it respects a seed.

# Connection to one server for requests that are not queries of the plan: probe, diagnosis of refusals, check of
# seeds.


@dataclass(frozen=True, slots=True)
class Asker:
    """Connection to one server. `client` returns the HTTP session."""

    client: Callable[[], aiohttp.ClientSession]
    url: str
    model: str
    dialect: Dialect = CHAT


# Seconds for both answers to the question about seeds.
SEED_PATIENCE = 20.0

# Seconds for each route that tells of the server; what takes longer is left untold.
ROUTE_PATIENCE = 1.0

_CONFIG = ("model", "revision", "dtype", "quantization", "max_model_len", "tensor_parallel_size", "enable_lora")

SEED_NOTE = (
    "{url} gave two different answers to one question with the same seed: it does not respect `seed` (or not exactly), "
    "so that the repeats of this run cannot be reproduced"
)


async def reported_facts(client: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    """The server's version, chat template hash and configuration, as far as it has routes for them."""
    facts: dict[str, Any] = {}
    version = await _json(client, beside(url, "/version"))
    if "version" in version:
        facts["version"] = version["version"]
        # At once, since development mode's route takes its time.
        info, server = await asyncio.gather(
            _json(client, beside(url, "/tokenizer_info")),
            _json(client, beside(url, "/server_info?config_format=json")),
        )
        if isinstance(info.get("chat_template"), str):
            facts["chat_template_hash"] = template_hash(info["chat_template"])
        flags = {key: value for key, value in _flat(server.get("vllm_config")).items() if key in _CONFIG}
        if flags:
            facts["flags"] = flags
    return facts


async def seed_kept(asker: Asker, request: Mapping[str, Any]) -> bool | None:
    """Whether the server respects a seed, by up to three answers to a question added to `request`. False: two with one
    seed differ. True: they are equal, and another seed's differs. None: all three are equal, or there is no answer."""
    question = "Write twelve words that have nothing to do with each other."
    dialect = asker.dialect
    asked = {**request, "temperature": 1.0}
    asked |= {"messages": [{"role": "user", "content": question}]} if dialect.chat else {"prompt": question}
    route = endpoint(asker.url, dialect.route(asker.model))
    answers: list[str] = []
    try:
        async with asyncio.timeout(SEED_PATIENCE):
            for seed in (20240613, 20240613, 20240614):
                body = orjson.dumps(dialect.wire(asked | {"seed": seed}))
                async with asker.client().post(route, data=body) as reply:
                    responses, _ = dialect.read(await read_body(reply), asker.url)
                    answers.append(responses[0].text)
                if not answers[-1]:
                    return None
                if answers[0] != answers[-1]:
                    return len(answers) == 3
    except (TimeoutError, aiohttp.ClientError, BackendError):
        return None
    return None


async def _json(client: aiohttp.ClientSession, address: str) -> dict[str, Any]:
    try:
        async with asyncio.timeout(ROUTE_PATIENCE), client.get(address) as reply:
            data = orjson.loads(await read_body(reply)) if reply.status == 200 else {}
    except (TimeoutError, aiohttp.ClientError, orjson.JSONDecodeError, UnicodeDecodeError):
        return {}
    return data if isinstance(data, dict) else {}


def _flat(config: Any) -> dict[str, Any]:
    if not isinstance(config, dict):
        return {}
    facts: dict[str, Any] = {}
    for key, value in config.items():
        facts |= value if isinstance(value, dict) else {key: value}
    return facts
