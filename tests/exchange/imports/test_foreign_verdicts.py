"""Answers that compare two stories, made elsewhere, become a run: kept as answers, read by the verdict parser."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from judge.ratings.preferences_table import read
from tests.report.runs import command as run

SAID = {"first": "Story A is better.", "second": "Verdict: B", "tie": "Neither is better.\n\nC", None: "I cannot say."}


def _lines(path: str, lines: list[dict[str, Any]]) -> None:
    Path(path).write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _read(folder: str) -> list[tuple[str, str, str | None]]:
    assert run("run", folder, "--quiet") == 0
    frame = read([Path(folder)]).frame
    cells = zip(frame["first"], frame["second"], frame["preference"], strict=True)
    return sorted((str(a), str(b), None if verdict != verdict else verdict) for a, b, verdict in cells)


WANTED = ("first", "second", "tie", None, "first")


def test_ids_alone_are_compared_in_the_order_that_was_shown(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"response": SAID[verdict], "story_a": f"p{at}-owl", "story_b": f"p{at}-fox", "prompt_id": f"p{at}", "label": 2}
        for at, verdict in enumerate(WANTED)
    ]
    _lines("a.jsonl", lines)
    assert run("import", "a.jsonl") == 0
    said = capsys.readouterr().out
    assert "answer response, first story_a, second story_b, story_prompt prompt_id" in said
    assert "not read: label; people's verdicts among them: judge import a.jsonl --as ratings" in said
    assert "5 answers of a on two stories each; next: judge run runs/a" in said
    assert _read("runs/a") == [(f"p{at}-owl", f"p{at}-fox", verdict) for at, verdict in enumerate(WANTED)]
    assert "orders: as-given" in Path("runs/a/run.yaml").read_text(encoding="utf-8")


def test_texts_in_both_orders_of_two_judges_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    head = ["question", "text_1", "text_2", "model_1", "model_2", "judge", "swapped", "answer"]
    told = "The lamp went out at nine and Mara waited on the stairs, {}."
    with Path("a.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(head)
        for judge in ("m/x", "y"):
            for at in range(4):
                for swapped in ("False", "True"):
                    stories = [told.format(f"{name} {at}") for name in ("one", "two")]
                    table.writerow([f"q{at}", *stories, "owl", "fox", judge, swapped, "Output (a) is better."])
    assert run("import", "a.csv") == 0
    assert "8 answers of m/x on two stories each; next: judge run runs/a/m-x" in capsys.readouterr().out
    assert "orders: both" in Path("runs/a/y/run.yaml").read_text(encoding="utf-8")
    assert [verdict for _, _, verdict in _read("runs/a/m-x")] == ["first"] * 8
    assert run("import", "a.csv", "-o", "again", "--labels", "X,Y") == 1
    assert "judge parse a.csv --pair --labels X,Y --output verdicts.csv" in capsys.readouterr().err


def test_a_repeat_that_is_there_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    line = {"response": "A is better", "story_a": "s1", "story_b": "s2", "repeat": 0}
    _lines("a.jsonl", [line, line])
    assert run("import", "a.jsonl") == 1
    assert "row 2, column 'repeat': answers the same as row 1" in capsys.readouterr().err


@pytest.mark.data
def test_llmbars_answers_are_read_as_its_authors_read_them(studies: Path) -> None:
    def records(name: str) -> list[dict[str, Any]]:
        with gzip.open(studies / "llmbar" / name, "rt", encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]

    pairs = {(pair["set"], pair["pair"]): pair for pair in records("pairs.jsonl.gz")}
    answers = [a for a in records("answers_gpt-4.jsonl.gz") if a["eval_prompt"] == "CoT" and a["study_winner"]]
    _lines(
        "llmbar.jsonl",
        [
            {"item": f"{a['set']}-{a['pair']}", "response": a["text"], "swapped": a["swapped"]}
            | {
                "eval_prompt": "CoT",
                "story_id_1": f"{a['set']}-{a['pair']}-1",
                "story_id_2": f"{a['set']}-{a['pair']}-2",
            }
            | {name: pairs[a["set"], a["pair"]][name] for name in ("output_1", "output_2", "input")}
            for a in answers
        ],
    )
    assert run("import", "llmbar.jsonl") == 0
    verdicts = {(first, second): verdict for first, second, verdict in _read("runs/llmbar")}
    wrong = 0
    for a in answers:
        one, two = (f"{a['set']}-{a['pair']}-{side}" for side in (1, 2))
        first, second = (two, one) if a["swapped"] else (one, two)
        winner = {"first": first, "second": second}.get(str(verdicts[first, second]), "")
        wrong += winner[-1:] != str(a["study_winner"])
    assert len(answers) > 800
    assert wrong <= 0.003 * len(answers)
