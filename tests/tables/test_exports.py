"""Exports of annotation tools and forms: votes in lists, titles above the header, answers in words, survey forms."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import Workbook

from judge.base.errors import DataError
from judge.cli.table_options import mend, with_flags
from judge.exchange.tables.checked_table import check
from judge.exchange.tables.compared_table import compared_map, read_compared
from judge.exchange.tables.table_roles import GivenColumns
from judge.exchange.tables.two_tables import check_two
from tests.report.runs import command as run
from tests.tables.strangers import STORIES, Draw

PEOPLE = ("ida@lab.example", "bo@lab.example")
PROMPTS = ("gpt-4o/prompt_v1", "gpt-4o/prompt_v2")


def _result(quality: int, *problems: str) -> list[dict[str, Any]]:
    chosen = {"from_name": "problems", "type": "choices", "value": {"choices": list(problems)}}
    return [{"from_name": "quality", "type": "rating", "value": {"rating": quality}}, *([chosen] if problems else [])]


def test_an_export_of_label_studio_is_read_by_annotator_and_model(tmp_path: Path) -> None:
    draw = Draw(90)
    rated = [{who: draw.points(n) for who in (*PEOPLE, *PROMPTS)} for n in range(STORIES)]
    tasks = [
        {
            "id": 900 + n,
            "data": {"prompt": f"p{n // 2}", "story": draw.text(("lamp", "river", "stone")), "generator": "gpt"},
            "annotations": [
                {"id": 5000 + n, "completed_by": {"id": at, "email": who}, "lead_time": 9.5, "was_cancelled": False}
                | {"result": _result(of[who], "grammar", "off-topic")}
                for at, who in enumerate(PEOPLE)
            ]
            + [{"id": 1, "completed_by": {"email": "x"}, "was_cancelled": True, "result": _result(1)}],
            "predictions": [{"model_version": name, "score": 0.6, "result": _result(of[name])} for name in PROMPTS],
            "total_annotations": 3,
        }
        for n, of in enumerate(rated)
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    checked = check(path)
    frame = checked.ratings.frame
    for source, who, names in (("rater", "rater", PEOPLE), ("judge", "judge", PROMPTS)):
        mine = frame[frame["source"] == source]
        assert {*mine[who]} == {*names}
        for name in names:
            assert list(mine.loc[mine[who] == name, "rating"]) == [float(of[name]) for of in rated]
    assert {*frame["criterion"]} == {"quality"}
    assert {*frame["system"]} == {"gpt"}
    assert checked.columns.fields["text"] == "story"


def test_votes_of_people_and_judges_in_lists_are_comparisons(tmp_path: Path) -> None:
    pairs = [("owl", "fox", f"q{n}", ("owl", "fox", "tie")[n % 3]) for n in range(12)]
    records = [
        {"question_id": item, "turn": 1 + n % 2, "model_a": a, "model_b": b}
        | {"votes": [{"voter": "author_4", "winner": winner}, {"voter": "expert_2", "winner": a}]}
        | {"auto": [{"judge": "gpt-4o", "winner": b, "latency_s": 1.5}]}
        for n, (a, b, item, winner) in enumerate(pairs)
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    columns = compared_map(path, {})
    assert columns is not None
    frame = read_compared(path, columns, "t").frame
    assert list(frame.loc[frame["judge"] == "gpt-4o", "preference"]) == ["second"] * 12
    theirs = frame[frame["rater"] == "author_4"]
    assert list(theirs["preference"]) == [{"owl": "first", "fox": "second", "tie": "tie"}[p[3]] for p in pairs]
    assert len(frame) == 36
    assert run("import", str(path), "-o", str(tmp_path / "votes")) == 0


def test_a_title_above_two_header_rows_and_a_legend_are_no_ratings(tmp_path: Path) -> None:
    draw, book = Draw(91), Workbook()
    sheet = book.active
    sheet.title = "Ratings"
    sheet.append(["Story evaluation, round 2 (do not edit)"])
    sheet.append([])
    sheet.append([None, "Annotator A", None, "gpt-4", None])
    sheet.append(["Story", "Plot", "Style", "Plot", "Style"])
    rows = [[f"s{n}", *(draw.points(n) for _ in range(4))] for n in range(STORIES)]
    for row in rows:
        sheet.append(row)
    legend = book.create_sheet("Legend")
    for row in (("Code", "Who"), ("A", "a crowd worker"), ("Scale", "1 to 5"), ("B", "nobody")):
        legend.append(row)
    path = tmp_path / "book.xlsx"
    book.save(path)
    frame = check(path).ratings.frame
    judged = frame[(frame["source"] == "judge") & (frame["criterion"] == "Style")]
    assert list(judged["rating"]) == [float(row[4]) for row in rows]
    assert {*frame.loc[frame["source"] == "rater", "criterion"]} == {"Plot", "Style"}
    lines = ["Round 2,,,", "id,rater1,rater2,gpt4", *(",".join(map(str, row[:4])) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    assert list(check(tmp_path / "t.csv").ratings.frame.query("source == 'judge'")["rating"]) == [
        float(row[3]) for row in rows
    ]


def test_answers_in_words_are_parsed_and_joined_by_ids_with_their_run(tmp_path: Path) -> None:
    draw = Draw(92)
    rows = [(f"wp-{n}", who, draw.points(n)) for n in range(STORIES) for who in ("A3K", "B7Q")]
    people = tmp_path / "people.csv"
    pd.DataFrame(rows, columns=["Input.doc", "WorkerId", "Answer.q_coherence"]).to_csv(people, index=False)
    lines = [
        {"custom_id": f"wp-{n}#run{at}", "model": "gpt-4-1106-preview", "completion": f"Score: {draw.points(n)}"}
        for n in range(STORIES)
        for at in range(3)
    ]
    answers = tmp_path / "judge.jsonl"
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    with pytest.raises(DataError) as error:
        check_two([people, answers], GivenColumns())
    told = str(mend(error.value))
    assert "completion holds answers in words: judge parse" in told
    words = shlex.split(told.partition(": judge ")[2].partition(" reads")[0])
    assert run(*words) == 0
    checked = check_two([people, Path(words[-1])], GivenColumns())
    judged = checked.ratings.frame.query("source == 'judge'")
    assert [*judged["rating"]] == [float(line["completion"][-1]) for line in lines]
    assert [*judged["repeat"]] == [0, 1, 2] * STORIES
    assert {*judged["story"]} == {row[0] for row in rows}
    assert with_flags(checked.options) == "--judge rating --human Answer.q_coherence --set rater=WorkerId"


def _labelled(folder: Path) -> Path:
    """Two persons and a judge use words of a known order, and one that is no answer."""
    draw, known = Draw(93), ("No", "Parcialmente", "Sí", "No procede")
    columns = {"clave": [f"s{n}" for n in range(STORIES)]}
    columns |= {name: [known[draw.points(n, 0, 3)] for n in range(STORIES)] for name in ("ana", "pedro", "gpt-4o")}
    pd.DataFrame(columns).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def test_words_that_are_no_answer_are_said_beside_the_labels(tmp_path: Path) -> None:
    path = _labelled(tmp_path)
    with pytest.raises(DataError, match="whose order is not known") as error:
        check(path)
    assert "--set missing=WORD" in str(mend(error.value))
    checked = check(path, GivenColumns(labels="No,Parcialmente,Sí", missing=("No procede",)))
    frame = checked.ratings.frame
    told = pd.read_csv(path)
    assert {*frame.loc[frame["source"] == "rater", "rater"]} == {"ana", "pedro"}
    assert int(frame.loc[frame["source"] == "judge", "rating"].isna().sum()) == int(
        (told["gpt-4o"] == "No procede").sum()
    )


def test_a_codebook_is_no_table_and_a_gold_column_no_person(tmp_path: Path) -> None:
    draw, book = Draw(94), Workbook()
    sheet = book.active
    sheet.append(["cue", "association", "worker", "relation", "gpt4o_relation", "gold_relation"])
    for n in range(STORIES):
        said = draw.points(n, 1, 16)
        for who in (7512331, 8123441, 9912377):
            sheet.append(["sun", f"a{n}", who, draw.points(n, 1, 16), 99 if n == 3 else said, said])
    codes = book.create_sheet("codebook")
    for row in [("code", "label"), *((n, f"relation {n:c}") for n in range(97, 103))]:
        codes.append(row)
    path = tmp_path / "codes.xlsx"
    book.save(path)
    checked = check(path, GivenColumns(story="cue+association"))
    assert [column.column for column in checked.columns.people] == ["relation"]
    assert checked.columns.fields["story"] == "cue+association"
    assert "read as no rating: '99'" in checked.notes
    assert {*checked.ratings.frame["rater"].dropna()} == {"7512331", "8123441", "9912377"}
