"""`judge parse FILE`, as a person types it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.errors import DataError, SpecError
from judge.cli.commands import app_of

LINES = [
    {"text": " 4\n\nOne loose end.", "story": "s1"},
    {"text": "8/10", "story": "s2"},
    {"text": "N/A", "story": "s3"},
    {"text": "I would rate it between 3 and 4.", "story": "s4"},
]

app = app_of("parse")


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def told(*words: object) -> str:
    result = CliRunner().invoke(app, [str(w) for w in words])
    assert result.exception is None, result.exception
    return result.stdout


def test_json_holds_a_row_for_each_answer_and_counts_by_status(answers: Path) -> None:
    table = json.loads(told(answers, "--criterion", "Coherence", "--format", "json"))
    assert [(r["story"], r["rating"], r["status"]) for r in table["rows"]] == [
        ("s1", 4.0, "ok"), ("s2", None, "out_of_scale"), ("s3", None, "no_rating"), ("s4", None, "ambiguous")
    ]  # fmt: skip
    assert table["rows"][0]["explanation"] == "One loose end."
    assert table["notes"] == ["4 answers: 1 ok, 1 out_of_scale, 1 no_rating, 1 ambiguous"]
    assert table["signature"].startswith(
        "answers.jsonl:4|crit:Coherence|scale:1-5|parser:ours/4|unparsed:75.0%|v"
    )  # fmt: skip


def test_csv_and_jsonl_leave_a_missing_rating_empty(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    told(answers, "--format", "csv", "-o", out)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["rating"] for row in rows] == ["4.0", "", "", ""]
    lines = [json.loads(line) for line in told(answers, "--format", "jsonl").splitlines() if line.startswith("{")]
    assert [line["rating"] for line in lines] == [4.0, None, None, None]
    assert lines[0]["flags"] == []


def test_as_published_prints_that_it_imputes(answers: Path) -> None:
    table = json.loads(told(answers, "--set", "parser=as-published", "--format", "json"))
    assert [r["rating"] for r in table["rows"]] == [4.0, 3.0, 3.0, 3.0]
    assert table["notes"][1] == "as-published/1 imputes: 2 of 4 ratings are 3 because the rule says so"


def test_diff_shows_only_answers_read_differently(answers: Path) -> None:
    table = json.loads(told(answers, "--set", "diff=true", "--format", "json"))
    assert [(r["line"], r["ours"], r["as_published"]) for r in table["rows"]] == [
        (2, "out_of_scale", "3 (imputed)"), (3, "no_rating", "3 (imputed)"), (4, "ambiguous", "3")
    ]  # fmt: skip
    assert table["rows"][0]["text"] == "8/10"
    assert table["notes"] == [
        "3 of 4 answers are read differently; in 2 of them as-published put 3 where it found no number on the scale"
    ]


def test_the_scale_can_be_given(answers: Path) -> None:
    table = json.loads(told(answers, "--set", "scale=1-10", "--format", "json"))
    assert [r["rating"] for r in table["rows"]] == [4.0, 8.0, None, None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "scale=five"], "'five' is no scale"),
        (["--set", "parser=our"], "did you mean 'ours'"),
        (["--set", "parser=as-published", "--set", "scale=1-10"], "scale 1-5 only"),
        (["--set", "structured=yes"], "allowed: none, choice, json"),
    ],
)
def test_a_wrong_option_gets_a_sentence(answers: Path, words: list[str], message: str) -> None:
    error = CliRunner().invoke(app, [str(answers), *words]).exception
    assert isinstance(error, SpecError)
    assert message in str(error)


def test_a_file_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    error = CliRunner().invoke(app, [str(tmp_path / "none.jsonl")]).exception
    assert isinstance(error, SpecError)
    assert "does not exist" in str(error)


def test_a_run_is_parsed_again_without_asking(tmp_path: Path) -> None:
    from judge.demo import run_demo

    result, ended = run_demo(tmp_path, quiet=True)
    for run in (tmp_path, tmp_path / "run.yaml", result):
        done = CliRunner().invoke(app, [str(run), "--format", "json"])
        assert done.exit_code == 0, done.output
        rows = json.loads(done.stdout)["rows"]
        assert len(rows) == ended.planned
        assert {row["status"] for row in rows} == {"ok"}
        assert {row["eval_prompt"] for row in rows} == {"ep1", "ep2"}
    differences = CliRunner().invoke(app, [str(result), "--set", "diff=true", "--format", "json"])
    assert json.loads(differences.stdout)["rows"] == []


COMPARED = [
    {"text": "Story A drifts.\n\n[[B]]", "pair": "p1"},
    {"response": "Beta wins.", "labels": ["Alpha", "Beta", "Tie"], "pair": "p2"},
    {"text": "It is a tie.", "tie_offered": False, "pair": "p3"},
    {"text": "A: 4, B: 3", "pair": "p4", "preference": "first"},
    {"text": "I prefer A over B. It", "finish_reason": "length", "labels": ["A", "B", None], "pair": "p5"},
]


@pytest.fixture
def comparisons(tmp_path: Path) -> Path:
    path = tmp_path / "comparisons.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in COMPARED))
    return path


def test_pairs_have_a_preference_in_place_of_a_rating(comparisons: Path) -> None:
    table = json.loads(told(comparisons, "--pair", "--format", "json"))
    assert [(r["pair"], r["preference"], r["status"], r["flags"]) for r in table["rows"]] == [
        ("p1", "second", "ok", ""),
        ("p2", "second", "ok", ""),
        ("p3", "tie", "ok", "tie_not_offered"),
        ("p4", None, "no_preference", ""),
        ("p5", "first", "ok", "cut"),
    ]
    assert table["rows"][0]["explanation"] == "Story A drifts."
    assert table["rows"][3]["given_preference"] == "first"
    assert table["notes"] == ["5 answers: 4 ok, 1 no_preference"]
    assert "|labels:A/B,A/B/C,Alpha/Beta/Tie|parser:verdict/2|unparsed:20.0%|v" in table["signature"]


def test_labels_of_pairs_stand_for_lines_without(comparisons: Path) -> None:
    comparisons.write_text(json.dumps({"text": "Story 2 is better."}) + "\n")
    table = json.loads(told(comparisons, "--pair", "--labels", "Story 1,Story 2,Tie", "--format", "json"))
    assert [r["preference"] for r in table["rows"]] == ["second"]


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ({"text": "A", "labels": "A,B"}, "labels"),
        ({"text": "A", "labels": ["A"]}, "labels"),
        ({"text": "A", "labels": ["A", "a"]}, "labels"),
        ({"text": "A", "labels": ["A", 2]}, "labels"),
        ({"text": "A", "tie_offered": "no"}, "tie_offered"),
        ({"text": 3}, "text"),
        ({}, "text"),
    ],
)
def test_a_line_of_a_pair_that_does_not_fit_is_named(comparisons: Path, line: dict[str, object], column: str) -> None:
    comparisons.write_text(json.dumps(line) + "\n")
    with pytest.raises(DataError) as refused:
        CliRunner().invoke(app, [str(comparisons), "--pair"], catch_exceptions=False)
    assert column in str(refused.value)
    assert "comparisons.jsonl" in str(refused.value)


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "diff=true"],
        ["--set", "scale=1-7"],
        ["--set", "parser=as-published"],
        ["--set", "rating_pattern=a"],
        ["--set", "positive=A"],
        ["--labels", "A"],
    ],
)
def test_options_of_ratings_are_refused_for_pairs(comparisons: Path, words: list[str]) -> None:
    with pytest.raises(SpecError):
        CliRunner().invoke(app, [str(comparisons), "--pair", *words], catch_exceptions=False)
