"""--criterion, --judge and --eval-prompt: every table command has them, and narrows what it computes by them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import typer

import judge
from judge.base.errors import SpecError
from judge.cli.commands import app_of
from judge.ratings.ratings_table import COLUMNS
from tests.report.runs import command as _run

SELECTING = (
    "ratings",
    "coverage",
    "consistency",
    "correlate",
    "diagnose",
    "systems",
    "compare",
    "jury",
    "explain",
    "contamination report",
)
COMPUTED = {
    "coverage": (),
    "consistency": (),
    "correlate": ("--ci", "none"),
    "diagnose": ("--full",),
    "systems": ("--resamples", "20"),
    "diagnose --layout criteria": ("--ci", "none"),
    "diagnose --layout stories": ("--set", "long=true"),
    "jury": ("--ci", "none", "--set", "foldings=1", "--combiner", "mean"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve story-prompts x three systems; two judges with two Eval-Prompts, two criteria, two repeats; one rater."""
    rng = np.random.default_rng(3)
    rows = []
    for prompt in range(12):
        for system in range(3):
            common = {"run": "r", "dataset": "toy", "story": f"{system}-{prompt}", "system": f"S{system}"}
            common |= {"story_prompt": f"p{prompt}", "flags": "", "status": "ok"}
            for criterion in ("Plot", "Style"):
                own = common | {"criterion": criterion}
                rows.append(own | {"source": "rater", "rater": "w", "rating": int(rng.integers(1, 6))})
                for name in ("a", "b"):
                    for prompt_name in ("v1", "v2"):
                        cell = own | {"judge": name, "eval_prompt": prompt_name, "source": "judge"}
                        rows += [cell | {"repeat": r, "rating": int(rng.integers(1, 6))} for r in range(2)]
    _write(tmp_path, rows)
    return tmp_path


def _write(folder: Path, rows: list[dict[str, object]]) -> None:
    with (folder / "imported.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(COLUMNS))
        writer.writeheader()
        writer.writerows(rows)


def _options(name: str) -> set[str]:
    command, _, part = name.partition(" ")
    found = typer.main.get_command(app_of(command))
    chosen = getattr(found, "commands", {}).get(part, found)
    return {option for parameter in chosen.params for option in parameter.opts}


@pytest.mark.parametrize("name", SELECTING)
def test_every_table_command_has_the_same_three_options(name: str) -> None:
    assert _options(name) >= {"--criterion", "--judge", "--eval-prompt"}


@pytest.mark.parametrize("name", COMPUTED)
def test_tables_are_of_what_was_selected(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    selected = ("--judge", "b", "--eval-prompt", "v2", "--criterion", "style")
    assert _run(*name.split(), folder, *selected, *COMPUTED[name], "--format", "json") == 0
    made = json.loads(capsys.readouterr().out)
    tables = made if isinstance(made, list) else [made]
    assert all("|ep:v2|" in table["signature"] for table in tables)
    rows = [row for table in tables for row in table["rows"]]
    assert rows
    seen = {(row["judge"], row.get("eval_prompt", "v2")) for row in rows if row.get("judge") in ("a", "b")}
    assert seen <= {("b", "v2")}
    assert seen or name == "jury"
    named = {row["criterion"] for row in rows if row.get("criterion") is not None}
    assert named <= {"Style", "all", "average", "all criteria"}


@pytest.mark.parametrize(
    ("option", "known"), [("--judge", "a, b"), ("--eval-prompt", "v1, v2"), ("--criterion", "Plot, Style")]
)
def test_correlate_refuses_a_name_that_is_not_there(
    option: str, known: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run("correlate", folder, option, "zz") == 1
    assert f"{option} 'zz' is not known (known: {known})" in capsys.readouterr().err


def test_against_and_labels_may_name_a_criterion_that_was_not_selected(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = ("--criterion", "Plot", "--ci", "none", "--set", "control=false", "--format", "json")
    assert _run("correlate", folder, "--against", "Style", *bare) == 0
    first = json.loads(capsys.readouterr().out)
    assert _run("correlate", "--layout", "separation", folder, "--labels", "Style > 3", *bare) == 0
    labels = json.loads(capsys.readouterr().out)
    judged = [row for row in first["rows"] if row["judge"] in ("a", "b")]
    assert {(row["criterion"], row["against"]) for row in judged} == {("Plot", "Style")}
    assert labels["title"].startswith("Stories with the label Style > 3")


def test_disagreements_propose_what_can_be_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "imported.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["source"] == "judge"]
    _write(folder, rows)
    assert _run("diagnose", "--layout", "stories", folder) == 1
    said = capsys.readouterr().err
    assert "nothing to compare between people: people rated none of the judge's criteria" in said
    assert "--set between=repeats or --set between=eval-prompts or --set between=judges" in said
    assert _run("diagnose", "--layout", "stories", folder, "--set", "between=repeats") == 0
    capsys.readouterr()
    assert _run("diagnose", "--layout", "stories", folder, "--judge", "a", "--eval-prompt", "v1") == 1
    said = capsys.readouterr().err
    assert "--set between=repeats" in said
    assert "eval-prompts" not in said


def test_in_notebooks_a_string_is_one_name(folder: Path) -> None:
    run = judge.open_run(folder)
    part = run.only(eval_prompt="v1", criterion="Plot", judge="a")
    assert set(part.ratings().query("source == 'judge'")["eval_prompt"]) == {"v1"}
    assert part.consistency().frame.query("judge == 'a'")["criterion"].unique().tolist() == ["Plot"]
    assert run.coverage(by="judge").frame["judge"].tolist() == ["a", "b"]
    assert run.coverage(drop_systems="S0").frame["stories"].max() == 24
    assert run.systems(layout="separation", drop_systems="S0").frame["stories"].max() == 24
    assert "S0" not in set(run.systems(drop_systems="S0", resamples=10).frame["system"])
    assert part.only(criterion=["Plot"]).ratings().equals(part.ratings())
    with pytest.raises(SpecError, match=r'eval_prompt="v" is not known.*known: v1'):
        part.only(eval_prompt="v")
    with pytest.raises(SpecError, match="drop_system"):
        run.correlate(drop_system="S0")
