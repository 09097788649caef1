"""Strict reading: every kind of broken file gets a sentence with its row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.base.records import Scale
from judge.inputs.datasets.files.source_file import csv_rows, json_lines, rating_value, read_json

Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"a": 1,\n "b": }', r"row 2: is not JSON: Expecting value \(column 7\)"),
        (b'{"a": "NaN",\n "b":\n NaN}', "row 3: not a JSON number; found 'NaN'"),
        (b'{"a": -Infinity}', "row 1: not a JSON number; found '-Infinity'"),
        (b'{"a": 1, "a": 2}', "key 'a' occurs twice in one object"),
        (b'{"a":\n "caf\xe9"}', r"row 2: is not valid UTF-8; found b'\\xe9'"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_broken_json(content: bytes, sentence: str, write: Write) -> None:
    with pytest.raises(DataError, match=sentence):
        read_json(write("a.json", content))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"a": 1}\n{"a": \n', "row 2: is not JSON"),
        (b'{"a": 1}\n{"a": NaN}\n', "row 2: not a JSON number; found 'NaN'"),
        (b'{"a": 1}\n\n{"a": "\xff"}\n', "row 3: is not valid UTF-8"),
        (b'{"a": "\\ud800"}\n', "row 1: is not JSON"),
    ],
)
def test_broken_json_lines(content: bytes, sentence: str, write: Write) -> None:
    with pytest.raises(DataError, match=sentence):
        list(json_lines(write("a.jsonl", content)))


def test_blank_lines_hold_nothing_but_count_as_rows(write: Write) -> None:
    assert list(json_lines(write("a.jsonl", b'\xef\xbb\xbf{"a": 1}\n\n[2]\n'))) == [(1, {"a": 1}), (3, [2])]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty"),
        (b"a,b,a\n1,2,3\n", "row 1, column 'a': the header names a column twice"),
        (b"a,b\n1,2\n", "column 'text' missing; found"),
        (b"a,text\n1\n", "row 2: has 1 cells where the header has 2"),
        (b"a,text\n1,x\n2,y,z\n", "row 3: has 3 cells where the header has 2"),
        (b'a,text\n1,"x" y\n', "row 2: is not CSV"),
        (b'a,text\n1,"never closed\n', "row 2: is not CSV"),
        (b"a,text\n1,x\n2,caf\xb3\n", r"row 3, column 'text': is not valid UTF-8; found b'\\xb3'"),
    ],
)
def test_broken_csv(content: bytes, sentence: str, write: Write) -> None:
    with pytest.raises(DataError, match=sentence):
        list(csv_rows(write("a.csv", content), ["text"]))


def test_csv_is_read_row_by_row(write: Write) -> None:
    rows = csv_rows(write("a.csv", b"a,text\n1,x\n2,caf\xb3\n"))
    assert next(rows) == (2, {"a": "1", "text": "x"})
    with pytest.raises(DataError, match="row 3"):
        next(rows)


def test_csv_cells_longer_than_the_standard_limit_are_read(write: Write) -> None:
    long = "x" * 200_000
    ((_, cells),) = csv_rows(write("a.csv", f"text\n{long}\n"))
    assert cells["text"] == long


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for read in (read_json, lambda p: list(json_lines(p)), lambda p: list(csv_rows(p))):
        with pytest.raises(DataError, match="cannot be read: No such file"):
            read(tmp_path / "none")


@pytest.mark.parametrize("value", ["nan", "inf", "", "four", None, True, [4]])
def test_what_is_no_number_is_no_rating(value: object) -> None:
    with pytest.raises(DataError, match=r"row 4, column 'c': not a rating; .*allowed: 1, 2, 3, 4, 5"):
        rating_value(value, Scale(), Path("f.csv"), 4, "c")


def test_steps_matter_only_where_they_are_promised() -> None:
    assert rating_value("2.67", Scale(), Path("f"), 1, "c", step=False) == 2.67
    with pytest.raises(DataError, match="off the scale"):
        rating_value("2.67", Scale(), Path("f"), 1, "c")
    with pytest.raises(DataError, match="allowed: 1 to 5"):
        rating_value("5.01", Scale(), Path("f"), 1, "c", step=False)
