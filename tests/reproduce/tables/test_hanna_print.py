"""HANNA's cells against print: Chhun, Suchanek and Clavel 2024 (TACL), and the figures of the authors' notebook."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from judge.cli.commands import COMMANDS
from judge.reproduce import hanna
from judge.reproduce.cell import PUBLISHED, Cell, Place, as_printed, published
from judge.reproduce.hanna_system_means import NAMES
from judge.reproduce.study import Options, Study

MATCHING = {
    "correlations_overall_EP1": 91,
    "correlations_system_EP1": 91,
    "eval_prompt_overall": 84,
    "eval_prompt_system": 84,
    "williams_bh_overall": 66,
    "williams_bh_system": 66,
    "human_inter_criterion_overall": 15,
    "human_inter_criterion_system": 15,
    "system_means_human": 77,
    "system_means_human_ci95": 77,
    "system_means_beluga_ep1": 77,
    "user_study_AC1": 5,
    "user_study_AC1_ci95_halfwidth": 5,
    "user_study_error_rate": 1,
}
REPEATED = {
    "eval_prompt_overall": 28,
    "eval_prompt_system": 28,
    "human_leave_one_out_overall": 6,
    "human_leave_one_out_system": 6,
}


def test_every_cell_that_can_match_print_does(hanna_cells: dict[Place, Cell]) -> None:
    states = Counter((cell.table, cell.state) for cell in hanna_cells.values())
    assert {table: n for (table, state), n in states.items() if state == "match"} == MATCHING
    assert {table: n for (table, state), n in states.items() if state == "repeat"} == REPEATED
    assert {table: n for (table, state), n in states.items() if state == "differ"} == {"user_study_error_rate": 4}
    assert not [cell for cell in hanna_cells.values() if cell.state == "off"]


def test_what_the_files_cannot_give_is_null_with_a_reason(hanna_cells: dict[Place, Cell]) -> None:
    missing = [cell for cell in hanna_cells.values() if cell.state == "not computable"]
    assert Counter(cell.table for cell in missing) == {
        "icc2k_human": 6,
        "icc2k_human_ci95_halfwidth": 6,
        "icc2k_judge": 30,
        "mean_likert_by_eval_prompt": 12,
        "system_means_beluga_ep1": 42,
        "system_means_beluga_ep1_ci95": 48,
        "user_study_error_rate": 1,
        "contamination_rate": 5,
        "contamination_auc": 5,
        "keywords": 6,
    }
    for cell in missing:
        assert cell.in_print
        assert cell.as_published is None
        assert cell.missing
        assert cell.missing in cell.note()
        assert "judge " in cell.note()
    for table in ("contamination_rate", "contamination_auc", "keywords"):
        notes = {cell.note() for cell in missing if cell.table == table}
        assert len(notes) == 1
        assert ("judge explain" if table == "keywords" else "judge contamination") in notes.pop()


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
    # The human ceiling is a column of the correlations' tables in print, and is stored there only.
    ceiling = {place for place in hanna_cells if place[0].startswith("human_leave_one_out")}
    assert {place for place, cell in hanna_cells.items() if cell.in_print} == set(printed) | ceiling
    assert (len(printed), len(ceiling)) == (975, 12)
    assert hanna_study.table_names == list(dict.fromkeys(cell.table for cell in hanna_cells.values()))


def test_the_printed_numbers_of_the_system_level_are_the_golden_ones(studies: Path) -> None:
    # Eval-Prompts: read from the picture in the released notebook, cell 35; Williams tests: printed in the slides.
    rows = _golden(studies / "golden" / "hanna_reference_values_system.csv")
    wanted = {
        (r["table"], r["row"], r["column"]): float(r["seed_value"]) if r["seed_value"] else None
        for r in rows
        if r["table"] in ("eval_prompt_system", "williams_bh_system")
    }
    found = {place: one.value for place, one in published("hanna").items() if place in wanted}
    assert len(wanted) == 112 + 66
    assert found == wanted


def test_the_printed_numbers_of_the_slides_are_the_golden_ones(studies: Path) -> None:
    printed = published("hanna")
    names = {
        "asg_beluga_13b_ep1": "system_means_beluga_ep1",
        "contamination_rate_percent": "contamination_rate",
        "booksmia_auc_percent": "contamination_auc",
        "keywords_beluga_13b": "keywords",
    }
    columns = {"contamination_rate": "WritingPrompts", "contamination_auc": "BooksMIA", "keywords": "Beluga-13B"}
    rows = _golden(studies / "golden" / "hanna_printed_extra.csv")
    assert Counter(row["table"] for row in rows) == dict(zip(names, (48, 5, 5, 6), strict=True))
    for row in rows:
        table = names[row["table"]]
        value = printed[table, row["row"], columns.get(table, row["column"])].value
        assert value == (row["printed"] if table == "keywords" else float(row["printed"]))
        if row["half_width"]:
            half = printed["system_means_beluga_ep1_ci95", row["row"], row["column"]].value
            assert half == float(row["half_width"])


def _golden(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_means_that_the_notebook_prints_of_every_system(hanna_cells: dict[Place, Cell]) -> None:
    # Output of data_visualization.ipynb of dig-team/hanna-benchmark-asg, "System Average Beluga Ratings".
    tag = [hanna_cells["system_means_beluga_ep1", "GPT-2 (tag)", column] for column in (*NAMES, "Average")]
    assert [cell.published for cell in tag] == [2.70, 2.41, 2.68, 2.47, 2.67, 2.93, 2.64]
    assert all(cell.state == "match" for cell in tag)
    llama = hanna_cells["system_means_beluga_ep1", "Llama-30B", "Average"]
    assert (llama.published, llama.as_published, llama.state) == (4.09, None, "not computable")
    assert "hanna_llm" in llama.note()


def test_the_picture_of_four_eval_prompts_repeats_the_first(hanna_cells: dict[Place, Cell]) -> None:
    def cell(*place: str) -> float | None:
        return hanna_cells[place].as_published  # type: ignore[index]

    assert sum(cell.table == "eval_prompt_system" for cell in hanna_cells.values()) == 112
    for row in ("RE", "CH", "EM", "SU", "EG", "CX", "Avg"):
        for judge in ("Beluga-13B 1", "Llama-13B 1", "Mistral-7B 1", "ChatGPT 1"):
            assert cell("eval_prompt_system", row, judge) == cell("correlations_system_EP1", row, judge)
    assert min(c.as_published for c in hanna_cells.values() if c.table == "williams_bh_system" and c.as_published) == 11


def test_blank_cells_of_print_are_blank(hanna_cells: dict[Place, Cell]) -> None:
    blank = [c for c in hanna_cells.values() if c.table == "williams_bh_overall" and c.published is None]
    assert {(c.row, c.column) for c in blank} == {("RE", "Mistral-7B 1"), ("RE", "SUPERT"), ("SU", "chrF")}
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
