"""Reports of real runs, made once: the demo, hostile texts, HANNA's released ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.show.report import ReportInputs
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
def demo_material(demo_run: Path) -> ReportInputs:
    """What the demo's report is made of."""
    return runs.material(demo_run)


@pytest.fixture(scope="session")
def hostile_material(hostile_run: Path) -> ReportInputs:
    """What the report of the hostile run is made of, under a hostile title."""
    return runs.material(hostile_run, title="<script>alert('title')</script>")


@pytest.fixture(scope="session")
def hanna_material(hanna_run: Path) -> ReportInputs:
    """What HANNA's report is made of, without the human stories, as the study did."""
    return runs.material(hanna_run, drop_systems=("Human",), resamples=20, permutations=20)


@pytest.fixture(scope="session")
def demo_page(demo_material: ReportInputs) -> str:
    return runs.page_of(demo_material)


@pytest.fixture(scope="session")
def hostile_page(hostile_material: ReportInputs) -> str:
    return runs.page_of(hostile_material)


@pytest.fixture(scope="session")
def hanna_page(hanna_material: ReportInputs) -> str:
    return runs.page_of(hanna_material)
