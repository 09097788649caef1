"""Comparisons at equal quality: no bias where error, a curve or opinions of systems could look like one."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.bias import given_quality
from judge.stats.bias.given_quality import GivenQuality, OwnPreference
from judge.stats.resampling import jackknife

N, SYSTEMS, PEOPLE = 40_000, 8, 3
RNG = np.random.default_rng(0)
SYSTEM = np.arange(N) % SYSTEMS
LENGTH = RNG.standard_normal(N)
QUALITY = 0.5 * LENGTH + RNG.standard_normal(N) + 0.4 * (SYSTEM - 3.5) / 3.5
ONES = np.ones((1, N))


def _people(quality: np.ndarray = QUALITY, error: float = 1.2) -> np.ndarray:
    return quality[:, None] + error * np.random.default_rng(5).standard_normal((N, PEOPLE))


def test_a_judge_that_rates_quality_has_no_length_slope_however_noisy_people_are() -> None:
    people = _people()
    honest = GivenQuality.of(QUALITY, people, SYSTEM, exact=LENGTH)
    biased = GivenQuality.of(QUALITY + 0.25 * LENGTH, people, SYSTEM, exact=LENGTH)
    assert honest.reason() is None
    assert honest.slope(ONES)[0] == pytest.approx(0, abs=0.02)
    assert biased.slope(ONES)[0] == pytest.approx(0.25, abs=0.02)
    # Least squares without the correction would blame an honest judge for the error of people.
    design = np.stack([np.ones(N), people.mean(axis=1), LENGTH], axis=1)
    assert np.linalg.lstsq(design, QUALITY, rcond=None)[0][2] > 0.1


def test_a_curve_between_the_scales_is_no_taste_for_length() -> None:
    """People's ratings bend away from the judge's, as they do near the end of a scale; a line leaves a slope."""
    bent = _people(-np.exp(-0.4 * QUALITY), error=0.3)
    given = GivenQuality.of(QUALITY, bent, SYSTEM, exact=LENGTH)
    line, curve = (abs(given.slope(ONES, curved=curved)[0]) for curved in (False, True))
    assert line > 0.02
    assert curve < line / 3


def test_opinions_of_systems_move_no_slope_and_are_found_at_equal_quality() -> None:
    opinions = np.array([0.5, 0, 0, 0, -0.5, 0, 0, 0])
    judge = 0.6 * QUALITY + opinions[SYSTEM] + 2 * LENGTH * 0
    given = GivenQuality.of(judge, _people(), SYSTEM)
    found = given.opinions(ONES)[0]
    assert found - found.mean() == pytest.approx(opinions - opinions.mean(), abs=0.04)
    assert GivenQuality.of(judge, _people(), SYSTEM, exact=LENGTH).slope(ONES)[0] == pytest.approx(0, abs=0.02)


def test_other_criteria_are_told_from_the_criterion_itself_with_error_in_both() -> None:
    rng = np.random.default_rng(6)
    other = 0.7 * QUALITY + rng.standard_normal(N)
    person = rng.standard_normal((N, PEOPLE))  # what one person's two ratings of a story share
    first = QUALITY[:, None] + person + 0.5 * rng.standard_normal((N, PEOPLE))
    second = other[:, None] + person + 0.5 * rng.standard_normal((N, PEOPLE))
    honest = GivenQuality.of(QUALITY, first, SYSTEM, other=second)
    mixed = GivenQuality.of(0.8 * QUALITY + 0.2 * other, first, SYSTEM, other=second)
    assert honest.slope(ONES)[0] == pytest.approx(0, abs=0.02)
    assert mixed.slope(ONES)[0] == pytest.approx(0.2, abs=0.02)


def test_what_cannot_be_corrected_for_says_so() -> None:
    rng = np.random.default_rng(7)
    noise = rng.standard_normal((500, 3))
    system = np.arange(500) % 5
    assert GivenQuality.of(noise[:, 0], noise, system).reason() == given_quality.NO_QUALITY
    assert GivenQuality.of(noise[:, 0], noise[:, :1], system).reason() == given_quality.RATED_ONCE
    ratings = np.where(np.random.default_rng(8).random((500, 3)) < 0.5, 1.0, 3.0)
    assert given_quality.share_at_end(ratings) > given_quality.MOST_AT_END
    crowded = GivenQuality.of(noise[:, 0], ratings, system, at_end=given_quality.share_at_end(ratings))
    assert crowded.reason() == given_quality.CROWDED
    same = GivenQuality.of(QUALITY, _people(error=0.1), SYSTEM, exact=QUALITY + 1e-3 * LENGTH)
    assert same.reason() == given_quality.NO_OTHER


def test_preference_counts_systems_not_stories() -> None:
    """An opinion of the own system as large as those of the others is none, however many stories show it."""
    opinions = np.array([0.5, -0.6, 0.4, 0.3, -0.5, 0.2, -0.3, 0.0])
    prompts = np.arange(N) // SYSTEMS % 60
    people, own = _people(error=0.5), SYSTEM == 0
    usual = OwnPreference(GivenQuality.of(QUALITY + opinions[SYSTEM], people, SYSTEM), own).test(prompts)
    assert usual.df == SYSTEMS - 2
    assert usual.p is not None
    assert usual.p > 0.1
    large = OwnPreference(GivenQuality.of(QUALITY + 4 * own + opinions[SYSTEM], people, SYSTEM), own).test(prompts)
    assert large.p is not None
    assert large.p < 0.001


def test_a_bound_on_bias_lengthens_the_interval_and_weakens_the_test() -> None:
    values = np.random.default_rng(9).standard_normal(400) + 0.3
    cluster, used = np.arange(400) // 10, np.ones(400, dtype=bool)

    def mean(weights: np.ndarray) -> np.ndarray:
        return weights @ values / weights.sum(axis=1)

    plain = jackknife.against_zero(mean, cluster, used)
    bounded = jackknife.against_zero(mean, cluster, used, bias=0.1)
    assert bounded.se == plain.se
    assert bounded.estimate.low == pytest.approx(plain.estimate.low - 0.1)
    assert bounded.estimate.high == pytest.approx(plain.estimate.high + 0.1)
    assert bounded.p > plain.p
    assert jackknife.against_zero(mean, cluster, used, bias=1.0).p == 1
    few = jackknife.against_zero(mean, cluster, used, informative=5)
    assert (few.df, plain.df) == (4, 39)
