"""The project's own OpenAI-compatible server on 127.0.0.1, with faults. It answers by a hash and judges nothing.

As a program (`python tests/server/loopback.py --port 0 --set latency_ms=200`) it prints one line of JSON with `url` and
`pid` once it listens, and ends after `--ttl` seconds. In tests use LoopbackServer, which runs it as its own process.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"


class LoopbackServer:
    """A loopback server in a process of its own, started by the constructor and ended by `stop` or leaving `with`.

    `url` is the base URL with `/v1`, as run.yaml's base_url wants it; `root` is the same without. Keyword arguments are
    the settings of `tests/server/settings.py`. The process also ends by itself after `ttl` seconds, or when the process
    that started it goes away.
    """

    def __init__(self, *, port: int = 0, ttl: float = 600.0, **settings: Any) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), "--port", str(port), "--ttl", str(ttl)]
        command += ["--settings", json.dumps(settings), "--until-stdin-closes"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._close_pipes()
            raise RuntimeError(f"the loopback server did not start (exit code {code})")
        ready = json.loads(line)
        self.url: str = ready["url"]
        self.root = self.url.removesuffix("/v1")
        self.port: int = ready["port"]
        self.pid: int = ready["pid"]

    def stats(self) -> dict[str, Any]:
        """Counters, faults, times and settings so far."""
        answer: dict[str, Any] = self._call("GET", "/stats")
        return answer

    def requests(self) -> list[dict[str, Any]]:
        """The first request bodies (as many as the setting `record` says), in order of arrival."""
        answer: list[dict[str, Any]] = self._call("GET", "/requests")
        return answer

    def arrivals(self) -> list[tuple[str | None, float, float | None]]:
        """With the setting `label`: label, time of arrival and time of proper answer of every request, in order."""
        return [(label, arrived, answered) for label, arrived, answered in self._call("GET", "/arrivals")]

    def configure(self, **settings: Any) -> dict[str, Any]:
        """Change settings while it runs; returns all of them. Raises ValueError for an unknown one."""
        answer: dict[str, Any] = self._call("POST", "/config", settings)
        return answer

    def reset(self, *, settings: bool = False) -> None:
        """Zero the counters and restart the draws; with `settings` also go back to the settings it was started with."""
        self._call("POST", "/reset", {"settings": settings})

    def wait(self, timeout: float = 10.0, **least: int) -> dict[str, Any]:
        """Wait until each named counter has reached its number; returns the stats. Raises TimeoutError."""
        end = time.monotonic() + timeout
        while True:
            stats = self.stats()
            if all(stats[name] >= number for name, number in least.items()):
                return stats
            if time.monotonic() > end:
                raise TimeoutError(f"waited {timeout:g} s for {least}, found { {name: stats[name] for name in least} }")
            time.sleep(0.002)

    def stop(self) -> None:
        """End the process. Safe to call twice."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._close_pipes()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Connection": "close"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"]["message"])
        return answer


async def serve(port: int, ttl: float, settings: Mapping[str, Any], *, until_stdin_closes: bool) -> None:
    """Listen on 127.0.0.1 until the time is up or standard input closes."""
    from tests.server.connection import Connection
    from tests.server.service import Service
    from tests.server.settings import Settings

    initial = Settings()
    initial.update(settings)
    service = Service(initial)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(service), HOST, port, backlog=4096)
    bound = server.sockets[0].getsockname()[1]
    over = asyncio.Event()
    if until_stdin_closes:
        loop.add_reader(sys.stdin.fileno(), over.set)
    ready = {"url": f"http://{HOST}:{bound}/v1", "port": bound, "pid": os.getpid(), "ttl": ttl}
    print(json.dumps(ready), flush=True)
    try:
        async with asyncio.timeout(ttl):
            await over.wait()
    except TimeoutError:
        pass
    finally:
        server.close()


def _setting(text: str) -> tuple[str, Any]:
    """`key=value` with the value in JSON, or a bare word."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0 = any free port")
    parser.add_argument("--ttl", type=float, default=1800.0, help="end by itself after so many seconds")
    parser.add_argument("--settings", type=json.loads, default={}, help="settings as a JSON object")
    parser.add_argument("--set", type=_setting, action="append", default=[], metavar="KEY=VALUE", help="one setting")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end when standard input closes")
    given = parser.parse_args(arguments)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        asyncio.run(
            serve(
                given.port,
                given.ttl,
                {**given.settings, **dict(given.set)},
                until_stdin_closes=given.until_stdin_closes,
            )
        )
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # started by its path: the folder of this file is not where `tests` is found
    raise SystemExit(main())
