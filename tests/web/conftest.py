"""Local pages served for real: uvicorn in a thread of its own, on a loopback port that was free."""

from __future__ import annotations

import io
import socket
import threading
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from judge.show.web.access import Access, Guard
from judge.show.web.punctual import Punctual
from judge.show.web.view import work


@dataclass(frozen=True)
class Served:
    """A running server: its address, and what it allows."""

    address: str
    access: Access

    def ask(
        self, path: str = "/", *, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, Any, str]:
        """(status, headers, text) of one request; header names with underscores for dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, body, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.headers, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()


@contextmanager
def serving(build: Callable[[Access], Any], access: Access, *, keep_alive: int = 5) -> Iterator[Served]:
    """Serve what `build` makes behind the guard, for as long as the block lasts."""
    bound = socket.create_server(("127.0.0.1", 0))
    app = Guard(build(access), access)
    config = uvicorn.Config(app, http=Punctual, log_level="warning", access_log=False, timeout_keep_alive=keep_alive)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield Served(f"http://127.0.0.1:{bound.getsockname()[1]}", access)
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()


MAY_WORK = threading.Event()
MAY_WORK.set()


class _Here:
    """Stands in for `subprocess` where pages want work done: it is done in this process, once `MAY_WORK` is set."""

    DEVNULL = PIPE = None

    class Popen:
        def __init__(self, command: list[str], **_: Any) -> None:
            self.returncode: int | None = None
            self._words = command[command.index("judge.show.web.view.work") + 1 :]

        def poll(self) -> int | None:
            return self.returncode

        def terminate(self) -> None:
            """It ends by itself."""

        def communicate(self) -> tuple[None, bytes]:
            MAY_WORK.wait(30)
            said = io.StringIO()
            with redirect_stderr(said):
                try:
                    self.returncode = work.main(self._words)
                except Exception:  # noqa: BLE001  as a process would end
                    traceback.print_exc()
                    self.returncode = 1
            return None, said.getvalue().encode()


@contextmanager
def working_here() -> Iterator[None]:
    """What pages have computed is computed by this process; tests/web/test_view_live.py has processes of their own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("judge.show.web.view.jobs.subprocess", _Here)
        patched.setattr("judge.show.web.view.work.os", object())  # which has no `nice`
        yield


@pytest.fixture(scope="module")
def work_here() -> Iterator[None]:
    """A module whose pages are computed by this process."""
    with working_here():
        yield


@pytest.fixture
def served() -> Iterator[Callable[..., Served]]:
    """A factory: `served(build)` or `served(build, Access(...))`. All servers end with the test."""
    with ExitStack() as stack:

        def start(build: Callable[[Access], Any], access: Access | None = None) -> Served:
            return stack.enter_context(serving(build, access or Access()))

        yield start
