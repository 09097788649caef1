"""Split conformal prediction intervals over clusters, whose coverage holds for any model.

A model fitted without the stories of a calibration set errs on them by |y - prediction|. The interval of a new story
reaches as far as the quantile of these errors (Vovk, Gammerman & Shafer 2005; Lei et al. 2018, JASA 113). Stories for
one story-prompt are not exchangeable with others, story-prompts are: each story-prompt of the calibration set has the
same weight 1 / (G + 1), shared by its stories, and the rest of 1 / (G + 1) lies at infinity (hierarchical conformal
prediction: Lee, Barber & Willett 2023, arXiv 2306.06342). So a story for a new story-prompt, drawn as those of the
calibration set, lies inside with the level's probability or more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def reach(errors: Floats, cluster: Codes, level: float) -> float:
    """Half-width of the interval about a prediction.

    Parameters
    ----------
    errors : array, shape (n,)
        Absolute errors on the calibration set; NaN left out.
    cluster : array of int, shape (n,)
        Story-prompt of each.
    level : float
        Wanted coverage, between 0 and 1.

    Returns
    -------
    float
        Infinite with too few story-prompts: fewer than level / (1 - level).

    Raises
    ------
    ValueError
        A level outside 0 to 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level:g} must lie between 0 and 1")
    present = ~np.isnan(errors)
    error = errors[present]
    if not error.size:
        return math.inf
    code = np.unique(cluster[present], return_inverse=True)[1].reshape(-1)
    size = np.bincount(code)
    weight = 1 / ((size.size + 1) * size[code])
    order = np.argsort(error, kind="stable")
    share = np.cumsum(weight[order])
    # Rounding noise in the cumulated weights must not move the quantile to the next error.
    index = int(np.searchsorted(share, level - 1e-12))
    return float(error[order][index]) if index < error.size else math.inf
