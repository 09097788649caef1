"""Pairwise accuracy: a naive count of all pairs, scipy's Somers' D, edge cases, and resamples against copies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import somersd

from judge.stats.ordering.pairwise_accuracy import PairCounts, pair_table
from judge.stats.resampling import bootstrap

RNG = np.random.default_rng


def naive(judge: np.ndarray, people: np.ndarray, unit: np.ndarray | None = None) -> PairCounts:
    """Every pair looked at in turn; with `unit` only pairs of one unit."""
    concordant = discordant = tied_people = tied_judge = tied_both = 0
    for i in range(judge.size):
        for j in range(i + 1, judge.size):
            if np.isnan(judge[[i, j]]).any() or np.isnan(people[[i, j]]).any():
                continue
            if unit is not None and unit[i] != unit[j]:
                continue
            a, b = round(judge[i] - judge[j], 9), round(people[i] - people[j], 9)
            concordant += a * b > 0
            discordant += a * b < 0
            tied_people += b == 0 and a != 0
            tied_judge += a == 0 and b != 0
            tied_both += a == 0 and b == 0
    return PairCounts(concordant, discordant, tied_people, tied_judge, tied_both)


def data(seed: int, n: int = 60, units: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ratings in thirds with ties and gaps, and a unit for each story."""
    rng = RNG(seed)
    people = rng.integers(3, 16, n) / 3
    judge = np.clip(np.round(people + rng.normal(0, 1, n)), 1, 5)
    judge[rng.random(n) < 0.1] = np.nan
    people[rng.random(n) < 0.1] = np.nan
    return judge, people, rng.integers(0, units, n)


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_a_naive_loop(seed: int) -> None:
    judge, people, unit = data(seed)
    assert pair_table(judge, people).counts == naive(judge, people)
    assert pair_table(judge, people, unit).counts == naive(judge, people)
    assert pair_table(judge, people, unit, within=True).counts == naive(judge, people, unit)


def test_half_credit_is_somers_d_on_the_scale_of_an_accuracy() -> None:
    judge, people, _ = data(3, n=200)
    keep = ~(np.isnan(judge) | np.isnan(people))
    d = somersd(people[keep], judge[keep]).statistic  # (C - D) / pairs not tied on its first argument
    found = pair_table(judge, people).accuracy("half")
    assert found.value == pytest.approx((1 + d) / 2, abs=1e-12)
    assert found.n == naive(judge, people).comparable


def test_strict_accuracy_takes_the_judges_ties_for_errors() -> None:
    # Pairs of people: 1<2, 1<3, 2<3. Judge: tie, right, right.
    table = pair_table(np.array([4.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))
    assert table.accuracy("strict").value == pytest.approx(2 / 3)
    assert table.accuracy("half").value == pytest.approx(2.5 / 3)
    assert table.counts == PairCounts(2, 0, 0, 1, 0)


def test_within_units_the_accuracies_of_the_units_are_averaged() -> None:
    judge = np.array([1.0, 2.0, 3.0, 2.0, 1.0, 5.0])
    people = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 4.0])
    unit = np.array([0, 0, 0, 1, 1, 2])
    found = pair_table(judge, people, unit, within=True).accuracy("strict")
    assert found.value == pytest.approx((3 / 3 + 0 / 1) / 2)
    assert (found.n, found.method) == (2, "mean of 2 of 3 units")


@pytest.mark.parametrize(("judge", "people"), [([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]), ([1.0], [1.0]), ([], [])])
def test_without_a_comparable_pair_it_is_undefined(judge: list[float], people: list[float]) -> None:
    for within in (False, True):
        table = pair_table(np.array(judge), np.array(people), np.zeros(len(judge), dtype=int), within=within)
        found = table.accuracy("strict")
        assert found.value is None
        assert found.reason == "undefined because people tie every pair of stories"


def test_noise_of_1e_16_breaks_no_tie() -> None:
    people = np.array([2.4930555555555554, 2.493055555555556, 3.0])
    assert pair_table(np.array([1.0, 2.0, 3.0]), people).counts == PairCounts(2, 0, 1, 0, 0)


def test_blocks_join_to_all_pairs(monkeypatch) -> None:
    monkeypatch.setattr("judge.stats.ordering.pairwise_accuracy._BLOCK", 150)
    judge, people, unit = data(1)
    assert pair_table(judge, people, unit).counts == naive(judge, people)


@pytest.mark.parametrize("within", [False, True])
def test_a_resample_is_the_accuracy_of_copied_units_without_a_story_against_itself(within: bool) -> None:
    judge, people, unit = data(6, n=40, units=8)
    table = pair_table(judge, people, unit, within=within)
    drawn = bootstrap.draw(unit, 6, RNG(0), "boot-inputs")
    found = drawn.values(table.resampled("half"))
    for counts, value in zip(drawn.counts, found, strict=True):
        copies = np.concatenate([np.flatnonzero(unit == u) for u in np.repeat(np.arange(8), counts)])
        right = total = 0.0
        ratios = []
        if within:
            for u in np.repeat(np.arange(8), counts):
                part = naive(judge[unit == u], people[unit == u])
                if part.comparable:
                    ratios.append((part.concordant + part.tied_judge / 2) / part.comparable)
            assert value == pytest.approx(np.mean(ratios))
            continue
        for a in range(copies.size):
            for b in range(a + 1, copies.size):
                if copies[a] != copies[b]:
                    part = naive(judge[copies[[a, b]]], people[copies[[a, b]]])
                    right += part.concordant + part.tied_judge / 2
                    total += part.comparable
        assert value == pytest.approx(right / total)
