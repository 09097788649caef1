"""What `judge compare` prints: a family with its m, notes on loss and repeats, and no column that says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judge.analysis.comparison.contrasts import Outcome
from judge.analysis.comparison.result import OVER_CRITERIA, compared
from judge.analysis.comparison.tables import tables
from judge.analysis.options.table_options import CompareOptions
from judge.base.printing.tables import Table, render
from judge.ratings.ratings_table import RatingsTable
from judge.stats.resampling import bootstrap_intervals as interval_coverage

QUICK = {"resamples": 100, "permutations": 100}


@pytest.fixture
def table(make_table: Callable[..., RatingsTable]) -> RatingsTable:
    """Two Eval-Prompts, two criteria; the second Eval-Prompt is noisier, explains, loses more and has two repeats."""
    first = make_table(systems=6, judged=("Relevance", "Empathy"), rated=("Relevance", "Empathy"))
    rows = first.frame[first.frame["source"] == "judge"]
    rng = np.random.default_rng(3)
    rows = rows[rows["repeat"] < 2].assign(eval_prompt="ep2", explanation="because")
    rows = rows.assign(rating=rows["rating"] + rng.normal(0, 1.5, len(rows)))
    gone = rng.random(len(rows)) < 0.2
    rows.loc[gone, ["rating", "status", "explanation"]] = [np.nan, "no_rating", None]
    return replace(first, frame=pd.concat([first.frame, rows], ignore_index=True))


def named(found: list[Table]) -> dict[str, Table]:
    return {one.title.split(":")[0].split(",")[0]: one for one in found}


def test_the_tables_and_their_signature(table: RatingsTable) -> None:
    found = tables(compared(table, CompareOptions(**QUICK)))
    assert list(named(found)) == [
        "Eval-Prompts compared on the same stories",
        "Differences",
        "Agreement with people",
        "Ratings and consistency over repeats",
        "Answers parsed and explained",
    ]
    drawn = "ci:boot-inputs+boot-both-calibrated/100"
    tested = f"|level:overall|by:eval_prompt|adj:bh|{drawn}|perm:inputs/100|seed1|tau:b|"
    assert [tested in one.signature for one in found] == [False, False, True, False, False]
    both = f"|level:overall|by:eval_prompt|adj:bh|{drawn}/seed1|tau:b|"
    assert [both in one.signature for one in found] == [True, True, False, False, False]
    assert all("|by:eval_prompt|ci:boot-inputs/100/seed1|unparsed" in one.signature for one in found[3:])
    (sentence,) = (row["sentence"] for row in found[0].rows)
    assert sentence.startswith("With ep2")
    assert all(len(line) <= 120 for line in render(found[0], "table").splitlines() if "|" not in line)


def test_frame_and_tables_are_of_one_value(table: RatingsTable) -> None:
    found = compared(table, CompareOptions(**QUICK))
    agreement = named(tables(found))["Agreement with people"]
    outcomes = [outcome for _, outcome in found.outcomes()]
    assert all(isinstance(outcome, Outcome) for outcome in outcomes)
    assert [row["tau"] for row in agreement.rows] == [outcome.estimate("tau") for outcome in outcomes]
    single = found.frame[found.frame["criterion"] != OVER_CRITERIA]
    assert list(single["tau"]) == [outcome.estimate("tau").value for outcome in outcomes]
    assert found.frame.attrs["signature"] == agreement.signature


def test_the_family_is_declared_with_its_real_tests(table: RatingsTable) -> None:
    agreement = named(tables(compared(table, CompareOptions(**QUICK))))["Agreement with people"]
    assert agreement.notes[0] == (
        "family: Eval-Prompts, all pairs, every criterion: is tau with people different?; m = 2 permutation tests "
        "of story-prompts, two-sided, adjusted by Benjamini-Hochberg; Williams' m = 2 p values, two-sided, are "
        "adjusted apart; intervals are not adjusted"
    )
    p = sorted(row["permutation"] for row in agreement.rows)
    adjusted = sorted(row["permutation_adjusted"] for row in agreement.rows)
    assert adjusted == pytest.approx([min(2 * p[0], p[1]), p[1]])
    own = CompareOptions(family="the two prompts of section 4", adjust="none", **QUICK)
    notes = named(tables(compared(table, own)))["Agreement with people"].notes
    assert notes[0].startswith(
        "family: the two prompts of section 4; m = 2 permutation tests of story-prompts, two-sided, adjusted by nothing"
    )
    assert any("derived for Pearson's r" in note for note in notes)
    asked = "permutation (PERM-INPUTS, whole story-prompts are swapped) asks: would it hold for new story-prompts, "
    assert f"{asked}with these systems?" in notes


def test_what_simulations_say_of_intervals_over_few_systems_is_repeated(
    table: RatingsTable, make_table: Callable[..., RatingsTable]
) -> None:
    def cautions(of: RatingsTable, level: str) -> list[str]:
        agreement = named(tables(compared(of, CompareOptions(level=level, **QUICK))))["Agreement with people"]
        return [note for note in agreement.notes if note.startswith("boot-both, of one tau: ")]

    assert cautions(table, "overall") == [f"boot-both, of one tau: {interval_coverage.SMALL_S_CAUTION}"]
    assert cautions(table, "system") == cautions(table, "overall")
    # Four systems are not resampled, so there is no interval to warn of.
    few = make_table(systems=4)
    rows = few.frame[few.frame["source"] == "judge"].assign(eval_prompt="ep2")
    assert cautions(replace(few, frame=pd.concat([few.frame, rows])), "overall") == []


def test_tests_that_do_not_exist_are_not_counted(table: RatingsTable) -> None:
    stuck = table.frame["criterion"].eq("Empathy") & table.frame["eval_prompt"].eq("ep2")
    frame = table.frame.assign(rating=table.frame["rating"].mask(stuck & table.frame["rating"].notna(), 3.0))
    agreement = named(tables(compared(replace(table, frame=frame), CompareOptions(**QUICK))))["Agreement with people"]
    assert "; m = 1 permutation tests" in agreement.notes[0]
    empathy = next(row for row in agreement.rows if row["criterion"] == "Empathy")
    assert empathy["permutation_adjusted"] is None
    assert empathy["shown"] == "—"
    why = "undefined because the second side's ratings are all equal (1 comparison)"
    assert f"no permutation test: {why}" in agreement.notes


def test_too_few_permutations_for_the_family_are_warned_of(table: RatingsTable) -> None:
    few = named(tables(compared(table, CompareOptions(resamples=50, permutations=30))))["Agreement with people"]
    assert few.notes[1] == (
        "with 30 permutations p is 0.032 at least; a single difference cannot be significant after adjustment "
        "over 2 tests; use "
        "more (permutations=40 or more)"
    )
    enough = named(tables(compared(table, CompareOptions(resamples=50, permutations=40))))["Agreement with people"]
    assert not any("at least; a single difference" in note for note in enough.notes)


def test_few_systems_swapped_as_a_whole_have_a_smallest_p_that_is_said(
    table: RatingsTable, make_table: Callable[..., RatingsTable]
) -> None:
    def notes(of: RatingsTable, **options: object) -> list[str]:
        chosen = CompareOptions(**{"resamples": 20, "permutations": 500, **options})
        return [
            note for note in named(tables(compared(of, chosen)))["Agreement with people"].notes if " at least; " in note
        ]

    # Six systems have 64 patterns of swaps, of which two, none and all, are as extreme as can be.
    six = "6 systems swapped as a whole: p is 0.031 at least; "
    alone = "a single difference cannot be significant after adjustment over 2 tests"
    assert notes(table, level="system") == [six + alone] == notes(table, swap="systems")
    assert notes(table, level="system", adjust="none") == [f"{six}only the largest differences can be detected"]
    assert notes(table, level="system", swap="story-prompts") == notes(table) == []
    few = make_table(systems=5)
    rows = few.frame[few.frame["source"] == "judge"].assign(eval_prompt="ep2")
    found = notes(replace(few, frame=pd.concat([few.frame, rows])), level="system")
    five = "5 systems swapped as a whole: p is 0.062 at least; no difference, however large, can have p < 0.05"
    assert found == [f'{five}; swap="story-prompts" tests for these systems alone']


def test_unequal_loss_and_unequal_repeats_are_said(table: RatingsTable) -> None:
    ratings = named(tables(compared(table, CompareOptions(**QUICK))))["Ratings and consistency over repeats"]
    assert any(
        note.startswith("loss differs between the sides: ep2 − ep1, Relevance (-") and "judge coverage" in note
        for note in ratings.notes
    )
    assert "ep1 has 3 repeats and ep2 2: only common ones are compared" in ratings.notes


def test_alike_answers_and_unknown_ones_take_no_room(make_table: Callable[..., RatingsTable]) -> None:
    first = make_table()
    rows = first.frame[first.frame["source"] == "judge"].assign(eval_prompt="ep2")
    alike = named(tables(compared(replace(first, frame=pd.concat([first.frame, rows])), CompareOptions(**QUICK))))
    answers = alike["Answers parsed and explained"]
    assert answers.rows == []
    assert "1 comparison left out: both sides parsed and explained exactly the same answers" in answers.notes
    means = pd.concat([first.frame[first.frame["source"] == "rater"], rows.assign(eval_prompt="ep1"), rows])
    means = means[means["repeat"].isna() | (means["repeat"] == 0)]
    means["status"] = means["status"].mask(means["source"] == "judge", "imported")
    imported = named(tables(compared(replace(first, frame=means), CompareOptions(**QUICK))))
    assert [column.key for column in imported["Differences"].columns] == [
        "contrast",
        "criteria",
        "rating",
        "tau",
        "tau_both",
        "detectable",
        "detectable_both",
    ]
    assert "parsed: undefined for imported ratings: the file does not hold the answers" in imported["Differences"].notes


def test_contexts_are_named_only_where_they_differ(table: RatingsTable) -> None:
    keys = [column.key for column in named(tables(compared(table, CompareOptions(**QUICK))))["Differences"].columns]
    assert keys[:2] == ["contrast", "criteria"]
    other = table.frame[table.frame["source"] == "judge"].assign(judge="openai/other")
    both = replace(table, frame=pd.concat([table.frame, other], ignore_index=True))
    printed = named(tables(compared(both, CompareOptions(**QUICK))))["Differences"]
    assert [column.key for column in printed.columns][:3] == ["judge", "contrast", "criteria"]
    assert [row["judge"] for row in printed.rows] == ["openai/m", "openai/other"]
