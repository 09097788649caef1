"""The run that first screens are looked at on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import two_judges
from tests.golden_tables.calls import inside


@pytest.fixture(scope="session")
def two_judges_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the run of two judges and four Eval-Prompts."""
    folder = tmp_path_factory.mktemp("two")
    with inside(folder, None):
        two_judges.make()
    return folder
