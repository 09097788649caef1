"""Correlations of systems' true mean ratings, estimated by removing the sampling noise from resampled means.

The system-level correlation of a study is that of sample means over its story-prompts. Of interest is the correlation
of the systems' true means over the population of story-prompts, for the judge and for people. Sample means equal true
means plus noise. Their correlation is therefore nearer to 0, or further from it where the noise of judge and people is
correlated. Bootstrap resamples contain this noise twice, so that an ordinary interval can lie below its own estimate.

The model: the differences between systems' true means, by judge and by people, are drawn from a bivariate normal
distribution with covariance T. The differences between sample means are those between true means plus noise with
covariance V, where V is the covariance over resamples. Then:

1. the sample means' covariance M has S - 1 degrees of freedom; for each resample a plausible T + V is drawn by
   inverting the Cholesky root of a Wishart matrix: the right-Haar distribution of a covariance matrix, whose intervals
   for a correlation have exactly their nominal coverage (Berger & Sun 2008, Objective priors for the bivariate normal
   model, Annals of Statistics 36). The Wishart matrices of all rows of a table come from the same random matrices,
   rotated to the directions in which the systems differ in that row. What is drawn for two rows is thus as correlated
   as the differences between systems in these rows; intervals of the difference or the mean of two rows need this;
2. T is that matrix minus V. A side (judge or people) whose variance does not exceed its noise gets a variance close
   to 0, since its systems may all be equal, and the covariance is limited to what the variances allow;
3. the true means given T are the sample means shrunk by T (T + V)^-1, with errors of covariance T (T + V)^-1 V
   (Lindley & Smith 1972, Bayes estimates for the linear model, JRSS B 34, section 3), taken from the resample itself,
   so that rows of a table that share their resamples stay paired.

With many story-prompts there is almost no shrinkage, and the values are those of the ordinary bootstrap. With few
story-prompts, or with similar systems, the values can range from -1 to 1, because the order of equal systems is
unknown. At least three systems are required. The assumption of normality matters only where noise is large relative to
the systems' differences."""

from __future__ import annotations

import numpy as np

from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import Estimate
from judge.stats.correlation import coefficients
from judge.stats.correlation.coefficients import Coefficient
from judge.stats.resampling import resampled_correlations
from judge.stats.resampling.bootstrap import Resamples
from judge.stats.resampling.resampled_correlations import in_resamples

# Beside a variance: nothing. Keeps noiseless sides invertible, and gives equal systems an order.
_LITTLE = 1e-9

_BLOCK = 4_000_000


def correlations(
    resamples: Resamples, x: Floats, y: Floats, group: Codes, coefficient: Coefficient, seed: int
) -> Floats:
    """Correlation over systems between plausible true means by a judge and by people, in each of B resamples.

    `resamples` draw story-prompts or single stories of n. `x` (n,) or (judges, n) are the judges' ratings, NaN left out
    pairwise for that judge alone; `y` (n,) or (judges, n) people's, or those that each judge is compared with. `group`
    (n,) holds systems, as codes from 0 on. `coefficient` names the correlation. Use the same `seed` for all rows of a
    table, so that rows are paired. Shape (B,) or (judges, B); all NaN where fewer than three groups have stories, or
    where the means of the judge or of people are all equal."""
    judges = np.atleast_2d(x)
    if resamples.split(group)[1] is None:
        # Groups were drawn as wholes: their means have no noise to take off, only the choice of groups varies.
        return _of_samples(resamples, x, y, group, coefficient)
    out = np.full((len(judges), resamples.size), np.nan)
    step = max(1, _BLOCK // 8 // max(1, resamples.size * (int(group.max(initial=-1)) + 1)))
    for start in range(0, len(judges), step):
        rows = slice(start, start + step)
        people = y if np.ndim(y) == 1 else y[rows]
        out[rows] = _of_rows(resamples, judges[rows], people, group, coefficient, seed)
    return out if np.ndim(x) == 2 else out[0]


def _of_samples(resamples: Resamples, x: Floats, y: Floats, group: Codes, coefficient: Coefficient) -> Floats:
    return resampled_correlations.values(resamples, x, y, coefficient, grouping="means", group=group)


def _of_rows(resamples: Resamples, x: Floats, y: Floats, group: Codes, coefficient: Coefficient, seed: int) -> Floats:
    """As `correlations`; judges with ratings of the same systems are drawn together."""
    resampled = np.full((2, len(x), resamples.size, int(group.max()) + 1), np.nan)
    sample = np.full((2, len(x), resampled.shape[3]), np.nan)
    for rows, block, means in in_resamples(resamples, x, y, group):
        resampled[0, rows, block], resampled[1, rows, block] = means[:2]
    for rows, _, means in in_resamples(resamples.whole(), x, y, group):
        sample[0, rows], sample[1, rows] = means[0][:, 0], means[1][:, 0]
    used = ~np.isnan(sample).any(axis=0)
    out = np.full((len(x), resamples.size), np.nan)
    together: dict[tuple[bytes, int], list[int]] = {}
    for j, row in enumerate(x):
        own = sample[:, j][:, used[j]]
        if used[j].sum() < coefficients.MIN_PAIRS or (np.ptp(own, axis=1) < _LITTLE).any():
            continue
        people = y if y.ndim == 1 else y[j]
        pairs = ~np.isnan(row + people)
        if abs(coefficients.pearson(row[pairs], people[pairs])) > 1 - _LITTLE:
            # Sides that follow each other exactly have no noise that could hide how their means go together.
            out[j] = _of_samples(resamples, row, people, group, coefficient)
            continue
        together.setdefault((used[j].tobytes(), np.unique(resamples.unit[pairs]).size), []).append(j)
    for (_, units), same in together.items():
        systems = used[same[0]]
        true = draws(sample[:, same][..., systems], resampled[:, same][..., systems], units, seed)
        mass = np.ones(true[0].shape, dtype=np.int64)
        out[same] = resampled_correlations.of_means(true[0], true[1], mass, coefficient)
    return out


def reliability(y: Floats, group: Codes, unit: Codes) -> Estimate:
    """Reliability of the sample means of groups (systems): the share of their variance due to the true means, 0 to 1.

    `y` (n,) are ratings, NaN where missing; `group` and `unit` (n,) hold systems and story-prompts. n counts groups. It
    is 1 - V / M, where M is the variance between sample means and V that of their noise, from a jackknife of the
    differences between means over story-prompts (Efron & Tibshirani 1993, equation 11.5). An effect of a story-prompt
    on all its groups is therefore not counted as noise where the groups have the same story-prompts.

    Undefined with fewer than three groups, whose variance between means is a single squared difference: the quotient
    then has no mean. Undefined too where the noise exceeds the variance between means, as a share is not below 0."""
    present = ~np.isnan(y)
    codes = (renumbered(side[present]) for side in (group, unit))
    of_group, of_unit = codes
    values = y[present]
    groups, units = (int(side.max(initial=-1)) + 1 for side in (of_group, of_unit))
    if groups < coefficients.MIN_PAIRS or units < 2:
        few = f"fewer than {coefficients.MIN_PAIRS} systems" if groups < coefficients.MIN_PAIRS else "one story-prompt"
        return Estimate.undefined(f"undefined with {few}", n=groups)
    sums, number = (
        np.bincount(of_unit * groups + of_group, weights=weights, minlength=units * groups).reshape(units, groups)
        for weights in (values, np.ones(values.size))
    )
    # What is left without each story-prompt in turn.
    left = number.sum(axis=0) - number
    if (left == 0).any():
        return Estimate.undefined("undefined: all stories of a system have one story-prompt", n=groups)
    between = float(np.var(sums.sum(axis=0) / number.sum(axis=0), ddof=1))
    if between < _LITTLE**2:
        return Estimate.undefined("undefined: all systems have the same mean", n=groups)
    means = (sums.sum(axis=0) - sums) / left
    means -= means.mean(axis=1, keepdims=True)
    noise = (units - 1) / units * float(((means - means.mean(axis=0)) ** 2).sum()) / (groups - 1)
    if noise > between:
        return Estimate.undefined("undefined: the means' noise exceeds the differences between systems", n=groups)
    return Estimate(1 - noise / between, n=groups)


def draws(sample: Floats, resampled: Floats, units: int, seed: int) -> Floats:
    """Plausible true means of groups (systems) by judges and by people, drawn once for each of B resamples.

    `sample` (2, judges, groups) are the means by each judge and by people; neither may be all equal. `resampled` (2,
    judges, B, groups) are those in resamples; NaN where a group has no story there, its sample mean is then used.
    `units` were resampled (such as story-prompts), to correct the variance over resamples, too small by the factor
    (units - 1) / units. All judges share what is drawn by `seed`. Shape (2, judges, B, groups); each side's means are
    determined up to an additive constant."""
    groups, size = sample.shape[2], resampled.shape[2]
    # People first, so that all judges share what is drawn for them.
    mean = np.moveaxis((sample - sample.mean(axis=2, keepdims=True))[::-1], 0, 2)
    error = np.moveaxis(np.where(np.isnan(resampled), 0.0, resampled - sample[:, :, None])[::-1], 0, 3)
    error = (error - error.mean(axis=2, keepdims=True)) * np.sqrt(units / max(1, units - 1))
    error -= error.mean(axis=1, keepdims=True)
    noise = np.stack([np.einsum("bsi,bsj->ij", own, own) for own in error]) / (size * (groups - 1))
    # Nothing, beside what the means vary by: it keeps sides without noise invertible.
    noise += _LITTLE * np.eye(2) * ((mean * mean).mean(axis=1) + _variances(noise))[:, None]
    root = np.linalg.cholesky(noise)
    inverse = np.linalg.inv(root)
    turned = np.swapaxes(inverse, 1, 2)
    true = inverse[:, None] @ _true_covariances(mean, noise, size, seed) @ turned[:, None]
    larger, axes = np.linalg.eigh(true)
    kept = np.maximum(larger, [0.0, _LITTLE])
    kept /= 1 + kept
    shrink = (axes * kept[..., None, :]) @ np.swapaxes(axes, 2, 3)
    spread = (axes * np.sqrt(kept)[..., None, :]) @ np.swapaxes(axes, 2, 3)
    mean, error = mean @ turned, error @ turned[:, None]
    drawn = np.einsum("kbij,ksj->kbsi", shrink, mean) + np.einsum("kbij,kbsj->kbsi", spread, error)
    return np.asarray(np.moveaxis(drawn @ np.swapaxes(root, 1, 2)[:, None], 3, 0)[::-1], dtype=np.float64)


def _variances(covariances: Floats) -> Floats:
    return np.diagonal(covariances, axis1=-2, axis2=-1)


def _true_covariances(mean: Floats, noise: Floats, size: int, seed: int) -> Floats:
    """Plausible covariances of the true means by people and by each judge (in this order), (judges, size, 2, 2)."""
    plausible = np.stack([_covariances(own, size, np.random.default_rng(seed)) for own in mean])
    over = plausible - noise[:, None]
    # A variance that does not exceed its noise is set close to 0; the correlation stays between -1 and 1.
    variance = np.maximum(_variances(over), _LITTLE * _variances(noise)[:, None])
    limit = np.sqrt(variance.prod(axis=2))
    both = np.clip(over[..., 0, 1], -limit, limit)
    return np.stack([variance[..., 0], both, both, variance[..., 1]], axis=2).reshape(*limit.shape, 2, 2)


def _covariances(mean: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Plausible covariances, (size, 2, 2), behind centred means (groups, 2) by people and by the judge."""
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
