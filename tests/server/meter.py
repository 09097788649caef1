"""A small server on loopback that bills tokens as providers do, and says so in the words of one of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

Usage = Callable[[int, int], dict[str, Any]]
"""What `usage` says of (prompt tokens, answer tokens)."""


def plain(prompt: int, completion: int) -> dict[str, Any]:
    """As OpenAI says it."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


class Meter:
    """What was billed. `n` is what the server does with it: honour, ignore or refuse. `delay` holds each answer up."""

    def __init__(self, *, n: str = "honour", usage: Usage = plain, per_prompt: int | None = None) -> None:
        self.n = n
        self.usage = usage
        self.per_prompt = per_prompt
        self.delay = 0.0
        self.calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.url = ""
        self._lock = threading.Lock()

    def texts(self, prompt: str, count: int) -> list[str]:  # noqa: ARG002  others answer by it
        """The answers to a request of so many."""
        return [f"Rating: {i % 5 + 1}\nIt holds together." for i in range(1 if self.n == "ignore" else count)]

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and body."""
        count = int(request.get("n") or 1)
        if count > 1 and self.n == "refuse":
            return 400, {"error": {"message": "n: must be 1", "type": "invalid_request_error", "param": "n"}}
        texts = self.texts("\n".join(message["content"] for message in request["messages"]), count)
        words = sum(len(message["content"].split()) for message in request["messages"])
        prompt = self.per_prompt or words * 4 // 3
        completion = sum(len(text.split()) for text in texts)
        with self._lock:
            self.calls += 1
            self.prompt_tokens += prompt
            self.completion_tokens += completion
        choices = [
            {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for i, text in enumerate(texts)
        ]
        return 200, {"model": request["model"], "choices": choices, "usage": self.usage(prompt, completion)}


Served = TypeVar("Served", bound=Meter)


@contextmanager
def metered(**settings: Any) -> Iterator[Meter]:
    """A running server, for as long as the block lasts."""
    with serving(Meter(**settings)) as meter:
        yield meter


@contextmanager
def serving(meter: Served) -> Iterator[Served]:
    """A meter on loopback, for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(meter))
    server.daemon_threads = True
    meter.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield meter
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(meter: Meter) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # header and body in one packet: apart, the second waits for the client's word on the first

        def do_GET(self) -> None:
            self._reply(200, {"data": [{"id": name} for name in ("mock", "gpt-4o-mini", "own")]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if meter.delay:
                threading.Event().wait(meter.delay)
            self._reply(*meter.answer(request))

        def _reply(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
