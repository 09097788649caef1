"""Tables of any shape through a column map."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError, JudgeError, MissingExtraError, SpecError
from judge.base.records import Rating, Story
from judge.inputs.datasets import open_dataset

Write = Callable[[str, str | bytes], Path]
MAP: dict[str, Any] = {"id": "n", "text": "Story", "system": "Model", "story_prompt": "Prompt"}


def read(path: Path, columns: dict[str, Any] | None) -> list[Story]:
    return list(open_dataset(str(path), columns=columns).stories())


def test_one_row_a_story(write: Write) -> None:
    path = write("a.csv", 'n,Prompt,Story,Model,rel\na,p,"one\ntwo",m,4.5\nb,,three,m,\n')
    stories = read(path, {**MAP, "ratings": {"Relevance": "rel"}})
    assert stories == [
        Story("a", "p", "m", "one\ntwo", None, (Rating("Relevance", 4.5),)),
        Story("b", "", "m", "three"),
    ]
    assert read(path, {**MAP, "ratings.Relevance": "rel"}) == stories


def test_one_row_a_story_and_rater(write: Write) -> None:
    path = write("a.csv", "n,Prompt,Story,Model,rel,coh,who\na,p,x,m,4,5,W1\nb,p,y,m,1,2,W1\na,p,x,m,3,,W2\n")
    first, second = read(path, {**MAP, "rater": "who", "ratings": {"Relevance": "rel", "Coherence": "coh"}})
    assert first.ratings == (Rating("Relevance", 4, "W1"), Rating("Coherence", 5, "W1"), Rating("Relevance", 3, "W2"))
    assert second.id == "b"


def test_one_row_a_rating(write: Write) -> None:
    path = write("a.csv", "n,Prompt,Story,Model,what,value\na,p,x,m,Relevance,4\na,p,x,m,Coherence,2\n")
    (story,) = read(path, {**MAP, "criterion": "what", "rating": "value"})
    assert story.ratings == (Rating("Relevance", 4), Rating("Coherence", 2))


def test_fields_are_taken_from_columns_of_their_name_and_constants_from_the_map(write: Write) -> None:
    path = write("a.csv", "text,story_prompt\nx,p\ny,q\n")
    assert read(path, {"system": "=gpt-4"}) == [Story("2", "p", "gpt-4", "x"), Story("3", "q", "gpt-4", "y")]


def test_parquet_without_its_package_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[data\]"):
        read(write("a.parquet", b""), MAP)


def test_a_file_that_is_no_parquet(write: Write) -> None:
    with pytest.raises(DataError, match="is not a Parquet file"):
        read(write("a.parquet", b"no"), MAP)


@pytest.mark.parametrize(
    ("content", "columns", "sentence"),
    [
        ("n,Story\n1,x\n", {"text": "Stroy"}, "column 'Stroy' is not known; did you mean 'Story'.* wanted as text"),
        ("n,Story\n1,x\n", {"text": "Story"}, "the map names no column for the system; found 'n, Story'"),
        ("n,Story\n1,x\n", {"text": "Story", "system": "=m", "rater": "n"}, "the map names no column for the id"),
        ("text,system\n,m\n", {}, "row 2, column 'text': the text is empty"),
        ("id,text,system\n1,x,m\n1,y,m\n", {}, "row 3, column 'id': the id is already used in row 2; found '1'"),
        ("text,system,r\nx,m,nan\n", {"ratings": {"R": "r"}}, "row 2, column 'r': not a rating; found 'nan'"),
        ("text,system,r\nx,m,good\n", {"ratings": {"R": "r"}}, "row 2, column 'r': not a rating; found 'good'"),
        (
            "id,text,system,w,r\n1,x,m,A,1\n1,y,m,B,1\n",
            {"rater": "w"},
            "row 3, column 'text': differs from the earlier rows",
        ),
        ("id,text,system,w\n1,x,m,\n", {"rater": "w"}, "row 2, column 'w': the text is empty"),
        (
            "id,text,system,w,r\n1,x,m,A,1\n1,x,m,A,2\n",
            {"rater": "w", "ratings": {"R": "r"}},
            "row 3, column 'w': rater 'A' rated story '1' on R before",
        ),
        ("text,system\n", {}, "the table has no rows"),
        ("id,text,system\n1,x,m\n", {"txt": "text"}, "column map field 'txt' is not known; did you mean 'text'"),
        ("id,text,system\n1,x,m\n", {"criterion": "id"}, "criterion and rating go together"),
    ],
)
def test_bad_tables_and_maps_get_a_sentence(content: str, columns: dict[str, Any], sentence: str, write: Write) -> None:
    with pytest.raises(JudgeError, match=sentence):
        read(write("a.csv", content), columns)


def test_an_empty_parquet_table(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({"text": pa.array([], pa.string()), "system": pa.array([], pa.string())}), tmp_path / "a.parquet"
    )
    with pytest.raises(DataError, match="the table has no rows"):
        read(tmp_path / "a.parquet", None)


def test_the_map_is_part_of_what_the_dataset_is(write: Write) -> None:
    path = str(write("a.csv", "text,other,system\nx,y,m\n"))
    assert open_dataset(path).fingerprint() != open_dataset(path, columns={"text": "other"}).fingerprint()


def test_the_hanna_annotations_read_the_same_through_a_map(annotations: Path) -> None:
    from judge.inputs.datasets.studies.hanna import CRITERIA, read_stories

    columns = {
        "id": "Story ID",
        "story_prompt": "Prompt",
        "system": "Model",
        "text": "Story",
        "reference": "Human",
        "rater": "Worker ID",
        "ratings": {c: c for c in CRITERIA},
    }
    assert read(annotations, columns) == list(read_stories(annotations))


def test_a_study_has_its_own_reader() -> None:
    with pytest.raises(SpecError, match="mans_roc has its own reader"):
        open_dataset("mans_roc", columns=MAP)
