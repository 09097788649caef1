"""Strangers' tables are read rightly at once, or refused with command lines that run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from judge.base.errors import JudgeError
from judge.cli.table_options import complaint, mend, with_flags
from judge.exchange.tables.checked_table import check
from judge.exchange.tables.compared_table import compared_map, read_compared
from judge.exchange.tables.table_roles import GivenColumns
from judge.exchange.tables.two_tables import check_files
from tests.tables.noted import MAKERS as NOTED
from tests.tables.strangers import MAKERS, STORIES, Draw, Stranger
from tests.tables.test_real_tables import of_frame

ALL = [stranger for maker in (*MAKERS, *NOTED) for stranger in maker()]


@pytest.mark.parametrize("stranger", ALL, ids=lambda stranger: stranger.name)
def test_a_strangers_table_is_read_or_refused(stranger: Stranger, tmp_path: Path) -> None:
    path = stranger.write(tmp_path)
    if stranger.refused:
        with pytest.raises(JudgeError) as error:
            check(path)
        told = f"{complaint(error.value)}\n{mend(error.value) or ''}"
        assert [words for words in stranger.refused if words not in told] == []
        return
    checked = check(path)
    found = of_frame(checked.ratings.frame)
    truth = {("judge", *key): values for key, values in stranger.judges.items()}
    truth |= {("rater", *key): values for key, values in stranger.people.items()}
    assert {key: _plain(values) for key, values in found.items()} == {key: _plain(v) for key, v in truth.items()}
    fields = checked.columns.fields
    assert {name: fields.get(name) for name in stranger.fields} == stranger.fields


def _plain(values: list[float]) -> list[float]:
    return sorted(-1.0 if math.isnan(value) else round(value, 9) for value in values)


def _book(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("titles", "options"),
    [
        (("Anna", "Ben", "GPT-4"), "--judge GPT-4 --set rater=sheet --set rating=Plot,Style --story id"),
        (("Humor", "Style"), "--judge Plot --human Style"),
    ],
)
def test_sheets_with_one_header_are_read_below_each_other(
    titles: tuple[str, ...], options: str, tmp_path: Path
) -> None:
    draw = Draw(70)
    sheets = {
        title: [["id", "Plot", "Style"], *([f"s{n}", draw.points(n), draw.points(n)] for n in range(STORIES))]
        for title in titles
    }
    path = _book(tmp_path / "book.xlsx", sheets)
    if titles[0] == "Humor":
        given = GivenColumns(judge=("Plot",), human=("Style",))
        frame = check(path, given).ratings.frame
        assert {*frame["criterion"]} == {*titles}
        return
    checked = check(path)
    assert with_flags(checked.columns.options) == options
    found = of_frame(checked.ratings.frame)
    assert found["judge", "Style", "GPT-4"] == [float(row[2]) for row in sheets["GPT-4"][1:]]
    assert found["rater", "Plot", "Ben"] == [float(row[1]) for row in sheets["Ben"][1:]]


def test_the_only_sheet_with_a_table_is_read_and_two_are_joined(tmp_path: Path) -> None:
    draw = Draw(71)
    people = [["id", "Anna", "Ben"], *([f"s{n}", draw.points(n), draw.points(n)] for n in range(STORIES))]
    judged = [["id", "gpt-4o"], *([f"s{n}", draw.points(n)] for n in range(STORIES - 3))]
    notes = [["What this is"], ["ratings of stories"]]
    book = _book(tmp_path / "two.xlsx", {"Read me": notes, "people": people, "judge": judged})
    checked = check_files([book], GivenColumns())
    assert "joined by id: 27 of 30 stories of people are in judge" in checked.notes
    found = of_frame(checked.ratings.frame)
    assert found["judge", "Overall", "gpt-4o"] == [float(row[1]) for row in judged[1:]]
    assert found["rater", "Overall", "Ben"] == [float(row[2]) for row in people[1:]]
    three = {"people": people, "judge": judged, "more": [["id", "claude"], *judged[1:]]}
    with pytest.raises(JudgeError, match="holds 3 sheets") as error:
        check_files([_book(tmp_path / "three.xlsx", three)], GivenColumns())
    assert "judge check" in str(mend(error.value))


def test_probabilities_of_ratings_are_the_judges_mean(tmp_path: Path) -> None:
    draw = Draw(72)
    shares = [[draw.random.random() for _ in range(4)] for _ in range(STORIES)]
    lines = ["id,rater1,rater2,gpt4_p1,gpt4_p2,gpt4_p3,gpt4_p4"]
    for n, share in enumerate(shares):
        share[:] = [round(part / sum(share), 6) for part in share]
        lines.append(",".join(map(str, (f"s{n}", draw.points(n), draw.points(n), *share))))
    path = tmp_path / "shares.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    checked = check(path)
    means = checked.ratings.frame.query("source == 'judge'")["rating"]
    exact = [sum((k + 1) * part for k, part in enumerate(share)) / sum(share) for share in shares]
    assert list(means) == pytest.approx(exact, abs=1e-12)
    again = check(path, GivenColumns(judge=(checked.columns.judges[0].column,), human=("rater1", "rater2")))
    assert list(again.ratings.frame["rating"]) == list(checked.ratings.frame["rating"])


def test_a_winner_may_be_named_by_its_system(tmp_path: Path) -> None:
    path = tmp_path / "winners.csv"
    rows = [("q1", "a", "b", "b"), ("q2", "b", "c", "b"), ("q3", "c", "a", "tie"), ("q4", "a", "c", "a")]
    path.write_text("question,model_a,model_b,winner\n" + "\n".join(map(",".join, rows)), encoding="utf-8")
    chosen = compared_map(path, {})
    assert chosen is not None
    frame = read_compared(path, chosen, "t").frame
    assert list(frame["preference"]) == ["second", "first", "tie", "first"]
