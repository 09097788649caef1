"""Intervals of a distance from raters, drawn out by how raters differ."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm, t

from judge.stats.estimation.other_raters import Spread, drawn_out, needed, spread


def _resampled(r: int, shared: float, own: float, b: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(2)
    return shared * rng.standard_normal(b) + own * rng.standard_normal((r, b))


def test_raters_who_differ_by_chance_alone_widen_nothing() -> None:
    alike = spread(np.array([0.1, 0.1, 0.1]), _resampled(3, 1.0, 0.5))
    assert alike is not None
    assert (alike.one_more, alike.average) == (1.0, 1.0)
    assert spread(np.array([0.1]), _resampled(1, 1.0, 0.5)) is None
    assert spread(np.array([0.1, np.nan]), _resampled(2, 1.0, 0.5)) is None


@pytest.mark.parametrize(("question", "share"), [("one_more", 1 + 1 / 3), ("average", 1 / 3)])
def test_raters_who_differ_widen_by_their_own_variance_and_its_uncertainty(question: str, share: float) -> None:
    parts, resampled = np.array([0.0, 3.0, 6.0]), _resampled(3, 1.0, 0.5)
    of_mean = resampled.mean(axis=0).var()
    deviations = resampled - resampled.mean(axis=0)
    deviations -= deviations.mean(axis=1, keepdims=True)
    of_stories = deviations.var(axis=0, ddof=1).mean()
    assert of_stories == pytest.approx(0.25, rel=0.05)
    of_raters = share * (9 * 2 / chi2.median(2) - of_stories)
    total = of_mean + of_raters
    expected = np.sqrt(total / of_mean) * t.ppf(0.975, 2 * (total / of_raters) ** 2) / norm.ppf(0.975)
    found = spread(parts, resampled)
    assert found is not None
    assert getattr(found, question) == pytest.approx(expected, rel=1e-3)


def test_what_is_needed_is_the_number_at_which_the_half_width_is_reached() -> None:
    # Raters alike: the half-width is 1.96 standard errors, which fall with the square root of the number of stories.
    stories, raters = needed(Spread(of_mean=0.05**2, of_raters=0.0, raters=3), 0.049)
    assert stories == pytest.approx(4.0, rel=0.01)
    assert raters is None
    # Three raters who differ by .1 leave t(2) * .1 / sqrt(3) = .248 however many stories there are.
    unlike = Spread(of_mean=0.01**2, of_raters=0.1**2, raters=3)
    stories, raters = needed(unlike, 0.07)
    assert stories is None
    assert raters is not None
    assert unlike.with_more(raters=raters).half_width() <= 0.07 < unlike.with_more(raters=raters - 2).half_width()


def test_values_are_drawn_out_about_their_mean() -> None:
    values = np.array([1.0, 2.0, 6.0, np.nan])
    np.testing.assert_allclose(drawn_out(values, 2.0), [-1.0, 1.0, 9.0, np.nan])
    np.testing.assert_array_equal(drawn_out(values, 1.0), values)
