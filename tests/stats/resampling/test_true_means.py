"""Intervals for the correlation of true means hold it where ordinary bootstrap intervals do not; rows stay paired."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import linalg, stats

from judge.stats.correlation.coefficients import coefficient_of
from judge.stats.resampling import bootstrap, true_means
from tests.stats.resampling.over_means import tau_b_means

PROMPTS, SYSTEMS = 20, 10
UNIT, GROUP = np.tile(np.arange(PROMPTS), SYSTEMS), np.repeat(np.arange(SYSTEMS), PROMPTS)


def _study(rng: np.random.Generator, spread: float, shared: float = 0.8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ratings of two sides whose true means are the same, with noise that they share in part; and those means."""
    means = spread * rng.normal(size=SYSTEMS)
    story = rng.normal(size=GROUP.size)
    x, y = (means[GROUP] + shared * story + rng.normal(size=GROUP.size) for _ in range(2))
    return x, y, means


def _ends(values: np.ndarray) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def test_intervals_reach_the_correlation_of_true_means_where_percentiles_do_not() -> None:
    rng, held, plain = np.random.default_rng(4), 0, 0
    for seed in range(40):
        x, y, _ = _study(rng, 0.4)
        drawn = bootstrap.draw(UNIT, 300, np.random.default_rng(seed), "boot-inputs")
        held += _ends(true_means.correlations(drawn, x, y, GROUP, "kendall", seed))[1] >= 1 - 1e-9
        plain += _ends(tau_b_means(drawn, x, y, GROUP))[1] >= 1 - 1e-9
    # The true tau is 1 in all of them.
    assert held >= 37
    assert plain <= 10


def test_equal_systems_show_no_order() -> None:
    rng, above, plain = np.random.default_rng(5), 0, 0
    for seed in range(40):
        x, y, _ = _study(rng, 0.0, shared=1.4)
        drawn = bootstrap.draw(UNIT, 300, np.random.default_rng(seed), "boot-inputs")
        above += _ends(true_means.correlations(drawn, x, y, GROUP, "kendall", seed))[0] > 0
        plain += _ends(tau_b_means(drawn, x, y, GROUP))[0] > 0
    assert above <= 5
    assert plain >= 8


@pytest.mark.parametrize("coefficient", ["kendall", "spearman", "pearson"])
def test_without_noise_between_resamples_they_are_the_samples_correlation(coefficient: str) -> None:
    rng = np.random.default_rng(6)
    x, y = (rng.normal(size=SYSTEMS)[GROUP] for _ in range(2))
    drawn = bootstrap.draw(UNIT, 50, rng, "boot-inputs")
    found = true_means.correlations(drawn, np.stack([x, -x]), y, GROUP, coefficient, 1)
    expected = coefficient_of(x[::PROMPTS], y[::PROMPTS], coefficient)
    np.testing.assert_allclose(found[0], expected, atol=1e-3)
    np.testing.assert_allclose(found[1], -expected, atol=1e-3)


def test_plausible_correlations_of_sample_means_are_scipys_in_the_limit_of_no_noise() -> None:
    # Right-Haar intervals of r are close to Fisher's z (Berger & Sun 2008, table 1) for 30 systems.
    rng = np.random.default_rng(7)
    sample = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=30)
    centred = sample - sample.mean(axis=0)
    drawn = true_means._covariances(centred, 20_000, rng)
    r = drawn[:, 0, 1] / np.sqrt(drawn[:, 0, 0] * drawn[:, 1, 1])
    theirs = stats.pearsonr(*sample.T).confidence_interval()
    assert _ends(r) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_rows_go_together_as_their_systems_do() -> None:
    rng = np.random.default_rng(8)
    x, y, _ = _study(rng, 1.0)
    drawn = bootstrap.draw(UNIT, 400, rng, "boot-inputs")
    same, other = x.copy(), np.roll(x, PROMPTS)
    found = true_means.correlations(drawn, np.stack([x, same, 2 * x + 1, other]), y, GROUP, "pearson", 3)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], found[2], atol=1e-6)
    assert abs(np.corrcoef(found[0], found[3])[0, 1]) < 0.8


def test_undefined_where_a_side_has_no_differences_or_two_systems() -> None:
    x, y, _ = _study(np.random.default_rng(9), 1.0)
    drawn = bootstrap.draw(UNIT, 20, np.random.default_rng(1), "boot-inputs")
    assert np.isnan(true_means.correlations(drawn, np.full(x.size, 3.0), y, GROUP, "kendall", 1)).all()
    two = np.where(GROUP < 2, x, np.nan)
    assert np.isnan(true_means.correlations(drawn, two, y, GROUP, "kendall", 1)).all()


def test_reliability_by_hand_and_its_reasons() -> None:
    # Balanced: 1 - MS(interaction) / MS(systems), as of two-way analysis of variance.
    rng = np.random.default_rng(10)
    table = rng.normal(size=(SYSTEMS, PROMPTS)) + rng.normal(size=(SYSTEMS, 1)) + rng.normal(size=PROMPTS)
    between = PROMPTS * table.mean(axis=1).var(ddof=1)
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    within = (rest**2).sum() / ((SYSTEMS - 1) * (PROMPTS - 1))
    found = true_means.reliability(table.reshape(-1), GROUP, UNIT)
    assert found.value == pytest.approx(1 - within / between)
    assert found.n == SYSTEMS
    assert true_means.reliability(table.reshape(-1), GROUP, np.zeros_like(UNIT)).value is None
    some = [np.isin(GROUP, range(k)) for k in (1, 2, 3)]
    few = [true_means.reliability(table.reshape(-1)[rows], GROUP[rows], UNIT[rows]) for rows in some]
    assert [one.reason for one in few] == ["undefined with fewer than 3 systems"] * 2 + [None]
    alone = true_means.reliability(np.arange(20.0), GROUP[::10], GROUP[::10])
    assert alone.reason == "undefined: all stories of a system have one story-prompt"


def test_a_reliability_lies_between_0_and_1_or_is_undefined_with_its_reason() -> None:
    rng = np.random.default_rng(11)
    group, unit = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)
    found = [true_means.reliability(rng.normal(size=12), group, unit) for _ in range(200)]
    assert all(0 <= one.value <= 1 for one in found if one.value is not None)
    reasons = {one.reason for one in found if one.value is None}
    assert reasons == {"undefined: the means' noise exceeds the differences between systems"}


def test_memory_of_reliability_grows_with_the_stories_and_not_with_their_square() -> None:
    units = 4000
    group, unit = np.repeat(np.arange(3), units), np.tile(np.arange(units), 3)
    ratings = np.random.default_rng(12).normal(size=group.size) + group
    tracemalloc.start()
    found = true_means.reliability(ratings, group, unit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.value == pytest.approx(1, abs=0.01)
    # A matrix of units x units of small integers alone would be 64 MB.
    assert peak < 10e6


@pytest.mark.parametrize("block", [800, 4_000_000], ids=["some judges", "all judges"])
def test_judges_of_other_systems_and_people_are_as_one_after_the_other(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(true_means, "_BLOCK", 8 * block)
    rng = np.random.default_rng(13)
    sides = [_study(rng, 1.0)[:2] for _ in range(6)]
    x, y = (np.stack([side[i] for side in sides]) for i in (0, 1))
    x[1, GROUP == 4], x[2, UNIT > 15], y[3, GROUP == 4], y[3, UNIT > 12] = np.nan, np.nan, np.nan, np.nan
    x[4], x[5] = 2 * y[4] + 1, 3.0
    drawn = bootstrap.draw(UNIT, 40, rng, "boot-inputs")
    units: list[int] = []
    draws = true_means.draws
    monkeypatch.setattr(true_means, "draws", lambda *words: (units.append(words[2]), draws(*words))[1])
    found = true_means.correlations(drawn, x, y, GROUP, "pearson", 3)
    assert set(units) == {20, 16, 13}
    alone = [true_means.correlations(drawn, *pair, GROUP, "pearson", 3) for pair in zip(x, y, strict=True)]
    np.testing.assert_array_equal(found, alone)
    assert np.isnan(found).all(axis=1).tolist() == [False] * 5 + [True]
    # Story-prompts without a rating are as if they had not been there.
    there = np.flatnonzero(UNIT <= 15)
    part = true_means.correlations(drawn.of(there), x[2, there], y[2, there], GROUP[there], "pearson", 3)
    np.testing.assert_array_equal(found[2], part)
    systems = bootstrap.draw(GROUP, 40, rng, "boot-systems")
    found = true_means.correlations(systems, x[:2], y[:2], GROUP, "kendall", 3)
    np.testing.assert_array_equal(found[1], true_means.correlations(systems, x[1], y[1], GROUP, "kendall", 3))


def test_draws_are_the_shrunk_means_with_the_resamples_errors() -> None:
    rng, units, size = np.random.default_rng(14), 6, 12
    sample = rng.normal(size=(2, 1, 5)) * 2
    resampled = sample[:, :, None] + rng.normal(size=(2, 1, size, 5)) + 0.3
    resampled[1, 0, 3, 2] = np.nan
    found = true_means.draws(sample, resampled, units, 9)
    # Step 3 of the module's text, one resample after the other; people come first inside.
    mean = (sample[::-1, 0] - sample[::-1, 0].mean(axis=1, keepdims=True)).T
    error = np.nan_to_num(resampled[::-1, 0] - sample[::-1, 0][:, None]).transpose(1, 2, 0)
    error = np.sqrt(units / (units - 1)) * (error - error.mean(axis=1, keepdims=True))
    error -= error.mean(axis=0)
    noise = sum(each.T @ each for each in error) / (size * 4)
    plausible = true_means._covariances(mean, size, np.random.default_rng(9))
    root = np.linalg.cholesky(noise)
    shares = []
    for b in range(size):
        true = plausible[b] - noise
        variance = np.maximum(np.diag(true), 0)
        both = np.clip(true[0, 1], -np.sqrt(variance.prod()), np.sqrt(variance.prod()))
        true = np.array([[variance[0], both], [both, variance[1]]])
        white = np.linalg.solve(root, np.linalg.solve(root, true).T)
        shrink = white @ np.linalg.inv(white + np.eye(2))
        shares.append(float(np.trace(shrink)))
        drawn = (
            np.linalg.solve(root, mean.T).T @ shrink.T + np.linalg.solve(root, error[b].T).T @ linalg.sqrtm(shrink).T
        )
        np.testing.assert_allclose(found[:, 0, b], (drawn @ root.T).T[::-1], atol=2e-3)
    assert 0.3 < np.median(shares) < 1.9
