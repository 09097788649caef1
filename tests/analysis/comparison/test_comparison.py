"""Comparisons: published tests on HANNA's ratings, numbers by hand on small tables, and what is left undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from judge.analysis import correlation
from judge.analysis.comparison.result import OVER_CRITERIA, compared
from judge.analysis.comparison.tau_differences import Measured
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import CompareOptions, CorrelationOptions
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.ratings.ratings_table import RatingsTable
from judge.stats.resampling import bootstrap_intervals as intervals

ORDER = ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"]
QUICK = {"resamples": 200, "permutations": 200}


def with_second(table: RatingsTable, change: Callable[[pd.DataFrame], pd.DataFrame], name: str = "ep2") -> RatingsTable:
    """The table with its judge rows once more as another Eval-Prompt, changed."""
    rows = table.frame[(table.frame["source"] == "judge") & (table.frame["eval_prompt"] == "ep1")].copy()
    return replace(table, frame=pd.concat([table.frame, change(rows.assign(eval_prompt=name))], ignore_index=True))


def one(table: RatingsTable, **options: Any) -> pd.Series:
    """The one contrast's only criterion."""
    frame = compared(table, CompareOptions(**{**QUICK, **options})).frame
    return frame[frame["criterion"] != OVER_CRITERIA].iloc[0]


@pytest.fixture(scope="module")
def judges(hanna_table: RatingsTable) -> pd.DataFrame:
    """HANNA: Eval-Prompt 1 of the study's four judges, each against Beluga-13B."""
    studied = Selection(judges=("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT"), eval_prompts=("ep1",))
    options = CompareOptions(
        by="judge", baseline="Beluga-13B", drop_systems=("Human",), resamples=500, permutations=500
    )
    return compared(narrowed(hanna_table, studied), options).frame


# HANNA judge study, Williams' test of Beluga-13B's Eval-Prompt 1 against other judges' (overall, n = 960): one-sided p
# x100 as its notebook computes them (p = 1 - t.cdf(t, n - 3)), before its adjustment; None where Beluga is lower.
WILLIAMS = {
    "Llama-13B": [12.1, 2.2, 0.1, 13.9, 0.0, 4.5],
    "Mistral-7B": [None, 16.8, 2.1, 14.8, 8.3, 0.6],
    "ChatGPT": [7.7, 14.2, 2.1, 0.2, 3.4, 7.9],
}


@pytest.mark.parametrize("judge", list(WILLIAMS))
def test_published_williams_tests(judges: pd.DataFrame, judge: str) -> None:
    rows = judges[judges["second"] == judge].set_index("criterion").loc[ORDER]
    found = [None if row["tau"] > 0 else round(100 * row["williams_p"] / 2, 1) for _, row in rows.iterrows()]
    assert found == WILLIAMS[judge]


def test_hanna_by_better_inference(judges: pd.DataFrame) -> None:
    rows = judges[judges["criterion"] != OVER_CRITERIA]
    assert set(rows["stories"]) == {960}
    assert (rows["tau_both_high"] - rows["tau_both_low"] > rows["tau_high"] - rows["tau_low"]).all()
    # 2.80 standard errors; a normal interval is 2 x 1.96 of them wide.
    for name in ("tau", "tau_both"):
        normal = rows[f"{name}_detectable"] / 2.80 * 2 * 1.96
        assert ((rows[f"{name}_high"] - rows[f"{name}_low"]) / normal).between(0.85, 1.15).all()
    assert set(rows["first"]) == {"Beluga-13B"}
    assert len(rows) == 18
    assert (rows["permutation_p_adjusted"] >= rows["permutation_p"]).all()
    assert (rows["williams_p_adjusted"] >= rows["williams_p"]).all()


def test_taus_are_those_of_the_correlation_table(judges: pd.DataFrame, hanna_table: RatingsTable) -> None:
    options = CorrelationOptions(drop_systems=("Human",), ci="none")
    cells = correlation.correlate(hanna_table, options).query("eval_prompt == 'ep1'").set_index(["judge", "criterion"])
    for _, row in judges[judges["criterion"] != OVER_CRITERIA].iterrows():
        first, second = (cells.loc[(row[side], row["criterion"]), "value"] for side in ("first", "second"))
        assert row["tau"] == pytest.approx(second - first, abs=1e-12)


def test_the_mean_over_criteria_is_paired(judges: pd.DataFrame) -> None:
    for _, rows in judges.groupby("second"):
        mean = rows[rows["criterion"] == OVER_CRITERIA].iloc[0]
        parts = rows[rows["criterion"] != OVER_CRITERIA]
        assert mean["tau"] == pytest.approx(parts["tau"].mean())
        # A mean of differences that share resamples is known better than one difference, but not as six independent
        # ones would make it: the criteria of one story go together.
        width, widths = mean["tau_high"] - mean["tau_low"], parts["tau_high"] - parts["tau_low"]
        assert widths.mean() / np.sqrt(6) < width < widths.mean()
        assert mean["sentence"].startswith(f"Compared with Beluga-13B, {mean['second']} correlates ")
    assert judges.loc[judges["criterion"] != OVER_CRITERIA, "sentence"].isna().all()


def test_every_difference_by_hand(make_table: Callable[..., RatingsTable]) -> None:
    def lost(system: int, prompt: int, repeat: int) -> str | None:
        return "no_rating" if prompt < 6 and repeat == 0 else None

    def change(rows: pd.DataFrame) -> pd.DataFrame:
        rng = np.random.default_rng(5)
        rows["rating"] = rows["rating"].fillna(3) + rng.integers(-1, 2, len(rows))
        rows["status"] = "ok"
        gone = rows["story"].isin(["s0-0", "s1-1"])
        rows.loc[gone, ["rating", "status"]] = [np.nan, "refused"]
        rows["explanation"] = np.where(gone, None, "because")
        return rows

    table = with_second(make_table(lost=lost), change)
    row = one(table)
    frame = table.frame
    people = frame[frame["source"] == "rater"].groupby("story")["rating"].mean()
    sides = {name: frame[(frame["eval_prompt"] == name)] for name in ("ep1", "ep2")}
    means = pd.DataFrame({name: side.groupby("story")["rating"].mean() for name, side in sides.items()}).dropna()
    assert (row["stories"], row["lost_first"], row["lost_second"]) == (len(means), 0, 2) == (46, 0, 2)
    difference = means["ep2"] - means["ep1"]
    assert row["rating"] == pytest.approx(difference.mean())
    assert row["rating_d"] == pytest.approx(difference.mean() / (means.std().sum() / 2))
    # 144 repeats: 24 lost on the first side, 6 on the second (of which 2 on both).
    assert (row["parsed_first"], row["parsed_second"]) == (120 / 144, 138 / 144)
    assert row["parsed"] == pytest.approx(18 / 144)
    assert row["parsed_h"] == pytest.approx(2 * np.arcsin(np.sqrt(138 / 144)) - 2 * np.arcsin(np.sqrt(120 / 144)))
    assert (row["explained_first"], row["explained_second"]) == (0, 138 / 144)
    taus = {name: kendalltau(means[name].round(9), people[means.index].round(9)).statistic for name in means}
    assert (row["tau_first"], row["tau_second"]) == pytest.approx((taus["ep1"], taus["ep2"]))
    assert row["tau_low"] < row["tau"] < row["tau_high"]
    # Consistency over repeats: stories with all three repeats rated on both sides.
    wide = {
        name: side.pivot_table(index="story", columns="repeat", values="rating").dropna()
        for name, side in sides.items()
    }
    both = wide["ep1"].index.intersection(wide["ep2"].index)
    for name, value in (("ep1", row["icc_first"]), ("ep2", row["icc_second"])):
        ratings = wide[name].loc[both].to_numpy()
        between = 3 * ratings.mean(axis=1).var(ddof=1)
        within = ratings.var(axis=1, ddof=1).mean()
        assert value == pytest.approx((between - within) / (between + 2 * within))
    assert row["icc_low"] < row["icc"] < row["icc_high"]


def test_equal_sides_differ_in_nothing(make_table: Callable[..., RatingsTable]) -> None:
    table = with_second(make_table(systems=6), lambda rows: rows)
    row = one(table)
    assert (row["rating"], row["tau"], row["icc"], row["parsed"]) == (0, 0, 0, 0)
    assert (row["tau_low"], row["tau_high"], row["tau_both_low"], row["tau_both_high"]) == (0, 0, 0, 0)
    assert row["permutation_p"] == 1
    # Williams' statistic does not exist where both sides are the same: their correlation is 1.
    assert np.isnan(row["williams_p"])
    assert row["parsed_reason"] == "no interval: the sides agree on every answer"
    frame = compared(table, CompareOptions(**QUICK)).frame
    assert frame["sentence"].dropna().item() == (
        "With ep2, as with ep1, every answer holds a rating. "
        "ep2 correlates with people exactly as ep1 does on Relevance."
    )


def test_a_worse_prompt_is_found_and_a_shift_is_not_taken_for_disagreement(
    make_table: Callable[..., RatingsTable],
) -> None:
    table = make_table(systems=6, prompts=30)

    def blurred(rows: pd.DataFrame) -> pd.DataFrame:
        rows["rating"] = np.random.default_rng(1).permutation(rows["rating"].to_numpy())
        return rows

    worse = one(with_second(table, blurred))
    assert worse["tau_high"] < 0
    assert worse["tau_both_high"] < 0
    assert worse["permutation_p_adjusted"] < 0.05
    assert worse["williams_p_adjusted"] < 0.05
    shifted = one(with_second(table, lambda rows: rows.assign(rating=rows["rating"] + 1)))
    assert shifted["rating"] == 1
    assert shifted["tau"] == 0


def test_whole_systems_are_swapped_at_system_level_and_story_prompts_overall(
    make_table: Callable[..., RatingsTable],
) -> None:
    def noisy(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(rating=rows["rating"] + np.random.default_rng(4).normal(0, 2, len(rows)))

    table = with_second(make_table(systems=7, prompts=9), noisy)
    for level, swap, units in (("system", "systems", 7), ("overall", "story-prompts", 9)):
        default, named = (
            compared(table, CompareOptions(level=level, swap=swap, **QUICK)).entries[0].outcomes[0].permutation
            for swap in ("auto", swap)
        )
        assert default == named
        assert default.units == units
    # 2^7 patterns are fewer than 200 swaps: all are taken, and p is a multiple of 2 / 2^7.
    p = one(table, level="system")["permutation_p"]
    assert (p * 64).is_integer()


def test_the_interval_over_systems_and_story_prompts_is_that_of_one_factor_and_the_other(
    make_table: Callable[..., RatingsTable],
) -> None:
    def noisy(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(rating=rows["rating"] + np.random.default_rng(4).normal(0, 2, len(rows)))

    table = with_second(make_table(systems=12, prompts=20, noise=2.0), noisy)
    for level, method in (("overall", "boot-both, calibrated percentile, 95 %"), ("system", "boot-both, BCa, 95 %")):
        options = CompareOptions(level=level, resamples=400, permutations=10)
        outcome = compared(table, options).entries[0].outcomes[0]
        measured = outcome.measured["tau_both"]
        both, drawn = measured.estimate, measured.draws["both"]
        assert both.method == method
        calibrated = intervals.calibrated(drawn, (measured.draws["systems"], measured.draws["inputs"]), (12, 20))
        assert measured.detectable.value == pytest.approx(2.8016 * calibrated.std(ddof=1), rel=1e-4)
        if level == "overall":
            assert (both.low, both.high) == pytest.approx(tuple(np.percentile(calibrated, [2.5, 97.5])), abs=1e-12)
            # Resamples of both count each story's noise thrice.
            assert both.high - both.low < 0.9 * float(np.ptp(np.percentile(drawn, [2.5, 97.5])))


def test_the_interval_over_few_story_prompts_is_expanded_for_their_number(
    make_table: Callable[..., RatingsTable],
) -> None:
    def noisy(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(rating=rows["rating"] + np.random.default_rng(4).normal(0, 2, len(rows)))

    table = with_second(make_table(systems=8, prompts=12, noise=2.0), noisy)
    result = compared(table, CompareOptions(resamples=400, permutations=10)).entries[0]
    outcome = result.outcomes[0]
    # Hesterberg (2015): the tail of 12 units is Phi(-sqrt(12 / 11) t(11)) = 1.08 %, not 2.5 %.
    ends = [1.0769, 98.9231]
    for measure in ("rating", "tau"):
        estimate = outcome.estimate(measure)
        assert estimate.method == "boot-inputs, expanded percentile, 95 %"
        assert (estimate.low, estimate.high) == pytest.approx(
            np.percentile(outcome.measured[measure].drawn, ends), abs=1e-3
        )
        assert result.means[measure].low == pytest.approx(estimate.low)


def test_no_difference_of_correlations_reaches_beyond_2() -> None:
    draws = {name: np.linspace(-2, 2, 101) for name in ("both", "systems", "inputs")}
    assert np.abs(Measured(Estimate(0.0, 9), draws, (5, 5)).drawn).max() == 2.0


def test_too_few_systems_leave_no_interval_over_them(make_table: Callable[..., RatingsTable]) -> None:
    table = with_second(make_table(systems=4), lambda rows: rows.assign(rating=rows["rating"].iloc[::-1].to_numpy()))
    row = one(table)
    assert np.isnan(row["tau_both_low"])
    assert row["tau_both_reason"].startswith("no interval: 4 systems are too few to resample")
    assert not np.isnan(row["tau_low"])
    sentences = compared(table, CompareOptions(**QUICK)).frame["sentence"].dropna()
    assert "For new systems there is no interval: 4 systems are too few" in sentences.item()


def test_too_few_story_prompts_leave_no_interval_at_all(make_table: Callable[..., RatingsTable]) -> None:
    table = with_second(make_table(systems=6, prompts=3), lambda rows: rows.assign(rating=rows["rating"] * -1))
    row = one(table)
    for measure in ("rating", "tau", "tau_both", "icc"):
        assert np.isnan(row[f"{measure}_low"])
        assert row[f"{measure}_reason"] == "no interval: fewer than 5 story-prompts to resample"
        assert np.isnan(row[f"{measure}_detectable"])


def test_without_people_only_the_judges_sides_are_compared(make_table: Callable[..., RatingsTable]) -> None:
    table = with_second(make_table(rated=()), lambda rows: rows.assign(rating=rows["rating"] + 0.5))
    found = compared(table, CompareOptions(**QUICK))
    (entry,) = found.entries
    assert entry.outcomes[0].estimate("tau").reason == "no person rated the stories of toy"
    assert found.family[0].endswith("m = 0, as no difference of tau could be tested")
    assert entry.sentence == (
        "With ep2, as with ep1, every answer holds a rating. "
        "ep2 rates the same stories 0.50 points higher [0.50, 0.50]. "
        "Nothing can "
        "be said about agreement with people: no person rated the stories of toy."
    )


def test_a_stuck_side_has_no_tau_and_says_why(make_table: Callable[..., RatingsTable]) -> None:
    table = with_second(make_table(), lambda rows: rows.assign(rating=3.0))
    row = one(table)
    assert np.isnan(row["tau"])
    assert row["tau_reason"] == "undefined because the second side's ratings are all equal"
    assert not np.isnan(row["tau_first"])
    assert np.isnan(row["permutation_p"])
    assert np.isnan(row["icc"])
    assert row["rating"] == pytest.approx(3 - table.frame.query("eval_prompt == 'ep1'")["rating"].mean())


def test_system_level_counts_systems(make_table: Callable[..., RatingsTable]) -> None:
    def noisy(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(rating=rows["rating"] + np.random.default_rng(2).normal(0, 2, len(rows)))

    table = with_second(make_table(systems=8, prompts=10), noisy)
    found = compared(table, CompareOptions(level="system", **QUICK))
    (entry,) = found.entries
    assert "toy: 8 systems are weak evidence at system level" in found.notes
    tau = entry.outcomes[0].measured["tau"]
    assert tau.estimate.n == tau.first.n == 8
    frame = table.frame
    people = frame[frame["source"] == "rater"].groupby("system")["rating"].mean()
    for name, side in (("ep1", tau.first), ("ep2", tau.second)):
        judged = frame[frame["eval_prompt"] == name].groupby("system")["rating"].mean()
        assert side.value == pytest.approx(kendalltau(judged.round(9), people[judged.index].round(9)).statistic)
    assert "with people over system means" in entry.sentence


def test_a_comparisons_numbers_do_not_depend_on_the_others(make_table: Callable[..., RatingsTable]) -> None:
    def noisy(seed: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
        return lambda rows: rows.assign(rating=rows["rating"] + np.random.default_rng(seed).normal(0, 1, len(rows)))

    two = with_second(make_table(systems=6), noisy(1))
    three = with_second(two, noisy(2), "ep3")
    alone = one(two)
    beside = (
        compared(three, CompareOptions(**QUICK)).frame.query("second == 'ep2' and criterion == 'Relevance'").iloc[0]
    )
    for name in ("tau_low", "tau_both_high", "permutation_p", "williams_p", "rating_low", "icc_high"):
        assert alone[name] == pytest.approx(beside[name], abs=1e-12)


def test_an_unknown_system_or_nothing_asked_gets_a_sentence(make_table: Callable[..., RatingsTable]) -> None:
    table = with_second(make_table(), lambda rows: rows)
    with pytest.raises(SpecError, match="system 'x' is not known"):
        compared(table, CompareOptions(drop_systems=("x",)))
    people = replace(table, frame=table.frame[table.frame["source"] == "rater"])
    with pytest.raises(SpecError, match="no judge was asked"):
        compared(people)
