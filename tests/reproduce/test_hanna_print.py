"""HANNA's cells against print: Chhun, Suchanek and Clavel 2024 (TACL), and the figures of the authors' notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from judge.cli.main import COMMANDS
from judge.reproduce import hanna
from judge.reproduce.cell import Cell, Place, as_printed
from judge.reproduce.published import published
from judge.reproduce.recipe import PUBLISHED
from judge.reproduce.study import Options, Study

MATCHING = {
    "correlations_overall_EP1": 91,
    "correlations_system_EP1": 91,
    "eval_prompt_overall": 112,
    "eval_prompt_system": 28,
    "williams_bh_overall": 66,
    "human_leave_one_out_overall": 6,
    "human_leave_one_out_system": 6,
    "human_inter_criterion_overall": 15,
    "human_inter_criterion_system": 15,
    "system_means_human": 77,
    "system_means_human_ci95": 77,
    "system_means_beluga_ep1": 18,
    "user_study_AC1": 5,
    "user_study_AC1_ci95_halfwidth": 5,
    "user_study_error_rate": 1,
}


def test_every_cell_that_can_match_print_does(hanna_cells: dict[Place, Cell]) -> None:
    states = Counter((cell.table, cell.state) for cell in hanna_cells.values())
    assert {table: n for (table, state), n in states.items() if state == "match"} == MATCHING
    assert {table: n for (table, state), n in states.items() if state == "differ"} == {"user_study_error_rate": 4}
    assert not [cell for cell in hanna_cells.values() if cell.state == "off"]


def test_what_the_files_cannot_give_is_null_with_a_reason(hanna_cells: dict[Place, Cell]) -> None:
    missing = [cell for cell in hanna_cells.values() if cell.state == "not computable"]
    assert Counter(cell.table for cell in missing) == {
        "icc2k_human": 6,
        "icc2k_human_ci95_halfwidth": 6,
        "icc2k_judge": 30,
        "mean_likert_by_eval_prompt": 12,
        "system_means_beluga_ep1_ci95": 18,
        "user_study_error_rate": 1,
        "contamination_rate": 1,
        "contamination_auc": 1,
        "keywords": 1,
    }
    for cell in missing:
        assert cell.as_published is None
        assert cell.missing in cell.note()
        assert "judge " in cell.note() or "no command" in cell.note()


def test_every_command_that_a_note_names_exists(hanna_cells: dict[Place, Cell]) -> None:
    named = set()
    for cell in hanna_cells.values():
        words = cell.note().replace(",", " ").replace(";", " ").replace(":", " ").split()
        named |= {after for word, after in pairwise(words) if word == "judge" and after.islower()}
    assert named
    assert named <= set(COMMANDS)


def test_no_printed_cell_is_forgotten(hanna_cells: dict[Place, Cell], hanna_study: Study) -> None:
    printed = published("hanna")
    assert set(printed) <= set(hanna_cells)
    assert [cell for cell in hanna_cells.values() if cell.in_print] != []
    assert len(printed) == 690 == sum(cell.in_print for cell in hanna_cells.values())
    assert hanna_study.tables == list(dict.fromkeys(cell.table for cell in hanna_cells.values()))


def test_tables_printed_as_pictures_follow_the_same_recipe(hanna_cells: dict[Place, Cell]) -> None:
    def cell(*place: str) -> float | None:
        return hanna_cells[place].as_published  # type: ignore[index]

    assert sum(cell.table == "eval_prompt_system" for cell in hanna_cells.values()) == 112
    # Eval-Prompt 1 stands in two tables, one of which is in print.
    for row in ("RE", "CH", "EM", "SU", "EG", "CX", "Avg"):
        for judge in ("Beluga-13B 1", "Llama-13B 1", "Mistral-7B 1", "ChatGPT 1"):
            assert cell("eval_prompt_system", row, judge) == cell("correlations_system_EP1", row, judge)
    assert min(c.as_published for c in hanna_cells.values() if c.table == "williams_bh_system" and c.as_published) == 11


def test_blank_cells_of_print_are_blank(hanna_cells: dict[Place, Cell]) -> None:
    blank = [c for c in hanna_cells.values() if c.table == "williams_bh_overall" and c.published is None]
    assert [(c.row, c.column) for c in blank] == [("RE", "Mistral-7B 1"), ("RE", "SUPERT"), ("SU", "chrF")]
    assert all(c.state == "match" and c.as_published is None and c.corrected.value for c in blank)


def _as_published() -> dict[Place, float | None]:
    study = hanna.study(Options(resamples=0))
    numbers = {place: value for family in study.families for place, value in family.numbers(PUBLISHED).items()}
    digits = {table: d for family in study.families for table, d in family.digits.items()}
    return {place: as_printed(value, digits[place[0]]) for place, value in numbers.items()}


def test_cells_come_from_the_file(changed_file: Callable[..., Path], hanna_cells: dict[Place, Cell]) -> None:
    def swap(rows: dict[str, dict[str, str]]) -> None:
        rows["Human"]["Model"], rows["GPT-2"]["Model"] = "GPT-2", "Human"

    changed_file(swap)
    found = _as_published()
    for table in ("correlations_overall_EP1", "correlations_system_EP1", "eval_prompt_overall", "eval_prompt_system"):
        places = [place for place in found if place[0] == table]
        moved = [place for place in places if found[place] != hanna_cells[place].as_published]
        assert len(moved) > 0.7 * len(places)
    options = Options(resamples=0)
    means = {(c.row, c.column): c for c in hanna.study(options).cells(options, "system_means_human")}
    assert means["Human", "RE"].as_published == 2.81  # GPT-2's mean, as printed
    assert means["Human", "RE"].state == "off"
    assert "is the file as released?" in means["Human", "RE"].note()
    assert means["HINT", "RE"].state == "match"


def test_only_cells_of_a_changed_column_move(changed_file: Callable[..., Path], hanna_cells: dict[Place, Cell]) -> None:
    def swap(rows: dict[str, dict[str, str]]) -> None:
        column = "Beluga-13B CH 2"
        rows["GPT"][column], rows["HINT"][column] = rows["HINT"][column], rows["GPT"][column]

    changed_file(swap)
    moved = {place for place, value in _as_published().items() if value != hanna_cells[place].as_published}
    assert moved == {
        (f"eval_prompt_{level}", row, "Beluga-13B 2") for level in ("overall", "system") for row in ("CH", "Avg")
    }
