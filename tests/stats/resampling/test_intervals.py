"""BCa equals scipy's for independent draws; two crossed factors count as two samples; what does not exist is said."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from judge.base.estimate import Estimate
from judge.stats.resampling import bootstrap
from judge.stats.resampling import bootstrap_intervals as intervals


def _ratio(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (weights @ x) / (weights @ y)


def _scipys(samples, statistic, values, method: str, *, paired: bool):
    """scipy 1.17.1, scipy.stats.bootstrap(..., n_resamples=0, bootstrap_result=...): its interval from these values."""
    given = SimpleNamespace(bootstrap_distribution=values)
    options = {"n_resamples": 0, "paired": paired, "method": method, "bootstrap_result": given}
    return stats.bootstrap(samples, statistic, **options).confidence_interval


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_intervals_equal_scipys_on_the_same_resamples(method: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.exponential(size=40), rng.gamma(3.0, size=40)

    def statistic(p, q, axis):
        return p.sum(axis=axis) / q.sum(axis=axis)

    drawn = bootstrap.draw(np.arange(40), 3000, np.random.default_rng(8), "boot-stories")
    values = drawn.values(lambda w: _ratio(w, x, y))
    theirs = _scipys((x, y), statistic, values, method, paired=True)
    estimate = Estimate(float(x.sum() / y.sum()), 40)
    if method == "BCa":
        (jackknife,) = drawn.jackknife()
        found = intervals.bca(estimate, values, [jackknife.values(lambda w: _ratio(w, x, y))], "BCa, 95 %")
    else:
        found = intervals.percentile(estimate, values, "percentile, 95 %")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_two_factors_count_as_two_samples_do_in_scipy() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.exponential(size=12), rng.exponential(size=30) * 2

    def statistic(p, q, axis=-1):
        return p.mean(axis=axis) * q.mean(axis=axis)

    values = statistic(rng.choice(a, (2000, 12)), rng.choice(b, (2000, 30)))
    theirs = _scipys((a, b), statistic, values, "BCa", paired=False)
    without = [
        np.array([statistic(np.delete(a, i), b) for i in range(12)]),
        np.array([statistic(a, np.delete(b, i)) for i in range(30)]),
    ]
    found = intervals.bca(Estimate(float(statistic(a, b)), 42), values, without, "BCa, 95 %")
    assert abs(intervals.acceleration(without)) > 0.01
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_bca_that_does_not_exist_says_why() -> None:
    estimate, spread = Estimate(0.5, 10), np.linspace(0, 1, 101)
    one_side = intervals.bca(Estimate(2.0, 10), spread, [spread], "BCa")
    assert one_side.low is None
    assert one_side.reason == "no BCa interval: all resampled values lie on one side of the estimate"
    lost = intervals.bca(estimate, spread, [np.array([0.4, np.nan, 0.5])], "BCa")
    assert lost.reason == "no BCa interval: undefined without 1 of 3 units"
    degenerate = intervals.bca(estimate, np.where(spread < 0.1, np.nan, spread), [spread], "BCa")
    assert degenerate.reason == "no interval: undefined in 10 of 101 resamples"
    undefined = Estimate.undefined("no pairs")
    assert intervals.bca(undefined, spread, [spread], "BCa") is undefined
    perfect = intervals.bca(Estimate(1.0, 10), np.ones(50), [np.ones(10)], "BCa")
    assert (perfect.low, perfect.high) == (1.0, 1.0)


def test_bca_corrects_a_skewed_statistic_towards_its_tail() -> None:
    rng = np.random.default_rng(1)
    x = rng.lognormal(sigma=1.2, size=60)
    drawn = bootstrap.draw(np.arange(60), 4000, rng, "boot-stories")
    values = drawn.values(lambda w: w @ x / 60)
    jackknife = drawn.jackknife()[0].values(lambda w: w @ x / w.sum(axis=1))
    estimate = Estimate(float(x.mean()), 60)
    plain = intervals.percentile(estimate, values, "percentile")
    corrected = intervals.bca(estimate, values, [jackknife], "BCa")
    assert intervals.acceleration([jackknife]) > 0
    assert corrected.low > plain.low
    assert corrected.high > plain.high


def test_calibrated_values_have_the_spread_of_new_crossed_data() -> None:
    # A mean over 30 systems x 40 story-prompts: its variance is A/S + B/P + E/SP by construction.
    rng = np.random.default_rng(2)
    s, p, a, b, e = 30, 40, 0.2, 0.1, 3.0
    system, prompt = np.divmod(np.arange(s * p), p)
    true = np.sqrt(a**2 / s + b**2 / p + e**2 / (s * p))
    plain, drawn_in = [], []
    for _ in range(60):
        y = a * rng.normal(size=s)[system] + b * rng.normal(size=p)[prompt] + e * rng.normal(size=s * p)
        both = bootstrap.draw_both(system, prompt, 800, rng)
        values = both.values(lambda w, y=y: w @ y / w.sum(axis=1))
        alone = [one.values(lambda w, y=y: w @ y / w.sum(axis=1)) for one in both.one_way()]
        plain.append(values.std())
        drawn_in.append(intervals.calibrated(values, alone, (s, p)).std())
    assert np.mean(plain) > 1.5 * true
    assert np.mean(drawn_in) == pytest.approx(true, rel=0.2)


def test_calibrated_values_by_hand() -> None:
    values, alone = np.array([0.0, 2.0, 4.0, np.nan]), (np.array([1.0, 2.0]), np.array([1.0, 2.0, np.nan]))
    # V both 8/3; V alone 1/4 each; 2 (1/4 + 1/4) - 8/3 < 1/4, so 1/4; t(4) 2.776445, normal 1.959964, m = 5.
    factor = np.sqrt(0.25 / (8 / 3)) * np.sqrt(5 / 4) * 2.7764451 / 1.9599640
    found = intervals.calibrated(values, alone, (9, 5))
    np.testing.assert_allclose(found, 2 + factor * (values - 2), rtol=1e-6)
    wide = intervals.calibrated(values, (10 * alone[0], 10 * alone[1]), (9, 5))
    np.testing.assert_allclose(wide, values, rtol=0, atol=1e-12)
    same = np.full(3, 0.5)
    np.testing.assert_array_equal(intervals.calibrated(same, (same, same), (9, 5)), same)


def test_expanded_percentiles_of_a_mean_are_about_students_interval() -> None:
    x = np.random.default_rng(3).normal(size=8)
    drawn = bootstrap.draw(np.arange(8), 40_000, np.random.default_rng(1), "boot-stories")
    values = drawn.values(lambda w: w @ x / 8)
    plain = intervals.percentile(Estimate(float(x.mean()), 8), values, "percentile")
    found = drawn.interval(Estimate(float(x.mean()), 8, method="mean"), values)
    half = stats.t.ppf(0.975, 7) * x.std(ddof=1) / np.sqrt(8)
    assert found.method == "mean, boot-stories, expanded percentile, 95 %"
    assert (found.low, found.high) == pytest.approx((x.mean() - half, x.mean() + half), rel=0.12)
    assert plain.high - plain.low < 0.8 * (found.high - found.low)


def test_an_interval_that_missed_its_estimate_is_extended_and_says_so() -> None:
    values = np.linspace(0.1, 0.5, 101)
    found = intervals.expanded(Estimate(0.6, 10), values, 10, "expanded percentile, 95 %")
    assert found.high == 0.6
    assert found.method == "expanded percentile, 95 %, extended to its estimate"
    inside = intervals.expanded(Estimate(0.3, 10), values, 10, "expanded percentile, 95 %")
    assert inside.method == "expanded percentile, 95 %"
    assert intervals.expanded(Estimate(0.3, 1), values, 1, "x").reason == "no interval: one unit to resample"


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.99])
def test_the_p_value_is_where_the_expanded_interval_ends_at_zero(confidence: float) -> None:
    values = np.random.default_rng(7).standard_normal(50_000)
    found = intervals.expanded(Estimate(0.0, 20), values, 20, "", confidence=confidence)
    assert found.low is not None
    p = intervals.p_above_zero(Estimate(-found.low, 20), values - found.low, 20)
    assert p == pytest.approx((1 - confidence) / 2, rel=0.05)


def test_the_p_value_needs_what_the_interval_needs() -> None:
    values = np.linspace(0.5, 1.5, 300)
    assert intervals.p_above_zero(Estimate(1.0, 30), values, 1) is None
    assert intervals.p_above_zero(Estimate.undefined("no ratings"), values, 30) is None
    assert intervals.p_above_zero(Estimate(1.0, 30), np.where(np.arange(300) < 30, np.nan, values), 30) is None
    assert intervals.p_above_zero(Estimate(1.0, 30), np.full(300, 1.0), 30) is None


def test_quantiles_are_numpys_to_the_last_digit() -> None:
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 40, 299):
        for values in (rng.normal(size=size), np.round(rng.normal(size=size), 1)):
            for tail in (0.0, 0.0021, 0.025, 0.1, 0.5):
                expected = np.percentile(values, [100 * tail, 100 * (1 - tail)])
                assert intervals._quantiles(values, (tail, 1 - tail)) == expected.tolist()
