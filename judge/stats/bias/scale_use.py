"""Use of the rating scale: entropy, modal share, number of distinct values, ties.

A judge that gives most stories the same rating cannot distinguish them, whatever its correlation with people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate
from judge.stats.correlation.kendall import codes

# Detects raters whose ratings correlate negatively with all others', the likely cause of an impossible reliability.

Floats = NDArray[np.float64]

# Stories that two sides must share.
_LEAST = 8

# Fisher's z below which a correlation is surely negative (one-sided, 1 %).
_SURE = -2.326


def reversed_columns(ratings: Floats) -> list[tuple[int, float]]:
    """Columns with a significantly negative correlation with the mean of the other columns, the most significant first.

    Parameters
    ----------
    ratings : array, shape (stories, columns)
        NaN = not rated.

    Returns
    -------
    list of tuple
        Column and correlation. Each column that is identified is removed before the remaining columns are tested
        again. If there are only two columns, it cannot be determined which one is reversed, and both are returned.
    """
    left = list(range(ratings.shape[1]))
    against: list[tuple[int, float]] = []
    while len(left) > 1:
        tested = [_against(ratings[:, left], at) for at in range(len(left))]
        z, r = min(tested)
        if z > _SURE:
            break
        if len(left) == 2:
            return against or [(left[0], r), (left[1], r)]
        at = tested.index((z, r))
        against.append((left.pop(at), r))
    return against


def likely_cause(ratings: Floats, names: Sequence[str]) -> str:
    """Likely cause, in words, of ratings that differ more within stories than between stories.

    Parameters
    ----------
    ratings : array, shape (stories, columns)
        NaN = not rated.
    names : sequence of str
        Names of the columns; empty where columns have no names.

    Returns
    -------
    str
        A sentence without full stop.
    """
    apart = reversed_columns(ratings) if names else []
    if len(apart) == 2 and ratings.shape[1] == 2:
        both = " and ".join(names[column] for column, _ in apart)
        return f"{both} run against each other (r = {apart[0][1]:.2f}): the scale of one seems to run the other way"
    if apart and len(apart) <= ratings.shape[1] / 2:
        who = ", ".join(f"{names[column]} (r = {r:.2f} with the others)" for column, r in apart)
        return f"the scale of {who} seems to run the other way"
    return (
        "ratings of one story differ more than stories do: is a scale turned round for some stories, or do ratings "
        "belong to other stories?"
    )


def remark(ratings: Floats, names: Sequence[str], others: str) -> str | None:
    """Remark that names raters whose ratings correlate negatively with those of the others.

    Parameters
    ----------
    ratings, names
        As in `likely_cause`, with a name for each column.
    others : str
        Word for the other raters, e.g. people.

    Returns
    -------
    str or None
        One sentence. None where there is no such rater, and where they are more than half of three or more raters.
        If there are only two raters and they correlate negatively with each other, both are named.
    """
    reversed_names = reversed_columns(ratings)
    if len(reversed_names) == len(names) == 2:
        return likely_cause(ratings, names)
    if not reversed_names or len(reversed_names) > len(names) / 2:
        return None
    who = ", ".join(f"{names[column]} (r = {r:.2f})" for column, r in reversed_names)
    return f"ratings by {who} run against those of the other {others}: does that scale run the other way?"


def _against(ratings: Floats, column: int) -> tuple[float, float]:
    """Correlation of one rater's column with the mean of the other columns: first the test statistic (Fisher's z
    divided by its standard error), then the correlation itself.

    Both are 0 where too few stories have both values, and where the values do not vary.
    """
    others = np.delete(ratings, column, axis=1)
    own, count = ratings[:, column], (~np.isnan(others)).sum(axis=1)
    both = ~np.isnan(own) & (count > 0)
    x, y = own[both], np.nansum(others[both], axis=1) / count[both]
    if x.size < _LEAST or np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
        return 0.0, 0.0
    r = float(np.corrcoef(x, y)[0, 1])
    return float(np.arctanh(np.clip(r, -0.999999, 0.999999)) * np.sqrt(x.size - 3)), r


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
