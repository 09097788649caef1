"""Ranks, their intervals and sets, and letters: against R's multcompView, and exhaustively on small sets of systems."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from judge.stats.estimation import paired_differences
from judge.stats.ordering import ranking


def test_equal_means_share_the_better_rank() -> None:
    # The third mean differs from the second by rounding noise only.
    np.testing.assert_array_equal(ranking.ranks(np.array([2.0, 3.0, 3.0 + 4e-16, 1.0])), [3, 1, 1, 4])
    np.testing.assert_array_equal(ranking.ranks(np.array([[1.0, np.nan, 2.0]])), [[2, np.nan, 1]])


def test_rank_intervals_are_whole_ranks_from_the_resamples() -> None:
    rng = np.random.default_rng(0)
    centre = np.array([3.0, 2.0, 1.9, np.nan])
    drawn = centre + rng.normal(0, 0.2, size=(2000, 4))
    found = ranking.rank_intervals(centre, drawn)
    assert [one.value for one in found] == [1, 2, 3, None]
    assert (found[0].low, found[0].high) == (1, 1)
    assert [(one.low, one.high) for one in found[1:3]] == [(2, 3), (2, 3)]
    assert found[3].reason == "no rating"
    best = ranking.chance_of_best(np.array([3.0, 2.9]), np.array([[3.0, 2.0], [2.0, 3.0], [2.5, 2.5], [3.0, 2.0]]))
    assert best == pytest.approx([0.625, 0.375])


def test_resamples_without_one_of_the_systems_are_counted() -> None:
    drawn = np.tile([2.0, 1.0], (100, 1))
    drawn[:6, 1] = np.nan
    found = ranking.rank_intervals(np.array([2.0, 1.0]), drawn)
    assert found[0].value == 1
    assert found[0].reason == "no interval: undefined in 6 of 100 resamples"
    assert ranking.rank_intervals(np.array([2.0, 1.0]), drawn[4:])[0].low == 1


def test_rank_sets_count_the_systems_told_apart() -> None:
    higher = np.zeros((4, 4), dtype=bool)
    higher[0, [2, 3]] = higher[1, 3] = True
    assert ranking.rank_sets(higher) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_rank_sets_hold_the_true_ranks_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    quality = np.array([3.0, 2.8, 2.75, 2.2])
    hits = 0
    for _ in range(300):
        table = rng.normal(size=(40, 1)) + quality + rng.normal(0, 0.6, size=(40, 4))
        family = paired_differences.adjusted(paired_differences.all_pairs(table))
        sets = ranking.rank_sets(paired_differences.told_apart(family, 4))
        hits += all(low <= rank <= high for rank, (low, high) in zip((1, 2, 3, 4), sets, strict=True))
    assert hits / 300 >= 0.93  # 0.95 less two Monte Carlo errors


def _different(count: int, told: list[str]) -> np.ndarray:
    different = np.zeros((count, count), dtype=bool)
    for pair in told:
        i, j = (ord(letter) - ord("A") for letter in pair)
        different[i, j] = different[j, i] = True
    return different


# R 4.2.2, multcompView 0.1-8, multcompLetters of the pairs told apart; letters renamed from the first system down.
R_LETTERS = [
    ("AD AE AF AG BE BF BG CF CG DG AC", ["a", "ab", "bc", "bcd", "cde", "de", "e"]),
    ("AB AD AE BC BD DF EG FG", ["ab", "cd", "abefg", "ef", "ceg", "acg", "bdf"]),
]


@pytest.mark.parametrize(("told", "expected"), R_LETTERS)
def test_letters_are_those_of_multcompview(told: str, expected: list[str]) -> None:
    found = ranking.letters(_different(7, told.split()), np.arange(7, 0, -1.0))
    assert _groups(found) == _groups(expected)


def _groups(letters: list[str]) -> set[frozenset[int]]:
    names = set("".join(letters))
    return {frozenset(s for s, own in enumerate(letters) if name in own) for name in names}


def test_two_systems_share_a_letter_exactly_when_they_were_not_told_apart() -> None:
    pairs = list(combinations(range(5), 2))
    for flags in product([False, True], repeat=len(pairs)):
        different = np.zeros((5, 5), dtype=bool)
        for (i, j), flag in zip(pairs, flags, strict=True):
            different[i, j] = different[j, i] = flag
        found = ranking.letters(different, np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
        for i, j in pairs:
            assert bool(set(found[i]) & set(found[j])) != different[i, j]
        groups = _groups(found)
        assert not any(a < b for a in groups for b in groups)


def test_letters_start_at_the_highest_mean_and_skip_systems_without_one() -> None:
    found = ranking.letters(_different(4, ["AC"]), np.array([1.0, 2.0, 3.0, np.nan]))
    assert found == ["b", "ab", "a", ""]
    assert ranking.letters(np.zeros((2, 2), dtype=bool), np.full(2, np.nan)) == ["", ""]
    assert len(set(ranking.letters(~np.eye(30, dtype=bool), np.arange(30.0)))) == 30
