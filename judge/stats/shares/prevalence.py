"""Prevalence of a label as estimated by an imperfect judge, corrected for the judge's sensitivity and specificity.

Rogan & Gladen (1978): with sensitivity and specificity measured on stories that people labelled, share = (share judged
positive + specificity - 1) / (sensitivity + specificity - 1). The interval is Lang & Reiczigel's (2014, Prev. Vet. Med.
113, equation 16), which includes the uncertainty of the measured sensitivity and specificity; Lee et al. (2025, arXiv
2511.21140, equation 6) recommend it for LLM judges.
"""

from __future__ import annotations

import math

from judge.base.estimate import Estimate

_Z95 = 1.959963984540054


def corrected_share(
    judged_positive: float,
    n: float,
    *,
    hits: float,
    positives: float,
    rejections: float,
    negatives: float,
    z: float = _Z95,
) -> Estimate:
    """Share of truly positive stories among `n` judged stories, corrected for the judge's errors and clipped to 0..1.

    `judged_positive` of the `n` stories without a human label are called positive. Of the `positives` and `negatives`
    with a human label, the judge calls `hits` positive and `rejections` negative (sensitivity and specificity). All may
    be effective numbers where stories are not independent. `z` is the normal quantile of the interval.

    Undefined without judged stories, without one of the two human labels, and where sensitivity + specificity <= 1,
    because then the judge has no information about the share. No interval, but a reason, where too few stories have a
    human label to tell the judge from chance.
    """
    count = round(n)
    if n < 1 or positives < 1 or negatives < 1:
        return Estimate.undefined("undefined without judged stories and calibration stories of both kinds", n=count)
    share, sensitivity, specificity = judged_positive / n, hits / positives, rejections / negatives
    if sensitivity + specificity <= 1:
        reason = f"undefined: sensitivity {sensitivity:.2f} + specificity {specificity:.2f} do not exceed 1"
        return Estimate.undefined(reason, n=count)
    value = (share + specificity - 1) / (sensitivity + specificity - 1)
    # Counts pulled towards one half, as in Agresti & Coull's interval.
    m, m1, m0 = n + z * z, positives + 2, negatives + 2
    p, q1, q0 = (judged_positive + z * z / 2) / m, (hits + 1) / m1, (rejections + 1) / m0
    slope = q0 + q1 - 1
    # Once its counts are pulled towards one half, a judge barely better than chance can lose its slope.
    if slope <= 0:
        return Estimate(
            _cut(value), n=count, reason="no interval: too few calibration stories to separate the judge from chance"
        )
    centre = (p + q0 - 1) / slope
    e1, e0 = q1 * (1 - q1) / m1, q0 * (1 - q0) / m0
    half = z * math.sqrt(p * (1 - p) / m + (1 - centre) ** 2 * e0 + centre**2 * e1) / slope
    centre += 2 * z * z * (centre * e1 - (1 - centre) * e0)
    return Estimate(
        _cut(value), n=count, low=_cut(centre - half), high=_cut(centre + half), method="Lang-Reiczigel, 95 %"
    )


def _cut(value: float) -> float:
    return min(1.0, max(0.0, value))
