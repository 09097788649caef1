"""What the progress line says while no answer comes."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.asking.execution import progress as module
from judge.asking.execution.progress import Progress
from judge.asking.execution.session import sit
from tests.execution.test_session import Start, sitting, stories

__all__ = ["stories"]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_log_says_from_whom_nothing_comes_after_ten_seconds_and_then_less_and_less_often() -> None:
    clock, stream = Clock(), io.StringIO()
    line = Progress(10, parser=None, judge="openai/m", stream=stream, clock=clock)
    with line:
        for second in range(1, 60):
            clock.now = float(second)
            line.waited()
        assert stream.getvalue().splitlines() == [
            f"0/10 · no answer from openai/m for {seconds} s" for seconds in (10, 20, 40)
        ]
        line.committed(1, 0)
        assert "no answer" not in line.line()
        clock.now += 9.0
        line.waited()
        assert len([one for one in stream.getvalue().splitlines() if "no answer" in one]) == 3
        clock.now += 1.0
        assert "no answer from openai/m for 10 s" in line.line()


def test_what_is_known_of_the_silence_is_said_in_its_place() -> None:
    clock = Clock()
    why: dict[str, Any] = {"trouble": None, "paused": False, "waits": 0.0}
    line = Progress(
        10,
        parser=None,
        quiet=True,
        clock=clock,
        trouble=lambda: why["trouble"],
        paused=lambda: why["paused"],
        waits=lambda: why["waits"],
    )
    clock.now = 30.0
    assert "no answer from the judge for 30 s" in line.line()
    for name, value in (("trouble", "429: used up"), ("paused", True), ("waits", 40.0)):
        before, why[name] = why[name], value
        assert "no answer from" not in line.line()
        why[name] = before


def test_a_run_says_so_before_its_first_answer(
    loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_SILENT", 0.3)
    monkeypatch.setattr(module, "_LOOK", 0.05)
    server = loopback(latency_ms=1200)
    ended = sit(replace(sitting(server, stories, limit=2), quiet=False))
    assert ended.missing == 0
    assert "no answer from openai/mock for " in capsys.readouterr().err
