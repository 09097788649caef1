"""Coherence ratings with named workers, and the study's own score of each story."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.sources import OTHER_FILES
from judge.inputs.datasets.studies.plotguided import plain, read_scores, read_stories
from judge.stats.agreement import icc

SCORES = dict(zip(("plotguided_roc", "plotguided_wp"), OTHER_FILES["plotguided_scores"], strict=True))
HEADER = "WorkerId,Input.text1,Answer.text1\n"


@pytest.mark.parametrize(
    ("name", "workers", "measure", "people", "one_way"),
    [
        ("plotguided_wp", 73, (0.742, 0.515), (0.778, 0.619), (0.742, 0.935)),
        ("plotguided_roc", 27, (0.558, 0.410), (0.799, 0.683), (0.722, 0.928)),
    ],
)
def test_scores_ceiling_and_consistency(
    name: str,
    workers: int,
    measure: tuple[float, float],
    people: tuple[float, float],
    one_way: tuple[float, float],
    with_studies: Path,
) -> None:
    """Measured once on the released files with scipy: coherence_amt.csv."""
    stories = list(open_dataset(name).stories())
    ratings = np.array([[rating.value for rating in story.ratings] for story in stories])
    assert len({rating.rater for story in stories for rating in story.ratings}) == workers
    scores = read_scores(with_studies / SCORES[name])
    given = [scores[story.text] for story in stories]
    for statistic, want, ceiling in ((spearmanr, measure[0], people[0]), (kendalltau, measure[1], people[1])):
        assert statistic(given, ratings.mean(axis=1)).statistic == pytest.approx(want, abs=0.0005)
        ones = [statistic(ratings[:, i], np.delete(ratings, i, axis=1).mean(axis=1)).statistic for i in range(5)]
        assert np.mean(ones) == pytest.approx(ceiling, abs=0.0005)
    family = icc.family(ratings)
    assert family["ICC(1,1)"].estimate.value == pytest.approx(one_way[0], abs=0.0005)
    assert family["ICC(1,k)"].estimate.value == pytest.approx(one_way[1], abs=0.0005)


def test_marks_of_sentences_are_decoded(with_studies: Path) -> None:
    assert plain("one . </s> two . </s> \n") == "one . two ."
    assert not any("</s>" in story.text for story in open_dataset("plotguided_roc").stories())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("WorkerId,Input.text1\nw,x\n", "'Answer.text1' missing"),
        ("WorkerId,Input.text1,Answer.text1,Input.text2\nw,x,1,y\n", "column 'Answer.text2': a story without a column"),
        (HEADER + "w,x,6\n", "row 2, column 'Answer.text1': rating off the scale"),
        (HEADER + "w,x,4\nw,x,3\n", "row 3, column 'Input.text1': worker w rated this story before"),
        (HEADER + "w,x,4\n", "1 stories where the released file has 300"),
    ],
)
def test_another_table_is_named(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "amt.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        list(read_stories(path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a story 0.5\n", "row 1: no tab"),
        ("a\t0.5\na\t0.4\n", "row 2, column 'text': the same story occurs twice"),
        ("a\t1.5\n", "row 1, column 'score': not a probability"),
        ("a\thigh\n", "row 1, column 'score': not a rating"),
        ("a\t0.5\n", "1 scores where the released file has 300"),
    ],
)
def test_another_file_of_scores_is_named(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pred.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_scores(path)
