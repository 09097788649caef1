"""Use of the rating scale: entropy, modal share, number of distinct values, ties.

A judge that gives most stories the same rating cannot distinguish them, whatever its correlation with people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation.kendall import codes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScaleUse:
    """Use of a scale by one judge or by people.

    Attributes
    ----------
    entropy : Estimate
        Shannon entropy, in bits, of ratings rounded to the scale's points; n counts ratings. 0 = a single point; the
        maximum for k points is log2 k (2.32 bits for 5).
    modal_share : Estimate
        Share of ratings at the most frequent point; n counts ratings.
    modal_point : float or None
        The most frequent point; the lowest one if several are equally frequent. None without a rating.
    distinct : int
        Number of distinct ratings before rounding (to 1e-9).
    ties : Estimate
        Share of pairs of stories with equal ratings on a criterion (to 1e-9); n counts ratings, one per story and
        criterion. Tied pairs cannot be ranked.
    outside : int or None
        Number of ratings outside the scale; None where the scale is not known.
    """

    entropy: Estimate
    modal_share: Estimate
    modal_point: float | None
    distinct: int
    ties: Estimate
    outside: int | None


def scale_use(
    ratings: Floats, stories: Floats, *, step: float = 1.0, scale: tuple[float, float] | None = None
) -> ScaleUse:
    """Use of a rating scale: entropy, modal share, distinct values, and ties between stories.

    Parameters
    ----------
    ratings : array of any shape
        Single ratings (or means, if only these are known), in points of the scale; NaN = none, left out.
    stories : array, shape (n stories,) or (criteria, n stories)
        One rating per story and criterion. Ties are counted within a row; NaN = none, left out.
    step : float
        Distance between points of the scale. Points are whole multiples of it, counted from the scale's lowest
        point, or from 0 where the scale is not known. Half-way values are rounded up.
    scale : (lowest, highest), optional
        Ends of the scale. Values outside are counted in `outside`, and each is a point of its own.

    Returns
    -------
    ScaleUse
        Undefined, with the reason, without a rating; ties are undefined with fewer than 2 stories. Entropy: Shannon
        1948.
    """
    defined = ratings[~np.isnan(ratings)]
    entropy, share, point = _points(defined, step, scale[0] if scale else 0.0)
    return ScaleUse(
        entropy=entropy,
        modal_share=share,
        modal_point=point,
        distinct=int(np.unique(codes(defined)).size),
        ties=tie_share(stories),
        outside=None if scale is None else int(((defined < scale[0]) | (defined > scale[1])).sum()),
    )


def entropy_bits(counts: NDArray[np.int64]) -> float:
    """Shannon entropy of a distribution of ratings, -sum p log2 p, from counts (Shannon 1948).

    Parameters
    ----------
    counts : array of int, shape (k points,)
        Number of ratings at each point; points with 0 ratings do not contribute.

    Returns
    -------
    float
        In bits, 0 to log2 k; NaN where all counts are 0.
    """
    total = int(counts.sum())
    if total == 0:
        return float("nan")
    p = counts[counts > 0] / total
    return max(0.0, float(-(p * np.log2(p)).sum()))


def tie_share(stories: Floats) -> Estimate:
    """Share of pairs of stories with equal ratings.

    Parameters
    ----------
    stories : array, shape (n stories,) or (rows, n stories)
        Ratings; values within 1e-9 are equal. Pairs are formed within a row, and pooled over rows; NaN = none, left
        out.

    Returns
    -------
    Estimate
        0 to 1; `n` counts ratings. Undefined where no row has 2 ratings.
    """
    tied = pairs = used = 0
    for row in np.atleast_2d(stories):
        code = codes(row)
        count = np.bincount(code[code >= 0])
        n = int(count.sum())
        used += n
        pairs += n * (n - 1) // 2
        tied += int((count * (count - 1) // 2).sum())
    if pairs == 0:
        return Estimate.undefined("undefined with fewer than 2 stories", n=used)
    return Estimate(tied / pairs, n=used)


def _points(defined: Floats, step: float, lowest: float) -> tuple[Estimate, Estimate, float | None]:
    if defined.size == 0:
        return Estimate.undefined("no rating"), Estimate.undefined("no rating"), None
    # 1e-9: means of ratings carry noise that would send half-way values down.
    point = np.floor((defined - lowest) / step + 0.5 + 1e-9).astype(np.int64)
    points, counts = np.unique(point, return_counts=True)
    top = int(counts.argmax())
    n = defined.size
    entropy = Estimate(entropy_bits(counts.astype(np.int64)), n=n)
    return entropy, Estimate(float(counts[top]) / n, n=n), lowest + step * float(points[top])
