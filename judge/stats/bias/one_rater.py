"""One rater beside the others: ratings that run against theirs, and a judge that repeats one of them.

A scale filled in the wrong way round gives a negative correlation with everybody else. A judge that repeats one rater
gives this rater's ratings story by story; that it agrees with a rater is no sign of it, since people agree with each
other too, and raters who use the same few points agree often. The agreement is therefore taken beyond chance (Cohen
1960), and compared with what the judge and this rater each have with the other raters of the same stories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judge.stats.resampling import jackknife
from judge.stats.resampling.jackknife import Test, Weights

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# With fewer stories in common neither a correlation nor an agreement says much of one rater.
LEAST_STORIES = 20

# Correlations are kept below this, where Fisher's z would be infinite.
_NEAREST = 0.999999


def against_others(own: Floats, others: Floats, story_prompt: Codes) -> Test:
    """One-sided test that one rater's ratings run against the others': that r with the others' mean is below 0.

    `own` (n stories,), `others` (n, k other raters) have NaN where not rated; `story_prompt` (n,). Pearson's r with its
    interval; the jackknife over story-prompts is made on Fisher's z (atanh r), in whose unit `se` is. Undefined with
    fewer than 20 stories that both rated, and where one of them does not vary.
    """
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
    with fewer than 20 such stories, and where one of the sides gives one rating only.
    """
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

    `ratings` (n stories, k raters). NaN where no story has two ratings, and where all ratings are equal.
    """
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
