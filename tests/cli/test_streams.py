"""What is printed when nobody reads it, when it cannot be written, and when its encoding lacks a character."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose path has a blank and a quotation mark, with the demo's run in it."""
    folder = tmp_path_factory.mktemp("it's a folder")
    shell(folder, "$judge demo --quiet > tables.txt")
    return folder


def shell(folder: Path, command: str, code: int = 0, **environment: str | None) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which $judge is this judge; its last command's exit code is `code`."""
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHON": sys.executable, **environment}
    line = 'set -o pipefail; judge() { "$PYTHON" -m judge "$@"; }; ' + command.replace("$judge", "judge")
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={name: value for name, value in env.items() if value is not None},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stderr.decode()
    return done


COMMANDS = ("--help", "ratings runs/demo --format csv", "status runs/demo")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_has_gone_ends_a_command_quietly(command: str, runs: Path) -> None:
    # The reading end is closed before anything is printed.
    done = shell(runs, f"$judge {command} | (exec <&-)", 141)
    assert done.stderr == b""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_and_a_closed_output_get_a_sentence(command: str, runs: Path) -> None:
    full = shell(runs, f"$judge {command} > /dev/full", 1)
    assert full.stderr == b"error: standard output cannot be written: No space left on device\n"
    closed = shell(runs, f"$judge {command} >&-", 1)
    assert closed.stderr.startswith(b"error: standard output is closed\nhint: ")


def test_the_first_line_is_whole_and_nothing_else_is_said(runs: Path) -> None:
    done = shell(runs, "$judge ratings runs/demo --format csv | head -1", 141)
    assert (done.stdout.count(b"\n"), done.stdout[:17], done.stderr) == (1, b"run,judge,dataset", b"")


def test_a_closed_output_takes_no_part_in_what_needs_none(runs: Path) -> None:
    shell(runs, "$judge ratings runs/demo --format csv -o ratings.csv >&- 2>&- <&-")
    assert (runs / "ratings.csv").read_bytes().startswith(b"run,judge,dataset")
    shell(runs, "$judge status runs/none >&- 2>&- <&-", 1)


def test_a_failure_elsewhere_is_not_blamed_on_the_output(runs: Path) -> None:
    done = shell(runs, "$judge ratings runs/demo --format csv -o /dev/full", 1)
    assert b"standard output" not in done.stderr


ASCII: dict[str, str | None] = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture(scope="module")
def usual(runs: Path) -> dict[str, bytes]:
    """What three commands print in UTF-8."""
    lines = ("consistency runs/demo", "prompts show ep1", "ratings runs/demo --format csv")
    plain = {"PYTHONIOENCODING": None, "LC_ALL": "C.UTF-8"}
    return {line: shell(runs, f"$judge {line}", **plain).stdout for line in lines}


@pytest.mark.parametrize("locale", [ASCII, {"LC_ALL": "C", "PYTHONUTF8": None}, {"LC_ALL": "POSIX"}])
def test_pipes_and_files_get_utf_8_whatever_the_locale(
    locale: dict[str, str | None], runs: Path, usual: dict[str, bytes]
) -> None:
    printed = {line: shell(runs, f"$judge {line}", PYTHONIOENCODING=None, **locale).stdout for line in usual}
    assert printed == usual
    assert "·".encode() in printed["consistency runs/demo"]


def test_an_encoding_that_was_asked_for_is_kept_and_what_it_lacks_is_escaped(runs: Path) -> None:
    done = shell(runs, "$judge consistency runs/demo", PYTHONIOENCODING="ascii")
    assert b"\\xb7" in done.stdout
    assert done.stdout.isascii()


def test_a_whole_run_and_its_page_do_not_depend_on_the_locale(tmp_path: Path) -> None:
    place = tmp_path / "Prüfung"
    place.mkdir()
    shell(place, "$judge demo --quiet > tables.txt", **ASCII)
    assert "—" in (place / "runs" / "demo" / "report.html").read_text(encoding="utf-8")
    assert shell(place, "$judge status runs/none", 1, **ASCII).stderr.isascii()


@pytest.mark.parametrize("command", ["--help", "run --help", "status runs/demo", "consistency runs/demo"])
def test_everything_fits_on_a_screen_of_forty_columns(command: str, runs: Path) -> None:
    lines = shell(runs, f"$judge {command}", COLUMNS="40").stdout.decode().splitlines()
    assert [line for line in lines if len(line) > 40] == []
    assert any(len(line) > 40 for line in shell(runs, f"$judge {command}", COLUMNS="120").stdout.decode().splitlines())
