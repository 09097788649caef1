"""Worst and best case of a mean, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.estimation.proportions import mean_bounds


def test_missing_values_stand_at_either_end_of_the_scale() -> None:
    found = mean_bounds(np.array([2, 4, np.nan, 3, np.nan]), 1, 5)
    assert (found.value, found.n) == (3.0, 5)
    assert (found.low, found.high) == pytest.approx((11 / 5, 19 / 5))


def test_nothing_missing_leaves_no_width_and_nothing_known_no_value() -> None:
    complete = mean_bounds(np.array([1.0, 2]), 1, 5)
    assert complete.low == complete.value == complete.high
    assert mean_bounds(np.array([np.nan]), 1, 5).reason == "no rating at all"
