"""Proportions from a weighted sample, whose items represent known numbers of the population's items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.estimate import Estimate
from judge.stats.shares.proportion import wilson_of_share

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def weighted_share(
    hits: Floats, weight: Floats, cluster: Codes, *, trials: int | None = None, confidence: float = 0.95
) -> Estimate:
    """Share of a population from a weighted, clustered sample, sum w y / sum w (Hájek 1971), with its interval.

    `hits` (n,) are values y between 0 and 1 (such as the share of an item's annotators who see an error in it), NaN
    left out; `weight` (n,) the population's items that each represents, above 0; `cluster` (n,) any codes (such as
    stories). `trials` limits the effective n; None = the number of values used; it may be larger where a value is a
    share of several annotators. `confidence` is the coverage.

    The variance is linearised over clusters as if clusters were drawn with replacement, G / (G - 1) sum_g (sum_{i in g}
    w_i (y_i - p))² / (sum w)² (Särndal, Swensson & Wretman 1992, ch. 5.7), which is conservative for stratified
    samples. The interval is Wilson's with the effective n = p (1 - p) / variance and quantiles of Student's t, as in
    `power.clustered_proportion` (Franco, Little, Louis & Slud 2019). Where all clusters have the same share, or it is 0
    or 1, the effective n is Kish's number of clusters, (sum w)² / sum w². n counts values. Undefined without a value;
    no interval with one cluster.
    """
    present = ~np.isnan(hits)
    y, w = hits[present], weight[present]
    group = np.unique(cluster[present], return_inverse=True)[1]
    if y.size == 0:
        return Estimate.undefined("nothing was answered")
    total = float(w.sum())
    share = float(np.clip(w @ y / total, 0.0, 1.0))
    clusters = int(group.max()) + 1
    if clusters < 2:
        return Estimate(share, n=y.size, reason="no interval: one story only")
    part = np.bincount(group, weights=w * (y - share))
    variance = clusters / (clusters - 1) * float(part @ part) / total**2
    mass = np.bincount(group, weights=w)
    kish = min(float(mass.sum() ** 2 / (mass @ mass)), float(clusters))
    spread = share * (1 - share)
    # Shares of 0 or 1, and equal clusters, have no variance from which an effective n could be estimated.
    effective = kish if spread < 1e-12 or variance < 1e-18 else min(spread / variance, float(trials or y.size))
    quantile = float(special.stdtrit(clusters - 1, 0.5 + confidence / 2))
    low, high = wilson_of_share(share, effective, quantile)
    method = f"Wilson, effective n {effective:.1f}, t over {clusters} stories, {100 * confidence:.0f} %"
    # Rounding must not leave a share of exactly 0 or 1 outside its own interval.
    return Estimate(share, n=y.size, low=min(low, share), high=max(high, share), method=method)


def effective_size(hits: Floats, cluster: Codes) -> float:
    """Effective sample size of a share: p (1 - p) divided by its cluster-robust variance, at most n.

    `hits` (n,) are between 0 and 1, no NaN; `cluster` (n,) holds any codes. It is the number of clusters where it
    cannot be estimated: all values are 0 or all 1, or the clusters do not differ.
    """
    group = np.unique(cluster, return_inverse=True)[1]
    clusters, share = int(group.max()) + 1, float(hits.mean())
    part = np.bincount(group, weights=hits - share)
    spread, variance = share * (1 - share), clusters / max(1, clusters - 1) * float(part @ part) / hits.size**2
    return float(clusters) if min(spread, variance) < 1e-12 else min(spread / variance, float(hits.size))
