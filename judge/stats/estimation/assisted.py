"""A share of a population from a weighted sample, assisted by a helper variable that is known of the whole population.

share = mean(y) + lambda (M - mean(f)), with the weighted means of the judged values y and of the helper f in the
sample, the helper's mean M in the population, and the weighted regression coefficient lambda of y on f: the difference
estimator of survey sampling (Särndal, Swensson & Wretman 1992, ch. 6), which is prediction-powered inference with a
tuned power (Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453) for weighted samples. It is valid with any helper; a
useless one only widens the interval. The variance is the jackknife's over clusters, with lambda fitted anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import Estimate
from judge.stats.resampling.jackknife import with_jackknife

# With fewer values the fitted coefficient makes the interval too narrow.
FEW = 30


@dataclass(frozen=True, slots=True)
class AssistedShare:
    """The `share` with its interval, and its `worth`: variance of the share without the helper / with it; None where it
    is not known. Above 1, the helper makes the share more precise."""

    share: Estimate
    worth: float | None


def assisted_share(hits: Floats, weight: Floats, cluster: Codes, helper: Floats, mean: float) -> AssistedShare:
    """The share of `hits` (n,), between 0 and 1, NaN left out, in the population whose helper has this `mean`.

    `weight` (n,) is the population's items that each stands for, `cluster` (n,) has any codes, such as stories, and
    `helper` (n,) no NaN. Undefined with fewer than 30 values or where the helper does not vary."""
    present = ~np.isnan(hits)
    y, w, f = hits[present], weight[present], helper[present]
    if y.size < FEW:
        return AssistedShare(Estimate.undefined(f"fewer than {FEW} items were judged", int(y.size)), None)
    if np.ptp(f) < 1e-12:
        return AssistedShare(Estimate.undefined("the helper is the same for all items", int(y.size)), None)
    group = renumbered(cluster[present])
    clusters = int(group.max()) + 1
    whole = _shares(y, w, f, mean)
    left_out = np.array([_shares(y[k], w[k], f[k], mean) for g in range(clusters) for k in [group != g]])
    bounds = (0.0, 1.0)
    value = float(np.clip(whole[1], *bounds))
    estimate, error = with_jackknife(Estimate(value, int(y.size)), left_out[:, 1], bounds=bounds)
    _, plain = with_jackknife(Estimate(float(whole[0]), int(y.size)), left_out[:, 0], bounds=bounds)
    worth = None if error is None or plain is None or error == 0 else (plain / error) ** 2
    return AssistedShare(estimate, worth)


def _shares(y: Floats, w: Floats, f: Floats, mean: float) -> tuple[float, float]:
    """The weighted share without and with the helper."""
    if not w.size:
        return float("nan"), float("nan")
    total = w.sum()
    share, own = float(w @ y / total), float(w @ f / total)
    spread = float(w @ (f - own) ** 2)
    slope = float(w @ ((y - share) * (f - own))) / spread if spread > 1e-12 else 0.0
    return share, share + slope * (mean - own)
