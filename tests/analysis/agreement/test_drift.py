"""Drift over systems and datasets: MANS with length as the judge, against scipy; few stories; several datasets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis.agreement.drift import GroupRow, HomogeneityRow, drift, tables
from judge.analysis.options.agreement_options import DriftOptions
from judge.ratings.ratings_table import RatingsTable


def test_r_and_spread_by_system_on_mans_are_scipys(mans_length: RatingsTable) -> None:
    rows = drift(mans_length).groups_frame.set_index("group")
    frame = mans_length.frame
    data = frame[frame["source"] == "rater"].groupby(["system", "story"])["rating"].mean().reset_index("system")
    data["judge"] = frame[frame["source"] == "judge"].set_index("story")["rating"]
    assert set(rows.index) == {"all", *data["system"]}
    for system, part in [("all", data), *data.groupby("system")]:
        expected = stats.pearsonr(part["judge"], part["rating"])
        interval = expected.confidence_interval()
        row = rows.loc[system]
        assert row["r"] == pytest.approx(expected.statistic, abs=1e-12)
        assert (row["r_low"], row["r_high"]) == pytest.approx((interval.low, interval.high), abs=1e-12)
        assert (row["sd_judge"], row["sd_people"]) == pytest.approx((part["judge"].std(), part["rating"].std()))
        assert row["r_n"] == (1000 if system == "all" else 200)
    assert not rows["few"].any()
    # People agree most on the weakest system: the restriction of range that the table is there to show.
    assert (round(rows.loc["s2s", "sd_people"], 2), round(rows.loc["gpt_kg", "sd_people"], 2)) == (0.58, 0.82)


def test_the_test_over_systems_is_near_q_on_fishers_z_where_the_scale_has_no_ends(mans_length: RatingsTable) -> None:
    (row,) = drift(mans_length).frame.to_dict("records")
    groups = drift(mans_length).groups_frame.query("group != 'all'")
    z = np.arctanh(groups["r"])
    q = 197 * ((z - z.mean()) ** 2).sum()
    # Lengths and means of five people gather at no end, and 200 stories tell the variance: little is corrected.
    assert (row["q"], row["df"], row["over"]) == (pytest.approx(q, rel=0.1), 4, "systems")
    assert row["p"] == pytest.approx(stats.chi2.sf(q, 4), abs=0.01)
    assert (row["lowest"], row["highest"]) == (groups["r"].min(), groups["r"].max())
    assert row["lowest_group"] == groups.loc[groups["r"].idxmin(), "group"]


def two_datasets(make_table, noise: tuple[float, float] = (0.3, 3.0)) -> RatingsTable:
    """The same judge on two datasets, good on the first and worse on the second."""
    made = [make_table(seed=i, noise=value, prompts=20) for i, value in enumerate(noise)]
    frames = [table.frame.assign(dataset=name) for table, name in zip(made, ("one", "two"), strict=True)]
    return replace(made[0], frame=pd.concat(frames, ignore_index=True))


def test_one_judge_on_several_datasets_is_tested_over_them(make_table) -> None:
    table = two_datasets(make_table)
    rows = drift(table).frame
    assert rows["over"].tolist() == ["systems", "systems", "datasets"]
    last = rows.iloc[-1]
    assert (last["dataset"], last["df"], last["highest_group"]) == ("one + two", 1, "one")
    assert last["p"] < 0.01
    expected = stats.false_discovery_control(rows["p"])
    assert rows["p_adjusted"].tolist() == pytest.approx(expected.tolist())
    printed, by_group = tables(drift(table))
    assert any("Benjamini-Hochberg over the 3 tests" in note for note in printed.notes)
    assert [row["group"] for row in by_group.rows[:2]] == ["all", "system 0"]


def test_frames_and_tables_are_of_one_value(make_table) -> None:
    found = drift(two_datasets(make_table))
    tests, groups = tables(found)
    assert all(isinstance(row, HomogeneityRow) for row in found.tests)
    assert all(isinstance(row, GroupRow) for row in found.groups)
    assert [row["p"] for row in tests.rows] == [row.p for row in found.tests] == list(found.frame["p"])
    assert [row["r"] for row in groups.rows] == [row.r for row in found.groups]
    assert list(found.groups_frame["r"]) == [row.r.value for row in found.groups]
    assert found.frame.attrs["signature"] == tests.signature == groups.signature


def test_few_stories_are_said_to_be_few(make_table) -> None:
    table = make_table(prompts=6)
    rows = drift(table).groups_frame
    assert rows["few"].tolist() == [False, True, True, True, True]
    _, printed = tables(drift(table))
    assert "4 of 5 rows rest on fewer than 10 stories: their r is weak evidence" in printed.notes


def test_one_system_has_nothing_to_be_homogeneous_with(make_table) -> None:
    table = make_table(systems=1, prompts=20)
    (row,) = drift(table).frame.to_dict("records")
    assert (row["p"], row["reason"]) == (None, "undefined with 1 usable group")
    printed, _ = tables(drift(table))
    assert "Q: undefined with 1 usable group" in printed.notes


def test_criteria_nobody_rated_are_named(make_table) -> None:
    printed, _ = tables(drift(make_table(judged=("Relevance", "Empathy")), DriftOptions()))
    assert [row["criterion"] for row in printed.rows] == ["Relevance"]
    assert any(note.startswith("toy, Empathy: people did not rate this criterion") for note in printed.notes)
