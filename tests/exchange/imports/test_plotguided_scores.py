"""MANPLTS' scores as a measure that `correlate` sets beside people."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.analysis.correlation import correlations
from judge.analysis.inputs.bars import CEILING, JUDGE
from judge.analysis.options.table_options import Coefficient, CorrelationOptions
from judge.base.errors import DataError, SpecError
from judge.exchange.imported_folder import read_plotguided, write_folder
from judge.ratings.ratings_table import read


@pytest.fixture
def with_studies(studies: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    return studies


@pytest.mark.parametrize(
    ("name", "coefficient", "measure"),
    [("wp", "spearman", 0.742), ("wp", "kendall", 0.515), ("roc", "spearman", 0.558), ("roc", "kendall", 0.410)],
)
def test_correlations_are_those_of_the_released_scores(
    name: str, coefficient: Coefficient, measure: float, with_studies: Path, tmp_path: Path
) -> None:
    """Measured once with scipy on the released files: coherence_amt.csv."""
    folder = write_folder(tmp_path / name, read_plotguided(name))
    found = correlations(read([folder.path]), CorrelationOptions(coefficient=coefficient, ci="none", control=False))
    rows = {row.kind: row.estimate.value for row in found.rows}
    assert rows[JUDGE] == pytest.approx(measure, abs=0.0005)
    assert rows[CEILING] is not None


def test_what_cannot_be_read_is_said(with_studies: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="did you mean 'wp'"):
        read_plotguided("wpp")
    roc = with_studies / "plotguided" / "Pred_advROC_roberta.txt"
    with pytest.raises(DataError, match="has no score of story 000 of plotguided_wp"):
        read_plotguided("wp", roc)
