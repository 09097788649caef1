"""Studies that released judges' answers or labels: every printed number is found again, or it is said whose it is."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import DataError
from judge.base.estimate import Estimate
from judge.reproduce import alttest, closer_look, llmbar
from judge.reproduce.cell import Cell, Place, Printed, listed
from judge.reproduce.judged import changing, sides
from judge.reproduce.released_answers import lines
from judge.reproduce.study import Options, Study, held
from tests.reproduce.test_listing import _check


def test_every_cell_of_closer_look_is_found_again_or_its_row_is_said_to_hold_others(
    closer_cells: dict[Place, Cell],
) -> None:
    printed = [cell for cell in closer_cells.values() if cell.in_print]
    assert Counter(cell.state for cell in printed) == {"match": 84, "differ": 20}
    assert not [cell for cell in printed if cell.state == "differ" and not cell.known_cause]
    # The numbers of one file stand in two rows, and those of one method in the table of the other.
    wrong = {(cell.table, cell.row, cell.known_cause) for cell in printed if cell.state == "differ"}
    assert wrong == {
        ("closer_table_2", "rate-explain", "the row's r are those of analyze_rate, over all replies"),
        ("closer_table_2", "rate-explain", "the row's tau are those of analyze_rate, as every tau"),
        ("closer_table_2", "analyze-rate", "the row's r are those of analyze_rate, mean over dialogues"),
        ("closer_table_3", "rate-explain", "the row's r are those of analyze_rate, over all replies"),
        ("closer_table_3", "rate-explain", "the row's tau are those of analyze_rate, as every tau"),
    }
    groundedness = closer_cells["closer_table_2", "analyze-rate", "groundedness r"]
    assert (groundedness.published, groundedness.as_published) == (0.725, 0.58)


def test_every_corrected_cell_of_closer_look_has_an_interval(closer_cells: dict[Place, Cell]) -> None:
    printed = [cell for cell in closer_cells.values() if cell.in_print]
    assert all(cell.corrected.low is not None for cell in printed)
    assert Counter(cell.verdict for cell in printed) == {"holds": 84, "differs": 20}
    pooled = closer_cells["closer_table_2", "free text", "groundedness r"].corrected
    assert pooled.method is not None
    assert "jackknife" in pooled.method
    # Dialogues differ, so that the interval is wider than Fisher's over 353 replies (.14).
    assert (pooled.high or 0) - (pooled.low or 0) > 0.1


@pytest.mark.parametrize(
    ("text", "prompt", "rating"),
    [
        ("2.5", "geval", 2),
        ("Analysis: 3 facts.\nRating: 1", "analyze_rate", 1),
        ("Rating: 2\nRationale: ... Rating: 3", "rate_explain", 3),
        ("Good", closer_look.AS_ZERO, 0),
    ],
)
def test_the_study_takes_the_first_digit_behind_the_last_rating(text: str, prompt: str, rating: float) -> None:
    assert closer_look.as_the_study(text, prompt) == rating
    assert np.isnan(closer_look.as_the_study("Good", "geval"))


def test_repeats_are_enough_by_spearman_and_brown() -> None:
    # .9 = k .5 / (1 + (k - 1) .5) at k = 9; of .7 four repeats give .903 and three .875.
    assert (closer_look.repeats_enough(0.5), closer_look.repeats_enough(0.7), closer_look.repeats_enough(0.95)) == (
        9,
        4,
        1,
    )
    assert closer_look.repeats_enough(-0.1) is None


def test_findings_of_closer_look_count_what_the_tables_hold(closer: Study, closer_cells: dict[Place, Cell]) -> None:
    best, consistency, halves = closer.findings()
    assert best.startswith("best prompt: 1 of 60")
    singles = [cell.corrected.value or 0 for cell in closer_cells.values() if cell.table == closer_look.ICC]
    assert f"{min(singles):.2f} to {max(singles):.2f}" in consistency
    assert "1,302 answers" in halves


def test_every_released_number_of_llmbar_whose_answers_are_at_hand_is_found_again(bar_cells: dict[Place, Cell]) -> None:
    printed = [cell for cell in bar_cells.values() if cell.in_print]
    assert Counter(cell.state for cell in printed) == {"match": 840, "not computable": 210}
    missing = {cell.row for cell in printed if cell.state == "not computable"}
    assert len(missing) == 35
    assert all(", Rating" in row for row in missing)
    moved = [cell for cell in printed if cell.verdict == "moves"]
    assert {cell.column for cell in moved} <= set(llmbar.COLUMNS)
    assert all(cell.corrected.low is not None or cell.corrected.reason for cell in printed if not cell.missing)


def test_a_missing_verdict_is_left_out_and_bounded(bar_cells: dict[Place, Cell]) -> None:
    cell = bar_cells[llmbar.CELLS, "Natural, PaLM2, Vanilla_NoRules", "average"]
    assert cell.published == cell.as_published == 82
    assert "6 of 200 answers have no verdict: 82.0 to 85.0" in cell.note()
    assert cell.corrected.value == pytest.approx(100 * 164 / 194)


def test_an_interval_over_pairs_is_wider_than_over_answers() -> None:
    same = np.repeat(np.array([[1.0], [0.0], [1.0], [1.0]]), 2, axis=1)
    one = llmbar.Asked(np.ones(4), np.where(same == 1, 1.0, 2.0), np.where(same == 1, 1.0, 2.0))
    over_pairs = llmbar._share(one.right(one.ours))
    alone = llmbar._share(one.right(one.ours).reshape(-1, 1))
    assert over_pairs.value == alone.value == 75
    assert over_pairs.low is not None
    assert alone.low is not None
    assert over_pairs.low < alone.low


def test_every_printed_number_of_the_alt_test_is_found_again(alt: Study) -> None:
    cells = alt.cells(Options())
    printed = [cell for cell in cells if cell.in_print]
    assert Counter(cell.state for cell in printed) == {"match": 36}
    advantage = [cell for cell in printed if cell.column == alttest.ADVANTAGE]
    assert all(cell.corrected.low is not None for cell in advantage)
    assert {cell.row for cell in cells if cell.table == alttest.CONTROL} == {
        f"{name}, {alttest.COMMONEST}" for name in ("wax", "lgbteen", "mtbench")
    }
    replace, control = alt.findings()
    assert replace.startswith("replace: 4 of 18 judges")
    assert "17 of 18" in control


def test_lines_on_judges_say_no_more_than_a_test_at_five_percent(
    alt: Study, bar: Study, bar_cells: dict[Place, Cell]
) -> None:
    judged = {
        judge.judge: judge for judge in (*alt.judges(alt.cells(Options())), *bar.judges(list(bar_cells.values())))
    }
    assert judged["mistral-v03 on wax"].control.startswith("cannot tell")
    assert judged["gpt-4o on lgbteen"].replace == "yes: wins against 3 of 4 people"
    # It wins against three of four where items are independent, and against none where posts are.
    assert judged["gpt-4o-mini on lgbteen"].replace == "no: wins against 0 of 4 people"
    assert judged["ChatGPT"].faults == "the first place is preferred with 10 of 10 prompts, the second with 0"
    assert "of a guess" in judged["GPT-4"].control


def test_a_judge_that_guesses_is_said_to_prefer_a_place_in_few_studies() -> None:
    rng = np.random.default_rng(7)
    told = [sides([llmbar._tested(rng.integers(0, 2, (60, 2)) - 0.5) for _ in range(5)]) for _ in range(300)]
    assert 0.01 <= np.mean([first + second > 0 for first, second in told]) <= 0.08


def test_cells_of_a_study_without_verdicts_hold_inside_their_interval(alt: Study) -> None:
    assert changing(alt.cells(Options())) == "3 move, 33 hold"
    assert changing([]) == "none in print"


@pytest.mark.parametrize("name", ["closer-look", "llmbar", "alttest"])
def test_the_studies_are_listed_as_they_are_computed(name: str, closer: Study, bar: Study, alt: Study) -> None:
    study = {"closer-look": closer, "llmbar": bar, "alttest": alt}[name]
    _check([row for row in listed(name) if row.printed_in != "not in print"], _in_print(study))


def _in_print(study: Study) -> list[Cell]:
    return [cell for cell in study.cells(Options()) if cell.in_print]


def test_a_printed_cell_holds_inside_its_corrected_interval() -> None:
    printed = Printed(0.5, "")
    assert held(printed, 0.5, Estimate(0.45, 9, 0.4, 0.6), 2) == "holds"
    assert held(printed, 0.5, Estimate(0.65, 9, 0.6, 0.7), 2) == "moves"
    assert held(printed, 0.4, Estimate(0.45, 9, 0.4, 0.6), 2) == "differs"
    assert (held(printed, 0.5, Estimate(0.504, 9), 2), held(printed, 0.5, Estimate(0.506, 9), 2)) == ("holds", "moves")


def test_a_broken_file_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write('{"a": 1}\nnot json\n')
    with pytest.raises(DataError, match="cannot be read as compressed lines of JSON"):
        list(lines(path))
    path.write_bytes(b"plain")
    with pytest.raises(DataError, match="cannot be read"):
        list(lines(path))
