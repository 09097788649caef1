"""Nested folds: every story is rated by a model that was fitted, and chosen, without its story-prompt.

A *folding* assigns story-prompts (or systems) to folds. For each fold, combiners are fitted on the stories of the other
folds and rate the stories of the fold. Choices that must themselves be evaluated on unseen stories (which combiner to
use, the weights of a stack, a calibration) are evaluated on *inner* folds of those training stories, by predictions out
of inner fold. Of the held-out stories, only the members' ratings are used (Stone 1974; nested: Varma & Simon 2006)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judge.analysis.jury.panel import COMBINERS, Combined, Combiner, Panel, Split, best_single
from judge.analysis.options.table_options import JuryOptions, NamedCombiner
from judge.base.arrays import Codes, Floats, Masks, ratio
from judge.base.estimate import Estimate
from judge.stats import near_ties
from judge.stats.correlation import kendall
from judge.stats.estimation import means
from judge.stats.estimation.sample_size import clustered_proportion
from judge.stats.regression.calibration import Kind, fit_calibration, reach
from judge.stats.regression.ridge import fit_stack
from judge.stats.resampling.bootstrap import folds_of_groups

Rows = NDArray[np.int64]
Folds = NDArray[np.int64]

_ALONE = "stories of some folds have no rating: the others' rated stories are for fewer than two story-prompts"


@dataclass(frozen=True, slots=True, eq=False)
class FoldWeights:
    """The combiner used in one fold, and its weight of each predictor; for a stack, of each combiner in `stacked`."""

    combiner: NamedCombiner
    weights: Floats
    stacked: tuple[NamedCombiner, ...] = ()


@dataclass(slots=True, eq=False)
class Folding:
    """The jury's ratings of one criterion in one folding, for n stories; arrays have shape (n,), NaN = none.

    `jury` and `uncalibrated` are the out-of-fold ratings, after and before calibration (equal without). `ranked` are
    the uncalibrated ratings minus the mean human rating of the training stories, for rank correlations: that mean is
    the same for all stories of a fold, and high where people rated the fold low. It carries no information on a story,
    but pooled over folds it correlates negatively with human ratings (Parker, Guenter & Bedo 2007). Ratings that are
    not fitted are unchanged. `level` is that mean where the ratings in `jury` are fitted. `single` has for each fold
    the unchanged ratings of the member that was best on the training stories. `chosen`, `singles` (best member) and
    `weights` have one entry per fold. `reasons` (an ordered set) say why predictions are missing."""

    jury: Floats
    uncalibrated: Floats
    ranked: Floats
    level: Floats
    single: Floats
    chosen: list[str] = field(default_factory=list)
    singles: list[str] = field(default_factory=list)
    weights: list[FoldWeights] = field(default_factory=list)
    reasons: dict[str, None] = field(default_factory=dict)

    @classmethod
    def empty(cls, n: int) -> Folding:
        return cls(*(np.full(n, np.nan) for _ in range(5)))  # type: ignore[arg-type]

    def fill(self, rated: Sequence[_Rated]) -> None:
        """Store the ratings of all folds. Those of a combiner that fits nothing stay on the members' scale if all folds
        used the same combiner; else they were mapped to the human scale by a linear regression."""
        mixed = len({fold.name for fold in rated}) > 1
        for fold in rated:
            plain = not COMBINERS[fold.name].fitted and not mixed
            values = fold.raw if plain else fold.scaled
            self.uncalibrated[fold.held_out] = values
            self.ranked[fold.held_out] = values if plain else values - fold.level
            self.jury[fold.held_out] = values if fold.calibrated is None else fold.calibrated
            if not plain or fold.calibrated is not None:
                self.level[fold.held_out] = fold.level
            self.chosen.append(fold.name)


@dataclass(frozen=True, slots=True, eq=False)
class _Rated:
    """Ratings of held-out stories on the combiner's scale (`raw`), on people's (`scaled`), and calibrated."""

    held_out: Rows
    name: NamedCombiner
    raw: Floats
    scaled: Floats
    calibrated: Floats | None
    level: float


def run_foldings(panels: Sequence[Panel], options: JuryOptions) -> list[list[Folding]]:
    """The jury's ratings in every folding, one list for each panel (criterion). All panels use the same folds; those
    with the same array of predictors also share rank scores."""
    with _one_thread():
        foldings = [_folding(panels, options, number) for number in range(options.foldings)]
    return [list(each) for each in zip(*foldings, strict=True)]


def _one_thread() -> AbstractContextManager[object]:
    try:
        import threadpoolctl
    except ImportError:
        return nullcontext()
    # Several threads mostly wait for each other in thousands of small problems, which can take ten times as long where
    # processors are shared. threadpoolctl is installed with scikit-learn.
    limits: AbstractContextManager[object] = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
    return limits


def _folding(panels: Sequence[Panel], options: JuryOptions, number: int) -> list[Folding]:
    groups = panels[0].groups
    count = min(options.folds, len(set(groups)))
    seed = options.seed + number
    folds = folds_of_groups(groups, count, seed)
    folding_of = [Folding.empty(len(groups)) for _ in panels]
    rated: list[list[_Rated]] = [[] for _ in panels]
    for fold in range(count):
        splits = _Splits()
        for panel, folding, done in zip(panels, folding_of, rated, strict=True):
            train = np.flatnonzero((folds != fold) & panel.usable)
            held_out = np.flatnonzero((folds == fold) & panel.present)
            if not held_out.size:
                continue
            training = [groups[i] for i in train]
            several = len(set(training))
            if several < 2:
                folding.reasons[_ALONE] = None
                continue
            inner = folds_of_groups(training, min(options.folds, several), seed)
            done.append(_Fold(panel, options, splits, train, held_out, inner).rate(folding))
            column = best_single(panel, train)
            folding.single[held_out] = panel.predictors[held_out, column]
            folding.singles.append(panel.labels[column])
    for folding, done in zip(folding_of, rated, strict=True):
        folding.fill(done)
    return folding_of


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """Ratings of two sets of held-out stories: to estimate errors on (`calibration`), and to be rated (`test`)."""

    calibration: Rows
    on_calibration: Floats
    test: Rows
    on_test: Floats


def split_ratings(panel: Panel, options: JuryOptions) -> Iterator[Turn]:
    """For each fold of every folding, the ratings of this fold and of the next by a jury fitted on the others."""
    with _one_thread():
        for number in range(options.foldings):
            yield from _turns(panel, options, options.seed + number)


def _turns(panel: Panel, options: JuryOptions, seed: int) -> Iterator[Turn]:
    groups = panel.groups
    count = min(options.folds, len(set(groups)))
    folds = folds_of_groups(groups, count, seed)
    for fold in range(count if count > 2 else 0):
        test = np.flatnonzero((folds == fold) & panel.usable)
        calibration = np.flatnonzero((folds == (fold + 1) % count) & panel.usable)
        train = np.flatnonzero((folds != fold) & (folds != (fold + 1) % count) & panel.usable)
        training = [groups[i] for i in train]
        several = len(set(training))
        if several < 2 or not test.size or not calibration.size:
            continue
        inner = folds_of_groups(training, min(options.folds, several), seed)
        held_out = np.concatenate([calibration, test])
        rated = _Fold(panel, options, _Splits(), train, held_out, inner).rate(Folding.empty(len(groups)))
        values = rated.scaled if rated.calibrated is None else rated.calibrated
        yield Turn(calibration, values[: calibration.size], test, values[calibration.size :])


class _Splits:
    """Cache of predictors within one outer fold, for criteria with the same predictors."""

    def __init__(self) -> None:
        self.splits: dict[tuple[int, bytes, bytes], Split] = {}

    def get(self, predictors: Floats, train: Rows, held_out: Rows) -> Split:
        key = (id(predictors), train.tobytes(), held_out.tobytes())
        if key not in self.splits:
            self.splits[key] = Split(predictors, train, held_out)
        return self.splits[key]


class _Fold:
    def __init__(
        self, panel: Panel, options: JuryOptions, splits: _Splits, train: Rows, held_out: Rows, inner: Folds
    ) -> None:
        self.panel, self.options, self.splits = panel, options, splits
        self.train, self.held_out, self.inner = train, held_out, inner
        self.people = panel.people[train]
        self.reasons: dict[str, None] = {}
        self._inside: dict[NamedCombiner, Floats] = {}
        self._outside: dict[NamedCombiner, Combined] = {}

    def rate(self, folding: Folding) -> _Rated:
        asked = self.options.combiner
        name = self._choose() if asked == "auto" else asked
        combined = self.outside(name)
        scaled = combined.predicted
        if asked == "auto" and not COMBINERS[name].fitted:
            scaled = fit_calibration(self.inside(name), self.people, "linear").predict(combined.predicted)
        calibrated = self._calibrated(name, combined.predicted)
        if combined.weights is not None:
            stacked = () if COMBINERS[name].combine else tuple(self._stacked())
            folding.weights.append(FoldWeights(name, combined.weights, stacked))
        folding.reasons.update(self.reasons)
        return _Rated(self.held_out, name, combined.predicted, scaled, calibrated, float(self.people.mean()))

    def outside(self, name: NamedCombiner) -> Combined:
        if name not in self._outside:
            combine = COMBINERS[name].combine
            self._outside[name] = self._fit(combine, self.train, self.held_out) if combine else self._stack()
        return self._outside[name]

    def inside(self, name: NamedCombiner) -> Floats:
        if name not in self._inside:
            combine = COMBINERS[name].combine
            self._inside[name] = self._by_inner_folds(combine) if combine else self._stack_inside()
        return self._inside[name]

    def _choose(self) -> NamedCombiner:
        """The combiner with the highest tau-b on the training stories, out of inner fold; the first of equals."""
        people = kendall.codes(self.people)
        level = np.zeros(self.train.size)
        for out, train, _ in self._inner_folds():
            level[out] = self.panel.people[train].mean()
        candidates = [name for name, record in COMBINERS.items() if record.candidate]
        taus = []
        for name in candidates:
            ranked = self.inside(name) - (level if COMBINERS[name].fitted else 0.0)
            taus.append(kendall.tau_b(kendall.codes(ranked), people))
        return candidates[near_ties.highest(taus)]

    def _calibrated(self, name: NamedCombiner, predicted: Floats) -> Floats | None:
        if self.options.calibrate == "none":
            return None
        kind: Kind = self.options.calibrate
        calibration = fit_calibration(self.inside(name), self.people, kind)
        if calibration.reason:
            self.reasons[calibration.reason] = None
        return calibration.predict(predicted)

    def _inner_folds(self) -> Iterator[tuple[Masks, Rows, Rows]]:
        """Mask of the training stories held out, indices for fitting, and indices held out."""
        for fold in np.unique(self.inner):
            out = self.inner == fold
            yield out, self.train[~out], self.train[out]

    def _by_inner_folds(self, combine: Combiner) -> Floats:
        predicted = np.full(self.train.size, np.nan)
        for out, train, held_out in self._inner_folds():
            predicted[out] = self._fit(combine, train, held_out).predicted
        return predicted

    def _fit(self, combine: Combiner, train: Rows, held_out: Rows) -> Combined:
        split = self.splits.get(self.panel.predictors, train, held_out)
        combined = combine(split, self.panel.people[train], self.panel.own)
        if combined.reason:
            self.reasons[combined.reason] = None
        return combined

    def _stacked(self) -> list[NamedCombiner]:
        return [name for name, record in COMBINERS.items() if record.stacked and not np.isnan(self.inside(name)).all()]

    def _stack(self) -> Combined:
        bases = self._stacked()
        fitted = fit_stack(np.column_stack([self.inside(name) for name in bases]), self.people)
        predicted = np.column_stack([self.outside(name).predicted for name in bases])
        return Combined(fitted.predict(predicted), fitted.weights)

    def _stack_inside(self) -> Floats:
        bases = np.column_stack([self.inside(name) for name in self._stacked()])
        predicted = np.full(self.train.size, np.nan)
        for out, _, _ in self._inner_folds():
            # The weights for each inner fold are fitted on the other inner folds.
            predicted[out] = fit_stack(bases[~out], self.people[~out]).predict(bases[out])
        return predicted


# Split conformal prediction intervals of a story's human rating around the jury's rating, with out-of-fold coverage.


@dataclass(frozen=True, slots=True)
class StoryInterval:
    """Prediction intervals of a story's human rating on one criterion. `level` is the intended coverage, `reach` the
    half-width (mean over folds), `coverage` the observed one, `worst` the system with the lowest."""

    level: float
    reach: Estimate
    coverage: Estimate
    worst: str | None
    worst_coverage: Estimate | None


def story_interval(
    panel: Panel, options: JuryOptions, level: float, story_prompt: Codes, system: Codes, systems: Sequence[str]
) -> StoryInterval:
    """Prediction intervals of held-out stories' human ratings, over all foldings, and their coverage. `story_prompt`
    and `system` are codes, shape (n stories,)."""
    reaches: list[float] = []
    held, seen = np.zeros(panel.people.size), np.zeros(panel.people.size)
    for turn in split_ratings(panel, options):
        width = reach(
            np.abs(panel.people[turn.calibration] - turn.on_calibration), story_prompt[turn.calibration], level
        )
        reaches.append(width)
        off = np.abs(panel.people[turn.test] - turn.on_test)
        rated = ~np.isnan(off)
        held[turn.test[rated]] += off[rated] <= width + 1e-9
        seen[turn.test[rated]] += 1
    if not reaches or not seen.any():
        nothing = Estimate.undefined("too few story-prompts to fit, calibrate and test apart")
        return StoryInterval(level, nothing, nothing, None, None)
    if not np.isfinite(reaches).all():
        few = f"no interval: a fold has too few story-prompts for a level of {level:g}"
        return StoryInterval(level, Estimate.undefined(few), Estimate.undefined(few), None, None)
    hits = ratio(held, seen)
    coverage = means.clustered(hits, story_prompt, bounds=means.SHARE)
    shares = {code: hits[system == code] for code in range(len(systems))}
    known_shares = {code: float(np.nanmean(share)) for code, share in shares.items() if (~np.isnan(share)).any()}
    worst = min(known_shares, key=lambda code: known_shares[code], default=None)
    return StoryInterval(
        level,
        Estimate(float(np.mean(reaches)), n=int((seen > 0).sum())),
        coverage,
        None if worst is None else systems[worst],
        None if worst is None else clustered_proportion(np.where(system == worst, hits, np.nan), story_prompt),
    )
