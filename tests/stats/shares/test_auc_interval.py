"""Score intervals of an AUC: they keep their width, solve their equation, and cover with few stories and clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from judge.contamination.thresholds import area
from judge.stats.ordering.discrimination import score_interval
from tests.benchmarks.simulations.clean_contamination import NAME, scores_file

Z = 1.959963984540054


def separated(m: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Ratings of two classes that are told apart perfectly, and the labels."""
    return np.arange(float(m + k)), np.arange(m + k) >= k


def variance(true: float, m: int, k: int) -> float:
    """Hanley and McNeil's variance (1982), with the mean of both sizes in place of each (Newcombe 2006, method 5)."""
    q1, q2, size = true / (2 - true), 2 * true**2 / (1 + true), (m + k) / 2 - 1
    return (true * (1 - true) + size * (q1 - true**2) + size * (q2 - true**2)) / (m * k)


def binormal(true: float, side: int, each: int, icc: float) -> float:
    """Variance of the area of `side` clusters of `each` normal ratings a class, pair by pair of stories."""
    distance, n = special.ndtri(true), side * each
    book = np.arange(n) // each
    alike = np.where(np.eye(n) == 1, 1.0, np.where(book[:, None] == book, icc, 0.0))
    total = 0.0
    for x, number in zip(*np.unique(alike, return_counts=True), strict=True):
        for y, times in zip(*np.unique(alike, return_counts=True), strict=True):
            if x + y > 0:
                r = (x + y) / 2
                covariance = [[1, min(r, 1 - 1e-9)], [min(r, 1 - 1e-9), 1]]
                both = true if r == 1 else stats.multivariate_normal([0, 0], covariance).cdf([distance, distance])
                total += number * times * (both - true**2)
    return total / n**4


def test_books_told_apart_perfectly_solve_the_equation_with_their_intraclass_correlation() -> None:
    rng = np.random.default_rng(8)
    level = rng.normal(size=12)
    label, book = np.repeat([True, False], 24), np.repeat(np.arange(12), 4)
    rating = level[book] + rng.normal(size=48) + 100 * label
    found = score_interval(rating, label, book)
    between = within = 0.0
    for own in (label, ~label):
        score = special.ndtri((stats.rankdata(rating[own]) - 0.5) / 24).reshape(6, 4)
        between += 4 * ((score.mean(axis=1) - score.mean()) ** 2).sum() / 10
        within += ((score - score.mean(axis=1, keepdims=True)) ** 2).sum() / 36
    icc = (between - within) / (between + 3 * within)
    exponential, normal, clustered = variance(found.low, 24, 24), *(binormal(found.low, 6, 4, r) for r in (0, icc))
    expected = np.sqrt(exponential * normal) * clustered / normal
    assert (1 - found.low) ** 2 == pytest.approx(stats.t.ppf(0.975, 10) ** 2 * expected, rel=1e-4)


@pytest.mark.parametrize(("m", "k"), [(10, 10), (5, 8), (40, 12)])
def test_perfect_separation_has_a_lower_end_that_solves_the_equation(m: int, k: int) -> None:
    rating, label = separated(m, k)
    found = score_interval(rating, label)
    assert (found.value, found.high, found.n) == (1.0, 1.0, m + k)
    assert found.low is not None
    assert (1 - found.low) ** 2 == pytest.approx(Z**2 * variance(found.low, m, k), rel=1e-4)
    turned = score_interval(rating, ~label)
    assert (turned.low, turned.high) == pytest.approx((0.0, 1 - found.low))


def test_clusters_of_equal_ratings_count_as_one_story_each() -> None:
    rng = np.random.default_rng(3)
    level = rng.normal(size=16) + np.repeat([1.0, 0.0], 8)
    label = np.repeat([True, False], 8)
    rating, labels, book = np.repeat(level, 5), np.repeat(label, 5), np.repeat(np.arange(16), 5)
    alone, clustered, plain = (
        score_interval(level, label),
        score_interval(rating, labels, book),
        score_interval(rating, labels),
    )
    assert alone.value == clustered.value == plain.value
    widths = [one.high - one.low for one in (plain, alone, clustered)]
    assert widths[0] < 0.6 * widths[1] < widths[1] < widths[2]
    assert clustered.method == "score, clustered, 95 %"


@pytest.mark.parametrize("true", [0.7, 0.983])
def test_the_interval_holds_the_true_area_with_few_texts(true: float) -> None:
    rng, label = np.random.default_rng(4), np.repeat([True, False], 10)
    held = 0
    for _ in range(400):
        found = score_interval(rng.normal(size=20) + label * np.sqrt(2) * special.ndtri(true), label)
        held += found.low <= true <= found.high
        assert found.high > found.low
    # 95 % with four standard errors of 400 studies; percentiles of resamples hold .983 in half of them.
    assert 0.906 <= held / 400 <= 0.994


def test_the_interval_holds_the_true_area_with_five_books_a_side() -> None:
    rng, label = np.random.default_rng(5), np.repeat([True, False], 50)
    book, true, held = np.repeat(np.arange(10), 10), 0.85, 0
    for _ in range(200):
        noise = np.sqrt(0.4) * rng.normal(size=10)[book] + np.sqrt(0.6) * rng.normal(size=100)
        found = score_interval(noise + label * np.sqrt(2) * special.ndtri(true), label, book)
        held += found.low <= true <= found.high
    assert 0.904 <= held / 200 <= 0.996  # 95 % with three standard errors


def test_ratings_that_are_all_equal_say_little() -> None:
    found = score_interval(np.full(20, 3.0), np.arange(20) < 10)
    assert found.value == 0.5
    assert found.high - found.low > 0.4


def test_undefined_with_its_reason() -> None:
    label = np.array([True, False, False, False])
    assert score_interval(np.arange(4.0), np.ones(4, dtype=bool)).value is None
    alone = score_interval(np.arange(4.0), label)
    assert (alone.value, alone.low, alone.reason) == (0.0, None, "no interval: a class has one story only")
    books = score_interval(np.arange(6.0), np.arange(6) < 3, np.array([0, 0, 0, 1, 2, 2]))
    assert books.reason == "no interval: a class has one cluster only"


def test_a_contamination_score_that_tells_all_texts_apart_has_an_interval() -> None:
    rating, label = separated(10, 10)
    texts = area(scores_file("set", rating, label, None), NAME, label)
    books = area(scores_file("set", rating, label, np.arange(20) // 2), NAME, label)
    assert (texts.method, books.method) == ("texts, score, 95 %", "books, score, clustered, 95 %")
    assert books.low < texts.low < texts.value == texts.high == 1.0
