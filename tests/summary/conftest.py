"""Real runs for summaries: the demo, unrated stories, HANNA's released scores, TTCW's recorded answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report import runs


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's folder."""
    from judge.demo import run_demo

    folder = tmp_path_factory.mktemp("summary") / "demo"
    run_demo(folder, quiet=True)
    return folder


@pytest.fixture(scope="session")
def unrated_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over stories that no person rated."""
    return runs.unrated(tmp_path_factory.mktemp("summary") / "unrated")


@pytest.fixture(scope="session")
def hanna_run(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """HANNA's released ratings."""
    return runs.hanna(studies, tmp_path_factory.mktemp("summary") / "hanna")


@pytest.fixture(scope="session")
def ttcw_run(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """GPT-4's recorded answers to the tests of Art or Artifice."""
    return runs.ttcw(studies, tmp_path_factory.mktemp("summary") / "ttcw")
