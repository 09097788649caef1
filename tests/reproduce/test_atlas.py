"""The atlas: the page that is shipped is what the files give, and work that was broken off goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.cli.main import main
from judge.reproduce import atlas
from judge.reproduce.cell import STUDIES, Cell, Place
from judge.reproduce.judged import QUESTIONS
from judge.reproduce.study import Options, Study

PAGE = Path(__file__).resolve().parents[2] / "docs" / "atlas.md"


def _section(study: Study, cells: list[Cell]) -> str:
    return atlas.section(atlas.part_of(study, cells), linked=False)


def test_the_page_holds_what_the_files_give(
    closer: Study, closer_cells: dict[Place, Cell], bar: Study, bar_cells: dict[Place, Cell], alt: Study
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert _section(closer, list(closer_cells.values())) in page
    assert _section(bar, list(bar_cells.values())) in page
    assert _section(alt, alt.cells(Options())) in page


def test_the_page_has_every_study_and_every_question() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for study in STUDIES.values():
        assert f"## {study.title}" in page
    assert all(title in page for title in QUESTIONS.values())


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the quickest study."""
    monkeypatch.setattr(atlas, "STUDIES", {"alttest": STUDIES["alttest"]})


def test_what_stands_in_the_folder_is_not_made_again(
    one: None, studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    said: list[str] = []
    page = atlas.write_atlas(tmp_path / "atlas", 1, said.append)
    first = page.read_text(encoding="utf-8")
    assert "[every cell](alttest.md)" in first
    assert "gpt-4o on lgbteen" in first
    assert (tmp_path / "atlas" / "alttest.md").read_text(encoding="utf-8").count("gpt-4o-mini") == 6
    assert said[0] == "alttest (1 of 1)"
    again: list[str] = []
    assert atlas.write_atlas(tmp_path / "atlas", 1, again.append).read_text(encoding="utf-8") == first
    assert f"alttest: as it stands in {tmp_path / 'atlas'}" in again
    kept = tmp_path / "atlas" / "alttest.json"
    stored = json.loads(kept.read_text(encoding="utf-8"))
    kept.write_text(json.dumps({**stored, "key": "another"}), encoding="utf-8")
    anew: list[str] = []
    atlas.write_atlas(tmp_path / "atlas", 1, anew.append)
    assert not [line for line in anew if "as it stands" in line]


def test_a_study_without_its_files_is_named_with_what_gets_them(
    one: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path / "empty"))
    page = atlas.write_atlas(tmp_path / "atlas", 1, lambda _: None).read_text(encoding="utf-8")
    assert "Not at hand: alttest needs alttest/published.csv" in page
    assert "judge data add alttest" in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["all"], "all studies need a folder"),
        (["all", "--table", "x", "-o", "there"], "--table has no effect with all studies"),
        (["all", "hanna"], "study 'all' is not known"),
    ],
)
def test_all_studies_need_a_folder_and_nothing_else(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", *words])
    assert stopped.value.code not in (0, None)
    assert told in capsys.readouterr().err
