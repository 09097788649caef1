"""Sliding sets: 80 sets and 6,400 pairs as published, by brute force, and how much of the r² is construction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from judge.stats.correlation.sliding_sets import WAYS, resampled, sliding_sets
from judge.stats.resampling import bootstrap


def stories(n: int = 1000, slope: float = 0.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = rng.integers(5, 26, n) / 5
    return slope * people + rng.normal(0, 1, n), people


def means(judge: np.ndarray, people: np.ndarray, starts: range, window: int) -> tuple[list[float], list[float]]:
    order = sorted(range(people.size), key=lambda i: (people[i], i))
    return tuple(
        [float(np.mean([side[order[s + k]] for k in range(window)])) for s in starts] for side in (judge, people)
    )


def test_published_way_is_all_ordered_pairs_of_80_sets() -> None:
    judge, people = stories()
    a, b = means(judge, people, range(0, 800, 10), 200)
    x = [p - q for p in a for q in a]
    y = [p - q for p in b for q in b]
    found = sliding_sets(judge, people)
    assert (found.sets, found.inclusive, found.disjoint) == (80, 81, 5)
    assert (len(x), found.published.n) == (6400, 6400)
    assert found.published.value == pytest.approx(pearsonr(x, y).statistic, abs=1e-10)
    assert found.published.value == pytest.approx(pearsonr(a, b).statistic, abs=1e-10)


def test_honest_ways_by_brute_force() -> None:
    judge, people = stories(seed=1)
    found = sliding_sets(judge, people)
    for way, starts in (("unordered", range(0, 801, 10)), ("apart", range(0, 801, 200))):
        a, b = means(judge, people, starts, 200)
        pairs = [(i, j) for i in range(len(a)) for j in range(i + 1, len(a))]
        r = pearsonr([a[j] - a[i] for i, j in pairs], [b[j] - b[i] for i, j in pairs]).statistic
        assert getattr(found, way).value == pytest.approx(r, abs=1e-10)
        assert getattr(found, way).n == len(pairs)
    assert (found.unordered.n, found.apart.n, found.stories.n) == (3240, 10, 1000)
    assert found.stories.value == pytest.approx(pearsonr(judge, people).statistic, abs=1e-12)


def test_windows_inflate_a_weak_correlation() -> None:
    judge, people = stories(slope=0.15, seed=2)
    found = sliding_sets(judge, people)
    assert found.stories.value**2 < 0.1
    assert found.published.value**2 > 0.8


def test_ties_keep_the_order_given_and_are_counted() -> None:
    people = np.repeat([1.0, 2.0, 3.0], 4)
    judge = np.arange(12.0)
    found = sliding_sets(judge, people, window=3, stride=1)
    assert found.tied == 12
    assert found.published.value == pytest.approx(
        sliding_sets(judge, people + 1e-13, window=3, stride=1).published.value
    )
    shuffled = np.array([3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8])
    other = sliding_sets(judge[shuffled], people[shuffled], window=3, stride=1)
    assert other.published.value != pytest.approx(found.published.value, abs=1e-3)


def test_missing_stories_are_left_out() -> None:
    judge, people = stories(300)
    judge[::7], people[::11] = np.nan, np.nan
    keep = ~(np.isnan(judge) | np.isnan(people))
    found = sliding_sets(judge, people, window=50, stride=5)
    assert found == sliding_sets(judge[keep], people[keep], window=50, stride=5)


def test_fewer_stories_than_a_window_is_undefined() -> None:
    judge, people = stories(199)
    found = sliding_sets(judge, people)
    assert found.published.reason == "undefined with 199 stories: a set holds 200"
    assert found.stories.defined
    few = sliding_sets(*stories(220))
    assert (few.published.reason, few.sets) == ("undefined with 2 sets", 2)
    assert few.unordered.defined
    constant = sliding_sets(np.ones(1000), people=stories()[1])
    assert constant.published.reason == "undefined because one side is constant over the sets"
    with pytest.raises(ValueError, match="must be 1 or more"):
        sliding_sets(judge, people, stride=0)


# Single stories, and units of four of which the last holds 24, so that resamples differ in size.
@pytest.mark.parametrize("unit", [np.arange(120), np.minimum(np.arange(120) // 4, 24)], ids=["stories", "units"])
def test_a_resample_sorts_and_slides_anew(unit: np.ndarray) -> None:
    judge, people = stories(120, seed=3)
    judge[5] = np.nan
    sample = bootstrap.draw(unit, 5, np.random.default_rng(0), "boot")
    found = sample.values(resampled(judge, people, window=30, stride=6))
    order = np.argsort(people, kind="stable")
    for weights, values in zip(sample.weights(), found, strict=True):
        copies = order[np.repeat(np.arange(120), weights[order])]
        expected = sliding_sets(judge[copies], people[copies], window=30, stride=6)
        assert list(values) == pytest.approx([getattr(expected, way).value for way in WAYS], abs=1e-12)
