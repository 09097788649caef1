"""Agreement of a jury's predictions with people: means over foldings (assignments of stories to folds), with paired
intervals on common stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from judge.analysis.inputs.resamples import LEAST_UNITS, draw
from judge.analysis.jury.nested_folds import Folding
from judge.analysis.jury.panel import Panel
from judge.analysis.options.choices import INTERVALS
from judge.analysis.options.table_options import JuryOptions
from judge.base.arrays import Floats, Masks
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation import coefficients, kendall
from judge.stats.regression import calibration as calibration_error
from judge.stats.resampling import bootstrap
from judge.stats.resampling import resampled_correlations as resampled_tau

_NAMES = ("the ratings", "the people's ratings")


class Scored:
    """Tau-b between predictions (shape (n stories,) for each folding) and human means, also in resamples."""

    def __init__(self, predictions: Sequence[Floats], people: Floats, resamples: bootstrap.Resamples | None) -> None:
        self.predictions, self.people, self.resamples = predictions, people, resamples

    @cached_property
    def rated(self) -> Masks:
        """Mask of the stories with human ratings and a prediction in every folding, shape (n stories,)."""
        lost = np.isnan(self.people)
        for each in self.predictions:
            lost = lost | np.isnan(each)
        return np.asarray(~lost, dtype=np.bool_)

    @cached_property
    def by_folding(self) -> list[Estimate]:
        """Tau-b in each folding, on the stories of `rated`."""
        y = self.people[self.rated]
        return [coefficients.correlate(p[self.rated], y, names=_NAMES, unit="stories") for p in self.predictions]

    @cached_property
    def tau(self) -> Estimate:
        """Mean tau-b over foldings, without an interval; undefined if one is."""
        values = [each.value for each in self.by_folding if each.value is not None]
        if len(values) < len(self.by_folding):
            return next(each for each in self.by_folding if each.value is None)
        return Estimate(float(np.mean(values)), n=int(self.rated.sum()))

    @cached_property
    def drawn(self) -> Floats | None:
        """Mean tau-b over foldings in each resample, shape (b resamples,); None without resamples."""
        if self.resamples is None:
            return None
        people = kendall.codes(np.where(self.rated, self.people, np.nan))
        values = [resampled_tau.tau_b(self.resamples, kendall.codes(each), people) for each in self.predictions]
        return np.asarray(np.mean(values, axis=0), dtype=np.float64)

    def among(self, stories: Masks) -> Scored:
        """These predictions with their score restricted to the stories in a mask."""
        if bool((self.rated <= stories).all()):
            return self
        return Scored(self.predictions, np.where(stories, self.people, np.nan), self.resamples)


class Scorer:
    """Tau-b with people of a jury, its best member, the mean of its members and the control judge. All scores of a
    dataset use the same resamples, so that differences are paired. `refused` says why there are no intervals."""

    def __init__(self, matrix: RatingMatrix, options: JuryOptions) -> None:
        self.resamples: bootstrap.Resamples | None = None
        self.refused: str | None = None
        resampled = INTERVALS[options.ci].resampled
        if not resampled:
            return
        if np.unique(matrix.story_prompt).size < LEAST_UNITS:
            self.refused = f"no intervals: fewer than {LEAST_UNITS} story-prompts"
            return
        self.refused = bootstrap.both_refused(matrix.system) if "systems" in resampled else None
        if self.refused is None:
            self.resamples = draw(matrix, options.ci, options.resamples, np.random.default_rng(options.seed))

    def score(self, predictions: Sequence[Floats], people: Floats) -> Scored:
        """Agreement of predictions, one array of shape (n stories,) for each folding, with mean human ratings."""
        return Scored(predictions, people, self.resamples)

    def tau(self, scored: Scored) -> Estimate:
        """Mean tau-b over foldings, with its interval."""
        return self.with_interval(scored.tau, scored.drawn if scored.tau.defined else None)

    def gain(self, pairs: Sequence[tuple[Scored, Scored]]) -> Estimate:
        """Mean over pairs of the first tau-b minus the second, on the stories that both predict; undefined if one pair
        is. A pair has the scores of two raters on one criterion; `n` is the smallest number of stories."""
        if not pairs:
            return Estimate.undefined("there is nothing to compare")
        common = [(a.among(a.rated & b.rated), b.among(a.rated & b.rated)) for a, b in pairs]
        differences = []
        for first, second in common:
            lost = next((each.tau for each in (first, second) if each.tau.value is None), None)
            if first.tau.value is None or second.tau.value is None:
                return Estimate.undefined((lost.reason if lost else None) or "undefined", n=first.tau.n)
            differences.append(first.tau.value - second.tau.value)
        estimate = Estimate(float(np.mean(differences)), n=min(first.tau.n for first, _ in common))
        drawn = [a.drawn - b.drawn for a, b in common if a.drawn is not None and b.drawn is not None]
        return self.with_interval(estimate, np.mean(drawn, axis=0) if drawn else None)

    def with_interval(self, estimate: Estimate, drawn: Floats | None) -> Estimate:
        """The estimate with an interval from its values in resamples; unchanged without."""
        if drawn is None or not estimate.defined or self.resamples is None:
            return estimate
        return self.resamples.interval(estimate, drawn)


# Errors and reliability of a jury's ratings before and after calibration, out of fold.

Stage = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A jury's errors before or after calibration, in points of the human scale. `bias` is the mean rating minus the
    human mean, `gap` the calibration error, `spread` the standard deviation of the ratings. Each of the foldings rates
    all `n` stories. `bins` have the mean human rating in bins of the jury's."""

    stage: Stage
    rmse: Estimate
    bias: Estimate
    gap: Estimate
    spread: float | None
    n: int
    foldings: int
    bins: tuple[calibration_error.Bin, ...]


def calibrated(panel: Panel, foldings: Sequence[Folding], scorer: Scorer) -> tuple[Calibrated, ...]:
    """Errors before calibration, then after it, over all foldings."""
    before, after = [folding.uncalibrated for folding in foldings], [folding.jury for folding in foldings]
    return _calibrated("before", before, panel.people, scorer), _calibrated("after", after, panel.people, scorer)


def _calibrated(stage: Stage, predictions: Sequence[Floats], people: Floats, scorer: Scorer) -> Calibrated:
    rated = np.concatenate(predictions)
    truth = np.tile(people, len(predictions))
    error = calibration_error.rmse(rated, truth)
    squares = np.mean([(each - people) ** 2 for each in predictions], axis=0)
    both_rated = ~np.isnan(squares)
    n = int(both_rated.sum())
    drawn = None
    if scorer.resamples is not None and n:
        drawn = scorer.resamples.values(
            lambda w: np.sqrt((w[:, both_rated] @ squares[both_rated]) / np.maximum(w[:, both_rated].sum(axis=1), 1))
        )
    if error.value is not None:
        error = scorer.with_interval(Estimate(error.value, n=n), drawn)
    both = ~np.isnan(rated - truth)
    bins = calibration_error.reliability_bins(rated, truth)
    return Calibrated(
        stage,
        rmse=error,
        bias=calibration_error.bias(rated, truth),
        gap=calibration_error.calibration_error(bins),
        spread=float(rated[both].std()) if both.any() else None,
        n=n,
        foldings=len(predictions),
        bins=tuple(bins),
    )
