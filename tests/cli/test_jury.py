"""judge jury on a result folder of imported ratings, from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import judge
from judge.ratings.ratings_table import COLUMNS
from tests.report.runs import command as _run

FAST = ("--set", "foldings=1", "--resamples", 40)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Thirty story-prompts x four systems: three people, three judges (one rating lost), two features, no texts."""
    rng = np.random.default_rng(0)
    rows, stories = [], []
    for prompt in range(30):
        for system in range(4):
            quality = 2 + system / 2 + rng.normal()
            name = f"{system}-{prompt}"
            common = {"run": "r", "dataset": "toy", "story": name, "system": f"S{system}", "story_prompt": f"p{prompt}"}
            common |= {"criterion": "Overall", "flags": ""}
            for rater in range(3):
                value = int(np.clip(round(quality + rng.normal(0, 0.5)), 1, 5))
                rows.append(common | {"source": "rater", "rater": f"w{rater}", "rating": value, "status": "ok"})
            for number in range(3):
                lost = (prompt, system, number) == (0, 0, 1)
                value = int(np.clip(round(quality + rng.normal(0, 0.8 + number / 3)), 1, 5))
                about = {"judge": f"m{number}", "eval_prompt": "ep1", "source": "judge", "repeat": 0}
                answer = {"rating": "" if lost else value, "status": "refused" if lost else "imported"}
                rows.append(common | about | answer)
            length = 100 + 10 * quality + rng.normal(0, 20)
            stories.append({"dataset": "toy", "story": name, "length": length, "noise": rng.normal()})
    path = tmp_path / "in"
    path.mkdir()
    _save(path / "imported.csv", list(COLUMNS), rows)
    _save(path / "imported_stories.csv", list(stories[0]), stories)
    return path


def _save(path: Path, columns: list[str], rows: list[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=columns)
        writer.writeheader()
        writer.writerows(rows)


def test_prints_the_jury_beside_what_it_must_beat(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("jury", folder, *FAST, "--set", "with_features=true", "--set", "weights=true", "--full") == 0
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if line.startswith("Overall")]
    labels = (
        "jury",
        "plain mean",
        "best single judge, chosen in training",
        "best single judge, chosen in sample",
        "control",
    )
    for line, label in zip(lines, labels, strict=False):
        assert line.split("Overall")[1].strip().startswith(label)
    assert text.index("coverage: ") < text.index("A jury of judges against people")
    assert "1 of 360 ratings by members are missing" in text
    assert "feature: length" in text
    assert (
        "|+features|hold-out:story-prompt|folds:1x5/seed1|control:surface:refit/imported-features/5-fold/less-fold-means|"
        in text
    )
    assert "on Overall the jury beats the best single judge chosen in training folds by" in text


def test_the_long_form_has_every_table_and_predictor(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--set",
        "weights=true",
        "--set",
        "long=true",
        "--calibrate",
        "ordinal",
        "--combiner",
        "ridge",
        "--format",
        "json",
    )
    assert _run("jury", folder, *FAST, *words) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(table["rows"]) for table in found[:4]] == [5, 3, 3, 2]
    assert [row["stage"] for row in found[3]["rows"]] == ["before", "after"]
    jury = found[0]["rows"][0]
    assert jury["value_low"] < jury["value"] < jury["value_high"]
    assert found[0]["notes"][0].startswith("coverage: 360 imported")


def test_ratings_are_written_as_a_result_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "jury"
    assert _run("jury", folder, *FAST, "--calibrate", "isotonic", "--set", f"ratings={out}") == 0
    assert "jury/auto+isotonic: ratings in" in capsys.readouterr().err
    assert _run("correlate", out, "--ci", "none") == 0
    text = capsys.readouterr().out
    assert "jury/auto+isotonic" in text
    assert "out-of-fold ratings, means over 1 folding of 5 folds by story-prompts" in text
    ratings = judge.open_run(out).ratings()
    assert ratings.loc[ratings["source"] == "judge", "rating"].between(1, 5).all()
    assert (ratings["source"] == "rater").sum() == 360


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--set", "members=m4"], "--set members=m4 is not known; did you mean"),
        (["--set", "folds=1"], "--set folds=1 must be 2 or more"),
        (["--set", "min_members=0"], "--set min_members=0 must be 1 or more"),
    ],
)
def test_mistakes_get_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert _run("jury", folder, *arguments) == 1
    assert sentence in capsys.readouterr().err
