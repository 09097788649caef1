"""Agreement of repeats on tables small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.agreement.disagreement import agreement


def test_three_views_by_hand() -> None:
    nan = np.nan
    ratings = np.array([[3, 3, 3], [1, 2, 2], [4, 5, nan], [2, nan, nan], [nan, nan, nan]])
    found = agreement(ratings)
    assert found.left_out == 2
    assert found.exact.n == 3
    assert found.exact.value == pytest.approx(1 / 3)
    # unequal pairs: 0 of 3, 2 of 3, 1 of 1
    assert found.flip.value == pytest.approx((0 + 2 / 3 + 1) / 3)
    # squares: 0, 2/3, 1/2 over 2 + 2 + 1 degrees of freedom
    assert found.within_sd.value == pytest.approx(np.sqrt((2 / 3 + 1 / 2) / 5))


def test_one_repeat_is_undefined() -> None:
    found = agreement(np.array([[1.0], [2.0]]))
    assert found.exact.value is None
    assert found.flip.reason == "undefined with fewer than 2 repeats of a story"


def test_rounding_noise_is_no_flip() -> None:
    found = agreement(np.array([[0.1 + 0.2, 0.3], [1, 1]]))
    assert (found.exact.value, found.flip.value) == (1.0, 0.0)
