"""How well one person predicts the others: the leave-one-out human ceiling. Never lets a person be part of the mean.

A column that is a position (first, second, third number of a list) and not a person has no ceiling: the caller says
so by not calling this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]


def leave_one_out(ratings: Floats, measure: Callable[[Floats, Floats], Estimate]) -> Estimate:
    """Mean over raters of the correlation between a rater and the mean of the others.

    Parameters
    ----------
    ratings : array, shape (n stories, r raters)
        NaN where a rater did not rate a story.
    measure : callable
        From two vectors of length n, NaN = missing, to an `Estimate`.

    Returns
    -------
    Estimate
        `n` is the number of stories used by the rater who has most; `method` says over how many raters the mean was
        taken. Raters for whom the correlation is undefined are left out and counted.
    """
    if ratings.shape[1] < 2:
        return Estimate.undefined("human ceiling undefined with fewer than 2 raters")
    found = [measure(one, others) for one, others in pairs(ratings)]
    defined = [estimate for estimate in found if estimate.value is not None]
    if not defined:
        return Estimate.undefined(f"human ceiling undefined for every rater ({found[0].reason})")
    mean_value = float(np.mean([estimate.value for estimate in defined if estimate.value is not None]))
    method = f"leave-one-out, {len(defined)} of {len(found)} raters"
    return Estimate(mean_value, n=max(estimate.n for estimate in defined), method=method)


def pairs(ratings: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Each rater's ratings and the mean of the others', shapes (n,); NaN where there is none."""
    known = ~np.isnan(ratings)
    filled = np.where(known, ratings, 0.0)
    total, count = filled.sum(axis=1), known.sum(axis=1)
    for rater in range(ratings.shape[1]):
        others = count - known[:, rater]
        with np.errstate(invalid="ignore", divide="ignore"):
            yield ratings[:, rater], np.where(others > 0, (total - filled[:, rater]) / others, np.nan)
