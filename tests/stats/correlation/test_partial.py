"""Partial correlations: R's figures, a second way to the same number, and the cases in which there is none."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.correlation.coefficients import Coefficient, coefficient_of
from judge.stats.correlation.heterogeneity import partial

# Miles per gallon, horsepower and weight of R's data set mtcars (Henderson & Velleman 1981).
MPG = (
    "21 21 22.8 21.4 18.7 18.1 14.3 24.4 22.8 19.2 17.8 16.4 17.3 15.2 10.4 10.4 14.7 32.4 30.4 33.9 21.5 15.5"
    " 15.2 13.3"
)
HP = "110 110 93 110 175 105 245 62 95 123 123 180 180 180 205 215 230 66 52 65 97 150 150 245"
WT = (
    "2.62 2.875 2.32 3.215 3.44 3.46 3.57 3.19 3.15 3.44 3.44 4.07 3.73 3.78 5.25 5.424 5.345 2.2 1.615 1.835"
    " 2.465 3.52 3.435 3.84"
)
X, Y, Z = (np.array(text.split(), dtype=float) for text in (MPG, HP, WT))


def _given_weight(coefficient: Coefficient) -> float:
    return float(partial(*(coefficient_of(a, b, coefficient) for a, b in ((X, Y), (X, Z), (Y, Z)))))


@pytest.mark.parametrize(
    ("coefficient", "expected"),
    # R 4.2.2: P <- solve(cor(mtcars[1:24, c("mpg", "hp", "wt")], method = ...)); -P[1,2] / sqrt(P[1,1] * P[2,2])
    [("kendall", -0.5665479596652901), ("spearman", -0.682129322751807), ("pearson", -0.5277487157689724)],
)
def test_partial_correlations_are_those_of_r(coefficient: Coefficient, expected: float) -> None:
    assert _given_weight(coefficient) == pytest.approx(expected, abs=1e-12)


def test_partial_tau_is_the_correlation_of_what_signs_of_z_leave() -> None:
    # Hawkes 1971: tau-b is the correlation of the signs of all pairs, so partial tau is that of their residuals.
    i, j = np.triu_indices(X.size, 1)
    a, b, c = (np.sign(v[i] - v[j]) for v in (X, Y, Z))
    left_a, left_b = (side - (side @ c) / (c @ c) * c for side in (a, b))
    expected = (left_a @ left_b) / np.sqrt((left_a @ left_a) * (left_b @ left_b))
    assert _given_weight("kendall") == pytest.approx(expected, abs=1e-12)


def test_the_formula_takes_resamples_at_once() -> None:
    found = partial([0.5, 0.5, np.nan], [0.3, 1.0, 0.1], [0.2, 0.2, 0.2])
    assert found[0] == pytest.approx((0.5 - 0.06) / np.sqrt(0.91 * 0.96))
    assert np.isnan(found[1:]).all()
