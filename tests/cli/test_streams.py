"""What is printed when nobody reads it, when it cannot be written, and when its encoding lacks a character."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden_tables.calls import inside, judge

ROOT = Path(__file__).resolve().parents[2]


ASCII: dict[str, str | None] = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

SEVERAL = """
import sys
from judge.cli.main import main
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as left:
        assert not left.code
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's run, made in ASCII, in a folder whose path has a blank, a quotation mark and an umlaut."""
    folder = tmp_path_factory.mktemp("it's a Prüfung")
    shell(folder, "$judge demo --quiet > tables.txt", **ASCII)
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


COMMANDS = ("--help", "ratings runs/demo --format csv")
"""What fits a buffer, and what is written while a command is at work."""


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


def _printed(runs: Path, **environment: str | None) -> bytes:
    """What one process prints for three commands, if no encoding is asked for."""
    lines = "'consistency runs/demo' 'prompts show ep1' 'ratings runs/demo --format csv'"
    return shell(runs, f'"$PYTHON" -c "$SEVERAL" {lines}', SEVERAL=SEVERAL, PYTHONIOENCODING=None, **environment).stdout


def test_pipes_and_files_get_utf_8_whatever_the_locale(runs: Path) -> None:
    usual = _printed(runs, LC_ALL="C.UTF-8")
    assert "·".encode() in usual
    assert usual.count(b"\n") > 1728
    for locale in (ASCII, {"LC_ALL": "C", "PYTHONUTF8": None}, {"LC_ALL": "POSIX"}):
        assert _printed(runs, **locale) == usual, locale


def test_an_encoding_that_was_asked_for_is_kept_and_what_it_lacks_is_escaped(runs: Path) -> None:
    done = shell(runs, "$judge consistency runs/demo", PYTHONIOENCODING="ascii")
    assert b"\\xb7" in done.stdout
    assert done.stdout.isascii()


def test_a_whole_run_and_its_page_do_not_depend_on_the_locale(runs: Path) -> None:
    assert "—" in (runs / "runs" / "demo" / "report.html").read_text(encoding="utf-8")
    assert shell(runs, "$judge status runs/none", 1, **ASCII).stderr.isascii()


@pytest.mark.parametrize("command", ["--help", "run --help", "status runs/demo", "consistency runs/demo"])
def test_everything_fits_on_a_screen_of_forty_columns(command: str, runs: Path) -> None:
    longest = {}
    for columns in ("40", "120"):
        with inside(runs, None):
            os.environ["COLUMNS"] = columns
            code, out, err = judge(command.split())
        assert code == 0, err
        longest[columns] = max(map(len, out.splitlines()))
    assert longest["40"] <= 40 < longest["120"]
