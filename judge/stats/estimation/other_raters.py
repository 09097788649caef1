"""The factor by which an interval widens if raters are regarded as a sample, as well as stories.

Let d_i be the difference between a judge and rater i, and d its mean over r raters. Resamples of stories show how d
varies over stories. With other raters of the same kind, d would also vary with variance sigma2 (1 + 1/r), because the
judge is compared as one rater with the mean of r raters. sigma2 is estimated as the variance of d_i over raters minus
the variance that stories alone would cause, or as 0 if this is negative (a variance component from its expectation,
Searle, Casella & McCulloch 1992, Variance Components, section 3.4). The variance that stories cause is computed from
the resampled deviations. The variance of d_i over so few raters is more often below than above its expectation. It is
therefore multiplied by (r - 1) / (median of chi-squared with r - 1 degrees of freedom), so that it is as often too
large as too small. The interval then uses the quantile of Student's t with Satterthwaite's degrees of freedom (1946,
Biometrics Bulletin 2): r - 1 for the raters' part and many for the stories'.

With two raters whose d_i differ by more than stories explain, this quantile can be up to 12.7: two people give little
information on how people differ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SURE = 0.975
_ENOUGH = 1e6
"""Degrees of freedom from which on t is the normal distribution."""


def factor(parts: Floats, resampled: Floats) -> float:
    """Factor that widens an interval for the sampling of raters; 1 where raters differ no more than stories explain.

    Parameters
    ----------
    parts : array, shape (r raters,)
        Difference between the judge and each rater; NaN = undefined, left out.
    resampled : array, shape (r raters, b resamples)
        These differences in each resample of stories.
    """
    from scipy.special import chdtri, ndtri, stdtrit

    defined = ~np.isnan(parts) & ~np.isnan(resampled).all(axis=1)
    r = int(defined.sum())
    values = resampled[defined]
    values = values[:, ~np.isnan(values).any(axis=0)]
    if r < 2 or values.shape[1] < 2:
        return 1.0
    of_mean = float(values.mean(axis=0).var())
    deviations = values - values.mean(axis=1, keepdims=True)
    deviations -= deviations.mean(axis=0)
    of_stories = float((deviations**2).sum(axis=0).mean()) / (r - 1)
    spread = float(parts[defined].var(ddof=1)) * (r - 1) / float(chdtri(r - 1, 0.5))
    of_raters = (1 + 1 / r) * max(0.0, spread - of_stories)
    if of_raters <= 0 or of_mean <= 0:
        return 1.0
    total = of_mean + of_raters
    freedom = min(_ENOUGH, (r - 1) * (total / of_raters) ** 2)
    return float(np.sqrt(total / of_mean) * stdtrit(freedom, _SURE) / ndtri(_SURE))


def drawn_out(values: Floats, by: float) -> Floats:
    """The values with their deviations from their mean multiplied by a factor.

    Parameters
    ----------
    values : array, shape (b resamples,)
        A statistic in each resample; NaN = undefined, and stays NaN.
    by : float
        The factor, as from `factor`.
    """
    if by == 1.0 or np.isnan(values).all():
        return values
    centre = float(np.nanmean(values))
    return np.asarray(centre + by * (values - centre), dtype=np.float64)
