"""Crossed random effects against lme4 and ANOVA, the study's shuffled raters, coverage, and what is undefined."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from judge.stats.agreement import icc
from judge.stats.agreement.crossed_effects import CrossedEffects, crossed_effects

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def _of_table(ratings: np.ndarray) -> CrossedEffects:
    story, rater = np.indices(ratings.shape)
    return crossed_effects(story.ravel(), rater.ravel(), ratings.ravel(), k=ratings.shape[1])


def _simulated(
    rng: np.random.Generator, stories: int, raters: int, each: int, sd: tuple[float, float, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Story, rater and rating of `each` ratings a story by raters drawn by chance; sd of story, rater, error."""
    story = np.repeat(np.arange(stories), each)
    rater = np.concatenate([rng.choice(raters, each, replace=False) for _ in range(stories)])
    effects = rng.normal(0, sd[0], stories)[story] + rng.normal(0, sd[1], raters)[rater]
    return story, rater, 3 + effects + rng.normal(0, sd[2], story.size)


# R 4.2.2, lme4 1.1.31 (Debian 12); command, in tests/golden: Rscript crossed_effects.R
# The interval is from lme4's own REML deviance function, profiled over the other share by R's optimize and uniroot.
@pytest.mark.parametrize("name", ["three_each", "uneven", "more_raters", "no_rater", "no_story", "points"])
def test_unbalanced_ratings_give_lme4s_numbers(name: str) -> None:
    with (GOLDEN / "crossed_effects.csv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(line for line in stream if not line.startswith("#"))
        theirs = {row["quantity"]: float(row["value"]) for row in rows if row["data"] == name}
    with (GOLDEN / f"crossed_effects_{name}.csv").open(encoding="utf-8", newline="") as stream:
        data = [(int(row["story"]), int(row["rater"]), float(row["y"])) for row in csv.DictReader(stream)]
    story, rater, rating = (np.array(column) for column in zip(*data, strict=True))
    ours = crossed_effects(story, rater, rating, k=3)
    assert (ours.story, ours.rater, ours.error) == pytest.approx(
        (theirs["story"], theirs["rater"], theirs["error"]), rel=1e-4, abs=1e-7
    )
    assert ours.single.value == pytest.approx(theirs["icc"], abs=1e-5)
    assert (ours.single.low, ours.single.high) == pytest.approx((theirs["low"], theirs["high"]), abs=1e-4)
    assert (ours.boundary is not None) == (name in ("no_rater", "no_story"))


@pytest.mark.parametrize(("n", "k", "seed"), [(40, 4, 1), (12, 9, 3), (300, 3, 2), (5, 20, 4)])
def test_complete_ratings_give_the_anova_values(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.7, (1, k)) + rng.normal(0, 0.8, (n, k))
    ours, anova = _of_table(ratings), icc.family(ratings)
    ms = icc.mean_squares(ratings)
    assert float(ms.between) > float(ms.residual) < float(ms.columns)  # positive components: REML is ANOVA
    assert ours.single.value == pytest.approx(anova["ICC(2,1)"].estimate.value, abs=1e-6)
    assert ours.average.value == pytest.approx(anova["ICC(2,k)"].estimate.value, abs=1e-6)
    assert ours.rater == pytest.approx(float(ms.columns - ms.residual) / n, rel=1e-4)
    assert (ours.stories, ours.raters, ours.ratings) == (n, k, n * k)


def test_swapping_who_is_larger_changes_nothing() -> None:
    story, rater, rating = _simulated(np.random.default_rng(5), 14, 30, 12, (0.8, 0.6, 0.7))
    ours = crossed_effects(story, rater, rating, k=3)
    other = crossed_effects(rater, story, rating, k=3)
    assert (other.story, other.rater) == pytest.approx((ours.rater, ours.story), rel=1e-4)


def test_missing_ratings_are_left_out_and_codes_may_be_any_numbers() -> None:
    story, rater, rating = _simulated(np.random.default_rng(6), 30, 6, 3, (0.8, 0.6, 0.7))
    gaps = rating.copy()
    gaps[::7] = np.nan
    kept = ~np.isnan(gaps)
    expected = crossed_effects(story[kept], rater[kept], rating[kept], k=3)
    assert crossed_effects(story * 10 + 5, rater - 100, gaps, k=3) == expected


def test_shuffling_who_gave_which_rating_destroys_the_agreement_that_is_there() -> None:
    # The design that explains the HANNA score file: three raters with leniency -1.2, 0 and +1.2, standard deviation of
    # stories .45 and of noise 1. With identities ICC(A,3) = .2025 / (.2025 + (1.44 + 1) / 3) = .20 in expectation (.22
    # in the published draw); with each story's ratings shuffled (1,k) = 1 - 2.44 / 1.6075 = -.52 (-.41 in that draw).
    rng = np.random.default_rng(0)
    n = 1056
    kept = rng.normal(0, 0.45, (n, 1)) + np.array([-1.2, 0, 1.2]) + rng.normal(0, 1, (n, 3))
    shuffled = rng.permuted(kept, axis=1)
    found = _of_table(kept)
    assert found.average.value == pytest.approx(0.20, abs=0.04)
    assert found.average.low < 0.05
    assert found.rater == pytest.approx(1.44, abs=0.2)
    anova = icc.family(shuffled)
    # A reliability of -.62 does not exist: it is undefined, and the reason names what the formula gives.
    assert anova["ICC(2,k)"].estimate.value is None
    assert "the formula gives -0.62" in str(anova["ICC(2,k)"].estimate.reason)
    assert -0.2 < anova["ICC(1,1)"].estimate.value < -0.1
    positions = _of_table(shuffled)
    assert positions.single.value == 0
    assert str(positions.boundary).startswith("the variance between stories")


def test_unbalanced_workers_with_identity_find_what_positions_lose() -> None:
    # As above with 22 workers, three a story: one-way ICC sees leniency as noise, crossed effects do not.
    rng = np.random.default_rng(1)
    story, rater, rating = _simulated(rng, 1056, 22, 3, (0.6, 1.0, 0.8))
    found = crossed_effects(story, rater, rating, k=3)
    truth = 0.36 / (0.36 + 1.0 + 0.64)
    assert found.single.low < truth < found.single.high
    assert found.error == pytest.approx(0.64, rel=0.1)


def test_profile_intervals_cover() -> None:
    rng = np.random.default_rng(2)
    truth = 0.5 / (0.5 + 0.2 + 0.6)
    inside = 0
    for _ in range(25):
        story, rater, rating = _simulated(rng, 40, 10, 3, (0.5**0.5, 0.2**0.5, 0.6**0.5))
        found = crossed_effects(story, rater, rating, k=3).single
        inside += found.low <= truth <= found.high
    assert inside >= 21  # 23.75 expected; fewer than 21 would have a chance of .7 %


S, R = (axis.ravel() for axis in np.indices((4, 3)))
NOISE = np.random.default_rng(8).normal(size=12)


@pytest.mark.parametrize(
    ("story", "rater", "rating", "reason"),
    [
        (S * 0, R, NOISE, "undefined with fewer than 2 stories"),
        (S, R * 0, NOISE, "undefined with fewer than 2 raters"),
        (S, R, NOISE * 0 + 3, "undefined because all ratings are equal (0/0)"),
        (S, R, NOISE * np.nan, "undefined with fewer than 2 stories"),
        (S, np.arange(12), NOISE, "undefined: variances of stories, raters and error cannot be separated"),
        (np.arange(12), R, NOISE, "undefined: variances of stories, raters and error cannot be separated"),
        (S, R, (S * 0.7 + R * 1.3), "undefined: no error is left after the raters' leniency"),
    ],
)
def test_undefined_carries_its_reason(story, rater, rating, reason: str) -> None:
    found = crossed_effects(story, rater, rating, k=3)
    assert found.single.value is None
    assert found.average.value is None
    assert str(found.single.reason).startswith(reason)
    assert found.story is None


def test_equal_ratings_of_each_story_give_one_without_an_interval() -> None:
    found = crossed_effects(S, R, S * 1.5, k=3)
    assert found.single.value == 1
    assert found.single.low is None
    assert "no error is left" in str(found.single.reason)
