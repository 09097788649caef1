"""Answers made elsewhere become a run: parsed here, kept as answers, with people's ratings beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.cli.main import main
from judge.ratings.ratings_table import read

PEOPLE = {"s0": 5, "s1": 2, "s2": 3, "s3": 4, "s4": 1}


def _lines(path: str, lines: list[dict[str, Any]]) -> None:
    Path(path).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _run(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    return int(end.value.code or 0)


def _answers(**more: Any) -> list[dict[str, Any]]:
    return [
        {"response": f"It is a {rating}.\nRating: {rating}", "reply": story, "criterion": "Coherence"} | more
        for story, rating in zip(PEOPLE, (4, 2, 3, 5, 1), strict=True)
    ]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_answers_are_replayed_parsed_and_compared_with_people(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line | {"human": PEOPLE[line["reply"]]} for line in _answers(model="gpt-x", system="GPT-2")]
    _lines("a.jsonl", [line | {"repeat": repeat} for repeat in (0, 1) for line in lines])
    assert _run("import", "a.jsonl") == 0
    said = capsys.readouterr().out
    assert "answer response, criterion criterion, judge model, repeat repeat, system system, story reply" in said
    assert "10 answers of gpt-x; next: judge run runs/a" in said
    assert _run("run", "runs/a", "--quiet") == 0
    frame = read([Path("runs/a")]).frame
    judged = frame[frame["source"] == "judge"]
    assert list(judged.groupby("story", observed=True)["rating"].first()) == [4, 2, 3, 5, 1]
    assert dict(frame[frame["source"] == "rater"].set_index("story")["rating"]) == PEOPLE
    assert {*frame["system"]} == {"GPT-2"}
    # What is kept are the answers themselves.
    assert _run("parse", "runs/a", "-o", "again.csv") == 0
    assert len(pd.read_csv("again.csv")) == 10


def test_a_lost_answer_is_none_and_several_judges_are_runs_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = _answers(judge="a/b"), _answers(judge="c")
    first[2]["response"] = "I would rather not say."
    _lines("a.jsonl", [*first, *second])
    assert _run("import", "a.jsonl", "-o", "out") == 0
    assert "5 answers of a/b; next: judge run out/a-b" in capsys.readouterr().out
    for name in ("a-b", "c"):
        assert _run("run", f"out/{name}", "--quiet") == 0
    frame = read([Path("out/a-b")]).frame
    assert frame.set_index("story").loc["s2", "status"] != "ok"
    assert frame["rating"].notna().sum() == 4


def test_labels_scales_and_what_is_missing_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line | {"criterion": "Mine", "response": "Answer: Yes"} for line in _answers()]
    _lines("a.jsonl", lines)
    assert _run("import", "a.jsonl") == 1
    assert "no shipped set of criteria has Mine: their scale is not known" in capsys.readouterr().err
    assert not Path("runs/a/run.yaml").exists()
    assert _run("import", "a.jsonl", "--labels", "No,Yes") == 0
    assert _run("run", "runs/a", "--quiet") == 0
    assert list(read([Path("runs/a")]).frame["rating"]) == [1.0] * 5
    _lines("b.jsonl", [line | {"repeat": 0} for line in [*_answers(), *_answers()]])
    assert _run("import", "b.jsonl") == 1
    assert "row 6, column 'repeat': answers the same as row 1" in capsys.readouterr().err
