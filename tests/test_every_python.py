"""Which Pythons the suite is run with."""

from __future__ import annotations

import platform
import subprocess
import sys
import tomllib

import pytest

from tests import every_python
from tests.machine import described


def test_the_supported_versions_are_those_of_the_distribution() -> None:
    project = tomllib.loads((every_python.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={every_python.supported()[0]}"


def test_this_very_python_is_found_and_each_version_once() -> None:
    found = every_python.found()
    assert platform.python_version() in found
    for version, program in found.items():
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=True)
        assert done.stdout.split()[-1] == version


def test_what_failed_and_what_was_not_there_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(every_python, "supported", lambda: ["3.11", "3.12", "3.99"])
    monkeypatch.setattr(every_python, "found", lambda: {"3.11.2": sys.executable, "3.12.1": sys.executable})

    def tried(version: str, program: str, _: list[str]) -> every_python.Tried:
        return every_python.Tried(program, version, None if version == "3.12.1" else "pytest ended with 1")

    monkeypatch.setattr(every_python, "tried", tried)
    assert every_python.main([]) == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        f"Python 3.11.2 ({sys.executable}): FAILED: pytest ended with 1",
        f"Python 3.12.1 ({sys.executable}): passed",
        "Python 3.99: not on this machine, not tried",
    ]


def test_versions_may_be_named_and_one_that_is_not_there_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[list[str]] = []

    def tried(version: str, program: str, options: list[str]) -> every_python.Tried:
        given.append([version, *options])
        return every_python.Tried(program, version, None)

    monkeypatch.setattr(every_python, "found", lambda: {"3.11.2": "a", "3.11.7": "b", "3.13.0": "c"})
    monkeypatch.setattr(every_python, "tried", tried)
    assert every_python.main(["3.11.2", "3.13", "-x"]) == 0
    assert given == [["3.11.2", "-x"], ["3.13.0", "-x"]]
    assert "not tried" not in capsys.readouterr().out
    assert every_python.main(["3.12"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "Python 3.12: not on this machine, not tried"


def test_a_report_names_python_processor_and_libraries() -> None:
    line = described()
    assert f"Python {platform.python_version()} ({sys.executable})" in line
    assert "OpenBLAS" in line
