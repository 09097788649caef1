"""Reports of real runs, made once: the demo, hostile texts, HANNA's released ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report import runs


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's folder."""
    return runs.demo(tmp_path_factory.mktemp("report") / "demo")


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run all of whose texts are hostile."""
    return runs.hostile(tmp_path_factory.mktemp("report") / "hostile")


@pytest.fixture(scope="session")
def unrated_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over stories that no person rated."""
    return runs.unrated(tmp_path_factory.mktemp("report") / "unrated")


@pytest.fixture(scope="session")
def hanna_run(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """HANNA's released ratings."""
    return runs.hanna(studies, tmp_path_factory.mktemp("report") / "hanna")


@pytest.fixture(scope="session")
def demo_page(demo_run: Path) -> str:
    """The demo's report."""
    return runs.page(demo_run)


@pytest.fixture(scope="session")
def hostile_page(hostile_run: Path) -> str:
    """The report of the hostile run, under a hostile title."""
    return runs.page(hostile_run, title="<script>alert('title')</script>")


@pytest.fixture(scope="session")
def hanna_page(hanna_run: Path) -> str:
    """HANNA's report, without the human stories, as the study did."""
    return runs.page(hanna_run, drop_systems=("Human",))
