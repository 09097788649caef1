"""Tables of systems: the published HANNA table, clustered intervals, ranks, groups, differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis.options.table_options import SystemsOptions
from judge.analysis.systems import AVERAGE, systems
from judge.ratings.ratings_table import RatingsTable

# Chhun, Suchanek & Clavel, TACL 2024, table of people's ratings of HANNA's systems: mean ± half-width of a 95 %
# interval. RE CH EM SU EG CX, average.
PUBLISHED = """
Human           4.17 .14  4.43 .10  3.22 .14  3.15 .15  3.88 .12  3.73 .13  3.76 .06
BertGeneration  2.46 .16  3.14 .16  2.28 .13  2.09 .13  2.67 .12  2.41 .11  2.51 .06
CTRL            2.54 .16  2.93 .16  2.26 .13  1.93 .12  2.53 .12  2.23 .10  2.40 .06
GPT             2.40 .16  3.22 .15  2.37 .12  2.13 .13  2.76 .13  2.49 .12  2.56 .06
GPT-2           2.81 .16  3.29 .14  2.47 .12  2.21 .13  2.86 .12  2.68 .10  2.72 .06
GPT-2_(tag)     2.67 .16  3.31 .15  2.47 .12  2.22 .13  2.92 .12  2.80 .11  2.73 .06
RoBERTa         2.54 .16  3.22 .16  2.27 .12  2.12 .13  2.74 .12  2.41 .11  2.55 .06
XLNet           2.39 .17  2.88 .16  2.10 .12  1.95 .12  2.46 .13  2.36 .11  2.36 .06
Fusion          2.09 .16  2.86 .16  1.99 .12  1.72 .12  2.27 .14  1.92 .11  2.14 .06
HINT            2.29 .16  2.38 .16  1.74 .13  1.56 .11  1.75 .12  1.45 .10  1.86 .06
TD-VAE          2.51 .16  2.99 .15  2.07 .11  2.10 .12  2.59 .12  2.49 .11  2.46 .06
"""
# The same paper, mean ratings by Beluga-13B with Eval-Prompt 1, RE CH EM SU EG CX.
BELUGA_EP1 = {
    "Human": [3.37, 3.55, 3.42, 3.11, 3.58, 3.48],
    "GPT-2": [2.57, 2.36, 2.72, 2.59, 2.67, 2.89],
    "HINT": [1.57, 1.31, 1.59, 1.49, 1.58, 1.43],
}


@pytest.fixture(scope="module")
def published(hanna_table: RatingsTable) -> pd.DataFrame:
    return systems(hanna_table, SystemsOptions(mean_interval="as-published", resamples=20)).frame


@pytest.fixture(scope="module")
def honest(hanna_table: RatingsTable) -> pd.DataFrame:
    return systems(hanna_table, SystemsOptions(resamples=200)).frame


def _of(frame: pd.DataFrame, judge: str, system: str, criterion: str, eval_prompt: str | None = None) -> pd.Series:
    rows = frame[(frame["judge"] == judge) & (frame["system"] == system) & (frame["criterion"] == criterion)]
    rows = rows if eval_prompt is None else rows[rows["eval_prompt"] == eval_prompt]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.parametrize("line", PUBLISHED.strip().splitlines(), ids=lambda line: line.split()[0])
def test_the_published_table_of_systems(published: pd.DataFrame, line: str) -> None:
    name, *numbers = line.split()
    names = ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity", AVERAGE]
    for criterion, mean, half in zip(names, numbers[::2], numbers[1::2], strict=True):
        found = _of(published, "people", name.replace("_", " "), criterion)
        assert round(found["mean"], 2) == float(mean)
        assert round(found["high"] - found["mean"], 2) == float(half)
        assert found["ratings"] == (1728 if criterion == AVERAGE else 288)


def test_the_published_means_of_a_judge(published: pd.DataFrame) -> None:
    names = ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"]
    for system, means in BELUGA_EP1.items():
        found = [_of(published, "Beluga-13B", system, name, "ep1")["mean"] for name in names]
        assert [round(mean, 2) for mean in found] == means


def test_story_prompts_are_the_units_by_default(honest: pd.DataFrame, hanna_table: RatingsTable) -> None:
    frame = hanna_table.frame
    people = frame[(frame["source"] == "rater") & (frame["system"] == "Human") & (frame["criterion"] == "Relevance")]
    stories = people.groupby("story")["rating"].mean()
    found = _of(honest, "people", "Human", "Relevance")
    low, high = stats.t.interval(0.95, 95, loc=stories.mean(), scale=stats.sem(stories))
    assert (found["low"], found["high"]) == pytest.approx((low, high))
    assert round(high - found["mean"], 3) == 0.155  # wider than the published .14
    assert (found["stories"], found["story_prompts"], found["ratings"], found["unrated"]) == (96, 96, 288, 0)


def test_ranks_of_people_agree_with_their_means(honest: pd.DataFrame) -> None:
    average = honest[(honest["judge"] == "people") & (honest["criterion"] == AVERAGE)]
    assert list(average["rank"]) == list(average["mean"].rank(ascending=False))
    assert (average["rank_low"] <= average["rank"]).all()
    assert (average["rank"] <= average["rank_high"]).all()
    assert (average["set_low"] <= average["rank_low"]).all()
    assert (average["rank_high"] <= average["set_high"]).all()
    assert average["best"].sum() == pytest.approx(1)
    human = _of(honest, "people", "Human", AVERAGE)
    assert (human["rank_high"], human["set_high"], human["group"]) == (1, 1, "a")


def test_equal_means_share_a_rank(honest: pd.DataFrame) -> None:
    # GPT and TD-VAE have the same mean Complexity, stored with noise of 4e-16.
    gpt, vae = (_of(honest, "people", name, "Complexity") for name in ("GPT", "TD-VAE"))
    assert gpt["rank"] == vae["rank"] == 4
    assert _of(honest, "people", "BertGeneration", "Complexity")["rank"] == 6


def test_differences_are_paired_tests_adjusted_in_their_family(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(judged=("Relevance", "Coherence"), rated=("Relevance", "Coherence"))
    found = systems(table).differences
    frame = table.frame[(table.frame["source"] == "judge") & (table.frame["criterion"] == "Relevance")]
    wide = frame.pivot_table(index="story_prompt", columns="system", values="rating", aggfunc="mean")
    row = found.query("judge == 'openai/m' and criterion == 'Relevance' and system == 'system 3'").iloc[0]
    test = stats.ttest_rel(wide["system 3"], wide[row["against"]])
    assert (row["t"], row["p"], row["n"]) == pytest.approx((test.statistic, test.pvalue, 12))
    assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert set(found["family"]) == {6}
    family = found.query("judge == 'openai/m' and criterion == 'Relevance'")
    assert min(family["p_adjusted"]) == pytest.approx(6 * min(family["p"]))
    whole = systems(table, SystemsOptions(holm_over="table")).differences
    assert set(whole["family"]) == {36}
    assert min(whole["p_adjusted"]) == pytest.approx(36 * min(whole["p"]))
    assert (found["difference"] >= 0).all()  # the higher mean stands first


def test_lost_ratings_leave_the_same_story_prompts_for_both(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(systems=2, repeats=1, lost=lambda *at: "refused" if at[:2] in {(0, 1), (1, 2)} else None)
    judged = systems(table).frame.query("judge == 'openai/m'")
    assert list(judged["stories"]) == [11, 11]
    assert list(judged["unrated"]) == [1, 1]
    assert list(systems(table).differences.query("judge == 'openai/m'")["n"]) == [10]


def test_the_average_is_over_stories_with_every_criterion(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(judged=("Relevance", "Coherence"), repeats=1)
    frame = table.frame
    lost = (frame["criterion"] == "Coherence") & (frame["source"] == "judge") & (frame["story"] == "s0-3")
    frame.loc[lost, ["rating", "status"]] = [np.nan, "refused"]
    found = systems(table).frame.query("judge == 'openai/m' and system == 'system 0'").set_index("criterion")
    assert list(found["stories"]) == [12, 11, 11]
    rows = frame[(frame["source"] == "judge") & (frame["system"] == "system 0") & (frame["story"] != "s0-3")]
    assert found.loc[AVERAGE, "mean"] == pytest.approx(rows["rating"].mean())


def test_one_story_a_system_has_no_interval_and_says_so(make_table: Callable[..., RatingsTable]) -> None:
    for interval in ("clustered", "as-published", "boot"):
        found = systems(make_table(prompts=1), SystemsOptions(mean_interval=interval)).frame
        assert found["mean"].notna().all()
        assert found[["low", "high", "rank_low"]].isna().all(axis=None)
        assert found["reason"].str.startswith("no interval: one story only; no interval: fewer than 5 story-pr").all()
    pairs = systems(make_table(prompts=1)).differences
    assert set(pairs["reason"]) == {"no test: one story-prompt only"}
    assert pairs["p_adjusted"].isna().all()
    assert set(systems(make_table(prompts=1)).frame["group"]) == {"a"}


def test_resampled_intervals_are_near_the_clustered_ones(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table(prompts=60)
    exact, drawn = systems(table).frame, systems(table, SystemsOptions(mean_interval="boot", resamples=2000)).frame
    np.testing.assert_allclose(exact["high"] - exact["low"], drawn["high"] - drawn["low"], rtol=0.15)
    few = systems(make_table(prompts=4), SystemsOptions(mean_interval="boot")).frame
    assert few["low"].isna().all()
    assert few["reason"].str.contains("fewer than 5 story-prompts to resample").all()


def test_stories_that_nobody_rated_have_judges_only(make_table: Callable[..., RatingsTable]) -> None:
    found = systems(make_table(rated=())).frame
    assert set(found["judge"]) == {"openai/m"}
    assert found["mean"].notna().all()
