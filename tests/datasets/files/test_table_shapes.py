"""Tables as people make them: separators, decimal commas, lists, nested objects, workbooks, and what is refused."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from judge.base.errors import DataError, JudgeError, MissingExtraError
from judge.base.records import Rating, Story
from judge.cli.table_options import mend
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.files.column_guess import column_options, guess

Write = Callable[[str, str | bytes], Path]
ONE = "The lamp went out at nine and Mara waited on the stairs, counting."
TWO = "Nobody came, so she lit it again herself; in the morning, two cups."
MAP: dict[str, Any] = {"text": "Story", "system": "Model", "ratings": {"Coherence": "coh"}}
HEAD = "ID,Story,Model,coh"


def read(path: Path, columns: dict[str, Any] | None) -> list[Story]:
    return list(open_dataset(str(path), columns=columns).stories())


def values(path: Path, columns: dict[str, Any]) -> list[list[float]]:
    return [[rating.value for rating in story.ratings] for story in read(path, columns)]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("bom.csv", b"\xef\xbb\xbf" + f'{HEAD}\r\n1,"{ONE}",m,4\r\n'.encode(), [[4]]),
        ("newline.csv", f'{HEAD}\r\n1,"{ONE}\r\nSecond, line",m,4\r\n', [[4]]),
        ("mac.csv", f'{HEAD}\r1,"{ONE}",m,4\r', [[4]]),
        ("blank.csv", f'\n{HEAD}\n\n1,"{ONE}",m,4\n\n', [[4]]),
        ("semicolon.csv", f'ID;Story;Model;coh\n1;"{ONE}";m;4,5\n2;"{TWO}";m;3\n', [[4.5], [3]]),
        ("excel.csv", f'sep=;\r\nID;Story;Model;coh\r\n1;"{ONE}";m;4\r\n', [[4]]),
        ("tab.csv", f"ID\tStory\tModel\tcoh\n1\t{ONE}\tm\t4\n", [[4]]),
        ("tab.tsv", f"ID\tStory\tModel\tcoh\n1\t{ONE}\tm\t4\n", [[4]]),
        ("bar.csv", f"ID|Story|Model|coh\n1|{ONE}|m|4\n", [[4]]),
        ("title.csv", f'"id;a;b;c;d;e",Story,Model,coh\n1,"{ONE}",m,4\n', [[4]]),
        ("empty.csv", f'{HEAD}\n1,"{ONE}",m,\n2,"{TWO}",m, \n', [[], []]),
        ("list.csv", f'{HEAD}\n1,"{ONE}",m,4;5;3\n2,"{TWO}",m,4|2\n', [[4, 5, 3], [4, 2]]),
        ("commas.csv", f'{HEAD}\n1,"{ONE}",m,"4, 5,3"\n', [[4, 5, 3]]),
        ("json.csv", f'{HEAD}\n1,"{ONE}",m,"[4, null, 3]"\n2,"{TWO}",m,"(1, 2.5)"\n', [[4, 3], [1, 2.5]]),
        ("numpy.csv", f'{HEAD}\n1,"{ONE}",m,[4 5 3]\n2,"{TWO}",m,[4. 5.]\n', [[4, 5, 3], [4, 5]]),
    ],
)
def test_shapes_that_are_read(name: str, content: str | bytes, expected: list[list[float]], write: Write) -> None:
    assert values(write(name, content), MAP) == expected


@pytest.mark.parametrize(
    ("cell", "sentence", "hint"),
    [
        ('"4,5"', "not a rating; found '4,5'", "a number is written 4.5, two ratings 4;5"),
        ("NA", "not a rating; found 'NA'", 'columns={"missing": "=NA"}'),
        ("4/5", "not a rating; found '4/5'", None),
        ("4_5", "not a rating; found '4_5'", None),
        ("4;five", "not a rating; found 'five'", 'columns={"labels": "=No,Yes"}'),
        ("[[4]]", "not a rating", "with dots"),
        ("inf", "not a rating; found 'inf'", None),
    ],
)
def test_cells_that_may_mean_two_things_are_refused(cell: str, sentence: str, hint: str | None, write: Write) -> None:
    with pytest.raises(DataError) as caught:
        read(write("a.csv", f'{HEAD}\n1,"{ONE}",m,{cell}\n'), MAP)
    assert f"row 2, column 'coh': {sentence}" in str(caught.value)
    assert (caught.value.hint is None) == (hint is None)
    assert hint is None or hint in str(caught.value.hint)


def test_a_comma_list_in_a_file_with_decimal_commas_is_refused(write: Write) -> None:
    path = write("a.csv", f'ID;Story;Model;coh\n1;"{ONE}";m;4,5,3\n')
    with pytest.raises(DataError, match="not a rating; found '4,5,3'"):
        read(path, MAP)


def test_words_for_missing_ratings_are_read_as_such_where_the_map_says_so(write: Write) -> None:
    path = write("a.csv", f'{HEAD}\n1,"{ONE}",m,NA\n2,"{TWO}",m,4;nan;3\n')
    assert values(path, {**MAP, "missing": ["NA", "nan"]}) == [[], [4, 3]]
    assert values(path, {**MAP, **(column_options(["missing==NA,nan"]) or {})}) == [[], [4, 3]]


def test_a_column_for_each_rater(write: Write) -> None:
    path = write("a.csv", f'id,Story,Model,ann,bob,cem\n1,"{ONE}",m,3,4,\n')
    named = (Rating("Overall", 3, "ann"), Rating("Overall", 4, "bob"))
    base = {"text": "Story", "system": "Model"}
    for way in ("ann,bob,cem", ["ann", "bob", "cem"], "ann:ann, bob:bob, cem:cem", {"ann": "ann", "bob": "bob"}):
        (story,) = read(path, {**base, "ratings": {"Overall": way}})
        assert story.ratings == named
    (story,) = read(path, {**base, "ratings.Overall": "ann,bob", "rater": "=unknown"})
    assert story.ratings == (Rating("Overall", 3), Rating("Overall", 4))
    with pytest.raises(JudgeError, match=r"either rater .* or several columns"):
        read(path, {**base, "ratings.Overall": "ann,bob", "rater": "cem"})


def test_objects_within_objects_and_lists_side_by_side(write: Write) -> None:
    notes = [{"who": "a", "coh": 4, "fun": 2}, {"who": 7, "coh": None, "fun": 3}]
    entry = {"id": 1, "story": {"text": ONE, "by": {"model": "m"}}, "notes": notes, "scores": {"ann": 4, "bob": 5}}
    columns = {"text": "story.text", "system": "story.by.model", "rater": "notes.who"}
    both = {"ratings": {"Coherence": "notes.coh", "Fun": "notes.fun"}}
    expected = (Rating("Coherence", 4, "a"), Rating("Fun", 2, "a"), Rating("Fun", 3, "7"))
    for path in (write("a.json", json.dumps([entry])), write("a.jsonl", json.dumps(entry) + "\n")):
        (story,) = read(path, columns | both)
        assert (story.id, story.text, story.system, story.ratings) == ("1", ONE, "m", expected)
        (story,) = read(path, {**columns, "rater": "=unknown", "ratings.Overall": "scores"})
        assert [rating.value for rating in story.ratings] == [4, 5]
        (story,) = read(path, {"text": "story.text", "system": "=GPT-4", "ratings.Overall": "scores"})
        assert story.system == "GPT-4"
        assert story.ratings == (Rating("Overall", 4, "ann"), Rating("Overall", 5, "bob"))
    with pytest.raises(DataError, match=r"'notes\.why' is not known; did you mean 'notes\.who'"):
        read(path, {**columns, "rater": "notes.why"})


def test_a_list_of_native_ratings_and_lists_of_unequal_length(write: Write) -> None:
    entry = {"id": "a", "system": "s", "text": ONE, "ratings": [{"rater": "w", "criterion": "C", "value": 4}]}
    columns = {"rater": "ratings.rater", "criterion": "ratings.criterion", "rating": "ratings.value"}
    (story,) = read(write("a.json", json.dumps([entry])), columns)
    assert story.ratings == (Rating("C", 4, "w"),)
    path = write("b.json", json.dumps([{"id": "a", "system": "s", "text": ONE, "who": ["w"], "r": [1, 2]}]))
    with pytest.raises(DataError, match="column 'who': holds 1 entries beside 2 ratings"):
        read(path, {"rater": "who", "ratings.C": "r"})


def test_every_format_gives_the_same_stories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"n": [1, 2], "Story": [ONE, TWO], "Model": ["m", "m"], "coh": [4, None]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "s.csv", index=False, sep=";", decimal=",")
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "a.json", orient="records")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.astype({"n": float}).to_parquet(tmp_path / "float.parquet", index=False)
    expected = [
        Story("1", "", "m", ONE, None, (Rating("Coherence", 4),)),
        Story("2", "", "m", TWO),
    ]
    files = sorted(tmp_path.iterdir())
    assert len(files) == 8
    for file in files:
        assert read(file, {**MAP, "id": "n"}) == expected, file.name


def _workbook(path: Path, sheets: dict[str, Sequence[Sequence[object]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_workbooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["ID", "Story", "Model", "coh"], [1, ONE, "m", 4], [None, None, None, None], [2, TWO, "m", None]]
    path = _workbook(tmp_path / "a.xlsx", {"Notes": [], "Data": rows})
    assert values(path, MAP) == [[4], []]
    two = _workbook(tmp_path / "b.xlsx", {"Data": rows, "Notes": [["x"], ["y"]]})
    with pytest.raises(DataError, match="holds 2 sheets; found 'Data, Notes'") as caught:
        read(two, MAP)
    assert 'columns={"sheet": "=Data"}' in str(caught.value.hint)
    assert values(two, {**MAP, "sheet": "Data"}) == [[4], []]
    with pytest.raises(DataError, match="sheet 'Dat' is not known; did you mean 'Data'"):
        read(two, {**MAP, "sheet": "=Dat"})
    formula = _workbook(tmp_path / "c.xlsx", {"Data": [rows[0], [1, ONE, "m", "=2+2"]]})
    with pytest.raises(DataError, match="row 2, column 'coh': a formula that was never computed"):
        read(formula, MAP)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"XLSX needs .*pip install .*\[data\]"):
        read(path, MAP)


@pytest.mark.parametrize(
    ("name", "content", "sentence", "hint"),
    [
        ("a.csv", f'{HEAD},coh\n1,"{ONE}",m,3,4\n', "the header names a column twice", "a name of its own"),
        ("a.csv", f'{HEAD},,\n1,"{ONE}",m,3,,\n', "columns without a name", "a name of its own"),
        ("a.csv", f"{HEAD}\n1,{ONE},m,3\n", "has 5 cells where the header has 4", 'must be in "quotes"'),
        ("a.csv", f'{HEAD}\n1,"Hi" she said,m,3\n', "is not CSV", 'writes each " within it twice'),
        ("a.csv", f'{HEAD}\n1,"{ONE} кафе",m,3\n'.encode("cp1251"), "row 2, column 'Story'", "save the file as UTF-8"),
        ("a.json", '{"id": {"0": 1}}', "is not a list of objects", "orient='records'"),
        ("a.xlsx", "no workbook", "is not an XLSX workbook", None),
        ("a.xls", "x", "files ending in .xls are not read; allowed: .csv", None),
    ],
)
def test_what_cannot_be_read_says_what_mends_it(
    name: str, content: str | bytes, sentence: str, hint: str | None, write: Write
) -> None:
    with pytest.raises(DataError) as caught:
        read(write(name, content), MAP)
    assert sentence in str(caught.value)
    assert hint is None or hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f'Story ID,Prompt,Story,Model,Coherence,Worker ID\n1,Go,"{ONE}",m,4,w1\n1,Go,"{ONE}",m,5,w2\n', None),
        (f'ID,Story,Model,coh\n1,"{ONE}",m,4\n', {"text": "Stroy", "system": "Model"}),
        (f'id,Story,Model,rater1,rater2,rater3\n1,"{ONE}",m,3,4,5\n', None),
        (f'id,Story,Model,aspect,score,worker\n1,"{ONE}",m,Fun,3,a\n1,"{ONE}",m,Sad,4,a\n', None),
        (f'id;Story;Model;words;my rating\n1;"{ONE}";m;12;3,5\n', None),
        (f'id,story,score\n1,"{ONE}",4\n', None),
        (f'Input.story,WorkerId,Input.model,HITId,Answer.coherence\n"{ONE}",A1,m,H,4\n', {"id": "HITId"}),
    ],
)
def test_the_options_that_an_error_proposes_read_the_file(
    content: str, said: dict[str, str] | None, write: Write
) -> None:
    path = write("a.csv", content)
    with pytest.raises(DataError) as caught:
        read(path, said)
    words = shlex.split(str(mend(caught.value)))
    proposed = [words[i + 1] for i, word in enumerate(words) if word == "--column"]
    stories = read(path, column_options(proposed))
    assert [story.text for story in stories] == [ONE]
    assert stories[0].ratings


def test_lines_that_are_not_native_get_a_proposal(write: Write) -> None:
    path = write("a.jsonl", json.dumps({"title": "Go", "story": ONE, "model": "m", "coherence": 4}) + "\n")
    with pytest.raises(DataError, match="key 'id' is missing") as caught:
        read(path, None)
    said = str(mend(caught.value))
    assert "--column text=story --column system=model --column story_prompt=title" in said
    assert "--column ratings.Coherence=coherence" in said


def test_a_criterion_in_place_of_a_field_is_told_its_option(write: Write) -> None:
    with pytest.raises(JudgeError, match=r'columns=\{"ratings\.Coherence": "coh"\}'):
        read(write("a.csv", f'{HEAD}\n1,"{ONE}",m,4\n'), {"Coherence": "coh"})


def test_guesses_on_released_files(studies: Path) -> None:
    found = guess(studies / "deltascore" / "crowdsource_roc.jsonl")
    assert dict(found.columns) == {
        "text": "story",
        "system": "model",
        "story_prompt": "title",
        "reference": "reference",
    }
    assert found.ratings["Coherence"] == "coherence"
    assert len(found.ratings) == 5
    found = guess(studies / "hanna" / "hanna_llm_stories.csv")
    assert dict(found.columns) == {"text": "Story", "system": "Model", "story_prompt": "Prompt", "reference": "Human"}
    with pytest.raises(DataError, match="each row holds 5 stories"):
        guess(studies / "plotguided" / "AMT_ROC.CSV")
