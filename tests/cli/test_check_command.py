"""`judge check`: an answer on the screen, a page, nothing else on the disk; the numbers of the reports."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

from tests.report.runs import command as run

WORDS = ("the", "lamp", "went", "out", "and", "nobody", "came", "to", "light", "it", "again", "before", "morning")


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """120 stories by three systems for 40 prompts, two people and a judge."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    lines = ["id,model,prompt,story,gpt4,human_1,human_2"]
    for number in range(120):
        quality = rng.gauss(3, 1)
        point = [min(5, max(1, round(quality + rng.gauss(0, 0.7)))) for _ in range(3)]
        text = " ".join(rng.choices(WORDS, k=20 + number % 30))
        lines.append(f"s{number},m{number % 3},p{number // 3},{text}.,{','.join(map(str, point))}")
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def tables(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[dict[str, Any]]]:
    capsys.readouterr()
    assert run("check", *words, "--format", "json", "--quiet", "--resamples", "50") == 0
    return {one["title"]: one["rows"] for one in json.loads(capsys.readouterr().out)}


def test_the_numbers_are_kendalls_tau_with_people_and_nothing_is_written(
    scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pandas as pd

    found = tables(capsys, "scores.csv")
    frame = pd.read_csv(scores)
    expected = kendalltau(frame["gpt4"], frame[["human_1", "human_2"]].mean(axis=1)).statistic
    (row,) = found["Agreement with people"]
    assert row["tau"] == pytest.approx(expected, abs=1e-12)
    assert row["tau_low"] < row["tau"] < row["tau_high"]
    assert row["stories"] == 120
    assert row["control"] is not None
    assert row["person"] == pytest.approx(kendalltau(frame["human_1"], frame["human_2"]).statistic, abs=1e-12)
    (systems,) = found["By system"]
    lowest = frame[frame["model"] == systems["lowest_system"]]
    assert systems["lowest"] == pytest.approx(
        kendalltau(lowest["gpt4"], lowest[["human_1", "human_2"]].mean(axis=1)).statistic, abs=1e-12
    )
    assert [path.name for path in scores.parent.iterdir()] == ["scores.csv"]


def test_a_page_with_the_command_that_repeats_it(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "scores.csv", "-o", "page.html", "--quiet", "--resamples", "50") == 0
    shown = capsys.readouterr().out
    line = (
        "judge check scores.csv --judge gpt4 --human human_1 --human human_2 --story id --by model --prompt prompt "
        "--text story"
    )
    page = (scores.parent / "page.html").read_text(encoding="utf-8")
    assert shown.startswith("How the columns are read")
    assert line in " ".join(shown.replace("\\\n", " ").split())
    assert line in page
    assert "How the file was read, and what is missing in it" in page
    assert 'id="audit"' not in page
    assert str(scores.parent) not in page
    assert {path.name for path in scores.parent.iterdir()} == {"scores.csv", "page.html"}
    again = line.split()[1:]
    assert tables(capsys, *again[1:])["Agreement with people"] == tables(capsys, "scores.csv")["Agreement with people"]


def test_kept_ratings_give_every_command_the_same_number(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = tables(capsys, "scores.csv", "--set", "keep=kept")["Agreement with people"]
    assert run("correlate", "kept", "--format", "json", "--resamples", "50") == 0
    made = json.loads(capsys.readouterr().out)
    rows = made["rows"] if isinstance(made, dict) else made[0]["rows"]
    (judged,) = (one for one in rows if one["judge"] == "gpt4")
    assert row["tau"] in judged.values()


def test_a_mistake_is_a_sentence(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "scores.csv", "--judge", "gpt5") == 1
    shown = capsys.readouterr().err
    assert "did you mean 'gpt4'" in shown
    assert "Traceback" not in shown
    assert run("check", "scores.csv", "-o", "page.pdf") == 1
    assert "-o page.html" in capsys.readouterr().err
