"""Biases of a judge against people, each as a function of weighted stories. Never ranks, never says who is right.

Every function takes arrays over the same n stories and returns a `jackknife.Statistic`: from weights (b, n) to (b,).
Missing ratings are NaN; a story without one of the ratings that a statistic needs has to have weight 0 (`used` of
`jackknife.against_zero`).

People's mean ratings P are the quality Q plus error, and error in a regressor leaks into every other coefficient: a
judge that rates quality perfectly would seem to follow length as well. The error variance of P is therefore estimated
from the disagreement of raters within stories and taken off (Fuller 1987, *Measurement Error Models*, section 2.2);
likewise the judge's own from its repeats. What is left undefined is said: people who do not agree at all leave no
quality to compare with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.stats.jackknife import Statistic

Floats = NDArray[np.float64]

LEAST_RELIABILITY = 0.1
"""Below this share of true variance in people's means nothing can be corrected for: the statistic is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class Replicated:
    """Ratings given several times, as one mean a story with what is needed for its error variance.

    Attributes
    ----------
    mean : array (n,)
        Mean over the ratings of a story; NaN without any.
    count : array (n,)
        Number of ratings.
    within : array (n,)
        Sum of squared deviations from the mean within a story.
    """

    mean: Floats
    count: Floats
    within: Floats

    @classmethod
    def of(cls, ratings: Floats, *, known: bool = False) -> Replicated:
        """From (n, k) ratings, NaN = none; `known` columns are persons, whose leniency is no error and is removed."""
        present = ~np.isnan(ratings)
        count = present.sum(axis=1).astype(np.float64)
        filled = np.where(present, ratings, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(count > 0, filled.sum(axis=1) / count, np.nan)
            if known:
                columns = (np.where(present, ratings - mean[:, None], 0.0)).sum(axis=0) / present.sum(axis=0)
                ratings = ratings - np.where(present.any(axis=0), columns, 0.0)
                filled = np.where(present, ratings, 0.0)
            centre = np.where(count > 0, filled.sum(axis=1) / count, 0.0)
        within = (np.where(present, ratings - centre[:, None], 0.0) ** 2).sum(axis=1)
        return cls(mean, count, within)

    def error_variance(self, weights: Floats) -> Floats:
        """Estimated error variance of a mean, shape (b,): pooled variance within stories x mean of 1 / count.

        0 where no story was rated twice: then the error is not known, and nothing is taken off.
        """
        once = np.where(self.count > 0, 1 / np.maximum(self.count, 1), 0.0)
        freedom = weights @ np.maximum(self.count - 1, 0)
        total = weights @ (self.count > 0).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            pooled = np.where(freedom > 0, (weights @ self.within) / freedom, 0.0)
            return np.asarray(pooled * (weights @ once) / total, dtype=np.float64)


def leniency(judge: Floats, people: Floats) -> Statistic:
    """Mean of judge minus people, in points."""
    return _weighted_mean(judge - people)


def own_preference(judge: Floats, people: Floats, own: NDArray[np.bool_]) -> Statistic:
    """Mean of judge minus people on own systems' stories, minus the same on the others', in points."""
    difference = judge - people
    mine, others = _weighted_mean(np.where(own, difference, np.nan)), _weighted_mean(np.where(own, np.nan, difference))
    return lambda weights: np.asarray(mine(weights) - others(weights), dtype=np.float64)


def length_slope(judge: Floats, people: Replicated, length: Floats) -> Statistic:
    """Points that the judge adds for one standard deviation of log length, at equal quality.

    The coefficient of log length in the regression of the judge's ratings on quality and log length, with people's
    error variance taken off: ((VP - e) C_LJ - C_PL C_PJ) / ((VP - e) VL - C_PL^2). NaN where people's means hold less
    than `LEAST_RELIABILITY` true variance.
    """
    known = ~(np.isnan(judge) | np.isnan(people.mean) | np.isnan(length))
    log = np.where(known, np.log(np.where(known, np.maximum(length, 1), 1.0)), np.nan)
    spread = float(np.nanstd(log)) if known.any() else 0.0
    scaled = (log - np.nanmean(log)) / spread if spread > 0 else np.full(log.shape, np.nan)

    def slope(weights: Floats) -> Floats:
        _, pp = _covariance(people.mean, people.mean, weights)
        quality = _true_variance(pp, people.error_variance(weights))
        pl, ll = _covariance(people.mean, scaled, weights)[1], _covariance(scaled, scaled, weights)[1]
        lj, pj = _covariance(scaled, judge, weights)[1], _covariance(people.mean, judge, weights)[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            bottom = quality * ll - pl * pl
            return np.asarray(np.where(bottom > 1e-12, (quality * lj - pl * pj) / bottom, np.nan), dtype=np.float64)

    return slope


def log_spread(judge: Replicated, people: Replicated) -> Statistic:
    """Log of the ratio of standard deviations, judge to people, both without error variance; below 0 is compression."""

    def ratio(weights: Floats) -> Floats:
        mine = _true_variance(_covariance(judge.mean, judge.mean, weights)[1], judge.error_variance(weights))
        theirs = _true_variance(_covariance(people.mean, people.mean, weights)[1], people.error_variance(weights))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(0.5 * np.log(mine / theirs), dtype=np.float64)

    return ratio


def halo(judge: tuple[Replicated, ...], people: tuple[Replicated, ...]) -> Statistic:
    """Mean correlation between criteria of the judge minus that of people, both corrected for error (Spearman 1904).

    r_cd = C_cd / sqrt((V_c - e_c)(V_d - e_d)), averaged over pairs of criteria. People's errors on two criteria of one
    story come from the same persons and go together, which raises people's side: the difference is a cautious one.
    """

    def difference(weights: Floats) -> Floats:
        return np.asarray(_mean_correlation(judge, weights) - _mean_correlation(people, weights), dtype=np.float64)

    return difference


def excess_at(point: float, step: float, judge: Floats, people: Floats) -> Statistic:
    """Share of the judge's ratings at a point of the scale minus people's; single ratings (n, k), NaN = none."""
    mine, theirs = (_share_at(point, step, ratings) for ratings in (judge, people))
    return _weighted_mean(mine - theirs)


def loss_gap(lost: Floats, asked: Floats, people: Floats) -> Statistic:
    """People's mean rating where the judge's repeats were lost minus where they were not, in points.

    `lost` and `asked` count repeats of each story. NaN where nothing, or everything, was lost.
    """
    rated = np.where(np.isnan(people), 0.0, people)
    kept = asked - lost

    def gap(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            out = (weights @ (lost * rated)) / (weights @ lost) - (weights @ (kept * rated)) / (weights @ kept)
        return np.asarray(np.where(np.isfinite(out), out, np.nan), dtype=np.float64)

    return gap


def _share_at(point: float, step: float, ratings: Floats) -> Floats:
    present = ~np.isnan(ratings)
    near = present & (np.abs(np.where(present, ratings, np.inf) - point) < step / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(present.any(axis=1), near.sum(axis=1) / present.sum(axis=1), np.nan))


def _weighted_mean(values: Floats) -> Statistic:
    known = ~np.isnan(values)
    filled, present = np.where(known, values, 0.0), known.astype(np.float64)

    def mean(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((weights @ filled) / (weights @ present), dtype=np.float64)

    return mean


def _covariance(x: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Sum of weights (b,) and weighted covariance (b,), with the sum of weights minus 1 in the denominator."""
    known = ~(np.isnan(x) | np.isnan(y))
    w = weights[:, known]
    # Centred once on the whole: the products stay small, and the shift leaves a covariance as it is.
    a, b = x[known] - x[known].mean(), y[known] - y[known].mean()
    total = w.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cross = w @ (a * b) - (w @ a) * (w @ b) / total
        return total, np.asarray(np.where(total > 1, cross / (total - 1), np.nan), dtype=np.float64)


def _true_variance(variance: Floats, error: Floats) -> Floats:
    """Variance without error; NaN where less than `LEAST_RELIABILITY` of it is left."""
    left = variance - error
    return np.asarray(np.where(left > LEAST_RELIABILITY * variance, left, np.nan), dtype=np.float64)


def _mean_correlation(rows: tuple[Replicated, ...], weights: Floats) -> Floats:
    spread = [_true_variance(_covariance(r.mean, r.mean, weights)[1], r.error_variance(weights)) for r in rows]
    pairs = [(i, j) for i in range(len(rows)) for j in range(i)]
    parts = [_covariance(rows[i].mean, rows[j].mean, weights)[1] / np.sqrt(spread[i] * spread[j]) for i, j in pairs]
    return np.asarray(np.mean(parts, axis=0), dtype=np.float64)
