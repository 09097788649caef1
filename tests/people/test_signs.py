"""Careless raters, simulated and real: how many are found, and how many attentive ones are named."""

from __future__ import annotations

import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from judge.inputs.datasets import open_dataset
from judge.lab.people.signs import Variances, Work, attentive, in_order, judged, measured, openmeva, variances
from tests.benchmarks.simulations.careless_raters import found, study

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def test_careless_raters_are_found_with_24_stories_and_few_attentive_ones_are_named() -> None:
    hit, false = found(24, 0.5, 3, seed=5)
    assert hit >= 0.7
    assert false <= 0.06


def test_variances_are_those_that_the_ratings_were_made_with() -> None:
    rng = np.random.default_rng(2)
    work, _ = study(48, 0.5, rng)
    wanted = Variances(0.4, 0.15, 0.4, 3.0, 0.5)
    estimates = [variances(attentive(work, wanted, rng)) for _ in range(5)]
    # Rounding to points adds 1/12, ends of the scale take some away.
    assert np.mean([each.story for each in estimates]) == pytest.approx(0.4, abs=0.06)
    assert np.mean([each.rater for each in estimates]) == pytest.approx(0.15, abs=0.08)
    assert np.mean([each.rest for each in estimates]) == pytest.approx(0.45, abs=0.08)
    assert np.mean([each.criteria for each in estimates]) == pytest.approx(0.5, abs=0.12)


def small(rater: np.ndarray) -> Work:
    """Three raters of ten stories on two criteria; the first is given."""
    others = np.tile(np.arange(10)[:, None] % 5 + 1.0, (1, 2))
    ratings = np.stack([rater, others, others], axis=1)
    keys = ((0, 2), (0, 3))
    return Work(
        ratings, keys, ratings[[2, 3], 0] - 1, keys, ratings[[2, 3], 0] + [[1], [-2]], np.array([400, 200, 200.0]), 1, 5
    )


def test_signs_are_what_they_are_called() -> None:
    own = np.tile(np.arange(10)[:, None] % 5 + 1.0, (1, 2))
    signs = measured(small(own))
    assert np.tanh(signs[0, 0]) == pytest.approx(0.99)
    assert signs[0, 1] == -1
    assert signs[0, 2] == pytest.approx((-1 + 2) / 2)
    assert signs[0, 3] == pytest.approx(np.log(200 / 400))
    assert signs[0, 4] == pytest.approx(np.sqrt(2))
    assert signs[0, 5] == -1
    assert np.isnan(signs[1, 1:3]).all()
    assert in_order(small(own)) == [(1, 2), (0, 0), (0, 0)]
    flat = measured(small(np.full((10, 2), 3.0)))
    assert flat[0, 0] == 0
    assert flat[0, 4] == 0
    apart = own.copy()
    apart[:, 1] = 6 - apart[:, 1]
    assert measured(small(apart))[0, 5] == pytest.approx(-0.2)


def test_the_rule_of_openmeva_rejects_strict_and_lenient_people() -> None:
    own = np.tile(np.arange(10)[:, None] % 5 + 1.0, (1, 2))
    assert openmeva(small(own)).tolist() == [True, False, False]


def test_nobody_is_in_doubt_for_what_was_not_measured() -> None:
    rng = np.random.default_rng(1)
    work, _ = study(24, 0.5, rng)
    empty = np.full_like(work.ratings, np.nan)
    empty[:, :29] = work.ratings[:, :29]
    none = Work(empty, (), np.empty((0, 3)), (), np.empty((0, 3)), np.full(30, np.nan), 1, 5)
    result = judged(none, false=0.03, simulated=200, rng=rng)
    assert not result.doubted[29]
    assert result.total[29] == 0


def test_random_ratings_in_a_real_workers_place_are_found(studies: Path) -> None:
    """Plot-guided WP stories, five workers each: agreement alone, the lowest 5 % of real workers as the cut."""
    ratings = defaultdict(dict)
    for story in open_dataset("plotguided_wp").stories():
        for rating in story.ratings:
            ratings[rating.rater][story.id] = rating.value
    names, stories = sorted(ratings), sorted({story for own in ratings.values() for story in own})
    table = np.array([[[ratings[name].get(story, np.nan)] for name in names] for story in stories])
    busy = [r for r, name in enumerate(names) if len(ratings[name]) >= 12]
    assert len(busy) >= 20
    rng = np.random.default_rng(1)
    real, random = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(10):
            for r in busy:
                here = rng.permutation(np.flatnonzero(~np.isnan(table[:, r, 0])))[:12]
                own = np.full((len(stories), 1), np.nan)
                own[here] = table[here, r]
                real.append(_agreement(table, r, own))
                own[here, 0] = rng.integers(0, 6, 12)
                random.append(_agreement(table, r, own))
    cut = np.quantile(real, 0.05)
    assert np.mean(np.array(random) < cut) >= 0.90


def _agreement(table: np.ndarray, r: int, own: np.ndarray) -> float:
    two = np.concatenate([own[:, None], np.nanmean(np.delete(table, r, axis=1), axis=1)[:, None]], axis=1)
    work = Work(two, (), np.empty((0, 1)), (), np.empty((0, 1)), np.full(2, np.nan), 0, 5)
    return float(measured(work)[0, 0])
