"""`judge ratings -o FILE.parquet` writes part by part the very rows that the table read at once has."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judge.analysis import distributions
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.answers.journal.database import PANELS
from judge.asking.run_folder import write_manifest
from judge.cli.main import main as command_line
from judge.ratings.ratings_table import read, spill
from tests.test_kept_judgments import Made

parquet = pytest.importorskip("pyarrow.parquet")

LABELS = """
name: labelled
description: two criteria
scale: {labels: [none, poor, fair, good, fine, best], ordered: true}
criteria:
- {name: Relevance, abbreviation: RE, definition: It fits.}
- {name: Coherence, abbreviation: CO, definition: It holds together.}
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "PART_ROWS", 12)


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """Two judges of the same stories, whose answers came in no order; some raters are of a panel."""
    first = Made(tmp_path / "a").fill(50)
    second = Made(tmp_path / "b", name="other").fill(40, seed=2)
    write_manifest(second.result.manifest, {"judge": "openai/second", "in_force": {"repeats": 3}})
    first.write(PANELS)
    first.write("INSERT INTO panels SELECT DISTINCT story, 0, 'experts' FROM ratings WHERE story > 1")
    return [str(first.result.path), str(second.result.path)]


def main(arguments: list[str]) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        command_line(arguments)
    return int(ended.value.code or 0)


def whole(runs: list[str], keep: Selection, folder: Path) -> pd.DataFrame:
    """The file as it is written of the table that was read at once."""
    table = narrowed(read(runs, perturbed=True), keep)
    distributions.save(table.frame, folder / "whole.parquet")
    return pd.read_parquet(folder / "whole.parquet")


def in_parts(runs: list[str], folder: Path, *options: str) -> pd.DataFrame:
    assert main(["ratings", *runs, *options, "-o", str(folder / "parts.parquet")]) == 0
    return pd.read_parquet(folder / "parts.parquet")


@pytest.mark.parametrize(
    ("options", "keep"),
    [
        ([], Selection()),
        (["--criterion", "coherence"], Selection(criteria=("Coherence",))),
        (
            ["--judge", "openai/second", "--eval-prompt", "ep2"],
            Selection(judges=("openai/second",), eval_prompts=("ep2",)),
        ),
        (["--set", "panel=experts"], Selection(panel="experts")),
    ],
)
def test_the_rows_are_those_of_the_table(two: list[str], tmp_path: Path, options: list[str], keep: Selection) -> None:
    pd.testing.assert_frame_equal(in_parts(two, tmp_path, *options), whole(two, keep, tmp_path))
    assert parquet.ParquetFile(tmp_path / "parts.parquet").num_row_groups > 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "parts.parquet", "whole.parquet"]


def test_a_name_that_does_not_occur_writes_nothing(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ratings", *two, "--criterion", "Plot", "-o", str(tmp_path / "x.parquet")]) == 1
    assert "--criterion 'Plot' is not known (known: Coherence, Relevance)" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_labels_stand_beside_their_codes(tmp_path: Path) -> None:
    (tmp_path / "labels.yaml").write_text(LABELS)
    made = Made(tmp_path / "a", criteria="../labels.yaml").fill()
    frame = in_parts([str(made.result.path)], tmp_path)
    pd.testing.assert_frame_equal(frame, whole([str(made.result.path)], Selection(), tmp_path))
    assert set(frame["label"].dropna()) <= {"none", "poor", "fair", "good", "fine", "best"}
    assert frame["label"].notna().any()


def test_rows_of_another_program_are_read_at_once(tmp_path: Path) -> None:
    made = Made(tmp_path / "a").fill()
    made.write("DELETE FROM attempts WHERE id IN (SELECT id FROM attempts WHERE outcome = 'answered' LIMIT 1)")
    frame = in_parts([str(made.result.path)], tmp_path)
    pd.testing.assert_frame_equal(frame, whole([str(made.result.path)], Selection(), tmp_path))
