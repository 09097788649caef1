"""One rater beside the others: agreement beyond chance by hand, a copy, a turned scale, and what cannot be told."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.bias.rating_bias import LEAST_STORIES, against_others, excess_agreement, kappa_of_people

NAN = float("nan")
PROMPTS = np.repeat(np.arange(12), 5)


def readers(rng: np.random.Generator, count: int, n: int = 60) -> np.ndarray:
    quality = rng.normal(0, 1, n)
    return np.clip(np.round(3 + quality[:, None] + rng.normal(0, 1, (n, count))), 1, 5)


def test_fleiss_kappa_of_the_published_example() -> None:
    # Fleiss 1971, Psychological Bulletin 76, table 1: 30 patients, 6 raters, 5 categories; kappa .430 (p. 380).
    counts = """0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0|2 0 0 4 0|0 0 0 0 6
        |1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2|5 1 0 0 0|0 2 0 4 0|1 0 2 0 3
        |0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0|4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6"""
    rows = [[int(count) for count in row.split()] for row in counts.split("|")]
    ratings = np.array([np.repeat(np.arange(5.0), row) for row in rows])
    assert kappa_of_people(ratings) == pytest.approx(0.430, abs=5e-4)


def test_people_who_rated_nothing_twice_have_no_kappa() -> None:
    assert np.isnan(kappa_of_people(np.array([[1.0, NAN], [NAN, 2.0]])))
    assert np.isnan(kappa_of_people(np.full((4, 2), 3.0)))


def test_excess_agreement_by_hand() -> None:
    # Ratings 1 and 2 in turn by judge and rater: kappa 1. The other says 1 to the first half and 2 to the second: it
    # equals either in half of the stories, as chance has it, kappa 0.
    rater, other, prompts = np.tile([1.0, 2.0], 20), np.repeat([1.0, 2.0], 20), np.arange(40) // 4
    test = excess_agreement(rater[:, None], rater, other[:, None], prompts, beyond=0.5)
    assert test.estimate.value == pytest.approx(1.0)
    # The judge turns the first of every four stories round: equal in 3/4 where chance has 3/4 x 1/2 + 1/4 x 1/2 = 1/2,
    # kappa 1/2. The first of four is a 1 of the rater's, so that it says 2 to 3/4 of the stories, and equals the other
    # in half of them, kappa 0.
    judge = np.where(np.arange(40) % 4 == 0, 3 - rater, rater)
    test = excess_agreement(judge[:, None], rater, other[:, None], prompts, beyond=0.5)
    assert test.estimate.value == pytest.approx(0.5)


def test_a_copy_is_found_and_one_more_person_is_not() -> None:
    rng = np.random.default_rng(1)
    people = readers(rng, 3)
    copy = excess_agreement(people[:, :1], people[:, 0], people[:, 1:], PROMPTS, beyond=0.5)
    assert copy.p is not None
    assert copy.p < 0.001
    honest = [
        excess_agreement(drawn[:, 3:], drawn[:, 0], drawn[:, 1:3], PROMPTS, beyond=0.5).p
        for drawn in (readers(rng, 4) for _ in range(100))
    ]
    assert sum(p is not None and p < 0.05 for p in honest) <= 5


def test_a_turned_scale_has_a_correlation_wholly_below_zero() -> None:
    people = readers(np.random.default_rng(2), 3)
    test = against_others(6 - people[:, 0], people[:, 1:], PROMPTS)
    r = np.corrcoef(6 - people[:, 0], people[:, 1:].mean(axis=1))[0, 1]
    assert test.estimate.value == pytest.approx(r)
    assert test.estimate.low is not None
    assert test.estimate.high is not None
    assert -1 <= test.estimate.low < test.estimate.high < 0
    assert test.p is not None
    assert test.p < 0.001
    same = against_others(people[:, 0], people[:, 1:], PROMPTS)
    assert same.p is not None
    assert same.p > 0.99


def test_interval_of_a_perfect_correlation_stays_a_correlation() -> None:
    own = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 12)
    noisy = own + np.random.default_rng(3).normal(0, 0.01, own.size)
    estimate = against_others(own, noisy[:, None], PROMPTS).estimate
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low <= estimate.high <= 1


@pytest.mark.parametrize("stories", [0, LEAST_STORIES - 1])
def test_few_stories_are_no_test(stories: int) -> None:
    people = readers(np.random.default_rng(4), 3)
    people[stories:, 0] = NAN
    reason = f"undefined with fewer than {LEAST_STORIES} stories"
    copied = excess_agreement(people[:, :1], people[:, 0], people[:, 1:], PROMPTS, beyond=0.5)
    turned = against_others(people[:, 0], people[:, 1:], PROMPTS)
    for test in (copied, turned):
        assert test.p is None
        assert str(test.estimate.reason).startswith(reason)


def test_the_error_of_a_correlation_with_the_others_is_that_of_a_loop() -> None:
    rng = np.random.default_rng(21)
    prompt = np.repeat(np.arange(8), [1, 9, 2, 5, 1, 3, 4, 6])
    own = np.round(rng.normal(size=prompt.size) * 2 + prompt)
    others = np.round(own[:, None] / 3 + rng.normal(size=(prompt.size, 2)) * 3)
    test = against_others(own, others, prompt)
    mean = others.mean(axis=1)
    left = [np.arctanh(np.corrcoef(own[prompt != p], mean[prompt != p])[0, 1]) for p in range(8)]
    assert test.se == pytest.approx(np.sqrt(7 / 8 * np.sum((left - np.mean(left)) ** 2)), rel=1e-9)
    assert test.estimate.value == pytest.approx(np.corrcoef(own, mean)[0, 1], rel=1e-9)
