"""Halo between criteria: inter-criterion tau-b, and the multitrait-multimethod comparison.

The mean tau-b between criteria describes the ratings of one source (a judge or people). It rises as error falls, so
that a judge with less error than people has a higher value without any halo. Whether a judge has halo is tested by
`analysis.criteria.halo`. The *multitrait-multimethod* comparison (Campbell & Fiske 1959) compares two kinds of tau
between judge and people: on the same criterion (the validity diagonal), and on different criteria (heterotrait,
heteromethod). The diagonal is higher if the judge distinguishes the criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.stats.correlation import coefficients, kendall
from judge.stats.resampling import resampled_correlations as resampled_tau
from judge.stats.resampling.bootstrap import Resamples

# Up to this many stories, tau-b of many rows is quicker from the signs of all pairs of stories.
_FEW_STORIES = 512

# Up to so many stories for each row, the mean of resampled tau-b is quicker from pairs of stories than from pairs of
# rows.
_STORIES_PER_ROW = 8

# Signs of pairs of stories that are held at a time.
_FLOATS = 8_000_000


def tau_matrix(rows: Floats, columns: Floats | None = None) -> Floats:
    """tau-b of each row of `rows` (a criteria, n stories) with each row of `columns` (c, n), (a, c); None = of `rows`.

    NaN = no rating, left out pairwise. Undefined (NaN) for a constant row, or fewer than 3 stories with both ratings.
    """
    left = [kendall.codes(row) for row in rows]
    right = left if columns is None else [kendall.codes(row) for row in columns]
    if rows.shape[1] <= _FEW_STORIES:
        return _from_signs(np.stack(left), np.stack(right)) if left and right else np.empty((len(left), len(right)))
    out = np.full((len(left), len(right)), np.nan)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            if int(((x >= 0) & (y >= 0)).sum()) >= coefficients.MIN_PAIRS:
                out[i, j] = kendall.tau_b(x, y)
    return out


def _from_signs(x: Codes, y: Codes) -> Floats:
    """tau-b from the signs of all pairs of stories: whole numbers, so that no sum is rounded."""
    first, second = np.triu_indices(x.shape[1], k=1)
    score, untied_x, untied_y = np.zeros((3, len(x), len(y)))
    step = max(1, _FLOATS // (len(x) + len(y)))
    for start in range(0, first.size, step):
        a, b = first[start : start + step], second[start : start + step]
        sign_x, sign_y = (_signs(codes, a, b) for codes in (x, y))
        score += sign_x @ sign_y.T
        untied_x += _untied(sign_x, y, a, b)
        untied_y += _untied(sign_y, x, a, b).T
    n = (x >= 0).astype(np.int64) @ (y >= 0).astype(np.int64).T
    return np.where(n >= coefficients.MIN_PAIRS, kendall.of_untied(score, untied_x, untied_y), np.nan)


def _untied(sign: Floats, other: Codes, first: Codes, second: Codes) -> Floats:
    """Untied pairs in each row of signs, among those that each row of `other` has; (rows, 1) where none is missing."""
    if (other >= 0).all():
        return np.asarray(np.abs(sign).sum(axis=1, keepdims=True))
    return np.abs(sign) @ ((other[:, first] >= 0) & (other[:, second] >= 0)).astype(np.float64).T


def _signs(codes: Codes, first: Codes, second: Codes) -> Floats:
    """Sign of the difference of each pair of stories; 0 where one is missing."""
    a, b = codes[:, first], codes[:, second]
    return np.where((a >= 0) & (b >= 0), np.sign(a - b), 0).astype(np.float64)


def means_by_group(rows: Floats, group: Codes) -> Floats:
    """Mean of each of `rows` (r, n stories) in each `group` of stories (0, 1, ...), (r, groups); NaN if unrated."""
    return np.stack([coefficients.group_means(row, row, group)[0] for row in rows])


def mean_tau(matrix: Floats) -> Estimate:
    """Mean tau-b between different criteria, the part of `matrix` (k, k) below the diagonal; NaN = undefined.

    n counts pairs of criteria; those without tau are left out and counted in `method`. Undefined with fewer than two
    criteria, or where no tau is defined."""
    values = matrix[np.tril_indices(matrix.shape[0], k=-1)]
    if values.size == 0:
        return Estimate.undefined("undefined with fewer than 2 criteria")
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        return Estimate.undefined("undefined: no two criteria have a tau (a constant one, or fewer than 3 stories)")
    lost = values.size - defined.size
    method = f"{defined.size} of {values.size} pairs of criteria" if lost else None
    return Estimate(float(defined.mean()), n=defined.size, method=method)


def resampled_mean_tau(rows: Floats, resamples: Resamples) -> Floats:
    """Mean tau-b between different criteria in each of b `resamples` of stories, (b,); empty where no pair has a tau.

    `rows` (k criteria, n stories): only pairs of criteria whose tau is defined are used. NaN where one of these is
    undefined in that resample."""
    code = [kendall.codes(row) for row in rows]
    n = rows.shape[1]
    if coefficients.MIN_PAIRS <= n <= max(_FEW_STORIES, _STORIES_PER_ROW * len(code)) and not np.isnan(rows).any():
        varying = [row for row in code if row.max() > 0]
        return resampled_tau.mean_tau_b(resamples, np.stack(varying)) if len(varying) > 1 else np.empty(0)
    defined = ~np.isnan(tau_matrix(rows))
    total, pairs = np.empty(0), 0
    for i, own in enumerate(code):
        others = [other for j, other in enumerate(code[:i]) if defined[i, j]]
        if others:
            values = resampled_tau.tau_b(resamples, np.stack(others), own)
            total, pairs = (total if pairs else 0.0) + values.sum(axis=0), pairs + len(others)
    return np.asarray(total / pairs, dtype=np.float64) if pairs else total


@dataclass(frozen=True, slots=True)
class Multitrait:
    """Multitrait-multimethod comparison of one judge with people.

    `validity` is the mean tau on the same criterion (the diagonal; n counts criteria), `heterotrait` on different ones
    (n counts pairs). `own_best` of the judge's criteria correlate more with people's same criterion than with any
    other, among `rows` whose tau with every criterion is defined."""

    validity: Estimate
    heterotrait: Estimate
    own_best: int
    rows: int


def multitrait(matrix: Floats) -> Multitrait:
    """Multitrait-multimethod comparison (Campbell & Fiske 1959) from `matrix` (k, k), tau-b of judge (rows) and people.

    NaN = undefined. With fewer than two criteria `heterotrait` is undefined. A row counts for `own_best` if its
    diagonal is strictly its highest value (to 1e-9)."""
    k = matrix.shape[0]
    diagonal, others = np.diag(matrix), matrix[~np.eye(k, dtype=np.bool_)].reshape(k, max(0, k - 1))
    whole = ~np.isnan(matrix).any(axis=1) if k > 1 else np.zeros(k, dtype=np.bool_)
    best = diagonal[whole] > others[whole].max(axis=1) + 1e-9 if whole.any() else np.zeros(0, dtype=np.bool_)
    return Multitrait(
        validity=_mean(diagonal, "undefined: no criterion of the judge has a tau with people's same criterion"),
        heterotrait=_mean(others.reshape(-1), "undefined with fewer than 2 criteria"),
        own_best=int(best.sum()),
        rows=int(whole.sum()),
    )


def _mean(values: Floats, reason: str) -> Estimate:
    defined = values[~np.isnan(values)]
    return Estimate(float(defined.mean()), n=defined.size) if defined.size else Estimate.undefined(reason)
