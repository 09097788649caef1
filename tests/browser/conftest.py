"""A real Chromium, and the program's own servers as processes. Skipped with a reason where there is no browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing
from tests.server.command import Command, command

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


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    """A factory: `serving("view", "runs", "--port", "0")`, run in the test's folder. All end with the test."""
    with ExitStack() as stack:

        def start(*arguments: str | Path, folder: Path = tmp_path) -> Command:
            return stack.enter_context(command(*arguments, folder=folder))

        yield start
