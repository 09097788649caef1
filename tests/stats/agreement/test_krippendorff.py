"""Krippendorff's alpha: against the package krippendorff, irrCAC and published tables, and its bootstrap and edges."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judge.stats.agreement import krippendorff
from judge.stats.resampling import bootstrap
from tests.stats.agreement.test_chance_agreement import user_study

FOLDER = Path(__file__).parents[2] / "golden"
# krippendorff 0.9.0: golden/krippendorff_alpha.py. irrCAC 0.4.4: golden/irr_cac.py.
PACKAGE = json.loads((FOLDER / "krippendorff_alpha.json").read_text(encoding="utf-8"))
IRR_CAC = json.loads((FOLDER / "irr_cac.json").read_text(encoding="utf-8"))
IRR_CAC_LEVELS = {"identity": "nominal", "quadratic": "interval"}


def value(ratings: np.ndarray, level: str) -> float | None:
    return krippendorff.alpha(ratings, level, np.random.default_rng(0), resamples=0).estimate.value


@pytest.mark.parametrize(
    "case", PACKAGE["tables"], ids=lambda case: f"{len(case['ratings'])}x{len(case['ratings'][0])}"
)
def test_random_tables_equal_the_package(case: dict) -> None:
    ratings = np.array(case["ratings"], dtype=float)
    for level, theirs in case["alpha"].items():
        assert value(ratings, level) == pytest.approx(theirs, abs=1e-10)


def test_random_tables_equal_irr_cac() -> None:
    for case in IRR_CAC["tables"]:
        ratings = np.array(case["ratings"], dtype=float)
        for weights, level in IRR_CAC_LEVELS.items():
            theirs = case["coefficients"][weights]["krippendorff"]["value"]
            assert value(ratings, level) == pytest.approx(theirs, abs=1e-10)


def test_user_study_equals_both(studies: Path) -> None:
    answers = user_study(studies)
    for question, theirs in PACKAGE["user_study"].items():
        for level, number in theirs.items():
            assert value(answers[question], level) == pytest.approx(number, abs=1e-10)
        irr_cac = IRR_CAC["user_study"][question]["krippendorff"]["value"]
        assert value(answers[question], "nominal") == pytest.approx(irr_cac, abs=1e-10)
    constant = krippendorff.alpha(answers["Answer.a-4-incorrectness.1"], "nominal", np.random.default_rng(0))
    assert (constant.estimate.value, constant.estimate.reason) == (None, "undefined: 1 category")
    assert constant.raw.value == 1.0


def test_published_example() -> None:
    # Krippendorff 2011, Computing Krippendorff's alpha-reliability, example C and D: 12 units, 4 observers.
    nan = np.nan
    units = [
        [1, 1, nan, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
        [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [nan, 5, 5, 5], [nan, nan, 1, 1], [nan, nan, 3, nan],
    ]  # fmt: skip
    ratings = np.array(units, dtype=float)
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
    assert {level: round(value(ratings, level), 3) for level in krippendorff.LEVELS} == published
    found = krippendorff.alpha(ratings, "nominal", np.random.default_rng(0), resamples=0)
    assert (found.dropped, found.estimate.n, found.ratings, found.categories) == (1, 11, 40, 5)


@pytest.mark.parametrize("level", krippendorff.LEVELS)
def test_resamples_are_the_coefficient_of_the_drawn_items(level: str) -> None:
    rng = np.random.default_rng(5)
    ratings = np.array(PACKAGE["tables"][1]["ratings"], dtype=float)
    drawn = bootstrap.draw(np.arange(len(ratings)), 40, rng, "boot-items")
    found = drawn.values(krippendorff.resampled(ratings, level))
    for i in range(40):
        rows = np.repeat(np.arange(len(ratings)), drawn.counts[i])
        assert found[i] == pytest.approx(value(ratings[rows], level), abs=1e-10)


def test_interval_covers_and_is_reproducible() -> None:
    # 2 raters who each copy the truth (2 even categories) with probability .8: alpha is .8² = .64.
    rng = np.random.default_rng(2018)
    inside = 0
    for _ in range(150):
        truth, noise = rng.integers(0, 2, (80, 1)), rng.integers(0, 2, (80, 2))
        ratings = np.where(rng.random((80, 2)) < 0.8, truth, noise) * 1.0
        found = krippendorff.alpha(ratings, "nominal", rng, resamples=400).estimate
        inside += found.low <= 0.64 <= found.high
    # Binomial standard error .018; the percentile bootstrap of 80 items lacks about 1 %.
    assert inside / 150 == pytest.approx(0.94, abs=0.055)
    once, again = (krippendorff.alpha(ratings, "ordinal", np.random.default_rng(1), resamples=500) for _ in range(2))
    assert once == again
    assert once.estimate.method == "boot-items, 500 resamples, 95 %"
    assert 0 < once.standard_error < 0.2


def test_resamples_with_one_category_are_counted() -> None:
    rare = np.zeros((60, 2))
    rare[:2, 0] = 1
    found = krippendorff.alpha(rare, "nominal", np.random.default_rng(0), resamples=1000).estimate
    assert found.low is None
    assert "no interval: undefined in" in str(found.reason)
    # e^-2 of the resamples hold neither of the two items.
    assert int(str(found.reason).split()[4]) == pytest.approx(1000 * np.exp(-2), abs=45)


@pytest.mark.parametrize(
    ("ratings", "level", "reason"),
    [
        (np.array([[1.0, np.nan], [np.nan, 2.0]]), "nominal", "undefined: no item has 2 ratings"),
        (np.empty((0, 2)), "ordinal", "undefined: no item has 2 ratings"),
        (np.full((3, 2), 4.0), "interval", "undefined: 1 category"),
        (np.array([[-1.0, 2.0], [1.0, 1.0]]), "ratio", "undefined: the ratio level has no negative values"),
    ],
)
def test_undefined_carries_its_reason(ratings: np.ndarray, level: str, reason: str) -> None:
    found = krippendorff.alpha(ratings, level, np.random.default_rng(0))
    assert (found.estimate.value, found.estimate.reason) == (None, reason)
    assert np.isnan(krippendorff.resampled(ratings, level)(np.ones((2, len(ratings)), dtype=np.int64))).all()


def test_one_item_has_no_interval_and_unknown_levels_are_refused() -> None:
    found = krippendorff.alpha(np.array([[1.0, 2.0]]), "nominal", np.random.default_rng(0)).estimate
    assert (found.value, found.low, found.reason) == (0.0, None, "no interval with fewer than 2 items")
    with pytest.raises(ValueError, match="unknown level 'cardinal': one of nominal, ordinal, interval, ratio"):
        krippendorff.alpha(np.array([[1.0, 2.0]]), "cardinal", np.random.default_rng(0))


@settings(max_examples=60)
@given(
    hnp.arrays(
        float, st.tuples(st.integers(2, 9), st.integers(2, 5)), elements=st.sampled_from([0.0, 1, 2, 5, float("nan")])
    ),
    st.sampled_from(krippendorff.LEVELS),
    st.integers(0, 99),
)
def test_order_and_positions_are_no_matter(ratings: np.ndarray, level: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Alpha knows no raters: shuffling within each item leaves it as it is.
    shuffled = rng.permuted(ratings, axis=1)[rng.permutation(len(ratings))]
    one, other = value(ratings, level), value(shuffled, level)
    assert one == pytest.approx(other, abs=1e-9)
    if one is not None:
        assert one <= 1
        if level == "ordinal":  # only the order of values matters
            assert value(ratings**3, level) == pytest.approx(one, abs=1e-9)
        if level == "interval":
            assert value(2 * ratings - 7, level) == pytest.approx(one, abs=1e-9)
