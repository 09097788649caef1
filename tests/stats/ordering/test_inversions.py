"""The distribution of inversions, against every order of a few items and scipy's exact test of Kendall's tau."""

from __future__ import annotations

import itertools

import pytest
from scipy.stats import kendalltau

from judge.stats.ordering.ranking import tail


@pytest.mark.parametrize("items", [1, 2, 4, 6])
def test_it_is_counted_over_all_orders(items: int) -> None:
    orders = list(itertools.permutations(range(items)))
    turned = [sum(a > b for a, b in itertools.combinations(order, 2)) for order in orders]
    for least in range(items * (items - 1) // 2 + 2):
        assert tail(items, least) == pytest.approx(sum(n >= least for n in turned) / len(orders), abs=1e-12)


def test_it_is_the_exact_p_of_kendalls_tau() -> None:
    order = [10, 9, 8, 7, 6, 5, 4, 0, 1, 2, 3]
    turned = sum(a > b for a, b in itertools.combinations(order, 2))
    exact = kendalltau(range(11), order, method="exact", alternative="less").pvalue
    assert tail(11, turned) == pytest.approx(exact, abs=1e-12)
