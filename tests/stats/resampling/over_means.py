"""tau-b over means of systems in each resample, with which intervals of other methods are compared."""

from __future__ import annotations

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.stats.correlation import kendall, weighted_tau
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.resampling.resampled_correlations import in_resamples


def tau_b_means(resamples: Resamples, x: Floats, y: Floats, group: Codes) -> Floats:
    """tau-b of each judge with people over means of groups (systems), in each of B resamples, (B,) or (judges, B).

    `x` (n,) or (judges, n) are the judges' ratings, `y` (n,) people's; NaN is left out pairwise for that judge alone.
    Means of a `group` (n,) are over the same drawn stories; those within 1e-9 are tied, as in `kendall.codes`. A system
    drawn twice in `resamples` counts twice, and its copies are tied. NaN where means are all equal or fewer than two
    systems are left.
    """
    judges = np.atleast_2d(x)
    out = np.empty((len(judges), resamples.size))
    for rows, block, means in in_resamples(resamples, judges, y, group):
        flat = (-1, means[0].shape[2])
        pairs = weighted_tau.pairs_of_rows(means[0].reshape(flat), means[1].reshape(flat), means[2].reshape(flat))
        out[rows, block] = kendall.of_untied(*pairs).reshape(means[0].shape[:2])
    return out if np.ndim(x) == 2 else out[0]
