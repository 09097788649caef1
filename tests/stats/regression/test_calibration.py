"""Calibration on people's scale and reliability: what is fitted, what is undefined, and figures worked by hand."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from judge.stats.regression.calibration import (
    Bin,
    Kind,
    bias,
    calibration_error,
    fit_calibration,
    reliability_bins,
    rmse,
)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_judge_that_is_two_points_too_kind_is_put_right(kind: str) -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(3, 16, 400) / 3
    score = people + 2 + rng.normal(0, 0.5, 400)
    calibration = fit_calibration(score[:200], people[:200], kind)  # type: ignore[arg-type]
    assert calibration.reason is None
    assert calibration.n == 200
    after = calibration.predict(score[200:])
    assert rmse(score[200:], people[200:]).value == pytest.approx(2.06, abs=0.1)
    assert rmse(after, people[200:]).value == pytest.approx(0.47, abs=0.08)
    assert np.isnan(calibration.predict(np.array([np.nan]))).all()


def test_the_line_is_least_squares() -> None:
    x = np.arange(12.0)
    line = fit_calibration(x, 0.5 * x + 1, "linear")
    np.testing.assert_allclose(line.predict(np.array([0.0, 4.0])), [1, 3])


@pytest.mark.parametrize(
    ("score", "people", "kind", "reason"),
    [
        (np.arange(9.0), np.arange(9.0), "linear", "needs 10 rated stories"),
        (np.ones(20), np.arange(20.0), "isotonic", "scores are all equal"),
        (np.arange(20.0), np.ones(20), "ordinal", "the people's ratings are all equal"),
        (np.arange(20.0), np.repeat([1.0, 2.0], 10), "ordinal", "part the levels"),
    ],
)
def test_undefined_says_why_and_predicts_nothing(score: np.ndarray, people: np.ndarray, kind: str, reason: str) -> None:
    calibration = fit_calibration(score, people, kind)  # type: ignore[arg-type]
    assert calibration.curve is None
    assert calibration.reason is not None
    assert reason in calibration.reason
    assert np.isnan(calibration.predict(score)).all()


def test_errors_by_hand() -> None:
    predicted, people = np.array([1.0, 2, 3, np.nan]), np.array([1.0, 4, 2, 5])
    assert rmse(predicted, people).value == pytest.approx(np.sqrt(5 / 3))
    assert bias(predicted, people).value == pytest.approx(-1 / 3)
    assert rmse(predicted, people).n == 3
    nothing = np.full(4, np.nan)
    assert not rmse(nothing, people).defined
    assert not bias(nothing, people).defined


def test_bins_hold_equally_many_stories_and_never_part_ties() -> None:
    bins = reliability_bins(np.arange(20.0), np.arange(20.0) + 1, bins=4)
    assert [each.n for each in bins] == [5, 5, 5, 5]
    assert [(each.low, each.high) for each in bins] == [(0, 4), (5, 9), (10, 14), (15, 19)]
    assert {each.gap for each in bins} == {-1.0}
    assert calibration_error(bins).value == pytest.approx(1)
    tied = reliability_bins(np.repeat([1.0, 2.0], [17, 3]), np.arange(20.0), bins=4)
    assert [each.n for each in tied] == [17, 3]
    assert sum(each.n * each.people for each in tied) == pytest.approx(190)


def test_calibration_error_weighs_bins_by_stories() -> None:
    bins = [Bin(1, 2, 30, 1.5, 2.0, 0.1), Bin(2, 3, 10, 2.5, 2.3, 0.1)]
    assert calibration_error(bins).value == pytest.approx((30 * 0.5 + 10 * 0.2) / 40)
    assert calibration_error(bins).n == 40
    assert reliability_bins(np.full(3, np.nan), np.ones(3)) == []
    assert not calibration_error([]).defined


def test_rounding_errors_part_no_equal_predictions() -> None:
    predicted, people = np.repeat([1.0, 5 / 3, 2.0, 7 / 3], 25), np.arange(100.0)
    plain = reliability_bins(predicted, people, bins=3)
    for seed in range(3):
        noise = 1e-15 * np.random.default_rng(seed).integers(-1, 2, size=100)
        bins = reliability_bins(predicted + noise, people, bins=3)
        assert [each.n for each in bins] == [each.n for each in plain] == [25, 50, 25]
        assert [each.people for each in bins] == [each.people for each in plain]
