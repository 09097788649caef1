"""Discrimination of labelled stories: HANNA and MANS against scipy, pairs within story-prompts, error types, TOST."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis.agreement.binary_labels import LabelRow, discrimination, tables
from judge.analysis.inputs.bars import ControlSource
from judge.analysis.options.agreement_options import LabelOptions
from judge.ratings.ratings_table import RatingsTable


@pytest.fixture(scope="module")
def hanna(hanna_table: RatingsTable) -> RatingsTable:
    """Two judges' Engagement at Eval-Prompt 1, all of people's criteria, machine systems."""
    frame = hanna_table.frame
    judged = frame["judge"].isin(["Beluga-13B", "length"]) & (frame["eval_prompt"] == "ep1")
    keep = (judged & (frame["criterion"] == "Engagement")) | (frame["source"] == "rater")
    return replace(hanna_table, frame=frame[keep & (frame["system"] != "Human")])


def wide(table: RatingsTable, judge: str) -> pd.DataFrame:
    """One row a story: the judge's rating, people's means by criterion, story-prompt."""
    frame = table.frame
    rater = frame[frame["source"] == "rater"]
    people = rater.pivot_table(index="story", columns="criterion", values="rating", aggfunc="mean").round(9)
    people["judge"] = frame[frame["judge"] == judge].set_index("story")["rating"]
    return people.join(frame.drop_duplicates("story").set_index("story")["story_prompt"])


def test_r_auc_and_classes_on_mans_are_scipys(mans_length: RatingsTable) -> None:
    row = discrimination(mans_length, LabelOptions("Overall > 4", resamples=100)).frame.iloc[0]
    data = wide(mans_length, "length")
    label = data["Overall"] > 4
    u = stats.mannwhitneyu(data.loc[label, "judge"], data.loc[~label, "judge"]).statistic
    assert row["r"] == pytest.approx(stats.pointbiserialr(label, data["judge"]).statistic, abs=1e-12)
    assert row["auc"] == pytest.approx(u / (label.sum() * (~label).sum()), abs=1e-12)
    assert (row["with_label"], row["without_label"], row["label"], row["other"]) == (
        *(label.sum(), (~label).sum()),
        *("Overall > 4", "not Overall > 4"),
    )
    assert row["r_low"] < row["r"] < row["r_high"]
    assert row["auc_low"] < row["auc"] < row["auc_high"]
    assert abs(row["r"]) < row["bound"] < 1


def test_pairs_are_within_story_prompts(mans_length: RatingsTable) -> None:
    row = discrimination(mans_length, LabelOptions("Overall > 4", ci="none")).frame.iloc[0]
    wins = ties = losses = 0
    differences = []
    for _, group in wide(mans_length, "length").groupby("story_prompt"):
        high, low = group.loc[group["Overall"] > 4, "judge"], group.loc[group["Overall"] <= 4, "judge"]
        for a in high:
            for b in low:
                wins, ties, losses = wins + (a > b), ties + (a == b), losses + (a < b)
        if len(high) and len(low):
            differences.append(high.mean() - low.mean())
    assert (row["wins"], row["ties"], row["losses"]) == (wins, ties, losses)
    assert row["win_rate"] == pytest.approx((wins + ties / 2) / (wins + ties + losses))
    expected = stats.ttest_1samp(differences, 0).confidence_interval()
    assert row["difference"] == pytest.approx(np.mean(differences))
    assert (row["difference_low"], row["difference_high"]) == pytest.approx((expected.low, expected.high))
    assert row["story_prompts"] == len(differences)


def test_tost_asks_whether_the_difference_lies_within_the_bounds(hanna: RatingsTable) -> None:
    options = LabelOptions("Engagement > 3", ci="none", equivalence=0.5)
    rows = discrimination(hanna, options).frame.set_index("judge")
    data = wide(hanna, "Beluga-13B")
    found = []
    for _, group in data.groupby("story_prompt"):
        sides = [group.loc[group["Engagement"] > 3, "judge"], group.loc[group["Engagement"] <= 3, "judge"]]
        if all(len(side) for side in sides):
            found.append(sides[0].mean() - sides[1].mean())
    low = stats.ttest_1samp(found, -0.5, alternative="greater").pvalue
    high = stats.ttest_1samp(found, 0.5, alternative="less").pvalue
    assert rows.loc["Beluga-13B", "tost_p"] == pytest.approx(max(low, high), abs=1e-12)
    (printed,) = tables(discrimination(hanna, options))
    assert "TOST p ±0.5" in [column.title for column in printed.columns]
    assert "|tost:±0.5|" in printed.signature


def test_each_error_type_is_set_against_the_same_reasonable_stories(hanna: RatingsTable) -> None:
    options = LabelOptions("Engagement >= 4", errors=("Coherence < 2", "Relevance < 2"), resamples=50)
    rows = discrimination(hanna, options).frame
    data = wide(hanna, "Beluga-13B")
    good = data["Engagement"] >= 4
    for name, row in zip(
        ("Coherence", "Relevance"), rows[rows["judge"] == "Beluga-13B"].to_dict("records"), strict=True
    ):
        bad = data[name] < 2
        keep = good ^ bad
        assert (row["with_label"], row["without_label"]) == ((good & ~bad).sum(), (bad & ~good).sum())
        assert row["r"] == pytest.approx(stats.pointbiserialr(good[keep], data.loc[keep, "judge"]).statistic, abs=1e-12)
        assert row["other"] == f"{name} < 2"
    (printed,) = tables(discrimination(hanna, options))
    both = int((good & (data["Relevance"] < 2)).sum())
    assert both > 0
    assert f"hanna: {both} stories have both Engagement >= 4 and Relevance < 2" in printed.notes
    notes = " ".join(printed.notes)
    assert "stand in every set" in notes
    assert "easier to tell apart than all stories" in notes


def test_delongs_interval_only_when_asked_for(hanna: RatingsTable) -> None:
    one = discrimination(hanna, LabelOptions("Engagement > 3", ci="delong")).frame.iloc[0]
    assert one["auc_low"] < one["auc"] < one["auc_high"]
    assert "r_low" not in one
    none = discrimination(hanna, LabelOptions("Engagement > 3", ci="none")).frame.iloc[0]
    assert "auc_low" not in none
    assert none["auc"] == pytest.approx(one["auc"], abs=1e-12)


def test_an_area_of_1_keeps_an_interval_with_a_width(make_table) -> None:
    table = make_table(prompts=12)
    frame = table.frame
    people = frame[frame["source"] == "rater"].groupby(["story", "criterion"])["rating"].mean()
    judged = frame["source"] == "judge"
    keys = pd.MultiIndex.from_frame(frame.loc[judged, ["story", "criterion"]])
    told = frame.assign(rating=frame["rating"].mask(judged))
    told.loc[judged, "rating"] = people.reindex(keys).to_numpy()
    row = discrimination(replace(table, frame=told), LabelOptions("Relevance > 3", resamples=50)).frame.iloc[0]
    assert (row["auc"], row["auc_high"]) == (1.0, 1.0)
    assert 0.5 < row["auc_low"] < 1.0


def test_frame_and_table_are_of_one_value(make_table) -> None:
    found = discrimination(make_table(), LabelOptions("Relevance > 3", resamples=20))
    (printed,) = tables(found)
    assert all(isinstance(row, LabelRow) for row in found.rows)
    for name in ("r", "auc", "win_rate", "difference"):
        assert [row[name] for row in printed.rows] == [getattr(row, name) for row in found.rows]
        assert list(found.frame[name]) == [getattr(row, name).value for row in found.rows]
    assert found.frame.attrs["signature"] == printed.signature


def test_one_class_is_undefined(make_table) -> None:
    row = discrimination(make_table(), LabelOptions("Relevance > 5")).frame.iloc[0]
    assert row["r_reason"] == "undefined with one class only: all 48 rated stories lack it"
    assert row["win_rate_reason"] == "undefined without a pair of rated stories"
    assert row["difference_reason"] == "undefined: no story-prompt has stories of both kinds"


def test_the_control_is_set_against_the_same_labels(make_table) -> None:
    def predict(stories, people, criterion):
        return SimpleNamespace(
            values=people.to_numpy(), how=f"copy of {criterion}", source=ControlSource.UNAVAILABLE, reason="by hand"
        )

    (printed,) = tables(discrimination(make_table(text="a word"), LabelOptions("Relevance > 3"), predict=predict))
    control = printed.rows[-1]
    assert (control["kind"], control["auc"].value, control["win_rate"].value) == ("control", 1.0, 1.0)
    assert "|control:copy of Relevance|" in printed.signature
    assert "control: by hand" in printed.notes


def test_few_story_prompts_have_no_intervals(make_table) -> None:
    (printed,) = tables(discrimination(make_table(prompts=3), LabelOptions("Relevance > 3")))
    assert "toy: no intervals of r and AUC, fewer than 5 story-prompts" in printed.notes
