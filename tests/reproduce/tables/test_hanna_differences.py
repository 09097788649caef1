"""Each kind of difference alone: exactly these cells print another number, and these are the numbers.

Counts were made with scipy 1.17.1 (kendalltau) on the released score file, outside this program.
"""

from __future__ import annotations

import numpy as np
import pytest

from judge.inputs.datasets.studies.hanna import read_score_file
from judge.reproduce import hanna_correlations as correlations
from judge.reproduce.cell import CORRECTIONS, DIFFERENCES, OURS, PUBLISHED, Cell, Place
from judge.reproduce.hanna_correlations import estimates, resampled_tau
from judge.reproduce.hanna_system_means import JUDGED, NAMES, Scores
from judge.reproduce.study import Options, Study
from judge.stats.resampling import bootstrap

CRITERIA = tuple(NAMES)
JUDGE_TABLES = {"overall": "eval_prompt_overall", "system": "eval_prompt_system"}
EP1_TABLES = {"overall": "correlations_overall_EP1", "system": "correlations_system_EP1"}


def alone(study: Study, choice: str) -> dict[Place, tuple[float | None, float | None]]:
    """Place -> (as published, with the one difference), where the two print otherwise."""
    cells = study.cells(Options(choice=choice, resamples=0))
    return {(c.table, c.row, c.column): (c.as_published, c.moved[choice]) for c in cells if choice in c.moved}


def single(found: dict[Place, object], level: str) -> set[tuple[str, str]]:
    """(criterion, judge or measure) of single cells of one level, each once."""
    tables = (JUDGE_TABLES[level], EP1_TABLES[level])
    return {(row, column) for table, row, column in found if table in tables and row != "Avg" and column != "Human"}


def test_signs_are_lost_in_exactly_these_cells(hanna_study: Study) -> None:
    found = alone(hanna_study, "signed")
    distance = {(row, "BaryScore") for row in CRITERIA}
    assert single(found, "overall") == distance | {("EM", "BLANC"), ("EG", "BLANC"), ("EM", "ChatGPT 3")}
    blanc = {(row, "BLANC") for row in ("CH", "SU", "EG", "CX")}
    supert = {(row, "SUPERT") for row in ("CH", "EM", "SU", "EG", "CX")}
    assert single(found, "system") == distance | blanc | supert | {("EM", "ChatGPT 3")}
    assert found["correlations_system_EP1", "CH", "SUPERT"] == (20, -20)
    assert found["eval_prompt_overall", "EM", "ChatGPT 3"] == (1, -1)


def test_float_noise_breaks_ties_in_28_cells(hanna_study: Study) -> None:
    found = alone(hanna_study, "exact-ties")
    assert single(found, "overall") == set()
    moved = single(found, "system")
    assert len(moved) == 28
    assert sum(row == "CX" for row, _ in moved) == 22
    assert {
        place: found[place] for place in found if place[0] == "eval_prompt_system" and place[1] not in ("CX", "Avg")
    } == {
        ("eval_prompt_system", "CH", "Beluga-13B 4"): (73, 72),
        ("eval_prompt_system", "CH", "Mistral-7B 4"): (56, 54),
        ("eval_prompt_system", "EM", "Llama-13B 3"): (38, 36),
        ("eval_prompt_system", "SU", "ChatGPT 3"): (45, 41),
        ("eval_prompt_system", "EG", "Beluga-13B 1"): (73, 72),
        ("eval_prompt_system", "EG", "Llama-13B 1"): (73, 72),
    }


def test_ratings_off_the_scale_move_26_and_55_of_96_cells(hanna_study: Study) -> None:
    found = alone(hanna_study, "on-scale")
    overall, system = single(found, "overall"), single(found, "system")
    assert (len(overall), len(system)) == (26, 55)
    assert {column for _, column in overall | system} <= set(JUDGED)
    sizes = [abs(one - two) for place, (one, two) in found.items() if place[0] == "eval_prompt_overall"]
    assert max(sizes) == 1
    assert found["eval_prompt_system", "RE", "Beluga-13B 2"] == (78, 60)
    assert found["eval_prompt_system", "CH", "Beluga-13B 2"] == (78, 91)
    assert found["eval_prompt_system", "EG", "Mistral-7B 1"] == (64, 78)
    assert found["eval_prompt_system", "EG", "Mistral-7B 3"] == (54, 69)


def test_the_file_holds_these_ratings_off_the_scale(hanna_cells: dict[Place, Cell]) -> None:
    def counts(table: str) -> dict[str, list[float | None]]:
        judges = dict.fromkeys(c.row for c in hanna_cells.values() if c.table == table)
        return {j: [hanna_cells[table, j, f"EP {i}"].as_published for i in (1, 2, 3, 4)] for j in judges}

    assert counts("judge_means_off_scale_11_systems") == {
        "Beluga-13B": [0, 55, 64, 54],
        "Llama-13B": [25, 14, 38, 182],
        "Mistral-7B": [253, 56, 46, 47],
        "ChatGPT": [3, 2, 2, 7],
        "OrcaPlatypus": [65, 29, 27, 82],
    }
    four = {j: n for j, n in counts("judge_means_off_scale").items() if j != "OrcaPlatypus"}
    assert sum(sum(n) for n in four.values()) == 809  # type: ignore[arg-type]


def test_an_average_of_rounded_cells_is_another_number_in_four(hanna_study: Study) -> None:
    found = alone(hanna_study, "unrounded")
    averages = {place: pair for place, pair in found.items() if place[1] == "Avg" and place[2] != "Human"}
    assert averages == {
        ("correlations_overall_EP1", "Avg", "BERTScore"): (16, 17),
        ("correlations_overall_EP1", "Avg", "BLEU"): (12, 13),
        ("correlations_overall_EP1", "Avg", "SUPERT"): (8, 7),
        ("eval_prompt_overall", "Avg", "ChatGPT 3"): (8, 9),
    }


def test_a_rater_who_is_part_of_the_mean_looks_like_a_ceiling(hanna_cells: dict[Place, Cell]) -> None:
    expected = {"RE": 5.7, "CH": -20.9, "EM": 5.6, "SU": -8.2, "EG": 8.9, "CX": 19.2}
    for table in ("human_leave_one_out_overall", "correlations_overall_EP1"):
        found = {row: hanna_cells[table, row, "Human"] for row in CRITERIA}
        assert [found[row].as_published for row in CRITERIA] == [49, 37, 49, 44, 50, 57]
        assert {row: round(found[row].corrected.value or 0, 1) for row in CRITERIA} == expected
        assert all("positions are not persons" in cell.note() for cell in found.values())
    assert [hanna_cells["human_leave_one_out_system", row, "Human"].as_published for row in CRITERIA] == [
        70,
        62,
        77,
        72,
        76,
        80,
    ]


def test_keeping_the_human_system_moves_nearly_every_cell(hanna_study: Study) -> None:
    found = alone(hanna_study, "keep-human")
    judged = {level: [p for p in found if p[0] == table and p[1] != "Avg"] for level, table in JUDGE_TABLES.items()}
    assert {level: len(places) for level, places in judged.items()} == {"overall": 95, "system": 95}


@pytest.mark.parametrize("level", ["overall", "system"])
def test_one_family_of_real_tests_and_two_sides(hanna_cells: dict[Place, Cell], hanna_study: Study, level: str) -> None:
    table = f"williams_bh_{level}"
    ours = {place: cell.corrected.value for place, cell in hanna_cells.items() if place[0] == table}
    assert None not in ours.values()
    assert len(ours) == 66
    assert sum(value <= 5 for value in ours.values() if value is not None) == {"overall": 37, "system": 0}[level]
    published = [cell.as_published for place, cell in hanna_cells.items() if place[0] == table]
    assert sum(value <= 5 for value in published if value is not None) == {"overall": 42, "system": 0}[level]
    # One-sided over all 66: 42 of them reach 5 %.
    one_family = [c.corrected.value for c in hanna_study.cells(Options(choice="one-family", resamples=0), table)]
    assert sum(value <= 5 for value in one_family if value is not None) == {"overall": 42, "system": 0}[level]


def test_a_sign_of_r23_lost_moves_system_cells_only(hanna_study: Study) -> None:
    found = alone(hanna_study, "absolute-r23")
    assert {place[0] for place in found} == {"williams_bh_system"}


def test_half_widths_over_ratings_are_narrower_than_over_stories(hanna_cells: dict[Place, Cell]) -> None:
    cells = [c for c in hanna_cells.values() if c.table == "system_means_human_ci95"]
    human = hanna_cells["system_means_human_ci95", "Human", "RE"]
    assert (human.published, human.as_published) == (0.14, 0.14)
    assert human.corrected.value == pytest.approx(0.155, abs=5e-4)
    assert sum("clustered" in c.moved for c in cells) == 60
    assert all(c.corrected.n == 96 for c in cells)


def test_the_note_of_a_cell_says_what_moved_it(hanna_cells: dict[Place, Cell]) -> None:
    cell = hanna_cells["correlations_system_EP1", "Avg", "SUPERT"]
    assert cell.moved == {"signed": -12, "exact-ties": 16}
    assert cell.note() == "moved by signed (-12), exact-ties (16)"
    assert hanna_cells["correlations_overall_EP1", "RE", "BARTScore"].moved == {}
    together = hanna_cells["eval_prompt_system", "RE", "Mistral-7B 3"]
    assert (together.as_published, round(together.corrected.value or 0)) == (7, -7)
    assert "moved by the corrections together" in together.note()


def test_counts_of_changes_agree_with_the_cells(hanna_study: Study) -> None:
    changes = {(c.switch, c.table): c for c in hanna_study.changes()}
    for switch in DIFFERENCES:
        found = alone(hanna_study, switch)
        for table in hanna_study.table_names:
            own = [place for place in found if place[0] == table]
            if (switch, table) in changes:
                change = changes[switch, table]
                assert len(own) == change.changed + change.averages_changed, (switch, table)
            else:
                assert own == []


def test_recipes_are_made_of_the_documented_switches() -> None:
    assert {name for name in CORRECTIONS if getattr(OURS, name.replace("-", "_"))} == set(CORRECTIONS)
    assert not any(getattr(OURS, name.replace("-", "_")) for name in set(DIFFERENCES) - set(CORRECTIONS))
    assert not any(getattr(PUBLISHED, name.replace("-", "_")) for name in DIFFERENCES)


@pytest.mark.parametrize("level", ["overall", "system"])
@pytest.mark.parametrize("column", ["Llama-13B 4", "BLEU"])
def test_intervals_come_from_whole_story_prompts(hanna_study: Study, level: correlations.Level, column: str) -> None:
    """The same resamples expanded to stories, and scipy's tau-b of each."""
    scores = Scores(read_score_file(hanna_study.files["hanna_scores"]))
    x, y = scores.side(column, "RE", OURS), scores.people("RE", OURS)
    drawn = bootstrap.draw(np.tile(np.arange(96), 10), 20, np.random.default_rng(3), "boot-inputs")
    (found,) = resampled_tau(x[None], y, level, drawn)
    for counts, value in zip(drawn.counts, found, strict=True):
        prompts = np.repeat(np.arange(96), counts)
        assert value == pytest.approx(correlations.tau(x[:, prompts], y[:, prompts], level, OURS), abs=1e-6)
    one = {place: cell for place, cell in estimates(scores, "system", 20, 3).items() if place[2] == "Llama-13B 4"}
    cell = one["eval_prompt_system", "RE", "Llama-13B 4"]
    assert cell.n == 10
    if (level, column) == ("system", "Llama-13B 4"):
        assert (cell.low, cell.high) == pytest.approx(tuple(np.percentile(found, [2.5, 97.5])))
