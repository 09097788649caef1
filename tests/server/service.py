"""What the loopback server does with a request: routes, refusals, faults, answers. Never touches a socket itself."""

from __future__ import annotations

import asyncio
import dataclasses
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson

from tests.server import answers, refusals
from tests.server.batches import BatchStore
from tests.server.connection import Connection
from tests.server.ledger import Arrival, Ledger
from tests.server.settings import USUAL_MODELS, Settings

_PREFIX = 1024  # characters of a prompt that count as its cacheable head


@dataclass(slots=True)
class Exchange:
    """One completion request on its way."""

    connection: Connection
    request: dict[str, Any]
    digest: bytes
    size: int
    chat: bool
    cached: int
    fault: str | None
    arrival: Arrival | None
    timer: asyncio.TimerHandle | None = None


class Service:
    """One server's settings, ledger and requests in flight."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._initial = dataclasses.replace(settings)
        self._waiting: dict[Connection, Exchange] = {}
        self._loop = asyncio.get_running_loop()
        self._label: re.Pattern[bytes] | None = None
        self._reset()

    def _reset(self) -> None:
        self.ledger = Ledger()
        self.batches = BatchStore(self.settings, self._batch_line)
        self._random = random.Random(self.settings.seed)
        self._configured()

    def _configured(self) -> None:
        self._shares = self.settings.fault_shares()
        self._label = re.compile(self.settings.label.encode()) if self.settings.label else None

    # -- what a connection tells ---------------------------------------------------------------------------------------

    def gone(self, connection: Connection) -> None:
        """The client went away while its request was waiting."""
        exchange = self._waiting.pop(connection, None)
        if exchange is not None:
            self.ledger.counts["disconnects"] += 1
            if exchange.timer is not None:
                exchange.timer.cancel()

    def handle(self, connection: Connection, head: bytes, body: bytes) -> None:
        """Route one request."""
        method, target, *_ = head.split(b"\r\n", 1)[0].split(b" ")
        path = target.split(b"?", 1)[0]
        wanted = self.settings.wants_query
        if method == b"POST" and wanted is not None and wanted.encode() not in target.partition(b"?")[2]:
            self.ledger.counts["other"] += 1
            connection.reply(404, orjson.dumps({"error": {"code": "404", "message": "Resource not found"}}))
        elif method == b"POST" and path.endswith(b"/completions"):
            self._complete(connection, head, body, chat=path.endswith(b"/chat/completions"))
        elif path.startswith((b"/v1/files", b"/v1/batches")):
            self._batch(connection, method, target, head, body)
        elif path == b"/v1/models" and method == b"GET":
            self._models(connection, head)
        elif (method, path) in _ROUTES:
            try:
                connection.reply(200, orjson.dumps(_ROUTES[method, path](self, body)))
            except (ValueError, TypeError) as problem:
                connection.reply(400, orjson.dumps({"error": {"message": str(problem), "type": "settings"}}))
        else:
            self.ledger.counts["other"] += 1
            connection.reply(*answers.error("not_found"))

    # -- the small routes ----------------------------------------------------------------------------------------------

    def _models(self, connection: Connection, head: bytes) -> None:
        if self.settings.models_delay_s:
            self._loop.call_later(self.settings.models_delay_s, self._list_models, connection, head)
        else:
            self._list_models(connection, head)

    def _list_models(self, connection: Connection, head: bytes) -> None:
        if not self.settings.models_route:
            connection.reply(*answers.error("not_found"))
        elif self.settings.models_status != 200:
            connection.reply(*answers.error("invalid_api_key", status=self.settings.models_status))
        elif not self._key_fits(head):
            connection.reply(*answers.error("invalid_api_key"))
        else:
            names = USUAL_MODELS if self.settings.models is None else self.settings.models
            rows = [{"id": name, "object": "model", "created": 0, "owned_by": "loopback"} for name in names]
            connection.reply(200, orjson.dumps({"object": "list", "data": rows}))

    def stats(self, _body: bytes = b"") -> dict[str, Any]:
        """Counters and settings."""
        return {**self.ledger.stats(len(self._waiting)), **self.batches.stats(), "settings": self.settings.as_dict()}

    def reset(self, body: bytes = b"") -> dict[str, Any]:
        """Zero the ledger and restart the random draws; with {"settings": true} also restore the initial settings."""
        if body and orjson.loads(body).get("settings"):
            self.settings = dataclasses.replace(self._initial)
        self._reset()
        self._release()
        return self.settings.as_dict()

    def configure(self, body: bytes) -> dict[str, Any]:
        """Change settings. A new seed restarts the random draws."""
        changes = orjson.loads(body)
        self.settings.update(changes)
        self._configured()
        if "seed" in changes:
            self._random = random.Random(self.settings.seed)
        self._release()
        return self.settings.as_dict()

    def _release(self) -> None:
        """Let go what was held, once it is held no longer."""
        if not self.settings.hold:
            for exchange in list(self._waiting.values()):
                if exchange.timer is None:
                    self._schedule(exchange)

    def _recorded(self, _body: bytes) -> list[Any]:
        return [orjson.loads(each) for each in self.ledger.bodies]

    def _arrivals(self, _body: bytes) -> list[Any]:
        return self.ledger.arrival_list()

    # -- files and batches ---------------------------------------------------------------------------------------------

    def _batch(self, connection: Connection, method: bytes, target: bytes, head: bytes, body: bytes) -> None:
        if not self._key_fits(head):
            connection.reply(*answers.error("invalid_api_key"))
            return
        self.batches.settings = self.settings
        step, status, reply = self.batches.reply(method.decode(), target.decode(), head, body)
        lost, _, how = (self.settings.batch_lost or "").partition(":")
        if lost == step:
            self.settings.batch_lost = None
            if how == "drop":
                connection.close()
            return  # The step is done and nobody is told: "hang" leaves the client waiting.
        connection.reply(status, reply)

    def _batch_line(self, request: dict[str, Any], chat: bool) -> tuple[int, bytes]:
        """Status and body for one line of a batch, as a live request would get them."""
        content = request["messages"] if chat else request["prompt"]
        size = answers.prompt_length(request)
        refusal = self._refusal(b"authorization: bearer " + (self.settings.require_key or "").encode(), request, size)
        if refusal is not None:
            return refusal
        digest = blake2b(orjson.dumps(content), digest_size=12).digest()
        return 200, answers.completion(self.settings, request, digest, size, chat=chat, cached=0)

    # -- completions ---------------------------------------------------------------------------------------------------

    def _complete(self, connection: Connection, head: bytes, body: bytes, *, chat: bool) -> None:
        ledger, counts = self.ledger, self.ledger.counts
        ledger.last_request = now = time.monotonic()
        if ledger.first_request is None:
            ledger.first_request = now
        counts["requests"] += 1
        counts["body_bytes"] += len(body)
        if not connection.used:
            connection.used = True
            counts["connections"] += 1
        if len(ledger.bodies) < self.settings.record:
            ledger.bodies.append(body)
        arrival = None
        if self._label is not None:
            found = self._label.search(body)
            arrival = Arrival(found.group().decode() if found else None, now)
            ledger.arrivals.append(arrival)
        try:
            request = orjson.loads(body)
            content = request["messages"] if chat else request["prompt"]
            last = content[-1]["content"] if chat else content
            size = answers.prompt_length(request)
        except (ValueError, LookupError, TypeError):
            connection.reply(*answers.error("invalid_json"))
            return
        digest = blake2b(orjson.dumps(content), digest_size=12).digest()
        refusal = self._refusal(head, request, size) or self._special(body)
        if refusal is not None:
            counts["refused"] += 1
            more = answers.retry_after(self.settings) if refusal[0] in (429, 503) else b""
            if self.settings.refusal_ms:
                self._loop.call_later(self.settings.refusal_ms / 1000, connection.reply, *refusal, more)
            else:
                connection.reply(*refusal, more)
            return
        if (
            ledger.given.get((digest, request.get("seed"), request.get("model", "")), 0)
            >= self.settings.expected_repeats
        ):
            counts["repeats_after_answer"] += 1
        attempt = ledger.prompts.get(digest, 0)
        ledger.prompts[digest] = attempt + 1
        fault = self._draw(digest, attempt)
        exchange = Exchange(connection, request, digest, size, chat, self._cached(last, size), fault, arrival)
        self._waiting[connection] = exchange
        counts["max_in_flight"] = max(counts["max_in_flight"], len(self._waiting))
        if not self.settings.hold:
            self._schedule(exchange)

    def _key_fits(self, head: bytes) -> bool:
        wanted = self.settings.require_key
        return (
            wanted is None
            or re.search(rb"(?im)^authorization: *bearer +" + re.escape(wanted.encode()) + rb"\s*$", head + b"\n")
            is not None
        )

    def _refusal(self, head: bytes, request: dict[str, Any], size: int) -> tuple[int, bytes] | None:
        """The error that the settings ask for, whatever is drawn; None where the request may go on."""
        settings = self.settings
        if not self._key_fits(head):
            return answers.error("invalid_api_key")
        if settings.models is not None and request.get("model") not in settings.models:
            return answers.error("model_not_found", model=request.get("model"))
        if settings.max_context_chars is not None and size > settings.max_context_chars:
            return answers.error("context_length_exceeded", limit=settings.max_context_chars, found=size)
        if settings.reject_n and (request.get("n") or 1) > 1:
            return answers.error("unsupported_n")
        for name in settings.refuses:
            if name in request and not (name == "temperature" and request[name] == 1):
                return refusals.refusal(settings.refusal_form, name, request[name])
        if settings.fail_all and settings.fail_all.get("status"):
            return answers.error(settings.fail_all.get("kind", "server_error"), status=settings.fail_all["status"])
        if settings.quota is not None and self.ledger.counts["answered"] + len(self._waiting) >= settings.quota:
            return answers.error("insufficient_quota")
        if settings.max_concurrency is not None and len(self._waiting) >= settings.max_concurrency:
            return answers.error("rate_limit_exceeded")
        return None

    def _special(self, body: bytes) -> tuple[int, bytes] | None:
        """The reply that the settings keep for such a request, or for its turn."""
        count = self.ledger.counts["requests"]
        for one in self.settings.special:
            text, every, after = one.get("contains"), one.get("every"), one.get("after")
            if text is not None and text.encode() not in body:
                continue
            if (every is None or count % every == 0) and (after is None or count > after):
                return one["status"], orjson.dumps(one["body"])
        return None

    def _draw(self, digest: bytes, attempt: int) -> str | None:
        """The fault of this request, if any."""
        settings = self.settings
        if settings.fail_all:
            return str(settings.fail_all.get("kind"))
        if not self._shares:
            return None
        if settings.fault_mode == "request":
            place = self._random.random()
        elif settings.fault_mode == "first" and attempt >= settings.fault_attempts:
            return None
        else:
            place = int.from_bytes(blake2b(digest, digest_size=6, salt=b"fault").digest(), "big") / 2**48
        for name, share in self._shares:
            place -= share
            if place < 0:
                return name
        return None

    def _cached(self, text: Any, size: int) -> int:
        """Tokens of the prompt's head that an earlier prompt had too, as a server with a prefix cache would count."""
        if size < _PREFIX or not isinstance(text, str):
            return 0
        head = hash(text[:_PREFIX])
        if head in self.ledger.prefixes:
            return min(size, _PREFIX) // 4
        self.ledger.prefixes.add(head)
        return 0

    def _schedule(self, exchange: Exchange) -> None:
        """Answer at once or after the latency."""
        delay = self.settings.latency_ms / 1000
        if not self.ledger.counts["answered"]:
            delay += self.settings.first_delay_s
        if self.settings.jitter_ms:
            delay += self._random.random() * self.settings.jitter_ms / 1000
        if exchange.fault == "hang":
            delay += self.settings.hang_s
            self.ledger.faults["hang"] += 1  # now: the client may be gone before the answer is due
        if delay > 0:
            exchange.timer = self._loop.call_later(delay, self._finish, exchange)
        else:
            self._finish(exchange)

    def _finish(self, exchange: Exchange) -> None:
        """Send the answer or its fault."""
        ledger, connection, fault = self.ledger, exchange.connection, exchange.fault
        self._waiting.pop(connection, None)
        if fault not in (None, "hang"):
            ledger.faults[fault] = ledger.faults.get(fault, 0) + 1
            if fault in answers.FAULT_ERRORS:
                extra = b"" if fault == "500" else answers.retry_after(self.settings)
                connection.reply(*answers.error(answers.FAULT_ERRORS[fault]), extra)
                return
            if fault == "garbage":
                connection.reply(200, answers.GARBAGE)
                return
            if fault == "drop":
                connection.close()
                return
        body = answers.completion(
            self.settings, exchange.request, exchange.digest, exchange.size, chat=exchange.chat, cached=exchange.cached
        )
        if fault == "truncate_body":
            connection.reply(200, body[: len(body) // 2], declared=len(body))
            return
        self._count(exchange)
        connection.reply(200, body, b"x-request-id: req_" + exchange.digest.hex().encode() + b"\r\n")

    def _count(self, exchange: Exchange) -> None:
        """Enter a proper answer."""
        ledger, request = self.ledger, exchange.request
        choices = 1 if self.settings.ignore_n else int(request.get("n") or 1)
        key = (exchange.digest, request.get("seed"), request.get("model", ""))
        ledger.given[key] = ledger.given.get(key, 0) + choices
        ledger.answered_prompts.add(exchange.digest)
        ledger.counts["answered"] += 1
        ledger.counts["choices"] += choices
        ledger.last_answer = time.monotonic()
        if exchange.arrival is not None:
            exchange.arrival.answered = ledger.last_answer


_ROUTES: dict[tuple[bytes, bytes], Callable[[Service, bytes], Any]] = {
    (b"GET", b"/health"): lambda _service, _body: {"ok": True},
    (b"GET", b"/version"): lambda _service, _body: {"version": "loopback/1"},
    (b"GET", b"/stats"): Service.stats,
    (b"GET", b"/requests"): Service._recorded,
    (b"GET", b"/arrivals"): Service._arrivals,
    (b"POST", b"/reset"): Service.reset,
    (b"POST", b"/config"): Service.configure,
}
