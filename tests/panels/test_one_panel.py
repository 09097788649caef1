"""--set panel=NAME: every command that shows people's ratings can take one panel's alone, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.cli.main import main
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.sections import headline
from tests.panels.study import folder_of, study

NOTE = "people: those of the panel lay only"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay readers follow the judge, experts turn it round."""
    return folder_of(study({"lay": 1.0, "expert": -0.8}), tmp_path_factory.mktemp("panels") / "run")


def run(*arguments: object) -> int:
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.mark.parametrize(
    "command",
    [("diagnose", "--layout", "criteria"), ("jury", "--combiner", "mean", "--set", "foldings=1", "--ci", "none")],
)
def test_tables_say_which_panel(folder: Path, command: tuple[object, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*command, folder, "--set", "panel=LAY", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    last = found[-1] if isinstance(found, list) else found
    assert "|panel:lay|" in last["signature"]
    assert NOTE in json.dumps(found)


def test_single_rows_are_those_of_the_panel(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ratings", folder, "--set", "panel=lay", "--format", "jsonl") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    raters = {row["rater"] for row in rows if row["source"] == "rater"}
    assert raters == {"lay0", "lay1", "lay2"}
    assert any(row["source"] == "judge" for row in rows)


@pytest.mark.parametrize("figure", ["heatmap", "distributions"])
def test_figures_say_whose_ratings_they_show(
    folder: Path, tmp_path: Path, figure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {
        "heatmap": ("correlate", "--layout", "grid", "--resamples", 20),
        "distributions": ("diagnose", "--layout", "distributions"),
    }[figure]
    files = [tmp_path / f"{name}.svg" for name in ("all", "lay")]
    assert run(*asked, folder, "-o", files[0]) == 0
    assert "people of 2 panels (expert, lay) are taken together" in capsys.readouterr().out
    assert run(*asked, folder, "-o", files[1], "--set", "panel=lay") == 0
    assert NOTE in capsys.readouterr().out
    assert files[0].read_bytes() != files[1].read_bytes()


def test_a_report_of_one_panel_says_so_in_its_first_box(folder: Path) -> None:
    inputs = ReportInputs.read([folder], ReportOptions(resamples=50, permutations=20, panel="lay"))
    assert inputs.panels is None
    said = headline.sentences(inputs)
    assert any("People are only those of the panel lay." in one for one in said), said


def test_people_of_a_dataset_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    for at in range(12):
        given = [
            {"rater": rater, "criterion": name, "value": 1 + (at * step) % 5, "panel": panel}
            for rater, panel, step in (("ann", "expert", 2), ("bob", "lay", 3))
            for name in ("Plot", "Style")
        ]
        lines.append({"id": f"s{at}", "story_prompt": f"p{at}", "system": "m", "text": f"Once {at}.", "ratings": given})
    path = tmp_path / "tales.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert run("diagnose", "--layout", "criteria", path, "--set", "panel=lay", "--format", "json") == 0
    assert NOTE in capsys.readouterr().out
    assert run("diagnose", "--layout", "criteria", path, "--format", "json") == 0
    assert "people of 2 panels (expert, lay) are taken together" in capsys.readouterr().out


def test_an_unknown_panel_is_told_the_known_ones(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (
        ("ratings",),
        ("report", "-o", tmp_path / "a.html"),
        ("correlate", "--layout", "grid", "-o", tmp_path / "a.svg"),
    ):
        assert run(*command, folder, "--set", "panel=crowd") == 1
        assert "expert, lay" in capsys.readouterr().err
