"""HANNA's annotations file, in its documented format."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.locate import register
from judge.inputs.datasets.studies.hanna import COLUMNS, read_score_file, read_stories


def test_stories_carry_texts_and_workers(annotations: Path, studies: Path) -> None:
    register("hanna", annotations)
    dataset = open_dataset("hanna")
    stories = list(dataset.stories())
    assert [s.id for s in stories] == [str(i) for i in range(1056)]
    assert Counter(s.system for s in stories)["GPT-2 (tag)"] == 96
    assert all(len(s.ratings) == 18 and len({r.rater for r in s.ratings}) == 3 for s in stories)
    assert stories[0].text == stories[0].reference
    assert stories[0].text.startswith("3,000 years have I been fighting.")
    assert dataset.rater_identity is True
    # The mean of the three ratings is the score file's own column.
    means = read_score_file(studies / "hanna" / "hanna_metric_scores_llm.csv").column("Coherence")
    for story in stories:
        values = [r.value for r in story.ratings if r.criterion == "Coherence"]
        assert sum(values) / 3 == pytest.approx(means[story.system][int(story.id) % 96])


def test_without_the_file_the_command_is_named(with_studies: Path) -> None:
    with pytest.raises(DataError, match=r"hanna needs hanna/hanna_stories_annotations\.csv") as caught:
        open_dataset("hanna")
    assert caught.value.hint is not None
    assert "judge data fetch hanna" in caught.value.hint


def _rows(annotations: Path) -> list[dict[str, str]]:
    with annotations.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    ("row", "change", "sentence"),
    [
        (5, {"Coherence": "6"}, r"row 5, column 'Coherence': rating off the scale; found '6'; allowed: 1, 2, 3, 4, 5"),
        (5, {"Coherence": ""}, "row 5, column 'Coherence': not a rating; found ''"),
        (5, {"Coherence": "nan"}, "row 5, column 'Coherence': not a rating; found 'nan'"),
        (5, {"Story": "  "}, "row 5, column 'Story': the text is empty"),
        (6, {"Story": "another"}, "row 6, column 'Story': differs from the other rows of story 1; found 'another'"),
        (5, {"Worker ID": ""}, "row 5, column 'Worker ID': the text is empty"),
        (5, {"Story ID": "1056"}, r"row 5, column 'Story ID': not a Story ID; found '1056'; allowed: 0 to 1055"),
        (2, {"Model": "GPT-5"}, "row 2, column 'Model': not HANNA's system; found 'GPT-5'"),
    ],
)
def test_a_bad_cell_is_named(
    row: int, change: dict[str, str], sentence: str, tmp_path: Path, annotations: Path
) -> None:
    rows = _rows(annotations)[:12]
    rows[row - 2] |= change
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, COLUMNS)
        out.writeheader()
        out.writerows(rows)
    with pytest.raises(DataError, match=sentence):
        list(read_stories(path))


def test_missing_rows_and_columns_are_named(
    tmp_path: Path, annotations: Path, write: Callable[[str, str], Path]
) -> None:
    with pytest.raises(DataError, match="columns 'Worker ID', 'Name' missing"):
        list(read_stories(write("b.csv", ",".join(c for c in COLUMNS if c not in ("Worker ID", "Name")) + "\n")))
    with pytest.raises(DataError, match="0 rows where the released file has 3168"):
        list(read_stories(write("c.csv", ",".join(COLUMNS) + "\n")))
