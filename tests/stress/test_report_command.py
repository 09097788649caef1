"""`judge stress report` on a run of the control judge, and what other commands say of the same run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judge
from judge.cli.main import main
from judge.demo import run_demo

STORIES = Path(__file__).parents[1] / "golden_tables" / "inputs" / "stressed.jsonl"
"""12 stories as they were and in six changed forms, three of them also as one word."""

RUN = """
name: stressed
judge: surface
dataset: {}
criteria: {{set: hanna, only: [Relevance, Coherence]}}
eval_prompts: [ep1]
repeats: 1
"""


def _run(*arguments: object) -> int:
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.fixture(scope="module")
def stressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stressed")
    (folder / "run.yaml").write_text(RUN.format(STORIES), encoding="utf-8")
    assert _run("run", folder, "--quiet") == 0
    return folder


def test_the_answer_comes_first(stressed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("stress", "report", stressed, "--full") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "coverage: 174 asked, 174 answered, 174 rated, 100.0 %"
    assert lines[2] == "Findings of the stress tests"
    text = "\n".join(lines)
    assert "lexical-repetition (0.96)" in text
    assert text.index("Is it noticed?") > text.index("|pairs:origin|")


def test_json_has_a_list_of_tables_and_long_one(stressed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("stress", "report", stressed, "--criterion", "coherence", "--format", "json") == 0
    tables = json.loads(capsys.readouterr().out)
    assert tables[0]["rows"][0].keys() == {"who", "finding", "what"}
    assert _run("stress", "report", stressed, "--criterion", "coherence", "--format", "json", "--set", "long=true") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["criterion"] for row in rows} == {"Coherence"}
    wanted = {("lexical-repetition", 4, 12), ("typos", 1, 12), ("one-token", 1, 3)}
    assert wanted <= {(row["perturbation"], row["strength"], row["pairs"]) for row in rows}


def test_python_has_the_same_numbers(stressed: Path) -> None:
    run = judge.open_run(stressed)
    found = run.only(criterion="Coherence").stress(margin=0.5)
    assert "margin:±0.5" in found.signature
    assert set(found.frame["criterion"]) == {"Coherence"}
    assert len(run.only(criterion="Coherence").ratings().query("source == 'judge'")) == 12


def test_a_run_of_ordinary_stories_is_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = run_demo(tmp_path / "demo", quiet=True)
    capsys.readouterr()
    assert _run("stress", "report", folder) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "judge stress make" in error


@pytest.mark.parametrize(
    "words",
    [
        ("systems",),
        ("consistency",),
        ("correlate", "--resamples", "20"),
        ("diagnose", "--layout", "criteria", "--resamples", "20"),
        ("diagnose",),
        ("diagnose", "--layout", "stories"),
        ("correlate", "--layout", "grid", "--ci", "none"),
        ("correlate", "--layout", "drift"),
    ],
)
def test_other_tables_are_about_the_stories_as_they_were(
    words: tuple[str, ...], stressed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(*words[:1], stressed, *words[1:], "--full") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "24 asked" in text or words[0] == "disagreements"
    assert "@typos" not in text
    assert "75 perturbed stories are left out" in text or words[0] == "disagreements"


def test_rows_and_coverage_hold_everything(stressed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("ratings", stressed, "-o", tmp_path / "r.csv") == 0
    assert sum("@typos." in line for line in (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()) == 48
    capsys.readouterr()
    assert _run("coverage", stressed) == 0
    assert "174" in capsys.readouterr().out


def test_the_report_has_a_section_and_the_figure_a_row_a_perturbation(
    stressed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run("report", stressed, "-o", tmp_path / "r.html", "--resamples", 20, "--set", "permutations=20") == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    section = page[page.index('id="stress"') :]
    assert section.index("Findings of the stress tests") < section.index("Is it noticed?")
    assert "cannot be drawn" not in page
    capsys.readouterr()
    assert _run("stress", "report", stressed, "--criterion", "Coherence", "-o", tmp_path / "f.svg") == 0
    assert (tmp_path / "f.svg").stat().st_size > 5_000


def test_a_report_on_ordinary_stories_has_no_such_section(tmp_path: Path) -> None:
    folder, _ = run_demo(tmp_path / "demo", quiet=True)
    assert _run("report", folder, "-o", tmp_path / "r.html", "--resamples", 20, "--set", "permutations=20") == 0
    assert 'id="stress"' not in (tmp_path / "r.html").read_text(encoding="utf-8")
