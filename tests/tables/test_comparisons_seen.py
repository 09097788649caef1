"""Comparisons are seen by their form: texts of any name, graded words, votes within records; printed lines run."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from judge.exchange.tables.counted import Counted
from judge.exchange.tables.looked_at import looked_at
from judge.exchange.tables.table_roles import GivenColumns
from tests.report.runs import command as run

_WORDS = ("lamp", "river", "stone", "bread", "night", "fox", "door", "rain", "king", "girl")


def _line(draw: random.Random) -> str:
    return " ".join(draw.choice(_WORDS) for _ in range(6))


def _counted(path: Path) -> dict[str, tuple[int, int, int]]:
    counted = looked_at([path], GivenColumns())
    assert isinstance(counted, Counted)
    return {row["who"]: (row["first"], row["second"], row["tie"]) for row in counted.table.rows}


def test_a_row_is_a_comparison_by_one_rater(tmp_path: Path) -> None:
    draw = random.Random(1)
    pairs = [(f"H{n}", _line(draw), _line(draw)) for n in range(15)]
    rows = [
        {"pair": name, "limerick_A": a, "limerick_B": b, "source_A": "human", "source_B": "GPT-4o", "rater": who}
        | {"preferred": draw.choice("AB") if draw.random() < 0.9 else "tie", "confidence": draw.randint(1, 5)}
        for name, a, b in pairs
        for who in ("kim", "lara")
    ]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "pairs.csv", index=False)
    given = frame["preferred"].value_counts()
    assert _counted(tmp_path / "pairs.csv") == {"people": (given["A"], given["B"], given.get("tie", 0))}
    counted = looked_at([tmp_path / "pairs.csv"], GivenColumns())
    assert isinstance(counted, Counted)
    assert "on 15 pairs" in counted.about
    assert "2 systems" in counted.about


_GRADES = ("left much better", "left slightly better", "about equal", "right slightly better", "right much better")


def _graded(path: Path, judge: str) -> pd.DataFrame:
    draw = random.Random(2)
    frame = pd.DataFrame(
        {"no": n, "slogan_left": _line(draw), "slogan_right": _line(draw)}
        | {name: draw.choice(_GRADES) for name in ("S01_better", "S02_better", "S03_better", judge)}
        for n in range(20)
    )
    frame.to_csv(path, index=False)
    return frame


def test_grades_left_and_right_by_coded_people_and_a_model(tmp_path: Path) -> None:
    frame = _graded(tmp_path / "graded.csv", "gpt-4o_better")
    people = pd.concat([frame[f"S0{n}_better"] for n in (1, 2, 3)]).str.split().str[0].value_counts()
    assert _counted(tmp_path / "graded.csv")["people"] == (people["left"], people["right"], people["about"])


@pytest.mark.parametrize("name", ["graded.csv", "a file (2) of 'mine'.csv"])
def test_the_line_that_says_whose_verdicts_these_are_runs(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = _graded(tmp_path / name, "xyz_better").rename(columns={"S01_better": "annotator_better"})
    frame.to_csv(tmp_path / name, index=False)
    assert run("check", str(tmp_path / name)) == 1
    line = re.search(r"judge check .*", capsys.readouterr().err)
    assert line is not None
    words = shlex.split(line[0].replace("COLUMN", "xyz_better"))
    assert run(*words[1:]) == 0
    assert "verdicts of judges: xyz_better" in capsys.readouterr().out


def test_votes_within_records_are_comparisons(tmp_path: Path) -> None:
    draw = random.Random(3)
    lines, given = [], []
    for n in range(12):
        votes = {f"s0{at}": draw.choice(("poem_1", "poem_2", "same")) for at in draw.sample(range(1, 6), 3)}
        calls = [
            {"model": "gpt-4-turbo", "shown_first": shown, "picks": draw.choice(("poem_1", "poem_2"))}
            for shown in ("poem_1", "poem_2")
        ]
        poems = {f"poem_{at}": {"text": _line(draw), "written_by": draw.choice(("human", "gpt-4o"))} for at in (1, 2)}
        lines.append(json.dumps({"battle": n, "topic": f"t{n % 3}", **poems, "votes": votes, "judge": calls}))
        given.append((list(votes.values()), [call["picks"] for call in calls]))
    (tmp_path / "battles.jsonl").write_text("\n".join(lines), encoding="utf-8")
    people = [word for votes, _ in given for word in votes]
    judged = [word for _, picks in given for word in picks]
    expected = {who: tuple(map(its.count, ("poem_1", "poem_2", "same"))) for who, its in (("p", people), ("j", judged))}
    assert _counted(tmp_path / "battles.jsonl") == {"people": expected["p"], "gpt-4-turbo": expected["j"]}
    counted = looked_at([tmp_path / "battles.jsonl"], GivenColumns())
    assert isinstance(counted, Counted)
    same = sum(len({*picks}) == 1 for _, picks in given)
    assert f"gpt-4-turbo gives both verdicts alike on {same} of 12 pairs" in counted.notes
