"""Correlations of systems' true means: resampled means with their own sampling noise removed.

The system-level correlation of a study is that of sample means, over its story-prompts. The question is about the
systems' true means, over story-prompts like these, of the judge and of people alike. Sample means are the true ones
with noise, so that their correlation lies nearer to 0, or, where judge and people share the stories' noise, away from
it; and bootstrap resamples carry that noise twice, so that an ordinary interval can lie below its own estimate.

Here the differences between true means are taken as drawn from a bivariate normal distribution of covariance T, and the
differences between sample means as true ones plus noise of covariance V, which is what resamples scatter by:

1. the sample means' covariance M has S - 1 degrees of freedom; for each resample a plausible T + V is drawn by
   inverting the Cholesky root of a Wishart matrix: the right-Haar distribution of a covariance matrix, whose intervals
   for a correlation have exactly their nominal coverage (Berger & Sun 2008, Objective priors for the bivariate normal
   model, Annals of Statistics 36). The Wishart matrices of all rows of a table come from the same random matrices,
   turned into the directions in which the systems differ in that row: rows go together as their systems' differences
   do, which intervals of differences and of means of rows need;
2. T is what it exceeds V by; a side that does not exceed its noise has next to no variance (systems may be all equal
   there), and no covariance exceeds what the variances allow;
3. the true means given T are the sample means drawn in by T (T + V)^-1, with errors of covariance T (T + V)^-1 V
   (Lindley & Smith 1972, Bayes estimates for the linear model, JRSS B 34, section 3), taken from the resample itself,
   so that rows of a table that share their resamples stay paired.

With many story-prompts nothing is drawn in and the values are those of the ordinary bootstrap; with few, or with
systems that are alike, they spread as far as 1 and -1, since the order of equal systems is not known. For three systems
or more; normality matters only where noise is large beside the systems' differences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.stats.correlation import coefficients
from judge.stats.correlation.coefficients import Coefficient
from judge.stats.estimate import Estimate
from judge.stats.resampling import resampled_correlation
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.resampling.group_means import in_resamples

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_LITTLE = 1e-9
"""Beside a variance: nothing. Keeps noiseless sides invertible, and gives equal systems an order."""

_BLOCK = 4_000_000


def correlations(
    resamples: Resamples, x: Floats, y: Floats, group: Codes, coefficient: Coefficient, seed: int
) -> Floats:
    """The correlation between plausible true means of groups (systems), once for each resample.

    Parameters
    ----------
    resamples : Resamples
        Of one factor that cuts across the groups: story-prompts, or stories.
    x : array, shape (n,) or (judges, n)
        Each judge's ratings; NaN = missing, left out pairwise for that judge alone.
    y : array, shape (n,)
        The people's ratings.
    group : array of int, shape (n,)
        System of each story, 0..
    coefficient : {"kendall", "spearman", "pearson"}
        As for `coefficients.correlate`.
    seed : int
        Of the covariances drawn: the same for all rows of a table, so that rows are paired.

    Returns
    -------
    array, shape (B,) or (judges, B)
        NaN throughout where fewer than three groups have stories, or a side's means are all equal.
    """
    judges = np.atleast_2d(x)
    if resamples.split(group)[1] is None:
        # Groups were drawn as wholes: their means have no noise to take off, only the choice of groups varies.
        return resampled_correlation.values(resamples, x, y, coefficient, grouping="means", group=group)
    resampled = np.full((2, len(judges), resamples.size, int(group.max()) + 1), np.nan)
    sample = np.full((2, len(judges), resampled.shape[3]), np.nan)
    for j, block, (mean_x, mean_y, _) in in_resamples(resamples, judges, y, group):
        resampled[0, j, block], resampled[1, j, block] = mean_x, mean_y
    for j, _, (mean_x, mean_y, _) in in_resamples(resamples.whole(), judges, y, group):
        sample[0, j], sample[1, j] = mean_x[0], mean_y[0]
    out = np.full((len(judges), resamples.size), np.nan)
    for j, row in enumerate(judges):
        used = ~np.isnan(sample[:, j]).any(axis=0)
        if used.sum() < coefficients.MIN_PAIRS or (np.ptp(sample[:, j][:, used], axis=1) < _LITTLE).any():
            continue
        pairs = ~np.isnan(row + y)
        if abs(coefficients.pearson(row[pairs], y[pairs])) > 1 - _LITTLE:
            # Sides that follow each other exactly have no noise that could hide how their means go together.
            out[j] = resampled_correlation.values(resamples, row, y, coefficient, grouping="means", group=group)
            continue
        units = np.unique(resamples.unit[pairs]).size
        true = draws(sample[:, j][:, used], resampled[:, j][:, :, used], units, np.random.default_rng(seed))
        step = max(1, _BLOCK // int(used.sum()) ** 2)
        for start in range(0, resamples.size, step):
            part = slice(start, start + step)
            mass = np.ones(true[0, part].shape, dtype=np.int64)
            out[j, part] = resampled_correlation.of_means(true[0, part], true[1, part], mass, coefficient)
    return out if np.ndim(x) == 2 else out[0]


def reliability(y: Floats, group: Codes, unit: Codes) -> Estimate:
    """Share of the variance of groups' sample means that is due to their true means; below 0 where the noise exceeds
    it.

    1 - V / M, with M the variance between sample means, and V that of their noise, from the jackknife over units of the
    means' differences (Efron & Tibshirani 1993, equation 11.5), so that what all groups of a unit share is no noise
    where the groups share their units. `n` counts groups.

    Parameters
    ----------
    y : array, shape (n,)
        One rating a story; NaN = none.
    group, unit : arrays of int, shape (n,)
        System and story-prompt of each story.
    """
    present = ~np.isnan(y)
    codes = (np.unique(side[present], return_inverse=True)[1].astype(np.int64) for side in (group, unit))
    of_group, of_unit = codes
    values = y[present]
    groups, units = (int(side.max(initial=-1)) + 1 for side in (of_group, of_unit))
    if groups < 2 or units < 2:
        return Estimate.undefined("undefined with fewer than 2 systems or story-prompts", n=groups)
    counts = np.ones((units, units), dtype=np.int32) - np.eye(units, dtype=np.int32)
    sums, number = (
        np.bincount(of_unit * groups + of_group, weights=weights, minlength=units * groups).reshape(units, groups)
        for weights in (values, np.ones(values.size))
    )
    left = counts @ number
    if (left == 0).any():
        return Estimate.undefined("undefined: all stories of a system have one story-prompt", n=groups)
    between = float(np.var(sums.sum(axis=0) / number.sum(axis=0), ddof=1))
    if between < _LITTLE**2:
        return Estimate.undefined("undefined: all systems have the same mean", n=groups)
    means = (counts @ sums) / left
    means -= means.mean(axis=1, keepdims=True)
    noise = (units - 1) / units * float(((means - means.mean(axis=0)) ** 2).sum()) / (groups - 1)
    return Estimate(1 - noise / between, n=groups)


def draws(sample: Floats, resampled: Floats, units: int, rng: np.random.Generator) -> Floats:
    """Plausible true means of both sides, shape (2, B, groups), each side up to an added constant.

    Parameters
    ----------
    sample : array, shape (2, groups)
        Sample means of both sides, neither of them constant.
    resampled : array, shape (2, B, groups)
        The same in resamples; NaN where a group has no story in that resample: taken as its sample mean.
    units : int
        Number of units that were drawn from: resamples scatter by (units - 1) / units too little.
    rng : numpy Generator
        Source of randomness; the caller's seed.
    """
    groups, size = sample.shape[1], resampled.shape[1]
    # People first, so that all judges share what is drawn for them.
    mean = (sample - sample.mean(axis=1, keepdims=True))[::-1].T
    error = np.moveaxis(np.where(np.isnan(resampled), 0.0, resampled - sample[:, None])[::-1], 0, 2)
    error = (error - error.mean(axis=1, keepdims=True)) * np.sqrt(units / max(1, units - 1))
    error -= error.mean(axis=0)
    noise = np.einsum("bsi,bsj->ij", error, error) / (size * (groups - 1))
    # Nothing, beside what the means vary by: it keeps sides without noise invertible.
    noise += _LITTLE * np.diag((mean * mean).mean(axis=0) + np.diag(noise))
    root = np.linalg.cholesky(noise)
    inverse = np.linalg.inv(root)
    true = inverse @ _true_covariances(mean, noise, size, rng) @ inverse.T
    larger, axes = np.linalg.eigh(true)
    kept = np.maximum(larger, [0.0, _LITTLE])
    kept /= 1 + kept
    shrink = (axes * kept[:, None]) @ np.swapaxes(axes, 1, 2)
    spread = (axes * np.sqrt(kept)[:, None]) @ np.swapaxes(axes, 1, 2)
    mean, error = mean @ inverse.T, error @ inverse.T
    drawn = np.einsum("bij,sj->bsi", shrink, mean) + np.einsum("bij,bsj->bsi", spread, error)
    return np.asarray(np.moveaxis(drawn @ root.T, 2, 0)[::-1], dtype=np.float64)


def _true_covariances(mean: Floats, noise: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Plausible covariances (size, 2, 2) of true means: what those of sample means exceed the noise by.

    A side that does not exceed its noise gets next to no variance, and goes wholly with the other or against it.
    """
    over = _covariances(mean, size, rng) - noise
    variance = np.maximum(np.stack([over[:, 0, 0], over[:, 1, 1]], axis=1), _LITTLE * np.diag(noise))
    limit = np.sqrt(variance.prod(axis=1))
    both = np.clip(over[:, 0, 1], -limit, limit)
    return np.stack([variance[:, 0], both, both, variance[:, 1]], axis=1).reshape(-1, 2, 2)


def _covariances(mean: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Plausible covariances (size, 2, 2) of the distribution that centred means (groups, 2) were drawn from."""
    groups = len(mean)
    # Coordinates of contrasts between groups: an orthonormal basis of vectors that sum to 0.
    basis = np.linalg.qr(np.eye(groups)[:, 1:] - 1 / groups)[0]
    first, second = (basis.T @ mean).T
    length = np.linalg.norm(first)
    first = first / length
    slope = float(first @ second)
    rest = second - slope * first
    apart = np.linalg.norm(rest)
    rest = rest / apart if apart > _LITTLE * length else np.eye(groups - 1)[0]
    out = np.empty((size, 2, 2))
    step = max(1, _BLOCK // groups**2)
    for start in range(0, size, step):
        block = slice(start, min(size, start + step))
        shape = block.stop - start, groups - 1, groups - 1
        of_first = np.linalg.norm(rng.standard_normal(shape) @ first, axis=1)
        of_rest = rng.standard_normal(shape) @ rest
        along = of_rest @ first
        across = np.sqrt(np.maximum((of_rest**2).sum(axis=1) - along**2, _LITTLE))
        # The sample's root [[length, 0], [slope, apart]] times the inverse of [[of_first, 0], [along, across]].
        a, b, c = length / of_first, (slope - apart * along / across) / of_first, apart / across
        out[block] = np.stack([a * a, a * b, a * b, b * b + c * c], axis=1).reshape(-1, 2, 2)
    return out
