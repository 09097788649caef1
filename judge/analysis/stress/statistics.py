"""Statistics of one judge on one criterion: changed stories against the untouched ones they were made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from judge.analysis.options.table_options import StressOptions
from judge.analysis.stress.pairing import Changed, Pairing
from judge.analysis.stress.rated import NO_POINTS, Rated
from judge.analysis.stress.result import Dose, Null, Paired
from judge.stats.agreement.repeat_agreement import agreement
from judge.stats.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.estimation.equivalence import tost
from judge.stats.estimation.power import clustered_proportion, minimum_detectable_effect
from judge.stats.ordering.detection import Detection, detection
from judge.stats.shares.auc import auc, point_biserial

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

ONE_REPEAT = "null unavailable: one repeat of each untouched story"
EQUAL_REPEATS = "repeats of an untouched story never differ"
_SAME = 1e-9
_NO_POINTS = Estimate.undefined(NO_POINTS)


def paired(rated: Rated, pairs: Pairing, changed: Changed, options: StressOptions, *, expected: bool) -> Paired:
    """One perturbation at one strength."""
    there = changed.story >= 0
    before, after = pairs.untouched[there], changed.story[there]
    prompt = pairs.prompt[there]
    found, test = detected(rated, before, after, prompt), changed.facts.test
    published = _published(rated, pairs, after) if options.as_published else (None, None)
    row = Paired(
        subject=rated.subject,
        facts=changed.facts,
        strength=changed.strength,
        expected=expected,
        detection=found,
        drop=_NO_POINTS,
        against_noise=_NO_POINTS,
        detectable=None,
        p=None if test == "degenerate" else found.p_raised if test == "attack" else found.p,
        wilcoxon=_wilcoxon(rated.merit[before] - rated.merit[after], prompt),
        asked=int(rated.asked[after].sum()),
        rated=int((~np.isnan(rated.means[after])).sum()),
        correlation=published[0],
        auc=published[1],
        measured=rated.measure is not None,
    )
    return row if row.measured else _in_points(row, rated, pairs, changed, options)


def detected(rated: Rated, before: Codes, after: Codes, prompt: Codes) -> Detection:
    """Detection of the changed stories; undefined with the reason of a measure that knows no better."""
    if rated.measure is not None and not rated.measure.better:
        return Detection(Estimate.undefined(rated.measure.reason or ""), 0, 0, 0)
    return detection(rated.merit[before] - rated.merit[after], prompt)


def _in_points(row: Paired, rated: Rated, pairs: Pairing, changed: Changed, options: StressOptions) -> Paired:
    """The row with what is counted in points of the rating scale."""
    there = changed.story >= 0
    before, after, prompt = pairs.untouched[there], changed.story[there], pairs.prompt[there]
    difference = rated.means[before] - rated.means[after]
    known = ~np.isnan(difference)
    attack, invariance = changed.facts.test == "attack", changed.facts.test == "invariance"
    return replace(
        row,
        drop=_mean(difference, prompt),
        against_noise=_in_noise(rated, pairs, difference),
        detectable=_detectable(difference[known], prompt[known]),
        same=tost(difference, -options.margin, options.margin, cluster=prompt) if invariance else None,
        flips=_flips(rated, before, after, prompt) if invariance else None,
        top=_share(rated.points(rated.means[after]) >= rated.scale.max - _SAME, known, prompt) if attack else None,
        top_before=_share(rated.points(rated.means[before]) >= rated.scale.max - _SAME, known, prompt)
        if attack
        else None,
        lowest=_lowest(rated, after, prompt) if changed.facts.test == "degenerate" else None,
    )


def null(rated: Rated, pairs: Pairing) -> Null:
    """The first half of the repeats of untouched stories against the second."""
    repeats = rated.repeats[pairs.untouched]
    half = repeats.shape[1] // 2
    spread = agreement(rated.points(repeats))
    noise = agreement(repeats).within_sd
    wide = _spread(rated.means[pairs.untouched])
    if not half or not noise.defined:
        nothing = Estimate.undefined(ONE_REPEAT)
        return Null(rated.subject, Detection(nothing, 0, 0, 0), nothing, nothing, nothing, wide)
    difference = _row_means(repeats[:, :half]) - _row_means(repeats[:, half : 2 * half])
    drop = _mean(difference, pairs.prompt)
    return Null(rated.subject, detection(difference, pairs.prompt), drop, spread.flip, noise, wide)


def _spread(ratings: Floats) -> Estimate:
    """Standard deviation of the untouched stories' ratings."""
    known = ratings[~np.isnan(ratings)]
    if known.size < 2:
        return Estimate.undefined("undefined with fewer than 2 rated stories")
    return Estimate(float(known.std(ddof=1)), n=known.size)


def dose(rated: Rated, pairs: Pairing) -> Iterator[Dose]:
    """Each perturbation with several strengths: the slope of each origin's drop over the doublings of strength."""
    for _, group in groupby(pairs.changed, key=lambda changed: changed.facts.name):
        several = list(group)
        if len(several) < 2:
            continue
        drops = np.stack([_drop(rated, pairs, changed) for changed in several], axis=1)
        doubled = np.log2(np.array([changed.strength for changed in several], dtype=np.float64))
        known = ~np.isnan(drops)
        count = np.maximum(known.sum(axis=1), 1)[:, None]
        x = np.where(known, doubled - np.where(known, doubled, 0).sum(axis=1, keepdims=True) / count, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            slopes = (x * np.nan_to_num(drops)).sum(axis=1) / (x**2).sum(axis=1)
        slopes[~np.isfinite(slopes)] = np.nan
        strengths = tuple(changed.strength for changed in several)
        yield Dose(rated.subject, several[0].facts, strengths, _mean(slopes, pairs.prompt), _p(slopes, pairs.prompt))


def _drop(rated: Rated, pairs: Pairing, changed: Changed) -> Floats:
    after = np.where(changed.story >= 0, rated.means[changed.story], np.nan)
    return np.asarray(rated.means[pairs.untouched] - after, dtype=np.float64)


def _mean(values: Floats, prompt: Codes) -> Estimate:
    known = ~np.isnan(values)
    if not known.any():
        return Estimate.undefined("undefined without a pair of rated stories")
    return means.clustered(values[known], _codes(prompt[known]))


def _codes(prompt: Codes) -> Codes:
    return np.unique(prompt, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _error(values: Floats, prompt: Codes) -> tuple[float, int] | None:
    """Clustered standard error and degrees of freedom; None where there is no variance to go by."""
    if not values.size:
        return None
    error, clusters = means.clustered_error(values, _codes(prompt))
    return None if error is None or error < 1e-12 else (error, clusters - 1)


def _detectable(difference: Floats, prompt: Codes) -> float | None:
    found = _error(difference, prompt)
    return None if found is None else minimum_detectable_effect(found[0], df=found[1])


def _p(values: Floats, prompt: Codes) -> float | None:
    from scipy import special

    known = ~np.isnan(values)
    found = _error(values[known], prompt[known])
    if found is None:
        return None
    return float(2 * special.stdtr(found[1], -abs(float(values[known].mean())) / found[0]))


def _wilcoxon(difference: Floats, prompt: Codes) -> float | None:
    """Wilcoxon's signed ranks of story-prompts' mean differences, which are independent; None where all are 0."""
    from scipy import stats

    known = ~np.isnan(difference)
    difference = difference[known]
    if not difference.size:
        return None
    group = _codes(prompt[known])
    mean = np.bincount(group, weights=difference) / np.bincount(group)
    mean = np.round(mean[np.abs(mean) > _SAME], 9)
    return float(stats.wilcoxon(mean).pvalue) if mean.size > 1 else None


def _in_noise(rated: Rated, pairs: Pairing, difference: Floats) -> Estimate:
    """The mean drop in standard deviations within untouched stories."""
    noise = agreement(rated.repeats[pairs.untouched]).within_sd
    if noise.value is None:
        return Estimate.undefined(ONE_REPEAT)
    if noise.value < _SAME:
        return Estimate.undefined(EQUAL_REPEATS)
    known = difference[~np.isnan(difference)]
    if not known.size:
        return Estimate.undefined("undefined without a pair of rated stories")
    return Estimate(float(known.mean()) / noise.value, n=known.size)


def _flips(rated: Rated, before: Codes, after: Codes, prompt: Codes) -> Estimate:
    """Chance that a single rating of the changed story is another point than one of the untouched story."""
    x, y = rated.points(rated.repeats[before]), rated.points(rated.repeats[after])
    both = ~np.isnan(x)[:, :, None] & ~np.isnan(y)[:, None, :]
    unequal = both & (np.abs(np.nan_to_num(x)[:, :, None] - np.nan_to_num(y)[:, None, :]) > _SAME)
    count = both.sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        return _mean(np.where(count > 0, unequal.sum(axis=(1, 2)) / np.maximum(count, 1), np.nan), prompt)


def _share(hits: NDArray[np.bool_], known: NDArray[np.bool_], prompt: Codes) -> Estimate:
    if not known.any():
        return Estimate.undefined("undefined without a pair of rated stories")
    return clustered_proportion(hits[known].astype(np.float64), prompt[known])


def _lowest(one: Rated, after: Codes, prompt: Codes) -> Estimate:
    rated = ~np.isnan(one.means[after])
    return _share(one.points(one.means[after]) <= one.scale.min + _SAME, rated, prompt)


def _row_means(ratings: Floats) -> Floats:
    known = ~np.isnan(ratings)
    count = known.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, np.nansum(ratings, axis=1) / count, np.nan), dtype=np.float64)


def _published(rated: Rated, pairs: Pairing, after: Codes) -> tuple[Estimate, Estimate]:
    """Point-biserial correlation and AUC of all untouched and these changed stories, as if they were not paired."""
    if rated.measure is not None and not rated.measure.better:
        nothing = Estimate.undefined(rated.measure.reason or "")
        return nothing, nothing
    rating = np.concatenate([rated.merit[pairs.untouched], rated.merit[after]])
    whole = np.arange(rating.size) < pairs.untouched.size
    return point_biserial(rating, whole).r, auc(rating, whole)
