"""An imitation of Gemini's own API on loopback: models, generateContent, files and batches. Every story is rated 4.

It follows documentation and public threads (see `gemini_rules`) and was never compared with the live endpoint. Tokens
are counted as four characters each; a prefix that an answered request had is read from the implicit cache.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.conformance.gemini_batches import Batches
from tests.conformance.gemini_rules import Reply, invalid, refused
from tests.conformance.providers import FLAGGED, GEMINI_DAY, GEMINI_MINUTE
from tests.conformance.server import Listening

KEY = "AIza-conformance-0123456789"
MODELS = ("gemini-2.5-flash", "gemini-2.5-pro", "gemini-3.5-flash")
THOUGHTS = "It holds together; four is right."
CACHE_FROM = 1024
"""Tokens from which a prefix is kept (ai.google.dev/gemini-api/docs/caching, for 2.5 Flash)."""


@dataclass(slots=True)
class Behaviour:
    """What goes wrong. Every `limit_every`-th request is one too many in its minute; after `day_after` answers the
    day's quota is used up; `block` is how the story that holds FLAGGED is stopped; `overload_every` as `limit_every`;
    `thinking` tokens go before every answer."""

    limit_every: int = 0
    overload_every: int = 0
    day_after: int | None = None
    block: str = "prompt:PROHIBITED_CONTENT"
    thinking: int = 12
    lenient: bool = False
    refused_location: bool = False


class GeminiImitated(Listening):
    """The imitation, listening; `requests` are the bodies that were answered or blocked, `keys` what came as a key."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        super().__init__()
        self.behaviour = behaviour or Behaviour()
        self.requests: list[dict[str, Any]] = []
        self.addresses: list[str] = []
        self.batches = Batches(self.answer)
        self._prefixes: list[str] = []

    @property
    def base_url(self) -> str:
        """As it stands in run.yaml."""
        return f"http://127.0.0.1:{self.port}/v1beta"

    def _routes(self, app: web.Application) -> None:
        app.router.add_get("/v1beta/models", self._models)
        app.router.add_post("/v1beta/models/{asked}", self._post)
        app.middlewares.append(self._door)
        self.batches.routes(app)

    @web.middleware
    async def _door(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """No request without a key, none with the key in its address, none in another provider's way."""
        self.addresses.append(str(request.rel_url))
        given = request.headers.get("x-goog-api-key")
        if "Authorization" in request.headers or "key" in request.query or given is None:
            said = "Method doesn't allow unregistered callers (callers without established identity)."
            return _sent((403, {}, {"error": {"code": 403, "message": said, "status": "PERMISSION_DENIED"}}))
        if given != KEY:
            status, headers, body = invalid("API key not valid. Please pass a valid API key.")
            body["error"]["details"] = [
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            ]
            return _sent((status, headers, body))
        return await handler(request)

    async def _models(self, request: web.Request) -> web.Response:
        self.counts["models"] += 1
        most = int(request.query.get("pageSize", 50))
        entries = [
            {"name": f"models/{name}", "version": "001", "supportedGenerationMethods": ["generateContent"]}
            for name in MODELS
        ]
        return web.json_response({"models": entries[:most]})

    async def _post(self, request: web.Request) -> web.Response:
        model, _, method = request.match_info["asked"].partition(":")
        body = json.loads(await request.read())
        if model not in MODELS:
            said = f"models/{model} is not found for API version v1beta, or is not supported for generateContent."
            return _sent((404, {}, {"error": {"code": 404, "message": said, "status": "NOT_FOUND"}}))
        if method == "batchGenerateContent":
            return self.batches.create(model, body)
        if method != "generateContent":
            return _sent((404, {}, {"error": {"code": 404, "message": "Not found", "status": "NOT_FOUND"}}))
        self.counts["requests"] += 1
        return _sent(self._limited() or self.answer(model, body))

    def _limited(self) -> Reply | None:
        told, number = self.behaviour, self.counts["requests"]
        if told.refused_location:
            status, headers, body = invalid("User location is not supported for the API use.")
            body["error"]["status"] = "FAILED_PRECONDITION"
            return status, headers, body
        if told.day_after is not None and self.counts["answered"] >= told.day_after:
            return GEMINI_DAY[0], {}, GEMINI_DAY[2][0]
        if told.limit_every and number % told.limit_every == 0:
            return GEMINI_MINUTE[0], {}, GEMINI_MINUTE[2][0]
        if told.overload_every and number % told.overload_every == 0:
            said = "The model is overloaded. Please try again later."
            return 503, {}, {"error": {"code": 503, "message": said, "status": "UNAVAILABLE"}}
        return None

    def answer(self, model: str, body: dict[str, Any]) -> Reply:
        """Status, headers and body for one request, live or in a batch."""
        found = refused(model, body)
        if found is not None:
            self.counts["refused"] += 1
            return found
        self.requests.append(body)
        text = _text(body)
        usage = self._prompt(text)
        blocked = self._blocked(text)
        if blocked is not None:
            return 200, {}, {**blocked, "usageMetadata": usage, "modelVersion": model}
        self.counts["answered"] += 1
        config = body.get("generationConfig", {})
        candidates = [{"index": place, **self._candidate(config)} for place in range(config.get("candidateCount", 1))]
        usage |= self._spent(candidates, config)
        return 200, {}, {"candidates": candidates, "usageMetadata": usage, "modelVersion": model, "responseId": "r"}

    def _prompt(self, text: str) -> dict[str, int]:
        """Tokens of the prompt, and how many of them an earlier request had at its beginning."""
        shared = max((len(_common(text, one)) // 4 for one in self._prefixes), default=0)
        self._prefixes.append(text)
        cached = {"cachedContentTokenCount": shared} if shared >= CACHE_FROM else {}
        return {"promptTokenCount": len(text) // 4, "totalTokenCount": len(text) // 4, **cached}

    def _blocked(self, text: str) -> dict[str, Any] | None:
        if self.behaviour.lenient or FLAGGED not in text:
            return None
        where, _, reason = self.behaviour.block.partition(":")
        ratings = [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}]
        if where == "prompt":
            return {"promptFeedback": {"blockReason": reason, "safetyRatings": ratings}}
        if where == "candidate":
            return {"candidates": [{"index": 0, "finishReason": reason, "safetyRatings": ratings}]}
        if where == "begun":
            content = {"role": "model", "parts": [{"text": "Rating: "}]}
            return {"candidates": [{"index": 0, "content": content, "finishReason": reason}]}
        return {"candidates": []}

    def _candidate(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """One candidate; thinking counts towards maxOutputTokens and may use all of it up."""
        thinking = config.get("thinkingConfig", {})
        if config.get("maxOutputTokens", 10**6) <= self.behaviour.thinking:
            return {"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}
        parts: list[dict[str, Any]] = [{"text": _said(config)}]
        if thinking.get("includeThoughts") and self.behaviour.thinking:
            parts.insert(0, {"text": THOUGHTS, "thought": True})
        found: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        if config.get("responseLogprobs"):
            found["content"]["parts"] = [{"text": "4"}]
            tops = [{"token": str(point), "logProbability": -0.7 - abs(4 - point)} for point in range(1, 6)]
            found["logprobsResult"] = {
                "chosenCandidates": [{"token": "4", "logProbability": -0.7}],
                "topCandidates": [{"candidates": tops[: config["logprobs"]]}],
            }
        return found

    def _spent(self, candidates: list[dict[str, Any]], config: Mapping[str, Any]) -> dict[str, int]:
        words = [
            part["text"] for one in candidates for part in one["content"].get("parts", ()) if "thought" not in part
        ]
        thinking = min(self.behaviour.thinking, config.get("maxOutputTokens", 10**6)) * len(candidates)
        answer = sum(len(one) // 4 + 1 for one in words)
        # Counts of nothing are left out, as protocol buffers in JSON leave out zeros.
        told = {"candidatesTokenCount": answer, "thoughtsTokenCount": thinking}
        return {name: count for name, count in told.items() if count}


def _said(config: Mapping[str, Any]) -> str:
    if config.get("responseMimeType") == "application/json":
        schema = config["responseJsonSchema"]
        order = schema.get("propertyOrdering", sorted(schema["properties"]))
        values = {"rating": 4, "explanation": "It holds together."}
        return json.dumps({name: values[name] for name in order})
    if config.get("responseMimeType") == "text/x.enum":
        return "4"
    return "Rating: 4\nExplanation: it holds together."


def _text(body: Mapping[str, Any]) -> str:
    told = [body["systemInstruction"]] if "systemInstruction" in body else []
    return "\n".join(part["text"] for one in [*told, *body["contents"]] for part in one["parts"])


def _common(one: str, other: str) -> str:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return one[:count]


def _sent(reply: Reply) -> web.Response:
    status, headers, body = reply
    return web.json_response(body, status=status, headers=headers)
