"""Entropy, modal share and ties: scipy's entropy, hand counts, nothing moved onto the scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.bias.scale_use import entropy_bits, scale_use, tie_share


def test_entropy_is_scipys_in_bits() -> None:
    counts = np.array([3, 0, 5, 1, 7])
    assert entropy_bits(counts) == pytest.approx(stats.entropy(counts, base=2))
    assert entropy_bits(np.array([9])) == 0
    assert entropy_bits(np.full(5, 4)) == pytest.approx(np.log2(5))
    assert np.isnan(entropy_bits(np.array([0])))


def test_ratings_are_rounded_to_points_half_way_up_and_never_moved_onto_the_scale() -> None:
    ratings = np.array([[1.0, 1.4, 1.5], [4.6, -1.0, np.nan]])
    found = scale_use(ratings, ratings[:, 0], scale=(1, 5))
    # points 1, 1, 2, 5 and -1
    assert found.entropy.value == pytest.approx(stats.entropy([2, 1, 1, 1], base=2))
    assert (found.modal_share.value, found.modal_point) == (0.4, 1.0)
    assert (found.distinct, found.outside, found.entropy.n) == (5, 1, 5)


def test_a_finer_step_has_more_points() -> None:
    ratings = np.array([1.0, 1.5, 2.0, 2.5])
    assert scale_use(ratings, ratings, step=0.5, scale=(1, 5)).entropy.value == 2
    assert scale_use(ratings, ratings, scale=(1, 5)).entropy.value == pytest.approx(1.5)
    assert scale_use(ratings, ratings).outside is None


def test_noise_of_means_makes_neither_new_values_nor_other_points() -> None:
    third = np.array([(1 + 2 + 2) / 3, (2 + 2 + 1) / 3 + 2e-16, 1.5 - 1e-12])
    found = scale_use(third, third)
    assert found.distinct == 2
    assert found.modal_share.value == 1


def test_ties_are_pairs_of_stories_within_a_criterion() -> None:
    assert tie_share(np.array([1.0, 1.0, 1.0, 2.0, np.nan])).value == 0.5
    two = tie_share(np.array([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
    assert (two.value, two.n) == (1 / 6, 6)
    assert tie_share(np.array([1.0])).reason == "undefined with fewer than 2 stories"


def test_without_a_rating_nothing_is_said() -> None:
    found = scale_use(np.full(3, np.nan), np.full(3, np.nan))
    assert (found.entropy.value, found.modal_share.value, found.modal_point, found.distinct) == (None, None, None, 0)
