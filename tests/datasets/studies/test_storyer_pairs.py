"""StoryER's pairs: who won is in the preferences and nowhere else."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.studies.storyer import read_paired, read_pairs
from judge.inputs.text_features import length


def _file(path: Path, rows: list[Any]) -> Path:
    path.write_bytes(pickle.dumps(rows))
    return path


def test_longer_wins_in_62_5_percent_of_the_700_pairs(with_studies: Path) -> None:
    """Measured once on this copy of the released file: 62.5, ties one half."""
    dataset = open_dataset("storyer_pairs")
    assert dataset.pairs is not None
    lengths = {story.id: length(story.text) for story in dataset.stories()}
    right = 0.0
    for pair in dataset.pairs():
        (given,) = pair.preferences
        gap = lengths[pair.first] - lengths[pair.second]
        right += 0.5 if gap == 0 else float((gap > 0) == (given.value == "first"))
    assert 100 * right / 700 == pytest.approx(62.5, abs=0.01)


def test_order_and_ids_give_no_label_away(with_studies: Path) -> None:
    dataset = open_dataset("storyer_pairs")
    assert dataset.pairs is not None
    pairs = list(dataset.pairs())
    first = sum(pair.preferences[0].value == "first" for pair in pairs)
    assert 320 < first < 380
    assert [pair.id for pair in pairs] == sorted(pair.id for pair in pairs)
    assert all(pair.first < pair.second for pair in pairs)
    ids = [story.id for story in dataset.stories()]
    assert ids == sorted(ids)


def test_ids_do_not_depend_on_what_else_the_file_holds(tmp_path: Path) -> None:
    rows = [["p", "good", "bad", 1, 1], ["q", "long<br>one", "short", 1, 1]]
    whole, part = _file(tmp_path / "a.pkl", rows), _file(tmp_path / "b.pkl", rows[1:])
    assert {pair.id for pair in read_pairs(part)} < {pair.id for pair in read_pairs(whole)}
    assert "long\none" in {story.text for story in read_paired(part)}


def test_a_row_twice_is_one_and_rows_that_disagree_are_kept(tmp_path: Path) -> None:
    rows = [["p", "x", "y", 1, 1], ["p", "x", "y", 1, 1], ["p", "y", "x", 1, 1]]
    (pair,) = read_pairs(_file(tmp_path / "a.pkl", rows))
    assert sorted(given.value for given in pair.preferences) == ["first", "second"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({}, "not a list of pairs"),
        ([], "not a list of pairs"),
        ([["p", "x", "y"], ["p", "x"]], r"row 2: not \[story-prompt, higher, lower"),
        ([["p", "x", 3]], "row 1, column 'lower': not a text"),
        ([["p", "x", " "]], "row 1, column 'lower': the text is empty"),
        ([["p", "x", "x"]], "row 1, column 'lower': a story is paired with itself"),
    ],
)
def test_another_shape_is_named(rows: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        list(read_pairs(_file(tmp_path / "a.pkl", rows)))
