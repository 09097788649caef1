"""Art or Artifice: the printed cells, and what becomes of answers that are lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import DataError
from judge.reproduce import ttcw
from judge.reproduce.cell import Cell, Place
from judge.reproduce.study import Options, Study


def test_all_cells_of_the_models_at_hand_match_print(ttcw_cells: dict[Place, Cell]) -> None:
    judged = [ttcw_cells[ttcw.JUDGES, model, column] for model in ttcw.FETCHED for column in ttcw.STATISTICS]
    assert [cell.state for cell in judged] == ["match"] * 25
    assert all(cell.corrected.low is not None and "plots" in (cell.corrected.method or "") for cell in judged)
    # Printed -.02 is no rounding towards zero: the correlation is a little above -.025.
    exact = ttcw_cells[ttcw.JUDGES, "cgpt", "correlation"].corrected.value
    assert exact == pytest.approx(-0.0249963, abs=1e-7)


def test_experts_agree_as_reported(ttcw_cells: dict[Place, Cell]) -> None:
    agreement = ttcw_cells[ttcw.AGREEMENT, "experts", "pairs"]
    assert (agreement.published, agreement.as_published, agreement.state) == (0.73, 0.73, "match")
    # 1,472 of 2,016 pairs of experts agree.
    assert agreement.corrected.value == pytest.approx(1472 / 2016)
    ac1 = ttcw_cells[ttcw.AC1, "experts", "AC1"]
    assert (ac1.published, ac1.as_published, ac1.state) == (0.49, 0.49, "match")


def test_an_answer_that_declines_is_a_no_for_the_study_and_lost_for_us(ttcw_cells: dict[Place, Cell]) -> None:
    counts = {
        name: (cell.as_published, cell.corrected.value)
        for (table, model, name), cell in ttcw_cells.items()
        if (table, model) == (ttcw.LABELS, "claudev2")
    }
    assert counts == {"Yes": (528, 528), "No": (144, 143), "without a label": (0, 1)}
    assert "1 of 672 answers state no label" in ttcw_cells[ttcw.JUDGES, "claudev2", "recall"].note()
    assert ttcw_cells[ttcw.JUDGES, "claudev2", "recall"].corrected.n == 671


def test_models_without_a_file_are_not_computable(ttcw_study: Study, ttcw_cells: dict[Place, Cell]) -> None:
    missing = [cell for cell in ttcw_cells.values() if cell.state == "not computable"]
    assert {cell.row for cell in missing} == set(ttcw.OTHERS)
    assert len(missing) == 10
    assert not ttcw_study.altered()


@pytest.fixture
def another(
    studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[list[dict[str, str | None]]], Study]:
    """The study with answers of gemini-pro beside the others."""

    def make(answers: list[dict[str, str | None]]) -> Study:
        folder = tmp_path / "ttcw" / "llm_answers"
        folder.mkdir(parents=True)
        for source in (studies / "ttcw").glob("*.json"):
            (folder.parent / source.name).symlink_to(source)
        for source in (studies / "ttcw" / "llm_answers").iterdir():
            (folder / source.name).symlink_to(source)
        lines = "".join(f"{json.dumps(answer)}\n" for answer in answers)
        (folder / "annotations_gemini-pro.jsonl").write_text(lines, encoding="utf-8")
        monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
        return ttcw.study(Options(resamples=0))

    return make


def test_blocked_empty_and_absent_answers_are_lost(another: Callable[[list[dict[str, str | None]]], Study]) -> None:
    said = {"1": "Yes.", "2": "no, it does not", "3": "Content Blocked", "4": None, "5": " ", "6": "\n yes"}
    study = another([{"id": f"story_0_GPT4_test{test}", "response": text} for test, text in said.items()])
    cells = {cell.place: cell for cell in study.cells(Options(resamples=0))}
    counts = {
        name: (cell.as_published, cell.corrected.value)
        for (table, model, name), cell in cells.items()
        if (table, model) == (ttcw.LABELS, "gemini-pro")
    }
    assert counts == {"Yes": (2, 2), "No": (670, 1), "without a label": (0, 669)}
    assert cells[ttcw.JUDGES, "gemini-pro", "recall"].state == "off"
    assert not study.altered()


def test_labels_of_both_recipes_differ_where_an_answer_is_lost_and_nowhere_else(studies: Path) -> None:
    folder = studies / "ttcw"
    answers = {model: folder / "llm_answers" / f"annotations_{model}.jsonl" for model in ttcw.FETCHED}
    tests = ttcw.read_tests(folder / "ttcw_short_stories.json", folder / "ttcw_annotations.json", answers)
    assert tests.experts.shape == (672, 3)
    assert np.unique(tests.plot).size == 12
    for model in ttcw.FETCHED:
        read = ~np.isnan(tests.ours[model])
        assert (tests.ours[model][read] == tests.as_published[model][read]).all()


def test_a_pair_without_three_experts_is_refused(studies: Path, tmp_path: Path) -> None:
    verdicts = json.loads((studies / "ttcw" / "ttcw_annotations.json").read_text(encoding="utf-8"))
    verdicts[0]["category"] = "Character Development"
    verdicts[0]["expert_idx"] = 99
    path = tmp_path / "v.json"
    path.write_text(json.dumps(verdicts), encoding="utf-8")
    with pytest.raises(DataError, match="0_Claude, Character Development: not 3 experts; found 4"):
        ttcw.read_tests(studies / "ttcw" / "ttcw_short_stories.json", path, {})
