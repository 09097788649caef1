"""Split conformal prediction intervals for clustered stories, whose coverage is guaranteed for any model.

A model is fitted without the stories of a calibration set, on which its absolute errors |y - prediction| are then
computed. The half-width of the interval of a new story is a quantile of these errors (Vovk, Gammerman & Shafer 2005;
Lei et al. 2018, JASA 113). Story-prompts are exchangeable, but single stories are not, since stories for the same
story-prompt depend on each other. Each of the G story-prompts of the calibration set therefore has the same weight 1 /
(G + 1), shared by its stories, and the remaining weight 1 / (G + 1) is at infinity (hierarchical conformal prediction:
Lee, Barber & Willett 2023, arXiv 2306.06342). The rating of a story for a new story-prompt, drawn from the same
distribution, thus lies inside its interval with at least the wanted probability.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def reach(errors: Floats, cluster: Codes, level: float) -> float:
    """Half-width of the conformal interval of a prediction; infinite with fewer than level / (1 - level) story-prompts.

    `errors` (n,) are absolute, on the calibration set, NaN left out; `cluster` (n,) holds story-prompts; `level` is the
    wanted coverage, ValueError outside 0 to 1.
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
