"""Biases of a judge's ratings relative to human ratings, each as a function of weighted stories.

Each function takes arrays over the same n stories, NaN where missing, and returns a `jackknife.Statistic`: a function
from weights (b, n) to b values, NaN where undefined. A story without one of the ratings that a statistic needs must
have weight 0 (`used` of `jackknife.against_zero`). Comparisons at equal quality are made by `given_quality`.

Spreads are compared between single ratings of the judge and single ratings of people, both with their error. They are
not compared after removing the error, because error is not the same on both sides: people's disagreement includes each
person's own opinion, and a judge's repeats do not. Mean human ratings are quality plus error, whose variance is
estimated from the disagreement of raters within stories (Fuller 1987, *Measurement Error Models*, section 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judge.base.arrays import Codes, Floats, ratio, row_means
from judge.stats.bias.given_quality import LEAST_RELIABILITY
from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Statistic, Test, Weights

# One rater beside the others: ratings that run against theirs, and a judge that repeats one of them.


# With fewer stories in common neither a correlation nor an agreement says much of one rater.
LEAST_STORIES = 20

# Correlations are kept below this, where Fisher's z would be infinite.
_NEAREST = 0.999999


def against_others(own: Floats, others: Floats, story_prompt: Codes) -> Test:
    """One-sided test that one rater's ratings run against the others': that r with the others' mean is below 0.

    `own` (n stories,), `others` (n, k other raters) have NaN where not rated; `story_prompt` (n,). Pearson's r with its
    interval; the jackknife over story-prompts is made on Fisher's z (atanh r), in whose unit `se` is. Undefined with
    fewer than 20 stories that both rated, and where one of them does not vary."""
    both = ~np.isnan(own) & (~np.isnan(others)).any(axis=1)
    used = np.ones(int(both.sum()), dtype=bool)
    if used.size < LEAST_STORIES:
        return jackknife.undefined(f"undefined with fewer than {LEAST_STORIES} stories that both rated", "less", used)
    x, y = own[both], np.nanmean(others[both], axis=1)
    x, y = x - x.mean(), y - y.mean()
    products = np.stack([x, y, x * y, x**2, y**2], axis=1)

    def fisher(weights: Weights) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_x, mean_y, mean_xy, mean_xx, mean_yy = (weights @ products).T / weights.sum(axis=1)
            cross = mean_xy - mean_x * mean_y
            squares = (mean_xx - mean_x**2) * (mean_yy - mean_y**2)
            r = cross / np.sqrt(np.where(squares > 1e-18, squares, np.nan))
        return np.asarray(np.arctanh(np.clip(r, -_NEAREST, _NEAREST)), dtype=np.float64)

    return _in_range(jackknife.against_zero(fisher, story_prompt[both], used, tail="less"), np.tanh)


def excess_agreement(judge: Floats, rater: Floats, others: Floats, story_prompt: Codes, *, beyond: float) -> Test:
    """One-sided test that a judge agrees with one rater, by more than `beyond`, more than all agreement explains.

    The statistic is kappa(judge, rater) - max(kappa(judge, others), kappa(rater, others)), where kappa is the share of
    equal ratings beyond chance, (observed - expected) / (1 - expected), and a story's others count with the mean over
    them. `judge` (n stories, repeats), `rater` (n,) and `others` (n, k other raters) have NaN where not rated; only
    stories that all three rated are used. `story_prompt` (n,). The interval is that of the statistic itself. Undefined
    with fewer than 20 such stories, and where one of the sides gives one rating only."""
    sides = [judge, rater[:, None], others]
    rated = np.stack([(~np.isnan(side)).any(axis=1) for side in sides]).all(axis=0)
    used = np.ones(int(rated.sum()), dtype=bool)
    if used.size < LEAST_STORIES:
        reason = f"undefined with fewer than {LEAST_STORIES} stories that the judge, a rater and another rater rated"
        return jackknife.undefined(reason, "greater", used)
    mine, theirs, rest = _shares([side[rated] for side in sides])

    def excess(weights: Weights) -> Floats:
        most = np.maximum(_kappa(mine, rest, weights), _kappa(theirs, rest, weights))
        return np.asarray(_kappa(mine, theirs, weights) - most - beyond, dtype=np.float64)

    test = jackknife.against_zero(excess, story_prompt[rated], used, tail="greater")
    return _in_range(test, lambda end: max(-2.0, min(end + beyond, 2.0)))


def kappa_of_people(ratings: Floats) -> float:
    """Agreement of people with each other beyond chance, over all pairs of ratings of one story (Fleiss 1971).

    `ratings` (n stories, k raters). NaN where no story has two ratings, and where all ratings are equal."""
    twice = ratings[(~np.isnan(ratings)).sum(axis=1) > 1]
    if not twice.size:
        return float("nan")
    values = np.unique(twice[~np.isnan(twice)])
    counts = np.stack([(twice == value).sum(axis=1) for value in values], axis=1).astype(np.float64)
    total = counts.sum(axis=1)
    observed = float(((counts * (counts - 1)).sum(axis=1) / (total * (total - 1))).mean())
    expected = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def _in_range(test: Test, change: Callable[[float], float]) -> Test:
    estimate = test.estimate
    value, low, high = (
        None if end is None else float(change(end)) for end in (estimate.value, estimate.low, estimate.high)
    )
    return replace(test, estimate=replace(estimate, value=value, low=low, high=high))


def _shares(sides: list[Floats]) -> list[Floats]:
    """Of each side, the share of its ratings at each value that people gave, (stories, values)."""
    rounded = [side.round(9) for side in sides]
    values = np.unique(np.concatenate([side[~np.isnan(side)] for side in rounded[1:]]))
    return [(side[:, :, None] == values).sum(axis=1) / (~np.isnan(side)).sum(axis=1)[:, None] for side in rounded]


def _kappa(first: Floats, second: Floats, weights: Weights) -> Floats:
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = weights @ (first * second).sum(axis=1) / total
        expected = ((weights @ first) * (weights @ second)).sum(axis=1) / total**2
        return np.asarray((observed - expected) / np.where(expected < 1 - 1e-12, 1 - expected, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class Replicated:
    """Repeated ratings combined to one mean per story, with the sums for its error variance.

    `mean` has the leniency of known persons removed; NaN without a rating. `count` is the number of ratings, and
    `within` the sum of squared deviations from the mean within a story."""

    mean: Floats
    count: Floats
    within: Floats

    @classmethod
    def of(cls, ratings: Floats, *, persons: bool = False) -> Replicated:
        """Mean, number and spread of each story's `ratings` (n, k); of `persons` in columns leniency is removed."""
        present = ~np.isnan(ratings)
        count = present.sum(axis=1).astype(np.float64)
        alike = without_leniency(ratings) if persons else ratings
        mean = row_means(alike)
        within = (np.where(present, alike - mean[:, None], 0.0) ** 2).sum(axis=1)
        return cls(mean, count, within)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the error variance: number of ratings minus number of rated stories."""
        return float(np.maximum(self.count - 1, 0).sum())

    def error_variance(self, weights: Weights) -> Floats:
        """Error variance of a story's mean for each set of `weights` (b, n).

        Pooled variance within stories x mean of 1 / count. 0 where no story was rated twice, because the error is then
        unknown. NaN where no story was rated."""
        once = np.where(self.count > 0, 1 / np.maximum(self.count, 1), 0.0)
        freedom = weights @ np.maximum(self.count - 1, 0)
        total = weights @ (self.count > 0).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            pooled = np.where(freedom > 0, (weights @ self.within) / freedom, 0.0)
            return np.asarray(pooled * (weights @ once) / total, dtype=np.float64)


def without_leniency(ratings: Floats) -> Floats:
    """`ratings` (n, k persons) minus each person's mean distance from the mean of all on the same stories."""
    present = ~np.isnan(ratings)
    distance = ratio(np.where(present, ratings - row_means(ratings)[:, None], 0.0).sum(axis=0), present.sum(axis=0))
    return np.asarray(ratings - np.where(present.any(axis=0), distance, 0.0), dtype=np.float64)


def leniency(judge: Floats, people: Floats) -> Statistic:
    """Leniency: mean difference of `judge` minus `people`, each story's mean ratings (n,), in points."""
    return _weighted_mean(judge - people)


def single_spread(judge: Floats, people: Floats) -> Statistic:
    """Log of (standard deviation of the judge's single ratings / that of people's), both with their error.

    `judge` (n, repeats) and `people` (n, persons): each story counts once, with the mean over its ratings. A value
    below 0 means that the judge's ratings are less spread out. A judge with less error than a person also has a smaller
    spread, even if it uses the scale as widely: see `slope_deficit`. NaN where either does not vary."""
    mine, theirs = _variance_of_singles(judge), _variance_of_singles(people)

    def spread(weights: Weights) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            out = 0.5 * np.log(mine(weights) / theirs(weights))
        return np.asarray(np.where(np.isfinite(out), out, np.nan), dtype=np.float64)

    return spread


def _variance_of_singles(ratings: Floats) -> Statistic:
    defined = ratings[~np.isnan(ratings)]
    centred = ratings - (defined.mean() if defined.size else 0.0)
    square, mean = _weighted_mean(row_means(centred**2)), _weighted_mean(row_means(centred))
    return lambda weights: np.asarray(square(weights) - mean(weights) ** 2, dtype=np.float64)


def slope_deficit(judge: Floats, people: Replicated) -> Statistic:
    """Change in the judge's rating per point of people's true mean rating, minus 1: C(J, P) / (V(P) - e) - 1.

    J are the ratings of `judge` (n,), P the mean human ratings, with error variance e (`people`; Fuller 1987, section
    2.2). C is their covariance, V(P) the variance of P. The judge's own error cancels. A value below 0 means that the
    judge's ratings change less than people's, because of less spread or of other opinions. NaN where the reliability of
    the mean human ratings is .1 or less."""

    def deficit(weights: Weights) -> Floats:
        variance = _covariance(people.mean, people.mean, weights)[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = _covariance(judge, people.mean, weights)[1] / _true_variance(
                variance, people.error_variance(weights)
            )
        return np.asarray(slope - 1, dtype=np.float64)

    return deficit


def excess_at(point: float, step: float, judge: Floats, people: Floats) -> Statistic:
    """Share of the judge's ratings at a `point` of the scale, minus the share of human ratings there, -1 to 1.

    A rating within half a `step`, the distance between points, counts. `judge` and `people` (n, columns) are single
    ratings; each story counts once, with the share of its ratings, and is left out without ratings of both."""
    mine, theirs = (_share_at(point, step, ratings) for ratings in (judge, people))
    return _weighted_mean(mine - theirs)


def loss_gap(lost: Floats, asked: Floats, people: Floats) -> Statistic:
    """Mean human rating of stories over the judge's lost repeats (without a rating), minus that over the others.

    `lost` and `asked` (n,) count the lost and all repeats, 0 for a story without a human rating; `people` (n,) are mean
    human ratings. A value below 0 means that ratings of worse stories are lost more often. NaN where no repeat or every
    repeat was lost."""
    rated = np.where(np.isnan(people), 0.0, people)
    kept = asked - lost

    def gap(weights: Weights) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            out = (weights @ (lost * rated)) / (weights @ lost) - (weights @ (kept * rated)) / (weights @ kept)
        return np.asarray(np.where(np.isfinite(out), out, np.nan), dtype=np.float64)

    return gap


def _share_at(point: float, step: float, ratings: Floats) -> Floats:
    present = ~np.isnan(ratings)
    near = present & (np.abs(np.where(present, ratings, np.inf) - point) < step / 2)
    return ratio(near.sum(axis=1), present.sum(axis=1))


def _weighted_mean(values: Floats) -> Statistic:
    rated = ~np.isnan(values)
    filled, present = np.where(rated, values, 0.0), rated.astype(np.float64)
    return lambda weights: ratio(weights @ filled, weights @ present)


def _covariance(x: Floats, y: Floats, weights: Weights) -> tuple[Floats, Floats]:
    """Sum of weights, and weighted covariance with that sum minus 1 in the denominator."""
    present = ~(np.isnan(x) | np.isnan(y))
    w = weights[:, present]
    # Centred once on the whole: the products stay small, and the shift leaves a covariance as it is.
    a, b = x[present] - x[present].mean(), y[present] - y[present].mean()
    total = w.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cross = w @ (a * b) - (w @ a) * (w @ b) / total
        return total, np.asarray(np.where(total > 1, cross / (total - 1), np.nan), dtype=np.float64)


def _true_variance(variance: Floats, error: Floats) -> Floats:
    """Variance minus error variance; NaN where less than a tenth remains."""
    left = variance - error
    return np.asarray(np.where(left > LEAST_RELIABILITY * variance, left, np.nan), dtype=np.float64)
