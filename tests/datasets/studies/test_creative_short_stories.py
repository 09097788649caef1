"""Creative Short Stories, from made-up tables of the released form: panels, what is left out, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.studies.creative_short_stories import read_stories

NAMES = ("creativity", "originality", "surprise", "value")


def row(**changed: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"item_id": "lamp-boat-rope", "author": "human", "story": "A lamp went out."}
    for name in NAMES:
        given |= {f"expert_{name}": [2.0, 3.0], f"non_expert_{name}": [4.0, None, 5.0]}
    return given | {"expert_author": ["human", "AI"]} | changed


def table(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "creative_short_stories" / "train-00000-of-00001.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def test_ratings_are_of_two_panels_without_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(tmp_path, row(), row(author="m-1", story="A boat came in.", expert_value=None, non_expert_value=[]))
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    dataset = open_dataset("creative_short_stories")
    first, second = dataset.stories()
    assert (first.id, first.system, first.story_prompt) == ("lamp-boat-rope-1", "Human", "lamp-boat-rope")
    assert (second.system, second.text) == ("m-1", "A boat came in.")
    assert [(r.value, r.panel, r.rater) for r in first.ratings if r.criterion == "Creativity"] == [
        (2, "expert", None), (3, "expert", None), (4, "lay", None), (5, "lay", None)
    ]  # fmt: skip
    assert {r.criterion for r in first.ratings} == {"Creativity", "Originality", "Surprise", "Value"}
    assert {r.criterion for r in second.ratings} == {"Creativity", "Originality", "Surprise"}
    assert dataset.rater_identity is False


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"story": " "}, "row 1, column 'story': the text is empty"),
        ({"expert_value": [7.0]}, "row 1, column 'expert_value': rating off the scale"),
        ({"expert_value": 3.0}, "row 1, column 'expert_value': not a list of ratings"),
        ({"author": None}, "row 1, column 'author': not a text"),
    ],
)
def test_what_is_wrong_is_named_with_file_row_and_column(changed: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        list(read_stories(table(tmp_path, row(**changed))))
    assert said in str(caught.value)
    assert "train-00000-of-00001.parquet" in str(caught.value)


def test_other_columns_and_ids_that_stand_twice_are_refused(tmp_path: Path) -> None:
    without = {key: value for key, value in row().items() if key != "non_expert_value"}
    with pytest.raises(DataError, match="not the columns of the released table"):
        list(read_stories(table(tmp_path, without)))
    with pytest.raises(DataError, match="row 2, column 'id': the id is already used in row 1"):
        list(read_stories(table(tmp_path, row(id="a"), row(id="a"))))
