"""Seven tables that were once read wrongly without a word, small and made here."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import Workbook

from judge.base.errors import DataError
from judge.cli.main import main
from judge.cli.table_options import with_flags
from judge.exchange.tables.checked_table import check
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.faults import faults
from judge.inputs.datasets.files.column_guess import guess
from judge.inputs.datasets.files.reading import TwoReadingsError

STORY = "Story {}: the lamp went out at nine and Mara waited on the stairs, counting to {}."


def _points(random_: random.Random, count: int) -> list[int]:
    return [random_.randint(1, 5) for _ in range(count)]


@pytest.fixture
def crossed() -> pd.DataFrame:
    """20 stories, two criteria, three people and a judge on each."""
    draw = random.Random(1)
    columns = {f"{c}_ann{n}": _points(draw, 20) for c in ("plaus", "end") for n in (1, 2, 3)}
    return pd.DataFrame(
        {"id": range(20), "story": [STORY.format(n, n) for n in range(20)], "model": ["a", "b"] * 10, **columns}
    )


def _csv(frame: pd.DataFrame, folder: Path, name: str = "t.csv") -> Path:
    path = folder / name
    frame.to_csv(path, index=False)
    return path


def _by(path: Path, source: str) -> dict[tuple[str, str], list[float]]:
    frame = check(path).ratings.frame
    who = "judge" if source == "judge" else "rater"
    return {
        (str(criterion), str(name)): list(of["rating"])
        for (criterion, name), of in frame[frame["source"] == source].groupby(["criterion", who])
    }


def test_numbers_of_annotators_are_no_ratings(tmp_path: Path) -> None:
    draw = random.Random(2)
    rows = [
        (f"s{story}", f"m{story % 3}", criterion, rater, draw.randint(1, 5), 1 + (story + len(criterion)) % 5)
        for story in range(20)
        for criterion in ("Plot", "Style")
        for rater in draw.sample(range(1, 14), 3)
    ]
    frame = pd.DataFrame(rows, columns=["id", "system", "criterion", "rater", "human", "gpt"])
    path = _csv(frame, tmp_path)
    people = _by(path, "rater")
    assert {who for _, who in people} == {str(n) for n in range(1, 14)}
    assert sum(map(len, people.values())) == len(rows)
    assert {*_by(path, "judge")} == {("Plot", "gpt"), ("Style", "gpt")}
    mapped = guess(path, texts=False)
    assert mapped.columns["rater"] == "rater"
    assert mapped.columns["rating"] == "human"


def test_two_criteria_of_three_people_are_crossed(crossed: pd.DataFrame, tmp_path: Path) -> None:
    mapped = guess(_csv(crossed, tmp_path))
    assert mapped.as_map()["ratings"] == {c: f"ann1:{c}_ann1,ann2:{c}_ann2,ann3:{c}_ann3" for c in ("plaus", "end")}
    dataset = open_dataset(str(tmp_path / "t.csv"), columns=mapped.as_map())
    assert {rating.rater for story in dataset.stories() for rating in story.ratings} == {"ann1", "ann2", "ann3"}
    judged = crossed.assign(gpt_plaus=crossed["plaus_ann1"], gpt_end=crossed["end_ann2"])
    people = _by(_csv(judged, tmp_path, "judged.csv"), "rater")
    assert {*people} == {(c, f"ann{n}") for c in ("plaus", "end") for n in (1, 2, 3)}
    assert people["end", "ann2"] == list(crossed["end_ann2"])
    one = _csv(crossed.assign(gpt=crossed["plaus_ann1"]), tmp_path, "one.csv")
    with pytest.raises(TwoReadingsError, match="the judge's rating of plaus, not of end") as doubt:
        check(one)
    hint = with_flags(doubt.value.hint or "")
    assert f"if yes: judge check {one} --judge plaus=gpt --human plaus=plaus_ann1" in hint
    assert f"if no: judge check {one} --judge end=gpt --human end=end_ann1" in hint
    assert {*check(one, doubt.value.choices[1]).ratings.frame["criterion"]} == {"end"}


def test_yes_and_no_of_people_are_labels(crossed: pd.DataFrame, tmp_path: Path) -> None:
    words = {f"ann{n}": ["Yes" if value > 2 else "No" for value in crossed[f"end_ann{n}"]] for n in (1, 2, 3)}
    path = _csv(crossed[["id", "story", "model"]].assign(**words), tmp_path)
    mapped = guess(path)
    assert mapped.as_map()["labels"] == "=No,Yes"
    stories = list(open_dataset(str(path), columns=mapped.as_map()).stories())
    assert [rating.value for rating in stories[0].ratings] == [float(words[f"ann{n}"][0] == "Yes") for n in (1, 2, 3)]
    with pytest.raises(DataError, match="no columns could be identified as the ratings of a judge"):
        check(path)


def test_codes_of_comparisons_are_no_ratings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(3)
    rows = [
        [STORY.format(n, 1), STORY.format(n, 2), *(draw.choice((0, 1, 1, 2, 2)) for _ in range(5))] for n in range(30)
    ]
    names = ["response1", "response2", "annotator1", "annotator2", "annotator3", "gpt-3.5", "pandalm"]
    path = _csv(pd.DataFrame(rows, columns=names), tmp_path, "pairs.csv")
    with pytest.raises(DataError, match="compares two stories a row") as error:
        check(path)
    assert "judge import" in str(error.value.hint)
    told = {}
    for words in ((), ("--labels", "1,2,0")):
        with pytest.raises(SystemExit) as end:
            main(["import", str(path), "-o", str(tmp_path / "run"), *words])
        told[words] = (end.value.code, *capsys.readouterr())
    code, _, err = told[()]
    assert code == 1
    assert "--labels 1,2,0" in err
    assert "--labels 0,1,2" in err
    code, out, _ = told["--labels", "1,2,0"]
    assert code == 0
    assert "60 preferences by gpt-3.5, pandalm, 90 by people" in out
    frame = pd.read_csv(tmp_path / "run" / "imported_preferences.csv")
    person = frame[frame["rater"] == "annotator1"]["preference"]
    assert list(person) == [{0: "tie", 1: "first", 2: "second"}[row[2]] for row in rows]


def test_a_rating_of_11_and_one_endless_story_are_told(crossed: pd.DataFrame, tmp_path: Path) -> None:
    crossed.loc[4, "end_ann2"] = 11
    crossed.loc[7, "story"] = "word " * 5000
    path = _csv(crossed, tmp_path)
    dataset = open_dataset(str(path), columns=guess(path).as_map())
    assert faults(dataset.stories()) == [
        "1 of 60 ratings of end lies apart from the others (1-5): 11 (story 4)",
        "story 7 has 5,000 words, 294 times the median of 17",
    ]
    notes = check(_csv(crossed.assign(gpt_end=3, gpt_plaus=crossed["plaus_ann1"]), tmp_path, "judged.csv")).notes
    assert "look at this: 1 of 60 ratings of end lies apart from the others (1-5): 11 (story 4)" in notes
    assert any("294 times the median" in note for note in notes)


def test_blocks_side_by_side_under_raters_names_are_read(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.append(["Rater 1", None, None, None, "Rater 2", None, None])
    sheet.append(["Story", "Humour", "Style", None, "Story", "Humour", "Style"])
    for number in range(12):
        sheet.append([f"s{number}", 3, 4, None, f"s{number}", 2, 5])
    book.save(tmp_path / "blocks.xlsx")
    mapped = guess(tmp_path / "blocks.xlsx", texts=False)
    assert mapped.ratings == {"Humour": "Rater 1:Rater 1 Humour,Rater 2:Rater 2 Humour"} | {
        "Style": "Rater 1:Rater 1 Style,Rater 2:Rater 2 Style"
    }
    assert mapped.columns["id"] == "Story"


def _rows(header: str, lines: list[str]) -> str:
    return "\n".join([header, *lines]) + "\n"


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("lieu,systeme,annotateur,date,note,note_gpt4", "h{i},s{m},{w},d{i},{h},{j}", "no column is known to name the"),
        (
            "title,page,words,rater1,rater2,LLM score",
            "Title {i},{k},2{i},{h},{k},{j}x",
            "'LLM score' is named as a judge",
        ),
    ],
)
def test_ids_of_raters_and_page_numbers_are_no_ratings(tmp_path: Path, header: str, row: str, said: str) -> None:
    lines = [
        row.format(
            i=i, s=i // 3, p=i // 9, m=i // 3 % 3, w=101 + i * 7 % 12, k=1 + i * 7 % 5, h=1 + i % 5, j=1 + i // 3 % 9
        )
        for i in range(90)
    ]
    path = tmp_path / "table.csv"
    path.write_text(_rows(header, lines), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        check(path)
