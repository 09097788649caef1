"""Swap tests equal a loop of scipy's taus over the same swaps, and hold their level."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest, kendalltau

from judge.stats.correlation import kendall
from judge.stats.resampling import swap_test


def _three(seed: int, n: int = 120, levels: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    a, b, y = (quality + rng.normal(size=n) * noise for noise in (0.8, 1.6, 1.0))
    return (np.round(2 * a) / 3, np.round(b), np.round(3 * y) / 3) if levels else (a, b, np.round(2 * y))


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def _naive(a: np.ndarray, b: np.ndarray, y: np.ndarray, masks: np.ndarray, tau) -> np.ndarray:
    a, b = _standard(a), _standard(b)
    return np.array([tau(np.where(m, b, a), y) - tau(np.where(m, a, b), y) for m in masks])


def _p(moved: np.ndarray, observed: float, tail: str) -> float:
    extreme = np.abs(moved) >= abs(observed) - 1e-12 if tail == "two-sided" else moved >= observed - 1e-12
    return (1 + extreme.sum()) / (1 + moved.size)


@pytest.mark.parametrize("levels", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("swapped", ["stories", "systems", "story-prompts"])
def test_p_equals_a_loop_over_the_same_swaps(swapped: str, levels: bool) -> None:
    a, b, y = _three(2, levels=levels)
    a[[3, 50]], b[7], y[[9, 11]] = np.nan, np.nan, np.nan
    system, prompt = np.divmod(np.arange(120), 12)
    unit = {"stories": np.arange(120), "systems": system, "story-prompts": prompt}[swapped]
    keep = ~np.isnan(a + b + y)
    masks = np.concatenate(list(swap_test._masks(unit[keep], 150, np.random.default_rng(6))))
    moved = _naive(a[keep], b[keep], y[keep], masks, lambda p, q: kendalltau(p.round(9), q).statistic)
    observed = kendalltau(a[keep], y[keep]).statistic - kendalltau(b[keep], y[keep]).statistic
    for tail in ("two-sided", "greater"):
        found = swap_test.swap_test(a, b, y, unit, 150, np.random.default_rng(6), tail=tail)
        assert found.n == 115
        assert found.difference == pytest.approx(observed, abs=1e-12)
        assert found.p == _p(moved, observed, tail)


def test_system_level_p_equals_a_loop_over_means() -> None:
    a, b, y = _three(4, n=160)
    system = np.repeat(np.arange(8), 20)
    found = swap_test.swap_test(a, b, y, np.arange(160), 300, np.random.default_rng(1), group=system)

    def tau(x: np.ndarray, people: np.ndarray) -> float:
        means = [np.bincount(system, weights=side).round(9) / 20 for side in (x, people)]
        return kendalltau(*(side.round(9) for side in means)).statistic

    masks = np.concatenate(list(swap_test._masks(np.arange(160), 300, np.random.default_rng(1))))
    observed = tau(_standard(a), y) - tau(_standard(b), y)
    assert found.n == 8
    assert found.difference == pytest.approx(observed, abs=1e-12)
    assert found.p == _p(_naive(a, b, y, masks, tau), observed, "two-sided")


def test_many_stories_with_many_levels_are_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, y = (kendall.codes(side).astype(float) for side in _three(7, n=150, levels=False))
    y = y + np.linspace(0, 0.5, 150)  # no ties: more cells than a table may have
    masks = next(swap_test._masks(np.arange(150), 20, np.random.default_rng(0)))
    by_signs = swap_test.overall(a, b, kendall.codes(y))(masks)
    monkeypatch.setattr(kendall, "QUADRATIC_N", 100)
    one_by_one = swap_test.overall(a, b, kendall.codes(y))(masks)
    np.testing.assert_allclose(by_signs, one_by_one, rtol=0, atol=1e-12)


def test_counts_beyond_single_precision_stay_exact() -> None:
    # 4 n**2 exceeds 2**24 from 2,048 stories on: products of counts need double precision.
    for levels in (True, False):
        a, b, y = _three(3, n=2500, levels=levels)
        masks = next(swap_test._masks(np.arange(2500), 3, np.random.default_rng(0)))
        first, second = swap_test.overall(_standard(a), _standard(b), kendall.codes(y))(masks)
        theirs = _naive(a, b, y, masks, lambda p, q: kendalltau(p.round(9), q).statistic)
        np.testing.assert_allclose(first - second, theirs, atol=1e-12)


def test_how_many_swaps_are_held_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, y = _three(5)
    monkeypatch.setattr(swap_test, "_CHUNK", 120 * 7)
    masks = []
    for held in (1, 120 * 7, 120 * 30):
        monkeypatch.setattr(swap_test, "_HELD", held)
        masks.append([*swap_test._masks(np.arange(120), 100, np.random.default_rng(0))])
    assert [len(blocks) for blocks in masks] == [15, 15, 4]
    for blocks in masks:
        np.testing.assert_array_equal(np.concatenate(blocks), np.concatenate(masks[0]))
    assert swap_test.swap_test(a, b, y, np.arange(120), 100, np.random.default_rng(0)).swaps == 100


def test_equal_judges_give_p_1_and_linear_rescaling_changes_nothing() -> None:
    a, b, y = _three(1)
    same = swap_test.swap_test(a, a.copy(), y, np.arange(120), 200, np.random.default_rng(0))
    assert (same.difference, same.p) == (0.0, 1.0)
    first = swap_test.swap_test(a, b, y, np.arange(120), 200, np.random.default_rng(0))
    again = swap_test.swap_test(10 * a - 3, b, y, np.arange(120), 200, np.random.default_rng(0))
    assert first.p == again.p


def test_what_cannot_be_compared_says_why() -> None:
    a, b, y = _three(1)
    stuck = swap_test.swap_test(a, np.full(120, 3.0), y, np.arange(120), 50, np.random.default_rng(0))
    assert stuck.p is None
    assert stuck.reason == "undefined because the second judge's ratings are all equal"
    apart = np.where(np.arange(120) < 60, a, np.nan), np.where(np.arange(120) >= 60, b, np.nan)
    nothing = swap_test.swap_test(*apart, y, np.arange(120), 50, np.random.default_rng(0))
    assert (nothing.n, nothing.difference) == (0, None)
    assert nothing.reason == "undefined with fewer than 3 stories"
    two = swap_test.swap_test(a, b, y, np.arange(120), 50, np.random.default_rng(0), group=np.arange(120) // 60)
    assert two.p is None


def test_exchangeable_judges_are_rarely_told_apart() -> None:
    # Under the null hypothesis p <= .05 happens in at most 5 % of data sets: not refuted at 1 % in 400 of them.
    rng = np.random.default_rng(12)
    hits = 0
    for _ in range(400):
        quality = rng.normal(size=60)
        a, b, y = (np.round(quality + rng.normal(size=60)) for _ in range(3))
        hits += swap_test.swap_test(a, b, y, np.arange(60), 99, rng).p <= 0.05
    assert binomtest(hits, 400, 0.05, alternative="greater").pvalue > 0.01
    assert hits > 5


def test_units_are_swapped_as_a_whole_and_half_the_time() -> None:
    unit = np.array([4, 4, 9, 9, 9, 2])
    masks = np.concatenate(list(swap_test._masks(unit, 20_000, np.random.default_rng(3))))
    assert masks.shape == (20_000, 6)
    np.testing.assert_array_equal(masks[:, [0, 2, 2]], masks[:, [1, 3, 4]])
    assert np.abs(masks.mean(axis=0) - 0.5).max() < 0.5 * 3.5 / np.sqrt(20_000)


@pytest.mark.parametrize("tail", ["two-sided", "greater"])
def test_few_units_have_every_pattern_once_and_an_exact_p(tail: str) -> None:
    a, b, y = _three(8, n=90)
    system = np.repeat(np.arange(6), 15)
    found = swap_test.swap_test(a, b, y, system, 64, np.random.default_rng(0), tail=tail)
    patterns = np.array(list(itertools.product([0, 1], repeat=6)))[:, system]
    moved = _naive(a, b, y, patterns, lambda p, q: kendalltau(p.round(9), q).statistic)
    observed = kendalltau(a, y).statistic - kendalltau(b, y).statistic
    extreme = np.abs(moved) >= abs(observed) - 1e-12 if tail == "two-sided" else moved >= observed - 1e-12
    assert (found.p, found.swaps, found.exact, found.units) == (extreme.mean(), 64, True, 6)
    assert found.least == {"two-sided": 2 / 64, "greater": 1 / 64}[tail]
    # One pattern more than there are swaps: they are drawn.
    drawn = swap_test.swap_test(a, b, y, system, 63, np.random.default_rng(0), tail=tail)
    assert (drawn.exact, drawn.swaps) == (False, 63)
    assert drawn.least == {"two-sided": 2 / 64, "greater": 1 / 64}[tail]
    whole = swap_test.swap_test(a, b, y, np.arange(90), 63, np.random.default_rng(0), tail=tail)
    assert whole.least == 1 / 64


def test_system_means_are_on_one_scale_before_whole_systems_are_swapped() -> None:
    # The second judge has the same means over systems, drawn together by noise within systems: a worse judge of
    # stories and the same judge of systems, so that no swap of systems changes anything.
    rng = np.random.default_rng(3)
    system = np.repeat(np.arange(9), 40)
    within = rng.normal(size=360)
    within -= (np.bincount(system, weights=within) / 40)[system]
    means, y = rng.normal(size=9)[system], rng.normal(size=360)
    found = swap_test.swap_test(means, means + 5 * within, y, system, 600, rng, group=system)
    assert (found.difference, found.p) == (0, 1)
    worse = swap_test.swap_test(means, means + 5 * within, y + means, system, 600, rng)
    assert worse.p < 0.05


def test_opinions_of_systems_are_evidence_on_these_stories_and_not_for_new_systems() -> None:
    # Two judges, each with opinions of systems of the same size: neither is better over new systems.
    rng = np.random.default_rng(21)
    system = np.repeat(np.arange(8), 20)
    hits = dict.fromkeys(("stories", "systems"), 0)
    for _ in range(120):
        quality = rng.normal(0, 0.5, 8)[system] + rng.normal(size=160)
        y = quality + 0.7 * rng.normal(size=160)
        a, b = (quality + rng.normal(0, 0.6, 8)[system] + rng.normal(size=160) for _ in range(2))
        for name, unit in (("stories", np.arange(160)), ("systems", system)):
            hits[name] += swap_test.swap_test(a, b, y, unit, 256, rng, group=system).p <= 0.05
    assert binomtest(hits["systems"], 120, 0.05, alternative="greater").pvalue > 0.01
    assert binomtest(hits["stories"], 120, 0.05, alternative="greater").pvalue < 1e-4
