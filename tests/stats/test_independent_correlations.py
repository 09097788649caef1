"""Correlations of disjoint stories: against psych, metafor and published examples, and where they do not exist."""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from judge.stats import independent_correlations as ic

GOLDEN = Path(__file__).parents[1] / "golden"


def rows(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(line for line in stream if not line.startswith("#")))


# psych 2.2.9 (R 4.2.2), r.test: golden/psych.R. It gives |z|, and takes 1 - p.
@pytest.mark.parametrize("row", rows("independent_correlations.csv"), ids=lambda row: f"{row['r1']}/{row['r2']}")
def test_two_equal_psych(row: dict[str, str]) -> None:
    pair = float(row["r1"]), int(row["n1"]), float(row["r2"]), int(row["n2"])
    two = ic.compare(*pair, tail="two-sided")
    assert abs(two.statistic) == pytest.approx(float(row["z"]), rel=1e-10)
    assert two.p == pytest.approx(float(row["two_sided"]), rel=1e-9, abs=1e-14)
    towards = ic.compare(*pair, tail="greater" if two.statistic > 0 else "less")
    assert towards.p == pytest.approx(float(row["one_sided"]), rel=1e-9, abs=1e-14)
    assert (two.n, two.df, two.difference) == (pair[1] + pair[3], None, pytest.approx(pair[0] - pair[2]))


def test_published_examples() -> None:
    # Cohen, Cohen, West & Aiken 2003, p. 49, at full precision by cocor's own tests; spreadsheet of stat-help.com.
    assert ic.compare(0.657, 62, 0.430, 143, tail="two-sided").statistic == pytest.approx(2.110737, abs=5e-7)
    sheet = ic.compare(0.4, 100, 0.5, 100, tail="two-sided")
    assert (sheet.statistic, sheet.p) == pytest.approx((-0.8751012342, 0.3815188256), abs=5e-11)
    # Zou 2007, p. 409.
    zou = ic.zou_interval(0.49, 145, 0.36, 87)
    assert (round(zou.low, 3), round(zou.high, 3), zou.n) == (-0.087, 0.359, 232)


# metafor 3.8.1 (R 4.2.2), rma(measure = "ZCOR", method = "FE"): golden/metafor.R.
@pytest.mark.parametrize(
    "family", [list(group) for _, group in groupby(rows("homogeneity.csv"), lambda row: row["family"])]
)
def test_homogeneity_equals_metafor(family: list[dict[str, str]]) -> None:
    r, n = np.array([float(row["r"]) for row in family]), np.array([int(row["n"]) for row in family])
    found = ic.homogeneity(r, n)
    theirs = tuple(float(family[0][key]) for key in ("pooled", "low", "high", "q", "p"))
    pooled = found.pooled
    assert (pooled.value, pooled.low, pooled.high, found.q, found.p) == pytest.approx(theirs, rel=1e-8)
    assert (found.df, found.k, found.left_out, pooled.n) == (len(family) - 1, len(family), 0, n.sum())


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ((np.nan, 50, 0.3, 50), "undefined because a correlation is missing"),
        ((0.3, 50, 0.3, 3), "undefined with n <= 3"),
        ((0.3, 50, -1.0, 50), "undefined because a correlation is 1 or -1"),
    ],
)
def test_undefined_carries_its_reason(pair: tuple[float, int, float, int], reason: str) -> None:
    found = ic.compare(*pair, tail="greater")
    assert (found.statistic, found.p, found.reason) == (None, None, reason)
    assert ic.zou_interval(*pair).reason == reason


def test_homogeneity_leaves_out_what_has_no_z() -> None:
    r, n = np.array([0.3, np.nan, 0.5, 1.0, 0.4]), np.array([50, 60, 70, 80, 3])
    found = ic.homogeneity(r, n)
    assert (found.k, found.left_out, found.df) == (2, 3, 1)
    assert found.q == ic.homogeneity(r[[0, 2]], n[[0, 2]]).q
    # Two correlations: Q is the square of Fisher's z test.
    pair = ic.compare(0.3, 50, 0.5, 70, tail="two-sided")
    assert (found.q, found.p) == pytest.approx((pair.statistic**2, pair.p), rel=1e-9)
    alone = ic.homogeneity(r[:2], n[:2])
    assert (alone.q, alone.reason) == (None, "undefined with fewer than 2 correlations")
    assert alone.pooled.value == pytest.approx(0.3)
    nothing = ic.homogeneity(r[[1, 3]], n[[1, 3]])
    assert (nothing.pooled.value, nothing.k, nothing.left_out) == (None, 0, 2)
    assert "no correlation has a Fisher z" in str(nothing.reason)


def test_p_is_never_zero_and_r_never_beyond_one() -> None:
    assert 0 < ic.compare(0.99, 10**7, -0.99, 10**7, tail="two-sided").p < 1e-300
    assert 0 < ic.homogeneity(np.array([0.99, -0.99]), np.array([10**7, 10**7])).p < 1e-300
    with pytest.raises(ValueError, match="outside -1 to 1"):
        ic.compare(1.5, 50, 0.3, 50, tail="greater")
