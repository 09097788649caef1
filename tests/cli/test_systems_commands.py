"""systems, criteria, disagreements from the command line, on the demo's journal and on datasets."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from judge.demo import run_demo
from tests.report.runs import command as _run


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's result folder: 48 stories, six criteria, two Eval-Prompts, three repeats by the control judge."""
    folder, _ = run_demo(tmp_path_factory.mktemp("runs") / "demo", quiet=True)
    return folder


def test_systems_prints_people_judges_and_what_both_see(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("systems", demo, "--resamples", 50, "--full") == 0
    text = capsys.readouterr().out
    titles = ["coverage: ", "Mean rating, demo: labels", "Mean rating, demo: surface, ep1", "Do judges tell"]
    assert [text.index(title) for title in titles] == sorted(text.index(title) for title in titles)
    assert "|ci:clustered|ranks:boot-inputs/50/seed1|holm:cell|" in text
    assert "labels set by rule" in text


def test_systems_narrows_ranks_and_writes(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--eval-prompt", "ep1", "--criterion", "coherence", "--resamples", 50]
    assert _run("systems", demo, *options, "--set", "rank=true") == 0
    text = capsys.readouterr().out
    assert "Rank [interval] group, demo: Coherence, by judge" in text
    assert "|crit:CH|ep:ep1|" in text
    assert _run("systems", demo, *options, "--set", "long=true", "--format", "csv", "-o", tmp_path / "s.csv") == 0
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 8
    assert float(rows[0]["low"]) < float(rows[0]["mean"])
    assert (
        _run("systems", demo, *options, "--set", "differences=true", "--format", "json", "--set", "mean_interval=boot")
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert len(found["rows"]) == 12
    assert found["notes"][0].startswith("coverage: 144 asked")


def test_criteria_of_a_run_and_of_a_dataset(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("diagnose", "--layout", "criteria", demo, "--ci", "none", "--full") == 0
    text = capsys.readouterr().out
    assert "Tau-b x100 with the labels' criteria, demo: surface, ep1" in text
    assert _run("diagnose", "--layout", "criteria", "demo", "--ci", "none") == 0
    text = capsys.readouterr().out
    assert text.startswith("Criteria: mean tau-b x100 between them\n")
    assert "labels set by rule" in text
    story = {"id": "a", "story_prompt": "p", "system": "s", "text": "One.", "ratings": [
        {"rater": "w", "criterion": "Wit", "value": 2}]}  # fmt: skip
    (tmp_path / "own.jsonl").write_text(json.dumps(story) + "\n", encoding="utf-8")
    assert _run("diagnose", "--layout", "criteria", tmp_path / "own.jsonl") == 0
    assert "one criterion: nothing to compare" in capsys.readouterr().out


def test_disagreements_as_list_and_in_full(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("diagnose", "--layout", "stories", demo, "--top", 2, "--eval-prompt", "ep2", "--full") == 0
    text = capsys.readouterr().out
    assert text.index("coverage: ") < text.index("Largest differences between judge and labels")
    assert "\n2. " in text
    assert "Control, not a language model" in text
    assert _run("diagnose", "--layout", "stories", demo, "--top", 1, "--set", "long=true", "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert {"people", "sides", "text", "difference"} <= set(row)
    assert _run("diagnose", "--layout", "stories", demo, "--top", 1, "--format", "json") == 0
    listed, card = json.loads(capsys.readouterr().out)
    assert listed["rows"][0]["difference"] == row["difference"]
    assert " ".join(row["text"].split()) in [line["text"] for line in card["rows"]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["systems", "--judge", "gpt"], "--judge 'gpt' is not known (known: surface)"),
        (
            ["diagnose", "--layout", "stories", "--set", "between=judges"],
            "nothing to compare between judges: there is one judge",
        ),
        (["diagnose", "--layout", "stories", "--criterion", "Coherenc"], "did you mean 'Coherence'"),
    ],
)
def test_mistakes_get_a_sentence(
    demo: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert _run(arguments[0], demo, *arguments[1:]) == 1
    assert sentence in capsys.readouterr().err


def test_a_name_that_is_neither_run_nor_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("diagnose", "--layout", "criteria", "hana") == 1
    assert "did you mean 'hanna'" in capsys.readouterr().err
