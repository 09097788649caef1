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
    assert shown.startswith("scores: 120 stories of 40 story-prompts, 3 systems, 1 criterion")
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


def _large(path: Path, people: int) -> None:
    """120 stories, six criteria, `people` people and two judges, some of whose ratings are out of scale."""
    rng = random.Random(3)
    criteria = ("plot", "style", "humor", "coherence", "surprise", "empathy")
    who = [*(f"ann{n}" for n in range(1, people + 1)), "gpt4", "claude"]
    lines = [",".join(("id", "model", "session_note", *(f"{name}_{of}" for of in criteria for name in who)))]
    for number in range(120):
        worth = rng.gauss(3, 1)
        points = [str(min(5, max(1, round(worth + rng.gauss(0, 0.7))))) for _ in criteria for _ in who]
        lines.append(",".join((f"s{number}", f"m{number % 3}", f"note {number}", *points)))
    lines[5] = lines[5].rpartition(",")[0] + ",9"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("people", [1, 3, 7])
def test_the_first_screen_has_40_lines_of_80_columns_and_full_has_all(
    people: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _large(tmp_path / "large.csv", people)
    assert run("check", "large.csv", "--resamples", "20") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert [line for line in lines if len(line) > 80] == []
    labels = [line.split(" ")[0] for line in lines]
    assert labels.index("replace") < labels.index("people") < labels.index("columns") < labels.index("guessed;")
    assert any("look at this:" in line for line in lines)
    assert run("check", "large.csv", "--resamples", "20", "--full") == 0
    whole = capsys.readouterr().out
    for title in ("How the columns are read", "What the file shows", "By system", "What cannot be computed"):
        assert title in whole
    assert f"--human plot=ann{people}_plot" in whole


def test_the_first_screen_says_what_summary_says(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "scores.csv", "--set", "keep=kept", "--quiet", "--resamples", "50") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert run("summary", "kept", "--resamples", "50", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    told = {row["answer"]: row for row in rows}
    for label in ("people", "lost"):
        assert f"{label} {told[label]['verdict'].upper()}. {' '.join(told[label]['text'].split())}" in shown
