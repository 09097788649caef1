"""StoryER: every printed cell has a verdict, and floors are the numbers that were measured once on these files."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from judge.reproduce import storyer
from judge.reproduce import storyer_samples as why
from judge.reproduce.cell import VERDICTS, Cell, Place
from judge.reproduce.printing import study_tables
from judge.reproduce.study import Options, Study

VERDICT_OF = {
    "no": "never",
    "sums only": "sum",
    "sample only": "sample only",
    "floor only": "floor",
    "near": "near",
    "with weights": "with weights",
    "from the table itself": "reproduced",
}


@pytest.fixture
def cells(storyer_cells: dict[Place, Cell]) -> dict[Place, Cell]:
    return storyer_cells


def test_the_321_printed_cells_are_carried_as_printed(studies: Path, cells: dict[Place, Cell]) -> None:
    with (studies / "golden" / "storyer" / "storyer_published.csv").open(encoding="utf-8", newline="") as stream:
        golden = {(row["table"], row["row"], row["column"]): row for row in csv.DictReader(stream)}
    printed = {place: cell for place, cell in cells.items() if cell.in_print}
    assert printed.keys() == golden.keys()
    for place, row in golden.items():
        assert printed[place].published == (float(row["published"]) if row["published"] else None)
        assert printed[place].source == row["source"]
        differs = place[1] == "overall" and place[2].startswith("comment_len")
        assert printed[place].verdict == ("differs" if differs else VERDICT_OF[row["can_be_computed"]]), place


def test_verdicts_are_counted(storyer_study: Study, cells: dict[Place, Cell]) -> None:
    counts = Counter(cell.verdict for cell in cells.values() if cell.in_print)
    assert counts == {
        "never": 201,
        "sample only": 60,
        "floor": 30,
        "sum": 18,
        "reproduced": 4,
        "with weights": 4,
        "differs": 2,
        "near": 2,
    }
    (_, verdicts), off = study_tables(
        lambda _: storyer_study, Options(resamples=0), None, differences=False, machine=False
    )
    assert verdicts.rows[-1] == {
        "table": "all",
        "cells": 321,
        **{name: counts[name] for name in VERDICTS if counts[name]},
    }
    assert not off


def test_every_printed_cell_that_is_not_computed_says_why(cells: dict[Place, Cell]) -> None:
    for cell in cells.values():
        if cell.in_print:
            assert (cell.state in ("match", "differ")) == (cell.as_published is not None)
            assert cell.state == "match" or cell.reasons(), cell.place


def test_the_last_line_of_table_2_is_a_mean_of_means(cells: dict[Place, Cell]) -> None:
    """Printed 2.56 and 3.26; over comments 2.34 and 2.98, and 31.32 and 33.44 words."""
    line = {column: cells[storyer.ASPECTS, "overall", column] for column in ("comments", "comments*", "rate", "rate*")}
    assert [cell.as_published for cell in line.values()] == [28099, 45948, 2.56, 3.26]
    assert {cell.state for cell in line.values()} == {"match"}
    assert [round(line[name].corrected.value or 0, 2) for name in ("rate", "rate*")] == [2.34, 2.98]
    lengths = [cells[storyer.ASPECTS, "overall", name] for name in ("comment_len", "comment_len*")]
    assert [round(cell.corrected.value or 0, 2) for cell in lengths] == [31.32, 33.44]
    assert {cell.state for cell in lengths} == {"differ"}


def test_the_sets_of_table_1_sum_to_what_the_study_says(storyer_study: Study, cells: dict[Place, Cell]) -> None:
    (note,) = [note for note in storyer_study.notes(list(cells.values())) if note.startswith("rank_sizes")]
    assert "63,929 stories and 116,971 pairs" in note
    sample = [cells[storyer.SIZES, "train", column].corrected.value for column in ("prompts", "high", "low", "pairs")]
    assert sample == [96, 199, 293, 700]


@pytest.mark.parametrize(
    ("table", "row", "column", "value"),
    [
        # aspects_and_comments.csv
        (storyer.CONFIDENCE, why.TABLE_2, "R@1", 19.97),
        (storyer.CONFIDENCE, why.TABLE_2, "R@3", 52.95),
        (storyer.CONFIDENCE, why.TABLE_2, "R@5", 79.94),
        (storyer.CONFIDENCE, why.OUT_OF_STORY, "R@1", 19.14),
        (storyer.CONFIDENCE, why.OUT_OF_STORY, "R@3", 52.81),
        (storyer.CONFIDENCE, why.OUT_OF_STORY, "R@5", 79.87),
        (storyer.RATING, why.TABLE_2_MEANS, "rho", 0.182),
        (storyer.RATING, why.TABLE_2_MEANS, "tau", 0.145),
        (storyer.RATING, why.UPVOTES, "rho", 0.354),
        (storyer.RATING, why.UPVOTES, "tau", 0.282),
        (storyer.SENTIMENT, why.COMMONEST, "average", 58.75),
        # rank_pairs_700_and_wp200.csv
        (storyer.PREFERENCE, "floor: longer wins", "rank_acc", 62.50),
        (storyer.PREFERENCE, "floor: longer wins", "wp200_rho", 0.420),
        (storyer.PREFERENCE, "floor: longer wins", "wp200_tau", 0.294),
        (storyer.PREFERENCE, "floor: surface Engagement", "rank_acc", 62.14),
        (storyer.PREFERENCE, "floor: surface Complexity", "rank_acc", 63.71),
        (storyer.PREFERENCE, "floor: surface Complexity", "wp200_rho", 0.413),
        # coherence_amt.csv
        (storyer.PREFERENCE, "MANPLTS", "coh200_rho", 0.742),
        (storyer.PREFERENCE, "MANPLTS", "coh200_tau", 0.515),
        (storyer.PREFERENCE, why.PEOPLE, "coh200_rho", 0.778),
        (storyer.PREFERENCE, why.PEOPLE, "coh200_tau", 0.619),
        # comparing people's ratings with upvotes, figure 5
        (storyer.FIGURE, "opening", "rho", 0.43),
        (storyer.FIGURE, "character", "rho", 0.53),
        (storyer.FIGURE, "novelty", "rho", 0.74),
        (storyer.FIGURE, "scene", "rho", -0.02),
        (storyer.FIGURE, "funny", "rho", 0.61),
    ],
)
def test_floors(table: str, row: str, column: str, value: float, cells: dict[Place, Cell]) -> None:
    cell = cells[table, row, column]
    assert cell.corrected.value is not None
    assert round(cell.corrected.value, cell.digits) == pytest.approx(value)


def test_the_surface_out_of_fold(cells: dict[Place, Cell]) -> None:
    """Measured once with scikit-learn: 65.0 over five foldings (63.4-66.9), .446 and .319 on WP_200."""
    accuracy, rho, tau = (
        cells[storyer.PREFERENCE, why.CONTROL, column].corrected.value
        for column in ("rank_acc", "wp200_rho", "wp200_tau")
    )
    assert accuracy == pytest.approx(65.0, abs=1.5)
    assert rho is not None
    assert tau is not None
    assert rho > 0.43
    assert tau > 0.31


def test_comments_that_read_no_story_overlap_more_than_the_printed_ones(cells: dict[Place, Cell]) -> None:
    """The study's best: BLEU 8.60, ROUGE 16.76. Ours is one sentence; BLEU was checked once against NLTK's."""
    best = {column: max(cells["comments", row, column].published for row in ("c", "a+c / p_s+c", "all (+N)"))  # type: ignore[type-var]
            for column in ("BLEU", "ROUGE")}  # fmt: skip
    assert best == {"BLEU": 8.60, "ROUGE": 16.76}
    floors = {column: cells["comments", why.ONE_SENTENCE, column].as_published for column in best}
    assert floors == {"BLEU": 11.30, "ROUGE": 20.86}
    assert cells["comments", why.ANOTHER_STORY, "BLEU"].as_published == 7.58


def test_the_interval_of_longer_wins_takes_story_prompts_as_units(cells: dict[Place, Cell]) -> None:
    """Resampled story-prompts gave 56.1 to 68.6; ties count as wrong only by the study's way."""
    cell = cells[storyer.PREFERENCE, "floor: longer wins", "rank_acc"]
    assert (cell.corrected.low, cell.corrected.high) == (pytest.approx(56.2, abs=0.3), pytest.approx(68.8, abs=0.3))
    assert cell.as_published == 62.43


def test_without_coherence_ratings_its_cells_say_what_brings_them(
    studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "storyer").symlink_to(studies / "storyer")
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path / "cache"))
    found = {cell.place: cell for cell in storyer.study(Options()).cells(Options(), storyer.PREFERENCE)}
    cell = found[storyer.PREFERENCE, "MANPLTS", "coh200_rho"]
    assert (cell.state, cell.verdict) == ("not computable", "near")
    assert "judge data fetch plotguided_scores" in cell.note()
    assert (storyer.PREFERENCE, why.PEOPLE, "coh200_rho") not in found
