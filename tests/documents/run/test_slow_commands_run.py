"""Commands of the documentation that take a minute each; `make site` runs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.documents.run.collected import Command
from tests.documents.run.excused import SLOW
from tests.documents.run.running import EVERY, failures, needs_study
from tests.server.loopback import LoopbackServer

pytestmark = [
    pytest.mark.skipif("JUDGE_SLOW" not in os.environ, reason="takes minutes: make site sets JUDGE_SLOW"),
    pytest.mark.timeout(900),
]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, id=command.line, marks=needs_study([command], left_out=set()))
        for command in {command.line: command for command in EVERY if command.line in SLOW}.values()
    ],
)
def test_a_slow_command_runs(command: Command, folder: Path, data: Path | None, server: LoopbackServer) -> None:
    assert failures(command.place, [command], folder, data, server, set()) == []
