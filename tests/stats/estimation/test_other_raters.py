"""Intervals of a distance from raters, drawn out by how raters differ."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm, t

from judge.stats.estimation.other_raters import drawn_out, factor


def _resampled(r: int, shared: float, own: float, b: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(2)
    return shared * rng.standard_normal(b) + own * rng.standard_normal((r, b))


def test_raters_who_differ_by_chance_alone_widen_nothing() -> None:
    assert factor(np.array([0.1, 0.1, 0.1]), _resampled(3, 1.0, 0.5)) == 1.0
    assert factor(np.array([0.1]), _resampled(1, 1.0, 0.5)) == 1.0
    assert factor(np.array([0.1, np.nan]), _resampled(2, 1.0, 0.5)) == 1.0


def test_raters_who_differ_widen_by_their_own_variance_and_its_uncertainty() -> None:
    parts, resampled = np.array([0.0, 3.0, 6.0]), _resampled(3, 1.0, 0.5)
    of_mean = resampled.mean(axis=0).var()
    deviations = resampled - resampled.mean(axis=0)
    deviations -= deviations.mean(axis=1, keepdims=True)
    of_stories = deviations.var(axis=0, ddof=1).mean()
    assert of_stories == pytest.approx(0.25, rel=0.05)
    of_raters = (1 + 1 / 3) * (9 * 2 / chi2.median(2) - of_stories)
    total = of_mean + of_raters
    expected = np.sqrt(total / of_mean) * t.ppf(0.975, 2 * (total / of_raters) ** 2) / norm.ppf(0.975)
    assert factor(parts, resampled) == pytest.approx(expected, rel=1e-3)


def test_values_are_drawn_out_about_their_mean() -> None:
    values = np.array([1.0, 2.0, 6.0, np.nan])
    np.testing.assert_allclose(drawn_out(values, 2.0), [-1.0, 1.0, 9.0, np.nan])
    np.testing.assert_array_equal(drawn_out(values, 1.0), values)
