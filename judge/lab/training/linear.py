"""Linear models that score stories, one for each block of columns (surface features, or an embedding). The weights of
several blocks are fitted on predictions for held-out story-prompts (Breiman 1996, Stacked Regressions)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from judge.base.arrays import Codes, Floats
from judge.stats.regression import ordinal
from judge.stats.regression.ridge import fit_stack, fit_standardised
from judge.stats.resampling.bootstrap import folds_of_groups

Mask = NDArray[np.bool_]

# Of a surface's and of an embedding's weights, on differences in units of their root mean square; fixed.
PAIR_PENALTIES = (100.0, 1000.0)

RIDGE_PENALTIES = (30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
INNER_FOLDS = 5
# Spread below which a column is constant and is not divided by it.
_CONSTANT = 1e-12

# Penalty that only keeps a fit finite where the blocks' predictions separate all pairs.
_HARDLY = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """An intercept and weights of p standardised columns, clipped to their range in training."""

    low: Floats
    high: Floats
    mean: Floats
    scale: Floats
    weight: Floats
    intercept: float

    def score(self, rows: Floats) -> Floats:
        """Scores (n,) of rows (n, p)."""
        held = (np.clip(rows, self.low, self.high) - self.mean) / self.scale
        return np.asarray(held @ self.weight + self.intercept, dtype=np.float64)

    def times(self, factor: float) -> Linear:
        return Linear(self.low, self.high, self.mean, self.scale, self.weight * factor, self.intercept * factor)


@dataclass(frozen=True, slots=True, eq=False)
class Stacked:
    """Sum of an intercept and of one linear score for each block, already multiplied by its weight."""

    blocks: tuple[Linear, ...]
    intercept: float
    weights: tuple[float, ...]

    def score(self, blocks: Sequence[Floats]) -> Floats:
        """Scores (n,) of one array (n, p) for each block."""
        parts = [fit.score(rows) for fit, rows in zip(self.blocks, blocks, strict=True)]
        return np.asarray(np.sum(parts, axis=0) + self.intercept, dtype=np.float64)


class Task(Protocol):
    """Predicting preferences or ratings. Units (pairs or stories) belong to groups that are held out as a whole."""

    @property
    def blocks(self) -> Sequence[Floats]:
        """One array (stories, columns) for each block."""
        ...

    @property
    def groups(self) -> Sequence[str]:
        """Group of each unit."""
        ...

    def trainable(self) -> Mask:
        """Units that can be used for fitting."""
        ...

    def fit(self, block: int, train: Mask) -> Linear:
        """The score fitted with one block on the units in `train`."""
        ...

    def predicted(self, block: int, fit: Linear, units: Mask) -> Floats:
        """Predictions of one block's score for `units`."""
        ...

    def stack(self, predictions: Floats, train: Mask) -> tuple[Floats, float]:
        """Non-negative weights (blocks,) and an intercept, from out-of-fold predictions (units in `train`, blocks)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PairTask:
    """Preferences between stories `a` and `b`; `lead` (pairs,) is above 0 where people prefer a, below 0 for b. Pairs
    with 0 or NaN are not used for fitting. `worse` holds pairs of original and perturbed story with their groups, used
    for fitting but not predicted."""

    blocks: Sequence[Floats]
    a: Codes
    b: Codes
    lead: Floats
    groups: Sequence[str]
    worse: tuple[Codes, Codes, tuple[str, ...]] = (np.empty(0, np.int64), np.empty(0, np.int64), ())

    def trainable(self) -> Mask:
        return np.asarray(np.abs(np.nan_to_num(self.lead)) > 0)

    def fit(self, block: int, train: Mask) -> Linear:
        """Penalised logistic regression, without intercept, on differences between two stories' columns."""
        rows = self.blocks[block]
        inside = {self.groups[int(k)] for k in np.flatnonzero(train)}
        outside = set(self.groups) - inside
        # A perturbed story is held out with its origin's story-prompt.
        extra = np.array([group not in outside for group in self.worse[2]], dtype=bool)
        a = np.concatenate([self.a[train], self.worse[0][extra]])
        b = np.concatenate([self.b[train], self.worse[1][extra]])
        won = np.concatenate([self.lead[train] > 0, np.ones(int(extra.sum()), dtype=bool)])
        seen = rows[np.unique(np.concatenate([a, b]))]
        difference = rows[a] - rows[b]
        spread = np.sqrt((difference**2).mean(axis=0))
        scale = np.where(spread > _CONSTANT, spread, 1.0)
        weight = ordinal.fit(difference / scale, won.astype(np.float64), PAIR_PENALTIES[block])
        return Linear(seen.min(axis=0), seen.max(axis=0), seen.mean(axis=0), scale, weight, 0.0)

    def predicted(self, block: int, fit: Linear, units: Mask) -> Floats:
        """Log odds that story a is preferred."""
        rows = self.blocks[block]
        return fit.score(rows[self.a[units]]) - fit.score(rows[self.b[units]])

    def stack(self, predictions: Floats, train: Mask) -> tuple[Floats, float]:
        """Logistic regression on each block's log odds, (pairs in `train`, blocks); the intercept is 0. Blocks whose
        weight would be negative get weight 0."""
        won = (self.lead[train] > 0).astype(np.float64)
        weights = np.zeros(predictions.shape[1])
        used = np.arange(predictions.shape[1])
        while used.size:
            block_weights = ordinal.fit(predictions[:, used], won, _HARDLY)
            if (block_weights >= 0).all():
                weights[used] = block_weights
                break
            used = used[block_weights >= 0]
        return (weights if weights.any() else np.eye(1, weights.size)[0]), 0.0


@dataclass(frozen=True, slots=True, eq=False)
class RatingTask:
    """People's mean rating of each story (stories,), NaN where there is none."""

    blocks: Sequence[Floats]
    people: Floats
    groups: Sequence[str]

    def trainable(self) -> Mask:
        return ~np.isnan(self.people)

    def fit(self, block: int, train: Mask) -> Linear:
        """Ridge regression with the penalty that minimises the leave-one-out error."""
        ridge = fit_standardised(self.blocks[block][train], self.people[train], RIDGE_PENALTIES)
        return Linear(ridge.low, ridge.high, ridge.mean, ridge.scale, ridge.weights, ridge.intercept)

    def predicted(self, block: int, fit: Linear, units: Mask) -> Floats:
        return fit.score(self.blocks[block][units])

    def stack(self, predictions: Floats, train: Mask) -> tuple[Floats, float]:
        """Least squares of ratings on each block's predictions."""
        stack = fit_stack(predictions, self.people[train])
        if not stack.weights.any():
            return np.eye(1, predictions.shape[1])[0], 0.0
        return stack.weights, stack.intercept


def fitted(task: Task, train: Mask, seed: int) -> Stacked:
    """The score fitted on `train`, with block weights by stacking on folds of its groups."""
    train = train & task.trainable()
    fits = [task.fit(k, train) for k in range(len(task.blocks))]
    if len(fits) == 1:
        return Stacked(tuple(fits), 0.0, (1.0,))
    predictions = np.column_stack([_held_out(task, k, train, seed) for k in range(len(fits))])
    weights, intercept = task.stack(predictions[train], train)
    blocks = tuple(fit.times(float(weight)) for fit, weight in zip(fits, weights, strict=True))
    return Stacked(blocks, intercept, tuple(float(weight) for weight in weights))


def _held_out(task: Task, block: int, train: Mask, seed: int) -> Floats:
    """Predictions for the units in `train`, NaN for others, each by a fit on the folds without it."""
    at = np.flatnonzero(train)
    groups = [task.groups[int(k)] for k in at]
    fold = folds_of_groups(groups, min(INNER_FOLDS, len(set(groups))), seed)
    predicted = np.full(train.size, np.nan)
    for held in np.unique(fold):
        inside = np.zeros(train.size, dtype=bool)
        inside[at[fold == held]] = True
        predicted[inside] = task.predicted(block, task.fit(block, train & ~inside), inside)
    return predicted


def out_of_fold(task: Task, fold: Codes, seed: int) -> Floats:
    """Out-of-fold prediction of each unit; NaN where no fit is possible. Predicted ratings have the mean of the
    training ratings subtracted, because it is higher where the held-out ratings are lower: otherwise predictions of
    pure noise would correlate negatively with the ratings."""
    predicted = np.full(fold.size, np.nan)
    for held in np.unique(fold):
        inside = fold == held
        train = ~inside & task.trainable()
        # Of one story-prompt no fold can be held out inside the fit.
        if len({task.groups[int(k)] for k in np.flatnonzero(train)}) < min(INNER_FOLDS, 2):
            continue
        fit = fitted(task, train, seed)
        parts = [task.predicted(k, block, inside) for k, block in enumerate(fit.blocks)]
        level = float(np.mean(task.people[train])) if isinstance(task, RatingTask) else 0.0
        predicted[inside] = np.sum(parts, axis=0) + fit.intercept - level
    return predicted
