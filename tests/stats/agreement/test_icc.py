"""The ICC family against Shrout & Fleiss 1979 and psych, and where it does not exist."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from judge.stats.agreement import icc
from judge.stats.resampling import bootstrap

# Shrout & Fleiss 1979, Psychological Bulletin 86(2), table 2: six targets, four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)
# The same, table 4 (ICC(1,1) ... ICC(3,4)).
PUBLISHED = {"ICC(1,1)": 0.17, "ICC(2,1)": 0.29, "ICC(3,1)": 0.71, "ICC(1,k)": 0.44, "ICC(2,k)": 0.62, "ICC(3,k)": 0.91}


def test_shrout_and_fleiss_table() -> None:
    found = icc.family(SHROUT_FLEISS)
    assert {form: round(found[form].estimate.value, 2) for form in icc.FORMS} == PUBLISHED
    # Mean squares of their table 3: 11.24 between, 6.26 within, 32.49 judges, 1.02 residual.
    ms = icc.mean_squares(SHROUT_FLEISS)
    squares = [round(float(v), 2) for v in (ms.between, ms.within, ms.columns, ms.residual)]
    assert squares == [11.24, 6.26, 32.49, 1.02]


def _golden(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parents[2] / "golden" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(line for line in stream if not line.startswith("#")))


# psych 2.2.9 (R 4.2.2), ICC(lmer = FALSE): golden/psych.R.
@pytest.mark.parametrize("table", ["shrout_fleiss", "lenient", "noise", "pair"])
def test_family_equals_psych(table: str) -> None:
    cells = [row for row in _golden("icc_ratings.csv") if row["table"] == table]
    ratings = np.array([float(row["rating"]) for row in cells]).reshape(int(cells[-1]["story"]), -1)
    found = icc.family(ratings)
    theirs = [row for row in _golden("icc.csv") if row["table"] == table]
    assert {row["form"] for row in theirs} == set(icc.FORMS)
    for row in theirs:
        ours = found[row["form"]]
        assert ours.estimate.value == pytest.approx(float(row["value"]), abs=1e-10)
        assert (ours.f, ours.p) == pytest.approx((float(row["f"]), float(row["p"])), rel=1e-9)
        assert (ours.df1, ours.df2) == (int(row["df1"]), int(row["df2"]))
        ends = ours.estimate.low, ours.estimate.high
        assert ends == pytest.approx((float(row["low"]), float(row["high"])), abs=1e-9)


def test_leading_axes_are_computed_at_once() -> None:
    rng = np.random.default_rng(0)
    stack = rng.normal(size=(4, 3, 20, 5))
    values = icc.values(icc.mean_squares(stack))
    for i in np.ndindex(4, 3):
        single = icc.family(stack[i])
        for form in icc.FORMS:
            assert values[form][i] == pytest.approx(single[form].estimate.value, abs=1e-12)


def test_incomplete_stories_are_left_out_and_counted() -> None:
    ratings = np.vstack([SHROUT_FLEISS, [[1, np.nan, 2, 3]]])
    found = icc.family(ratings)
    assert (found.n, found.incomplete) == (6, 1)
    assert found["ICC(1,1)"].estimate == icc.family(SHROUT_FLEISS)["ICC(1,1)"].estimate


def test_a_reliability_of_means_is_not_below_0() -> None:
    rng = np.random.default_rng(0)
    lowest = 0.0
    for _ in range(300):
        found = icc.from_0(icc.family(rng.integers(1, 6, size=(4, 3)).astype(float)))
        for row in found.rows:
            estimate = row.estimate
            if not row.form.endswith(",k)") or estimate.value is None:
                continue
            assert 0 <= estimate.value <= 1
            if estimate.low is not None:
                assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
            lowest += estimate.value == 0
    assert lowest > 50


def test_negative_values_are_kept() -> None:
    found = icc.family(np.array([[1, 5], [5, 1], [2, 4], [4, 2.5]]))
    assert found["ICC(1,1)"].estimate.value < -0.8


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (np.array([[1.0], [2], [3]]), "undefined with fewer than 2 repeats"),
        (np.array([[1.0, 2]]), "undefined with fewer than 2 complete stories"),
        (np.array([[1.0, np.nan], [np.nan, 2]]), "undefined with fewer than 2 complete stories"),
        (np.full((5, 3), 2.0), "undefined because all ratings are equal (0/0)"),
        (np.empty((0, 3)), "undefined with fewer than 2 complete stories"),
    ],
)
def test_undefined_carries_its_reason(ratings: np.ndarray, reason: str) -> None:
    found = icc.family(ratings)
    assert {row.estimate.reason for row in found.rows} == {reason}
    assert all(row.estimate.value is None for row in found.rows)


def test_equal_repeats_give_one_without_an_interval() -> None:
    stories = np.array([1.1, 2.3, 3.7, 4.9])
    found = icc.family(np.repeat(stories[:, None], 3, axis=1))
    for row in found.rows:
        assert row.estimate.value == 1.0
        assert row.estimate.low is None
        assert "F is infinite" in str(row.estimate.reason)


def test_equal_story_means_leave_the_average_forms_undefined() -> None:
    found = icc.family(np.array([[1.0, 3], [3, 1], [2, 2]]))
    assert found["ICC(1,1)"].estimate.value == pytest.approx(-1.0)
    assert found["ICC(1,k)"].estimate.value is None


def test_mans_one_way_icc_is_the_published_files(studies) -> None:
    import json

    # One-way ICC1 and ICC1k of the two released files, computed independently of this program.
    expected = {"mans_roc": (0.771, 0.944), "mans_wp": (0.710, 0.924)}
    for name, (single, average) in expected.items():
        data = json.loads((studies / "openmeva" / f"{name}.json").read_text(encoding="utf-8"))
        ratings = np.array([gen["score"] for item in data.values() for gen in item["gen"].values()], dtype=float)
        found = icc.family(ratings)
        assert found.n == 1000
        assert round(found["ICC(1,1)"].estimate.value, 3) == single
        assert round(found["ICC(1,k)"].estimate.value, 3) == average


@pytest.mark.parametrize("drawn_by", ["story-prompts", "stories"])
def test_resampled_family_is_that_of_the_repeated_stories(drawn_by: str) -> None:
    rng = np.random.default_rng(4)
    ratings = np.clip(rng.integers(1, 6, (48, 1)) + rng.integers(-1, 2, (48, 3)), 1, 5) * 1.0
    ratings[5, 1] = np.nan
    unit = np.repeat(np.arange(8), 6) if drawn_by == "story-prompts" else np.arange(48)
    drawn = bootstrap.draw(unit, 20, rng, "boot")
    found = drawn.values(icc.resampled(ratings))
    for row, weight in zip(found, drawn.weights(), strict=True):
        again = icc.family(np.repeat(ratings, weight, axis=0))
        assert row == pytest.approx([again[form].estimate.value for form in icc.FORMS], abs=1e-10)
    (jackknife,) = drawn.jackknife()
    interval = bootstrap.bca(
        icc.family(ratings)["ICC(2,1)"].estimate, found[:, 2], [jackknife.values(icc.resampled(ratings))[:, 2]], "BCa"
    )
    assert interval.low < interval.value < interval.high


def test_resampled_family_is_undefined_where_the_family_is() -> None:
    weights = np.ones((2, 4), dtype=np.int64)
    assert np.isnan(icc.resampled(np.full((4, 3), 2.0))(weights)).all()
    assert np.isnan(icc.resampled(np.arange(4.0)[:, None])(weights)).all()
    assert np.isnan(icc.resampled(np.full((4, 3), np.nan))(weights)).all()
    assert np.isnan(icc.resampled(np.arange(12.0).reshape(4, 3))(np.array([[1, 0, 0, 0]]))).all()
    equal = icc.resampled(np.repeat(np.arange(4.0)[:, None], 3, axis=1))(weights)
    np.testing.assert_allclose(equal, np.ones((2, 6)), rtol=0, atol=1e-12)


def _turned(n: int = 60, seed: int = 1, noise: float = 0.5) -> np.ndarray:
    """Three raters of n stories, the third with the scale the wrong way round."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, n)
    return np.column_stack([3 + turn * quality + rng.normal(0, noise, n) for turn in (1, 1, -1)])


def test_no_reliability_is_below_0_or_above_1() -> None:
    found = icc.family(_turned(), columns="raters", names=("Ada", "Bo", "Cy"))
    for form in ("ICC(1,k)", "ICC(2,k)", "ICC(3,k)"):
        estimate = found[form].estimate
        assert estimate.value is None
        assert "and a reliability is not below 0; the scale of Cy (r = -0." in str(estimate.reason)
    # A single rating's is a correlation, and keeps its sign.
    assert found["ICC(1,1)"].estimate.high < 0
    above = 0
    for seed in range(3000):
        ratings = _turned(8, seed, 0.4).round()
        for form, value in icc.values(icc.mean_squares(ratings)).items():
            row = icc.family(ratings, names=("Ada", "Bo", "Cy"))[form].estimate if value > 1 else None
            if row is not None:
                above += 1
                assert row.value is None
                assert "and no ICC is above 1; " in str(row.reason)
    assert above >= 1


def test_small_tables_have_values_and_intervals_that_an_icc_can_have() -> None:
    rng = np.random.default_rng(5)
    for _ in range(400):
        n, k = int(rng.integers(2, 7)), int(rng.integers(2, 5))
        for row in icc.family(rng.integers(1, 6, (n, k)).astype(float)).rows:
            one = row.estimate
            if one.value is not None:
                assert one.value <= 1 + 1e-9
                if not row.form.endswith(",k)"):
                    assert one.value >= -1 / (k - 1) - 1e-9
            if one.low is not None:
                assert one.low - 1e-9 <= one.value <= one.high + 1e-9 <= 1 + 2e-9
