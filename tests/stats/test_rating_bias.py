"""Biases of a judge: exact values on small tables, and no bias found where error alone could look like one."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats import rating_bias
from judge.stats.rating_bias import Replicated

ONES = np.ones((1, 6))
NAN = np.nan


def test_leniency_and_own_preference_are_differences_of_means() -> None:
    judge, people = np.array([3.0, 4, 5, 2, 1, NAN]), np.array([2.0, 4, 4, 2, NAN, 3])
    assert rating_bias.leniency(judge, people)(ONES)[0] == pytest.approx(0.5)
    own = np.array([True, True, False, False, False, False])
    assert rating_bias.own_preference(judge, people, own)(ONES)[0] == pytest.approx(0.5 - 0.5)


def test_error_variance_is_the_pooled_variance_within_stories_over_the_count() -> None:
    ratings = np.array([[1.0, 3.0], [2.0, 2.0], [5.0, NAN]])
    made = Replicated.of(ratings)
    assert made.mean.tolist() == [2.0, 2.0, 5.0]
    # Sums of squares 2 and 0 on 2 degrees of freedom; counts 2, 2, 1.
    assert made.error_variance(np.ones((1, 3)))[0] == pytest.approx(1.0 * (0.5 + 0.5 + 1.0) / 3)


def test_leniency_of_known_raters_is_no_error() -> None:
    quality = np.arange(8.0)
    ratings = np.stack([quality - 1, quality, quality + 2], axis=1)
    assert Replicated.of(ratings, known=True).error_variance(np.ones((1, 8)))[0] == pytest.approx(0, abs=1e-12)
    assert Replicated.of(ratings).error_variance(np.ones((1, 8)))[0] > 0.7


def test_a_judge_that_rates_quality_has_no_length_slope_however_noisy_people_are() -> None:
    rng = np.random.default_rng(0)
    n = 40_000
    log = rng.standard_normal(n)
    quality = 3 + 0.5 * log + rng.standard_normal(n)
    people = Replicated.of(quality[:, None] + 1.5 * rng.standard_normal((n, 3)))
    honest, biased = quality, quality + 0.25 * log
    ones = np.ones((1, n))
    assert rating_bias.length_slope(honest, people, np.exp(8 + log))(ones)[0] == pytest.approx(0, abs=0.02)
    assert rating_bias.length_slope(biased, people, np.exp(8 + log))(ones)[0] == pytest.approx(0.25, abs=0.02)
    # Least squares without the correction would blame an honest judge for the error of people.
    design = np.stack([np.ones(n), people.mean, log], axis=1)
    assert np.linalg.lstsq(design, honest, rcond=None)[0][2] > 0.15


def test_people_who_only_disagree_leave_no_quality_to_compare_with() -> None:
    rng = np.random.default_rng(1)
    people = Replicated.of(rng.standard_normal((500, 3)))
    slope = rating_bias.length_slope(rng.standard_normal(500), people, np.exp(rng.standard_normal(500)))
    assert np.isnan(slope(np.ones((1, 500)))[0])


def test_spread_is_compared_without_error() -> None:
    rng = np.random.default_rng(2)
    n = 40_000
    quality = rng.standard_normal(n)
    people = Replicated.of(quality[:, None] + rng.standard_normal((n, 3)))
    judge = Replicated.of(0.5 * quality[:, None] + 0.7 * rng.standard_normal((n, 2)))
    assert rating_bias.log_spread(judge, people)(np.ones((1, n)))[0] == pytest.approx(np.log(0.5), abs=0.02)


def test_halo_is_the_rise_of_correlation_between_criteria_without_error() -> None:
    rng = np.random.default_rng(3)
    n = 40_000
    shared, own = rng.standard_normal(n), rng.standard_normal((2, n))
    people = [Replicated.of((shared + one)[:, None] + rng.standard_normal((n, 3))) for one in own]
    judge = [Replicated.of((shared + 0.5 * one)[:, None] + rng.standard_normal((n, 2))) for one in own]
    difference = rating_bias.halo(tuple(judge), tuple(people))(np.ones((1, n)))[0]
    assert difference == pytest.approx(1 / 1.25 - 1 / 2, abs=0.02)


def test_excess_at_a_point_and_the_gap_of_losses() -> None:
    judge, people = np.array([[3.0, 3.0], [3.0, 4.0], [NAN, NAN]]), np.array([[3.0, 4.0], [1.0, 2.0], [3.0, 3.0]])
    ones = np.ones((1, 3))
    assert rating_bias.excess_at(3, 1, judge, people)(ones)[0] == pytest.approx((0.5 + 0.5) / 2)
    lost, asked = np.array([0.0, 1, 2]), np.array([2.0, 2, 2])
    gap = rating_bias.loss_gap(lost, asked, np.array([1.0, 2, 4]))(ones)[0]
    assert gap == pytest.approx((2 * 1 + 4 * 2) / 3 - (1 * 2 + 2 * 1) / 3)
