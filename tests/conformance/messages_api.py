"""An imitation of Anthropic's Messages API as documented, over a loopback socket: it counts tokens and keeps a cache.

From platform.claude.com/docs (api/messages, api/errors, build-with-claude/prompt-caching, .../structured-outputs,
.../batch-processing, .../handling-stop-reasons), read in November 2026; it was never compared with the live API. A
token is four characters of the prompt. What the documentation leaves open is strict here.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

KEY = "sk-ant-conformance-0123456789"
FLAGGED = "the knife in the drawer"
"""Words that the safety classifier refuses."""

LEAST = {
    "claude-opus-5": 512,
    "claude-sonnet-4-6": 1024,
    "claude-sonnet-5": 1024,
    "claude-opus-4-7": 2048,
    "claude-haiku-4-5": 4096,
}
"""Model -> the minimum cacheable prompt length in tokens."""

TTL = 300.0
LOOKBACK = 20
_NO_SAMPLING = ("claude-opus-4-7", "claude-opus-5", "claude-sonnet-5")
_ALIASES = {"claude-haiku-4-5": "claude-haiku-4-5-20251001"}
_FIELDS = frozenset(
    {"model", "max_tokens", "messages", "system", "temperature", "top_p", "top_k", "stop_sequences", "thinking"}
    | {"output_config", "service_tier", "metadata", "inference_geo", "stream", "tools", "tool_choice", "cache_control"}
)
_UNSUPPORTED = frozenset({"minimum", "maximum", "multipleOf", "minLength", "maxLength"})

Reply = tuple[int, dict[str, str], dict[str, Any]]


def failure(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An error as the API words it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def invalid(message: str) -> Reply:
    """A 400."""
    return failure(400, "invalid_request_error", message)


OVERLOADED = failure(529, "overloaded_error", "Overloaded")
BROKE = invalid("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.")
SLOW_DOWN = failure(
    429,
    "rate_limit_error",
    "This request would exceed the rate limit for your organization of 50 requests per minute.",
    retry_after="0",
)


@dataclass(slots=True)
class Called:
    """One request: its body, its usage, and when it came and was answered."""

    body: dict[str, Any]
    came: float
    answered: float = 0.0
    usage: dict[str, Any] = field(default_factory=dict)


class MessagesServer:
    """One server, listening. `faults` gets the number of a request and its body, and may answer in its place."""

    def __init__(self, *, delay: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.delay = delay
        self.clock = clock
        self.calls: list[Called] = []
        self.counts: Counter[str] = Counter()
        self.faults: Callable[[int, dict[str, Any]], Reply | None] = lambda _number, _body: None
        self.batches: dict[str, dict[str, Any]] = {}
        self.results: dict[str, list[dict[str, Any]]] = {}
        self.batch_outcome: Callable[[int], str] = lambda _place: "succeeded"
        self.lost_replies = 0
        self._cache: dict[tuple[Any, ...], float] = {}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._listen()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        """As it stands in run.yaml."""
        return f"http://127.0.0.1:{self.port}"

    def total(self, name: str) -> int:
        """A count of `usage` over all answered requests."""
        return sum(call.usage.get(name, 0) for call in self.calls)

    @property
    def paid_in_full(self) -> int:
        """Uncached tokens and tokens written into the cache, over all answered requests."""
        return self.total("input_tokens") + self.total("cache_creation_input_tokens")

    async def _listen(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**28)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/{name}", self._model)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/messages/batches", self._create)
        app.router.add_get("/v1/messages/batches", self._list)
        app.router.add_get("/v1/messages/batches/{name}", self._retrieve)
        app.router.add_get("/v1/messages/batches/{name}/results", self._results)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._end.wait()
        await runner.cleanup()

    def _stranger(self, request: web.Request) -> web.Response | None:
        given = request.headers.get("x-api-key")
        if given is None:
            return _sent(failure(401, "authentication_error", "x-api-key header is required"))
        if given != KEY:
            return _sent(failure(401, "authentication_error", "invalid x-api-key"))
        if request.headers.get("anthropic-version") != "2023-06-01":
            return _sent(invalid("anthropic-version: header is required"))
        return None

    async def _models(self, request: web.Request) -> web.Response:
        self.counts["models"] += 1
        names = [{"type": "model", "id": _ALIASES.get(name, name), "display_name": name} for name in LEAST]
        return self._stranger(request) or web.json_response({"data": names, "has_more": False})

    async def _model(self, request: web.Request) -> web.Response:
        self.counts["model"] += 1
        name = request.match_info["name"]
        if (stranger := self._stranger(request)) is not None:
            return stranger
        if name not in LEAST and name not in _ALIASES.values():
            return _sent(failure(404, "not_found_error", f"model: {name}"))
        told = {"type": "model", "id": _ALIASES.get(name, name), "display_name": name, "max_tokens": 64000}
        return web.json_response(told)

    async def _messages(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        self.counts["messages"] += 1
        reply = self._stranger(request)
        refusal = self.faults(self.counts["messages"], body) or refusal_of(body)
        if reply is not None or refusal is not None:
            return reply or _sent(refusal)  # type: ignore[arg-type]
        call = Called(body, self.clock())
        self.calls.append(call)
        # What it finds is what there is when the request comes; what it writes is there once its answer begins.
        call.usage, written = self._usage(body)
        await asyncio.sleep(self.delay)
        call.answered = self.clock()
        self._cache |= dict.fromkeys(written, call.answered)
        return web.json_response(message(body, call.usage))

    def _usage(self, body: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
        """The tokens of a request by how they are charged, and the cache entries that it writes."""
        blocks = list(_blocks(body))
        least = LEAST[body["model"]]
        shape = (body["model"], json.dumps(body.get("output_config")), json.dumps(body.get("thinking")))
        prefixes = [(*shape, "".join(text for text, _ in blocks[: place + 1])) for place in range(len(blocks))]
        sizes = [len(prefix[-1]) // 4 for prefix in prefixes]
        points = [place for place, (_, marked) in enumerate(blocks) if marked and sizes[place] >= least]
        found = next((place for point in reversed(points) for place in self._hits(prefixes, point)), None)
        now = self.clock()
        read = sizes[found] if found is not None else 0
        for point in points:
            if found is not None and point <= found and prefixes[point] in self._cache:
                self._cache[prefixes[point]] = now
        new = [point for point in points if found is None or point > found]
        written = sizes[new[-1]] - read if new else 0
        usage = {
            "input_tokens": sizes[-1] - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": 12,
        }
        return usage, [prefixes[point] for point in new]

    def _hits(self, prefixes: list[tuple[Any, ...]], point: int) -> Iterator[int]:
        """Entries at a cache point or up to twenty blocks before it, the longest first."""
        for place in range(point, max(point - LOOKBACK, -1), -1):
            if self.clock() - self._cache.get(prefixes[place], -TTL) < TTL:
                yield place

    async def _create(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        if (stranger := self._stranger(request)) is not None:
            return stranger
        self.counts["batches"] += 1
        refusal = self.faults(self.counts["batches"], body)
        names = [one["custom_id"] for one in body["requests"]]
        if refusal is None and not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names):
            refusal = invalid("requests.0.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
        if refusal is None and len(set(names)) < len(names):
            refusal = invalid("requests: custom_id must be unique")
        if refusal is not None:
            return _sent(refusal)
        name = f"msgbatch_{len(self.batches) + 1:04d}"
        counted = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        self.batches[name] = {
            "id": name,
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": counted | {"processing": len(names)},
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "ended_at": None,
            "results_url": None,
        }
        self.results[name] = [
            {"custom_id": one["custom_id"], "result": self._result(place, one["params"])}
            for place, one in enumerate(body["requests"])
        ]
        if self.lost_replies:
            self.lost_replies -= 1
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(self.batches[name])

    def _result(self, place: int, params: dict[str, Any]) -> dict[str, Any]:
        outcome = self.batch_outcome(place)
        refusal = refusal_of(params)
        if refusal is not None:
            return {"type": "errored", "error": refusal[2]}
        if outcome == "errored":
            return {"type": "errored", "error": failure(500, "api_error", "Internal server error")[2]}
        if outcome != "succeeded":
            return {"type": outcome}
        usage, written = self._usage(params)
        self._cache |= dict.fromkeys(written, self.clock())
        return {"type": "succeeded", "message": message(params, usage)}

    def end_batches(self) -> None:
        """All batches are processed."""
        for name, batch in self.batches.items():
            counted = Counter(row["result"]["type"] for row in self.results[name])
            batch["request_counts"] = {kind: counted.get(kind, 0) for kind in batch["request_counts"]}
            batch |= {"processing_status": "ended", "ended_at": "2026-11-22T09:00:00Z"}
            batch["results_url"] = f"{self.url}/v1/messages/batches/{name}/results"

    async def _list(self, request: web.Request) -> web.Response:
        if (stranger := self._stranger(request)) is not None:
            return stranger
        newest = list(reversed(self.batches.values()))
        after = request.query.get("after_id")
        if after is not None:
            newest = newest[[batch["id"] for batch in newest].index(after) + 1 :]
        page = newest[: int(request.query.get("limit", 20))]
        last = page[-1]["id"] if page else None
        return web.json_response({"data": page, "has_more": len(page) < len(newest), "last_id": last})

    async def _retrieve(self, request: web.Request) -> web.Response:
        if (stranger := self._stranger(request)) is not None:
            return stranger
        batch = self.batches.get(request.match_info["name"])
        if batch is None:
            return _sent(failure(404, "not_found_error", "Message Batch not found"))
        return web.json_response(batch)

    async def _results(self, request: web.Request) -> web.Response:
        if (stranger := self._stranger(request)) is not None:
            return stranger
        name = request.match_info["name"]
        if self.batches.get(name, {}).get("results_url") is None:
            return _sent(failure(404, "not_found_error", "results are not available yet"))
        # Results may come in another order than the requests.
        lines = "".join(json.dumps(row) + "\n" for row in reversed(self.results[name]))
        return web.Response(text=lines, content_type="application/x-jsonl")


def refusal_of(body: dict[str, Any]) -> Reply | None:
    """How the documentation says that a request is refused; None where it is taken."""
    for name in body:
        if name not in _FIELDS:
            return invalid(f"{name}: Extra inputs are not permitted")
    for name in ("model", "max_tokens", "messages"):
        if body.get(name) is None:
            return invalid(f"{name}: Field required")
    if body["model"] not in LEAST and body["model"] not in _ALIASES.values():
        return failure(404, "not_found_error", f"model: {body['model']}")
    return _of_messages(body) or _of_settings(body)


def _of_messages(body: dict[str, Any]) -> Reply | None:
    if body["messages"][0]["role"] not in ("user", "assistant"):
        return invalid('messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter')
    if body["messages"][-1]["role"] == "assistant":
        return invalid("This model does not support assistant message prefill.")
    marked = 0
    for text, point in _blocks(body):
        marked += point
        if not text:
            return invalid("messages: text content blocks must be non-empty")
        if not text.strip():
            return invalid("messages: text content blocks must contain non-whitespace text")
    if marked > 4:
        return invalid(f"A maximum of 4 blocks with cache_control may be provided. Found {marked}.")
    return None


def _of_settings(body: dict[str, Any]) -> Reply | None:
    sampled = [name for name in ("temperature", "top_p", "top_k") if name in body]
    if body["model"] in _NO_SAMPLING and sampled:
        return invalid(f"`{sampled[0]}` is deprecated for this model.")
    if "temperature" in body and "top_p" in body:
        return invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
    if body.get("temperature", 0) > 1:
        return invalid("temperature: range: 0..1")
    thinking = body.get("thinking", {}).get("type")
    if thinking == "enabled" and body["model"] in _NO_SAMPLING:
        return invalid(
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        )
    if thinking in ("enabled", "adaptive") and body.get("temperature", 1) != 1:
        return invalid("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.")
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    if schema is not None and (schema.get("additionalProperties") is not False or _UNSUPPORTED & _keys(schema)):
        return invalid("output_config.format.schema: the schema uses a feature that is not supported")
    return None


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(_keys(one) for one in value.values()))
    return set().union(*(_keys(one) for one in value)) if isinstance(value, list) else set()


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """(text, whether a cache point stands behind it) of all blocks, in the order in which they are cached."""
    for content in (body.get("system") or [], *(turn["content"] for turn in body["messages"])):
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if "cache_control" in block:
                assert block["cache_control"] == {"type": "ephemeral"}
            yield block["text"], "cache_control" in block


def prompt_of(body: dict[str, Any]) -> str:
    """The whole text of a request, as the model reads it."""
    return "".join(text for text, _ in _blocks(body))


def message(body: dict[str, Any], usage: dict[str, Any]) -> dict[str, Any]:
    """An answer: every story is rated 4, in the asked form; thinking stands before it where it was asked for."""
    said: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    if FLAGGED in prompt_of(body):
        details = {"type": "refusal", "category": None, "explanation": None}
        return said | {"content": [], "stop_reason": "refusal", "stop_details": details, "usage": usage}
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    text = "Rating: 4"
    if schema is not None:
        text = json.dumps({name: 4 if name == "rating" else "It holds together." for name in schema["properties"]})
    content = [{"type": "text", "text": text}]
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        thought = {"type": "thinking", "thinking": "The ending is weak, so a 2 at first.", "signature": "c2ln"}
        content = [thought, {"type": "redacted_thinking", "data": "eA=="}, *content]
        usage = usage | {"output_tokens_details": {"thinking_tokens": 8}}
    return said | {"content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


def _sent(reply: Reply) -> web.Response:
    status, headers, body = reply
    return web.json_response(body, status=status, headers=headers)
