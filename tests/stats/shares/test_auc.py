"""Telling two classes apart: scipy's point-biserial r and U, another program's DeLong, bounds that can be reached."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from judge.stats.ordering.discrimination import auc, point_biserial, resampled_auc
from judge.stats.resampling import bootstrap

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "auc.json").read_text(encoding="utf-8"))


def drawn(seed: int, n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.3
    rating = np.clip(np.round(3 + 0.6 * label + rng.normal(0, 1, n)), 1, 5)
    rating[rng.random(n) < 0.1] = np.nan
    return rating, label


@pytest.mark.parametrize("seed", range(3))
def test_r_is_scipys_and_the_auc_is_mann_whitneys_u(seed: int) -> None:
    rating, label = drawn(seed)
    keep = ~np.isnan(rating)
    found = point_biserial(rating, label)
    assert found.r.value == pytest.approx(stats.pointbiserialr(label[keep], rating[keep]).statistic, abs=1e-12)
    assert (found.positives, found.negatives) == (int(label[keep].sum()), int((~label[keep]).sum()))
    u = stats.mannwhitneyu(rating[keep & label], rating[keep & ~label]).statistic
    assert auc(rating, label).value == pytest.approx(u / (found.positives * found.negatives), abs=1e-12)


def test_the_bound_is_the_largest_r_of_any_labelling() -> None:
    rating = np.array([1.0, 1.0, 2.0, 4.0, 4.0, 5.0, 3.0])
    for label in ([0, 0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0, 1]):
        flags = np.array(label, dtype=bool)
        found = point_biserial(rating, flags)
        every = [
            stats.pearsonr(np.isin(np.arange(7), chosen).astype(float), rating).statistic
            for chosen in itertools.combinations(range(7), int(flags.sum()))
        ]
        expected = max(every) if found.r.value >= 0 else -min(every)
        assert found.bound == pytest.approx(expected, abs=1e-12)
        assert abs(found.r.value) <= found.bound


def test_the_normal_bound_at_balance_is_sqrt_2_over_pi() -> None:
    rating = np.random.default_rng(0).normal(size=2000)
    found = point_biserial(rating, rating > np.median(rating))
    assert found.normal_bound == pytest.approx(np.sqrt(2 / np.pi))
    assert found.r.value == pytest.approx(found.bound)
    assert found.bound == pytest.approx(found.normal_bound, abs=0.02)


def test_the_sign_is_that_of_the_class_labelled_true() -> None:
    rating, label = np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, False, True, True])
    assert point_biserial(rating, label).r.value > 0
    assert point_biserial(rating, ~label).r.value < 0
    assert (auc(rating, label).value, auc(rating, ~label).value) == (1.0, 0.0)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda c: f"{c['positives']} of {len(c['rating'])}")
def test_delongs_interval_is_another_programs(case: dict) -> None:
    # That program returns the area in single precision.
    rating = np.array(case["rating"])
    found = auc(rating, np.arange(rating.size) < case["positives"])
    assert found.value == pytest.approx(case["auc"], abs=1e-6)
    half = 1.959963984540054 * np.sqrt(case["variance"])
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=1e-6)
    assert found.method == "DeLong, 95 %"


def test_perfect_separation_has_no_interval() -> None:
    found = auc(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, False, True, True]))
    assert (found.value, found.low) == (1.0, None)
    assert found.reason == "no interval: DeLong's variance is 0 where every comparison ends alike"
    alone = auc(np.array([1.0, 2.0, 3.0]), np.array([False, False, True]))
    assert alone.reason == "no interval: DeLong's needs 2 stories of each class"


@pytest.mark.parametrize(
    ("rating", "label", "reason"),
    [
        ([1.0, 2.0, 3.0], [1, 1, 1], "undefined with one class only: all 3 rated stories have it"),
        ([1.0, 2.0, np.nan], [0, 0, 1], "undefined with one class only: all 2 rated stories lack it"),
        ([np.nan, np.nan], [0, 1], "undefined without a rated story"),
    ],
)
def test_one_class_is_undefined(rating: list[float], label: list[int], reason: str) -> None:
    values, flags = np.array(rating), np.array(label, dtype=bool)
    assert point_biserial(values, flags).r.reason == reason
    assert auc(values, flags).reason == reason
    assert point_biserial(values, flags).bound is None


def test_equal_ratings_have_no_r_but_an_auc_of_one_half() -> None:
    rating, label = np.full(6, 3.0), np.arange(6) < 2
    assert point_biserial(rating, label).r.reason == "undefined because the ratings are all equal"
    assert auc(rating, label).value == 0.5


def test_resampled_areas_are_the_areas_of_copied_stories() -> None:
    rating, label = drawn(4, n=40)
    unit = np.arange(40) // 4
    sample = bootstrap.draw(unit, 20, np.random.default_rng(0), "boot-inputs")
    found = sample.values(resampled_auc(rating, label))
    for counts, value in zip(sample.counts, found, strict=True):
        copies = np.repeat(np.arange(40), counts[unit])
        assert value == pytest.approx(auc(rating[copies], label[copies]).value, abs=1e-12)
    lonely = resampled_auc(np.array([1.0, 2.0]), np.array([True, False]))
    assert np.isnan(lonely(np.array([[2, 0]])))[0]
