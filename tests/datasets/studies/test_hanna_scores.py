"""The score file's table of numbers."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets.studies.hanna import CRITERIA, SYSTEMS, read_score_file

FILE = ("hanna", "hanna_metric_scores_llm.csv")


def test_shape_and_the_human_means(studies: Path) -> None:
    scores = read_score_file(studies.joinpath(*FILE))
    assert scores.systems == SYSTEMS
    assert len(scores.columns) == 254
    for criterion in CRITERIA:
        means = scores.column(criterion)
        positions = scores.human_positions(criterion)
        for system in SYSTEMS:
            assert len(means[system]) == 96
            assert [sum(three) / 3 for three in zip(*positions[system], strict=True)] == pytest.approx(means[system])


def test_cells_below_one_are_as_many_as_the_study_left_unparsed(studies: Path) -> None:
    # Cells with a mean below 1 of 6,336, Eval-Prompts 1 to 4: the study averages -1 in for an answer without a rating.
    known = {"Beluga-13B": [0, 55, 64, 54], "Llama-13B": [25, 14, 38, 182], "ChatGPT": [3, 2, 2, 7]}
    scores = read_score_file(studies.joinpath(*FILE))
    for judge, counts in known.items():
        found = [
            sum(v < 1 for c in CRITERIA.values() for row in scores.column(f"{judge} {c} {ep}").values() for v in row)
            for ep in (1, 2, 3, 4)
        ]
        assert found == counts


def test_an_unknown_column_names_the_nearest(studies: Path) -> None:
    scores = read_score_file(studies.joinpath(*FILE))
    with pytest.raises(DataError, match="did you mean 'Human 1 RE'"):
        scores.column("Human 1 R")
    with pytest.raises(DataError, match="did you mean 'Coherence'"):
        scores.human_positions("Coherance")


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("[1, 2]", "row 2, column 'Relevance': not 3 numbers; found 2"),
        ("[1, 2, NaN]", "row 2, column 'Relevance': not a list of numbers"),
        ('[1, 2, "3"]', "row 2, column 'Relevance': not a number; found '3'"),
        ("[1, 2, 3]", "row 3, column 'Model': a system occurs twice; found 'Human'"),
    ],
)
def test_a_bad_cell_is_named(cell: str, sentence: str, studies: Path, tmp_path: Path) -> None:
    with studies.joinpath(*FILE).open(encoding="utf-8", newline="") as stream:
        header = next(csv.reader(stream))
    path = tmp_path / "scores.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(header)
        for _ in range(2):
            out.writerow(["Human", cell, *["[1, 2, 3]"] * (len(header) - 2)])
    with pytest.raises(DataError, match=sentence):
        read_score_file(path, stories=3)
