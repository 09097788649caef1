"""Differences of two sides on the same stories: by hand, against statsmodels, and where they do not exist."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.estimation import paired_differences as effects
from judge.stats.resampling import bootstrap
from judge.stats.resampling import bootstrap_intervals as intervals

NAN = np.nan


def test_mean_difference_uses_stories_with_both_sides() -> None:
    first = np.array([1.0, 2.0, NAN, 4.0])
    second = np.array([2.0, 2.0, 5.0, NAN])
    found = effects.mean_difference(first, second)
    assert (found.value, found.n) == (0.5, 2)
    weights = np.array([[1, 1, 1, 1], [2, 0, 9, 9], [0, 0, 1, 1]])
    values = effects.resampled_mean_difference(first, second)(weights)
    np.testing.assert_allclose(values, [0.5, 1.0, NAN])


def test_nothing_in_common_is_undefined() -> None:
    found = effects.mean_difference(np.array([1.0, NAN]), np.array([NAN, 1.0]))
    assert found.reason == "undefined: no story has a rating on both sides"


def test_standardised_by_hand() -> None:
    # Standard deviations 1 and 3 (n - 1), mean difference 4: d_av = 4 / 2.
    first, second = np.array([1.0, 2.0, 3.0]), np.array([3.0, 6.0, 9.0])
    assert effects.standardised(first, second).value == pytest.approx(4 / 2)
    assert effects.standardised(first, second + NAN).reason == "undefined with fewer than 2 stories"
    assert "all equal" in str(effects.standardised(np.ones(3), 2 * np.ones(3)).reason)


def test_rates_count_only_what_was_tried() -> None:
    tried = np.array([[True, True], [True, False], [True, True]])
    first = np.array([[True, True], [True, True], [False, True]])
    second = np.array([[True, False], [False, True], [True, True]])
    found = effects.rate_difference(tried, first, second)
    assert (found.first, found.second) == (4 / 5, 3 / 5)
    assert found.difference.value == pytest.approx(-1 / 5)
    assert found.difference.n == 5
    assert (found.only_first, found.only_second) == (2, 1)
    assert found.discordant.tolist() == [True, True, True]
    weights = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 0]])
    values = effects.resampled_rate_difference(tried, first, second)(weights)
    np.testing.assert_allclose(values, [-1 / 5, 0.0, -1.0])


def test_nothing_tried_has_no_rate() -> None:
    none = np.zeros((2, 1), dtype=bool)
    found = effects.rate_difference(none, none, none)
    assert found.difference.reason == "undefined: no request was made on both sides"
    assert not found.h.defined


def test_cohen_h() -> None:
    # statsmodels 0.15: statsmodels.stats.proportion.proportion_effectsize(.7, .5) and (.05, 0).
    assert effects.cohen_h(0.5, 0.7) == pytest.approx(0.41151684606748784)
    assert effects.cohen_h(0.0, 0.05) == pytest.approx(0.4510268117962624)
    assert effects.cohen_h(0.3, 0.3) == 0


def test_a_clustered_interval_is_wider_than_one_of_independent_stories() -> None:
    rng = np.random.default_rng(0)
    prompt = np.repeat(np.arange(40), 10)
    first = rng.normal(size=400)
    second = first + rng.normal(size=40)[prompt] + rng.normal(0, 0.3, 400)
    statistic = effects.resampled_mean_difference(first, second)
    estimate = effects.mean_difference(first, second)
    widths = []
    for unit in (prompt, np.arange(400)):
        drawn = bootstrap.draw(unit, 500, np.random.default_rng(1), "boot")
        found = intervals.percentile(estimate, drawn.values(statistic), "boot")
        widths.append(found.high - found.low)
    # The prompts' effect has sd 1, each story's own .3: sqrt(1/40 + .09/400) against sqrt(1.09/400).
    expected = np.sqrt(1 / 40 + 0.09 / 400) / np.sqrt(1.09 / 400)
    assert widths[0] / widths[1] == pytest.approx(expected, rel=0.25)
