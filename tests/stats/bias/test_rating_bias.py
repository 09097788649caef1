"""Biases of a judge: exact values on small tables, and no bias found where error alone could look like one."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.bias import rating_bias
from judge.stats.bias.rating_bias import Replicated

ONES = np.ones((1, 6))
NAN = np.nan


def test_leniency_is_a_difference_of_means() -> None:
    judge, people = np.array([3.0, 4, 5, 2, 1, NAN]), np.array([2.0, 4, 4, 2, NAN, 3])
    assert rating_bias.leniency(judge, people)(ONES)[0] == pytest.approx(0.5)


def test_error_variance_is_the_pooled_variance_within_stories_over_the_count() -> None:
    ratings = np.array([[1.0, 3.0], [2.0, 2.0], [5.0, NAN]])
    made = Replicated.of(ratings)
    assert made.mean.tolist() == [2.0, 2.0, 5.0]
    # Sums of squares 2 and 0 on 2 degrees of freedom; counts 2, 2, 1.
    assert made.error_variance(np.ones((1, 3)))[0] == pytest.approx(1.0 * (0.5 + 0.5 + 1.0) / 3)


def test_leniency_of_known_raters_is_no_error() -> None:
    quality = np.arange(8.0)
    ratings = np.stack([quality - 1, quality, quality + 2], axis=1)
    assert Replicated.of(ratings, persons=True).error_variance(np.ones((1, 8)))[0] == pytest.approx(0, abs=1e-12)
    assert Replicated.of(ratings).error_variance(np.ones((1, 8)))[0] > 0.7


def test_single_ratings_are_compared_with_single_ratings() -> None:
    """A judge as noisy as a person spreads as a person does; compression shows with one repeat as with three."""
    rng = np.random.default_rng(2)
    n = 40_000
    quality = rng.standard_normal(n)
    people = quality[:, None] + rng.standard_normal((n, 3))
    ones = np.ones((1, n))
    for repeats in (1, 3):
        honest = quality[:, None] + rng.standard_normal((n, repeats))
        assert rating_bias.single_spread(honest, people)(ones)[0] == pytest.approx(0, abs=0.02)
        narrow = 0.5 * quality[:, None] + rng.standard_normal((n, repeats))
        assert rating_bias.single_spread(narrow, people)(ones)[0] == pytest.approx(0.5 * np.log(1.25 / 2), abs=0.02)


def test_a_steady_judge_spreads_less_but_moves_as_people_do() -> None:
    rng = np.random.default_rng(3)
    n = 40_000
    quality = rng.standard_normal(n)
    people = quality[:, None] + rng.standard_normal((n, 3))
    steady = quality[:, None] + 0.2 * rng.standard_normal((n, 1))
    ones = np.ones((1, n))
    assert rating_bias.single_spread(steady, people)(ones)[0] < -0.2
    assert rating_bias.slope_deficit(steady[:, 0], Replicated.of(people))(ones)[0] == pytest.approx(0, abs=0.02)
    assert rating_bias.slope_deficit(0.5 * quality, Replicated.of(people))(ones)[0] == pytest.approx(-0.5, abs=0.02)


def test_people_who_only_disagree_leave_no_slope() -> None:
    rng = np.random.default_rng(1)
    people = Replicated.of(rng.standard_normal((500, 3)))
    assert np.isnan(rating_bias.slope_deficit(rng.standard_normal(500), people)(np.ones((1, 500)))[0])


def test_excess_at_a_point_and_the_gap_of_losses() -> None:
    judge, people = np.array([[3.0, 3.0], [3.0, 4.0], [NAN, NAN]]), np.array([[3.0, 4.0], [1.0, 2.0], [3.0, 3.0]])
    ones = np.ones((1, 3))
    assert rating_bias.excess_at(3, 1, judge, people)(ones)[0] == pytest.approx((0.5 + 0.5) / 2)
    lost, asked = np.array([0.0, 1, 2]), np.array([2.0, 2, 2])
    gap = rating_bias.loss_gap(lost, asked, np.array([1.0, 2, 4]))(ones)[0]
    assert gap == pytest.approx((2 * 1 + 4 * 2) / 3 - (1 * 2 + 2 * 1) / 3)
