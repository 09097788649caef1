"""Williams' test of two correlations over the same stories: against psych, cocor, published examples; its edges."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.stats.correlation import heterogeneity as dc

GOLDEN = Path(__file__).parents[2] / "golden"


def rows(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(line for line in stream if not line.startswith("#")))


def triple(row: dict[str, str]) -> tuple[float, float, float, int]:
    return float(row["r12"]), float(row["r13"]), float(row["r23"]), int(row["n"])


# psych 2.2.9 (R 4.2.2), r.test and paired.r: golden/psych.R. Its one-sided p is that of |t|.
@pytest.mark.parametrize("row", rows("dependent_correlations.csv"), ids=lambda row: "/".join(map(str, triple(row))))
def test_williams_equals_psych(row: dict[str, str]) -> None:
    two = dc.compare(*triple(row), tail="two-sided")
    assert two.statistic == pytest.approx(float(row["t"]), rel=1e-10, abs=1e-12)
    assert two.statistic == pytest.approx(float(row["paired_t"]), rel=1e-10, abs=1e-12)
    assert two.p == pytest.approx(float(row["two_sided"]), rel=1e-9)
    assert two.p == pytest.approx(float(row["paired_two_sided"]), rel=1e-9)
    assert (two.df, two.tail, two.reason) == (int(row["n"]) - 3, "two-sided", None)
    towards = dc.compare(*triple(row), tail="greater" if float(row["t"]) > 0 else "less")
    assert towards.p == pytest.approx(float(row["one_sided"]), rel=1e-9)


# cocor (Diedenhofen & Musch 2015): golden/cocor.R. It takes 1 - p, so small p have an absolute error of 1e-16.
def test_williams_equals_cocor() -> None:
    theirs = rows("cocor.csv")
    assert len(theirs) == 60
    for row in theirs:
        numbers = triple(row)
        for tail in ("two-sided", "greater", "less"):
            found = dc.compare(*numbers, tail=tail)
            assert found.statistic == pytest.approx(float(row["statistic"]), rel=1e-10, abs=1e-12)
            assert found.p == pytest.approx(float(row[tail.replace("-", "_")]), rel=1e-9, abs=1e-14)
            assert found.df == numbers[3] - 3


def test_published_examples() -> None:
    # Howell, by the MRC Cognition and Brain Sciences Unit's statistics wiki.
    howell = dc.compare(0.80, 0.72, 0.89, 26, tail="two-sided")
    assert (round(howell.statistic, 3), round(howell.p, 3)) == (1.361, 0.187)
    # nlp-williams (Graham & Baldwin 2014), README.
    assert dc.compare(0.65, 0.55, 0.30, 50, tail="greater").p == pytest.approx(0.20928617286753592, rel=1e-12)
    # DEPCOR (Silver, Hittner & May 2006), by cocor's own tests.
    found = dc.compare(0.3, 0.4, 0.5, 100, tail="two-sided")
    assert (round(found.statistic, 4), round(found.p, 4)) == (-1.0767, 0.2843)


def test_equal_correlations() -> None:
    # .1 + .2 is not .3 in floats, yet the two are equal.
    for tail, p in (("two-sided", 1.0), ("greater", 0.5), ("less", 0.5)):
        found = dc.compare(0.1 + 0.2, 0.3, -0.4, 20, tail=tail)
        assert (found.statistic, found.difference, found.p, found.reason) == (0.0, 0.0, p, None)


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ((np.nan, 0.3, 0.2, 50), "undefined because a correlation is missing"),
        ((0.3, 0.2, np.nan, 50), "undefined because a correlation is missing"),
        ((0.5, 0.3, 0.2, 3), "undefined with n <= 3"),
        ((1.0, 0.3, 0.3, 50), "undefined because a correlation is 1 or -1"),
        ((0.3, -1.0, -0.3, 50), "undefined because a correlation is 1 or -1"),
        ((0.3, 0.3, 1 - 1e-13, 50), "undefined because a correlation is 1 or -1"),
        (
            (0.9, -0.9, 0.9, 50),
            "undefined because the three correlations do not fit together (their matrix is not positive definite)",
        ),
    ],
)
def test_undefined_carries_its_reason(numbers: tuple[float, float, float, int], reason: str) -> None:
    found = dc.compare(*numbers, tail="greater")
    assert (found.statistic, found.df, found.p, found.reason) == (None, None, None, reason)
    assert found.difference == (None if np.isnan(numbers[0]) else pytest.approx(numbers[0] - numbers[1]))


def test_p_is_never_zero() -> None:
    found = dc.compare(0.9, 0.1, 0.2, 10**8, tail="two-sided")
    assert found.statistic > 1000
    assert 0 < found.p < 1e-300


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match=r"a correlation of 1\.2 is outside -1 to 1"):
        dc.compare(0.3, 1.2, 0.1, 50, tail="greater")
    with pytest.raises(ValueError, match="unknown tail 'both': one of two-sided, greater, less"):
        dc.compare(0.3, 0.2, 0.1, 50, tail="both")


def test_arrays_are_the_single_tests() -> None:
    rng = np.random.default_rng(3)
    r = rng.uniform(-0.99, 0.99, (3, 4, 25))
    r[0, 3, :2] = [np.nan, 1.0]
    n = np.array([[3], [10], [96], [960]])
    table = dc.compare_arrays(*r, n, tail="less")
    assert table.p.shape == table.reason.shape == table.df.shape == (4, 25)
    reasons = set()
    for i, j in np.ndindex(4, 25):
        one = dc.compare(*r[:, i, j], int(n[i, 0]), tail="less")
        for mine, theirs in ((one.statistic, table.statistic), (one.p, table.p), (one.difference, table.difference)):
            # Not bit for bit: vector and scalar code of one function may differ in the last bit on some processors.
            assert mine == pytest.approx(theirs[i, j], rel=1e-12) if mine is not None else np.isnan(theirs[i, j])
        assert one.reason == table.reason[i, j]
        reasons.add(one.reason)
    assert len(reasons) >= 5


@given(r=st.lists(st.floats(-0.98, 0.98), min_size=3, max_size=3), n=st.integers(4, 2000))
def test_swapping_the_two_turns_the_sign_and_tails_add_up(r: list[float], n: int) -> None:
    there, back = dc.compare(*r, n, tail="greater"), dc.compare(r[1], r[0], r[2], n, tail="less")
    assert there.reason == back.reason
    if there.p is None or there.statistic is None:
        return
    assert there.statistic == pytest.approx(-back.statistic, rel=1e-6, abs=1e-9)
    assert there.p == pytest.approx(back.p, rel=1e-6)
    assert there.p + dc.compare(*r, n, tail="less").p == pytest.approx(1)
    assert (there.statistic > 0) == (r[0] - r[1] > 1e-12)


def test_strength_turns_distances_round() -> None:
    a, b, c = dc.by_strength([0.3, -0.3, 0.3, -0.3, 0.0], [0.2, 0.2, -0.2, -0.2, -0.2], [0.5, -0.5, -0.5, 0.5, 0.5])
    assert a.tolist() == [0.3, 0.3, 0.3, 0.3, 0.0]
    assert b.tolist() == [0.2] * 5
    assert c.tolist() == [0.5, 0.5, 0.5, 0.5, -0.5]


def test_williams_keeps_its_level() -> None:
    # 4000 samples of 40 from a trivariate normal with equal correlations .5, .5 and .4: 5 % are rejected.
    rng = np.random.default_rng(1959)
    matrix = np.array([[1, 0.5, 0.5], [0.5, 1, 0.4], [0.5, 0.4, 1]])
    x = rng.multivariate_normal(np.zeros(3), matrix, size=(4000, 40))
    z = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    r = np.einsum("sni,snj->sij", z, z) / 40
    found = dc.compare_arrays(r[:, 0, 1], r[:, 0, 2], r[:, 1, 2], 40, tail="two-sided")
    # Binomial standard error .0034.
    assert (found.p < 0.05).mean() == pytest.approx(0.05, abs=0.011)
