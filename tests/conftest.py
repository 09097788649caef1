"""Shared fixtures: where the studies' released files lie, and what may not be skipped.

A test that needs these files takes the fixture `studies`, directly or through other fixtures, and so gets the marker
`data`; a test that asks for it by name only (`getfixturevalue`) is marked where it is parametrized. Marked tests are
skipped without the files, here and nowhere else, and `-m data` selects exactly them.
"""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no mistake of the program's.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# Runs of tests may name files beside their own folder; tests/hardening takes this away again.
os.environ["JUDGE_TRUSTED_FOLDERS"] = os.pathsep.join([tempfile.gettempdir(), str(Path(__file__).parents[1])])

# Two processes of tests with two threads each wait for each other more than they compute. Before numpy is loaded. Real
# models keep their threads: their tests run in one process.
for threads in ("OPENBLAS_NUM_THREADS", *(["OMP_NUM_THREADS"] if find_spec("torch") is None else [])):
    os.environ.setdefault(threads, "1")

# How wide a screen is changes what is printed on it.
os.environ.pop("COLUMNS", None)

pytest_plugins = ["tests.server.fixtures"]

NEEDS_DATA = pytest.mark.data
"""Marker of parametrized tests that ask for `studies` by its name."""

_HELD = "JUDGE_TESTS_DATA"
if "JUDGE_DATA" in os.environ:
    # Held back for marked tests, also from the processes of pytest-xdist: no other test may depend on it unsaid.
    os.environ[_HELD] = os.environ.pop("JUDGE_DATA")


def _required() -> set[str]:
    return {part for part in os.environ.get("JUDGE_REQUIRE", "").split(",") if part}


def missing(part: str, why: str) -> None:
    """Skip a test for want of a part, or fail where JUDGE_REQUIRE names that part."""
    if part in _required():
        pytest.fail(f"JUDGE_REQUIRE names {part!r}, but {why}")
    pytest.skip(why)


def _data() -> Path | None:
    """The folder that JUDGE_DATA named when the tests began."""
    named = os.environ.get(_HELD)
    return Path(named) if named and Path(named).is_dir() else None


@pytest.hookimpl(tryfirst=True)  # before -m selects by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need the studies' files."""
    for item in items:
        if "studies" in getattr(item, "fixturenames", ()):
            item.add_marker(NEEDS_DATA)


@pytest.hookimpl(tryfirst=True)  # before fixtures are set up
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give JUDGE_DATA to a test that needs the studies' files, or skip it; take it away from every other."""
    os.environ.pop("JUDGE_DATA", None)
    if item.get_closest_marker(NEEDS_DATA.name):
        folder = _data()
        if folder is None:
            missing("data", "JUDGE_DATA does not name the folder of the studies' released files")
        os.environ["JUDGE_DATA"] = str(folder)


@pytest.fixture(scope="session")
def studies() -> Path:
    """The folder of the studies' released files (JUDGE_DATA)."""
    folder = _data()
    assert folder is not None, "a test that is not marked `data` asks for the studies' files"
    return folder
