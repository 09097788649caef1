"""Distances between ratings of a story: leniency is no disagreement, missing sides take no part."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.agreement.disagreement import among, among_repeats, between_two, z_scores


def test_z_is_scipys_over_known_values() -> None:
    values = np.array([1.0, 2.0, np.nan, 5.0, 4.0])
    found = z_scores(values)
    assert found == pytest.approx(stats.zscore(values, ddof=1, nan_policy="omit"), nan_ok=True)
    assert np.isnan(z_scores(np.array([2.0, 2.0, 2.0 + 1e-12]))).all()
    assert np.isnan(z_scores(np.array([2.0, np.nan]))).all()


def test_a_milder_and_narrower_judge_does_not_disagree() -> None:
    people = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    found = between_two(3 + people / 4, people)
    assert found.standardised == pytest.approx(np.zeros(5), abs=1e-12)
    assert found.raw[0] == 2.25


def test_both_sides_are_standardised_over_the_stories_that_have_both() -> None:
    people = np.array([1.0, 2.0, 3.0, 100.0, np.nan])
    judge = np.array([3.0, 2.0, 1.0, np.nan, 5.0])
    found = between_two(judge, people)
    np.testing.assert_allclose(found.z[:, :3], [[1, 0, -1], [-1, 0, 1]])
    assert found.standardised[:3] == pytest.approx([2, 0, -2])
    assert np.isnan(found.standardised[3:]).all()
    assert np.isnan(found.raw[3:]).all()


def test_what_cannot_be_compared_says_why() -> None:
    assert between_two(np.array([1.0, np.nan]), np.array([np.nan, 1.0])).reason == "fewer than 2 stories with both"
    constant = between_two(np.array([3.0, 3.0]), np.array([1.0, 2.0]))
    assert constant.reason == "one side's ratings are all equal"
    assert np.isnan(constant.standardised).all()
    assert among(np.array([[1.0, 2.0, np.nan]])).reason == "no story has ratings of two sides"
    assert among_repeats(np.array([[1.0], [2.0]])).reason == "no story has two rated repeats"
    assert among_repeats(np.array([[1.0, 3.0], [2.0, 2.0]])).reason == "the means of all stories are equal"


def test_among_several_is_the_range_of_those_that_rated() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [np.nan, np.nan, 4.0], [2.0, 2.0, 2.0]])
    found = among(rows)
    # z: -1 0 1 and 1 -1 0; one rating only has no z; the last side is constant and takes no part.
    assert found.standardised == pytest.approx([2, 1, 1])
    assert found.raw == pytest.approx([2, 1, 1])


def test_repeats_are_measured_in_the_judges_own_spread_between_stories() -> None:
    ratings = np.array([[1.0, 3.0, np.nan], [3.0, 3.0, 3.0], [4.0, np.nan, np.nan]])
    found = among_repeats(ratings)
    assert found.raw == pytest.approx([2, 0, np.nan], nan_ok=True)
    assert found.standardised[:2] == pytest.approx(np.array([2, 0]) / np.std([2, 3, 4], ddof=1))
