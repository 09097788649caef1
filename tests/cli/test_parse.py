"""`judge parse FILE`, as a person types it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.cli.results.parse import app
from judge.errors import SpecError

LINES = [
    {"text": " 4\n\nOne loose end.", "story": "s1"},
    {"text": "8/10", "story": "s2"},
    {"text": "N/A", "story": "s3"},
    {"text": "I would rate it between 3 and 4.", "story": "s4"},
]


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
        "answers.jsonl:4|crit:Coherence|scale:1-5|parser:ours/2|unparsed:75.0%|v"
    )  # fmt: skip


def test_csv_and_jsonl_leave_a_missing_rating_empty(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    told(answers, "--format", "csv", "-o", out)
    rows = list(csv.DictReader(line for line in out.read_text().splitlines() if not line.startswith("#")))
    assert [row["rating"] for row in rows] == ["4.0", "", "", ""]
    lines = [json.loads(line) for line in told(answers, "--format", "jsonl").splitlines() if line.startswith("{")]
    assert [line["rating"] for line in lines] == [4.0, None, None, None]
    assert lines[0]["flags"] == []


def test_as_published_prints_that_it_imputes(answers: Path) -> None:
    table = json.loads(told(answers, "--parser", "as-published", "--format", "json"))
    assert [r["rating"] for r in table["rows"]] == [4.0, 3.0, 3.0, 3.0]
    assert table["notes"][1] == "as-published/1 imputes: 2 of 4 ratings are 3 because the rule says so"


def test_diff_shows_only_answers_read_differently(answers: Path) -> None:
    table = json.loads(told(answers, "--diff", "--format", "json"))
    assert [(r["line"], r["ours"], r["as_published"]) for r in table["rows"]] == [
        (2, "out_of_scale", "3 (imputed)"), (3, "no_rating", "3 (imputed)"), (4, "ambiguous", "3")
    ]  # fmt: skip
    assert table["rows"][0]["text"] == "8/10"
    assert table["notes"] == [
        "3 of 4 answers are read differently; in 2 of them as-published put 3 where it found no number on the scale"
    ]


def test_the_scale_can_be_given(answers: Path) -> None:
    table = json.loads(told(answers, "--scale", "1-10", "--format", "json"))
    assert [r["rating"] for r in table["rows"]] == [4.0, 8.0, None, None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scale", "five"], "'five' is no scale"),
        (["--parser", "our"], "did you mean 'ours'"),
        (["--parser", "as-published", "--scale", "1-10"], "scale 1-5 only"),
    ],
)
def test_a_wrong_option_gets_a_sentence(answers: Path, words: list[str], message: str) -> None:
    error = CliRunner().invoke(app, [str(answers), *words]).exception
    assert isinstance(error, SpecError)
    assert message in str(error)


@pytest.mark.parametrize("words", [["--format", "jsn"], ["--structured", "yes"]])
def test_a_word_that_an_option_does_not_take_is_refused_with_those_it_takes(answers: Path, words: list[str]) -> None:
    done = CliRunner().invoke(app, [str(answers), *words])
    assert done.exit_code == 2
    assert f"'{words[1]}' is not one of " in done.output
    assert "'json'" in done.output


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
    differences = CliRunner().invoke(app, [str(result), "--diff", "--format", "json"])
    assert json.loads(differences.stdout)["rows"] == []
