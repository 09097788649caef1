"""A run that people rated, by a language model's recorded answers: GPT-4's to the tests of Art or Artifice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report import runs


@pytest.fixture(scope="session")
def rated_run(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run's folder, finished."""
    return runs.ttcw(studies, tmp_path_factory.mktemp("certificate") / "ttcw")
