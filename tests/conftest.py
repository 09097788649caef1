"""Shared fixtures: where the studies' released files lie, and what may not be skipped."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no mistake of the program's.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# Runs of tests may name files beside their own folder; tests/hardening takes this away again.
os.environ["JUDGE_TRUSTED_FOLDERS"] = os.pathsep.join([tempfile.gettempdir(), str(Path(__file__).parents[1])])

# How wide a screen is changes what is printed on it.
os.environ.pop("COLUMNS", None)

pytest_plugins = ["tests.server.fixtures"]


def _required() -> set[str]:
    return {part for part in os.environ.get("JUDGE_REQUIRE", "").split(",") if part}


def missing(part: str, why: str) -> None:
    """Skip a test for want of a part, or fail where JUDGE_REQUIRE names that part."""
    if part in _required():
        pytest.fail(f"JUDGE_REQUIRE names {part!r}, but {why}")
    pytest.skip(why)


@pytest.fixture(scope="session")
def studies() -> Path:
    """The folder of the studies' released files (JUDGE_DATA)."""
    folder = os.environ.get("JUDGE_DATA")
    if not folder or not Path(folder).is_dir():
        missing("data", "JUDGE_DATA does not name the folder of the studies' released files")
    return Path(str(folder))
