"""Heads of a linear model, i.e. its outputs for single criteria. Each head is fitted on all data, and checked and
calibrated on out-of-fold predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.control import FOLDINGS, FOLDS, PENALTIES
from judge.backends.surface.model import Term
from judge.backends.trained.model import Head
from judge.lab.training.evaluation import PreferenceCheck, RatingCheck
from judge.lab.training.linear import PairTask, RatingTask, Stacked, fitted, out_of_fold
from judge.lab.training.material import Material, Numbers, Preferences, Ratings
from judge.lab.training.options import TrainOptions
from judge.stats.regression import pairwise_logistic
from judge.stats.regression.calibration import Line, fit_calibration
from judge.stats.regression.standardised_ridge import fit_ridge
from judge.stats.regression.standardised_ridge import out_of_fold as ridge_out_of_fold
from judge.stats.resampling.grouped_folds import folds_of_groups

Floats = NDArray[np.float64]
Worse = tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]
Done = Callable[[], None]
"""Told of each folding."""

QUANTILES = 41
"""One for each 2.5 per cent of the training stories' scores, by which a model places a new story among them."""

_HARDLY = 1e-6
"""A penalty, or spread, that changes no number and keeps a fit finite where people and scores agree on all pairs."""

_PROBIT = 1.702
"""A logistic curve of this slope is a normal one to within .01."""


def preference_head(
    material: Material, numbers: Numbers, preference: Preferences, worse: Worse, options: TrainOptions, done: Done
) -> tuple[Head, PreferenceCheck, tuple[float, ...]]:
    """The model's output (head) for preferences on one criterion, its check by cross-validation, and the weight of each
    block of columns.

    The head is fitted on all pairs and calibrated on out-of-fold predictions. The check holds out-of-fold predictions
    on folds by story-prompt. `material` and `numbers` hold the stories of the dataset and their numeric features.
    `worse` are pairs of original and perturbed story. `done` is called after each repetition of the cross-validation.
    """
    pairs = preference.pairs
    position = {story.id: k for k, story in enumerate(material.stories)}
    row = np.array([position[str(story)] for story in pairs.stories.index], dtype=np.int64)
    a, b = row[pairs.a], row[pairs.b]
    lead = np.where(numbers.usable[a] & numbers.usable[b], preference.side.net, np.nan)
    # Groups are named as the control names them, so that both are checked on the same folds.
    groups = [str(code) for code in pairs.prompt]
    named = {material.groups[k]: group for k, group in zip(a, groups, strict=True)}
    worse = (worse[0], worse[1], tuple(named.get(group, group) for group in worse[2]))
    task = PairTask(numbers.blocks, a, b, lead, groups, worse)
    folds = min(options.folds, len(set(groups)))
    turns = []
    for turn in range(options.foldings):
        turns.append(out_of_fold(task, folds_of_groups(groups, folds, options.seed + turn), options.seed))
        done()
    odds = np.array(turns)
    check = PreferenceCheck(preference.criterion, material.dataset.name, preference.side, odds)
    fit = fitted(task, task.trainable(), options.seed)
    slope, band = odds_scale(odds.mean(axis=0), preference.side.net)
    scores = fit.score([rows[np.unique(np.concatenate([a, b]))] for rows in numbers.blocks])
    return (
        _head(preference.criterion, "preference", (0.0, 1.0), fit, numbers, slope, band, (1.0, 0.0), scores),
        check,
        fit.weights,
    )


def odds_scale(odds: Floats, people: Floats) -> tuple[float, float]:
    """Two numbers that calibrate a model's preferences: the slope that turns score differences into log odds, and the
    half-width of the band of log odds around 0 that counts as a tie.

    The half-width is chosen so that ties are as frequent as in people's preferences. `odds` are the score differences
    of the pairs, and the sign of `people` is that of people's preference (0 = tie).
    """
    defined = ~np.isnan(odds) & ~np.isnan(people)
    decided = defined & (people != 0)
    weights = pairwise_logistic.fit(odds[decided][:, None], (people[decided] > 0).astype(np.float64), _HARDLY)
    slope = max(float(weights[0]), _HARDLY)
    # Pairs as even as people's ties are frequent count as ties of the model.
    ties = float(np.mean(people[defined] == 0))
    band = float(np.quantile(np.abs(slope * odds[defined]), ties)) if ties else 0.0
    return slope, band


def rating_head(
    material: Material, numbers: Numbers, rating: Ratings, options: TrainOptions, done: Done
) -> tuple[Head, RatingCheck, tuple[float, ...]]:
    """The model's output (head) for ratings on one criterion, its check by cross-validation, and the weight of each
    block of columns.

    The head is fitted on all rated stories and calibrated on out-of-fold predictions. The check holds out-of-fold
    predictions on folds by story-prompt. `material` and `numbers` hold the stories of the dataset and their numeric
    features. `done` is called after each repetition of the cross-validation.
    """
    people = np.where(numbers.usable, rating.people, np.nan)
    task = RatingTask(numbers.blocks, people, material.groups)
    turns = []
    for fold in foldings(material.groups, options):
        turns.append(out_of_fold(task, fold, options.seed))
        done()
    scores = np.array(turns)
    check = rating_check(material, numbers, rating, scores)
    fit = fitted(task, task.trainable(), options.seed)
    line, slope = rating_line(scores.mean(axis=0) + float(np.nanmean(people)), people)
    whole = fit.score(numbers.blocks)
    return (
        _head(rating.criterion, "rating", (rating.low, rating.high), fit, numbers, slope, 0.0, line, whole),
        check,
        fit.weights,
    )


def foldings(groups: Sequence[str], options: TrainOptions) -> list[NDArray[np.int64]]:
    """Fold of each pair or story, one array for each repetition of the cross-validation. Those with the same group name
    in `groups` (such as the story-prompt) are in the same fold.
    """
    folds = min(options.folds, len(set(groups)))
    return [folds_of_groups(groups, folds, options.seed + turn) for turn in range(options.foldings)]


def rating_line(predicted: Floats, people: Floats) -> tuple[tuple[float, float], float]:
    """Slope and intercept of the line that maps a prediction to a human rating, and the slope that turns differences
    between two predictions into log odds of a preference.
    """
    curve = fit_calibration(predicted, people, "linear").curve
    # A line that falls would turn every rating round: then predictions stay as they are.
    line = (curve.slope, curve.intercept) if isinstance(curve, Line) and curve.slope > 0 else (1.0, 0.0)
    error = line[0] * predicted + line[1] - people
    spread = max(float(np.nanstd(error)), _HARDLY)
    return line, line[0] * _PROBIT / (spread * float(np.sqrt(2)))


def rating_check(material: Material, numbers: Numbers, rating: Ratings, scores: Floats) -> RatingCheck:
    """The model's out-of-fold scores of a dataset's stories, together with the human ratings, the out-of-fold scores of
    the control (a surface-feature baseline) and the lengths of these stories.
    """
    people = np.where(numbers.usable, rating.people, np.nan)
    control = []
    folds = min(FOLDS, len(set(material.groups)))
    for turn in range(FOLDINGS):
        fold = folds_of_groups(material.groups, folds, 1 + turn)
        predicted, level = ridge_out_of_fold(
            numbers.surface, people, fold, lambda rows, response: fit_ridge(rows, response, PENALTIES)
        )
        control.append(predicted - level)
    length = numbers.surface[:, numbers.features.index("length")]
    return RatingCheck(
        rating.criterion, material.dataset.name, people, scores, np.mean(control, axis=0), length, material.groups
    )


def _head(
    criterion: str,
    kind: str,
    ends: tuple[float, float],
    fit: Stacked,
    numbers: Numbers,
    slope: float,
    band: float,
    line: tuple[float, float],
    scores: Floats,
) -> Head:
    names = [numbers.features, () if numbers.vectors is None else tuple(map(str, range(numbers.vectors.shape[1])))]
    blocks: list[tuple[Term, ...]] = [(), ()]
    for k, block in enumerate(fit.blocks):
        columns = (block.low, block.high, block.mean, block.scale, block.weight)
        rows = zip(names[k], *(column.tolist() for column in columns), strict=True)
        blocks[k] = tuple(Term(name, *values) for name, *values in rows)
    return Head(
        criterion=criterion,
        kind="preference" if kind == "preference" else "rating",
        low=ends[0],
        high=ends[1],
        intercept=fit.intercept + sum(block.intercept for block in fit.blocks),
        surface=blocks[0],
        embedding=blocks[1],
        slope=slope,
        band=band,
        line=line,
        quantiles=tuple(np.quantile(scores, np.linspace(0, 1, QUANTILES)).tolist()),
    )
