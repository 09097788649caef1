"""An imitation of OpenAI with models that the Responses API alone has. Every story is rated 4.

Forms: developers.openai.com/api/reference/resources/responses, the types of the openai package 3.52.0, and aichat#1318
for the refusal. Never compared with the live endpoint.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.conformance.providers import FLAGGED
from tests.conformance.server import KEY, Listening

MODELS = ("gpt-5.4-pro", "gpt-4.1-mini")
ONLY_HERE = "This model is only supported in v1/responses and not in v1/chat/completions."
THOUGHTS = "The story holds together."

_FIELDS = frozenset(
    {"model", "input", "instructions", "max_output_tokens", "temperature", "top_p", "top_logprobs", "include", "text"}
    | {"reasoning", "store", "service_tier", "truncation", "metadata", "prompt_cache_key", "safety_identifier"}
)


@dataclass(slots=True)
class Behaviour:
    """What goes wrong: tokens of thinking, how the story that holds FLAGGED ends, and which requests fail inside."""

    thinking: int = 12
    flagged: str = "incomplete"
    fail_every: int = 0
    route: bool = True


class ResponsesImitated(Listening):
    """The imitation, listening; `requests` are the bodies that came to /responses."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        super().__init__()
        self.behaviour = behaviour or Behaviour()
        self.requests: list[dict[str, Any]] = []

    @property
    def base_url(self) -> str:
        """As it stands in run.yaml."""
        return f"http://127.0.0.1:{self.port}/v1"

    def _routes(self, app: web.Application) -> None:
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        if self.behaviour.route:
            app.router.add_post("/v1/responses", self._responses)

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})

    async def _chat(self, _: web.Request) -> web.Response:
        self.counts["chat"] += 1
        return _error(404, ONLY_HERE, "model", None)

    async def _responses(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return _error(401, "Incorrect API key provided", None, "invalid_api_key")
        body = json.loads(await request.read())
        self.counts["requests"] += 1
        self.requests.append(body)
        refusal = self._refusal(body)
        if refusal is not None:
            return refusal
        if self.behaviour.fail_every and self.counts["requests"] % self.behaviour.fail_every == 0:
            error = {"code": "server_error", "message": "An error occurred while processing your request."}
            return web.json_response(_response(body, "failed", [], error=error))
        return web.json_response(self._answer(body))

    def _refusal(self, body: dict[str, Any]) -> web.Response | None:
        for name in body:
            if name not in _FIELDS:
                return _error(400, f"Unknown parameter: '{name}'.", name, "unknown_parameter")
        if "pro" in body["model"] and "temperature" in body:
            said = "Unsupported parameter: 'temperature' is not supported with this model."
            return _error(400, said, "temperature", "unsupported_parameter")
        if body.get("max_output_tokens", 16) < 16:
            said = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got "
            said += f"{body['max_output_tokens']} instead."
            return _error(400, said, "max_output_tokens", "integer_below_min_value")
        if body.get("reasoning", {}).get("effort", "high") not in ("medium", "high", "xhigh"):
            said = f"Unsupported value: '{body['reasoning']['effort']}' is not supported with this model."
            return _error(400, said, "reasoning.effort", "unsupported_value")
        form = body.get("text", {}).get("format", {"type": "text"})
        if form["type"] == "json_schema" and not {"name", "schema"} <= set(form):
            return _error(
                400, "Missing required parameter: 'text.format.name'.", "text.format.name", "missing_required"
            )
        return None

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        flagged = FLAGGED in json.dumps(body["input"])
        if flagged and self.behaviour.flagged == "invalid_prompt":
            error = {
                "code": "invalid_prompt",
                "message": "Your prompt was flagged as potentially violating our policy.",
            }
            return _response(body, "failed", [], error=error)
        if flagged and self.behaviour.flagged == "incomplete":
            return _response(body, "incomplete", [], reason="content_filter")
        thinking = self.behaviour.thinking
        items: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
        if body.get("reasoning", {}).get("summary"):
            items[0]["summary"] = [{"type": "summary_text", "text": THOUGHTS}]
        if body.get("max_output_tokens", 10**6) <= thinking:
            return _response(body, "incomplete", items, thinking, reason="max_output_tokens")
        text = "Rating: 4"
        if body.get("text", {}).get("format", {}).get("type") == "json_schema":
            text = '{"rating": 4}'
        part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        if "message.output_text.logprobs" in body.get("include", []):
            top = [{"token": str(one), "logprob": -0.7 - abs(4 - one), "bytes": []} for one in range(1, 6)]
            part |= {"text": "4", "logprobs": [{"token": "4", "logprob": -0.7, "bytes": [], "top_logprobs": top}]}
        items.append({"type": "message", "role": "assistant", "status": "completed", "content": [part]})
        return _response(body, "completed", items, thinking + 5)


def _response(
    body: dict[str, Any],
    status: str,
    items: list[dict[str, Any]],
    tokens: int = 0,
    reason: str | None = None,
    error: dict[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": error,
        "incomplete_details": None if reason is None else {"reason": reason},
        "model": body["model"],
        "output": items,
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
            "output_tokens": tokens,
            "output_tokens_details": {"reasoning_tokens": max(tokens - 5, 0)},
            "total_tokens": 100 + tokens,
        },
    }


def _error(status: int, message: str, param: str | None, code: str | None) -> web.Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return web.json_response({"error": error}, status=status)
