"""tau-b of many pairs of variables at once is, to the last digit, that of one pair after the other."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.correlation import kendall
from judge.stats.resampling import bootstrap
from judge.stats.resampling import resampled_correlations as many_taus
from judge.stats.resampling.bootstrap import Resamples

SYSTEM, PROMPT = np.divmod(np.delete(np.arange(6 * 7), [3, 17, 40]), 7)


def _rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of variables with ties, noise of means, missing ratings, a constant side, and too few stories."""
    rng = np.random.default_rng(seed)
    x, y = (np.round(rng.normal(size=(40, SYSTEM.size)) * 2) / 3 for _ in range(2))
    x[5:20] += rng.normal(size=(15, SYSTEM.size)) * 1e-13
    x[10:30][rng.random((20, SYSTEM.size)) < 0.3] = np.nan
    y[15:35][rng.random((20, SYSTEM.size)) < 0.2] = np.nan
    y[36:38], x[38] = rng.normal(size=(2, SYSTEM.size)), 2.0
    x[39, 1:] = np.nan
    return x, y


def _drawn(name: str) -> Resamples:
    rng = np.random.default_rng(5)
    if name == "boot-both":
        return bootstrap.draw_both(SYSTEM, PROMPT, 30, rng)
    unit = {"boot-inputs": PROMPT, "boot-systems": SYSTEM, "boot-stories": np.arange(SYSTEM.size)}[name]
    return bootstrap.draw(unit, 30, rng, name)


@pytest.mark.parametrize("block", [1, 4_000_000], ids=["row by row", "all at once"])
@pytest.mark.parametrize("name", ["boot-inputs", "boot-systems", "boot-both", "boot-stories"])
def test_many_pairs_of_variables_give_the_same_numbers_as_one(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_taus, "_BLOCK", block)
    x, y = _rows(1)
    drawn = _drawn(name)
    sets = (drawn, *drawn.jackknife())
    whole, in_sets = many_taus.taus(x, y, sets)
    codes = [(kendall.codes(a), kendall.codes(b)) for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal(whole, [kendall.tau_b(*pair) for pair in codes])
    assert np.isnan(whole).sum() == 2
    for resamples, values in zip(sets, in_sets, strict=True):
        expected = np.stack([many_taus.tau_b(resamples, *pair) for pair in codes])
        np.testing.assert_array_equal(values, expected)


def test_no_stories_and_no_rows() -> None:
    drawn = bootstrap.draw(np.zeros(1, dtype=np.int64), 4, np.random.default_rng(1), "boot-stories")
    whole, (values,) = many_taus.taus(np.ones((2, 1)), np.ones((2, 1)), [drawn])
    assert np.isnan(whole).all()
    assert values.shape == (2, 4)
    assert np.isnan(values).all()
    assert many_taus.taus(np.empty((0, 3)), np.empty((0, 3)))[0].shape == (0,)


def test_sums_that_single_precision_cannot_hold_are_exact() -> None:
    x, y = _rows(2)
    counts = np.random.default_rng(3).integers(2_000, 9_000, (20, 7)).astype(np.int32)
    drawn = Resamples((bootstrap.Factor(counts, PROMPT),), "boot-inputs")
    _, (values,) = many_taus.taus(x[:5], y[:5], [drawn])
    expected = [many_taus.tau_b(drawn, kendall.codes(a), kendall.codes(b)) for a, b in zip(x[:5], y[:5], strict=True)]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)
