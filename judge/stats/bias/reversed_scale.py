"""Detects raters whose ratings correlate negatively with all others', the likely cause of an impossible reliability.

A reliability is a share of variance. If the ratings of one story differ more than stories do, the formula gives values
outside the range of a share: below 0 or, near a zero denominator, far above 1. Slight excesses occur by chance. Large
ones occur where a rater used the scale in reverse, or where ratings belong to other stories.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LEAST = 8
"""Stories that two sides must share."""

_SURE = -2.326
"""Fisher's z below which a correlation is surely negative (one-sided, 1 %)."""


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
