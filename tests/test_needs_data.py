"""Which tests need the studies' files, and that no other test gets at them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NEEDS_DATA

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
import os

import pytest

from tests.conftest import NEEDS_DATA


@pytest.fixture
def indirect(studies):
    return studies


def test_needs_none():
    assert "JUDGE_DATA" not in os.environ


def test_takes_it(studies):
    assert os.environ["JUDGE_DATA"] == str(studies)


def test_needs_none_after_it():
    assert "JUDGE_DATA" not in os.environ


def test_takes_it_through_another(indirect):
    assert indirect.is_dir()


@pytest.mark.parametrize("n", [1, pytest.param(2, marks=NEEDS_DATA)])
def test_asks_for_it_where_it_is_marked(n, request):
    assert n == 1 or request.getfixturevalue("studies").is_dir()


def test_asks_for_it_unmarked(request):
    assert request.getfixturevalue("studies").is_dir()
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder of tests that share this suite's conftest."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = data\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def _ended(folder: Path, *options: str, data: Path | None, **environment: str) -> dict[str, str]:
    """Name of each test -> how it ended."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUDGE_", "PYTEST_"))}
    kept |= {"PYTHONPATH": str(ROOT)} | ({"JUDGE_DATA": str(data)} if data else {}) | environment
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    # One process writes `name RESULT`, pytest-xdist's write `RESULT name`.
    pairs = re.findall(r"(?m)^test_it.py::(\S+) ([A-Z]+)|^\[gw\d\].* ([A-Z]+) test_it.py::(\S+)", done.stdout)
    assert pairs, done.stdout + done.stderr
    return {one or four: two or three for one, two, three, four in pairs}


def test_without_the_files_marked_tests_are_skipped_and_unmarked_ones_fail(run: Path) -> None:
    assert _ended(run, data=None) == {
        "test_needs_none": "PASSED",
        "test_needs_none_after_it": "PASSED",
        "test_takes_it": "SKIPPED",
        "test_takes_it_through_another": "SKIPPED",
        "test_asks_for_it_where_it_is_marked[1]": "PASSED",
        "test_asks_for_it_where_it_is_marked[2]": "SKIPPED",
        "test_asks_for_it_unmarked": "FAILED",
    }


def test_with_the_files_only_marked_tests_find_them_named(run: Path) -> None:
    ended = _ended(run, data=run)
    assert [name for name, how in ended.items() if how != "PASSED"] == []


@pytest.mark.parametrize("processes", [(), ("-n", "1")])
def test_the_marker_selects_what_is_skipped_without_the_files(run: Path, processes: tuple[str, ...]) -> None:
    skipped = {name for name, ended in _ended(run, data=None).items() if ended == "SKIPPED"}
    assert _ended(run, "-m", "data", *processes, data=run) == dict.fromkeys(skipped, "PASSED")


def test_where_they_are_required_their_absence_is_a_failure(run: Path) -> None:
    ended = _ended(run, "-m", "data", data=None, JUDGE_REQUIRE="data")
    assert set(ended.values()) <= {"FAILED", "ERROR"}


def test_every_test_that_takes_the_files_is_marked(request: pytest.FixtureRequest) -> None:
    taking = [item for item in request.session.items if "studies" in getattr(item, "fixturenames", ())]
    assert [item.nodeid for item in taking if item.get_closest_marker(NEEDS_DATA.name) is None] == []
    assert "JUDGE_DATA" not in os.environ
