"""Association of loss with groups and numbers: scipy's numbers, and silence where there is nothing to test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge.stats.estimation.proportions import with_group, with_number

RNG = np.random.default_rng


def test_two_groups_use_fishers_exact_test() -> None:
    lost = np.array([True] * 8 + [False] * 12 + [True] * 1 + [False] * 19)
    found = with_group(lost, np.repeat([0, 1], 20), RNG(0))
    assert found.test == "Fisher exact"
    assert found.p == pytest.approx(stats.fisher_exact([[8, 1], [12, 19]]).pvalue)
    assert found.effect == pytest.approx(stats.contingency.association([[8, 1], [12, 19]], method="cramer"))


def test_many_groups_use_chi_squared_where_counts_allow() -> None:
    rng = RNG(1)
    group = rng.integers(0, 4, 400)
    lost = rng.random(400) < 0.2 + 0.05 * group
    table = np.array([[((group == g) & (lost == v)).sum() for g in range(4)] for v in (True, False)])
    found = with_group(lost, group, rng)
    assert found.test == "chi2"
    assert found.p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_small_counts_are_permuted_with_the_seed_given() -> None:
    group = np.repeat(np.arange(5), 6)
    lost = np.zeros(30, dtype=bool)
    lost[:4] = True
    found = with_group(lost, group, RNG(3))
    assert found.test == "chi2, permuted"
    assert found.p == with_group(lost, group, RNG(3)).p
    assert found.p < 0.01
    # Uninformative loss: one from each of four groups is about as even as it gets.
    even = np.zeros(30, dtype=bool)
    even[[0, 6, 12, 18]] = True
    assert with_group(even, group, RNG(3)).p > 0.8


def test_numbers_use_mann_whitney_with_the_auc() -> None:
    rng = RNG(2)
    number = rng.normal(size=80)
    lost = number + rng.normal(size=80) > 1
    number[3] = np.nan
    found = with_number(lost, number)
    keep = ~np.isnan(number)
    assert found.p == pytest.approx(stats.mannwhitneyu(number[keep & lost], number[keep & ~lost]).pvalue, rel=0.05)
    assert found.correlation == pytest.approx(stats.pointbiserialr(lost[keep], number[keep]).statistic)
    assert found.effect > 0.7
    assert found.n == 79


def test_mann_whitney_is_scipys_with_ties_too() -> None:
    rng = RNG(3)
    for size in (2, 5, 17, 60):
        number = rng.integers(0, 6, size).astype(np.float64)
        lost = np.arange(size) < max(1, size // 3)
        number[0], number[-1] = 0, 6
        theirs = stats.mannwhitneyu(number[lost], number[~lost], alternative="two-sided", method="asymptotic")
        found = with_number(lost, number)
        assert found.p == pytest.approx(theirs.pvalue, rel=1e-12)
        assert found.effect == pytest.approx(theirs.statistic / (lost.sum() * (~lost).sum()), rel=1e-12)


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        ([False] * 5, "nothing was lost"),
        ([True] * 5, "everything was lost"),
        ([], "nothing is known about these stories"),
    ],
)
def test_nothing_to_test_is_said(lost: list[bool], reason: str) -> None:
    flags = np.array(lost, dtype=bool)
    assert with_number(flags, np.arange(float(flags.size))).reason == reason
    found = with_group(flags, np.arange(flags.size) % 2, RNG(0))
    assert (found.reason, found.p) == (reason, None)
