"""A real Chromium, and the program's own servers as processes. Skipped with a reason where there is no browser."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests; each test opens a context of its own: `browser.new_context(...)`."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        missing("browser", "no Chromium is installed: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("browser", "Playwright is not installed: pip install -r requirements/browser-tests.txt")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def complaints() -> list[str]:
    """What pages complained of: errors on the console, uncaught errors. Whoever opens a page asserts it is empty."""
    return []


@pytest.fixture
def page(browser: Any, complaints: list[str]) -> Iterator[Any]:
    """A page in a fresh context that notes every complaint."""
    context = browser.new_context()
    opened = context.new_page()
    watch(opened, complaints)
    yield opened
    context.close()


def watch(page: Any, complaints: list[str]) -> None:
    """Note the page's console errors, uncaught errors and requests that failed."""
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(f"{request.url}: {request.failure}"))


class Command:
    """`judge ...` as a process that serves pages; its first line is the address."""

    def __init__(self, *arguments: str | Path, folder: Path) -> None:
        command = [sys.executable, "-m", "judge", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://"), f"the server did not start: {self.process.wait(10)}"

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
        self._close()

    def end(self) -> int:
        """End it as Ctrl-C would, and give its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self._close()
        return code

    def _close(self) -> None:
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def command(*arguments: str | Path, folder: Path) -> Iterator[Command]:
    """A serving command for as long as the block lasts."""
    running = Command(*arguments, folder=folder)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    """A factory: `serving("view", "runs", "--port", "0")`, run in the test's folder. All end with the test."""
    with ExitStack() as stack:

        def start(*arguments: str | Path, folder: Path = tmp_path) -> Command:
            return stack.enter_context(command(*arguments, folder=folder))

        yield start
