"""A judge beside control and people: differences are those of the correlation table, their intervals are paired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from judge.analysis.correlation import correlate, correlations
from judge.analysis.correlation.margins import CEILING, CONTROL, best_of, margins, table_of
from judge.analysis.inputs.bars import ControlPredictions, ControlSource, Predict
from judge.analysis.options.table_options import CorrelationOptions, from_words
from judge.base.printing.tables import Table
from judge.ratings.ratings_table import RatingsTable
from tests.benchmarks.simulations.worlds import Studies, World

OPTIONS = CorrelationOptions(resamples=200)
BOTH = ("Relevance", "Coherence")


def noisy(stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
    """A stand-in for the control's ratings: people's own with much noise."""
    rng = np.random.default_rng(len(criterion))
    return ControlPredictions(
        people.to_numpy() + rng.normal(0, 1.5, len(stories)), "surface:test", ControlSource.OUT_OF_FOLD, len(stories)
    )


def printed(table: RatingsTable, options: CorrelationOptions, predict: Predict | None = None) -> Table:
    """The table of margins."""
    result = correlations(table, options, predict, paired=True)
    return table_of(result, margins(result))


@pytest.fixture
def table(make_table: Callable[..., RatingsTable]) -> RatingsTable:
    return make_table(judged=BOTH, rated=BOTH, prompts=20, text="A lamp.")


def test_values_and_differences_are_those_of_the_correlation_table(table: RatingsTable) -> None:
    (lead,) = margins(correlations(table, OPTIONS, predict=noisy, paired=True))
    frame = correlate(table, OPTIONS, predict=noisy)
    by_kind = {
        kind: part.set_index("criterion")["value"] for kind, part in frame[frame["kind"] != "mean"].groupby("kind")
    }
    means = {kind: float(np.mean([values[name] for name in BOTH])) for kind, values in by_kind.items()}
    assert lead.criteria == BOTH
    assert lead.value.value == pytest.approx(means["judge"])
    assert lead.bars[CEILING].value == pytest.approx(means["ceiling"])
    assert lead.bars[CONTROL].value == pytest.approx(means["control"])
    assert lead.over[CONTROL].value == pytest.approx(means["judge"] - means["control"])
    assert lead.above[CONTROL] == (sum(by_kind["judge"][name] > by_kind["control"][name] for name in BOTH), 2)
    # The mean over criteria has the interval that the correlation table gives it.
    row = frame[(frame["kind"] == "mean") & (frame["judge"] == "openai/m")].iloc[0]
    assert (lead.value.low, lead.value.high) == (pytest.approx(row["low"]), pytest.approx(row["high"]))


def by_hand(table: RatingsTable, criterion: str, judge: pd.DataFrame) -> tuple[list[float], list[float]]:
    """tau of the judge, and of each rater, against the mean of the others, on the stories that both rated (scipy)."""
    rows = table.frame[table.frame["criterion"] == criterion]
    people = rows[rows["source"] == "rater"].pivot_table(index="story", columns="rater", values="rating")
    mine, theirs = [], []
    for rater in people.columns:
        others = people.drop(columns=rater).mean(axis=1).round(9)
        for repeat in judge.columns:
            keep = judge[repeat].reindex(people.index).notna() & people[rater].notna() & others.notna()
            mine.append(kendalltau(judge[repeat].reindex(people.index)[keep].round(9), others[keep]).statistic)
            theirs.append(kendalltau(people[rater][keep], others[keep]).statistic)
    return mine, theirs


def ratings_of(table: RatingsTable, criterion: str, *, single: bool = False) -> pd.DataFrame:
    """The judge's ratings by story, one column a repeat, or the mean of all."""
    rows = table.frame[(table.frame["source"] == "judge") & (table.frame["criterion"] == criterion)]
    wide = rows.pivot_table(index="story", columns="repeat", values="rating")
    return wide if single else wide.mean(axis=1).to_frame()


@pytest.mark.parametrize("readings", ["mean", "single"])
def test_the_judge_and_each_person_stand_against_the_same_means_on_the_same_stories(
    make_table: Callable[..., RatingsTable], readings: str
) -> None:
    def lost(system: int, prompt: int, repeat: int) -> str | None:
        return "refused" if system == 0 and prompt % 2 else "no_rating" if (prompt, repeat) == (2, 1) else None

    table = make_table(judged=BOTH, rated=BOTH, prompts=20, lost=lost)
    (lead,) = margins(
        correlations(table, from_words(CorrelationOptions, resamples=100, readings=readings), paired=True)
    )
    parts = [by_hand(table, name, ratings_of(table, name, single=readings == "single")) for name in BOTH]
    mine, theirs = (float(np.mean([np.mean(part[side]) for part in parts])) for side in (0, 1))
    assert lead.same[CEILING].value == pytest.approx(mine, abs=1e-12)
    assert lead.bars[CEILING].value == pytest.approx(theirs, abs=1e-12)
    assert lead.over[CEILING].value == pytest.approx(mine - theirs, abs=1e-12)
    assert lead.above[CEILING] == (sum(np.mean(part[0]) > np.mean(part[1]) for part in parts), 2)
    assert lead.readings == ("one repeat" if readings == "single" else "the mean of 2 to 3 repeats")
    assert (lead.stories, lead.share) == (70, 70 / 80)
    assert lead.over[CEILING].low is not None
    assert lead.over[CEILING].high is not None
    assert lead.over[CEILING].low < mine - theirs < lead.over[CEILING].high


def test_a_judge_that_is_one_more_rater_lies_on_people_on_average(make_table: Callable[..., RatingsTable]) -> None:
    """Three raters and a judge that is a fourth: in turn each of the four is the judge, and 0 the mean."""
    table = make_table(prompts=20)
    frame = table.frame
    people = frame[frame["source"] == "rater"].pivot_table(index="story", columns="rater", values="rating")
    judge = ratings_of(table, "Relevance", single=True)[0]
    four = people.assign(judge=judge)
    total = 0.0
    for one in four.columns:
        others = four.drop(columns=one)
        rows = frame[frame["source"] == "rater"].copy()
        rows["rating"] = [
            others.set_axis(people.columns, axis=1).loc[s, r] for s, r in zip(rows["story"], rows["rater"], strict=True)
        ]
        judged = frame[(frame["source"] == "judge") & (frame["repeat"] == 0)].copy()
        judged["rating"] = four[one].reindex(judged["story"]).to_numpy()
        turned = replace(table, frame=pd.concat([rows, judged], ignore_index=True))
        (lead,) = margins(correlations(turned, CorrelationOptions(ci="none"), paired=True))
        assert lead.over[CEILING].value is not None
        total += lead.over[CEILING].value
    # Set against the mean of all, each judge would have the mean of one rater more, and the total be well above 0.
    assert total == pytest.approx(0, abs=0.02)


def test_the_control_stands_on_the_judges_stories(make_table: Callable[..., RatingsTable]) -> None:
    """A run of some of the stories: the control is fitted on all of them and shown on the run's."""
    table = make_table(prompts=20, text="A lamp.")
    asked = table.frame["story_prompt"].isin([f"prompt {p}" for p in range(8)])
    table = replace(table, frame=table.frame[asked | (table.frame["source"] == "rater")].reset_index(drop=True))
    people = table.frame[table.frame["source"] == "rater"].groupby("story", sort=False)["rating"].mean()

    def half_right(stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        few = stories["story_prompt"].isin([f"prompt {p}" for p in range(8)])
        values = np.where(few, people, -people)
        return ControlPredictions(values, "surface:test", ControlSource.OUT_OF_FOLD, len(stories))

    (lead,) = margins(correlations(table, OPTIONS, predict=half_right, paired=True))
    assert len(people) == 80
    assert lead.bars[CONTROL].value == pytest.approx(1)
    row = correlate(table, OPTIONS, predict=half_right).set_index("kind").loc["control"]
    assert (row["value"], row["stories"]) == (pytest.approx(1), 32)
    ceiling = correlate(table, OPTIONS).set_index("kind").loc["ceiling"]
    assert ceiling["stories"] == 32


def refusing(prompts: int = 30, seed: int = 5) -> RatingsTable:
    """Three persons; `honest` rates all, `refuser` is worse and leaves out the middling 41 %."""
    drawn = Studies(World(people=3, story_prompts=prompts), np.random.default_rng(seed))
    study = drawn.study()
    honest, worse = drawn.one_more(study), drawn.person(study.quality + 0.6 * drawn.rng.standard_normal(study.n))
    distance = np.abs(study.quality - study.quality.mean())
    return study.with_judges(
        honest=honest, refuser=np.where(distance < np.quantile(distance, 0.41), np.nan, worse)
    ).table()


def test_no_winner_is_named_where_the_highest_answered_less_and_loses_on_the_common_stories() -> None:
    table = refusing()
    found = margins(correlations(table, CorrelationOptions(ci="none"), paired=True))
    best = best_of(found)
    assert best is not None
    assert best.judge == "refuser"  # the number alone would name it
    (rival,) = best.rivals
    assert (rival.name, rival.share, rival.stories) == ("honest with ep1", 1.0, 177)
    rows = table.frame.pivot_table(index="story", columns="judge", values="rating")
    people = table.frame[table.frame["source"] == "rater"].groupby("story")["rating"].mean().round(9)
    common = rows.dropna().index
    for judge, value in (("refuser", rival.best_mean.value), ("honest", rival.rival_mean.value)):
        assert value == pytest.approx(kendalltau(rows.loc[common, judge], people[common]).statistic, abs=1e-12)
    assert rival.ahead
    notes = printed(table, CorrelationOptions(ci="none")).notes
    assert "no row is named the closest to people: the highest row is not the highest on the common stories" in notes
    assert any(
        note.startswith("refuser with ep1 rated 59 % of the stories, honest with ep1 100 %: on the 177")
        for note in notes
    )
    assert any("refuser with ep1 (criterion 0) loses the middling stories" in note for note in notes)


def test_judges_that_rated_the_same_share_have_no_rivals(table: RatingsTable) -> None:
    twin = table.frame[table.frame["source"] == "judge"].assign(eval_prompt="ep2")
    both = replace(table, frame=pd.concat([table.frame, twin], ignore_index=True))
    assert all(not lead.rivals for lead in margins(correlations(both, CorrelationOptions(ci="none"), paired=True)))


def test_means_of_repeats_have_no_single_ones(hanna_table: RatingsTable) -> None:
    known = hanna_table.frame.copy()
    rater = known["source"] == "rater"
    place = known.groupby(["story", "criterion", "source"]).cumcount()
    known["rater"] = np.where(rater, "w" + place.astype(str), None)
    options = CorrelationOptions(ci="none", readings="single", drop_systems=("Human",))
    found = {
        lead.judge: lead for lead in margins(correlations(replace(hanna_table, frame=known), options, paired=True))
    }
    assert "single repeats are not in the file" in str(found["ChatGPT"].over[CEILING].reason)


def test_a_judge_that_rates_as_the_control_does_lies_exactly_on_it(table: RatingsTable) -> None:
    frame = correlate(table, replace(OPTIONS, control=False))
    assert not frame.empty

    def as_the_judge(stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        rows = table.frame[(table.frame["source"] == "judge") & (table.frame["criterion"] == criterion)]
        values = rows.groupby("story")["rating"].mean().reindex(stories["story"]).to_numpy()
        return ControlPredictions(values, "surface:test", ControlSource.OUT_OF_FOLD, len(stories))

    (lead,) = margins(correlations(table, OPTIONS, predict=as_the_judge, paired=True))
    over = lead.over[CONTROL]
    # Paired resample by resample: no spread at all, though each side's own interval is wide.
    assert (over.value, over.low, over.high) == (pytest.approx(0), pytest.approx(0), pytest.approx(0))
    assert lead.value.high is not None
    assert lead.value.low is not None
    assert lead.value.high - lead.value.low > 0.05
    assert lead.above[CONTROL] == (0, 2)


def test_without_known_raters_the_ceiling_is_undefined_and_the_control_is_not(
    make_table: Callable[..., RatingsTable],
) -> None:
    table = make_table(judged=BOTH, rated=BOTH, known_raters=False, text="A lamp.")
    (lead,) = margins(correlations(table, OPTIONS, predict=noisy, paired=True))
    assert lead.over[CEILING].value is None
    assert "who gave which rating is not known" in str(lead.over[CEILING].reason)
    assert lead.above[CEILING] == (0, 0)
    assert lead.over[CONTROL].value is not None
    (bare,) = margins(correlations(table, OPTIONS, paired=True))
    assert bare.over[CONTROL].reason == "there is no control's row"


def test_the_table_is_sorted_and_signed(hanna_table: RatingsTable) -> None:
    options = CorrelationOptions(resamples=50, drop_systems=("Human",))
    found = printed(hanna_table, options)
    values = [row["value"].value for row in found.rows]
    assert values == sorted(values, reverse=True)
    assert len(values) == 21
    assert "drop:Human" in found.signature
    assert "ci:boot-inputs/50/seed1" in found.signature


def test_a_control_below_0_counts_as_0(table: RatingsTable) -> None:
    """A bar that a judge must pass is never lower than saying nothing."""

    def against_people(stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        rng = np.random.default_rng(len(criterion))
        return ControlPredictions(
            rng.normal(0, 1, len(stories)) - people.to_numpy(), "surface:test", ControlSource.OUT_OF_FOLD, len(stories)
        )

    (lead,) = margins(correlations(table, OPTIONS, predict=against_people, paired=True))
    rows = correlate(table, OPTIONS, predict=against_people)
    assert (rows.loc[rows["kind"] == "control", "value"] < -0.2).all()
    bar = lead.bars[CONTROL]
    assert (bar.value, bar.low, bar.high) == (0, 0, 0)
    assert lead.control_below == len(lead.criteria) == 2
    over = lead.over[CONTROL]
    assert (over.value, over.low, over.high) == (lead.value.value, lead.value.low, lead.value.high)
    notes = printed(table, OPTIONS, predict=against_people).notes
    assert any(note.startswith("minus control: a control below 0 counts as 0") for note in notes)
