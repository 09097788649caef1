"""A loopback server that says what a test wants it to say, and keeps what it was sent. No protocol of its own."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

ANSWER = {"role": "assistant", "content": "Rating: 4"}


def answer(**changes: Any) -> bytes:
    """A proper chat answer; `changes` go into the message, but for those of the whole body."""
    whole = {name: changes.pop(name) for name in ("model", "finish_reason", "logprobs") if name in changes}
    choice = {"index": 0, "message": ANSWER | changes, "finish_reason": whole.get("finish_reason", "stop")}
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    return json.dumps({"model": whole.get("model", "mock"), "choices": [choice], "usage": usage}).encode()


@dataclass
class Reply:
    """What is said to every request for an answer from the `healthy`-th on; before that, proper answers."""

    status: int = 200
    body: bytes = field(default_factory=answer)
    headers: dict[str, str] = field(default_factory=dict)
    healthy: int = 0
    models: tuple[str, ...] = ("mock",)


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that went away is no news."""


class EchoServer:
    """A server in a thread. `received` holds the head and the body of every request."""

    def __init__(self) -> None:
        self.reply = Reply()
        self.received: list[str] = []
        self.asked = 0
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def start(self, reply: Reply) -> None:
        """Forget what was received and say this from now on."""
        self.reply, self.asked = reply, 0
        self.received.clear()

    def say(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Answer one request."""
        self.received.append(f"{handler.requestline}\n{handler.headers}\n{body.decode('utf-8', 'replace')}")
        if handler.command == "POST":
            self.asked += 1
            reply = self.reply if self.asked > self.reply.healthy else Reply()
        elif handler.path.partition("?")[0].endswith("/models"):
            reply = Reply(body=json.dumps({"data": [{"id": name} for name in self.reply.models]}).encode())
        else:
            reply = Reply(404, b"{}")
        handler.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(reply.body)))
        handler.end_headers()
        handler.wfile.write(reply.body)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner.say(self, b"")

            def do_POST(self) -> None:
                owner.say(self, self.rfile.read(int(self.headers.get("content-length") or 0)))

            def log_message(self, *_: object) -> None:
                """Say nothing on stderr."""

        return Handler
