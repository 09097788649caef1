"""Stratified draws: every unit's chance is what its weight says, and strata get what they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.stats.estimation.stratified import allocate, draw, thin

SIZES = np.array([40, 3, 0, 7, 10])
STRATUM = np.repeat(np.arange(SIZES.size), SIZES)
ORDER = np.arange(STRATUM.size) % 4


@pytest.mark.parametrize(("allocation", "n"), [("equal", 16), ("equal", 3), ("proportional", 9), ("equal", 2)])
def test_a_unit_is_drawn_as_often_as_its_weight_says(allocation: str, n: int) -> None:
    rng = np.random.default_rng(5)
    times = 4000
    seen, total = np.zeros(STRATUM.size), np.zeros(times)
    for k in range(times):
        one = draw(STRATUM, ORDER, n, rng, allocation)  # type: ignore[arg-type]
        assert one.unit.size == n == np.unique(one.unit).size == one.drawn.sum()
        seen[one.unit] += 1
        total[k] = one.weight.sum()
    chance = seen / times
    for h in range(SIZES.size):
        inside = chance[h == STRATUM]
        if inside.size:
            # Within a stratum all have the same chance; 5 standard errors of a share of 4,000.
            expected = inside.mean()
            assert np.abs(inside - expected).max() < 5 * np.sqrt(expected * (1 - expected) / times) + 1e-9
    # The weights of a sample add up to the population: always, or, where strata are left out, on average.
    if n >= 4:
        assert total == pytest.approx(STRATUM.size)
    else:
        assert total.mean() == pytest.approx(STRATUM.size, abs=5 * total.std() / np.sqrt(times))


def test_weights_undo_unequal_strata() -> None:
    rng = np.random.default_rng(1)
    value = np.where(STRATUM == 0, 0.0, 1.0)  # the large stratum differs from the small ones
    plain, weighted = [], []
    for _ in range(500):
        one = draw(STRATUM, ORDER, 12, rng, "equal")
        plain.append(value[one.unit].mean())
        weighted.append(one.weight @ value[one.unit] / one.weight.sum())
    assert np.mean(weighted) == pytest.approx(value.mean(), abs=1e-9)
    assert np.mean(plain) > value.mean() + 0.2


def test_a_sample_spreads_over_the_order() -> None:
    stratum, order = np.zeros(100, dtype=np.int64), np.repeat(np.arange(5), 20)
    one = draw(stratum, order, 10, np.random.default_rng(3), "equal")
    assert np.bincount(order[one.unit]).tolist() == [2] * 5


def test_everything_is_drawn_where_there_is_no_more() -> None:
    one = draw(STRATUM, ORDER, 1000, np.random.default_rng(1), "equal")
    assert one.unit.tolist() == list(range(STRATUM.size))
    assert one.weight.tolist() == [1.0] * STRATUM.size
    with pytest.raises(ValueError, match="cannot draw 0"):
        draw(STRATUM, ORDER, 0, np.random.default_rng(1), "equal")


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any), st.data())
def test_shares_are_as_equal_as_they_can_be(sizes: list[int], data: st.DataObject) -> None:
    size = np.array(sizes)
    n = data.draw(st.integers(1, int(size.sum())))
    given_ = allocate(size, n, np.random.default_rng(0))
    assert given_.sum() == n
    assert (given_ <= size).all()
    # Whoever could have had more has at most one less than whoever has most.
    could = given_[given_ < size]
    assert could.size == 0 or could.min() >= given_.max() - 1


def test_thinning_keeps_k_of_a_group_by_chance() -> None:
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1, 2], [1, 4, 9])
    seen = np.zeros(group.size)
    for _ in range(3000):
        kept, stands = thin(group, 2, rng)
        assert np.bincount(group[kept]).tolist() == [1, 2, 2]
        assert stands.tolist() == [1.0, 2.0, 2.0, 4.5, 4.5]
        seen[kept] += 1
    assert seen / 3000 == pytest.approx(np.repeat([1, 1 / 2, 2 / 9], [1, 4, 9]), abs=0.045)
