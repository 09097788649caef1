"""Pictures of answers (`-o FILE.svg`) from real runs: equal bytes twice, and sentences for what cannot be drawn."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from tests.report.runs import command as run

FIGURES = {
    "heatmap": ("correlate", "--layout", "grid", "--resamples", "20"),
    "correlations": ("correlate", "--resamples", "20"),
    "consistency": ("consistency",),
    "distributions": ("diagnose", "--layout", "distributions"),
    "calibration": ("jury", "--layout", "calibration", "--set", "foldings=1", "--eval-prompt", "ep1"),
    "systems": ("systems", "--resamples", "20", "--criterion", "Coherence"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_run_gives_the_same_file_twice(demo: Path, tmp_path: Path, name: str) -> None:
    # Twice for one kind: files of every suffix and of other kinds are compared where they are drawn.
    files = [tmp_path / f"{each}.svg" for each in ("ab" if name == "correlations" else "a")]
    for path in files:
        assert run(*FIGURES[name], demo, "--set", "width=column", "-o", path) == 0
    content = files[0].read_bytes()
    assert content == files[-1].read_bytes()
    assert content.startswith(b"<?xml")
    assert str(Path.home()).encode() not in content


@pytest.mark.parametrize("name", list(FIGURES))
def test_wrong_files_and_widths_are_refused_before_anything_is_read(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*FIGURES[name], tmp_path / "nowhere", "-o", tmp_path / "a.gif") == 1
    assert "allowed: .png, .svg, .pdf" in capsys.readouterr().err
    assert run(*FIGURES[name], tmp_path / "nowhere", "--set", "width=poster", "-o", tmp_path / "a.png") == 1
    assert "--set width=poster is not known; allowed: column, page" in capsys.readouterr().err


@pytest.mark.parametrize("name", list(FIGURES))
def test_two_datasets_make_no_figure(
    demo: Path, rated: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*FIGURES[name], demo, rated, "-o", tmp_path / "a.png") == 1
    told = capsys.readouterr().err
    assert "shows one dataset; these runs have " in told
    assert {"demo", "rated"} <= set(told.replace(",", " ").split())


def test_narrowing_is_in_the_signature(demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    assert (
        run(
            "diagnose",
            "--layout",
            "distributions",
            demo,
            "--criterion",
            "coherence",
            "--eval-prompt",
            "ep2",
            "-o",
            path,
        )
        == 0
    )
    # Text is drawn as outlines; matplotlib writes each text as a comment beside them.
    assert "demo:48|crit:CH|ep:ep2|judge:surface(control)|" in path.read_text(encoding="utf-8").replace("&#45;", "-")


def test_unknown_words_and_missing_maps_get_a_sentence(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.png"
    calibration = ("jury", "--layout", "calibration")
    assert run(*calibration, demo, "--calibrate", "none", "-o", out) == 1
    assert "--calibrate 'none' is not known; allowed: linear, isotonic, ordinal" in capsys.readouterr().err
    assert run(*calibration, demo, "--set", "bins=1", "-o", out) == 1
    assert "--set bins=1 must be 2 to 20" in capsys.readouterr().err
    assert run("correlate", demo, "--criterion", "Humour", "-o", out) == 1
    assert "--criterion 'Humour' is not known" in capsys.readouterr().err
    assert run("correlate", "--layout", "drift", tmp_path / "nowhere", "-o", out) == 1
    told = capsys.readouterr().err
    assert "this answer has no picture" in told
    assert "hint: --layout list or grid or confusion has one" in told
    assert not out.exists()


def test_a_run_without_people_still_shows_its_own_agreement(demo: Path, tmp_path: Path) -> None:
    import sqlite3

    bare = tmp_path / "bare" / "surface"
    shutil.copytree(demo, bare)
    with closing(sqlite3.connect(bare / "journal.sqlite")) as db, db:
        db.execute("DELETE FROM ratings")
    db.close()
    assert run("consistency", bare, "-o", tmp_path / "a.png") == 0
    assert run("diagnose", "--layout", "distributions", bare, "-o", tmp_path / "b.png") == 0
