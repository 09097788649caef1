"""Golden values, read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import missing
from tests.measures.golden import Golden, read


@pytest.fixture(scope="session")
def golden(studies: Path) -> Golden:
    """The golden values of string measures."""
    if not (studies / "golden" / "measures").is_dir():
        missing("data", "JUDGE_DATA holds no golden values of measures")
    return read(studies)
