"""The program's own format, both ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.base.errors import DataError
from judge.base.records import Rating, Story
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.files.native import read_stories, write_stories

Write = Callable[[str, str | bytes], Path]
STORY: dict[str, Any] = {"id": "1", "story_prompt": "p", "system": "s", "text": "t"}

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(lambda t: bool(t.strip()))
ratings = st.builds(
    Rating, criterion=words, value=st.floats(allow_nan=False, allow_infinity=False), rater=st.none() | words
)
stories = st.builds(
    Story,
    id=words,
    story_prompt=st.just("") | words,
    system=words,
    text=words,
    reference=st.none() | words,
    ratings=st.lists(ratings, max_size=3).map(tuple),
)


@given(st.lists(stories, min_size=1, max_size=5, unique_by=lambda s: s.id))
def test_what_is_written_is_what_is_read(written: list[Story]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        assert write_stories(path, written) == len(written)
        assert list(read_stories(path)) == written


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({**STORY, "sytem": "x"}, "row 2: unknown key 'sytem'; did you mean 'system'"),
        ({k: v for k, v in STORY.items() if k != "system"}, "row 2, column 'system': key 'system' is missing"),
        ({**STORY, "id": "2", "text": " \n"}, "row 2, column 'text': the text is empty"),
        ({**STORY, "id": ""}, "row 2, column 'id': the text is empty"),
        ({**STORY, "id": 2}, "row 2, column 'id': not what the format promises; found 2; allowed: a text"),
        ({**STORY, "ratings": {"a": 1}}, "row 2, column 'ratings': not what the format promises"),
        ({**STORY, "ratings": [{"criterion": "c"}]}, r"row 2, column 'ratings\.0\.value': key 'value' is missing"),
        ({**STORY, "ratings": [{"criterion": "c", "value": "4"}]}, "found '4'; allowed: a finite number"),
        ({**STORY, "ratings": [{"criterion": "c", "value": True}]}, "found True; allowed: a finite number"),
        (
            {**STORY, "ratings": [{"criterion": "c", "value": 4, "ratr": "x"}]},
            "unknown key 'ratr'; did you mean 'rater'",
        ),
        ({**STORY}, "row 2, column 'id': the id is already used in row 1; found '1'"),
        ([1], r"row 2: not an object; found \[1\]"),
    ],
)
def test_a_bad_line_is_named(line: object, sentence: str, write: Write) -> None:
    with pytest.raises(DataError, match=sentence):
        list(read_stories(write("a.jsonl", f"{json.dumps(STORY)}\n{json.dumps(line)}\n")))


def test_nan_is_no_rating(write: Write) -> None:
    line = '{"id":"1","story_prompt":"p","system":"s","text":"t","ratings":[{"criterion":"c","value":NaN}]}'
    with pytest.raises(DataError, match="row 1: not a JSON number; found 'NaN'"):
        list(read_stories(write("a.jsonl", line)))


def test_an_empty_file_holds_no_story(write: Write) -> None:
    with pytest.raises(DataError, match="the file holds no story"):
        list(read_stories(write("a.jsonl", "\n")))


def test_lines_are_read_only_when_they_are_asked_for(write: Write) -> None:
    stream = read_stories(write("a.jsonl", f"{json.dumps(STORY)}\nthis is no JSON\n"))
    assert next(stream).id == "1"
    with pytest.raises(DataError, match="row 2: is not JSON"):
        next(stream)


def test_an_existing_file_is_never_overwritten(write: Write) -> None:
    path = write("a.jsonl", "mine")
    with pytest.raises(DataError, match="exists already"):
        write_stories(path, [])
    assert path.read_text() == "mine"


def test_a_broken_source_leaves_no_half_file(write: Write, tmp_path: Path) -> None:
    source = read_stories(write("a.jsonl", f"{json.dumps(STORY)}\nthis is no JSON\n"))
    with pytest.raises(DataError, match="row 2"):
        write_stories(tmp_path / "b.jsonl", source)
    assert not list(tmp_path.glob("b.jsonl*"))


def test_a_released_set_survives_the_way_through_the_native_form(with_studies: Path, tmp_path: Path) -> None:
    released = list(open_dataset("mans_roc").stories())
    write_stories(tmp_path / "mans.jsonl", released)
    again = open_dataset(str(tmp_path / "mans.jsonl"))
    assert list(again.stories()) == released
    assert again.name == "mans"


def test_the_fingerprint_is_of_the_content(write: Write) -> None:
    first = open_dataset(str(write("a.jsonl", json.dumps(STORY))))
    same = open_dataset(str(write("b.jsonl", json.dumps(STORY))))
    other = open_dataset(str(write("c.jsonl", json.dumps({**STORY, "text": "u"}))))
    assert first.fingerprint() == same.fingerprint() != other.fingerprint()
