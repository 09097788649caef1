"""The server that a benchmark asks: ours, or another mock program. Never asks anything but its counters."""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.server.loopback import LoopbackServer

TTL = 1800.0


class Target(Protocol):
    """What benchmarks need of a server. `url` ends in /v1."""

    url: str

    def stats(self) -> dict[str, Any]:
        """Counters since the start or the last reset."""
        ...

    def configure(self, **settings: Any) -> object:
        """Change settings while it runs."""
        ...

    def reset(self) -> None:
        """Zero the counters."""
        ...


class MockServer:
    """Another mock program in a process of its own, told its settings by flags (`latency_ms` -> `--latency-ms`)."""

    def __init__(self, script: Path, **settings: Any) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        flags = [text for key, value in settings.items() for text in (f"--{key.replace('_', '-')}", str(value))]
        command = [sys.executable, str(script), "--port", str(self.port), "--ttl", str(TTL), *flags]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}/v1"
        end = time.monotonic() + 10
        while True:
            try:
                self.stats()
                return
            except OSError:
                if time.monotonic() > end or self._process.poll() is not None:
                    self.stop()
                    raise
                time.sleep(0.02)

    def stats(self) -> dict[str, Any]:
        """Counters since the start or the last reset."""
        answer: dict[str, Any] = self._call("GET", "/stats")
        return answer

    def configure(self, **settings: Any) -> object:
        """Change settings while it runs."""
        return self._call("POST", "/config", settings)

    def reset(self) -> None:
        """Zero the counters."""
        self._call("POST", "/reset", {})

    def stop(self) -> None:
        """End the process."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()

    def _call(self, method: str, path: str, body: object = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


@contextmanager
def open_target(given: argparse.Namespace, **settings: Any) -> Iterator[Target]:
    """Start the server that the options name, and end it afterwards."""
    if given.server == "mock":
        server: MockServer | LoopbackServer = MockServer(given.mock_script, **settings)
    else:
        server = LoopbackServer(ttl=TTL, **settings)
    try:
        yield server
    finally:
        server.stop()
