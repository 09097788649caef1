"""The studies made again, once, and copies of the score file with something changed in them."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from judge.backends import surface
from judge.reproduce import alttest, closer_look, hanna, llmbar, openmeva, storyer, ttcw
from judge.reproduce.cell import Cell, Place
from judge.reproduce.study import Options, Study

SCORES = "hanna/hanna_metric_scores_llm.csv"
Rows = dict[str, dict[str, str]]


@pytest.fixture(scope="session", autouse=True)
def _read_once() -> Iterator[None]:
    """TTCW's criteria, which are read again for each of 3,360 answers, and what is counted in StoryER's stories."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((ttcw, "load_criteria"), (surface, "own_features"), (surface, "score_file_features")):
            patch.setattr(module, name, cache(getattr(module, name)))
        yield


@pytest.fixture(scope="session")
def data(studies: Path) -> pytest.MonkeyPatch:
    """JUDGE_DATA for the whole session of these tests."""
    patch = pytest.MonkeyPatch()
    patch.setenv("JUDGE_DATA", str(studies))
    return patch


@pytest.fixture(scope="session")
def hanna_study(data: pytest.MonkeyPatch) -> Study:
    """HANNA without intervals."""
    return hanna.study(Options(resamples=0))


@pytest.fixture(scope="session")
def hanna_cells(hanna_study: Study) -> dict[Place, Cell]:
    """Place -> cell, without intervals."""
    return {(c.table, c.row, c.column): c for c in hanna_study.cells(Options(resamples=0))}


@pytest.fixture(scope="session")
def mans_study(data: pytest.MonkeyPatch) -> Study:
    """OpenMEVA."""
    return openmeva.study(Options())


@pytest.fixture(scope="session")
def ttcw_study(data: pytest.MonkeyPatch) -> Study:
    """Art or Artifice with few resamples."""
    return ttcw.study(Options(resamples=200))


@pytest.fixture(scope="session")
def ttcw_cells(ttcw_study: Study) -> dict[Place, Cell]:
    """Place -> cell."""
    return {cell.place: cell for cell in ttcw_study.cells(Options(resamples=200))}


@pytest.fixture(scope="session")
def storyer_study(data: pytest.MonkeyPatch) -> Study:
    """StoryER."""
    return storyer.study(Options(resamples=0))


@pytest.fixture(scope="session")
def storyer_cells(storyer_study: Study) -> dict[Place, Cell]:
    """Place -> cell, without intervals."""
    return {cell.place: cell for cell in storyer_study.cells(Options(resamples=0))}


@pytest.fixture(scope="session")
def closer(data: pytest.MonkeyPatch) -> Study:
    """A Closer Look."""
    return closer_look.study(Options())


@pytest.fixture(scope="session")
def closer_cells(closer: Study) -> dict[Place, Cell]:
    """Place -> cell."""
    return {cell.place: cell for cell in closer.cells(Options())}


@pytest.fixture(scope="session")
def bar(data: pytest.MonkeyPatch) -> Study:
    """LLMBar."""
    return llmbar.study(Options())


@pytest.fixture(scope="session")
def bar_cells(bar: Study) -> dict[Place, Cell]:
    """Place -> cell."""
    return {cell.place: cell for cell in bar.cells(Options())}


@pytest.fixture(scope="session")
def alt(data: pytest.MonkeyPatch) -> Study:
    """The alternative annotator test."""
    return alttest.study(Options())


@pytest.fixture
def changed_file(
    studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Rows], None]], Path]:
    """Put a changed copy of the score file, system -> column -> cell, in place of the released one."""

    def change(edit: Callable[[Rows], None]) -> Path:
        csv.field_size_limit(sys.maxsize)
        with (studies / SCORES).open(encoding="utf-8", newline="") as stream:
            rows: Rows = {row["Model"]: row for row in csv.DictReader(stream)}
        edit(rows)
        path = tmp_path / SCORES
        path.parent.mkdir()
        (path.parent / "user_study.csv").symlink_to(studies / "hanna" / "user_study.csv")
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(next(iter(rows.values()))))
            writer.writeheader()
            writer.writerows(rows.values())
        monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
        return path

    return change
