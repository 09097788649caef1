"""ratings, coverage, consistency, correlate on a result folder of imported ratings, from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from judge.ratings.ratings_table import COLUMNS
from tests.report.runs import command as _run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten story-prompts x three systems with three known raters and a judge's two repeats, one of them lost."""
    rng = np.random.default_rng(0)
    rows = []
    for prompt in range(10):
        for system in range(3):
            quality = 2 + system / 2 + rng.normal()
            common = {"run": "r", "dataset": "toy", "story": f"{system}-{prompt}", "system": f"S{system}"}
            common |= {"story_prompt": f"p{prompt}", "criterion": "Overall", "flags": ""}
            value = [int(np.clip(round(quality + rng.normal(0, 0.5)), 1, 5)) for _ in range(5)]
            for rater in range(3):
                rows.append(common | {"source": "rater", "rater": f"w{rater}", "rating": value[rater], "status": "ok"})
            for repeat in range(2):
                lost = (prompt, system, repeat) == (0, 0, 1)
                judge = {"judge": "m", "eval_prompt": "ep1", "source": "judge", "repeat": repeat}
                answer = {"rating": "" if lost else value[3 + repeat], "status": "refused" if lost else "ok"}
                rows.append(common | judge | answer)
    with (tmp_path / "imported.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(COLUMNS))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


def test_coverage_stands_before_the_correlations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("correlate", folder, "--resamples", 50, "--full") == 0
    text = capsys.readouterr().out
    assert text.index("coverage: ") < text.index("Kendall's tau-b with people")
    assert "refused 1" in text
    assert "one more person" in text
    assert "control, not a language model" in text
    assert "|tau:b|level:overall|expanded|ci:boot-inputs/50/seed1|" in text


def test_json_is_one_table_with_coverage_as_its_first_note(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("correlate", folder, "--ci", "none", "--format", "json") == 0
    table = json.loads(capsys.readouterr().out)
    assert set(table) >= {"signature", "rows", "notes"}
    assert table["notes"][0] == "coverage: 60 imported, 59 rated, 98.3 % (refused 1)"
    judged = next(row for row in table["rows"] if row["judge"] == "m")
    assert judged["n"] == 30
    assert -1 <= judged["value"] <= 1


def test_consistency_prints_the_family_and_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("consistency", folder) == 0
    text = capsys.readouterr().out
    assert "ICC(2,k)" in text
    assert "\npeople" in text
    assert _run("consistency", folder, "--full", "--format", "csv") == 0
    assert "ICC(1,1)" in capsys.readouterr().out


def test_components_and_d_study_are_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("consistency", "--layout", "components", folder, "--set", "target=0.7", "--full") == 0
    text = capsys.readouterr().out
    assert "system x story-prompt" in text
    assert "design: 3 systems x 10 story-prompts x 1 Eval-Prompt x 1 judge x 2 repeats" in text
    assert "used: 59 of 60 answers requested, all that have a rating, by Henderson's Method I" in text
    assert "Levels of each facet needed for a reliability of 0.7 (D-study)" in text
    assert "|target:0.7|seed:1|ci:generalized/2000|components:henderson-1|" in text
    assert _run("consistency", "--layout", "components", folder, "--format", "json") == 0
    components, plans = json.loads(capsys.readouterr().out)
    assert sum(row["share"] for row in components["rows"]) == pytest.approx(1)
    assert {row["plan"] for row in plans["rows"]} >= {"as run", "repeats alone"}
    assert plans["rows"][0]["relative_low"] <= plans["rows"][0]["relative"]


def test_coverage_can_be_required(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("coverage", folder, "--require", 90) == 0
    assert _run("coverage", folder, "--require", 99) == 4
    assert "98.3 % (refused 1): below 99 %" in capsys.readouterr().err


def test_ratings_are_saved_and_printed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("ratings", folder, "-o", tmp_path / "all.jsonl") == 0
    assert len((tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()) == 150
    assert _run("ratings", folder, "--format", "csv") == 0
    assert capsys.readouterr().out.startswith(",".join(COLUMNS))
    assert _run("ratings", folder) == 0
    assert "the first 20 of 150 rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["correlate", "--drop-system", "human"], "system 'human' is not known"),
        (["correlate", "--against", "Overal"], "did you mean 'Overall'"),
        (["consistency", "--layout", "components", "--set", "target=2"], "--set target=2.0 is not a reliability"),
        (["consistency", "--set", "engine=r"], "--set engine=r is not known; allowed: ours, pingouin"),
        (["coverage", "--require", "120"], "--require 120 is not a percentage"),
    ],
)
def test_mistakes_get_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert _run(arguments[0], folder, *arguments[1:]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("correlate", "--level", "systems"), "'systems' is not one of 'overall', 'system', 'by-item', 'by-system'"),
        (
            ("correlate", "--layout", "grid", "--format", "xls"),
            "'xls' is not one of 'table', 'json', 'csv', 'md', 'latex'",
        ),
    ],
)
def test_words_that_are_no_choice_are_refused_with_the_choices(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert _run(arguments[0], folder, *arguments[1:]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"Invalid value for '{arguments[-2]}': {sentence}" in said


def test_labels_that_nobody_gave_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("correlate", "--layout", "separation", folder, "--labels", "Humour") == 1
    assert "Humour" in capsys.readouterr().err
    assert _run("correlate", "--layout", "separation", folder) == 1
