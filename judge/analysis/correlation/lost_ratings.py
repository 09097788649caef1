"""Sensitivity of a judge's correlation to the stories that it lost; the row's own number does not use it.

A lost story was asked about and has no rating of the judge, though people rated it. The correlation is computed again
with all lost stories of a row tied with each other: at the lowest point of the scale, at the highest, and as ties in
the middle, at the judge's median rating. These are three assumptions and no bounds: ratings that go against people's
could move it further.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judge.analysis.correlation.statistic import Floats, Side
from judge.stats.estimate import Estimate

LOWEST, HIGHEST, MIDDLE = "lost_lowest", "lost_highest", "lost_middle"
TITLES = {LOWEST: "lost lowest", HIGHEST: "lost highest", MIDDLE: "lost middle"}
NOTE = (
    "lost lowest, lost highest, lost middle: the same with all stories that the judge lost tied at the scale's lowest "
    "point, at its highest, or at the judge's median rating; three assumptions, not bounds"
)


def with_lost(
    judge: Floats, lost: NDArray[np.bool_], ends: tuple[float, float], measure: Callable[[Side], Estimate]
) -> dict[str, Estimate]:
    """The correlation under each assumption about lost ratings; empty where no story was lost.

    Parameters
    ----------
    judge : array, shape (n,)
        The judge's ratings; NaN = none.
    lost : array of bool, shape (n,)
        Stories that it lost.
    ends : (lowest, highest) point of the scale
    measure : callable
        From the judge's side to its correlation with people.
    """
    if not lost.any():
        return {}
    rated = judge[~np.isnan(judge)]
    if not rated.size:
        none = Estimate.undefined("undefined: the judge rated none of the stories")
        return dict.fromkeys(TITLES, none)
    low, high = min(ends[0], float(rated.min())), max(ends[1], float(rated.max()))
    places = {LOWEST: low, HIGHEST: high, MIDDLE: float(np.median(rated))}
    return {name: measure(Side.of(np.where(lost, replacement, judge))) for name, replacement in places.items()}
