"""Sensitivity of a judge's correlation to lost stories, which the main correlation of a row leaves out.

A lost story is one that people rated and that the judge was asked about but did not rate. All lost stories of a row get
one rating: the lowest point of the scale, the highest point, or the judge's median. These are assumptions, not bounds:
lost ratings opposite to people's could change the correlation further.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judge.analysis.correlation.statistic import Floats, Side
from judge.analysis.coverage.coverage import SCALE_UNKNOWN
from judge.base.estimate import Estimate

LOWEST, HIGHEST, MIDDLE = "lost_lowest", "lost_highest", "lost_middle"
TITLES = {LOWEST: "lost lowest", HIGHEST: "lost highest", MIDDLE: "lost middle"}
NOTE = (
    "lost lowest, lost highest, lost middle: the same with all stories that the judge lost tied at the scale's lowest "
    "point, at its highest, or at the judge's median rating; three assumptions, not bounds"
)


def with_lost(
    judge: Floats, lost: NDArray[np.bool_], ends: tuple[float, float] | None, measure: Callable[[Side], Estimate]
) -> dict[str, Estimate]:
    """Correlation under each assumption about the lost stories' rating; empty if none was lost. `judge` and `lost` have
    shape (n stories,). `ends` are the lowest and highest point of the scale; None = not known: correlations with these
    are then undefined, as the ratings seen need not reach them. `measure` correlates the judge's side with people.
    """
    if not lost.any():
        return {}
    rated = judge[~np.isnan(judge)]
    if not rated.size:
        none = Estimate.undefined("undefined: the judge rated none of the stories")
        return dict.fromkeys(TITLES, none)
    places: dict[str, float | None] = dict.fromkeys(TITLES)
    if ends is not None:
        places |= {LOWEST: min(ends[0], float(rated.min())), HIGHEST: max(ends[1], float(rated.max()))}
    places[MIDDLE] = float(np.median(rated))
    unknown = Estimate.undefined(f"undefined: {SCALE_UNKNOWN}")
    return {
        name: unknown if place is None else measure(Side(np.where(lost, place, judge)))
        for name, place in places.items()
    }
