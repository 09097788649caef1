"""Commands of the documentation that serve pages: each is started, asked for its first page, and ended by Ctrl-C."""

from __future__ import annotations

import shlex
import urllib.request
from pathlib import Path

import pytest

from tests.documents.run.excused import SERVERS
from tests.documents.run.running import environment
from tests.golden_tables.calls import inside
from tests.golden_tables.calls import judge as run_here
from tests.server.command import command as serving
from tests.server.loopback import LoopbackServer

_LOOPBACK = {"0.0.0.0": "127.0.0.1"}  # noqa: S104  the page's own word, which is replaced
"""What a page says -> what a test may use: no test is open to other machines."""


def _words(line: str) -> list[str]:
    """The words of a line; its port becomes any free one, as two tests may run at once."""
    words = [_LOOPBACK.get(word, word) for word in shlex.split(line)[1:]]
    if "--port" in words:
        at = words.index("--port")
        del words[at : at + 2]
    return [*words, "--port", "0"]


@pytest.mark.parametrize("line", SERVERS)
def test_a_server_gives_its_first_page(line: str, folder: Path, server: LoopbackServer) -> None:
    with inside(folder, None):
        environment(server.url)
        for run in ("runs/my-run", "runs/demo"):
            if f"serve {run}" in line and not (folder / run / "audit.sqlite").exists():
                assert run_here(["audit", "sample", run, "-n", "12", "--quiet"])[0] == 0
        if "audit.sqlite" in line:
            assert run_here(["audit", "sample", "runs/my-run", "-n", "12", "-o", "audit.sqlite", "--quiet"])[0] == 0
        if "people.sqlite" in line:
            assert run_here(["people", "sample", "demo", "-n", "12", "--quiet"])[0] == 0
        with serving(*_words(line), folder=folder) as running:
            with urllib.request.urlopen(running.address, timeout=20) as answer:
                page = answer.read().decode()
            assert answer.status == 200
            assert "<title>" in page
            assert running.end() == 0
